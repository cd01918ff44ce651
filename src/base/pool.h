/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The buffer pool: buffers of one size in shared memory, taken and given back by anybody.
 *
 * Words
 *   buffer   a handle: which buffer of which pool, and which use of it. Eight bytes without a
 *            pointer in them: it means the same in every process, and fits a ring's element
 *   owner    as in bit_set.h: whose the buffer is, so that it comes back when he dies
 *   cache    some buffers that its owner keeps at hand; private to one thread of his. They are his
 *            in the pool too, so they come back as well
 *
 * A buffer that goes from a sender to a receiver changes its owner by hand_over: by the sender
 * before he passes the handle on, or by the receiver after he got it. Until then it is the
 * sender's, and comes back with him.
 *
 * In memory, at a multiple of 64 bytes: a line of constants (med_pool_shared), the bit set, the
 * buffers, each at a multiple of 64 bytes. docs/design/pool.md says why it is built like this.
 */
#ifndef MEDLEY_BASE_POOL_H
#define MEDLEY_BASE_POOL_H

#include "base/bit_set.h"

#define MED_POOL_CACHE_MAX 62u

typedef struct med_pool_shared {
    med_stamp stamp; /* all of it constant */
    atomic32 capacity;
    atomic32 buffer_bytes;
    atomic32 tag;
    uint32_t reserved[11];
} med_pool_shared;
_Static_assert(sizeof(med_pool_shared) == 64, "layout in shared memory");

/* One process's view: private, constant, may be copied. */
typedef struct med_pool {
    med_bit_set slots;
    unsigned char *buffers;
    uint32_t buffer_bytes;
    uint32_t stride_bytes;
    uint32_t tag;
} med_pool;

/* A zeroed one is none. */
typedef struct med_pool_buffer {
    uint32_t place; /* the pool's tag, and 16 bits of index */
    uint32_t generation;
} med_pool_buffer;
_Static_assert(sizeof(med_pool_buffer) == 8, "handed through shared memory");

typedef struct med_pool_cache {
    uint32_t owner;
    uint16_t limit; /* how many buffers it keeps */
    uint16_t count;
    uint16_t indices[MED_POOL_CACHE_MAX + 2];
} med_pool_cache;

/* What the pool needs; 0 when there is no such pool (it must end below 4 GiB). */
size_t med_pool_size(uint32_t capacity, uint32_t buffer_bytes);
/* `tag` (up to 65535) tells the pools of a program apart: a handle of another tag is refused.
 * MEDLEY_ERR_ARGUMENT: capacity, sizes, tag or alignment. */
medley_status_t med_pool_init(void *memory,
                              size_t size_bytes,
                              uint32_t capacity,
                              uint32_t buffer_bytes,
                              uint32_t tag,
                              med_pool *pool);
/* As med_bit_set_attach. */
medley_status_t med_pool_attach(void *memory, size_t size_bytes, med_pool *pool);

/* An empty cache of `owner`, who must not be nobody. What a cache keeps nobody else can have: with
 * limit 0 it keeps nothing, and every take and give goes to the shared pool. A limit above
 * MED_POOL_CACHE_MAX counts as that. */
void med_pool_cache_init(med_pool_cache *cache, uint32_t owner, uint32_t limit);
/* Gives back all it keeps. */
void med_pool_cache_flush(const med_pool *pool, med_pool_cache *cache);

/* For take and give: to the shared pool and back, half a cache at a time. */
medley_status_t med_pool_cache_refill(const med_pool *pool, med_pool_cache *cache);
void med_pool_cache_drain(const med_pool *pool, med_pool_cache *cache, uint32_t keep);

static inline med_bit_set_slot
med_pool_slot(med_pool_buffer buffer)
{
    return (med_bit_set_slot){.index = buffer.place & 0xffffu, .generation = buffer.generation};
}

static inline bool
med_pool_is_of(const med_pool *pool, med_pool_buffer buffer)
{
    return buffer.place >> 16 == pool->tag;
}

/* A buffer for the cache's owner; its contents are whatever they were. MEDLEY_FULL: none left; some
 * may be in other caches. */
