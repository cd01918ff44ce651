/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What only the ring with one producer and one consumer has: batches, slots laid out in two ways,
 * ends that are taken over. Every test in both layouts.
 */
#include <string.h>

#include "base/ring_spsc.h"
#include "support/process.h"
#include "support/random.h"
#include "support/unit.h"

/* Every ring's counters pass zero in every test of more than a few elements. */
#define NEAR_WRAP (UINT32_MAX - 5)

typedef struct fixture {
    uint8_t *memory;
    uint32_t size_bytes;
    med_ring_producer producer;
    med_ring_consumer consumer;
} fixture;

static medley_status_t
producer_attach(fixture *f, med_ring_producer *producer)
{
    return med_ring_producer_attach(producer, f->memory, f->size_bytes, MED_PORT_SCOPE_SHARED);
}

static medley_status_t
consumer_attach(fixture *f, med_ring_consumer *consumer)
{
    return med_ring_consumer_attach(consumer, f->memory, f->size_bytes, MED_PORT_SCOPE_SHARED);
}

/* `state`: the layout. */
static void
ring_start(fixture *f, void **state, uint32_t element_bytes, uint32_t capacity)
{
    med_ring_config config = {*(const med_ring_layout *)*state, element_bytes, capacity, NEAR_WRAP};
    assert_int_equal(med_ring_size(&config, &f->size_bytes), MEDLEY_OK);
    f->memory = process_shared_memory(f->size_bytes);
    assert_int_equal(med_ring_init(f->memory, f->size_bytes, &config), MEDLEY_OK);
    assert_int_equal(producer_attach(f, &f->producer), MEDLEY_OK);
    assert_int_equal(consumer_attach(f, &f->consumer), MEDLEY_OK);
}

static void
ring_end(fixture *f)
{
    assert_int_equal(munmap(f->memory, f->size_bytes), 0);
}

static void
push_numbers(fixture *f, uint32_t first, uint32_t count)
{
    for (uint32_t number = first; number < first + count; number++) {
        assert_int_equal(med_ring_push(&f->producer, &number), MEDLEY_OK);
    }
}

static void
expect_numbers(fixture *f, uint32_t first, uint32_t count)
{
    for (uint32_t number = first; number < first + count; number++) {
        uint32_t got = ~number;
        assert_int_equal(med_ring_pop(&f->consumer, &got), MEDLEY_OK);
        assert_int_equal(got, number);
    }
}

static medley_status_t
reserve_status(fixture *f)
{
    void *slot;
    return med_ring_reserve(&f->producer, &slot);
}

static medley_status_t
peek_status(fixture *f)
{
    void *element;
    return med_ring_peek(&f->consumer, &element);
}

/* ---- Marks and cancels ----------------------------------------------------------------------- */

static void
marks_of_a_batch_end_with_it(void **state)
{
    fixture f;
    void *first = NULL;
    uint32_t count = 0;
    ring_start(&f, state, sizeof(uint32_t), 16);
    assert_int_equal(med_ring_reserve_many(&f.producer, 4, &first, &count), MEDLEY_OK);
    assert_int_equal(peek_status(&f), MEDLEY_EMPTY_PRODUCER_INSERTING);
    med_ring_commit_many(&f.producer, 2); /* two of them are given up */
    assert_int_equal(med_ring_peek_many(&f.consumer, 4, &first, &count), MEDLEY_OK);
    assert_int_equal(count, 2);
    med_ring_release_many(&f.consumer, 2);
    assert_int_equal(peek_status(&f), MEDLEY_EMPTY);
    push_numbers(&f, 0, 16);
    assert_int_equal(med_ring_peek_many(&f.consumer, 3, &first, &count), MEDLEY_OK);
    assert_int_equal(reserve_status(&f), MEDLEY_FULL_CONSUMER_READING);
    med_ring_release_many(&f.consumer, 3);
    push_numbers(&f, 16, 3);
    assert_int_equal(reserve_status(&f), MEDLEY_FULL);
    ring_end(&f);
}

