/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The one-producer, one-consumer ring; every test in both layouts. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/ring_spsc.h"
#include "base/ring_stress.h"

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
    f->memory =
        mmap(NULL, f->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(f->memory, MAP_FAILED);
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

/* ---- Order, and Table 1 ---------------------------------------------------------------------- */

static void
order_is_kept_over_the_wrap(void **state)
{
    fixture f;
    ring_start(&f, state, sizeof(uint32_t), 4);
    for (uint32_t n = 0; n < 39; n += 3) {
        push_numbers(&f, n, 3);
        expect_numbers(&f, n, 3);
    }
    assert_int_equal(med_ring_tail(&f.producer), (uint32_t)(NEAR_WRAP + 39));
    ring_end(&f);
}

static void
full_is_exact_and_says_whether_the_consumer_reads(void **state)
{
    fixture f;
    ring_start(&f, state, sizeof(uint32_t), 8);
    push_numbers(&f, 0, 8);
    assert_int_equal(reserve_status(&f), MEDLEY_FULL);
    assert_int_equal(peek_status(&f), MEDLEY_OK);
    assert_int_equal(reserve_status(&f), MEDLEY_FULL_CONSUMER_READING);
    med_ring_peek_cancel(&f.consumer);
    assert_int_equal(reserve_status(&f), MEDLEY_FULL);
    expect_numbers(&f, 0, 1);
    push_numbers(&f, 8, 1);
    assert_int_equal(reserve_status(&f), MEDLEY_FULL);
    expect_numbers(&f, 1, 8);
    ring_end(&f);
}

static void
empty_says_whether_the_producer_inserts(void **state)
{
    fixture f;
    ring_start(&f, state, sizeof(uint32_t), 8);
    for (uint32_t n = 0; n < 20; n++) {
        assert_int_equal(peek_status(&f), MEDLEY_EMPTY);
        assert_int_equal(reserve_status(&f), MEDLEY_OK);
        assert_int_equal(peek_status(&f), MEDLEY_EMPTY_PRODUCER_INSERTING);
        med_ring_reserve_cancel(&f.producer);
        assert_int_equal(peek_status(&f), MEDLEY_EMPTY);
        push_numbers(&f, n, 1);
        expect_numbers(&f, n, 1);
    }
    ring_end(&f);
}

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

static void
a_cancel_takes_nothing_away(void **state)
{
    fixture f;
    ring_start(&f, state, sizeof(uint32_t), 2);
    push_numbers(&f, 7, 2);
    med_ring_reserve_cancel(&f.producer); /* there is nothing reserved, the ring is full */
    med_ring_peek_cancel(&f.consumer);
    expect_numbers(&f, 7, 2);
    ring_end(&f);
}

static void
a_slot_stays_the_same_until_it_is_handed_over(void **state)
{
    fixture f;
    void *slot[2];
    ring_start(&f, state, sizeof(uint32_t), 2);
    assert_int_equal(med_ring_reserve(&f.producer, &slot[0]), MEDLEY_OK);
    assert_int_equal(med_ring_reserve(&f.producer, &slot[1]), MEDLEY_OK);
    assert_ptr_equal(slot[0], slot[1]);
    med_ring_commit(&f.producer);
    assert_int_equal(med_ring_peek(&f.consumer, &slot[1]), MEDLEY_OK);
    assert_ptr_equal(slot[0], slot[1]);
    assert_int_equal(med_ring_peek(&f.consumer, &slot[1]), MEDLEY_OK);
    assert_ptr_equal(slot[0], slot[1]);
    assert_int_equal(med_ring_reserve(&f.producer, &slot[1]), MEDLEY_OK);
    assert_ptr_not_equal(slot[0], slot[1]);
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
element_is_filled_to_its_last_byte(void **state, uint32_t element_bytes)
{
    fixture f;
    uint8_t *in = malloc(element_bytes);
    uint8_t *out = malloc(element_bytes + 1);
    assert_true(in && out);
    ring_start(&f, state, element_bytes, 4);
    for (uint32_t n = 0; n < 12; n++) {
        for (uint32_t at = 0; at < element_bytes; at++) {
            in[at] = (uint8_t)(at * 7 + n);
        }
        memset(out, 0xee, element_bytes + 1);
        assert_int_equal(med_ring_push(&f.producer, in), MEDLEY_OK);
        if (n % 2) { /* one more beside it: neighbours do not touch */
            assert_int_equal(med_ring_push(&f.producer, in), MEDLEY_OK);
            assert_int_equal(med_ring_pop(&f.consumer, out), MEDLEY_OK);
            assert_memory_equal(in, out, element_bytes);
        }
        assert_int_equal(med_ring_pop(&f.consumer, out), MEDLEY_OK);
        assert_memory_equal(in, out, element_bytes);
        assert_int_equal(out[element_bytes], 0xee);
    }
    ring_end(&f);
    free(in);
    free(out);
}

static void
elements_of_every_size(void **state)
{
    static const uint32_t sizes[] = {1, 2, 3, 8, 20, 24, 60, 61, 64, 255, 257, 4096, 65536};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        element_is_filled_to_its_last_byte(state, sizes[i]);
    }
}

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

static void
config_limits_are_checked(void **state)
{
    med_ring_layout layout = *(const med_ring_layout *)*state;
    const med_ring_config wrong[] = {
        {(med_ring_layout)0, 8, 8, 0},
        {(med_ring_layout)3, 8, 8, 0},
        {layout, 0, 8, 0},
        {layout, MED_RING_ELEMENT_MAX + 1, 8, 0},
        {layout, 8, 0, 0},
        {layout, 8, 12, 0},
        {layout, 1, MED_RING_CAPACITY_MAX * 2, 0},
        {layout, 65536, 65536, 0}, /* 4 GiB */
    };
    uint32_t size = 77;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(med_ring_size(&wrong[i], &size), MEDLEY_ERR_ARGUMENT);
        assert_int_equal(size, 77);
    }
}

