/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The bit set: one user, what a death leaves half done, and memory that lies. */
#include "base/bit_set_test.h"
#include "support/random.h"

static void
wrong_arguments_are_refused(void **state)
{
    (void)state;
    med_bit_set set;
    assert_int_equal(med_bit_set_size(0), 0);
    assert_int_equal(med_bit_set_size(MED_BIT_SET_CAPACITY_MAX + 1), 0);
    unsigned char *memory = make(40, &set);
    med_bit_set_slot slot = {0};
    assert_int_equal(med_bit_set_take(&set, 0, 0, &slot), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_bit_set_give(&set, slot, 1), MEDLEY_ERR_ARGUMENT);
    slot = take_lowest(&set, 1);
    assert_int_equal(med_bit_set_give(&set, slot, 0), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_bit_set_give(&set, (med_bit_set_slot){40, 2}, 1), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_bit_set_give(&set, (med_bit_set_slot){0, 3}, 1), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_bit_set_hand_over(&set, slot, 1, 0), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_bit_set_recover(&set, 0), 0);
    check_counts(&set, 1, 0, 1);
    free(memory);
}

static void
takes_the_lowest_until_full(void **state)
{
    (void)state;
    static const uint32_t capacities[] = {1, 31, 32, 33, 1000, MED_BIT_SET_CAPACITY_MAX};
    for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
        med_bit_set set;
        void *memory = make(capacities[i], &set);
        for (uint32_t index = 0; index < capacities[i]; index++) {
            assert_int_equal(take_lowest(&set, 7).index, index);
        }
        med_bit_set_slot slot;
        assert_int_equal(med_bit_set_take(&set, 7, MED_BIT_SET_LOWEST, &slot), MEDLEY_FULL);
        assert_int_equal(med_bit_set_take(&set, 7, capacities[i] / 2, &slot), MEDLEY_FULL);
        check_counts(&set, capacities[i], 0, capacities[i]);
        assert_int_equal(med_bit_set_recover(&set, 8), 0);
        assert_int_equal(med_bit_set_recover(&set, 7), capacities[i]);
        assert_int_equal(med_bit_set_recover(&set, 7), 0);
        assert_int_equal(take_all(&set, 9), capacities[i]);
        free(memory);
    }
}

static void
the_hint_follows_the_holes(void **state)
{
    (void)state;
    med_bit_set set;
    void *memory = make(4096, &set);
    med_bit_set_slot slots[4096];
    for (uint32_t i = 0; i < 4096; i++) {
        slots[i] = take_lowest(&set, 1);
    }
    assert_int_equal(atomic32_load_relaxed(&set.shared->first_free_word), 4095 / 32);
    static const uint32_t holes[] = {4000, 77, 2000, 78, 3};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(med_bit_set_give(&set, slots[holes[i]], 1), MEDLEY_OK);
    }
    static const uint32_t found[] = {3, 77, 78, 2000, 4000};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(take_lowest(&set, 1).index, found[i]);
    }
    check_counts(&set, 4096, 0, 4096);
    /* The hole below counts more than the room above. */
    assert_int_equal(med_bit_set_recover(&set, 1), 4096);
    for (uint32_t i = 0; i < 2000; i++) {
        slots[i] = take_lowest(&set, 1);
    }
    assert_int_equal(med_bit_set_give(&set, slots[5], 1), MEDLEY_OK);
    assert_int_equal(take_lowest(&set, 1).index, 5);
    free(memory);
}

static void
a_start_is_where_the_search_starts(void **state)
{
    (void)state;
    med_bit_set set;
    med_bit_set_slot slot;
    void *memory = make(128, &set);
    for (uint32_t i = 0; i < 128; i++) {
        assert_int_equal(med_bit_set_take(&set, 1, 64, &slot), MEDLEY_OK);
        assert_int_equal(slot.index, (64 + i) % 128);
    }
    free(memory);
}

