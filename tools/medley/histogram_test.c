/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Histograms, beside the sorted times themselves. */
#include "tools/medley/histogram.h"

#include <stdlib.h>

#include "support/random.h"
#include "support/unit.h"

#define TIMES 20000u

static uint64_t times[TIMES];
static histogram whole, halves[2];

static int
by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Of all sizes alike, up to half an hour. */
static int
measure(void **state)
{
    test_random random = test_random_of(0);
    (void)state;
    for (uint32_t i = 0; i < TIMES; i++) {
        uint64_t word = (uint64_t)random_word(&random) << 32 | random_word(&random);
        times[i] = word >> (23 + random_below(&random, 41));
        histogram_add(&whole, times[i]);
        histogram_add(&halves[i % 2], times[i]);
    }
    qsort(times, TIMES, sizeof times[0], by_size);
    return 0;
}

/* Three digits: never less than the time itself, nor more than a thousandth above it. */
static void
shares_have_three_digits(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TIMES; i++) {
        uint64_t at = histogram_at(&whole, (i + 0.5) / TIMES);
        assert_in_range(at, times[i], times[i] + times[i] / 1000);
    }
    assert_int_equal(whole.total, TIMES);
    assert_int_equal(whole.least_ns, times[0]);
    assert_int_equal(whole.most_ns, times[TIMES - 1]);
    assert_int_equal(histogram_at(&whole, 1), times[TIMES - 1]);
}

static void
halves_merge(void **state)
{
    static histogram merged, empty;
    (void)state;
    histogram_merge(&merged, &empty);
    histogram_merge(&merged, &halves[0]);
    histogram_merge(&merged, &halves[1]);
    histogram_merge(&merged, &empty);
    assert_memory_equal(&merged, &whole, sizeof whole);
}

static void
powers_of_two_are_counted(void **state)
{
    (void)state;
    uint32_t i = 0;
    for (unsigned power = 0; power < 41; power++) {
        uint64_t from_ns = power ? UINT64_C(1) << power : 0, to_ns = UINT64_C(2) << power;
        uint32_t count = 0;
        for (; i < TIMES && times[i] < to_ns; i++) {
            count++;
        }
        assert_int_equal(histogram_between(&whole, from_ns, to_ns), count);
    }
    assert_int_equal(i, TIMES);
}

static void
nothing_is_too_long(void **state)
{
    static histogram h;
    (void)state;
    assert_int_equal(histogram_at(&h, 0.5), 0);
    histogram_add(&h, UINT64_MAX);
    histogram_add(&h, 1);
    assert_int_equal(h.total, 2);
    assert_int_equal(histogram_at(&h, 0.5), 1);
    assert_in_range(histogram_at(&h, 1), UINT64_C(1) << 40, UINT64_MAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_have_three_digits),
        cmocka_unit_test(halves_merge),
        cmocka_unit_test(powers_of_two_are_counted),
        cmocka_unit_test(nothing_is_too_long),
    };
    return cmocka_run_group_tests(tests, measure, NULL);
}
