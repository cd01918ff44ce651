/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ring with many producers and many consumers, in place, first in, first out. It lies in shared
 * memory and holds no pointer.
 *
 * Words
 *   side       who uses the ring, as producer, consumer or both: one thread at a time
 *   owner      whose side it is: a number other than 0, the caller's affair (a node, a slot)
 *   claim      a slot that a side fills (from reserve to commit) or reads (from take to release)
 *   lap        how often the ring was gone around
 *
 * A claim names its side, so a dead owner's claims can be found and undone. Until somebody does
 * (med_ring_mpmc_recover), or while a producer is stopped between reserve and commit, consumers
 * stand before that slot: elements behind it wait, since the order is one for all. Where that
 * cannot be borne, and one consumer is enough: ring_mpsc.h. How it works: ring_mpmc.c.
 */
#ifndef MEDLEY_BASE_RING_MPMC_H
#define MEDLEY_BASE_RING_MPMC_H

#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/ring_element.h"
#include "base/ring_wait.h"
#include "base/stamp.h"
#include "base/wait.h"
#include "medley/status.h"
#include "port/port.h"

#define MED_RING_MPMC_SIDES_MAX 256u

typedef struct med_ring_mpmc_config {
    uint32_t element_bytes; /* 1 to MED_RING_ELEMENT_MAX */
    uint32_t capacity;      /* elements; a power of two, 1 to MED_RING_CAPACITY_MAX */
    uint32_t sides;         /* at a time: 1 to MED_RING_MPMC_SIDES_MAX */
    uint32_t first_index;   /* where the counters start: 0, but for tests */
} med_ring_mpmc_config;

/* ---- In shared memory ------------------------------------------------------------------------ */

/*
 *      0  shape    constant once made
 *    128  tail     the slot to be reserved next, or one before it
 *    256  head     the slot to be taken next, or one before it
 *    384  data     where consumers sleep; space: where producers sleep
 *    512  owners   one word per side
 *      .  slots    stride_bytes each: the slot's word, 4 bytes of nothing, the element
 */
typedef struct med_ring_mpmc_shape {
    med_stamp stamp;
    atomic32 sides;
    atomic32 element_bytes;
    atomic32 capacity;
    atomic32 stride_bytes;
    atomic32 size_bytes; /* of all of it */
} med_ring_mpmc_shape;

typedef struct med_ring_mpmc {
    _Alignas(128) med_ring_mpmc_shape shape;
    _Alignas(128) atomic32 tail;
    _Alignas(128) atomic32 head;
    _Alignas(128) med_wait data;
    med_wait space;
} med_ring_mpmc;

_Static_assert(sizeof(med_ring_mpmc_shape) == 28, "one layout for all processors");
_Static_assert(sizeof(med_ring_mpmc) == 512, "one layout for all processors");
_Static_assert(offsetof(med_ring_mpmc, tail) == 128 && offsetof(med_ring_mpmc, head) == 256 &&
                   offsetof(med_ring_mpmc, data) == 384,
               "as drawn");

#define MED_RING_MPMC_KIND MED_STAMP_KIND('M', 'P', 'M', 'C')
#define MED_RING_MPMC_VERSION 1u
#define MED_RING_MPMC_ELEMENT_AT 8u

/* ---- Each side's own ------------------------------------------------------------------------- */
typedef struct med_ring_mpmc_view {
    med_ring_mpmc *ring;
    atomic32 *owners;
    uint8_t *slots;
    uint32_t mask; /* capacity - 1 */
    uint32_t capacity_log2;
    uint32_t stride_bytes;
    uint32_t element_bytes;
    uint32_t sides;
    med_port_scope scope;
} med_ring_mpmc_view;

typedef struct med_ring_mpmc_side {
    med_ring_mpmc_view view;
    uint32_t number; /* of this side */
    uint32_t owner;
    uint32_t reserved; /* index of the slot it fills */
    uint32_t taken;    /* index of the slot it reads */
    bool has_reserved;
    bool has_taken;
    med_ring_sleep sleep; /* for the _until forms */
} med_ring_mpmc_side;

/* ---- Making and attaching -------------------------------------------------------------------- */

/* How many bytes the ring takes. MEDLEY_ERR_ARGUMENT when the config is outside its limits or asks
 * for 4 GiB or more. */
