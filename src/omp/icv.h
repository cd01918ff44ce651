/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Internal control variables (OpenMP 5.0, section 2.5): what decides how a program runs.
 *
 * Those of a data environment stand in a med_icv: a task has that of the one it comes from, and one
 * of its own from the first change on. Those of the device stand in med_settings, once, from the
 * environment.
 */
#ifndef MEDLEY_OMP_ICV_H
#define MEDLEY_OMP_ICV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/wait.h"
#include "omp/bind.h"
#include "omp/groups.h"
#include "omp/places.h"
#include "omp/uneven.h"

/* As omp_sched_t, whose numbers programs use. */
typedef enum med_schedule_kind {
    MED_SCHEDULE_STATIC = 1,
    MED_SCHEDULE_DYNAMIC = 2,
    MED_SCHEDULE_GUIDED = 3,
    MED_SCHEDULE_AUTO = 4,
    MED_SCHEDULE_STEAL, /* Medley's own, from here on */
    MED_SCHEDULE_HETPROBE,
    MED_SCHEDULE_HETPROBE_I,
    MED_SCHEDULE_KIND_COUNT
} med_schedule_kind;
#define MED_SCHEDULE_MONOTONIC 0x80000000u
/* Our own have numbers for programs that lie so much higher: LLVM's of the same is the first. */
#define MED_SCHEDULE_OWN_BEYOND (102u - MED_SCHEDULE_STEAL)

/* What run-sched-var has where nobody says a chunk; 0: the kind's own. */
static inline uint64_t
med_schedule_chunk_unsaid(uint32_t kind)
{
    return kind == MED_SCHEDULE_DYNAMIC || kind == MED_SCHEDULE_GUIDED ? 1 : 0;
}

#define MED_LEVELS_MAX 64u              /* of active parallel regions, one in the other */
#define MED_THREADS_LIST MED_LEVELS_MAX /* what stands behind is for no region */
#define MED_THREADS_MOST 65535u         /* in a team */

typedef struct med_icv {
    uint32_t threads; /* nthreads-var, for the next region */
    uint32_t level;   /* the place of that in the list of OMP_NUM_THREADS */
    uint32_t active_levels_max;
    uint32_t schedule; /* run-sched-var: kind, and perhaps MED_SCHEDULE_MONOTONIC */
    uint64_t chunk;    /* 0: the kind's own */
    uint32_t thread_limit;
    bool dynamic;
    int32_t device;       /* default-device-var */
    uint32_t teams;       /* in the league around it */
    uint32_t team_number; /* in that */
    uintptr_t allocator;  /* def-allocator-var: a handle */
    uint32_t bind;        /* bind-var: a med_bind */
    bool shown;           /* display-affinity-var */
    /* How to wait, in a team with a processor to each thread, and in a crowded one; NULL: nothing
     * is said of it (waiting.h). */
    const med_wait_limits *waits;
} med_icv;

/* What OMP_TARGET_OFFLOAD says. */
typedef enum med_offload {
    MED_OFFLOAD_DEFAULT,
    MED_OFFLOAD_MANDATORY,
    MED_OFFLOAD_DISABLED
} med_offload;

typedef struct med_settings {
    med_icv initial;
    uint32_t threads_list[MED_THREADS_LIST]; /* of OMP_NUM_THREADS */
    uint32_t threads_listed;
    uint32_t processors; /* min(affinity, quota), when it was first asked for */
    uint64_t stack_size_bytes;
    uint32_t teams_max; /* 0: nothing is said */
    uint32_t teams_thread_limit;
    med_offload offload;
    bool cancellation;
    bool inherits_float_control; /* by clang's names: abi_kmpc.h */
    int32_t task_priority_max;
    uint32_t bind_list[MED_THREADS_LIST]; /* of OMP_PROC_BIND */
    uint32_t binds_listed;
    med_places places;
    med_uneven uneven;
    med_groups_told groups;
    const char *allocator_said; /* NULL: nothing is */
    const char *affinity_format;
    const char *explain; /* where it is written how loops were shared out; NULL: nowhere */
    uint64_t taken;      /* variables, a bit for each */
    bool display_environment;
    bool display_verbose;       /* all of it */
    bool tool;                  /* tool-var: one is looked for */
    const char *tool_libraries; /* NULL: there are none */
    const char *tool_verbose;   /* where it is said what was looked at; NULL: nowhere */
} med_settings;

/* Read from the environment at the first call. */
const med_settings *med_settings_get(void);
/* Reads a variable as if it stood in the environment, NAME=VALUE, for that data environment. What
 * is not a data environment's stays as it is. */
void med_settings_change(const char *line, med_icv *icv);
/* The names of the variables that are read, by numbers from 0; NULL behind the last. */
const char *med_settings_variable(uint32_t index);
/* Was what it says taken, at the start? */
bool med_settings_is_taken(const med_settings *settings, uint32_t index);

#endif