/* One letter for each position: free, reserved, Allocated, Received; seen from both sides. */
static void
expect_entries(const fixture *f, const char *expected)
{
    static const char letters[] = {[MED_RING_ENTRY_FREE] = 'f',
                                   [MED_RING_ENTRY_RESERVED] = 'r',
                                   [MED_RING_ENTRY_ALLOCATED] = 'A',
                                   [MED_RING_ENTRY_RECEIVED] = 'R'};
    char seen[5] = {0}, seen_by_other[5] = {0};
    for (uint32_t position = 0; position < 4; position++) {
        seen[position] = letters[med_ring_entry_state(&f->producer.view, position)];
        seen_by_other[position] = letters[med_ring_entry_state(&f->consumer.view, position)];
    }
    assert_string_equal(seen, expected);
    assert_string_equal(seen_by_other, expected);
}

/* All steps of Figure 4, and those that are taken back. The first index has position 2. */
static void
entries_go_from_state_to_state(void **state)
{
    fixture f;
    ring_start(&f, state, sizeof(uint32_t), 4);
    expect_entries(&f, "ffff");
    assert_int_equal(reserve_status(&f), MEDLEY_OK);
    expect_entries(&f, "ffrf");
    med_ring_reserve_cancel(&f.producer);
    expect_entries(&f, "ffff");
    push_numbers(&f, 0, 1);
    expect_entries(&f, "ffAf");
    assert_int_equal(peek_status(&f), MEDLEY_OK);
    expect_entries(&f, "ffRf");
    med_ring_peek_cancel(&f.consumer);
    expect_entries(&f, "ffAf");
    push_numbers(&f, 1, 2);
    assert_int_equal(peek_status(&f), MEDLEY_OK);
    assert_int_equal(reserve_status(&f), MEDLEY_OK);
    expect_entries(&f, "ArRA"); /* one in each state but free */
    med_ring_release(&f.consumer);
    expect_entries(&f, "ArfA");
    med_ring_commit(&f.producer);
    expect_entries(&f, "AAfA");
    push_numbers(&f, 4, 1);
    expect_entries(&f, "AAAA");
    assert_int_equal(reserve_status(&f), MEDLEY_FULL);
    expect_entries(&f, "AAAA");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(peek_status(&f), MEDLEY_OK);
        med_ring_release(&f.consumer);
    }
    expect_entries(&f, "ffff");
    ring_end(&f);
}

static void
a_cancel_takes_nothing_away(void **state)
{
    fixture f;
    ring_start(&f, state, sizeof(uint32_t), 2);
    push_numbers(&f, 7, 2);
    assert_int_equal(peek_status(&f), MEDLEY_OK);
    assert_int_equal(reserve_status(&f), MEDLEY_FULL_CONSUMER_READING);
    med_ring_peek_cancel(&f.consumer);
    assert_int_equal(reserve_status(&f), MEDLEY_FULL);
    med_ring_reserve_cancel(&f.producer); /* there is nothing reserved, the ring is full */
    med_ring_peek_cancel(&f.consumer);
    expect_numbers(&f, 7, 2);
    ring_end(&f);
}

static void
a_ring_of_one_element_works(void **state)
{
    fixture f;
    ring_start(&f, state, sizeof(uint32_t), 1);
    for (uint32_t n = 0; n < 20; n++) {
        push_numbers(&f, n, 1);
        assert_int_equal(reserve_status(&f), MEDLEY_FULL);
        assert_int_equal(med_ring_ready(&f.consumer), 1);
        expect_numbers(&f, n, 1);
        assert_int_equal(peek_status(&f), MEDLEY_EMPTY);
    }
    ring_end(&f);
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* Fills `wanted` numbers from `first` on in as many runs as it takes; returns how many runs. */
static uint32_t
fill_runs(fixture *f, uint32_t first, uint32_t wanted)
{
    uint32_t runs = 0;
    for (uint32_t done = 0; done < wanted; runs++) {
        void *slots = NULL;
        uint32_t count = 0;
        assert_int_equal(med_ring_reserve_many(&f->producer, wanted - done, &slots, &count),
                         MEDLEY_OK);
        assert_in_range(count, 1, wanted - done);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t number = first + done + i;
            memcpy((uint8_t *)slots + i * f->producer.view.stride_bytes, &number, sizeof number);
        }
        med_ring_commit_many(&f->producer, count);
        done += count;
    }
    return runs;
}

static uint32_t
read_runs(fixture *f, uint32_t first, uint32_t wanted)
{
    uint32_t runs = 0;
    for (uint32_t done = 0; done < wanted; runs++) {
        void *elements = NULL;
        uint32_t count = 0;
        assert_int_equal(med_ring_peek_many(&f->consumer, wanted - done, &elements, &count),
                         MEDLEY_OK);
        assert_in_range(count, 1, wanted - done);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t number;
            memcpy(&number, (uint8_t *)elements + i * f->consumer.view.stride_bytes, sizeof number);
            assert_int_equal(number, first + done + i);
        }
        med_ring_release_many(&f->consumer, count);
        done += count;
    }
    return runs;
}

