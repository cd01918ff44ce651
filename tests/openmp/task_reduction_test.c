/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reductions that tasks take part in: of groups, loops of tasks, regions, and worksharing
 * constructs. */
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

#if defined __clang__ && __clang_major__ < 17
#define HAS_SCOPE 0 /* a single section stands in for it */
#else
#define HAS_SCOPE 1
#endif
/* Of sections clang tells the size of one element (14 to 16, at least). */
#ifdef __clang__
#define WIDE wide
#else
#define WIDE wide [3:30]
#endif
#define THREADS 4
#define ROUNDS 25
#define COUNT 200
#define SUM (COUNT * (COUNT - 1) / 2)
#define WIDTH 37

/* ---- Groups ---------------------------------------------------------------------------------- */

/* The tasks' tasks take part, whoever executes them. */
static void
a_group_adds_up(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int sum = 5;
        double product = 3;
        long wide[WIDTH] = {0};
#pragma omp parallel num_threads(1 + round % THREADS)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum, WIDE) task_reduction(* : product)
        for (int i = 0; i < COUNT; i++) {
#pragma omp task in_reduction(+ : sum, WIDE) in_reduction(* : product)
            {
                sum += i;
                product *= i % 100 == 0 ? 2 : 1;
#pragma omp task in_reduction(+ : WIDE)
                wide[3 + i % 30] += i;
            }
        }
        assert_int_equal(sum, 5 + SUM);
        assert_int_equal((int)product, 12);
        for (int i = 0; i < WIDTH; i++) {
            long expected = 0;
            for (int k = i - 3; i >= 3 && i < 33 && k < COUNT; k += 30) {
                expected += k;
            }
            assert_int_equal(wide[i], expected);
        }
    }
}

/* The inner groups' original is a copy of the outer one's. */
static void
groups_stand_in_groups(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int sum = 0, most = 0;
#pragma omp parallel num_threads(1 + round % THREADS)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(max : most)
        for (int i = 0; i < 20; i++) {
#pragma omp task in_reduction(+ : sum) shared(most)
            {
#pragma omp taskgroup task_reduction(+ : sum)
                for (int k = 0; k < 10; k++) {
#pragma omp task in_reduction(+ : sum) in_reduction(max : most)
                    {
                        sum += i * 10 + k;
                        most = i * 10 + k > most ? i * 10 + k : most;
                    }
                }
            }
        }
        assert_int_equal(sum, SUM);
        assert_int_equal(most, COUNT - 1);
    }
}

typedef struct span {
    int least;
    int most;
} span;

static void
span_join(span *to, const span *with)
{
    to->least = with->least < to->least ? with->least : to->least;
    to->most = with->most > to->most ? with->most : to->most;
}

#pragma omp declare reduction(join:span                                                            \
                              : span_join(&omp_out, &omp_in)) initializer(omp_priv = omp_orig)

/* It begins as the original does, which the task is told of. */
static void
a_program_says_how(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        span of = {.least = 50, .most = 60};
#pragma omp parallel num_threads(1 + round % THREADS)
#pragma omp single
#pragma omp taskgroup task_reduction(join : of)
        for (int i = 7; i < 80; i++) {
#pragma omp task in_reduction(join : of)
            {
                const span one = {i, i};
                of.most = of.most < 60 ? -1000 : of.most; /* it would not begin so */
                span_join(&of, &one);
            }
        }
        assert_int_equal(of.least, 7);
        assert_int_equal(of.most, 79);
    }
}

static void
loops_of_tasks_add_up(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int sum = 1, nothing = 2;
        unsigned long long up = 0;
#pragma omp parallel num_threads(1 + round % THREADS)
#pragma omp single
        {
            int none = round - round;
#pragma omp taskloop reduction(+ : sum) grainsize(7)
            for (int i = 0; i < COUNT; i++) {
                sum += i;
            }
#pragma omp taskloop reduction(+ : nothing)
            for (int i = 0; i < none; i++) {
                nothing += i;
            }
#pragma omp taskgroup task_reduction(+ : up)
            {
#pragma omp taskloop in_reduction(+ : up) nogroup
                for (unsigned long long i = 0; i < COUNT; i++) {
                    up += i;
                }
            }
        }
        assert_int_equal(sum, 1 + SUM);
        assert_int_equal(nothing, 2);
        assert_int_equal((int)up, SUM);
    }
}

/* ---- Regions, worksharing constructs --------------------------------------------------------- */

static void
regions_add_up(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int sum = 3, loop = 0, threads = 1 + round % THREADS;
#pragma omp parallel num_threads(threads) reduction(task, + : sum)
        {
            sum++;
            for (int i = 0; i < COUNT; i++) {
#pragma omp task in_reduction(+ : sum)
                sum += i;
            }
        }
#pragma omp parallel for num_threads(threads) reduction(task, + : loop) schedule(dynamic)
        for (int i = 0; i < COUNT; i++) {
#pragma omp task in_reduction(+ : loop)
            loop += i;
        }
        assert_int_equal(sum, 3 + threads * (1 + SUM));
        assert_int_equal(loop, SUM);
    }
}

