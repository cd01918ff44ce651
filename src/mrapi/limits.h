/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The limits of a system: the one configuration struct. The creator fixes them; they lie in the
 * partition's header, and everybody computes the same layout from them.
 */
#ifndef MEDLEY_MRAPI_LIMITS_H
#define MEDLEY_MRAPI_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "port/port.h"

/* Every limit, one a line, in the order in which they lie in the partition's header. Of each: its
 * field; MED_LIMIT_ and this; its name; its variable; its value when that is not set, the largest
 * that it may be, and its value where there is no environment.
 *
 * Sharers are who has a semaphore at once, or reads under one lock. The largest: a node's index has
 * 14 bits in an owner word, an object's 16 bits in a handle. A row of a shared memory grows with
 * the nodes: all limits at their largest must fit 32-bit offsets. */
#define MED_LIMITS(X)                                                                              \
    X(domains, DOMAINS, "domains", "MEDLEY_MAX_DOMAINS", 16, 1024, 1)                              \
    X(processes, PROCESSES, "processes", "MEDLEY_MAX_PROCESSES", 64, MED_PORT_SLOT_MAX, 1)         \
    X(nodes, NODES, "nodes", "MEDLEY_MAX_NODES", 128, 16000, 8)                                    \
    X(mutexes, MUTEXES, "mutexes", "MEDLEY_MAX_MUTEXES", 128, 65535, 8)                            \
    X(rmem_attachments, RMEM_ATTACHMENTS, "remote memory attachments",                             \
      "MEDLEY_MAX_RMEM_ATTACHMENTS", 128, 65535, 8)                                                \
    X(rmems, RMEMS, "remote memories", "MEDLEY_MAX_RMEMS", 64, 16000, 4)                           \
    X(shmems, SHMEMS, "shmems", "MEDLEY_MAX_SHMEMS", 32, 4096, 4)                                  \
    X(semaphores, SEMAPHORES, "semaphores", "MEDLEY_MAX_SEMAPHORES", 64, 65535, 4)                 \
    X(rwlocks, RWLOCKS, "reader/writer locks", "MEDLEY_MAX_RWLOCKS", 64, 65535, 4)                 \
    X(sharers, SHARERS, "sharers", "MEDLEY_MAX_SHARERS", 64, 1024, 8)                              \
    X(endpoints, ENDPOINTS, "endpoints", "MEDLEY_MAX_ENDPOINTS", 64, 65535, 8)                     \
    X(lanes, LANES, "lanes", "MEDLEY_MAX_LANES", 128, 65535, 8)                                    \
    X(lane_bytes, LANE_BYTES, "bytes in a lane", "MEDLEY_LANE_BYTES", 4096, 1u << 24, 512)         \
    X(buffers, BUFFERS, "buffers", "MEDLEY_MAX_BUFFERS", 128, 65536, 8)                            \
    X(buffer_bytes, BUFFER_BYTES, "bytes in a buffer", "MEDLEY_BUFFER_BYTES", 4096, 1u << 24, 256)

typedef enum med_limit {
#define MED_LIMIT_ENUM(field, what, ...) MED_LIMIT_##what,
    MED_LIMITS(MED_LIMIT_ENUM)
#undef MED_LIMIT_ENUM
    MED_LIMIT_COUNT
} med_limit;

/* The largest that each may be: MED_LIMIT_NODES_LARGEST. */
enum {
#define MED_LIMIT_LARGEST(field, what, name, variable, standard, largest, ...)                     \
    MED_LIMIT_##what##_LARGEST = (largest),
    MED_LIMITS(MED_LIMIT_LARGEST)
#undef MED_LIMIT_LARGEST
};

typedef union med_limits {
    struct {
#define MED_LIMIT_FIELD(field, ...) uint32_t field;
        MED_LIMITS(MED_LIMIT_FIELD)
#undef MED_LIMIT_FIELD
    };
    uint32_t of[MED_LIMIT_COUNT]; /* the same, by med_limit */
} med_limits;
_Static_assert(sizeof(med_limits) == MED_LIMIT_COUNT * sizeof(uint32_t), "one word per limit");

typedef struct med_limit_info {
    const char *name;     /* "nodes" */
    const char *variable; /* "MEDLEY_MAX_NODES" */
    uint32_t standard;    /* when the variable is not set; 0: who wants none may say so */
    uint32_t largest;
} med_limit_info;

extern const med_limit_info med_limit_infos[MED_LIMIT_COUNT];

/* What a new system gets: the standard values, overridden by the environment. A variable that is no
 * number between 1 (0, where that is standard) and the largest is reported and ignored. Where there
 * is no environment, med_limits_built_in. */
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

/* In request_table.c, so that its words are in a program that makes requests. */
extern const med_limit_info med_limit_requests;

/* As med_limits_from_environment, of one. */
uint32_t med_limits_of_process(const med_limit_info *info);
void med_limits_report_of_process(const med_limit_info *info, uint32_t limit);

#endif
