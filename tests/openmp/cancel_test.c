/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cancellation: of regions, out of barriers and in the middle of loops, of loops and sections; and
 * that the team is whole behind it. */
#include <omp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "support/unit.h"

#define THREADS 4

static void
team_is_whole(void)
{
    int came[THREADS] = {0};
    long sum = 0;
    int singles = 0;
#pragma omp parallel num_threads(THREADS)
    {
        came[omp_get_thread_num()]++;
#pragma omp barrier
#pragma omp for schedule(dynamic, 3) reduction(+ : sum)
        for (int i = 0; i < 100; i++) {
            sum += i;
        }
#pragma omp single
        singles++;
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(came[i], 1);
    }
    assert_int_equal(sum, 4950);
    assert_int_equal(singles, 1);
}

static void
waiting_members_leave_a_barrier(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        int behind = 0;
        int inside = 0;
#pragma omp parallel num_threads(THREADS)
        {
#pragma omp atomic
            inside++;
#pragma omp barrier
            if (omp_get_thread_num() == round % THREADS) {
#pragma omp cancel parallel
            }
#pragma omp barrier
#pragma omp atomic
            behind++;
        }
        assert_int_equal(inside, THREADS);
        assert_int_equal(behind, 0);
        if (round % 10 == 0) {
            team_is_whole();
        }
    }
}

/* Some have met constructs that others never will. */
static void
members_end_at_unlike_constructs(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        int done = 0;
#pragma omp parallel num_threads(THREADS)
        for (int k = 0; k < 6; k++) {
            if (omp_get_thread_num() == round % THREADS && k == round % 5) {
#pragma omp cancel parallel
            }
#pragma omp cancellation point parallel
#pragma omp single nowait
            {
#pragma omp atomic
                done++;
            }
#pragma omp for schedule(dynamic, 1) nowait
            for (int i = 0; i < 5; i++) {
#pragma omp atomic
                done++;
            }
        }
        assert_true(done <= 6 * 6);
        team_is_whole();
    }
}

static void
a_loop_ends_and_the_next_one_does_not(void **state)
{
    int first = 0;
    int second = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS)
    for (int round = 0; round < 200; round++) {
#pragma omp for schedule(static)
        for (int i = 0; i < 400; i++) {
            if (i % 100 == 5) {
#pragma omp cancel for
            }
#pragma omp atomic
            first++;
        }
#pragma omp for schedule(static)
        for (int i = 0; i < 400; i++) {
#pragma omp cancellation point for
#pragma omp atomic
            second++;
        }
    }
    assert_int_equal(first, 200 * 5 * THREADS);
    assert_int_equal(second, 200 * 400);
}

static void
loops_of_one_thread_end_too(void **state)
{
    int done = 0;
    (void)state;
#pragma omp parallel num_threads(1)
    for (int round = 0; round < 10; round++) {
#pragma omp for
        for (int i = 0; i < 100; i++) {
            if (i == 10 && round % 2) {
#pragma omp cancel for
            }
#pragma omp cancellation point for
            done++;
        }
    }
    assert_int_equal(done, 5 * 100 + 5 * 10);
}

static void
sections_are_cancelled(void **state)
{
    int behind = 0;
    (void)state;
    for (int round = 0; round < 100; round++) {
#pragma omp parallel num_threads(2)
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp cancel sections
                behind++;
            }
#pragma omp section
            {
                while (true) {
#pragma omp cancellation point sections
                }
            }
        }
    }
    assert_int_equal(behind, 0);
    team_is_whole();
}

static void
a_condition_decides(void **state)
{
    int behind = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp cancel parallel if (behind == 1000)
#pragma omp barrier
#pragma omp atomic
        behind++;
    }
    assert_int_equal(behind, THREADS);
}

/* ---- Who waits in a function that the compiler says nothing to ------------------------------- */

#define LONE __attribute__((noinline, noclone)) static

/* One cancels, all others wait for him in there. */
static void
cancelled_around(void (*wait)(void))
{
    for (int round = 0; round < 100; round++) {
        int behind = 0;
#pragma omp parallel num_threads(THREADS)
        {
            if (omp_get_thread_num() == round % THREADS) {
#pragma omp cancel parallel
            }
            wait();
#pragma omp atomic
            behind++;
        }
        assert_int_equal(behind, THREADS - 1);
        if (round % 10 == 0) {
            team_is_whole();
        }
    }
}

