/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Splits by the speed of cores: exact, whatever the numbers; and libHetMP's own example. */
#include "omp/schedule/split.h"

#include "support/random.h"
#include "support/unit.h"

/* The parts of all members lie one behind the other, from the first unit to the last. */
static void
covers(const med_split *split, uintptr_t units)
{
    uintptr_t at = 0;
    for (uint32_t class = 0; class < split->classes; class ++) {
        for (uint32_t rank = 0; rank < split->members[class]; rank++) {
            med_units part = med_split_member(split, units, class, rank);
            assert_int_equal(part.first, at);
            assert_true(part.end >= part.first);
            at = part.end;
        }
    }
    assert_int_equal(at, units);
}

/* Figure 6: 100 iterations took cores of one node 500 us, those of the other 1500. Of the 18,000
 * behind the probe each core there gets 1,929, or 643; some one less, or that would be too many. */
static void
as_in_figure_6(void **state)
{
    const med_pace pace = {.ns = {4 * 500000, 16 * 1500000}, .units = {4 * 100, 16 * 100}};
    med_split split = {.classes = 2, .members = {4, 16}};
    (void)state;
    med_pace_weights(&pace, 2, split.weights);
    assert_int_equal(split.weights[0], 3 * split.weights[1]);
    covers(&split, 18000);
    for (uint32_t rank = 0; rank < 16; rank++) {
        med_units slow = med_split_member(&split, 18000, 1, rank);
        assert_in_range(slow.end - slow.first, 642, 643);
        if (rank < 4) {
            med_units fast = med_split_member(&split, 18000, 0, rank);
            assert_in_range(fast.end - fast.first, 1928, 1929);
        }
    }
    med_units fast = med_split_class(&split, 18000, 0);
    med_units slow = med_split_class(&split, 18000, 1);
    assert_int_equal(fast.end - fast.first, 18000 * 12 / 28);
    assert_int_equal((fast.end - fast.first) + (slow.end - slow.first), 18000);
}

static void
nothing_is_left_over(void **state)
{
    test_random numbers = test_random_of(0);
    (void)state;
    for (uint32_t round = 0; round < 20000; round++) {
        med_split split = {.classes = 1 + random_word(&numbers) % MED_CLASSES_MAX};
        uint32_t members = 0;
        for (uint32_t i = 0; i < split.classes; i++) {
            split.members[i] = random_word(&numbers) % 8;
            split.weights[i] = 1 + random_word(&numbers) % MED_WEIGHT_MOST;
            members += split.members[i];
        }
        split.members[0] += members == 0;
        uintptr_t units = (uintptr_t)random_word(&numbers) << random_word(&numbers) % 32;
        covers(&split, units >> random_word(&numbers) % 40 % (sizeof units * 8));
    }
}

/* As many as there may be of everything. */
static void
the_most_of_all(void **state)
{
    const med_split split = {
        .classes = 2, .members = {32768, 32767}, .weights = {MED_WEIGHT_MOST, MED_WEIGHT_MOST - 1}};
    const uintptr_t units = UINTPTR_MAX / 2;
    (void)state;
    med_units first = med_split_class(&split, units, 0);
    med_units second = med_split_class(&split, units, 1);
    assert_int_equal(first.first, 0);
    assert_int_equal(first.end, second.first);
    assert_int_equal(second.end, units);
    assert_true(first.end > units / 2);
    assert_int_equal(med_split_member(&split, units, 1, 32766).end, units);
}

static void
in_proportion(void **state)
{
    const med_split split = {.classes = 3, .members = {1, 0, 2}, .weights = {500, 77, 250}};
    (void)state;
    assert_int_equal(med_split_class(&split, 1000, 0).end, 500);
    assert_int_equal(med_split_class(&split, 1000, 1).end, 500);
    assert_int_equal(med_split_member(&split, 1000, 2, 0).end, 750);
}

static void
a_class_without_a_measurement_has_no_weight(void **state)
{
    const med_pace pace = {.ns = {1000, 5, 500}, .units = {10, 0, 10}};
    const med_pace none = {.ns = {0}};
    uint32_t weights[3];
    (void)state;
    med_pace_weights(&pace, 3, weights);
    assert_int_equal(weights[0], MED_WEIGHT_MOST / 2);
    assert_int_equal(weights[1], 0);
    assert_int_equal(weights[2], MED_WEIGHT_MOST);
    med_pace_weights(&none, 3, weights);
    assert_int_equal(weights[0] + weights[1] + weights[2], 0);
}

/* The slowest has something all the same, and the fastest of all is not divided by nothing. */
static void
paces_far_apart(void **state)
{
    const med_pace pace = {.ns = {1, UINT64_MAX}, .units = {UINT64_MAX, 1}};
    uint32_t weights[2];
    (void)state;
    med_pace_weights(&pace, 2, weights);
    assert_int_equal(weights[0], MED_WEIGHT_MOST);
    assert_int_equal(weights[1], 1);
}

/* 0.75 of the newest: after a jump from 100 to 200: 175, 194, 199. */
static void
the_newest_counts_most(void **state)
{
    (void)state;
    assert_int_equal(med_weight_mean(0, 100), 100);
    assert_int_equal(med_weight_mean(100, 0), 100);
    assert_int_equal(med_weight_mean(100, 200), 175);
    assert_int_equal(med_weight_mean(175, 200), 194);
    assert_int_equal(med_weight_mean(194, 200), 199);
    assert_int_equal(med_weight_mean(MED_WEIGHT_MOST, MED_WEIGHT_MOST), MED_WEIGHT_MOST);
}

static void
the_middle_one(void **state)
{
    static const uint32_t orders[][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2},
                                         {3, 2, 1}, {1, 2, 2}, {2, 1, 2}, {2, 2, 1}, {2, 2, 3},
                                         {2, 3, 2}, {3, 2, 2}, {2, 2, 2}};
    (void)state;
    for (uint32_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        assert_int_equal(med_weight_middle(orders[i][0], orders[i][1], orders[i][2]), 2);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_in_figure_6),
        cmocka_unit_test(nothing_is_left_over),
        cmocka_unit_test(the_most_of_all),
        cmocka_unit_test(in_proportion),
        cmocka_unit_test(a_class_without_a_measurement_has_no_weight),
        cmocka_unit_test(paces_far_apart),
        cmocka_unit_test(the_newest_counts_most),
        cmocka_unit_test(the_middle_one),
    };
    return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
