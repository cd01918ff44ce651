/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* As many tasks as there are threads may wait for each other, whatever was made before their
 * maker's last wait: tasks that are tiny, say, of which he had better offer none. */
#include <omp.h>
#include <sched.h>
#include <stdbool.h>

#include "support/unit.h"

#define ROUNDS 20
#define TINY 300
#define THREADS_MOST 4
#define PATIENCE_S 20.0 /* then they did not meet */

static int here, missed;

static bool
are_here(int threads)
{
    int count;
#pragma omp atomic read seq_cst
    count = here;
    return count >= threads;
}

static void
meet(int threads)
{
    double begin = omp_get_wtime();
#pragma omp atomic seq_cst
    here++;
    while (!are_here(threads)) {
        (void)sched_yield();
        if (omp_get_wtime() - begin > PATIENCE_S) {
#pragma omp atomic
            missed++;
            return;
        }
    }
}

static void
make_those_that_meet(int threads)
{
    here = 0;
    for (int i = 0; i < threads; i++) {
#pragma omp task firstprivate(threads)
        meet(threads);
    }
}

static void
tiny(void)
{
    for (volatile int i = 0; i < 30; i++) {
    }
}

static void
make_tiny(void)
{
    for (int i = 0; i < TINY; i++) {
#pragma omp task
        tiny();
    }
}

/* ---- What stands between --------------------------------------------------------------------- */

static void
wait_for_children(int threads)
{
    make_tiny();
#pragma omp taskwait
    make_those_that_meet(threads);
#pragma omp taskwait
}

static void
wait_for_a_group(int threads)
{
#pragma omp taskgroup
    make_tiny();
    make_those_that_meet(threads);
#pragma omp taskwait
}

static void
wait_for_dependences(int threads)
{
    for (int i = 0; i < TINY; i++) {
#pragma omp task depend(in : here)
        tiny();
    }
#pragma omp taskwait depend(inout : here)
    make_those_that_meet(threads);
#pragma omp taskwait
}

static void
wait_for_a_loop(int threads)
{
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < TINY; i++) {
        tiny();
    }
    make_those_that_meet(threads);
#pragma omp taskwait
}

typedef void (*part)(int threads);
static const part parts[] = {wait_for_children, wait_for_a_group, wait_for_dependences,
                             wait_for_a_loop};

static void
behind_a_wait(void **state)
{
    part between = *(const part *)*state;
    missed = 0;
    for (int threads = 2; threads <= THREADS_MOST; threads++) {
#pragma omp parallel num_threads(threads)
#pragma omp single
        for (int round = 0; round < ROUNDS && !missed; round++) {
            between(threads);
        }
    }
    assert_int_equal(missed, 0);
}

static void
behind_a_barrier(void **state)
{
    (void)state;
    missed = 0;
    for (int threads = 2; threads <= THREADS_MOST; threads++) {
#pragma omp parallel num_threads(threads)
        for (int round = 0; round < ROUNDS && !missed; round++) {
#pragma omp master
            make_tiny();
#pragma omp barrier
#pragma omp master
            make_those_that_meet(threads);
#pragma omp barrier
        }
    }
    assert_int_equal(missed, 0);
}

static void
behind_a_region(void **state)
{
    (void)state;
    missed = 0;
    for (int i = 0; i < ROUNDS * (THREADS_MOST - 1) && !missed; i++) {
        int threads = 2 + i / ROUNDS;
#pragma omp parallel num_threads(threads)
#pragma omp single
        make_tiny();
#pragma omp parallel num_threads(threads)
#pragma omp single
        make_those_that_meet(threads);
    }
    assert_int_equal(missed, 0);
}

#define BEHIND(wait, number)                                                                       \
    {                                                                                              \
#wait, behind_a_wait, NULL, NULL, (void *)(uintptr_t)&parts[number]                        \
    }

int
main(void)
{
    const struct CMUnitTest tests[] = {
        BEHIND(wait_for_children, 0),       BEHIND(wait_for_a_group, 1),
        BEHIND(wait_for_dependences, 2),    BEHIND(wait_for_a_loop, 3),
        cmocka_unit_test(behind_a_barrier), cmocka_unit_test(behind_a_region),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
