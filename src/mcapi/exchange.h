/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The exchange: what MCAPI needs beside the registry. In shared memory the rings of the lanes and
 * the pool of buffers; in this process its view of them, and what its nodes know of their endpoints
 * and lanes. Made when the first node asks for it, so that nobody else pays. docs/design/mcapi.md
 */
#ifndef MEDLEY_MCAPI_EXCHANGE_H
#define MEDLEY_MCAPI_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pool.h"
#include "base/wait.h"
#include "mcapi/pending.h"
#include "mcapi/sends.h"
#include "medley/status.h"
#include "mrapi/node.h"
#include "mrapi/system.h"

struct med_endpoint_own;
struct med_lane_own;

/* Of the shared memory. No user can choose it. */
#define MED_EXCHANGE_MEMORY_NUMBER 0xf0000000u

/* The first bytes of the shared memory. The pool and the lanes follow, each on 128 bytes. */
typedef struct med_exchange_head {
    atomic32 ready;   /* 1: the pool is made. Before, only the holder of the lanes' lock writes */
    atomic32 awaited; /* somebody waits for an endpoint to appear */
    atomic32 scarce;  /* somebody waits for a buffer */
    uint32_t locked;  /* 1: locked.h. Written with `ready` */
    atomic32 os_lock; /* of that: the operating system's word */
    uint32_t unused[11];
    atomic32 lanes_wanted; /* how often somebody was refused one, wrapping */
    uint32_t unused_too[15];
} med_exchange_head;
_Static_assert(sizeof(med_exchange_head) == 128, "the pool begins on 128 bytes");

typedef struct med_exchange {
    med_exchange_head *head;
    unsigned char *lanes; /* the memory of lane 0 */
    uint32_t lane_stride; /* from lane to lane */
    med_pool pool;
    /* One for each row; each is used by the thread of the node whose endpoint, or end, it is. */
    struct med_endpoint_own *endpoints;
    struct med_lane_own *lane_ends;
    struct med_exchange_node *nodes;
    uint32_t users; /* nodes of this process; guarded by the system's exchange_lock */
} med_exchange;

/* A node, as it takes part. Its own thread's. */
typedef struct med_exchange_node {
    _Alignas(64) med_exchange *exchange; /* apart from another thread's, beside it in the table */
    med_handle memory;
    med_handle guard; /* of the locked baseline (locked.h); 0: the exchange is lock-free */
    bool in_vain;     /* of that: it last waited for the locks until it gave up */
    bool careful;     /* nothing goes at once: it is locked, or the system keeps a trace */
    med_pool_cache cache;
    med_pending_queue gets; /* endpoints that it waits for */
    med_sends sends;
    uint32_t polls;          /* since it asked whether to look at somebody's life; see look_due */
    uint32_t polls_run;      /* so many go until it asks again */
    uint32_t look;           /* at the requests that it waits for: which of `looks`; 0: none */
    uint32_t looks;          /* so many, wrapping */
    uint32_t lanes_wanted;   /* as the head said when it last gave up lanes for that */
    uint64_t polled_ns;      /* when it asked */
    uint64_t next_search_ns; /* when it looks next whether the dead have buffers, */
    uint64_t next_burial_ns; /* and whether there are any who died */
    /* For each buffer: its use that the node sent in place; 0: none. NULL: it sent none. */
    uint32_t *sent;
} med_exchange_node;

/* May what is usual go by the short ways, which take no lock and are not told? */
static inline bool
med_exchange_may_at_once(const med_self *self)
{
    return !(med_port_has_processes() && __builtin_expect(self->exchange->careful, 0));
}

/* What a system of these limits shares for it. 0: more than there can be. */
uint32_t med_exchange_memory_bytes(const med_limits *limits);

/* The calling node takes part from now on. MEDLEY_ERR_EXISTS: it does; MEDLEY_ERR_CORRUPT:
 * the memory is not as large as it must be; MEDLEY_ERR_ACCESS: others exchange otherwise
 * (locked.h), which is reported; MEDLEY_ERR_NOT_SUPPORTED: not locked, on this machine;
 * MEDLEY_ERR_NO_MEMORY, MEDLEY_ERR_LIMIT, MEDLEY_TIMEOUT as med_shmem_create and _attach. */
medley_status_t med_exchange_join(med_self *self);
/* And no more. Its endpoints are gone already. */
void med_exchange_leave(med_self *self);

static inline size_t
med_exchange_sent_bytes(const med_system *system)
{
    return system->limits.buffers * sizeof(uint32_t);
}

/* A buffer for the caller. When none is left, those that the dead have, or that are on their way to
 * them, are looked for first. MEDLEY_ERR_NO_MEMORY. */
medley_status_t med_exchange_buffer_search(med_self *self, med_pool_buffer *buffer);

