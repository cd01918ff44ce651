/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A ring with many producers for its tests: made, with a consumer; producers join as they like. */
#ifndef MEDLEY_BASE_RING_MPSC_TEST_H
#define MEDLEY_BASE_RING_MPSC_TEST_H

#include "base/ring_mpsc.h"
#include "support/process.h"
#include "support/unit.h"

/* Every counter passes zero in every test of more than a few elements. */
#define NEAR_WRAP (UINT32_MAX - 5)
#define CONSUMER 100u /* the consumer's owner number; producers count from 1 */

typedef struct fixture {
    uint8_t *memory;
    uint32_t size_bytes;
    med_ring_mpsc_view view;
    med_ring_mpsc_consumer consumer;
} fixture;

static inline void
ring_start_of(fixture *f, uint32_t element_bytes, uint32_t capacity, uint32_t lanes)
{
    med_ring_mpsc_config config = {element_bytes, capacity, lanes, NEAR_WRAP};
    assert_int_equal(med_ring_mpsc_size(&config, &f->size_bytes), MEDLEY_OK);
    f->memory = process_shared_memory(f->size_bytes);
    assert_int_equal(med_ring_mpsc_init(f->memory, f->size_bytes, &config), MEDLEY_OK);
    assert_int_equal(
        med_ring_mpsc_attach(&f->view, f->memory, f->size_bytes, MED_PORT_SCOPE_SHARED), MEDLEY_OK);
    assert_int_equal(med_ring_mpsc_consumer_join(&f->consumer, &f->view, CONSUMER), MEDLEY_OK);
}

static inline void
ring_start(fixture *f, uint32_t capacity, uint32_t lanes)
{
    ring_start_of(f, sizeof(uint64_t), capacity, lanes);
}

static inline void
ring_end(fixture *f)
{
    assert_int_equal(munmap(f->memory, f->size_bytes), 0);
}

static inline med_ring_mpsc_producer
joined(fixture *f, uint32_t owner)
{
    med_ring_mpsc_producer producer;
    assert_int_equal(med_ring_mpsc_producer_join(&producer, &f->view, owner), MEDLEY_OK);
    return producer;
}

static inline uint32_t
lane_of(fixture *f, const med_ring_mpsc_producer *producer)
{
    return (uint32_t)(producer->role - f->view.roles);
}

static inline void
push(med_ring_mpsc_producer *producer, uint64_t value)
{
    assert_int_equal(med_ring_mpsc_push(producer, &value), MEDLEY_OK);
}

static inline void
expect(fixture *f, uint64_t expected)
{
    uint64_t value = ~expected;
    assert_int_equal(med_ring_mpsc_pop(&f->consumer, &value), MEDLEY_OK);
    assert_int_equal(value, expected);
}

static inline void
expect_empty(fixture *f)
{
    uint64_t value;
    assert_int_equal(med_ring_mpsc_pop(&f->consumer, &value), MEDLEY_EMPTY);
}

static inline bool
in_map(fixture *f, uint32_t number)
{
    return atomic32_load_relaxed(&f->view.ring->map[number / 32]) >> number % 32 & 1;
}

#endif
