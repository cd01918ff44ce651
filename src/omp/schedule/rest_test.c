/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is left of a loop: joined over jumps and shared out again, each unit once. */
#include "omp/schedule/rest.h"

#include <string.h>

#include "support/random.h"
#include "support/unit.h"

static void
taken_is(med_rest *rest, uintptr_t most, uintptr_t first, uintptr_t end)
{
    med_units units = med_rest_take(rest, most);
    assert_int_equal(units.first, first);
    assert_int_equal(units.end, end);
}

/* Figure 4: of 100 iterations one node has the first 60, the other 40. When these have done 30 and
 * 21, what is left is 30 to 59 and 81 to 99, and nobody gets 60 to 80 again. */
static void
as_in_figure_4(void **state)
{
    const med_split at_first = {.classes = 2, .members = {1, 1}, .weights = {3, 2}};
    const med_split then = {.classes = 2, .members = {1, 1}, .weights = {2, 5}};
    med_rest whole = {.count = 0};
    med_rest queues[2] = {{.count = 0}};
    (void)state;
    med_rest_put(&whole, (med_units){.first = 0, .end = 100});
    med_rest_share(&whole, &at_first, queues);
    taken_is(&queues[0], 30, 0, 30);
    taken_is(&queues[1], 21, 60, 81);
    assert_true(med_rest_join(queues, 2, &whole));
    assert_int_equal(whole.count, 2);
    assert_int_equal(whole.units, 49);
    med_rest_share(&whole, &then, queues);
    taken_is(&queues[0], 100, 30, 44);
    taken_is(&queues[1], 100, 44, 60); /* up to the jump */
    taken_is(&queues[1], 100, 81, 100);
    taken_is(&queues[0], 100, 0, 0);
    taken_is(&queues[1], 100, 0, 0);
}

/* Taken from anywhere, and joined and shared out at any time. */
static void
each_unit_once(void **state)
{
    enum {
        UNITS = 3000
    };
    static uint8_t taken[UNITS];
    test_random numbers = test_random_of(0);
    (void)state;
    for (uint32_t round = 0; round < 500; round++) {
        med_split split = {.classes = 1 + random_word(&numbers) % MED_CLASSES_MAX};
        med_rest queues[MED_CLASSES_MAX] = {{.count = 0}};
        med_rest whole = {.count = 0};
        uintptr_t left = UNITS;
        memset(taken, 0, sizeof taken);
        med_rest_put(&whole, (med_units){.first = 0, .end = UNITS});
        while (left > 0) {
            bool joined = left == UNITS || med_rest_join(queues, split.classes, &whole);
            for (uint32_t i = 0; i < split.classes && joined; i++) {
                split.members[i] = 1 + random_word(&numbers) % 4;
                split.weights[i] = 1 + random_word(&numbers) % 100;
            }
            if (joined) {
                assert_int_equal(whole.units, left);
                med_rest_share(&whole, &split, queues);
                assert_int_equal(whole.units, 0);
            }
            for (uint32_t i = 0; i < 10; i++) {
                med_rest *queue = &queues[random_word(&numbers) % split.classes];
                med_units units = med_rest_take(queue, 1 + random_word(&numbers) % 50);
                for (uintptr_t at = units.first; at < units.end; at++) {
                    assert_int_equal(taken[at]++, 0);
                    left--;
                }
            }
        }
    }
}

/* With more spans than there is room for nothing is changed. */
static void
too_many_jumps(void **state)
{
    med_rest queues[2] = {{.count = 0}};
    med_rest whole = {.count = 0};
    (void)state;
    for (uintptr_t i = 0; i < MED_REST_SPANS - 1; i++) {
        med_rest_put(&queues[0], (med_units){.first = 2 * i, .end = 2 * i + 1});
    }
    assert_false(med_rest_join(queues, 2, &whole));
    assert_int_equal(queues[0].units, MED_REST_SPANS - 1);
    (void)med_rest_take(&queues[0], 1);
    assert_true(med_rest_join(queues, 2, &whole));
    assert_int_equal(whole.units, MED_REST_SPANS - 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_in_figure_4),
        cmocka_unit_test(each_unit_once),
        cmocka_unit_test(too_many_jumps),
    };
    return cmocka_run_group_tests_name("rest", tests, NULL, NULL);
}
