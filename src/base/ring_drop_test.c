/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which lines the consumer of a large ring drops: the port's function is this file's, and notes
 * them. Only lines of elements that were released, none twice, and nearly all of them.
 */
#include <string.h>

#include "base/ring_spsc.h"
#include "support/unit.h"

#define LINE_BYTES 64u
#define RING_BYTES_MOST (4u << 20)
#define BEGINNING_BYTES 2048u

void __wrap_med_port_cache_drop(const void *address, size_t size_bytes);
bool __wrap_med_port_cache_drops(void);

static _Alignas(128) uint8_t memory[RING_BYTES_MOST];
static uint8_t dropped[RING_BYTES_MOST / LINE_BYTES]; /* how often, by line */

void
__wrap_med_port_cache_drop(const void *address, size_t size_bytes)
{
    size_t from = (size_t)((const uint8_t *)address - memory);
    assert_in_range(from, sizeof(med_ring), RING_BYTES_MOST - 1);
    assert_in_range(size_bytes, 1, RING_BYTES_MOST - from);
    for (size_t line = from / LINE_BYTES; line <= (from + size_bytes - 1) / LINE_BYTES; line++) {
        dropped[line]++;
    }
}

bool
__wrap_med_port_cache_drops(void)
{
    return true;
}

typedef struct shape {
    med_ring_layout layout;
    uint32_t element_bytes;
    uint32_t capacity;
} shape;

typedef struct fixture {
    med_ring_producer producer;
    med_ring_consumer consumer;
    uint32_t size_bytes;
} fixture;

static void
start(fixture *f, const shape *s)
{
    /* The counters pass zero in the first lap; blocks begin where the ring does. */
    med_ring_config config = {s->layout, s->element_bytes, s->capacity, 0u - s->capacity / 2};
    memset(dropped, 0, sizeof dropped);
    assert_int_equal(med_ring_size(&config, &f->size_bytes), MEDLEY_OK);
    assert_in_range(f->size_bytes, 1, RING_BYTES_MOST);
    assert_int_equal(med_ring_init(memory, sizeof memory, &config), MEDLEY_OK);
    assert_int_equal(
        med_ring_producer_attach(&f->producer, memory, sizeof memory, MED_PORT_SCOPE_PROCESS),
        MEDLEY_OK);
    assert_int_equal(
        med_ring_consumer_attach(&f->consumer, memory, sizeof memory, MED_PORT_SCOPE_PROCESS),
        MEDLEY_OK);
}

static void
fill(fixture *f)
{
    void *slot;
    while (med_ring_reserve(&f->producer, &slot) == MEDLEY_OK) {
        med_ring_commit(&f->producer);
    }
}

static bool
is_dropped(const uint8_t *element)
{
    return dropped[(size_t)(element - memory) / LINE_BYTES] != 0;
}

/* What is peeked, and what comes after it, has not been dropped. */
static void
expect_the_next_is_there(fixture *f)
{
    void *slots;
    uint32_t count = 0;
    if (med_ring_peek_many(&f->consumer, 64, &slots, &count) == MEDLEY_OK) {
        for (uint32_t i = 0; i < count; i++) {
            const uint8_t *element = (uint8_t *)slots + (size_t)i * f->consumer.view.stride_bytes;
            assert_false(is_dropped(element));
            assert_false(is_dropped(element + f->consumer.view.element_bytes - 1));
        }
    }
}

static uint32_t
lines_dropped(void)
{
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof dropped; i++) {
        assert_in_range(dropped[i], 0, 1);
        count += dropped[i];
    }
    return count;
}

/* Of a large element the beginning only; a line that two blocks share counts for one, at most. */
static uint32_t
lines_wanted(const fixture *f, uint32_t capacity)
{
    uint32_t stride_bytes = f->consumer.view.stride_bytes;
    uint32_t bytes = stride_bytes < BEGINNING_BYTES ? stride_bytes : BEGINNING_BYTES;
    return (uint32_t)((uint64_t)capacity * bytes / LINE_BYTES);
}

static void
expect_one_lap(const shape *s, uint32_t by)
{
    fixture f;
    start(&f, s);
    fill(&f);
    uint32_t left = s->capacity;
    while (left) {
        void *slots;
        uint32_t count = 0;
        expect_the_next_is_there(&f);
        uint32_t wanted = left < by ? left : by;
        assert_int_equal(med_ring_peek_many(&f.consumer, wanted, &slots, &count), MEDLEY_OK);
        med_ring_release_many(&f.consumer, count);
        left -= count;
    }
    /* The last block may not have ended; a large element may begin inside a line. */
    uint32_t block = ~f.consumer.view.blocks + 1;
    assert_in_range(lines_dropped(), lines_wanted(&f, s->capacity - block) * 9 / 10,
                    lines_wanted(&f, s->capacity) + (block == 1 ? s->capacity : 0));
}

static void
lines_that_were_read_are_dropped_once(void **state)
{
    static const shape shapes[] = {
        {MED_RING_PACKED, 8, 16384},  {MED_RING_PACKED, 24, 4096}, {MED_RING_PACKED, 100, 1024},
        {MED_RING_PACKED, 1024, 512}, {MED_RING_PACKED, 5000, 64}, {MED_RING_LINE, 8, 4096},
        {MED_RING_LINE, 100, 1024},   {MED_RING_LINE, 4096, 64},
    };
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        expect_one_lap(&shapes[i], 1);
        expect_one_lap(&shapes[i], 32);
        expect_one_lap(&shapes[i], shapes[i].capacity);
    }
}

static void
a_small_ring_drops_nothing(void **state)
{
    static const shape small = {MED_RING_PACKED, 24, 1024};
    (void)state;
    fixture f;
    start(&f, &small);
    fill(&f);
    void *element;
    while (med_ring_peek(&f.consumer, &element) == MEDLEY_OK) {
        med_ring_release(&f.consumer);
    }
    assert_int_equal(lines_dropped(), 0);
}

/* Else a stream that paused once would crawl for ever. */
static void
a_stream_gets_its_moment_again(void **state)
{
    static const shape stream = {MED_RING_PACKED, 24, 4096};
    (void)state;
    fixture f;
    start(&f, &stream);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000 && !f.consumer.pace.moment_ns; i++) {
            void *slots;
            uint32_t count = 0;
            for (int k = 0; k < 100; k++) {
                assert_int_equal(med_ring_reserve(&f.producer, &slots), MEDLEY_OK);
                med_ring_commit(&f.producer);
            }
            assert_int_equal(med_ring_peek_many(&f.consumer, 100, &slots, &count), MEDLEY_OK);
            med_ring_release_many(&f.consumer, count);
        }
        assert_true(f.consumer.pace.moment_ns > 0);
        med_ring_pace_restart(&f.consumer.pace);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_were_read_are_dropped_once),
        cmocka_unit_test(a_small_ring_drops_nothing),
        cmocka_unit_test(a_stream_gets_its_moment_again),
    };
    return cmocka_run_group_tests_name("ring_drop", tests, NULL, NULL);
}