medley_status_t med_ring_mpmc_size(const med_ring_mpmc_config *config, uint32_t *size_bytes);

/* Makes an empty ring of `memory`, which is aligned to 64 bytes (128 is better) and large enough:
 * else MEDLEY_ERR_ARGUMENT. Nobody may be attached; the caller publishes the memory afterwards. */
medley_status_t
med_ring_mpmc_init(void *memory, size_t memory_bytes, const med_ring_mpmc_config *config);

/* A view of a ring that somebody made; `scope` says who the others may be. MEDLEY_ERR_BYTE_ORDER,
 * MEDLEY_ERR_VERSION, or MEDLEY_ERR_CORRUPT when a field disagrees with another or with the
 * memory's size; the view is then unchanged. */
medley_status_t med_ring_mpmc_attach(med_ring_mpmc_view *view,
                                     void *memory,
                                     size_t memory_bytes,
                                     med_port_scope scope);

/* A side for `owner`, who may have several. MEDLEY_ERR_LIMIT: all have an owner. */
medley_status_t
med_ring_mpmc_join(med_ring_mpmc_side *side, const med_ring_mpmc_view *view, uint32_t owner);
/* Gives it back, and its claims first: cancels what was reserved, releases what was taken.
 * MEDLEY_ERR_NOT_OWNER when somebody recovered it meanwhile. */
medley_status_t med_ring_mpmc_leave(med_ring_mpmc_side *side);

/* What becomes of elements that a dead consumer had taken and not released. `side` is the
 * recovering one's own; `keep` gets each of them, before its slot is given back: once, or once more
 * if he who recovers dies over it. */
typedef struct med_ring_mpmc_salvage {
    med_ring_mpmc_side *side;
    void (*keep)(void *context, const void *element);
    void *context;
} med_ring_mpmc_salvage;

/* Leaves in a dead owner's stead; the caller knows that it is dead and that no other has its
 * number. What it had reserved is passed over, what it had taken is lost unless `salvage` is given.
 * How many claims and sides that were. Idempotent; may be called by several at once, and be killed
 * anywhere. Looks at every slot. */
uint32_t med_ring_mpmc_recover(const med_ring_mpmc_view *view,
                               uint32_t dead_owner,
                               const med_ring_mpmc_salvage *salvage);

/* ---- Producing ------------------------------------------------------------------------------- */

/* A slot to fill, element_bytes long, aligned to 8 bytes; the same one again until commit or
 * cancel. MEDLEY_FULL; MEDLEY_FULL_CONSUMER_READING; MEDLEY_BUSY: others were faster, again and
 * again; MEDLEY_ERR_CORRUPT. */
medley_status_t med_ring_mpmc_reserve(med_ring_mpmc_side *side, void **slot);
/* As reserve, but waits for room: MEDLEY_TIMEOUT, MEDLEY_ERR_CORRUPT, or what each_slice said. */
medley_status_t
med_ring_mpmc_reserve_until(med_ring_mpmc_side *side, uint64_t deadline_ns, void **slot);
/* Hands over the slot that was reserved, and wakes consumers that sleep. */
void med_ring_mpmc_commit(med_ring_mpmc_side *side);
/* Gives up the slot that was reserved: consumers pass over it. */
void med_ring_mpmc_reserve_cancel(med_ring_mpmc_side *side);
/* Copies one element in. What reserve may return. */
medley_status_t med_ring_mpmc_push(med_ring_mpmc_side *side, const void *element);

/* ---- Consuming ------------------------------------------------------------------------------- */

/* The next element is this side's alone; the same one again until release. MEDLEY_EMPTY;
 * MEDLEY_EMPTY_PRODUCER_INSERTING; MEDLEY_BUSY, as above; MEDLEY_ERR_CORRUPT. */
medley_status_t med_ring_mpmc_take(med_ring_mpmc_side *side, void **element);
/* As take, but waits for an element: MEDLEY_TIMEOUT, MEDLEY_ERR_CORRUPT, or what each_slice said.
 */
medley_status_t
med_ring_mpmc_take_until(med_ring_mpmc_side *side, uint64_t deadline_ns, void **element);
/* Gives the slot back, and wakes producers that sleep. */
void med_ring_mpmc_release(med_ring_mpmc_side *side);
/* Copies one element out. What take may return. */
medley_status_t med_ring_mpmc_pop(med_ring_mpmc_side *side, void *element);

#endif
