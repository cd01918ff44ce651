/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What `medley run` is to run: programs, each as one process or several. It comes from the command
 * line, or from the section `programs` of a system's file; medley-run(1) says what may stand there.
 */
#ifndef MEDLEY_TOOLS_RUN_PLAN_H
#define MEDLEY_TOOLS_RUN_PLAN_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/medley/command.h"

#define RUN_PROGRAMS_MAX 64u /* a bit for each */
#define RUN_PROCESSES_MAX 1024u
#define RUN_WORDS_MAX 1024u
#define RUN_NAME_BYTES 32u
#define RUN_RESTARTS 10u /* unless the file says otherwise */

/* When the programs that come after it may start. */
typedef enum run_ready_kind {
    RUN_READY_STARTED,  /* its processes are started */
    RUN_READY_ENDED,    /* all of them ended, with 0 */
    RUN_READY_NODE,     /* that node is registered */
    RUN_READY_ENDPOINT, /* that endpoint is there */
} run_ready_kind;

typedef struct run_ready {
    run_ready_kind kind;
    unsigned name[3]; /* domain, node, port */
} run_ready;

/* Each also when the one before it says so. */
typedef enum run_restart {
    RUN_RESTART_NEVER,
    RUN_RESTART_ON_DEATH,   /* by a signal that is not ours */
    RUN_RESTART_ON_FAILURE, /* also when it ended with another status than 0, or its time is over */
    RUN_RESTART_ALWAYS,
} run_restart;

typedef enum run_binding {
    RUN_BINDING_NONE,
    RUN_BINDING_LIST,   /* each of its processes to all of these processors */
    RUN_BINDING_SPREAD, /* each to the next processor of those that may be used */
} run_binding;

typedef struct run_processors {
    run_binding binding;
    cpu_set_t list;
} run_processors;

typedef enum run_openmp {
    RUN_OPENMP_MEDLEY, /* found before others of its name */
    RUN_OPENMP_OWN,    /* what the program finds by itself */
} run_openmp;

typedef enum run_output {
    RUN_OUTPUT_PREFIXED, /* each line by whose it is */
    RUN_OUTPUT_PLAIN,    /* as it comes: that of the command */
} run_output;

/* Texts and lists are the plan's, and stay. */
typedef struct run_program {
    char name[RUN_NAME_BYTES];
    char **words;       /* ended by NULL */
    char **environment; /* "NAME=VALUE", ended by NULL; NULL: as the command's */
    const char *folder; /* where it runs; NULL: here */
    uint64_t after;     /* a bit for each program that is to be ready before */
    run_ready ready;
    run_processors processors;
    unsigned count; /* of processes */
    unsigned restart;
    unsigned restarts_most;
    unsigned time_limit_ms; /* of a process; 0: none */
    unsigned background;    /* true: ended when all others have ended */
    unsigned openmp;
    unsigned output;
} run_program;

typedef struct run_plan {
    unsigned program_count;
    run_program programs[RUN_PROGRAMS_MAX];
} run_plan;

/* "loader" of "folder/loader.py"; what may not stand in a name becomes '_'. */
void run_plan_name(const char *word, char name[RUN_NAME_BYTES]);
/* Of one program, as many processes. False: told. */
bool run_plan_of_words(const med_command *command, char **words, unsigned count, run_plan *plan);
/* Of a file. False: told. */
bool run_plan_of_file(const med_command *command, const char *path, run_plan *plan);

#endif
