/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The variables of the environment, as the program has taken them (OMP_DISPLAY_ENV). */
#ifndef MEDLEY_OMP_DISPLAY_H
#define MEDLEY_OMP_DISPLAY_H

#include <stdbool.h>

/* To standard error; verbose: with what they were fitted to. */
void med_display_environment(bool verbose);

#endif