static void
memory_is_checked(void **state)
{
    fixture f;
    med_ring_config config = {*(const med_ring_layout *)*state, sizeof(uint32_t), 8, 0};
    ring_start(&f, state, sizeof(uint32_t), 8);
    assert_int_equal(med_ring_init(f.memory, f.size_bytes - 1, &config), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_ring_init(f.memory + 8, f.size_bytes, &config), MEDLEY_ERR_ARGUMENT);
    f.memory += 8;
    assert_int_equal(producer_attach(&f, &f.producer), MEDLEY_ERR_ARGUMENT);
    f.memory -= 8;
    push_numbers(&f, 3, 1); /* nothing of all that changed anything */
    expect_numbers(&f, 3, 1);
    ring_end(&f);
}

/* ---- Trust ----------------------------------------------------------------------------------- */

static void
expect_attach(fixture *f, medley_status_t status)
{
    med_ring_producer producer;
    med_ring_consumer consumer;
    memset(&producer, 0x55, sizeof producer);
    memset(&consumer, 0x55, sizeof consumer);
    assert_int_equal(producer_attach(f, &producer), status);
    assert_int_equal(consumer_attach(f, &consumer), status);
    assert_int_equal(((uint8_t *)&producer)[0], 0x55); /* unchanged */
    assert_int_equal(((uint8_t *)&consumer)[0], 0x55);
}

static void
attach_checks_every_field(void **state)
{
    static const uint32_t values[] = {0, 1, 2, 3, 7, 64, 4096, 65537, 1u << 31, UINT32_MAX};
    fixture f;
    ring_start(&f, state, 1020, 16);
    uint32_t *words = (uint32_t *)(void *)f.memory;
    for (uint32_t at = 0; at < sizeof(med_ring_shape) / 4; at++) {
        uint32_t right = words[at];
        medley_status_t expected =
            at == offsetof(med_ring_shape, version) / 4 ? MEDLEY_ERR_VERSION : MEDLEY_ERR_CORRUPT;
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            words[at] = values[i] == right ? right + 1 : values[i];
            expect_attach(&f, expected);
        }
        words[at] = right;
    }
    words[0] = __builtin_bswap32(MED_RING_MAGIC);
    expect_attach(&f, MEDLEY_ERR_BYTE_ORDER);
    words[0] = MED_RING_MAGIC;
    f.size_bytes--;
    expect_attach(&f, MEDLEY_ERR_CORRUPT);
    f.size_bytes = sizeof(med_ring) - 1;
    expect_attach(&f, MEDLEY_ERR_CORRUPT);
    f.size_bytes = f.producer.view.stride_bytes * 16 + (uint32_t)sizeof(med_ring);
    ring_end(&f);
}

