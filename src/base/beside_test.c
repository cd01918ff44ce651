/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who computes beside the process: found, for how long, tried, gone. By a clock of the test's. */
#include "base/beside.h"
#include "support/unit.h"

#define MS_NS UINT64_C(1000000)
#define MOST_MS 128u

static uint64_t now_ns;

uint64_t __wrap_med_port_clock_ns(void);
uint64_t
__wrap_med_port_clock_ns(void)
{
    return now_ns;
}

static void
pass_ms(uint64_t ms)
{
    now_ns += ms * MS_NS;
}

static void
is_for_others(uint64_t ms)
{
    pass_ms(ms - 1);
    assert_int_equal(med_beside_look(), MED_BESIDE_OTHERS);
    pass_ms(1);
}

static int
begin(void **state)
{
    (void)state;
    now_ns = 1000 * MS_NS;
    for (int i = 0; i < 16; i++) { /* nothing is left of the last test */
        med_beside_gone();
    }
    return 0;
}

static void
nobody_is_known_at_first(void **state)
{
    (void)state;
    assert_int_equal(med_beside_look(), MED_BESIDE_NOBODY);
    assert_false(med_beside_is_known());
    assert_false(med_beside_stay());
}

static void
one_tries_when_the_time_is_over(void **state)
{
    (void)state;
    med_beside_found(false);
    assert_true(med_beside_is_known());
    is_for_others(1);
    assert_int_equal(med_beside_look(), MED_BESIDE_TRY);
    assert_int_equal(med_beside_look(), MED_BESIDE_OTHERS);
    assert_int_equal(med_beside_look(), MED_BESIDE_OTHERS);
}

static void
found_again_they_stay_twice_as_long(void **state)
{
    (void)state;
    med_beside_found(false);
    for (uint64_t ms = 1; ms <= 4 * MOST_MS; ms *= 2) {
        is_for_others(ms < MOST_MS ? ms : MOST_MS);
        assert_int_equal(med_beside_stay(), ms >= 32);
        assert_int_equal(med_beside_look(), MED_BESIDE_TRY);
        med_beside_found(true);
    }
}

static void
what_another_has_found_is_not_found_twice(void **state)
{
    (void)state;
    med_beside_found(false);
    med_beside_found(false);
    med_beside_found(false);
    is_for_others(1);
    assert_int_equal(med_beside_look(), MED_BESIDE_TRY);
}

static void
gone_they_are_found_for_as_long_as_before(void **state)
{
    (void)state;
    med_beside_found(false);
    for (uint64_t ms = 1; ms <= 8; ms *= 2) {
        pass_ms(ms);
        assert_int_equal(med_beside_look(), MED_BESIDE_TRY);
        med_beside_found(true);
    }
    pass_ms(16);
    assert_int_equal(med_beside_look(), MED_BESIDE_TRY);
    med_beside_gone();
    assert_int_equal(med_beside_look(), MED_BESIDE_NOBODY);
    med_beside_found(false);
    is_for_others(16);
}

static void
who_had_nobody_to_give_way_to_leaves_it_to_another(void **state)
{
    (void)state;
    med_beside_found(false);
    pass_ms(1);
    assert_int_equal(med_beside_look(), MED_BESIDE_TRY);
    med_beside_untold();
    assert_int_equal(med_beside_look(), MED_BESIDE_TRY);
    assert_int_equal(med_beside_look(), MED_BESIDE_OTHERS);
}

static void
whoever_is_not_heard_of_again_is_followed_by_another(void **state)
{
    (void)state;
    med_beside_found(false);
    pass_ms(1);
    assert_int_equal(med_beside_look(), MED_BESIDE_TRY);
    pass_ms(32);
    assert_int_equal(med_beside_look(), MED_BESIDE_TRY);
}

/* The clock's milliseconds come round after 49 days. */
static void
the_clock_may_come_round(void **state)
{
    (void)state;
    now_ns = (uint64_t)UINT32_MAX * MS_NS;
    med_beside_found(false);
    assert_int_equal(med_beside_look(), MED_BESIDE_OTHERS);
    pass_ms(2);
    assert_int_equal(med_beside_look(), MED_BESIDE_TRY);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nobody_is_known_at_first, begin),
        cmocka_unit_test_setup(one_tries_when_the_time_is_over, begin),
        cmocka_unit_test_setup(found_again_they_stay_twice_as_long, begin),
        cmocka_unit_test_setup(what_another_has_found_is_not_found_twice, begin),
        cmocka_unit_test_setup(gone_they_are_found_for_as_long_as_before, begin),
        cmocka_unit_test_setup(who_had_nobody_to_give_way_to_leaves_it_to_another, begin),
        cmocka_unit_test_setup(whoever_is_not_heard_of_again_is_followed_by_another, begin),
        cmocka_unit_test_setup(the_clock_may_come_round, begin),
    };
    return cmocka_run_group_tests_name("beside", tests, NULL, NULL);
}