static void
batches_end_where_the_ring_ends(void **state)
{
    fixture f;
    ring_start(&f, state, sizeof(uint32_t), 16); /* the counters start at position 10 */
    assert_int_equal(fill_runs(&f, 0, 6), 1);
    assert_int_equal(read_runs(&f, 0, 6), 1);
    assert_int_equal(fill_runs(&f, 6, 12), 1);
    assert_int_equal(fill_runs(&f, 18, 4), 1);
    assert_int_equal(read_runs(&f, 6, 16), 1);
    assert_int_equal(fill_runs(&f, 22, 10), 1);
    assert_int_equal(read_runs(&f, 22, 5), 1);
    assert_int_equal(fill_runs(&f, 32, 10), 2); /* 10..15, and 0..9 */
    assert_int_equal(med_ring_ready(&f.consumer), 15);
    assert_int_equal(read_runs(&f, 27, 15), 2);
    ring_end(&f);
}

static void
a_batch_takes_what_there_is(void **state)
{
    fixture f;
    void *first = NULL;
    uint32_t count = 0;
    ring_start(&f, state, sizeof(uint32_t), 16);
    assert_int_equal(fill_runs(&f, 0, 6), 1);
    assert_int_equal(med_ring_peek_many(&f.consumer, 2, &first, &count), MEDLEY_OK);
    assert_int_equal(count, 2);
    assert_int_equal(med_ring_peek_many(&f.consumer, 100, &first, &count), MEDLEY_OK);
    assert_int_equal(count, 6);
    assert_int_equal(read_runs(&f, 0, 6), 1);
    assert_int_equal(med_ring_peek_many(&f.consumer, 100, &first, &count), MEDLEY_EMPTY);
    assert_int_equal(med_ring_reserve_many(&f.producer, UINT32_MAX, &first, &count), MEDLEY_OK);
    assert_int_equal(count, 16);
    med_ring_commit_many(&f.producer, 16);
    assert_int_equal(med_ring_reserve_many(&f.producer, 1, &first, &count), MEDLEY_FULL);
    ring_end(&f);
}

/* ---- Sizes, limits --------------------------------------------------------------------------- */

static void
expect_stride(med_ring_layout layout, uint32_t element_bytes, uint32_t stride_bytes)
{
    uint32_t size;
    med_ring_config config = {layout, element_bytes, 4, 0};
    assert_int_equal(med_ring_size(&config, &size), MEDLEY_OK);
    assert_int_equal(size, sizeof(med_ring) + 4 * stride_bytes);
}

static void
slots_are_laid_out_as_drawn(void **state)
{
    (void)state;
    expect_stride(MED_RING_LINE, 60, 64); /* the slot's word is in the same line */
    expect_stride(MED_RING_LINE, 61, 128);
    expect_stride(MED_RING_PACKED, 24, 24);
    expect_stride(MED_RING_PACKED, 1020, 1020);
    expect_stride(MED_RING_PACKED, 4096, 4096 + 64);
}

/* ---- Trust ----------------------------------------------------------------------------------- */

static void
counters_that_disagree_are_corrupt(void **state)
{
    fixture f;
    ring_start(&f, state, 24, 16);
    for (uint32_t n = 0; n < 16; n++) {
        assert_int_equal(reserve_status(&f), MEDLEY_OK);
        med_ring_commit(&f.producer);
    }
    atomic32_store_relaxed(&f.consumer.view.ring->consumer.head, med_ring_tail(&f.producer) + 1);
    assert_int_equal(reserve_status(&f), MEDLEY_ERR_CORRUPT);
    atomic32_store_relaxed(&f.consumer.view.ring->consumer.head, med_ring_tail(&f.producer) - 17);
    assert_int_equal(reserve_status(&f), MEDLEY_ERR_CORRUPT);
    if (f.producer.view.layout == MED_RING_PACKED) {
        assert_int_equal(producer_attach(&f, &f.producer), MEDLEY_ERR_CORRUPT);
        assert_int_equal(consumer_attach(&f, &f.consumer), MEDLEY_ERR_CORRUPT);
        atomic32_store_relaxed(&f.consumer.view.ring->producer.tail, f.consumer.head - 1);
    } else {
        atomic32_store_relaxed(
            med_ring_slot_word(&f.consumer.view, med_ring_slot(&f.consumer.view, f.consumer.head)),
            12345);
    }
    assert_int_equal(peek_status(&f), MEDLEY_ERR_CORRUPT);
    assert_int_equal(med_ring_ready(&f.consumer), 0);
    ring_end(&f);
}

