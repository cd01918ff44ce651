/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A process of a program that `medley run` runs: how it is started, and what it is told.
 *
 *   MEDLEY_SYSTEM        the system that it joins
 *   MEDLEY_RUN_PROGRAM   the program's name
 *   MEDLEY_RUN_INDEX     which of its processes it is, from 0
 *   MEDLEY_RUN_COUNT     how many there are
 *   MEDLEY_RUN_RESTARTS  how often it was started before
 */
#ifndef MEDLEY_TOOLS_RUN_PROCESS_H
#define MEDLEY_TOOLS_RUN_PROCESS_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "tools/medley/run_plan.h"

typedef struct run_start {
    const run_program *program;
    unsigned index;
    unsigned number; /* among all processes of the run */
    unsigned restarts;
    const char *system;
    const char *openmp_paths; /* LD_LIBRARY_PATH of who is to have Medley's OpenMP library */
    const sigset_t *signals;  /* blocked: as the command found them; */
    const struct rlimit *descriptors; /* likewise */
    bool has_input;                   /* the command's own; else there is none */
    int output, errors;               /* -1: the command's */
    int guard;                        /* run_guard_tell */
} run_start;

/* It leads a group of its own, and dies with the command. Gives its number; -1: it was told why it
 * cannot be started. */
pid_t run_process_start(const med_command *command, const run_start *start);

#endif
