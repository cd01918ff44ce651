/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What every ring does alike, between one producer and one consumer: each test on each kind. */
#include <stdlib.h>
#include <string.h>

#include "support/random.h"
#include "support/rings.h"
#include "support/unit.h"

static const ring_kind *kind; /* the one being tested */

static void
push_numbers(ring_fixture *f, uint32_t first, uint32_t count)
{
    for (uint32_t number = first; number < first + count; number++) {
        assert_int_equal(kind->push(&f->ends, &number), MEDLEY_OK);
    }
}

static void
expect_numbers(ring_fixture *f, uint32_t first, uint32_t count)
{
    for (uint32_t number = first; number < first + count; number++) {
        uint32_t got = ~number;
        assert_int_equal(kind->pop(&f->ends, &got), MEDLEY_OK);
        assert_int_equal(got, number);
    }
}

static medley_status_t
reserve_status(ring_fixture *f)
{
    void *slot;
    return kind->reserve(&f->ends, &slot);
}

static medley_status_t
peek_status(ring_fixture *f)
{
    void *element;
    return kind->peek(&f->ends, &element);
}

/* ---- Order, and Table 1 ---------------------------------------------------------------------- */

static void
order_is_kept_over_the_wrap(void **state)
{
    (void)state;
    ring_fixture f;
    ring_start(&f, kind, sizeof(uint32_t), 4);
    for (uint32_t n = 0; n < 39; n += 3) {
        push_numbers(&f, n, 3);
        expect_numbers(&f, n, 3);
    }
    ring_end(&f);
}

static void
full_and_empty_are_exact(void **state)
{
    (void)state;
    static const uint32_t capacities[] = {1, 2, 8, 4096};
    for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
        ring_fixture f;
        uint32_t capacity = capacities[i];
        ring_start(&f, kind, sizeof(uint32_t), capacity);
        for (uint32_t round = 0; round < 20; round++) {
            assert_int_equal(peek_status(&f), MEDLEY_EMPTY);
            push_numbers(&f, round * capacity, capacity);
            assert_int_equal(reserve_status(&f), MEDLEY_FULL);
            expect_numbers(&f, round * capacity, capacity);
        }
        ring_end(&f);
    }
}

static void
full_says_whether_the_consumer_reads(void **state)
{
    (void)state;
    ring_fixture f;
    ring_start(&f, kind, sizeof(uint32_t), 8);
    push_numbers(&f, 0, 8);
    for (uint32_t n = 0; n < 20; n++) {
        assert_int_equal(reserve_status(&f), MEDLEY_FULL);
        assert_int_equal(peek_status(&f), MEDLEY_OK);
        assert_int_equal(reserve_status(&f), MEDLEY_FULL_CONSUMER_READING);
        kind->release(&f.ends);
        push_numbers(&f, n + 8, 1);
    }
    expect_numbers(&f, 20, 8);
    ring_end(&f);
}

static void
empty_says_whether_the_producer_inserts(void **state)
{
    (void)state;
    ring_fixture f;
    ring_start(&f, kind, sizeof(uint32_t), 8);
    for (uint32_t n = 0; n < 20; n++) {
        assert_int_equal(peek_status(&f), MEDLEY_EMPTY);
        assert_int_equal(reserve_status(&f), MEDLEY_OK);
        assert_int_equal(peek_status(&f), MEDLEY_EMPTY_PRODUCER_INSERTING);
        kind->cancel(&f.ends);
        assert_int_equal(peek_status(&f), MEDLEY_EMPTY);
        push_numbers(&f, n, 1);
        expect_numbers(&f, n, 1);
    }
    ring_end(&f);
}

