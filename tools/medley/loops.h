/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The record of a program's loops that OpenMP's library writes (src/omp/explain.h), read. */
#ifndef MEDLEY_TOOLS_LOOPS_H
#define MEDLEY_TOOLS_LOOPS_H

#include <jansson.h>

#include "tools/medley/command.h"

/* The processes that wrote it, each with its loops. NULL: it is no such record, or was broken off;
 * that is told. There is no such file: there are no processes. */
json_t *loops_read(const med_command *command, const char *path);
/* Why a loop was shared out as it was, in words. */
const char *loops_why_text(const char *why);

#endif
