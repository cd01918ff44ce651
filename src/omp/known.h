/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Addresses that somebody has to know again. */
#ifndef MEDLEY_OMP_KNOWN_H
#define MEDLEY_OMP_KNOWN_H

#include <stdbool.h>

/* Ends the program when there is no memory to note it. */
void med_known_put(const void *address);
/* Was it put? Then it is forgotten: once for each time. */
bool med_known_take(const void *address);

#endif
