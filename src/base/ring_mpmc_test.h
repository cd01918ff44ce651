/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A ring with many producers and consumers for its tests: made, with one side. */
#ifndef MEDLEY_BASE_RING_MPMC_TEST_H
#define MEDLEY_BASE_RING_MPMC_TEST_H

#include "base/ring_mpmc.h"
#include "support/process.h"
#include "support/unit.h"

/* Every counter passes zero in every test of more than a few elements. */
#define NEAR_WRAP (UINT32_MAX - 5)

typedef struct fixture {
    uint8_t *memory;
    uint32_t size_bytes;
    med_ring_mpmc_view view;
    med_ring_mpmc_side side; /* owner 1 */
} fixture;

static inline medley_status_t
attach(fixture *f, med_ring_mpmc_view *view)
{
    return med_ring_mpmc_attach(view, f->memory, f->size_bytes, MED_PORT_SCOPE_SHARED);
}

static inline void
ring_start_at(fixture *f, uint32_t capacity, uint32_t sides, uint32_t first_index)
{
    med_ring_mpmc_config config = {sizeof(uint64_t), capacity, sides, first_index};
    assert_int_equal(med_ring_mpmc_size(&config, &f->size_bytes), MEDLEY_OK);
    f->memory = process_shared_memory(f->size_bytes);
    assert_int_equal(med_ring_mpmc_init(f->memory, f->size_bytes, &config), MEDLEY_OK);
    assert_int_equal(attach(f, &f->view), MEDLEY_OK);
    assert_int_equal(med_ring_mpmc_join(&f->side, &f->view, 1), MEDLEY_OK);
}

static inline void
ring_start(fixture *f, uint32_t capacity, uint32_t sides)
{
    ring_start_at(f, capacity, sides, NEAR_WRAP);
}

static inline void
ring_end(fixture *f)
{
    assert_int_equal(munmap(f->memory, f->size_bytes), 0);
}

static inline med_ring_mpmc_side
joined(fixture *f, uint32_t owner)
{
    med_ring_mpmc_side side = {0};
    assert_int_equal(med_ring_mpmc_join(&side, &f->view, owner), MEDLEY_OK);
    return side;
}

static inline void
push(med_ring_mpmc_side *side, uint64_t value)
{
    assert_int_equal(med_ring_mpmc_push(side, &value), MEDLEY_OK);
}

static inline void
expect(med_ring_mpmc_side *side, uint64_t expected)
{
    uint64_t value = ~expected;
    assert_int_equal(med_ring_mpmc_pop(side, &value), MEDLEY_OK);
    assert_int_equal(value, expected);
}

static inline void
expect_push(med_ring_mpmc_side *side, medley_status_t expected)
{
    uint64_t value = 0;
    assert_int_equal(med_ring_mpmc_push(side, &value), expected);
}

static inline void
expect_pop(med_ring_mpmc_side *side, medley_status_t expected)
{
    uint64_t value = 0;
    assert_int_equal(med_ring_mpmc_pop(side, &value), expected);
}

static inline void
reserve(med_ring_mpmc_side *side, uint64_t value)
{
    void *slot = NULL;
    assert_int_equal(med_ring_mpmc_reserve(side, &slot), MEDLEY_OK);
    *(uint64_t *)slot = value;
}

static inline uint64_t
take(med_ring_mpmc_side *side)
{
    void *element = NULL;
    assert_int_equal(med_ring_mpmc_take(side, &element), MEDLEY_OK);
    return *(uint64_t *)element;
}

#endif
