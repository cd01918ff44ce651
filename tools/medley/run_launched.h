/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where a launcher of processes has started this command, once for each of them. */
#ifndef MEDLEY_TOOLS_RUN_LAUNCHED_H
#define MEDLEY_TOOLS_RUN_LAUNCHED_H

#include <stdbool.h>

#include "tools/medley/command.h"

typedef struct run_launcher {
    const char *name;
    const char *rank;  /* the variable that says which process it is */
    const char *job;   /* and of which job, */
    const char *step;  /* and which step of it, or NULL; */
    const char *count; /* how many processes, where it says so */
} run_launcher;

/* NULL: none has. */
const run_launcher *run_launched(void);
/* This process becomes the program, in a system that all of the job have in common on this host.
 * `name` NULL: by the job. Returns only with what is in the way, told. */
int run_join(const med_command *command,
             const run_launcher *launcher,
             const char *name,
             char **words,
             bool openmp);

#endif