static void
an_old_slot_is_known(void **state)
{
    (void)state;
    med_bit_set set;
    void *memory = make(3, &set);
    med_bit_set_slot slot = take_lowest(&set, 1);
    assert_int_equal(med_bit_set_give(&set, slot, 2), MEDLEY_ERR_NOT_OWNER);
    assert_int_equal(med_bit_set_check(&set, slot, 1), MEDLEY_OK);
    assert_int_equal(med_bit_set_give(&set, slot, 1), MEDLEY_OK);
    assert_int_equal(med_bit_set_give(&set, slot, 1), MEDLEY_ERR_STALE);
    med_bit_set_slot next = take_lowest(&set, 1);
    assert_int_equal(next.index, slot.index);
    assert_int_equal(med_bit_set_give(&set, slot, 1), MEDLEY_ERR_STALE);
    assert_int_equal(med_bit_set_check(&set, next, 1), MEDLEY_OK);
    /* Also where the use was ended by a death. */
    assert_int_equal(med_bit_set_recover(&set, 1), 1);
    assert_int_equal(med_bit_set_give(&set, next, 1), MEDLEY_ERR_STALE);
    med_bit_set_slot third = take_lowest(&set, 1);
    assert_int_equal(third.index, next.index);
    assert_int_equal(med_bit_set_give(&set, next, 1), MEDLEY_ERR_STALE);
    check_counts(&set, 1, 0, 1);
    free(memory);
}

static void
an_old_slot_is_known_while_its_entry_is_only_claimed(void **state)
{
    (void)state;
    med_bit_set set;
    uint16_t index;
    void *memory = make(1, &set);
    med_bit_set_slot slot = take_lowest(&set, 1);
    assert_int_equal(med_bit_set_recover(&set, 1), 1);
    assert_int_equal(med_bit_set_claim(&set, 2, 0, &index, 1), 1);
    assert_int_equal(med_bit_set_give(&set, slot, 2), MEDLEY_ERR_STALE);
    check_counts(&set, 0, 1, 1);
    med_bit_set_unclaim(&set, 2, &index, 1);
    check_counts(&set, 0, 0, 1);
    free(memory);
}

/* As many as nobody has, or as are asked for; bits that stand for no entry count for nothing. */
static void
the_free_are_counted(void **state)
{
    (void)state;
    med_bit_set set;
    void *memory = make(100, &set);
    atomic32_store_relaxed(&set.free_bits[3], UINT32_MAX);
    for (uint32_t left = 100; left > 0; left--) {
        assert_int_equal(med_bit_set_free(&set, UINT32_MAX), left);
        assert_int_equal(med_bit_set_free(&set, 100), left);
        assert_int_equal(med_bit_set_free(&set, 50), left < 50 ? left : 50);
        assert_int_equal(med_bit_set_free(&set, 0), 0);
        (void)take_lowest(&set, 1);
    }
    assert_int_equal(med_bit_set_free(&set, 100), 0);
    assert_int_equal(med_bit_set_recover(&set, 1), 100);
    assert_int_equal(med_bit_set_free(&set, UINT32_MAX), 100);
    free(memory);
}

static void
generations_wrap_around(void **state)
{
    (void)state;
    med_bit_set set;
    void *memory = make(1, &set);
    atomic32_store_relaxed(&set.entries[0].generation, UINT32_MAX - 4);
    med_bit_set_slot before = {0};
    for (int i = 0; i < 6; i++) {
        med_bit_set_slot slot = take_lowest(&set, 1);
        assert_true(slot.generation != 0 && slot.generation % 2 == 0);
        assert_int_not_equal(slot.generation, before.generation);
        assert_int_equal(med_bit_set_give(&set, slot, 1), MEDLEY_OK);
        assert_int_equal(med_bit_set_give(&set, slot, 1), MEDLEY_ERR_STALE);
        before = slot;
    }
    assert_true(before.generation < 16);
    free(memory);
}

