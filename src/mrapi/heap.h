/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Heap memory: memory of the process's heap that its nodes share, by handle or by key. Nobody
 * outside the process sees it, so nothing of it lies in the partition. docs/design/memory.md
 *
 * A handle has, below its kind, 8 bits of the slot's life and 20 of its index. A slot that has gone
 * through so many lives rests behind MED_HEAP_RESTING others at least before it is used again.
 */
#ifndef MEDLEY_MRAPI_HEAP_H
#define MEDLEY_MRAPI_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/lock.h"
#include "medley/status.h"
#include "mrapi/handle.h"
#include "mrapi/node.h"
#include "port/port.h"

struct med_system;

/* Sizes that a build may define otherwise: the simulator's world does, so that a short run gets to
 * each of them (cmake/MedleySim.cmake). */
#ifndef MED_HEAP_SLOTS_PER_CHUNK
#define MED_HEAP_SLOTS_PER_CHUNK 1024u
#endif
#ifndef MED_HEAP_BATCH
#define MED_HEAP_BATCH 64u /* how many slots go between a node and the heap at a time */
#endif
#ifndef MED_HEAP_RESTING
#define MED_HEAP_RESTING 512u /* so many stay in the heap's queue, while there can be more slots */
#endif
#ifndef MED_HEAP_RETURNS
#define MED_HEAP_RETURNS 256u /* who returns so many to a maker at last, takes them over */
#endif
#ifndef MED_HEAP_KEPT_PER_NODE_BYTES
#define MED_HEAP_KEPT_PER_NODE_BYTES (2u << 20) /* how much a node keeps: two of the largest */
#endif
#ifndef MED_HEAP_FIRST_LIFE
#define MED_HEAP_FIRST_LIFE 0u /* a slot's, of those that a handle tells apart */
#endif

#define MED_HEAP_CHUNKS 1024u
#define MED_HEAP_SLOTS_MAX (MED_HEAP_SLOTS_PER_CHUNK * MED_HEAP_CHUNKS)
_Static_assert(MED_HEAP_SLOTS_MAX <= 1u << 20, "20 bits of a handle");

/* Blocks of up to 64 bytes, then four classes for each doubling, up to 1 MiB. Larger ones are not
 * kept. */
#define MED_HEAP_KEPT_MAX_BYTES (1u << 20)
#define MED_HEAP_CLASSES (1u + 4u * 14u)
#define MED_HEAP_CLASS_NONE MED_HEAP_CLASSES

typedef struct med_heap_slot {
    _Alignas(64) atomic32 state; /* bit 0: LIVE; bit 1: LARGE; then which life. Its maker's */
    atomic32 ended;      /* bit 0: RETURNED; from bit 2 on: lives below this are over, say others */
    atomic32 key;        /* LIVE: written by the maker before */
    atomic32 size_bytes; /* LIVE: likewise; as asked for */
    uint32_t index;      /* its own */
    uint32_t returned_next;  /* RETURNED: of the list of those */
    uint32_t returned_ended; /* taken over: which lives were over before */
    uint32_t class_of_size;  /* fixed while it is LIVE or in a cache's list, as are these three */
    uint32_t block_bytes;
    uint32_t kept_bytes;        /* what it counts for while it is kept */
    atomic64 block;             /* address, or 0: none */
    atomic64 maker;             /* whose it is: a cache; fixed likewise, or RETURNED */
    struct med_heap_slot *next; /* not LIVE: of whatever list its maker, or the heap, has it in */
} med_heap_slot;
_Static_assert(sizeof(med_heap_slot) == 64, "a line");

/* A node's own: nobody else looks at it, but for what is said. When the node leaves, another has
 * it next. */
typedef struct med_heap_cache {
    med_heap_slot *blocks[MED_HEAP_CLASSES]; /* slots with a block of that class */
    med_heap_slot *bare;                     /* slots without a block */
    uint32_t bare_count;
    uint32_t kept_bytes;            /* in blocks, each as its slot says */
    atomic32 at;                    /* which its node deletes by two steps, or did last: a handle */
    bool used;                      /* a node has it; the lock's, as is the next */
    struct med_heap_cache *next;    /* of all there are */
    _Alignas(64) atomic32 returned; /* those that others deleted: heap_return.h */
} med_heap_cache;

typedef struct med_heap {
    med_lock lock; /* owner: a node reference, or a thread */
    med_lock_sleepers sleepers;
    med_heap_slot **chunks;   /* NULL until the first use; the lock's, as are the next three */
    med_heap_slot *bare;      /* slots of no node's cache: a queue, */
    med_heap_slot *bare_last; /* up to here, unless it is empty */
    uint32_t bare_count;
    med_heap_cache *caches; /* all there are */
    atomic32 fresh;         /* slots from here on were never used; read by anybody */
    atomic32 refused;       /* a heavy barrier was: nobody takes over any more */
} med_heap;