/* Many, since places come round; of unlike kinds, so that what is kept of one is another's. */
static void
worksharing_constructs_add_up(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int threads = 1 + round % THREADS, wrong = 0, sum = 0, few = 0;
        int scopes = HAS_SCOPE ? threads : 1;
        double wide[WIDTH];
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
        for (int time = 1; time <= 12; time++) {
#pragma omp single
            memset(wide, 0, sizeof wide);
#pragma omp for reduction(task, + : sum) schedule(guided)
            for (int i = 0; i < COUNT; i++) {
                sum++;
#pragma omp task in_reduction(+ : sum)
                sum += i;
            }
#pragma omp for reduction(task, + : wide) schedule(static) ordered
            for (int i = 0; i < WIDTH; i++) {
#pragma omp task in_reduction(+ : wide)
                wide[i] += i;
#pragma omp ordered
                wide[0] += 1;
            }
#pragma omp sections reduction(task, + : few)
            {
#pragma omp section
#pragma omp task in_reduction(+ : few)
                few += 1;
#pragma omp section
#pragma omp task in_reduction(+ : few)
                few += 10;
            }
#if HAS_SCOPE
#pragma omp scope reduction(task, + : few)
#else
#pragma omp sections reduction(task, + : few)
#endif
            {
#pragma omp task in_reduction(+ : few)
                few += 100;
            }
            wrong += sum != time * (COUNT + SUM) || few != time * (11 + 100 * scopes);
            for (int i = 0; i < WIDTH; i++) {
                wrong += wide[i] != (i == 0 ? WIDTH : i);
            }
#pragma omp barrier
        }
        assert_int_equal(wrong, 0);
    }
}

/* The last one's value, the reduction and the places that are waited for have one block. */
static void
a_construct_has_other_memory_as_well(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int sum = 0, last = -1, cells[COUNT + 1] = {1};
#pragma omp parallel num_threads(1 + round % THREADS)
        {
#pragma omp for reduction(task, + : sum) lastprivate(conditional : last) schedule(dynamic, 3)
            for (int i = 0; i < COUNT; i++) {
                if (i % 7 == 3) {
                    last = i;
                }
#pragma omp task in_reduction(+ : sum)
                sum += i;
            }
#pragma omp for ordered(1) reduction(task, + : sum) schedule(dynamic)
            for (int i = 0; i < COUNT; i++) {
#pragma omp ordered depend(sink : i - 1)
                cells[i + 1] = cells[i] + 1;
#pragma omp ordered depend(source)
#pragma omp task in_reduction(+ : sum)
                sum += i;
            }
        }
        assert_int_equal(sum, 2 * SUM);
        assert_int_equal(last, 199);
        assert_int_equal(cells[COUNT], COUNT + 1);
    }
}

/* ---- Cancelled ------------------------------------------------------------------------------- */

/* A construct that reduces is a part of the group around it. */
static void
groups_around_are_cancelled(void **state)
{
    int started = 0, behind = 0, sum = 0;
    (void)state;
#pragma omp parallel num_threads(2) reduction(+ : started, behind)
#pragma omp taskgroup
    {
#pragma omp for reduction(task, + : sum)
        for (int i = 0; i < 64; i++) {
            sum++;
#pragma omp task in_reduction(+ : sum)
            {
                sum += 0;
#pragma omp cancel taskgroup
                sum += 1000;
            }
        }
#pragma omp task shared(behind)
        behind++;
    }
    assert_int_equal(sum, 64);
    assert_int_equal(started, 0);
    assert_int_equal(behind, 0);
}

static void
a_cancelled_region_ends(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int sum = 0, threads = 1 + round % THREADS;
        for (int time = 0; time < 3; time++) {
#pragma omp parallel num_threads(threads)
            {
#pragma omp for reduction(task, + : sum) schedule(dynamic)
                for (int i = 0; i < COUNT; i++) {
#pragma omp task in_reduction(+ : sum)
                    sum += 1;
                }
#pragma omp cancel parallel if (time == 1)
#pragma omp for reduction(task, + : sum) schedule(dynamic)
                for (int i = 0; i < COUNT; i++) {
#pragma omp task in_reduction(+ : sum)
                    sum += 1;
#ifndef __clang__ /* goes past a barrier then that the others stay at, with its own library too */
#pragma omp cancel for if (time == 2 && i == 0)
#endif
                }
            }
        }
        assert_in_range(sum, COUNT * 4, COUNT * 5);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_adds_up),
        cmocka_unit_test(groups_stand_in_groups),
        cmocka_unit_test(a_program_says_how),
        cmocka_unit_test(loops_of_tasks_add_up),
        cmocka_unit_test(regions_add_up),
        cmocka_unit_test(worksharing_constructs_add_up),
        cmocka_unit_test(a_construct_has_other_memory_as_well),
        cmocka_unit_test(groups_around_are_cancelled),
        cmocka_unit_test(a_cancelled_region_ends),
    };
    /* Read at the first region. */
    if (setenv("OMP_CANCELLATION", "true", 1) != 0) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
