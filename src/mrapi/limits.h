/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The limits of a system: the one configuration struct. The creator fixes them; they lie in the
 * partition's header, and everybody computes the same layout from them.
 */
#ifndef MEDLEY_MRAPI_LIMITS_H
#define MEDLEY_MRAPI_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct med_limits {
    uint32_t domains;
    uint32_t processes;
    uint32_t nodes;
    uint32_t mutexes;
    uint32_t rmem_attachments;
    uint32_t rmems;
    uint32_t shmems;
    uint32_t semaphores;
    uint32_t rwlocks;
    uint32_t sharers; /* who has a semaphore at once, or reads under one lock */
    uint32_t endpoints;
    uint32_t lanes;
    uint32_t lane_bytes; /* of the ring in each */
    uint32_t buffers;
    uint32_t buffer_bytes; /* of each */
} med_limits;

typedef enum med_limit {
    MED_LIMIT_DOMAINS,
    MED_LIMIT_PROCESSES,
    MED_LIMIT_NODES,
    MED_LIMIT_MUTEXES,
    MED_LIMIT_RMEM_ATTACHMENTS,
    MED_LIMIT_RMEMS,
    MED_LIMIT_SHMEMS,
    MED_LIMIT_SEMAPHORES,
    MED_LIMIT_RWLOCKS,
    MED_LIMIT_SHARERS,
    MED_LIMIT_ENDPOINTS,
    MED_LIMIT_LANES,
    MED_LIMIT_LANE_BYTES,
    MED_LIMIT_BUFFERS,
    MED_LIMIT_BUFFER_BYTES,
    MED_LIMIT_COUNT
} med_limit;

typedef struct med_limit_info {
    const char *name;     /* "nodes" */
    const char *variable; /* "MEDLEY_MAX_NODES" */
    uint32_t standard;    /* when the variable is not set */
    uint32_t largest;
} med_limit_info;

extern const med_limit_info med_limit_infos[MED_LIMIT_COUNT];

uint32_t med_limits_get(const med_limits *limits, med_limit which);
void med_limits_set(med_limits *limits, med_limit which, uint32_t value);

/* What a new system gets: the standard values, overridden by the environment. A variable that is no
 * number between 1 and the largest is reported and ignored. Where there is no environment,
 * med_limits_built_in. */
void med_limits_from_environment(med_limits *limits);
/* Small; in a file of its own, so that a program for bare metal that defines both has its own
 * numbers. There, 0 is allowed: no object of that kind. */
extern const med_limits med_limits_built_in;
extern const uint32_t med_limits_of_process_built_in; /* each of them */
bool med_limits_valid(const med_limits *limits);
/* Says so when this process's variables ask for something else than the system has. */
void med_limits_warn_differences(const med_limits *actual, const char *system_name);
/* Reports that the limit was reached. */
void med_limits_report(const med_limits *limits, med_limit which);

/* ---- What each process limits for itself ----------------------------------------------------- */

extern const med_limit_info med_limit_requests;

/* As med_limits_from_environment, of one. */
uint32_t med_limits_of_process(const med_limit_info *info);
void med_limits_report_of_process(const med_limit_info *info, uint32_t limit);

#endif