/* That life of a lane is over, for both sides: what was under way in it comes back. By any thread;
 * where this process has no part in the exchange, or is just getting one, when buffers run out. */
void med_exchange_lane_ended(med_system *system, uint32_t lane_index, uint32_t generation);

/* Says by a flag of the head that the caller waits for something, before it looks for it. Who
 * brings it looks at the flag afterwards, past a light barrier; who clears it wakes all. */
static inline void
med_exchange_flag_raise(const med_self *self, atomic32 *flag)
{
    /* Relaxed, both. If it is up, and who clears it did not see this thread's sleep flag, then he
     * cleared it before W2 in wait.c, which makes that visible here. */
    if (med_port_has_threads() && !atomic32_load_relaxed(flag)) {
        atomic32_store_relaxed(flag, 1);
        (void)med_port_barrier_heavy(
            self->scope); /* F1 flag, look <-> F2 (give), F3 (endpoint.c), F4 (request.c) */
    }
}

/* For who was told "not yet" and does not wait: is it time to look at the other side's life? So who
 * only polls finds a death all the same: if he does so slowly, by his next poll; else once in many,
 * to spare him the clock. Never where none can die. */
bool med_exchange_poll_counted(med_self *self);
static inline bool
med_exchange_look_due(med_self *self)
{
    return med_port_has_processes() && med_exchange_poll_counted(self);
}

/* For who finds no row: recovers all who died, so that theirs come free; if it was not done just
 * before. Whether there were any. Where none can die, there is nothing to do. */
bool med_exchange_bury_due(med_self *self);

/* What an owner had who is over comes back. How many. */
uint32_t
med_exchange_take_back(const med_system *system, const med_exchange *exchange, uint32_t owner);
/* Gives back what the dead left behind, and lanes that nobody receives by any more; recovers those
 * receivers who died. How many. */
uint32_t med_exchange_reclaim(const med_self *self);
/* The same, if it was not done just before; else 0. */
uint32_t med_exchange_reclaim_due(const med_self *self);

static inline medley_status_t
med_exchange_buffer_take(med_self *self, med_pool_buffer *buffer)
{
    med_exchange_node *node = self->exchange;
    medley_status_t status = med_pool_take(&node->exchange->pool, &node->cache, buffer);
    return __builtin_expect(status == MEDLEY_OK, 1) ? status
                                                    : med_exchange_buffer_search(self, buffer);
}

/* Gives a buffer of the caller's back: into its cache, or, when somebody waits for one, to the
 * pool. MEDLEY_ERR_NOT_OWNER. */
void med_exchange_buffers_spread(med_self *self);

static inline medley_status_t
med_exchange_buffer_give(med_self *self, med_pool_buffer buffer)
{
    med_exchange_node *node = self->exchange;
    medley_status_t status = med_pool_give_alone(&node->exchange->pool, &node->cache, buffer);
    if (!med_port_has_threads()) {
        return status; /* who waits gives nothing back meanwhile */
    }
    med_port_barrier_light(self->scope); /* F2 given, then flag <-> F1 (raise) */
    /* Relaxed: as the sleep flag in wait.c. */
    if (__builtin_expect(atomic32_load_relaxed(&node->exchange->head->scarce) != 0, 0)) {
        med_exchange_buffers_spread(self);
    }
    return status;
}

/* Called by the floor below (mrapi/partition.c). */
uint32_t med_exchange_layout_hash(uint32_t hash);

/* A part's (mrapi/parts.h). */
void med_exchange_end(med_system *system);
void med_exchange_node_leaves(med_self *self);

/* The number that owns what is under way in one life of a lane. Never a node's, never nobody's. */
static inline uint32_t
med_exchange_lane_owner(uint32_t lane_index, uint32_t generation)
{
    return 0x80000000u | (generation & 0x7fffu) << 16 | lane_index;
}

/* What this process knows of a row: `owner` says whose it is, a node reference. It is the caller's
 * from now on. False: he, or another who lives, has it already, as rows that are written over may
 * have it. */
bool med_exchange_claim_free(const med_self *self, atomic32 *owner);

static inline bool
med_exchange_claim(const med_self *self, atomic32 *owner)
{
    if (med_port_has_processes()) {
        return med_exchange_claim_free(self, owner);
    }
    atomic32_store_relaxed(owner,
                           self->ref); /* relaxed: own; nobody writes over what leads to it */
    return true;
}

static inline void *
med_exchange_lane_memory(const med_exchange *exchange, uint32_t lane_index)
{
    return exchange->lanes + (size_t)lane_index * exchange->lane_stride;
}

/* Where the thread of another node sleeps; NULL for a reference that is none. */
static inline med_wait *
med_exchange_news_of(const med_system *system, uint32_t node_ref)
{
    uint32_t index = med_node_ref_index(node_ref);
    return index < system->limits.nodes ? &med_system_node(system, index)->news : NULL;
}

#endif
