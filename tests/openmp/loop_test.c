/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loops: each iteration is executed once, whatever bounds, step, schedule and chunk, also where
 * they end at the end of their type; in an ordered one in its order. */
#include <limits.h>
#include <omp.h>
#include <stdbool.h>

#include "support/random.h"
#include "support/unit.h"

#define ITERATIONS 200
#define LOOPS 1000
/* omp_sched_t of Medley's own. */
#define STEAL ((omp_sched_t)102)
#define HETPROBE ((omp_sched_t)103)
#define HETPROBE_I ((omp_sched_t)104)

typedef struct loop_case {
    long start;
    long step;
    int count;
    int chunk;
    int threads;
    omp_sched_t schedule;
} loop_case;

static test_random numbers;

static int
some(int least, int most)
{
    return least + (int)(random_word(&numbers) % (uint32_t)(most - least + 1));
}

static loop_case
some_loop(void)
{
    static const omp_sched_t schedules[] = {
        omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto, STEAL,
        HETPROBE,         HETPROBE_I};
    loop_case c = {.count = some(0, ITERATIONS),
                   .step = some(1, 1000),
                   .chunk = some(0, 40),
                   .threads = some(1, 6),
                   .schedule = schedules[some(0, 6)]};
    long span = c.step * c.count;
    switch (some(0, 3)) {
    case 0:
        c.start = LONG_MAX - span; /* ends at the type's */
        break;
    case 1:
        c.start = LONG_MIN;
        break;
    default:
        c.start = some(-100000, 100000);
    }
    return c;
}

static void
executed_once(const int *executed, int count)
{
    for (int i = 0; i < ITERATIONS; i++) {
        assert_int_equal(executed[i], i < count);
    }
}

static void
each_iteration_once(void **state)
{
    (void)state;
    for (int i = 0; i < LOOPS; i++) {
        loop_case c = some_loop();
        int executed[ITERATIONS] = {0};
        omp_set_schedule(c.schedule, c.chunk);
        const long end = c.start + c.step * c.count;
#pragma omp parallel for schedule(runtime) num_threads(c.threads)
        for (long at = c.start; at < end; at += c.step) {
            executed[(at - c.start) / c.step]++;
        }
        executed_once(executed, c.count);
    }
}

static void
each_iteration_once_downwards(void **state)
{
    (void)state;
    for (int i = 0; i < LOOPS; i++) {
        loop_case c = some_loop();
        int executed[ITERATIONS] = {0};
        omp_set_schedule(c.schedule, c.chunk);
        const long first = c.start + c.step * c.count;
#pragma omp parallel num_threads(c.threads)
        {
#pragma omp for schedule(runtime)
            for (long at = first; at > c.start; at -= c.step) {
                executed[(first - at) / c.step]++;
            }
        }
        executed_once(executed, c.count);
    }
}

/* Whoever executes the last iteration, and whatever else. */
static void
the_last_value_is_kept(void **state)
{
    (void)state;
    for (int i = 0; i < LOOPS; i++) {
        loop_case c = some_loop();
        int last = -1, last_named = -1;
        c.count += c.count == 0; /* of none gcc has all threads write what is no value */
        omp_set_schedule(c.schedule, c.chunk);
#pragma omp parallel num_threads(c.threads)
        {
#pragma omp for schedule(runtime) lastprivate(last)
            for (int at = 0; at < c.count; at++) {
                last = at;
            }
#pragma omp for schedule(nonmonotonic : dynamic) lastprivate(last_named)
            for (int at = 0; at < c.count; at++) {
                last_named = at;
            }
        }
        assert_true(last == c.count - 1 && last_named == last);
    }
}

#define SIDE 12

