/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Many more threads than processors: whoever waits for long sleeps for long, so that a crowd of
 * them leaves the processors alone. */
#define _GNU_SOURCE
#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/unit.h"

#define THREADS 100
#define LONG_US 1500000
/* Of 64 ms, and twice as long each time, four fit in there; of 64 ms at most, more than twenty. */
#define SLEEPS_MOST 12

/* So often a thread of this process gave up its processor by itself. */
static long
sleeps(void)
{
    struct rusage used;
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    return used.ru_nvcsw;
}

static long
sleeps_meanwhile(void)
{
    long before = sleeps();
    (void)usleep(LONG_US);
    return sleeps() - before;
}

static void
between_two_regions(void **state)
{
    (void)state;
    int came = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : came)
    came++;
    assert_int_equal(came, THREADS);
    assert_in_range(sleeps_meanwhile(), 0, THREADS * SLEEPS_MOST);
}

static void
at_a_barrier(void **state)
{
    (void)state;
    long slept = 0;
#pragma omp parallel num_threads(THREADS)
    {
        if (omp_get_thread_num() == 0) {
            slept = sleeps_meanwhile();
        }
#pragma omp barrier
    }
    assert_in_range(slept, 0, THREADS * SLEEPS_MOST);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(between_two_regions),
                                       cmocka_unit_test(at_a_barrier)};
    return cmocka_run_group_tests_name("crowd", tests, NULL, NULL);
}
