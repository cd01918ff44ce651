/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The kinds of channel that `medley stress` knows, and how an end of each moves one transaction.
 *
 * Transactions are numbered from 1. The first eight bytes of what is sent are the number (24 bits
 * of it) and the sender's clock (40 bits, about 18 minutes), then comes a pattern of the whole
 * number and the channel. What is shorter is the number alone, as much of it as fits.
 */
#ifndef MEDLEY_TOOLS_STRESS_KIND_H
#define MEDLEY_TOOLS_STRESS_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "mcapi.h"
#include "tools/medley/deployment.h"
#include "tools/medley/stress_node.h"

typedef enum stress_progress {
    STRESS_NOT_YET,
    STRESS_DONE,
    STRESS_WRONG, /* the record says what */
} stress_progress;

struct stress_kind;

/* A node's end of a channel: its thread's own. */
typedef struct stress_end {
    const struct stress_kind *kind;
    const deployment_channel *channel;
    uint32_t index; /* of the channel */
    bool sends;
    bool asked; /* `request` is under way */
    mcapi_request_t request;
    mcapi_endpoint_t own;
    mcapi_endpoint_t peer;
    unsigned handle; /* of a channel that is connected */
    uint32_t next;   /* transaction */
    uint64_t tries;  /* in vain, for that one */
    void *packet;    /* received, not released yet */
    unsigned char *payload;
} stress_end;

typedef struct stress_node {
    const deployment *deployment;
    stress_record *record;
    uint32_t number;
    uint32_t end_count;
    stress_end *ends;
} stress_node;

/* `ask` starts a transaction that `request` follows; what has none does it whole in `move`. */
typedef struct stress_kind {
    void (*connect)(mcapi_endpoint_t from,
                    mcapi_endpoint_t to,
                    mcapi_request_t *,
                    mcapi_status_t *);
    void (*open[2])(unsigned *, mcapi_endpoint_t, mcapi_request_t *, mcapi_status_t *); /* sends? */
    void (*close[2])(unsigned, mcapi_request_t *, mcapi_status_t *);
    void (*ask[2])(stress_end *e, mcapi_status_t *status);
    stress_progress (*received)(const stress_node *n,
                                stress_end *e,
                                size_t size); /* what was asked for is there */
    stress_progress (*move[2])(const stress_node *n, stress_end *e);
} stress_kind;

extern const stress_kind stress_kinds[DEPLOYMENT_TYPES];

/* Writes into the node's record what is wrong, at which end if at one. False. */
bool stress_wrong(const stress_node *n, const stress_end *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether `what` went well; else it is written into the record. */
bool
stress_good(const stress_node *n, const stress_end *e, const char *what, mcapi_status_t status);

static inline void
stress_count_add(atomic64 *count, uint64_t more)
{
    /* Relaxed, both: one writer; who reads it shows how far it is. */
    atomic64_store_relaxed(count, atomic64_load_relaxed(count) + more);
}

#endif
