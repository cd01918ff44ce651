/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that is run to be recorded: what `medley run` is to `medley trace`. */
#ifndef MEDLEY_TOOLS_RUN_RECORDED_H
#define MEDLEY_TOOLS_RUN_RECORDED_H

#include "tools/medley/command.h"
#include "tools/medley/trace_write.h"

/* Runs it as one process of a system of its own, which writes as if it ran alone, and makes of the
 * recording what is wanted. The exit status: the program's, or that something could not be made. */
int run_recorded(const med_command *command, char **words, const trace_wanted *wanted, bool json);

#endif
