/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sets of processors: against a plain array of as many, and at the ends. */
#include "port/processor_set.h"

#include "support/unit.h"

#define LAST (MED_PROCESSORS_MAX - 1)

/* As long as it takes to meet each number of a word; the same at each start. */
static uint32_t
next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 12;
}

static void
is_what_an_array_would_be(void **state)
{
    static bool in[MED_PROCESSORS_MAX];
    med_processor_set set = {{0}};
    uint32_t random = 1;
    (void)state;
    for (uint32_t i = 0; i < 6000; i++) {
        uint32_t number = next_random(&random) % MED_PROCESSORS_MAX;
        in[number] = next_random(&random) % 4 == 0;
        (in[number] ? med_processor_set_put : med_processor_set_drop)(&set, number);
    }
    uint32_t count = 0;
    uint32_t next = med_processor_set_next(&set, 0);
    for (uint32_t i = 0; i < MED_PROCESSORS_MAX; i++) {
        assert_int_equal(med_processor_set_has(&set, i), in[i]);
        assert_int_equal(next == i, in[i]);
        assert_int_equal(med_processor_set_next(&set, i), next);
        next = in[i] ? med_processor_set_next(&set, i + 1) : next;
        count += in[i];
    }
    assert_int_equal(next, MED_PROCESSORS_MAX);
    assert_int_equal(med_processor_set_count(&set), count);
}

static void
the_ends(void **state)
{
    const med_processor_set none = {{0}};
    const med_processor_set first = med_processor_set_of(0), last = med_processor_set_of(LAST);
    (void)state;
    assert_int_equal(med_processor_set_next(&none, 0), MED_PROCESSORS_MAX);
    assert_int_equal(med_processor_set_next_round(&none, 7), MED_PROCESSORS_MAX);
    assert_int_equal(med_processor_set_next(&first, 1), MED_PROCESSORS_MAX);
    assert_int_equal(med_processor_set_next_round(&first, 1), 0);
    assert_int_equal(med_processor_set_next(&last, 0), LAST);
    assert_int_equal(med_processor_set_next(&last, LAST), LAST);
    assert_int_equal(med_processor_set_next(&last, LAST + 1), MED_PROCESSORS_MAX);
    assert_int_equal(med_processor_set_next_round(&last, LAST + 1), LAST);
    assert_int_equal(med_processor_set_next(&last, UINT32_MAX), MED_PROCESSORS_MAX);
}

static void
joined_and_cut(void **state)
{
    med_processor_set all = med_processor_set_of(3);
    const med_processor_set other = med_processor_set_of(64);
    (void)state;
    assert_true(med_processor_set_join(&all, &other));
    assert_false(med_processor_set_join(&all, &other));
    assert_int_equal(med_processor_set_count(&all), 2);
    assert_int_equal(med_processor_set_next(&all, 4), 64);
    assert_true(med_processor_set_cut(&all, &other));
    assert_int_equal(med_processor_set_count(&all), 1);
    const med_processor_set third = med_processor_set_of(3);
    assert_false(med_processor_set_cut(&all, &third));
    assert_int_equal(med_processor_set_count(&all), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_an_array_would_be),
        cmocka_unit_test(the_ends),
        cmocka_unit_test(joined_and_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