static void
a_slot_stays_the_same_until_it_is_handed_over(void **state)
{
    (void)state;
    ring_fixture f;
    void *slot[2];
    ring_start(&f, kind, sizeof(uint32_t), 2);
    assert_int_equal(kind->reserve(&f.ends, &slot[0]), MEDLEY_OK);
    assert_int_equal(kind->reserve(&f.ends, &slot[1]), MEDLEY_OK);
    assert_ptr_equal(slot[0], slot[1]);
    kind->commit(&f.ends);
    assert_int_equal(kind->peek(&f.ends, &slot[1]), MEDLEY_OK);
    assert_ptr_equal(slot[0], slot[1]);
    assert_int_equal(kind->peek(&f.ends, &slot[1]), MEDLEY_OK);
    assert_ptr_equal(slot[0], slot[1]);
    assert_int_equal(kind->reserve(&f.ends, &slot[1]), MEDLEY_OK);
    assert_ptr_not_equal(slot[0], slot[1]);
    ring_end(&f);
}

/* ---- Sizes, limits --------------------------------------------------------------------------- */

static void
element_is_filled_to_its_last_byte(uint32_t element_bytes)
{
    ring_fixture f;
    uint8_t *in = malloc(element_bytes);
    uint8_t *out = malloc(element_bytes + 1);
    assert_true(in && out);
    ring_start(&f, kind, element_bytes, 4);
    for (uint32_t n = 0; n < 12; n++) {
        for (uint32_t at = 0; at < element_bytes; at++) {
            in[at] = (uint8_t)(at * 7 + n);
        }
        memset(out, 0xee, element_bytes + 1);
        assert_int_equal(kind->push(&f.ends, in), MEDLEY_OK);
        if (n % 2) { /* one more beside it: neighbours do not touch */
            assert_int_equal(kind->push(&f.ends, in), MEDLEY_OK);
            assert_int_equal(kind->pop(&f.ends, out), MEDLEY_OK);
            assert_memory_equal(in, out, element_bytes);
        }
        assert_int_equal(kind->pop(&f.ends, out), MEDLEY_OK);
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
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 8, 20, 24, 60, 61, 64, 255, 257, 4096, 65536};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        element_is_filled_to_its_last_byte(sizes[i]);
    }
}

static void
config_limits_are_checked(void **state)
{
    (void)state;
    const ring_wanted wrong[] = {
        {kind->wrong_specials[0], 8, 8},
        {kind->wrong_specials[1], 8, 8},
        {kind->special, 0, 8},
        {kind->special, MED_RING_ELEMENT_MAX + 1, 8},
        {kind->special, 8, 0},
        {kind->special, 8, 7},
        {kind->special, 8, 12},
        {kind->special, 1, MED_RING_CAPACITY_MAX * 2},
        {kind->special, MED_RING_ELEMENT_MAX, 1u << 16}, /* 4 GiB */
    };
    _Alignas(128) static uint8_t memory[64 * 1024];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint32_t size_bytes = 77;
        assert_int_equal(kind->size(&wrong[i], &size_bytes), MEDLEY_ERR_ARGUMENT);
        assert_int_equal(size_bytes, 77);
        assert_int_equal(kind->init(memory, sizeof memory, &wrong[i]), MEDLEY_ERR_ARGUMENT);
    }
}

/* ---- Trust ----------------------------------------------------------------------------------- */

static void
expect_inside(const ring_fixture *f, const void *slot)
{
    const uint8_t *at = slot;
    assert_true(at >= f->memory + kind->fixed_bytes);
    assert_true(at + f->element_bytes <= f->memory + f->size_bytes);
}

/* Each operation of both sides; whatever is in the ring, it ends, inside the ring. */
static void
operate_on_anything(ring_fixture *f)
{
    void *slot = NULL;
    if (kind->reserve(&f->ends, &slot) == MEDLEY_OK) {
        expect_inside(f, slot);
        memset(slot, 0x11, f->element_bytes);
        kind->commit(&f->ends);
    }
    if (kind->peek(&f->ends, &slot) == MEDLEY_OK) {
        expect_inside(f, slot);
        kind->release(&f->ends);
    }
    ring_ends again = f->ends;
    if (kind->attach(&again, f->memory, f->size_bytes) == MEDLEY_OK) {
        f->ends = again;
    }
}

