/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A bit set for its tests. */
#ifndef MEDLEY_BASE_BIT_SET_TEST_H
#define MEDLEY_BASE_BIT_SET_TEST_H

#include <stdlib.h>

#include "base/bit_set.h"
#include "support/unit.h"

/* Exactly as much memory as it needs, so that a step outside is seen. */
static inline void *
make(uint32_t capacity, med_bit_set *set)
{
    size_t size_bytes = med_bit_set_size(capacity);
    void *memory = aligned_alloc(64, size_bytes);
    assert_non_null(memory);
    assert_int_equal(med_bit_set_init(memory, size_bytes, capacity, set), MEDLEY_OK);
    return memory;
}

static inline med_bit_set_slot
take_lowest(const med_bit_set *set, uint32_t owner)
{
    med_bit_set_slot slot = {0};
    assert_int_equal(med_bit_set_take(set, owner, MED_BIT_SET_LOWEST, &slot), MEDLEY_OK);
    return slot;
}

static inline void
check_counts(const med_bit_set *set, uint32_t in_use, uint32_t claimed, uint32_t high_water)
{
    med_bit_set_statistics statistics;
    med_bit_set_statistics_get(set, &statistics);
    assert_int_equal(statistics.in_use, in_use);
    assert_int_equal(statistics.claimed, claimed);
    assert_int_equal(statistics.high_water, high_water);
}

/* Takes all there is, so that what was lost is missed. */
static inline uint32_t
take_all(const med_bit_set *set, uint32_t owner)
{
    med_bit_set_slot slot;
    uint32_t count = 0;
    while (med_bit_set_take(set, owner, MED_BIT_SET_LOWEST, &slot) == MEDLEY_OK) {
        count++;
    }
    return count;
}

#endif
