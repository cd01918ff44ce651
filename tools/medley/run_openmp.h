/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How programs find Medley's OpenMP library first. */
#ifndef MEDLEY_TOOLS_RUN_OPENMP_H
#define MEDLEY_TOOLS_RUN_OPENMP_H

#include "tools/medley/command.h"

/* What their LD_LIBRARY_PATH is to be: that folder, then what it is here. NULL: it was told why. */
const char *run_openmp_paths(const med_command *command);

#endif
