/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loops of tasks: each iteration is executed once, in tasks of the size that was asked for, and
 * behind the loop all are complete. */
#include <omp.h>
#include <string.h>

#include "support/unit.h"

#define THREADS 4
#define ROOM 400

static int done[ROOM];

static int
count_wrong(int count, int wanted)
{
    int wrong = 0;
    for (int i = 0; i < ROOM; i++) {
        wrong += done[i] != (i < count ? wanted : 0);
    }
    memset(done, 0, sizeof done);
    return wrong;
}

static void
each_iteration_is_executed_once(void **state)
{
    int wrong = 0;
    (void)state;
    for (int count = 0; count < ROOM; count += 7) {
#pragma omp parallel num_threads(1 + count % THREADS)
#pragma omp single
        {
#pragma omp taskloop
            for (int i = 0; i < count; i++) {
                done[i]++;
            }
            wrong += count_wrong(count, 1);
#pragma omp taskloop num_tasks(9)
            for (int i = count - 1; i >= 0; i--) {
                done[i]++;
            }
            wrong += count_wrong(count, 1);
#pragma omp taskloop grainsize(5) if (count % 2)
            for (unsigned long long i = 0; i < (unsigned long long)count; i++) {
                done[i]++;
            }
            wrong += count_wrong(count, 1);
#pragma omp taskloop grainsize(strict : 8)
            for (long i = 3; i < 3 + 2L * count; i += 2) {
                done[(i - 3) / 2]++;
            }
            wrong += count_wrong(count, 1);
        }
    }
    assert_int_equal(wrong, 0);
}

/* Neither of size 0, nor none, can be: they are then as many as without a word of it. */
static void
what_cannot_be_asked_for_is_not_asked_for(void **state)
{
    volatile int none = 0; /* a constant would be refused by the compiler */
    int wrong = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
#pragma omp taskloop grainsize(none)
        for (int i = 0; i < 100; i++) {
            done[i]++;
        }
        wrong += count_wrong(100, 1);
#pragma omp taskloop grainsize(strict : none)
        for (unsigned long long i = 0; i < 100; i++) {
            done[i]++;
        }
        wrong += count_wrong(100, 1);
#pragma omp taskloop num_tasks(none)
        for (int i = 0; i < 100; i++) {
            done[i]++;
        }
        wrong += count_wrong(100, 1);
    }
    assert_int_equal(wrong, 0);
}

/* How many begin with each iteration tells what the tasks were. */
static void
tasks_have_the_size_asked_for(void **state)
{
    int tasks = 0, longest = 0, shortest = ROOM;
    (void)state;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
#pragma omp taskloop num_tasks(7) firstprivate(tasks) shared(done)
    for (int i = 0; i < 100; i++) {
        tasks++; /* its own: counts on from 0 in each task */
        done[i] = tasks;
    }
    for (int i = 0; i < 100; i++) {
        if (i == 99 || done[i + 1] == 1) {
            tasks++;
            longest = done[i] > longest ? done[i] : longest;
            shortest = done[i] < shortest ? done[i] : shortest;
        }
    }
    memset(done, 0, sizeof done);
    assert_int_equal(tasks, 7);
    assert_int_equal(longest, 15);
    assert_int_equal(shortest, 14);
}

static void
a_loop_may_be_waited_for_later(void **state)
{
    (void)state;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
#pragma omp taskloop nogroup grainsize(3)
        for (int i = 0; i < 200; i++) {
            done[i]++;
        }
#pragma omp taskwait
#pragma omp taskloop nogroup final(1)
        for (int i = 0; i < 200; i++) {
            done[i] += omp_in_final();
        }
    }
    assert_int_equal(count_wrong(200, 2), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_iteration_is_executed_once),
        cmocka_unit_test(what_cannot_be_asked_for_is_not_asked_for),
        cmocka_unit_test(tasks_have_the_size_asked_for),
        cmocka_unit_test(a_loop_may_be_waited_for_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
