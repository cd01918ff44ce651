/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A process beside `medley run`, for the case that the command itself is killed. Its programs are
 * killed then, too; but nobody is left who would kill what these have forked, and remove their
 * system: the guard does. It reads a pipe, in which stands which process groups there are; the end
 * of that is the command's.
 */
#ifndef MEDLEY_TOOLS_RUN_GUARD_H
#define MEDLEY_TOOLS_RUN_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

#include "tools/medley/command.h"

typedef struct run_guard {
    pid_t process;
    int told; /* the pipe's end to write to */
} run_guard;

/* Before the system is there, and before its programs. The signals that end the command are blocked
 * already, and so for the guard. False: no process, or no descriptor. */
bool run_guard_begin(const med_command *command, const char *system, run_guard *guard);
/* By the command or one of its children, `told` as above: a group begins, or is over. */
void run_guard_tell(int told, pid_t group, bool begins);
/* When all is put away. */
void run_guard_end(const run_guard *guard);

#endif
