/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ring with many producers and one consumer, in place. It lies in shared memory and holds no
 * pointer.
 *
 * Each producer has a lane of its own: a packed ring with one producer (ring_spsc.h). So producers
 * share nothing they write, and a slot that was reserved and is never published - its producer is
 * stopped, or dead - stands in nobody's way. The consumer takes what one lane has, then goes on to
 * the next that has something; it looks only at lanes that are, or were not long ago, in use.
 *
 * Words
 *   owner      who a producer or the consumer is: a number other than 0, the caller's affair (a
 *              node, a process slot)
 *   leftover   what its producer committed and the consumer has not yet released, in a lane that
 *              the producer has left
 *   drained    without leftover
 *   run        what the consumer takes from one lane before it looks at the others
 *
 * How it works, what may run together, and what happens when somebody dies: ring_mpsc.c.
 *
 * Order. The elements that one producer commits arrive in that order, also when it leaves and comes
 * back: it gets the lane with its own leftover, or none until that is drained, and a lane with
 * another's leftover is given to nobody else. Between producers there is no order.
 *
 * Fairness. A run is at most MED_RING_MPSC_RUN_MAX elements; with P producers at work an element at
 * the head of its lane waits for at most P - 1 runs.
 */
#ifndef MEDLEY_BASE_RING_MPSC_H
#define MEDLEY_BASE_RING_MPSC_H

#include <stddef.h>
#include <stdint.h>

#include "base/ring_spsc.h"
#include "base/stamp.h"
#include "base/wait.h"
#include "medley/status.h"
#include "port/port.h"

#define MED_RING_MPSC_LANES_MAX 1024u
#define MED_RING_MPSC_RUN_MAX 256u

typedef struct med_ring_mpsc_config {
    uint32_t element_bytes; /* as for med_ring_config */
    uint32_t capacity;      /* of each lane */
    uint32_t lanes;         /* producers at a time: 1 to MED_RING_MPSC_LANES_MAX */
    uint32_t first_index;   /* where the counters start: 0, but for tests */
} med_ring_mpsc_config;

/* ---- In shared memory ------------------------------------------------------------------------ */

/*
 *      0  shape      constant once made
 *    128  data       where the consumer sleeps: every producer reads it, at each commit
 *    256  map        bit l of the lanes: the consumer looks at lane l
 *    384  roles      one per lane: who has it
 *      .  lanes      lane_bytes each, a med_ring
 */
typedef struct med_ring_mpsc_shape {
    med_stamp stamp;
    atomic32 lanes;
    atomic32 element_bytes;
    atomic32 capacity;
    atomic32 lane_bytes;
    atomic32 size_bytes; /* of all of it */
} med_ring_mpsc_shape;

typedef struct med_ring_mpsc_role {
    atomic32 owner;  /* 0: nobody. Written by compare-and-swap of who joins, leaves, recovers */
    atomic32 former; /* who committed last to this lane. Written by the owner */
} med_ring_mpsc_role;

typedef struct med_ring_mpsc {
    _Alignas(128) med_ring_mpsc_shape shape;
    _Alignas(128) med_wait data;
    atomic32 consumer; /* its owner, or 0 */
    _Alignas(128) atomic32 map[MED_RING_MPSC_LANES_MAX / 32];
} med_ring_mpsc;

_Static_assert(sizeof(med_ring_mpsc_shape) == 28, "one layout for all processors");
_Static_assert(sizeof(med_ring_mpsc_role) == 8, "one layout for all processors");
_Static_assert(sizeof(med_ring_mpsc) == 384, "one layout for all processors");
_Static_assert(offsetof(med_ring_mpsc, data) == 128 && offsetof(med_ring_mpsc, map) == 256,
               "as drawn");

#define MED_RING_MPSC_KIND MED_STAMP_KIND('M', 'P', 'S', 'C')
#define MED_RING_MPSC_VERSION (0x100u + MED_RING_VERSION) /* its own, and its lanes' */

/* ---- Each side's own ------------------------------------------------------------------------- */
typedef struct med_ring_mpsc_view {
    med_ring_mpsc *ring;
    med_ring_mpsc_role *roles;
    uint8_t *lanes_at;
    uint32_t lanes;
    uint32_t lane_bytes;
    uint32_t element_bytes;
    uint32_t stride_bytes;
    uint32_t capacity;
    med_port_scope scope;
} med_ring_mpsc_view;

