/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The pool: a bit set and the buffers it stands for. What may run together: everything, by anybody;
 * a cache is its thread's.
 *
 * A cached buffer is an entry that its owner has claimed and not begun to use. So take and give are
 * begin and end, on words that nobody else writes, and refill and drain are claim and unclaim of
 * several at once. Nothing here changes shared memory but through bit_set.h, whose argument for
 * linearisation, progress and death is the whole argument. Model: models/pool.pml.
 *
 * The contents of a buffer need no order of their own: inside a cache they stay with one thread;
 * from cache to cache they go with the entry (R1 -> A1 of bit_set.c); from sender to receiver, with
 * the handle.
 */
#include "base/pool.h"

#define KIND MED_STAMP_KIND('P', 'O', 'O', 'L')
#define VERSION 1u
#define TAG_MAX 0xffffu
#define LINE_BYTES 64u
#define APART_FROM 16u /* lines: the smaller would grow by more than a sixteenth */

static uint64_t
first_offset(uint32_t capacity)
{
    return sizeof(med_pool_shared) + (uint64_t)med_bit_set_size(capacity);
}

/* From buffer to buffer: large ones an odd number of lines apart. Their first lines, that everybody
 * touches, would else share few sets of a cache: of buffers of 4 KiB all the same one. */
static uint64_t
stride(uint32_t buffer_bytes)
{
    uint64_t lines = med_stamp_round_up(buffer_bytes) / LINE_BYTES;
    return (lines < APART_FROM ? lines : lines | 1u) * LINE_BYTES;
}

size_t
med_pool_size(uint32_t capacity, uint32_t buffer_bytes)
{
    if (med_bit_set_size(capacity) == 0 || buffer_bytes == 0) {
        return 0;
    }
    uint64_t size_bytes = first_offset(capacity) + capacity * stride(buffer_bytes);
    return size_bytes <= UINT32_MAX ? (size_t)size_bytes : 0;
}

static void
view(void *memory, uint32_t capacity, uint32_t buffer_bytes, uint32_t tag, med_pool *pool)
{
    pool->buffers = (unsigned char *)memory + (size_t)first_offset(capacity);
    pool->buffer_bytes = buffer_bytes;
    pool->stride_bytes = (uint32_t)stride(buffer_bytes);
    pool->tag = tag;
}

static void *
bit_set_of(void *memory)
{
    return (unsigned char *)memory + sizeof(med_pool_shared);
}

medley_status_t
med_pool_init(void *memory,
              size_t size_bytes,
              uint32_t capacity,
              uint32_t buffer_bytes,
              uint32_t tag,
              med_pool *pool)
{
    size_t needed_bytes = med_pool_size(capacity, buffer_bytes);
    if (needed_bytes == 0 || tag > TAG_MAX || !pool ||
        !med_stamp_fits(memory, size_bytes, needed_bytes)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    medley_status_t status =
        med_bit_set_init(bit_set_of(memory), med_bit_set_size(capacity), capacity, &pool->slots);
    if (status != MEDLEY_OK) {
        return status;
    }
    /* Relaxed, all: the creator publishes the memory afterwards. */
    med_pool_shared *shared = memory;
    atomic32_store_relaxed(&shared->capacity, capacity);
    atomic32_store_relaxed(&shared->buffer_bytes, buffer_bytes);
    atomic32_store_relaxed(&shared->tag, tag);
    med_stamp_write(&shared->stamp, KIND, VERSION);
    view(memory, capacity, buffer_bytes, tag, pool);
    return MEDLEY_OK;
}

medley_status_t
med_pool_attach(void *memory, size_t size_bytes, med_pool *pool)
{
    if (!pool) {
        return MEDLEY_ERR_ARGUMENT;
    }
    const med_pool_shared *shared = memory;
    medley_status_t status = med_stamp_attach(memory, size_bytes, sizeof *shared, KIND, VERSION);
    if (status != MEDLEY_OK) {
        return status;
    }
    /* Relaxed, all: constant since before the memory was published; read once. */
    uint32_t capacity = atomic32_load_relaxed(&shared->capacity);
    uint32_t buffer_bytes = atomic32_load_relaxed(&shared->buffer_bytes);
    uint32_t tag = atomic32_load_relaxed(&shared->tag);
    size_t needed_bytes = med_pool_size(capacity, buffer_bytes);
    if (needed_bytes == 0 || needed_bytes > size_bytes || tag > TAG_MAX) {
        return MEDLEY_ERR_CORRUPT;
    }
    med_bit_set slots;
    status = med_bit_set_attach(bit_set_of(memory), med_bit_set_size(capacity), &slots);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (slots.capacity != capacity) {
        return MEDLEY_ERR_CORRUPT;
    }
    pool->slots = slots;
    view(memory, capacity, buffer_bytes, tag, pool);
    return MEDLEY_OK;
}

void
med_pool_cache_init(med_pool_cache *cache, uint32_t owner, uint32_t limit)
{
    cache->owner = owner;
    cache->limit = (uint16_t)(limit < MED_POOL_CACHE_MAX ? limit : MED_POOL_CACHE_MAX);
    cache->count = 0;
}

void
med_pool_cache_flush(const med_pool *pool, med_pool_cache *cache)
{
    med_pool_cache_drain(pool, cache, 0);
}

medley_status_t
med_pool_cache_refill(const med_pool *pool, med_pool_cache *cache)
{
    uint32_t wanted = cache->limit > 1 ? cache->limit / 2u : 1u;
    uint32_t got =
        med_bit_set_claim(&pool->slots, cache->owner, MED_BIT_SET_LOWEST, cache->indices, wanted);
    cache->count = (uint16_t)got;
    return got != 0 ? MEDLEY_OK : MEDLEY_FULL;
}

/* The longest unused go: the shorter a buffer lies, the warmer it is. */
void
med_pool_cache_drain(const med_pool *pool, med_pool_cache *cache, uint32_t keep)
{
    uint32_t drained = cache->count > keep ? cache->count - keep : 0;
    med_bit_set_unclaim(&pool->slots, cache->owner, cache->indices, drained);
    for (uint32_t i = drained; i < cache->count; i++) {
        cache->indices[i - drained] = cache->indices[i];
    }
    cache->count = (uint16_t)(cache->count - drained);
}

medley_status_t
med_pool_check(const med_pool *pool, med_pool_buffer buffer, uint32_t owner)
{
    return med_pool_is_of(pool, buffer)
               ? med_bit_set_check(&pool->slots, med_pool_slot(buffer), owner)
               : MEDLEY_ERR_ARGUMENT;
}

medley_status_t
med_pool_hand_over(const med_pool *pool, med_pool_buffer buffer, uint32_t from, uint32_t to)
{
    return med_pool_is_of(pool, buffer)
               ? med_bit_set_hand_over(&pool->slots, med_pool_slot(buffer), from, to)
               : MEDLEY_ERR_ARGUMENT;
}

uint32_t
med_pool_recover(const med_pool *pool, uint32_t dead_owner)
{
    return med_bit_set_recover(&pool->slots, dead_owner);
}

void
med_pool_statistics_get(const med_pool *pool, med_pool_statistics *statistics)
{
    med_bit_set_statistics slots;
    med_bit_set_statistics_get(&pool->slots, &slots);
    statistics->capacity = pool->slots.capacity;
    statistics->in_use = slots.in_use;
    statistics->cached = slots.claimed;
    statistics->high_water = slots.high_water;
}
