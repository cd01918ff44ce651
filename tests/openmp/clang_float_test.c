/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* By clang's names all who compute for a region round as who met it does, whatever they did in one
 * before; and he goes on so behind it. KMP_INHERIT_FP_CONTROL=false: each keeps his own. */
#include <fenv.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

#define THREADS 4

static bool
inherits(void)
{
    const char *value = getenv("KMP_INHERIT_FP_CONTROL");
    return !value || strcmp(value, "false") != 0;
}

/* By who is no leader, and by all. */
static int
others_that_round(int way)
{
    int count = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : count)
    count += omp_get_thread_num() > 0 && fegetround() == way;
    return count;
}

static void
all_set(int way)
{
#pragma omp parallel num_threads(THREADS)
    (void)fesetround(way);
}

/* What others do, where they keep their own, is what they did last. */
static void
as_the_leader(void **state)
{
    (void)state;
    (void)fesetround(FE_TONEAREST);
    all_set(FE_DOWNWARD);
    (void)fesetround(FE_UPWARD);
    assert_int_equal(others_that_round(FE_UPWARD), inherits() ? THREADS - 1 : 0);
    (void)fesetround(FE_TONEAREST);
    assert_int_equal(others_that_round(FE_TONEAREST), inherits() ? THREADS - 1 : 0);
    assert_int_equal(others_that_round(FE_DOWNWARD), inherits() ? 0 : THREADS - 1);
    all_set(FE_TONEAREST);
}

static void
leagues(void **state)
{
    int count = 0;
    (void)state;
    (void)fesetround(FE_UPWARD);
#pragma omp teams num_teams(2) thread_limit(2) reduction(+ : count)
    {
        (void)fesetround(FE_TOWARDZERO);
#pragma omp parallel num_threads(2) reduction(+ : count)
        count += omp_get_thread_num() == 1 && fegetround() == FE_TOWARDZERO;
    }
    assert_int_equal(count, inherits() ? 2 : 0);
    assert_int_equal(fegetround(), inherits() ? FE_UPWARD : FE_TOWARDZERO);
    (void)fesetround(FE_TONEAREST);
}

/* How many threads, and is it one region of several or one that is not worth it? */
static void
behind_it(int threads, bool is_worth_it)
{
    (void)fesetround(FE_UPWARD);
#pragma omp parallel num_threads(threads) if (is_worth_it)
    if (omp_get_thread_num() == 0) {
        (void)fesetround(FE_TOWARDZERO);
    }
    assert_int_equal(fegetround(), inherits() ? FE_UPWARD : FE_TOWARDZERO);
    (void)fesetround(FE_TONEAREST);
}

static void
the_leader_goes_on(void **state)
{
    (void)state;
    behind_it(THREADS, true);
    behind_it(1, true);
    behind_it(THREADS, false);
}

/* A fault that there was is no way to compute: it stays where it was. */
static void
faults_stay(void **state)
{
    int raised = 0;
    (void)state;
    (void)feclearexcept(FE_ALL_EXCEPT);
#pragma omp parallel num_threads(THREADS)
    (void)feclearexcept(FE_ALL_EXCEPT);
    (void)feraiseexcept(FE_DIVBYZERO);
    (void)fesetround(FE_UPWARD);
#pragma omp parallel num_threads(THREADS) reduction(+ : raised)
    raised += fetestexcept(FE_DIVBYZERO) != 0;
    assert_int_equal(raised, 1);
    assert_true(fetestexcept(FE_DIVBYZERO));
    (void)fesetround(FE_TONEAREST);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_leader),
        cmocka_unit_test(leagues),
        cmocka_unit_test(the_leader_goes_on),
        cmocka_unit_test(faults_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
