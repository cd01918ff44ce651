/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Many more threads than processors: whoever waits for long sleeps for long, so that a crowd of
 * them leaves the processors alone; and in an ordered loop everybody gets his turn. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
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

/* In teams of which each next one needs more places to wait at, or fewer. */
static void
turns(void **state)
{
    (void)state;
    static const int sizes[] = {5, 20, 12, THREADS, 300, 40};
    static const omp_sched_t schedules[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
    for (int i = 0; i < 6 * 3 * 2; i++) {
        int next = 0, wrong = 0;
        omp_set_schedule(schedules[i % 3], 1 + i % 2 * 2);
#pragma omp parallel for ordered schedule(runtime) num_threads(sizes[i / 6])
        for (int j = 0; j < 1500; j++) {
#pragma omp ordered
            wrong += next++ != j;
        }
        assert_int_equal(wrong, 0);
        assert_int_equal(next, 1500);
    }
}

static __attribute__((noinline)) void
in_turn(int *next)
{
#pragma omp for ordered schedule(static, 1)
    for (int j = 0; j < 10 * THREADS; j++) {
#pragma omp ordered
        {
#pragma omp atomic /* where the region is cancelled nobody waits for his turn any more */
            ++*next;
        }
    }
}

/* Until so many others have come. */
static void
await(const int *came, int count)
{
    int now = 0;
    while (now < count) {
        (void)sched_yield();
#pragma omp atomic read
        now = *came;
    }
}

/* Who sleeps there goes on when the region is cancelled by the one whose turn it is: when none,
 * half or all of the others are on their way to sleep. */
static void
turns_cancelled(void **state)
{
    (void)state;
    for (int round = 0; round < 30; round++) {
        int next = 0, came = 0;
#pragma omp parallel num_threads(THREADS)
        {
            if (omp_get_thread_num() == 0) {
                await(&came, round % 3 * (THREADS - 1) / 2);
#pragma omp cancel parallel
            }
#pragma omp atomic
            came++;
            in_turn(&next);
        }
        int not_done = omp_get_cancellation() ? 10 : 0; /* those of who has cancelled */
        assert_int_equal(next, 10 * THREADS - not_done);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(between_two_regions),
                                       cmocka_unit_test(at_a_barrier), cmocka_unit_test(turns),
                                       cmocka_unit_test(turns_cancelled)};
    return cmocka_run_group_tests_name("crowd", tests, NULL, NULL);
}
