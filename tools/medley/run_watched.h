/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of a run that is under way have of each other (run_watch.h says what happens). */
#ifndef MEDLEY_TOOLS_RUN_WATCHED_H
#define MEDLEY_TOOLS_RUN_WATCHED_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <jansson.h>

#include "port/port.h"
#include "tools/medley/run_lines.h"
#include "tools/medley/run_plan.h"
#include "tools/medley/run_watch.h"

#define RUN_MS_NS UINT64_C(1000000)
#define RUN_FOREVER UINT64_MAX

#define RUN_EXIT_SIGNAL 128
#define RUN_EXIT_TIME_LIMIT 124
#define RUN_EXIT_NOT_STARTED 126

typedef enum run_state {
    RUN_HELD,
    RUN_DUE,
    RUN_RUNS,
    RUN_OVER,
} run_state;

typedef struct run_child {
    const run_program *program;
    unsigned index;
    char whose[RUN_NAME_BYTES + 12]; /* "filter", "filter.3" */
    run_state state;
    bool good;            /* OVER: it ended with 0 */
    bool is_late;         /* its time was over, and it was told to end */
    pid_t process;        /* RUNS */
    uint64_t started_ns;  /* RUNS */
    uint64_t due_ns;      /* DUE: when to start; RUNS: when its time is over */
    uint64_t kill_ns;     /* RUNS: when it is killed that was told to end */
    unsigned restarts;    /* so often */
    unsigned short_lives; /* so many in a row */
    run_lines lines[2];
    json_t *lives;
} run_child;

typedef struct run_watched {
    const med_command *command;
    const run_plan *plan;
    const run_options *options;
    unsigned child_count;
    run_child *children;
    uint64_t ready; /* a bit for each program */
    uint64_t began_ns;
    struct rlimit descriptors; /* before it was raised */
    uint64_t linger_ns;        /* who serves others that are over may end by itself until then; 0 */
    bool is_ending;            /* nothing starts any more */
    bool is_told_to_end; /* by a signal, or since nobody takes the output: nothing waits for that */
    int status;          /* 0, or of who failed first */
    bool has_input;      /* the first process gets the command's */
} run_watched;

/* "medley run: ..." on standard error, where the user asked for it. */
void run_tell(const run_watched *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- Who is ready (run_ready.c) -------------------------------------------------------------- */

/* Once a program was, it is. */
void run_ready_look(run_watched *w);
bool run_ready_may_start(const run_watched *w, const run_child *child, uint64_t now_ns);
/* NULL, or who has ended without being ready for it. */
const run_program *run_ready_in_vain(const run_watched *w, const run_child *child);
/* Does somebody wait for a node or an endpoint? Nobody tells when it comes. */
bool run_ready_is_looked_for(const run_watched *w);

/* ---- A life (run_life.c) --------------------------------------------------------------------- */

void run_life_start(run_watched *w, run_child *child);
/* It is dead, and not yet reaped. */
void run_life_ended(run_watched *w, run_child *child);
void run_life_signal(const run_child *child, int signal);
/* Tells it to end; it is killed when it has not. */
void run_life_request_end(run_child *child, int signal, uint64_t now_ns);

/* ---- The end of all (run_watch.c) ------------------------------------------------------------ */

/* Who runs is told to end; who has not begun will not. */
void run_end_all(run_watched *w, int signal);
/* Somebody has, for good. */
void run_failed(run_watched *w, int status);

#endif