/* MEDLEY_ERR_NO_MEMORY; MEDLEY_ERR_LIMIT. */
static inline medley_status_t med_heap_create(
    med_self *self, uint32_t key, uint32_t size_bytes, void **address, med_handle *handle);
/* Any node of the process. MEDLEY_ERR_STALE, MEDLEY_ERR_ARGUMENT. Its maker and another may both
 * have deleted it, up to a page, when they do so at the same time. */
static inline medley_status_t med_heap_delete(med_self *self, med_handle handle);
/* One that has the key: looks through all there are. MEDLEY_ERR_NOT_FOUND. */
medley_status_t med_heap_get(const med_self *self, uint32_t key, med_handle *handle);
/* Where it is, and how large. As delete. */
medley_status_t
med_heap_read(const med_self *self, med_handle handle, void **address, uint32_t *size_bytes);

/* ---- The common path ------------------------------------------------------------------------- */

/* A slot with a block, from elsewhere than the list of that class; and one that this list does not
 * take, its life over. */
medley_status_t
med_heap_slot_make(med_self *self, uint32_t class, uint32_t size_bytes, med_heap_slot **slot);
void med_heap_slot_put(med_self *self, med_heap_slot *slot);
/* Of another's, or of a large one. */
medley_status_t med_heap_delete_by_cas(med_self *self, med_heap_slot *slot, uint32_t state);

#define MED_HEAP_LIVE 1u
#define MED_HEAP_LARGE 2u
#define MED_HEAP_LIFE 4u /* one of them */
#define MED_HEAP_LIFE_BITS (~(MED_HEAP_LIFE - 1))
#define MED_HEAP_RETURNED 1u

/* Of a handle. */
#define MED_HEAP_LIFE_SHIFT 18
#define MED_HEAP_LIFE_MASK 0x0ff00000u
#define MED_HEAP_INDEX_MASK 0x000fffffu

/* The classes of up to 4 KiB; larger ones are LARGE. */
#define MED_HEAP_CLASSES_SMALL (1u + 4u * 6u)

static inline uint32_t
med_heap_class(uint32_t size_bytes)
{
    if (size_bytes <= 64) {
        return 0;
    }
    if (size_bytes > MED_HEAP_KEPT_MAX_BYTES) {
        return MED_HEAP_CLASS_NONE;
    }
    /* The highest bit of size - 1, and the two below it. */
    uint32_t top = 31u - (uint32_t)__builtin_clz(size_bytes - 1);
    return 1 + (top - 6) * 4 + ((size_bytes - 1) >> (top - 2) & 3);
}

/* Of one that the caller was told of. */
static inline med_heap_slot *
med_heap_slot_there(const med_heap *heap, uint32_t index)
{
    return &heap->chunks[index / MED_HEAP_SLOTS_PER_CHUNK][index % MED_HEAP_SLOTS_PER_CHUNK];
}

static inline med_heap_slot *
med_heap_slot_at(const med_heap *heap, uint32_t index)
{
    /* C2 chunk there <- C1 (grow) */
    if (__builtin_expect(index >= atomic32_load_acquire(&heap->fresh), 0)) {
        return NULL;
    }
    return med_heap_slot_there(heap, index);
}

static inline med_heap_slot *
med_heap_slot_of(const med_heap *heap, med_handle handle)
{
    if (__builtin_expect(med_handle_kind_of(handle) != MED_HANDLE_HEAP, 0)) {
        return NULL;
    }
    return med_heap_slot_at(heap, handle & MED_HEAP_INDEX_MASK);
}

static inline med_handle
med_heap_handle(const med_heap_slot *slot, uint32_t state)
{
    return (uint32_t)MED_HANDLE_HEAP << 28 | (state << MED_HEAP_LIFE_SHIFT & MED_HEAP_LIFE_MASK) |
           slot->index;
}

/* Is it LIVE in the handle's life, as far as its maker says? */
static inline bool
med_heap_state_good(uint32_t state, med_handle handle)
{
    return (state & MED_HEAP_LIVE) &&
           ((state << MED_HEAP_LIFE_SHIFT ^ handle) & MED_HEAP_LIFE_MASK) == 0;
}

/* Did another end that life of it, or even a later one? */
static inline bool
med_heap_ended(uint32_t ended, uint32_t state)
{
    return (state & MED_HEAP_LIFE_BITS) - (ended & MED_HEAP_LIFE_BITS) >= 1u << 31;
}

/* To whom the slot is: in his life of it, or in his list. */
static inline void *
med_heap_block(const med_heap_slot *slot)
{
    return (void *)(uintptr_t)atomic64_load_relaxed(&slot->block); /* relaxed: nobody changes it */
}

/* Of a slot that is LIVE, or was while the caller looks. */
static inline med_heap_cache *
med_heap_maker(const med_heap_slot *slot)
{
    /* Relaxed: it was written before H1. */
    return (med_heap_cache *)(uintptr_t)atomic64_load_relaxed(&slot->maker);
}

