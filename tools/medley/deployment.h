/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A deployment, as the lock-free MCAPI paper calls what its stress runs: nodes, and the channels
 * between them. It is read from a file of YAML (medley-stress(1) says what may stand there); what
 * is wrong is told with the file's name and the line.
 */
#ifndef MEDLEY_TOOLS_DEPLOYMENT_H
#define MEDLEY_TOOLS_DEPLOYMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/medley/command.h"

#define DEPLOYMENT_NODES_MAX 256u
#define DEPLOYMENT_CHANNELS_MAX 2048u
#define DEPLOYMENT_SIZE_MAX 65536u
#define DEPLOYMENT_COUNT_MAX 1000000000u
#define DEPLOYMENT_NAME_BYTES 64u

typedef enum deployment_type {
    DEPLOYMENT_MESSAGE,
    DEPLOYMENT_PACKET,
    DEPLOYMENT_SCALAR,
    DEPLOYMENT_STATE,
    DEPLOYMENT_TYPES
} deployment_type;
extern const char *const deployment_type_names[DEPLOYMENT_TYPES + 1]; /* ends with NULL */

typedef enum deployment_run {
    DEPLOYMENT_THREADS,   /* all in one process */
    DEPLOYMENT_PROCESSES, /* one each */
    DEPLOYMENT_RUNS
} deployment_run;
extern const char *const deployment_run_names[DEPLOYMENT_RUNS + 1];

typedef enum deployment_affinity {
    DEPLOYMENT_FREE,   /* wherever the system puts it */
    DEPLOYMENT_ONE,    /* on the first processor */
    DEPLOYMENT_SPREAD, /* each on the next */
    DEPLOYMENT_AFFINITIES
} deployment_affinity;
extern const char *const deployment_affinity_names[DEPLOYMENT_AFFINITIES + 1];

typedef struct deployment_node {
    uint32_t run;      /* deployment_run */
    uint32_t affinity; /* deployment_affinity */
} deployment_node;

typedef struct deployment_channel {
    uint32_t from; /* nodes, from 1 */
    uint32_t to;
    uint32_t type; /* deployment_type */
    uint32_t size_bytes;
    uint32_t count;
    uint32_t priority;
} deployment_channel;

typedef struct deployment {
    char name[DEPLOYMENT_NAME_BYTES];
    uint32_t node_count;
    uint32_t channel_count;
    deployment_node nodes[DEPLOYMENT_NODES_MAX + 1]; /* from 1 */
    deployment_channel channels[DEPLOYMENT_CHANNELS_MAX];
} deployment;

/* Reads a file, or, when there is none of that name, the one that Medley brings. False: what is
 * wrong is told. */
bool deployment_read(const med_command *command, const char *name, deployment *to);

#endif