/* What the producer was told of a place holds for the place that it fills. */
static void
producer_goes_on_from_its_own_counter(void **state)
{
    fixture f;
    void *before;
    void *after;
    ring_start(&f, state, 24, 16);
    assert_int_equal(reserve_status(&f), MEDLEY_OK);
    med_ring_commit(&f.producer);
    assert_int_equal(med_ring_reserve(&f.producer, &before), MEDLEY_OK);
    atomic32_store_relaxed(&f.producer.view.ring->producer.tail, 11);
    assert_int_equal(med_ring_reserve(&f.producer, &after), MEDLEY_OK);
    assert_ptr_equal(before, after);
    med_ring_commit(&f.producer);
    assert_int_equal(med_ring_ready(&f.consumer), 2);
    ring_end(&f);
}

static void
expect_inside(fixture *f, const void *first, uint32_t count)
{
    const uint8_t *low = f->memory + sizeof(med_ring);
    const uint8_t *at = first;
    size_t bytes = (size_t)count * f->producer.view.stride_bytes;
    assert_true(at >= low && at + bytes <= f->memory + f->size_bytes);
    assert_int_equal((size_t)(at - low) % f->producer.view.stride_bytes, 0);
}

/* One random operation of both sides; whatever is in the ring, it ends, inside the ring. */
static void
operate_on_anything(fixture *f, uint32_t wanted)
{
    void *first = NULL;
    uint32_t count = 0;
    if (med_ring_reserve_many(&f->producer, wanted, &first, &count) == MEDLEY_OK) {
        assert_in_range(count, 1, wanted);
        expect_inside(f, first, count);
        memset(first, 0x11, f->producer.view.element_bytes);
        med_ring_commit_many(&f->producer, count);
    }
    if (med_ring_peek_many(&f->consumer, wanted, &first, &count) == MEDLEY_OK) {
        assert_in_range(count, 1, wanted);
        expect_inside(f, first, count);
        med_ring_release_many(&f->consumer, count);
    }
    if (med_ring_peek(&f->consumer, &first) == MEDLEY_OK) {
        expect_inside(f, first, 1);
        med_ring_release(&f->consumer);
    }
    assert_in_range(med_ring_ready(&f->consumer), 0, 16);
    (void)producer_attach(f, &f->producer);
    (void)consumer_attach(f, &f->consumer);
}

static void
batches_of_a_scribbled_ring_lie_inside(void **state)
{
    fixture f;
    ring_start(&f, state, 24, 16);
    test_random random = {42};
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t scribbled_bytes = round % 2 ? f.size_bytes : (uint32_t)sizeof(med_ring);
        uint32_t at = random_below(&random, scribbled_bytes / 4);
        uint32_t value = random_word(&random);
        ((uint32_t *)(void *)f.memory)[at] = round % 3 ? value : value % 64;
        operate_on_anything(&f, 1 + value % 20);
        if (round % 16 == 0) { /* mostly from a sane start */
            med_ring_config config = {f.producer.view.layout, 24, 16, NEAR_WRAP};
            assert_int_equal(med_ring_init(f.memory, f.size_bytes, &config), MEDLEY_OK);
            assert_int_equal(producer_attach(&f, &f.producer), MEDLEY_OK);
            assert_int_equal(consumer_attach(&f, &f.consumer), MEDLEY_OK);
        }
    }
    ring_end(&f);
}

/* ---- Death ----------------------------------------------------------------------------------- */

/* Runs `side` in a child that is killed at its end; the ring is shared. */
static void
in_a_child_that_is_killed(fixture *f, int (*side)(test_process *parent, void *f))
{
    test_process child;
    process_start(&child, side, f);
    assert_int_equal(process_join(&child), -SIGKILL);
}

static int
produce_five_and_reserve(test_process *parent, void *fixture_of_parent)
{
    fixture *f = fixture_of_parent;
    void *slots = NULL;
    uint32_t count = 0;
    push_numbers(f, 0, 5);
    (void)med_ring_reserve_many(&f->producer, 2, &slots, &count);
    memset(slots, 0xff, sizeof(uint32_t));
    (void)parent;
    return raise(SIGKILL);
}