static inline med_heap_slot *
med_heap_pop(med_heap_cache *cache, uint32_t class)
{
    med_heap_slot *slot = cache->blocks[class];
    if (__builtin_expect(slot != NULL, 1)) {
        cache->blocks[class] = slot->next;
        cache->kept_bytes -= slot->kept_bytes;
    }
    return slot;
}

static inline void
med_heap_push(med_heap_cache *cache, med_heap_slot *slot)
{
    slot->next = cache->blocks[slot->class_of_size];
    cache->blocks[slot->class_of_size] = slot;
    cache->kept_bytes += slot->kept_bytes;
}

static inline bool
med_heap_fits(const med_heap_cache *cache, const med_heap_slot *slot)
{
    return slot->class_of_size != MED_HEAP_CLASS_NONE &&
           cache->kept_bytes + slot->kept_bytes <= MED_HEAP_KEPT_PER_NODE_BYTES;
}

/* Have the lives that a handle tells apart gone round? */
static inline bool
med_heap_worn(uint32_t state)
{
    return (state << MED_HEAP_LIFE_SHIFT & MED_HEAP_LIFE_MASK) == 0;
}

/* By its maker: that life is over. */
static inline void
med_heap_slot_free(med_self *self, med_heap_slot *slot, uint32_t state)
{
    uint32_t next = (state & MED_HEAP_LIFE_BITS) + MED_HEAP_LIFE;
    /* Relaxed: what is made of it is published by H1, H3 and H5, which come behind. */
    atomic32_store_relaxed(&slot->state, next);
    if (__builtin_expect(med_heap_worn(next) || !med_heap_fits(self->heap, slot), 0)) {
        med_heap_slot_put(self, slot);
    } else {
        med_heap_push(self->heap, slot);
    }
}

static inline medley_status_t
med_heap_create(
    med_self *self, uint32_t key, uint32_t size_bytes, void **address, med_handle *handle)
{
    uint32_t class = med_heap_class(size_bytes);
    med_heap_slot *slot = NULL;
    if (__builtin_expect(self->heap && class != MED_HEAP_CLASS_NONE, 1)) {
        slot = med_heap_pop(self->heap, class);
    }
    if (__builtin_expect(!slot, 0)) {
        med_heap_slot *made;
        medley_status_t status = med_heap_slot_make(self, class, size_bytes, &made);
        if (status != MEDLEY_OK) {
            return status;
        }
        slot = made;
    }
    atomic32_store_release(&slot->size_bytes, size_bytes); /* H5 next life -> H6 (read) */
    atomic32_store_release(&slot->key, key);               /* H3 key -> H4 (get) */
    /* Relaxed: ours alone, until H1. */
    uint32_t state = atomic32_load_relaxed(&slot->state) | MED_HEAP_LIVE |
                     (class < MED_HEAP_CLASSES_SMALL ? 0 : MED_HEAP_LARGE);
    *address = med_heap_block(slot); /* before: who finds it by its key may delete it at once */
    atomic32_store_release(&slot->state, state); /* H1 made -> H2 (delete, get, read) */
    *handle = med_heap_handle(slot, state);
    return MEDLEY_OK;
}

/* Before its maker looks whether a life of the slot is over, and ends it: nobody takes that slot
 * over until he has gone to another. `at` has the slot's index in its lower bits. */
static inline void
med_heap_go_to(med_heap_cache *cache, uint32_t at)
{
    if (med_port_has_threads()) {
        /* T1 the one before is over -> T2 (heap_return.c) */
        atomic32_store_release(&cache->at, at);
        /* T3 at, then ended <-> T4 (heap_return.c) */
        med_port_barrier_light(MED_PORT_SCOPE_PROCESS);
    }
}

static inline medley_status_t
med_heap_delete(med_self *self, med_handle handle)
{
    med_heap_slot *slot = med_heap_slot_of(self->process_heap, handle);
    if (__builtin_expect(!slot, 0)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    uint32_t state = atomic32_load_acquire(&slot->state); /* H2 made <- H1 (create) */
    if (__builtin_expect(!med_heap_state_good(state, handle), 0)) {
        return MEDLEY_ERR_STALE;
    }
    if (__builtin_expect(med_heap_maker(slot) != self->heap || (state & MED_HEAP_LARGE), 0)) {
        return med_heap_delete_by_cas(self, slot, state);
    }
    med_heap_go_to(self->heap, handle);
    /* Relaxed: who ended it before this call is seen without, who may take it over past T3. */
    if (__builtin_expect(med_heap_ended(atomic32_load_relaxed(&slot->ended), state), 0)) {
        return MEDLEY_ERR_STALE;
    }
    med_heap_slot_free(self, slot, state);
    return MEDLEY_OK;
}

/* ---- Leaving --------------------------------------------------------------------------------- */

/* A node leaves: what it keeps is given back. What it made stays. */
void med_heap_leave(med_self *self);
/* The process leaves the system: everything is given back. */
void med_heap_fini(struct med_system *system);

#endif
