/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the table of symbols in a program's, or a library's, file says of an address in it. */
#ifndef MEDLEY_TOOLS_SYMBOL_H
#define MEDLEY_TOOLS_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The function that the address is in, cut off where the name does not fit, and how far behind its
 * begin. False: there is no such table, or none of its functions has it. */
bool symbol_find(const char *path, uint64_t inside, char *name, size_t size, uint64_t *beyond);

#endif
