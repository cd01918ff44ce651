/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs a plan to its end: starts each process when those it comes after are ready, starts it again
 * when it dies and may be, ends all when one fails for good, or when a signal says so.
 *
 *            others ready            its end, or its death
 *   HELD ------------------> RUNS --------------------------> OVER
 *     |                      ^  |
 *     |            its time  |  | may be started again
 *     |                      |  v
 *     |                      DUE
 *     |                       |
 *     +-----------------------+-----> OVER   all are ended
 *
 * One thread, which waits for signals (SIGCHLD among them), for what processes write, and for the
 * next time at which something is due. What a process leaves behind, its group and its orphans, is
 * ended with it, or at the latest with the run: the command is the reaper of all below it.
 */
#ifndef MEDLEY_TOOLS_RUN_WATCH_H
#define MEDLEY_TOOLS_RUN_WATCH_H

#include <signal.h>

#include <jansson.h>

#include "tools/medley/run_plan.h"

struct med_system;
struct recording;

typedef struct run_options {
    struct med_system *system; /* which they join, and where it is seen who is ready */
    const char *system_name;
    const char *openmp_paths;    /* of those that are to have it; else it may be NULL */
    struct recording *recording; /* of what happens; NULL: none */
    bool json;                   /* what programs write to their output goes to standard error */
    bool keeps_going;
    bool tells;      /* what happens, on standard error */
    int signals;     /* run_watch_hear */
    int guard;       /* run_guard_tell */
    sigset_t before; /* what was blocked */
} run_options;

/* Signals are kept for the run from here on, until this process ends: none comes between what it
 * has made and its end. False: no descriptor. */
bool run_watch_hear(run_options *options);

/* Blocks until all is over. Gives the exit status: of who failed first, 128 and a signal's number,
 * 124 where that was the time limit. */
int run_watch(const med_command *command,
              const run_plan *plan,
              const run_options *options,
              json_t **report);

#endif