/* Collapsed; one whose iterations become shorter; and a region's loop within. */
static void
nests_do_what_they_do_in_turn(void **state)
{
    (void)state;
    omp_set_max_active_levels(2);
    for (int i = 0; i < LOOPS; i++) {
        loop_case c = some_loop();
        int rows = some(0, SIDE), columns = some(0, SIDE), step = some(1, 3), kind = some(0, 2);
        int executed[SIDE * SIDE] = {0}, wanted[SIDE * SIDE] = {0};
        omp_set_schedule(c.schedule, c.chunk);
        for (int row = 0; row < rows; row++) {
            for (int column = kind == 1 ? row : 0; column < columns; column += step) {
                wanted[row * SIDE + column]++;
            }
        }
        if (kind == 0) {
#pragma omp parallel for collapse(2) schedule(runtime) num_threads(c.threads)
            for (int row = 0; row < rows; row++) {
                for (int column = 0; column < columns; column += step) {
                    executed[row * SIDE + column]++;
                }
            }
        } else if (kind == 1) {
#pragma omp parallel for schedule(runtime) num_threads(c.threads)
            for (int row = 0; row < rows; row++) {
                for (int column = row; column < columns; column += step) {
                    executed[row * SIDE + column]++;
                }
            }
        } else {
#pragma omp parallel for schedule(runtime) num_threads(1 + c.threads % 2)
            for (int row = 0; row < rows; row++) {
#pragma omp parallel for schedule(runtime) num_threads(1 + row % 3)
                for (int column = 0; column < columns; column += step) {
                    executed[row * SIDE + column]++;
                }
            }
        }
        assert_memory_equal(executed, wanted, sizeof executed);
    }
    omp_set_max_active_levels(1);
}

/* Unsigned, to the end of the type and from there. */
static void
each_iteration_once_unsigned(void **state)
{
    (void)state;
    for (int i = 0; i < LOOPS; i++) {
        loop_case c = some_loop();
        int executed[ITERATIONS] = {0};
        unsigned long long step = (unsigned long long)c.step;
        unsigned long long span = step * (unsigned long long)c.count;
        omp_set_schedule(c.schedule, c.chunk);
#pragma omp parallel num_threads(c.threads)
        {
#pragma omp for schedule(runtime)
            for (unsigned long long at = ULLONG_MAX - span; at < ULLONG_MAX; at += step) {
#pragma omp atomic
                executed[(at - (ULLONG_MAX - span)) / step]++;
            }
        }
        executed_once(executed, c.count);
    }
}

/* More of them than a team has places for, one after the other, and nobody waits in between. */
static void
constructs_overtake(void **state)
{
    enum {
        CONSTRUCTS = 400
    };
    static int executed[CONSTRUCTS][5];
    (void)state;
#pragma omp parallel num_threads(4)
    for (int i = 0; i < CONSTRUCTS; i++) {
#pragma omp for schedule(dynamic) nowait
        for (int j = 0; j < 5; j++) {
#pragma omp atomic
            executed[i][j]++;
        }
    }
    for (int i = 0; i < CONSTRUCTS * 5; i++) {
        assert_int_equal(executed[i / 5][i % 5], 1);
    }
}

static void
ordered_in_order(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        loop_case c = some_loop();
        int last = -1;
        int wrong = 0;
        omp_set_schedule(c.schedule, c.chunk);
#pragma omp parallel for ordered schedule(runtime) num_threads(c.threads)
        for (int j = 0; j < c.count; j++) {
            if (j % 3 != 0) { /* an iteration need not come to it */
#pragma omp ordered
                {
                    wrong += last >= j;
                    last = j;
                }
            }
        }
        assert_int_equal(wrong, 0);
        assert_true(c.count < 2 || last >= c.count - 2);
    }
}

/* A static loop's parts are the same each time, whoever is quick: programs rely on it. */
static void
static_parts_are_equal(void **state)
{
    int owner[ITERATIONS];
    int wrong = 0;
    (void)state;
    omp_set_schedule(omp_sched_static, 7);
#pragma omp parallel num_threads(5) reduction(+ : wrong)
    {
#pragma omp for schedule(runtime) nowait
        for (int i = 0; i < ITERATIONS; i++) {
            owner[i] = omp_get_thread_num();
        }
#pragma omp for schedule(runtime)
        for (int i = 0; i < ITERATIONS; i++) {
            wrong += owner[i] != omp_get_thread_num();
            wrong += owner[i] != i / 7 % 5;
        }
    }
    assert_int_equal(wrong, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_iteration_once),
        cmocka_unit_test(each_iteration_once_downwards),
        cmocka_unit_test(each_iteration_once_unsigned),
        cmocka_unit_test(nests_do_what_they_do_in_turn),
        cmocka_unit_test(the_last_value_is_kept),
        cmocka_unit_test(constructs_overtake),
        cmocka_unit_test(ordered_in_order),
        cmocka_unit_test(static_parts_are_equal),
    };
    numbers = test_random_of(0);
    return cmocka_run_group_tests_name("loops", tests, NULL, NULL);
}
