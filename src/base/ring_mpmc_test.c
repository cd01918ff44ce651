/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The ring with many producers and consumers: sides, laps, claims, scribbling. */
#include "base/ring_mpmc_test.h"
#include "base/ring_mpmc_slot.h"

static void
a_side_has_one_owner(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 2);
    med_ring_mpmc_side second = joined(&f, 2);
    med_ring_mpmc_side third;
    assert_int_equal(med_ring_mpmc_join(&third, &f.view, 0), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_ring_mpmc_join(&third, &f.view, 3), MEDLEY_ERR_LIMIT);
    assert_int_equal(med_ring_mpmc_leave(&second), MEDLEY_OK);
    assert_int_equal(med_ring_mpmc_leave(&second), MEDLEY_ERR_NOT_OWNER);
    assert_int_equal(med_ring_mpmc_join(&third, &f.view, 3), MEDLEY_OK);
    assert_int_equal(third.number, second.number);
    ring_end(&f);
}

/* The lap's own 21 bits pass zero too. */
static void
laps_wrap(void **state)
{
    (void)state;
    static const uint32_t firsts[] = {(1u << 22) - 5, (1u << 23) - 9, UINT32_MAX - 9};
    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
        fixture f;
        ring_start_at(&f, 2, 1, firsts[i]);
        for (uint64_t value = 0; value < 50; value++) {
            push(&f.side, value);
            push(&f.side, ~value);
            expect_push(&f.side, MEDLEY_FULL);
            expect(&f.side, value);
            expect(&f.side, ~value);
            expect_pop(&f.side, MEDLEY_EMPTY);
        }
        ring_end(&f);
    }
}

static void
claims_keep_the_order(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 2, 3);
    med_ring_mpmc_side second = joined(&f, 2);
    med_ring_mpmc_side third = joined(&f, 3);
    reserve(&f.side, 10);
    reserve(&f.side, 11); /* the same slot */
    push(&second, 20);
    expect_push(&third, MEDLEY_FULL);
    expect_pop(&third, MEDLEY_EMPTY_PRODUCER_INSERTING);
    med_ring_mpmc_commit(&f.side);
    assert_int_equal(take(&third), 11);
    assert_int_equal(take(&third), 11); /* the same element */
    expect(&second, 20);
    expect_pop(&second, MEDLEY_EMPTY);
    expect_push(&second, MEDLEY_FULL_CONSUMER_READING);
    med_ring_mpmc_release(&third);
    push(&second, 21);
    push(&second, 22);
    expect(&third, 21);
    expect(&third, 22);
    ring_end(&f);
}

static void
what_was_cancelled_is_passed_over(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 4, 2);
    med_ring_mpmc_side second = joined(&f, 2);
    for (uint64_t i = 0; i < 10; i++) {
        reserve(&f.side, 666);
        push(&second, i);
        reserve(&second, 667);
        med_ring_mpmc_reserve_cancel(&f.side);
        assert_int_equal(med_ring_mpmc_leave(&second), MEDLEY_OK); /* cancels */
        expect(&f.side, i);
        expect_pop(&f.side, MEDLEY_EMPTY);
        second = joined(&f, 2);
    }
    push(&f.side, 5);
    assert_int_equal(take(&second), 5);
    assert_int_equal(med_ring_mpmc_leave(&second), MEDLEY_OK); /* releases */
    for (uint64_t i = 0; i < 4; i++) {
        push(&f.side, i);
    }
    ring_end(&f);
}

static void
changes_wake(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 4, 2);
    med_ring_mpmc *ring = f.view.ring;
    atomic32_store_relaxed(&ring->data.word, MED_WAIT_SLEEPS);
    atomic32_store_relaxed(&ring->space.word, MED_WAIT_SLEEPS);
    push(&f.side, 1);
    assert_int_equal(atomic32_load_relaxed(&ring->data.word), MED_WAIT_WOKEN);
    assert_int_equal(atomic32_load_relaxed(&ring->space.word), MED_WAIT_SLEEPS);
    expect(&f.side, 1);
    assert_int_equal(atomic32_load_relaxed(&ring->space.word), MED_WAIT_WOKEN);
    reserve(&f.side, 2);
    atomic32_store_relaxed(&ring->data.word, MED_WAIT_SLEEPS);
    atomic32_store_relaxed(&ring->space.word, MED_WAIT_SLEEPS);
    med_ring_mpmc_reserve_cancel(&f.side);
    assert_int_equal(atomic32_load_relaxed(&ring->data.word), MED_WAIT_WOKEN);
    expect_pop(&f.side, MEDLEY_EMPTY); /* skips */
    assert_int_equal(atomic32_load_relaxed(&ring->space.word), MED_WAIT_WOKEN);
    atomic32_store_relaxed(&ring->data.word, MED_WAIT_SLEEPS);
    atomic32_store_relaxed(&ring->space.word, MED_WAIT_SLEEPS);
    assert_int_equal(med_ring_mpmc_recover(&f.view, 1, NULL), 1);
    assert_int_equal(atomic32_load_relaxed(&ring->data.word), MED_WAIT_WOKEN);
    assert_int_equal(atomic32_load_relaxed(&ring->space.word), MED_WAIT_WOKEN);
    ring_end(&f);
}

/* ---- Scribbling ------------------------------------------------------------------------------ */

static void
scribbled_words_end_in_a_status(void **state)
{
    (void)state;
    static const uint32_t patterns[] = {0, 1, 0x700, 0x7ff, 0x80000000u, UINT32_MAX, 0x12345678};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        fixture f;
        ring_start(&f, 4, 3);
        for (uint32_t slot = 0; slot < 4; slot++) {
            atomic32_store_relaxed(mpmc_slot_word(&f.view, slot), patterns[i]);
        }
        uint64_t value = 0;
        for (uint32_t round = 0; round < 10; round++) {
            assert_int_not_equal(med_ring_mpmc_push(&f.side, &value), MEDLEY_OK);
            assert_int_not_equal(med_ring_mpmc_pop(&f.side, &value), MEDLEY_OK);
        }
        (void)med_ring_mpmc_recover(&f.view, 2, NULL);
        ring_end(&f);
    }
}

static void
scribbled_counters_end_in_a_status(void **state)
{
    (void)state;
    static const uint32_t offsets[] = {1, 3, 4, 5, 1000, 0x7fffffff, 0x80000000u, 0xfffffff0u};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        fixture f;
        ring_start(&f, 4, 3);
        uint64_t value = 0;
        atomic32_store_relaxed(&f.view.ring->tail, NEAR_WRAP + offsets[i]);
        (void)med_ring_mpmc_push(&f.side, &value);
        atomic32_store_relaxed(&f.view.ring->head, NEAR_WRAP - offsets[i]);
        (void)med_ring_mpmc_pop(&f.side, &value);
        assert_int_not_equal(med_ring_mpmc_pop(&f.side, &value), MEDLEY_OK);
        ring_end(&f);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_side_has_one_owner),
        cmocka_unit_test(laps_wrap),
        cmocka_unit_test(claims_keep_the_order),
        cmocka_unit_test(what_was_cancelled_is_passed_over),
        cmocka_unit_test(changes_wake),
        cmocka_unit_test(scribbled_words_end_in_a_status),
        cmocka_unit_test(scribbled_counters_end_in_a_status),
    };
    return cmocka_run_group_tests_name("ring_mpmc", tests, NULL, NULL);
}