typedef struct med_ring_mpsc_producer {
    med_ring_producer lane;
    med_waker waker; /* of the consumer, who sleeps at one place for all lanes */
    med_ring_mpsc_role *role;
    uint32_t owner;
} med_ring_mpsc_producer;

typedef struct med_ring_mpsc_consumer {
    med_ring_consumer lane; /* the one it is in; `filled` ends the run */
    med_ring_mpsc_view view;
    uint32_t number; /* of the lane it is in */
    uint32_t owner;
} med_ring_mpsc_consumer;

static inline med_ring *
med_ring_mpsc_lane(const med_ring_mpsc_view *view, uint32_t number)
{
    return (med_ring *)(void *)(view->lanes_at + (size_t)number * view->lane_bytes);
}

/* ---- Making and attaching -------------------------------------------------------------------- */

/* How many bytes the ring takes. MEDLEY_ERR_ARGUMENT when the config is outside its limits or asks
 * for 4 GiB or more. */
medley_status_t med_ring_mpsc_size(const med_ring_mpsc_config *config, uint32_t *size_bytes);

/* Makes an empty ring of `memory`, which is aligned to 64 bytes (128 is better) and large enough:
 * else MEDLEY_ERR_ARGUMENT. Nobody may be attached; the caller publishes the memory afterwards. */
medley_status_t
med_ring_mpsc_init(void *memory, size_t memory_bytes, const med_ring_mpsc_config *config);

/* A view of a ring that somebody made; `scope` says who the others may be. MEDLEY_ERR_BYTE_ORDER,
 * MEDLEY_ERR_VERSION, or MEDLEY_ERR_CORRUPT when a field disagrees with another or with the
 * memory's size; the view is then unchanged. Any thread, any number of views. */
medley_status_t med_ring_mpsc_attach(med_ring_mpsc_view *view,
                                     void *memory,
                                     size_t memory_bytes,
                                     med_port_scope scope);

/* Takes a lane for `owner`, who may have several (each with an order of its own).
 * MEDLEY_ERR_LIMIT: every lane has an owner. MEDLEY_BUSY: there is one without, but in it, or in
 * the one that must be had first (Order, above), is leftover: again when the consumer has gone on.
 * MEDLEY_ERR_CORRUPT: what could be had was scribbled over. Never waits. */
medley_status_t med_ring_mpsc_producer_join(med_ring_mpsc_producer *producer,
                                            const med_ring_mpsc_view *view,
                                            uint32_t owner);
/* Gives the lane back. What was committed will be delivered, what was only reserved is dropped.
 * MEDLEY_ERR_NOT_OWNER when somebody recovered it meanwhile. */
medley_status_t med_ring_mpsc_producer_leave(med_ring_mpsc_producer *producer);

/* Becomes the consumer; goes on from the shared words. MEDLEY_BUSY: there is one. */
medley_status_t med_ring_mpsc_consumer_join(med_ring_mpsc_consumer *consumer,
                                            const med_ring_mpsc_view *view,
                                            uint32_t owner);
/* What was peeked and not released will be there for the next one. MEDLEY_ERR_NOT_OWNER as above.
 */
medley_status_t med_ring_mpsc_consumer_leave(med_ring_mpsc_consumer *consumer);

/* Leaves in a dead owner's stead, everything it had; the caller knows that it is dead and that no
 * other has its number. How many lanes and roles that were. Idempotent; may be called by several at
 * once, and be killed anywhere. */
uint32_t med_ring_mpsc_recover(const med_ring_mpsc_view *view, uint32_t dead_owner);

/* ---- The producer ---------------------------------------------------------------------------- */

/* One thread at a time. reserve, reserve_many and reserve_until as in ring_spsc.h, of this lane
 * alone: MEDLEY_FULL says nothing of the others.
 */
static inline medley_status_t
med_ring_mpsc_reserve(med_ring_mpsc_producer *producer, void **slot)
{
    return med_ring_reserve_as(&producer->lane, MED_RING_PACKED, slot);
}

static inline medley_status_t
med_ring_mpsc_reserve_many(med_ring_mpsc_producer *producer,
                           uint32_t wanted,
                           void **slots,
                           uint32_t *count)
{
    return med_ring_reserve_many_as(&producer->lane, MED_RING_PACKED, wanted, slots, count);
}

