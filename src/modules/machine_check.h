/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Does well-formed XML describe a machine? hwloc, which reads it, says only that it does not, or
 * dies of it; this says what is wrong, and in which line. What passes may still be none: this knows
 * what each object must have, and where it may stand, not what all of them make together.
 */
#ifndef MEDLEY_MODULES_MACHINE_CHECK_H
#define MEDLEY_MODULES_MACHINE_CHECK_H

#include <stddef.h>

/* NULL: nothing is, and the machine begins in that line. Else what is wrong there. */
const char *machine_check(const char *text, size_t length, unsigned *line);

#endif