static int
consume_two_and_peek(test_process *parent, void *fixture_of_parent)
{
    fixture *f = fixture_of_parent;
    expect_numbers(f, 0, 2);
    (void)peek_status(f);
    (void)parent;
    return raise(SIGKILL);
}

static void
a_dead_side_is_taken_over(void **state)
{
    fixture f;
    ring_start(&f, state, sizeof(uint32_t), 8);
    in_a_child_that_is_killed(&f, produce_five_and_reserve);
    in_a_child_that_is_killed(&f, consume_two_and_peek);
    assert_int_equal(producer_attach(&f, &f.producer), MEDLEY_OK);
    assert_int_equal(consumer_attach(&f, &f.consumer), MEDLEY_OK);
    assert_int_equal(med_ring_ready(&f.consumer), 3);
    push_numbers(&f, 5, 5);
    assert_int_equal(reserve_status(&f), MEDLEY_FULL);
    expect_numbers(&f, 2, 8);
    assert_int_equal(peek_status(&f), MEDLEY_EMPTY);
    ring_end(&f);
}

/* The mark of a producer that died inserting goes with his successor. */
static void
a_dead_producers_mark_ends_with_the_next(void **state)
{
    fixture f;
    ring_start(&f, state, sizeof(uint32_t), 8);
    in_a_child_that_is_killed(&f, produce_five_and_reserve);
    expect_numbers(&f, 0, 5);
    assert_int_equal(peek_status(&f), MEDLEY_EMPTY_PRODUCER_INSERTING);
    assert_int_equal(producer_attach(&f, &f.producer), MEDLEY_OK);
    assert_int_equal(peek_status(&f), MEDLEY_EMPTY);
    ring_end(&f);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static void
a_corrupt_ring_ends_a_wait(void **state)
{
    fixture f;
    void *slot;
    ring_start(&f, state, sizeof(uint32_t), 2);
    push_numbers(&f, 0, 2);
    atomic32_store_relaxed(&f.producer.view.ring->consumer.head, med_ring_tail(&f.producer) + 5);
    assert_int_equal(med_ring_reserve_until(&f.producer, MED_PORT_FOREVER, &slot),
                     MEDLEY_ERR_CORRUPT);
    assert_int_equal(med_ring_peek_until(&f.consumer, MED_PORT_FOREVER, &slot), MEDLEY_OK);
    assert_int_equal(*(uint32_t *)slot, 0);
    ring_end(&f);
}

static void
producer_is_about_to_sleep(const fixture *f)
{
    med_ring_consumer_end *end = &f->producer.view.ring->consumer;
    atomic32_store_relaxed(&end->space.word, MED_WAIT_SLEEPS);
    atomic32_store_relaxed(&end->stop, f->producer.tail - f->producer.view.mask - 1);
}

static void
a_batch_wakes_the_other_side(void **state)
{
    fixture f;
    ring_start(&f, state, sizeof(uint32_t), 8);
    med_ring *ring = f.producer.view.ring;
    atomic32_store_relaxed(&ring->producer.data.word, MED_WAIT_SLEEPS);
    atomic32_store_relaxed(&ring->producer.stop, f.consumer.head);
    assert_int_equal(fill_runs(&f, 0, 1), 1);
    assert_int_equal(atomic32_load_relaxed(&ring->producer.data.word), MED_WAIT_WOKEN);
    producer_is_about_to_sleep(&f);
    assert_int_equal(read_runs(&f, 0, 1), 1);
    assert_int_equal(atomic32_load_relaxed(&ring->consumer.space.word), MED_WAIT_WOKEN);
    ring_end(&f);
}

/* Behind, used up, and farther than any ring is long: whatever is there stops a side. */
static void
a_side_goes_on_to_its_stop(void **state)
{
    (void)state;
    const uint32_t index = UINT32_MAX - 3;
    const struct {
        uint32_t stop;
        bool stops;
    } cases[] = {
        {index, true},
        {index - 1, true},
        {index - MED_RING_CAPACITY_MAX, true},
        {index + 1, false},
        {index + MED_RING_CAPACITY_MAX, false},
        {index + MED_RING_CAPACITY_MAX + 1, true},
        {index + (1u << 31), true},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        atomic32 stop = ATOMIC32_INIT(cases[i].stop);
        assert_int_equal(med_ring_stops(&stop, index), cases[i].stops);
    }
}

/* Behind: until the next look closer, which sets it right. */
static void
a_stop_that_was_scribbled_over_lasts_one_look(void **state)
{
    fixture f;
    void *slot;
    ring_start(&f, state, sizeof(uint32_t), 4);
    med_ring *ring = f.producer.view.ring;
    push_numbers(&f, 0, 2);
    atomic32_store_relaxed(&ring->producer.stop, f.producer.tail - 1);
    atomic32_store_relaxed(&ring->consumer.stop, f.consumer.head + (1u << 31));
    push_numbers(&f, 2, 2);
    assert_int_equal(med_ring_reserve(&f.producer, &slot), MEDLEY_FULL);
    expect_numbers(&f, 0, 4);
    assert_int_equal(med_ring_peek(&f.consumer, &slot), MEDLEY_EMPTY);
    ring_end(&f);
}

/* So many go through until the side finds out. */
static uint32_t
read_until_refused(fixture *f, medley_status_t *why)
{
    void *slot;
    for (uint32_t count = 0;; count++) {
        *why = med_ring_peek(&f->consumer, &slot);
        if (*why != MEDLEY_OK || count == 1000) {
            return count;
        }
        med_ring_release(&f->consumer);
    }
}

static uint32_t
write_until_refused(fixture *f, medley_status_t *why)
{
    void *slot;
    for (uint32_t count = 0;; count++) {
        *why = med_ring_reserve(&f->producer, &slot);
        if (*why != MEDLEY_OK || count == 1000) {
            return count;
        }
        med_ring_commit(&f->producer);
    }
}

/* Ahead: as far as it says, and then what is there does not fit. */
static void
a_stop_beyond_the_ring_ends(void **state)
{
    fixture f;
    medley_status_t why;
    void *slots;
    uint32_t count;
    ring_start(&f, state, sizeof(uint32_t), 8);
    med_ring *ring = f.producer.view.ring;
    push_numbers(&f, 0, 6);
    expect_numbers(&f, 0, 1);
    bool packed = f.consumer.view.layout == MED_RING_PACKED; /* else the slots say it */
    atomic32_store_relaxed(&ring->consumer.stop, f.consumer.head + 100);
    assert_int_equal(read_until_refused(&f, &why), packed ? 100 : 5);
    assert_int_equal(why, packed ? MEDLEY_ERR_CORRUPT : MEDLEY_EMPTY);
    assert_int_equal(med_ring_peek_many(&f.consumer, 4, &slots, &count), why);
    assert_int_equal(consumer_attach(&f, &f.consumer), packed ? MEDLEY_ERR_CORRUPT : MEDLEY_OK);
    ring_end(&f);
    ring_start(&f, state, sizeof(uint32_t), 8);
    ring = f.producer.view.ring;
    push_numbers(&f, 0, 1);
    atomic32_store_relaxed(&ring->producer.stop, f.producer.tail + 100);
    assert_int_equal(write_until_refused(&f, &why), 100);
    assert_int_equal(why, MEDLEY_ERR_CORRUPT);
    ring_end(&f);
}

/* What one who died left there is not for who comes after him. */
static void
who_takes_a_side_over_stops_at_once(void **state)
{
    fixture f;
    ring_start(&f, state, sizeof(uint32_t), 8);
    med_ring *ring = f.producer.view.ring;
    push_numbers(&f, 0, 3);
    expect_numbers(&f, 0, 1);
    atomic32_store_relaxed(&ring->producer.stop, f.producer.tail + 100);
    atomic32_store_relaxed(&ring->consumer.stop, f.consumer.head + 100);
    assert_int_equal(producer_attach(&f, &f.producer), MEDLEY_OK);
    assert_int_equal(consumer_attach(&f, &f.consumer), MEDLEY_OK);
    assert_int_equal(atomic32_load_relaxed(&ring->producer.stop), f.producer.tail);
    assert_int_equal(atomic32_load_relaxed(&ring->consumer.stop), f.consumer.head);
    ring_end(&f);
}

/* The first test of all: a process pays for its barrier until others can stop it. */
static void
a_side_that_pays_stops_at_each(void **state)
{
    fixture f;
    ring_start(&f, state, sizeof(uint32_t), 8);
    med_ring *ring = f.producer.view.ring;
    for (uint32_t i = 0; i < 4; i++) {
        assert_false(med_port_barrier_is_free(f.producer.view.scope));
        push_numbers(&f, i, 1);
        assert_int_equal(atomic32_load_relaxed(&ring->producer.stop), f.producer.tail);
        expect_numbers(&f, i, 1);
        assert_int_equal(atomic32_load_relaxed(&ring->consumer.stop), f.consumer.head);
    }
    ring_end(&f);
}

/* So large that lines are dropped, by blocks. */
#define LARGE 4096u

static void
push_words(fixture *f, uint32_t first, uint32_t count)
{
    for (uint32_t number = first; number < first + count; number++) {
        void *slot = NULL;
        assert_int_equal(med_ring_reserve(&f->producer, &slot), MEDLEY_OK);
        memcpy(slot, &number, sizeof number);
        med_ring_commit(&f->producer);
    }
}

static void
expect_words(fixture *f, uint32_t first, uint32_t count)
{
    for (uint32_t number = first; number < first + count; number++) {
        void *element;
        assert_int_equal(med_ring_peek(&f->consumer, &element), MEDLEY_OK);
        assert_memory_equal(element, &number, sizeof number);
        med_ring_release(&f->consumer);
    }
}

/* Also when it is less than a block. */
static void
a_producer_of_a_large_ring_is_woken_by_the_first_room(void **state)
{
    fixture f;
    ring_start(&f, state, 24, LARGE);
    push_words(&f, 0, LARGE);
    for (uint32_t i = 0; i < 100; i++) {
        producer_is_about_to_sleep(&f);
        expect_words(&f, i, 1);
        assert_int_equal(
            atomic32_load_relaxed(&f.producer.view.ring->consumer.space.word) & MED_WAIT_SLEEPS, 0);
    }
    ring_end(&f);
}

/* What is dropped is what was read, and only from the caches. */
static void
a_large_ring_keeps_what_is_in_it(void **state)
{
    static const uint32_t sizes[] = {8, 24, 100, 1024, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fixture f;
        ring_start(&f, state, sizes[i], LARGE / 16);
        uint32_t pushed = 0;
        uint32_t popped = 0;
        while (popped < LARGE) {
            uint32_t room = LARGE / 16 - (pushed - popped);
            push_words(&f, pushed, room);
            pushed += room;
            uint32_t count = 1 + popped % 97;
            expect_words(&f, popped, count);
            popped += count;
        }
        ring_end(&f);
    }
}

static med_ring_layout layout_line = MED_RING_LINE;
static med_ring_layout layout_packed = MED_RING_PACKED;

/* clang-format off */
#define IN_BOTH(test)                                                                              \
    {#test " (line)", test, NULL, NULL, &layout_line},                                             \
    {#test " (packed)", test, NULL, NULL, &layout_packed}
/* clang-format on */

int
main(void)
{
    const struct CMUnitTest tests[] = {
        IN_BOTH(a_side_that_pays_stops_at_each),
        IN_BOTH(marks_of_a_batch_end_with_it),
        IN_BOTH(entries_go_from_state_to_state),
        IN_BOTH(a_cancel_takes_nothing_away),
        IN_BOTH(a_ring_of_one_element_works),
        IN_BOTH(batches_end_where_the_ring_ends),
        IN_BOTH(a_batch_takes_what_there_is),
        cmocka_unit_test(slots_are_laid_out_as_drawn),
        IN_BOTH(counters_that_disagree_are_corrupt),
        IN_BOTH(producer_goes_on_from_its_own_counter),
        IN_BOTH(batches_of_a_scribbled_ring_lie_inside),
        IN_BOTH(a_dead_side_is_taken_over),
        IN_BOTH(a_dead_producers_mark_ends_with_the_next),
        IN_BOTH(a_corrupt_ring_ends_a_wait),
        IN_BOTH(a_batch_wakes_the_other_side),
        IN_BOTH(a_stop_that_was_scribbled_over_lasts_one_look),
        IN_BOTH(a_stop_beyond_the_ring_ends),
        IN_BOTH(who_takes_a_side_over_stops_at_once),
        cmocka_unit_test(a_side_goes_on_to_its_stop),
        IN_BOTH(a_producer_of_a_large_ring_is_woken_by_the_first_room),
        IN_BOTH(a_large_ring_keeps_what_is_in_it),
    };
    return cmocka_run_group_tests_name("ring_spsc", tests, NULL, NULL);
}
