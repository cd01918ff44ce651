/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Heap memory: memory of the process's heap that its nodes share, by handle or by key. Nobody
 * outside the process sees it, so nothing of it lies in the partition. docs/design/memory.md
 *
 * A handle has, below its kind, 8 bits of the slot's life and 20 of its index.
 */
#ifndef MEDLEY_MRAPI_HEAP_H
#define MEDLEY_MRAPI_HEAP_H

#include <stdint.h>

#include "base/atomic.h"
#include "base/lock.h"
#include "medley/status.h"
#include "mrapi/handle.h"

struct med_self;
struct med_system;

#define MED_HEAP_SLOTS_PER_CHUNK 1024u
#define MED_HEAP_CHUNKS 1024u
#define MED_HEAP_SLOTS_MAX (MED_HEAP_SLOTS_PER_CHUNK * MED_HEAP_CHUNKS)
_Static_assert(MED_HEAP_SLOTS_MAX == 1u << 20, "20 bits of a handle");

/* Blocks of up to 64 bytes, then four classes for each doubling, up to 1 MiB. Larger ones are not
 * kept. */
#define MED_HEAP_KEPT_MAX_BYTES (1u << 20)
#define MED_HEAP_CLASSES (1u + 4u * 14u)
#define MED_HEAP_CLASS_NONE MED_HEAP_CLASSES

typedef struct med_heap_slot {
    atomic32 state;             /* bit 0: LIVE; bits 20..27: which life, as in the handle */
    atomic32 key;               /* LIVE: written by the maker before */
    uint32_t size_bytes;        /* LIVE: likewise; as asked for */
    uint32_t class_of_size;     /* of the block */
    void *block;                /* NULL: none; fixed while it is LIVE or in a cache's list */
    struct med_heap_slot *next; /* not LIVE: whoever has it in a list */
    uint32_t index;             /* its own */
} med_heap_slot;

/* A node's own: nobody else looks at it. */
typedef struct med_heap_cache {
    med_heap_slot *blocks[MED_HEAP_CLASSES]; /* slots with a block of that class */
    med_heap_slot *bare;                     /* slots without a block */
    uint32_t bare_count;
    uint32_t kept_bytes; /* in blocks */
} med_heap_cache;

typedef struct med_heap {
    med_lock lock; /* owner: a node reference, or a thread */
    med_lock_sleepers sleepers;
    med_heap_slot **chunks; /* NULL until the first use; the lock's, as are the next two */
    med_heap_slot *bare;    /* slots of no node's cache */
    atomic32 fresh;         /* slots from here on were never used; read by anybody */
} med_heap;

/* MEDLEY_ERR_NO_MEMORY; MEDLEY_ERR_LIMIT. */
medley_status_t med_heap_create(
    struct med_self *self, uint32_t key, uint32_t size_bytes, void **address, med_handle *handle);
/* Any node of the process. MEDLEY_ERR_STALE, MEDLEY_ERR_ARGUMENT. */
medley_status_t med_heap_delete(struct med_self *self, med_handle handle);
/* One that has the key: looks through all there are. MEDLEY_ERR_NOT_FOUND. */
medley_status_t med_heap_get(const struct med_self *self, uint32_t key, med_handle *handle);
/* Where it is, and how large. As delete. */
medley_status_t
med_heap_read(const struct med_self *self, med_handle handle, void **address, uint32_t *size_bytes);

/* A node leaves: what it keeps is given back. What it made stays. */
void med_heap_leave(struct med_self *self);
/* The process leaves the system: everything is given back. */
void med_heap_fini(struct med_system *system);

#endif