static void
a_slot_goes_to_its_next_owner(void **state)
{
    (void)state;
    med_bit_set set;
    void *memory = make(2, &set);
    med_bit_set_slot slot = take_lowest(&set, 1);
    assert_int_equal(med_bit_set_hand_over(&set, slot, 2, 3), MEDLEY_ERR_NOT_OWNER);
    assert_int_equal(med_bit_set_hand_over(&set, slot, 1, 2), MEDLEY_OK);
    assert_int_equal(med_bit_set_give(&set, slot, 1), MEDLEY_ERR_NOT_OWNER);
    assert_int_equal(med_bit_set_recover(&set, 1), 0);
    assert_int_equal(med_bit_set_recover(&set, 2), 1);
    assert_int_equal(med_bit_set_hand_over(&set, slot, 2, 1), MEDLEY_ERR_STALE);
    free(memory);
}

static void
who_attaches_sees_the_same(void **state)
{
    (void)state;
    med_bit_set set;
    med_bit_set other;
    void *memory = make(100, &set);
    assert_int_equal(med_bit_set_attach(memory, med_bit_set_size(100), &other), MEDLEY_OK);
    assert_memory_equal(&set, &other, sizeof set);
    free(memory);
}

/* What a death leaves between any two accesses, laid there by hand. */
static void
every_half_done_step_is_recovered(void **state)
{
    (void)state;
    med_bit_set set;
    void *memory = make(4, &set);
    med_bit_set_slot slot = take_lowest(&set, 1);
    /* Put back, and not shown. */
    assert_int_equal(med_bit_set_end(&set, slot, 1), MEDLEY_OK);
    atomic32_store_relaxed(&set.entries[0].owner, 0);
    assert_int_equal(take_lowest(&set, 2).index, 1);
    assert_int_equal(med_bit_set_recover(&set, 1), 0);
    assert_int_equal(take_lowest(&set, 2).index, 0);
    /* Taken, and the bit not cleared; the use not begun. */
    atomic32_store_relaxed(&set.entries[2].owner, 1);
    assert_int_equal(take_lowest(&set, 2).index, 3);
    assert_int_equal(med_bit_set_recover(&set, 1), 1);
    assert_int_equal(take_lowest(&set, 2).index, 2);
    assert_int_equal(med_bit_set_recover(&set, 2), 4);
    assert_int_equal(take_all(&set, 3), 4);
    free(memory);
}

/* ---- Memory that lies ------------------------------------------------------------------------ */
static void
scribbled_contents_bound_every_call(void **state)
{
    (void)state;
    med_bit_set set;
    unsigned char *memory = make(100, &set);
    test_random random = {1};
    for (int round = 0; round < 200; round++) {
        for (size_t i = 64; i < med_bit_set_size(100); i++) {
            memory[i] = (unsigned char)random_word(&random);
        }
        med_bit_set_slot slot = {.index = random_word(&random)};
        (void)med_bit_set_take(&set, 5, MED_BIT_SET_LOWEST, &slot);
        (void)med_bit_set_give(&set, slot, 5);
        (void)med_bit_set_hand_over(&set, slot, 5, 6);
        (void)med_bit_set_recover(&set, 5);
        (void)take_all(&set, 6);
        uint16_t far = UINT16_MAX;
        med_bit_set_unclaim(&set, 6, &far, 1);
        med_bit_set_statistics statistics;
        med_bit_set_statistics_get(&set, &statistics);
        assert_true(statistics.high_water <= 100 && statistics.in_use <= 100);
    }
    free(memory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(takes_the_lowest_until_full),
        cmocka_unit_test(the_hint_follows_the_holes),
        cmocka_unit_test(a_start_is_where_the_search_starts),
        cmocka_unit_test(an_old_slot_is_known),
        cmocka_unit_test(an_old_slot_is_known_while_its_entry_is_only_claimed),
        cmocka_unit_test(the_free_are_counted),
        cmocka_unit_test(generations_wrap_around),
        cmocka_unit_test(a_slot_goes_to_its_next_owner),
        cmocka_unit_test(who_attaches_sees_the_same),
        cmocka_unit_test(every_half_done_step_is_recovered),
        cmocka_unit_test(scribbled_contents_bound_every_call),
    };
    return cmocka_run_group_tests_name("bit_set", tests, NULL, NULL);
}