static void
a_peer_that_scribbles_leads_nobody_outside(void **state)
{
    (void)state;
    ring_fixture f;
    ring_wanted wanted = {kind->special, 24, 16};
    ring_start(&f, kind, wanted.element_bytes, wanted.capacity);
    test_random random = {42};
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t scribbled_bytes = round % 2 ? f.size_bytes : (uint32_t)kind->fixed_bytes;
        uint32_t at = random_below(&random, scribbled_bytes / 4);
        uint32_t value = random_word(&random);
        ((uint32_t *)(void *)f.memory)[at] = round % 3 ? value : value % 64;
        operate_on_anything(&f);
        if (round % 16 == 0) { /* mostly from a sane start */
            assert_int_equal(kind->init(f.memory, f.size_bytes, &wanted), MEDLEY_OK);
            assert_int_equal(kind->attach(&f.ends, f.memory, f.size_bytes), MEDLEY_OK);
        }
    }
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
    (void)state;
    ring_fixture f;
    void *slot;
    uint32_t calls = 0;
    ring_start(&f, kind, sizeof(uint32_t), 2);
    uint64_t soon_ns = med_port_clock_ns() + 100000;
    assert_int_equal(kind->peek_until(&f.ends, 0, &slot), MEDLEY_TIMEOUT);
    assert_int_equal(kind->peek_until(&f.ends, soon_ns, &slot), MEDLEY_TIMEOUT);
    kind->each_slice(&f.ends, peer_is_dead, &calls);
    assert_int_equal(kind->peek_until(&f.ends, MED_PORT_FOREVER, &slot), MEDLEY_ERR_PEER_DIED);
    push_numbers(&f, 0, 2);
    assert_int_equal(kind->reserve_until(&f.ends, 0, &slot), MEDLEY_TIMEOUT);
    assert_int_equal(kind->reserve_until(&f.ends, soon_ns, &slot), MEDLEY_TIMEOUT);
    assert_int_equal(kind->reserve_until(&f.ends, MED_PORT_FOREVER, &slot), MEDLEY_ERR_PEER_DIED);
    assert_int_equal(calls, 2);
    assert_int_equal(kind->peek_until(&f.ends, 0, &slot), MEDLEY_OK);
    assert_int_equal(*(uint32_t *)slot, 0);
    kind->release(&f.ends);
    assert_int_equal(kind->reserve_until(&f.ends, 0, &slot), MEDLEY_OK);
    ring_end(&f);
}

/* Whoever sleeps is not left to its slice: the word says that it was woken. */
static void
handing_over_wakes_the_other_side(void **state)
{
    (void)state;
    ring_fixture f;
    ring_start(&f, kind, sizeof(uint32_t), 8);
    med_wait *data = kind->data(&f.ends);
    med_wait *space = kind->space(&f.ends);
    for (uint32_t n = 0; n < 2; n++) {
        kind->consumer_sleeps(&f.ends);
        kind->producer_sleeps(&f.ends);
        push_numbers(&f, n, 1);
        assert_int_equal(atomic32_load_relaxed(&data->word), MED_WAIT_WOKEN);
        assert_int_equal(atomic32_load_relaxed(&space->word), MED_WAIT_SLEEPS);
        expect_numbers(&f, n, 1);
        assert_int_equal(atomic32_load_relaxed(&space->word), MED_WAIT_WOKEN);
    }
    ring_end(&f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_kept_over_the_wrap),
        cmocka_unit_test(full_and_empty_are_exact),
        cmocka_unit_test(full_says_whether_the_consumer_reads),
        cmocka_unit_test(empty_says_whether_the_producer_inserts),
        cmocka_unit_test(a_slot_stays_the_same_until_it_is_handed_over),
        cmocka_unit_test(elements_of_every_size),
        cmocka_unit_test(config_limits_are_checked),
        cmocka_unit_test(a_peer_that_scribbles_leads_nobody_outside),
        cmocka_unit_test(waiting_ends),
        cmocka_unit_test(handing_over_wakes_the_other_side),
    };
    int failed = 0;
    for (kind = ring_kinds; kind < ring_kinds + RING_KINDS; kind++) {
        failed += cmocka_run_group_tests_name(kind->name, tests, NULL, NULL);
    }
    return failed;
}
