/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A buffer pool for its tests. */
#ifndef MEDLEY_BASE_POOL_TEST_H
#define MEDLEY_BASE_POOL_TEST_H

#include <stdlib.h>

#include "base/pool.h"
#include "support/unit.h"

enum {
    TAG = 41
};

/* Exactly as much memory as it needs, so that a step outside is seen. */
static inline void *
make(uint32_t capacity, uint32_t buffer_bytes, med_pool *pool)
{
    size_t size_bytes = med_pool_size(capacity, buffer_bytes);
    void *memory = aligned_alloc(64, size_bytes);
    assert_non_null(memory);
    assert_int_equal(med_pool_init(memory, size_bytes, capacity, buffer_bytes, TAG, pool),
                     MEDLEY_OK);
    return memory;
}

static inline med_pool_cache
cache_of(uint32_t owner, uint32_t limit)
{
    med_pool_cache cache;
    med_pool_cache_init(&cache, owner, limit);
    return cache;
}

static inline med_pool_buffer
take(const med_pool *pool, med_pool_cache *cache)
{
    med_pool_buffer buffer = {0};
    assert_int_equal(med_pool_take(pool, cache, &buffer), MEDLEY_OK);
    return buffer;
}

static inline void
check_counts(const med_pool *pool, uint32_t in_use, uint32_t cached, uint32_t high_water)
{
    med_pool_statistics statistics;
    med_pool_statistics_get(pool, &statistics);
    assert_int_equal(statistics.capacity, pool->slots.capacity);
    assert_int_equal(statistics.in_use, in_use);
    assert_int_equal(statistics.cached, cached);
    assert_int_equal(statistics.high_water, high_water);
}

static inline uint32_t
take_all(const med_pool *pool, uint32_t owner)
{
    med_pool_cache cache = cache_of(owner, 0);
    med_pool_buffer buffer;
    uint32_t count = 0;
    while (med_pool_take(pool, &cache, &buffer) == MEDLEY_OK) {
        count++;
    }
    return count;
}

#endif