static inline medley_status_t
med_ring_mpsc_reserve_until(med_ring_mpsc_producer *producer, uint64_t deadline_ns, void **slot)
{
    return med_ring_reserve_until(&producer->lane, deadline_ns, slot);
}

static inline void
med_ring_mpsc_reserve_cancel(med_ring_mpsc_producer *producer)
{
    med_ring_reserve_cancel(&producer->lane);
}

/* Hands over the first `count` (at least 1) of the slots that were reserved, and wakes the consumer
 * if it sleeps. */
static inline void
med_ring_mpsc_commit_many(med_ring_mpsc_producer *producer, uint32_t count)
{
    /* R1 slot filled -> A1 (ring_spsc.c, lane_enter) */
    med_ring_producer *lane = &producer->lane;
    med_ring_hand_over(lane, med_ring_tail(lane) + count);
    if (__builtin_expect(med_ring_used_up(lane, med_ring_tail(lane)), 0)) {
        lane->open = NULL;
    }
    med_waker_wake(&producer->waker);
}

static inline void
med_ring_mpsc_commit(med_ring_mpsc_producer *producer)
{
    med_ring_mpsc_commit_many(producer, 1);
}

/* Copies one element in. What reserve may return. */
static inline medley_status_t
med_ring_mpsc_push(med_ring_mpsc_producer *producer, const void *element)
{
    void *slot;
    medley_status_t status = med_ring_mpsc_reserve(producer, &slot);
    if (status == MEDLEY_OK) {
        med_ring_copy(slot, element, producer->lane.view.element_bytes);
        med_ring_mpsc_commit(producer);
    }
    return status;
}

/* ---- The consumer ---------------------------------------------------------------------------- */

/* One thread at a time. */

/* The run is used up: the next lane that has something, and its run. MEDLEY_OK, or as peek. */
medley_status_t med_ring_mpsc_look(med_ring_mpsc_consumer *consumer);

/* Up to `wanted` (at least 1) elements that lie side by side, view.stride_bytes apart; `count` of
 * them, all of one producer. The same again until release. MEDLEY_EMPTY; or _PRODUCER_INSERTING;
 * MEDLEY_ERR_CORRUPT: a lane was scribbled over, what was in it is lost; the others go on. */
static inline medley_status_t
med_ring_mpsc_peek_many(med_ring_mpsc_consumer *consumer,
                        uint32_t wanted,
                        void **elements,
                        uint32_t *count)
{
    med_ring_consumer *lane = &consumer->lane;
    if (lane->head == lane->filled) {
        medley_status_t status = med_ring_mpsc_look(consumer);
        if (status != MEDLEY_OK) {
            return status;
        }
    }
    uint32_t left = lane->filled - lane->head;
    /* Relaxed: a mark publishes nothing. */
    atomic32_store_relaxed(&lane->end->reading, lane->head + 1);
    *elements = med_ring_slot(&lane->view, lane->head);
    *count = med_ring_run(&lane->view, lane->head, left < wanted ? left : wanted);
    return MEDLEY_OK;
}

static inline medley_status_t
med_ring_mpsc_peek(med_ring_mpsc_consumer *consumer, void **element)
{
    uint32_t count;
    return med_ring_mpsc_peek_many(consumer, 1, element, &count);
}

/* As peek, but waits for an element: MEDLEY_TIMEOUT, or what each_slice said. */
medley_status_t
med_ring_mpsc_peek_until(med_ring_mpsc_consumer *consumer, uint64_t deadline_ns, void **element);

/* Gives the first `count` (at least 1) of the elements that were peeked back to their producer, and
 * wakes it if it sleeps. */
static inline void
med_ring_mpsc_release_many(med_ring_mpsc_consumer *consumer, uint32_t count)
{
    med_ring_release_many(&consumer->lane, count); /* R2 */
}

static inline void
med_ring_mpsc_release(med_ring_mpsc_consumer *consumer)
{
    med_ring_mpsc_release_many(consumer, 1);
}

/* Copies one element out. What peek may return. */
static inline medley_status_t
med_ring_mpsc_pop(med_ring_mpsc_consumer *consumer, void *element)
{
    void *slot;
    medley_status_t status = med_ring_mpsc_peek(consumer, &slot);
    if (status == MEDLEY_OK) {
        med_ring_copy(element, slot, consumer->view.element_bytes);
        med_ring_mpsc_release(consumer);
    }
    return status;
}

#endif