static inline medley_status_t
med_pool_take(const med_pool *pool, med_pool_cache *cache, med_pool_buffer *buffer)
{
    if (cache->count == 0) {
        medley_status_t status = med_pool_cache_refill(pool, cache);
        if (status != MEDLEY_OK) {
            return status;
        }
    }
    uint32_t index = cache->indices[--cache->count];
    buffer->place = pool->tag << 16 | index;
    buffer->generation = med_bit_set_begin(&pool->slots, index);
    return MEDLEY_OK;
}

/* The owner of the cache gives a buffer of his back. MEDLEY_ERR_ARGUMENT: not of this pool;
 * MEDLEY_ERR_STALE: given back before; MEDLEY_ERR_NOT_OWNER. Of several that give it back, one
 * succeeds. */
static inline medley_status_t
med_pool_give(const med_pool *pool, med_pool_cache *cache, med_pool_buffer buffer)
{
    if (!med_pool_is_of(pool, buffer)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    medley_status_t status = med_bit_set_end(&pool->slots, med_pool_slot(buffer), cache->owner);
    if (status != MEDLEY_OK) {
        return status;
    }
    cache->indices[cache->count++] = (uint16_t)buffer.place;
    if (cache->count > cache->limit) {
        med_pool_cache_drain(pool, cache, cache->limit / 2u);
    }
    return MEDLEY_OK;
}

/* As give, by the owner's only thread (bit_set.h, "alone"). MEDLEY_ERR_NOT_OWNER: not in use, or
 * not his. */
static inline medley_status_t
med_pool_give_alone(const med_pool *pool, med_pool_cache *cache, med_pool_buffer buffer)
{
    if (!med_pool_is_of(pool, buffer) ||
        med_bit_set_end_alone(&pool->slots, med_pool_slot(buffer), cache->owner) != MEDLEY_OK) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    cache->indices[cache->count++] = (uint16_t)buffer.place;
    if (__builtin_expect(cache->count > cache->limit, 0)) {
        med_pool_cache_drain(pool, cache, cache->limit / 2u);
    }
    return MEDLEY_OK;
}

/* In use, and `owner`'s. */
static inline bool
med_pool_is_owners(const med_pool *pool, med_pool_buffer buffer, uint32_t owner)
{
    return med_pool_is_of(pool, buffer) &&
           med_bit_set_is_owners(&pool->slots, med_pool_slot(buffer), owner);
}

/* As hand_over, likewise. */
static inline medley_status_t
med_pool_hand_over_alone(const med_pool *pool, med_pool_buffer buffer, uint32_t from, uint32_t to)
{
    return med_pool_is_of(pool, buffer)
               ? med_bit_set_hand_over_alone(&pool->slots, med_pool_slot(buffer), from, to)
               : MEDLEY_ERR_NOT_OWNER;
}

/* Where the buffer lies here; NULL when it is none of this pool. Does not look whether it is in
 * use: med_pool_check does. */
static inline void *
med_pool_address(const med_pool *pool, med_pool_buffer buffer)
{
    uint32_t index = buffer.place & 0xffffu;
    if (!med_pool_is_of(pool, buffer) || index >= pool->slots.capacity) {
        return NULL;
    }
    return pool->buffers + (size_t)index * pool->stride_bytes;
}

/* MEDLEY_OK when it is in use and `owner`'s at this instant; else as give. */
medley_status_t med_pool_check(const med_pool *pool, med_pool_buffer buffer, uint32_t owner);
/* As med_bit_set_hand_over. */
medley_status_t
med_pool_hand_over(const med_pool *pool, med_pool_buffer buffer, uint32_t from, uint32_t to);
/* As med_bit_set_recover; caches of the dead owner included. */
uint32_t med_pool_recover(const med_pool *pool, uint32_t dead_owner);

typedef struct med_pool_statistics {
    uint32_t capacity;
    uint32_t in_use;
    uint32_t cached;
    uint32_t high_water; /* in use and cached together, at most, ever */
} med_pool_statistics;
void med_pool_statistics_get(const med_pool *pool, med_pool_statistics *statistics);

#endif
