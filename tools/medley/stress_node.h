/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A node of `medley stress`: the loop of the lock-free MCAPI paper's section 4, and what it leaves
 * for who reports. A node's own thread writes its record; others read the counters meanwhile, and
 * the rest when it has ended.
 */
#ifndef MEDLEY_TOOLS_STRESS_NODE_H
#define MEDLEY_TOOLS_STRESS_NODE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "tools/medley/deployment.h"
#include "tools/medley/histogram.h"
#include "tools/medley/stress_error.h"

#define STRESS_DOMAIN 1u
#define STRESS_WHOLE 10000u /* of a share */

/* How far a node is. */
typedef enum stress_state {
    STRESS_STARTING, /* its process opens the system, it becomes a node */
    STRESS_PREPARING,
    STRESS_CONNECTING,
    STRESS_RUNNING,
    STRESS_CLOSING,
    STRESS_LEAVING, /* it is no node any more, its process leaves the system */
    STRESS_STATES
} stress_state;

extern const char *const stress_state_names[STRESS_STATES]; /* "starting" */

typedef struct stress_record {
    _Alignas(128) atomic64 sent;
    atomic64 received;
    atomic64 skipped;            /* states that a newer one had replaced before it looked */
    atomic32 state;              /* stress_state */
    uint64_t begin_ns;           /* of the loop; the machine's monotonic clock */
    uint64_t end_ns;             /* 0: it has not ended */
    uint64_t retries;            /* waits, or scalars, that did not succeed at once */
    uint64_t retries_worst;      /* for one transaction */
    uint64_t copies_again;       /* of states: a newer one had come while it was copied */
    uint64_t copies_again_worst; /* for one look */
    uint64_t yields;
    uint64_t wake_ups;              /* how often the library let it sleep, and it was woken */
    uint64_t switches;              /* how often it left its processor to another, or slept */
    uint64_t worked_ns;             /* on a processor, in the loop */
    bool shares;                    /* it has the next */
    uint32_t worst_share;           /* of STRESS_WHOLE (stress_node.c, Fairness) */
    char error[STRESS_ERROR_BYTES]; /* what went wrong, or "" */
    histogram latency;              /* of what it received */
} stress_record;

/* What all nodes share, in memory that all their processes see. */
typedef struct stress_shared {
    pthread_barrier_t step; /* every node has made its endpoints; has opened its channels */
    /* Before and behind the nodes, in the process of those that are threads; or "". */
    char threads_error[STRESS_ERROR_BYTES];
    stress_record records[]; /* from node 1 on */
} stress_shared;

/* Runs node `number` of the deployment in the calling thread. False: its record says what was
 * wrong; others may be waiting for it, so its process has to end. */
bool stress_node_run(const deployment *d, uint32_t number, stress_shared *shared);

#endif