static void
counters_that_disagree_are_corrupt(void **state)
{
    fixture f;
    ring_start(&f, state, 24, 16);
    for (uint32_t n = 0; n < 16; n++) {
        assert_int_equal(reserve_status(&f), MEDLEY_OK);
        med_ring_commit(&f.producer);
    }
    atomic32_store_relaxed(&f.consumer.view.ring->head, med_ring_tail(&f.producer) + 1);
    assert_int_equal(reserve_status(&f), MEDLEY_ERR_CORRUPT);
    atomic32_store_relaxed(&f.consumer.view.ring->head, med_ring_tail(&f.producer) - 17);
    assert_int_equal(reserve_status(&f), MEDLEY_ERR_CORRUPT);
    if (f.producer.view.layout == MED_RING_PACKED) {
        expect_attach(&f, MEDLEY_ERR_CORRUPT);
        atomic32_store_relaxed(&f.consumer.view.ring->tail, f.consumer.head - 1);
    } else {
        atomic32_store_relaxed(
            med_ring_slot_word(&f.consumer.view, med_ring_slot(&f.consumer.view, f.consumer.head)),
            12345);
    }
    assert_int_equal(peek_status(&f), MEDLEY_ERR_CORRUPT);
    assert_int_equal(med_ring_ready(&f.consumer), 0);
    atomic32_store_relaxed(&f.consumer.view.ring->tail, f.producer.limit + 1);
    assert_int_equal(reserve_status(&f), MEDLEY_ERR_CORRUPT);
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
a_peer_that_scribbles_leads_nobody_outside(void **state)
{
    fixture f;
    ring_start(&f, state, 24, 16);
    ring_stress_side random = {.random_state = 42};
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t scribbled_bytes = round % 2 ? f.size_bytes : (uint32_t)sizeof(med_ring);
        uint32_t at = ring_stress_random(&random) % (scribbled_bytes / 4);
        uint32_t value = ring_stress_random(&random);
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
in_a_child_that_is_killed(fixture *f, void (*side)(fixture *f))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        side(f);
        (void)raise(SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void
produce_five_and_reserve(fixture *f)
{
    void *slots = NULL;
    uint32_t count = 0;
    push_numbers(f, 0, 5);
    (void)med_ring_reserve_many(&f->producer, 2, &slots, &count);
    memset(slots, 0xff, sizeof(uint32_t));
}

static void
consume_two_and_peek(fixture *f)
{
    expect_numbers(f, 0, 2);
    (void)peek_status(f);
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

static medley_status_t
peer_is_dead(void *context)
{
    ++*(uint32_t *)context;
    return MEDLEY_ERR_PEER_DIED;
}

static void
waiting_ends(void **state)
{
    fixture f;
    void *slot;
    uint32_t calls = 0;
    ring_start(&f, state, sizeof(uint32_t), 2);
    assert_int_equal(med_ring_peek_until(&f.consumer, 0, &slot), MEDLEY_TIMEOUT);
    assert_int_equal(med_ring_peek_until(&f.consumer, med_port_clock_ns() + 100000, &slot),
                     MEDLEY_TIMEOUT);
    f.consumer.each_slice = peer_is_dead;
    f.consumer.context = &calls;
    assert_int_equal(med_ring_peek_until(&f.consumer, MED_PORT_FOREVER, &slot),
                     MEDLEY_ERR_PEER_DIED);
    push_numbers(&f, 0, 2);
    assert_int_equal(med_ring_reserve_until(&f.producer, 0, &slot), MEDLEY_TIMEOUT);
    f.producer.each_slice = peer_is_dead;
    f.producer.context = &calls;
    assert_int_equal(med_ring_reserve_until(&f.producer, MED_PORT_FOREVER, &slot),
                     MEDLEY_ERR_PEER_DIED);
    assert_int_equal(calls, 2);
    atomic32_store_relaxed(&f.producer.view.ring->head, med_ring_tail(&f.producer) + 5);
    assert_int_equal(med_ring_reserve_until(&f.producer, MED_PORT_FOREVER, &slot),
                     MEDLEY_ERR_CORRUPT);
    assert_int_equal(med_ring_peek_until(&f.consumer, MED_PORT_FOREVER, &slot), MEDLEY_OK);
    assert_int_equal(*(uint32_t *)slot, 0);
    ring_end(&f);
}

/* As if somebody slept on it; he is woken when the flag is gone and the count went up. */
static void
somebody_sleeps(med_wait *wait)
{
    atomic32_store_relaxed(&wait->word, MED_WAIT_SLEEPS);
}

static void
expect_woken(const med_wait *wait)
{
    assert_int_equal(atomic32_load_relaxed(&wait->word), MED_WAIT_SLEEPS + 1);
}

static void
handing_over_wakes_the_other_side(void **state)
{
    fixture f;
    void *slot;
    ring_start(&f, state, sizeof(uint32_t), 8);
    med_ring *ring = f.producer.view.ring;
    somebody_sleeps(&ring->data);
    somebody_sleeps(&ring->space);
    assert_int_equal(med_ring_reserve(&f.producer, &slot), MEDLEY_OK);
    med_ring_commit(&f.producer);
    expect_woken(&ring->data);
    somebody_sleeps(&ring->data);
    assert_int_equal(fill_runs(&f, 0, 1), 1);
    expect_woken(&ring->data);
    assert_int_equal(atomic32_load_relaxed(&ring->space.word), MED_WAIT_SLEEPS);
    assert_int_equal(med_ring_peek(&f.consumer, &slot), MEDLEY_OK);
    med_ring_release(&f.consumer);
    expect_woken(&ring->space);
    ring_end(&f);
}

/* ---- Stress ---------------------------------------------------------------------------------- */

static bool
push_copy(ring_stress_side *side, uint64_t value)
{
    fixture *f = side->stress->ring;
    return med_ring_push(&f->producer, &value) == MEDLEY_OK;
}

static bool
pop_copy(ring_stress_side *side, uint64_t *value)
{
    fixture *f = side->stress->ring;
    return med_ring_pop(&f->consumer, value) == MEDLEY_OK;
}

/* Sleeps when there is no room, and never more than a second. */
static bool
push_waiting(ring_stress_side *side, uint64_t value)
{
    fixture *f = side->stress->ring;
    void *slot;
    if (med_ring_reserve_until(&f->producer, med_port_clock_ns() + 1000000000, &slot) !=
        MEDLEY_OK) {
        return false;
    }
    memcpy(slot, &value, sizeof value);
    med_ring_commit(&f->producer);
    return true;
}

static bool
pop_waiting(ring_stress_side *side, uint64_t *value)
{
    fixture *f = side->stress->ring;
    void *element;
    if (med_ring_peek_until(&f->consumer, med_port_clock_ns() + 1000000000, &element) !=
        MEDLEY_OK) {
        return false;
    }
    memcpy(value, element, sizeof *value);
    med_ring_release(&f->consumer);
    return true;
}

/* A batch of random size that is open across calls: committed when it is filled. */
typedef struct open_batch {
    uint8_t *slots;
    uint32_t count, done;
} open_batch;

static bool
push_batch(ring_stress_side *side, uint64_t value)
{
    fixture *f = side->stress->ring;
    open_batch *batch = side->own;
    uint32_t wanted = 1 + ring_stress_random(side) % 40;
    void *slots = NULL;
    if (batch->count == 0 &&
        med_ring_reserve_many(&f->producer, wanted, &slots, &batch->count) == MEDLEY_OK) {
        batch->slots = slots;
        batch->done = 0;
    }
    if (batch->count == 0) {
        return false;
    }
    memcpy(batch->slots + batch->done * f->producer.view.stride_bytes, &value, sizeof value);
    batch->done++;
    if (batch->done == batch->count || (uint32_t)value + 1 == side->stress->values) {
        med_ring_commit_many(&f->producer, batch->done);
        batch->count = 0;
    }
    return true;
}

static bool
pop_batch(ring_stress_side *side, uint64_t *value)
{
    fixture *f = side->stress->ring;
    open_batch *batch = side->own;
    uint32_t wanted = 1 + ring_stress_random(side) % 40;
    void *elements = NULL;
    if (batch->count == 0 &&
        med_ring_peek_many(&f->consumer, wanted, &elements, &batch->count) == MEDLEY_OK) {
        batch->slots = elements;
        batch->done = 0;
    }
    if (batch->count == 0) {
        return false;
    }
    memcpy(value, batch->slots + batch->done * f->consumer.view.stride_bytes, sizeof *value);
    if (++batch->done == batch->count) {
        med_ring_release_many(&f->consumer, batch->count);
        batch->count = 0;
    }
    return true;
}

static void
stress(void **state,
       uint32_t capacity,
       bool (*push)(ring_stress_side *, uint64_t),
       bool (*pop)(ring_stress_side *, uint64_t *))
{
    static ring_stress run;
    static open_batch batches[2];
    fixture f;
    memset(batches, 0, sizeof batches);
    ring_start(&f, state, sizeof(uint64_t), capacity);
    run = (ring_stress){.ring = &f, .producers = 1, .consumers = 1, .values = 200000};
    run.push = push;
    run.pop = pop;
    run.producer_own[0] = &batches[0];
    run.consumer_own[0] = &batches[1];
    const char *failure = ring_stress_run(&run);
    if (failure) {
        fail_msg("%s", failure);
    }
    ring_end(&f);
}

static void
stress_one_at_a_time(void **state)
{
    stress(state, 64, push_copy, pop_copy);
    stress(state, 2, push_copy, pop_copy);
}

static void
stress_batches(void **state)
{
    stress(state, 64, push_batch, pop_batch);
    stress(state, 64, push_copy, pop_batch);
    stress(state, 64, push_batch, pop_copy);
}

static void
stress_waiting(void **state)
{
    stress(state, 256, push_waiting, pop_waiting);
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
        IN_BOTH(order_is_kept_over_the_wrap),
        IN_BOTH(full_is_exact_and_says_whether_the_consumer_reads),
        IN_BOTH(empty_says_whether_the_producer_inserts),
        IN_BOTH(marks_of_a_batch_end_with_it),
        IN_BOTH(a_cancel_takes_nothing_away),
        IN_BOTH(a_slot_stays_the_same_until_it_is_handed_over),
        IN_BOTH(a_ring_of_one_element_works),
        IN_BOTH(batches_end_where_the_ring_ends),
        IN_BOTH(a_batch_takes_what_there_is),
        IN_BOTH(elements_of_every_size),
        cmocka_unit_test(slots_are_laid_out_as_drawn),
        IN_BOTH(config_limits_are_checked),
        IN_BOTH(memory_is_checked),
        IN_BOTH(attach_checks_every_field),
        IN_BOTH(counters_that_disagree_are_corrupt),
        IN_BOTH(a_peer_that_scribbles_leads_nobody_outside),
        IN_BOTH(a_dead_side_is_taken_over),
        IN_BOTH(a_dead_producers_mark_ends_with_the_next),
        IN_BOTH(waiting_ends),
        IN_BOTH(handing_over_wakes_the_other_side),
        IN_BOTH(stress_one_at_a_time),
        IN_BOTH(stress_batches),
        IN_BOTH(stress_waiting),
    };
    return cmocka_run_group_tests_name("ring_spsc", tests, NULL, NULL);
}