LONE void
at_two_barriers(void){
#pragma omp barrier
#pragma omp barrier
}

/* More constructs than anybody may be ahead of the slowest. */
LONE void in_many_loops(void)
{
    for (int loop = 0; loop < 30; loop++) {
#pragma omp for schedule(dynamic, 1) nowait
        for (int i = 0; i < THREADS; i++) {
            __asm__ volatile("");
        }
    }
}

static int in_turn;

LONE void
for_a_turn(void)
{
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 4 * THREADS; i++) {
#pragma omp ordered
        {
            int others;
#pragma omp atomic capture
            others = in_turn++;
            if (others) {
                abort(); /* ordered parts exclude each other, whatever is cancelled */
            }
#pragma omp atomic
            in_turn--;
        }
    }
}

LONE void
for_an_iteration(void)
{
#pragma omp for ordered(1) schedule(static, 1)
    for (int i = 0; i < 4 * THREADS; i++) {
#pragma omp ordered depend(sink : i - 1)
        __asm__ volatile("");
#pragma omp ordered depend(source)
    }
}

LONE void
for_a_copy(void)
{
    int *copied = NULL;
    int here = 7;
#pragma omp single copyprivate(copied)
    copied = &here;
    if (!copied) {
        abort();
    }
}

static void
who_waits_without_a_word_leaves_too(void **state)
{
    (void)state;
    cancelled_around(at_two_barriers);
    cancelled_around(in_many_loops);
    cancelled_around(for_a_turn);
    cancelled_around(for_an_iteration);
    cancelled_around(for_a_copy);
}

/* Who leaves a barrier that is none any more may meet the directive before others have left. */
static void
who_is_called_away_cancels_as_well(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
#pragma omp parallel num_threads(THREADS)
        {
            if (omp_get_thread_num() != round % THREADS) {
                at_two_barriers();
            }
#pragma omp cancel parallel
        }
        team_is_whole();
    }
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static int thing; /* that tasks depend on */

enum {
    BEGUN,
    MADE,    /* the task with a priority, which the other thread is to have; */
    WAITED,  /* its children; */
    STARTED, /* the first of them, by who cancels */
};

static void
await(const atomic32 *at, uint32_t step)
{
    while (atomic32_load_acquire(at) < step) {
        sched_yield();
    }
}

/* Its second child is ready in the queue of who executes the first one, behind another task there,
 * which its runner may not start. */
static void
wait_for_both(atomic32 *at)
{
#pragma omp task depend(out : thing)
    atomic32_store_release(at, STARTED);
#pragma omp task depend(in : thing)
    {
    }
    atomic32_store_release(at, WAITED);
    await(at, STARTED);
#pragma omp taskwait
}

static void
take_the_first(atomic32 *at)
{
#pragma omp task priority(1)
    wait_for_both(at);
    atomic32_store_release(at, MADE);
    await(at, WAITED);
    while (atomic32_load_acquire(at) < STARTED) {
#pragma omp taskyield
    }
}

static void
who_cancels_has_tasks_that_others_wait_for(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        atomic32 at;
        atomic32_store_relaxed(&at, BEGUN);
#pragma omp parallel num_threads(2) shared(at)
        {
            if (omp_get_thread_num() == 0) {
#pragma omp task
                sched_yield(); /* without lines it were none */
#pragma omp task if (0) shared(at)
                take_the_first(&at);
#pragma omp cancel parallel
            }
            await(&at, MADE);
#pragma omp barrier
        }
        assert_int_equal(atomic32_load_relaxed(&at), STARTED);
        team_is_whole();
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_members_leave_a_barrier),
        cmocka_unit_test(members_end_at_unlike_constructs),
        cmocka_unit_test(a_loop_ends_and_the_next_one_does_not),
        cmocka_unit_test(loops_of_one_thread_end_too),
        cmocka_unit_test(sections_are_cancelled),
        cmocka_unit_test(a_condition_decides),
        cmocka_unit_test(who_waits_without_a_word_leaves_too),
        cmocka_unit_test(who_is_called_away_cancels_as_well),
        cmocka_unit_test(who_cancels_has_tasks_that_others_wait_for),
    };
    /* Read at the first region. */
    if (setenv("OMP_CANCELLATION", "true", 1) != 0 ||
        setenv("OMP_MAX_TASK_PRIORITY", "1", 1) != 0) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
