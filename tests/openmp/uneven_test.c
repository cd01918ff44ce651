/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loops that are shared out by the speed of cores, which the environment says to be of two classes:
 * each iteration once, whatever is probed when; as told; the same ones on the same core. Each in a
 * child, since the environment is read once. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "openmp/uneven.h"
#include "support/unit.h"

#define MOST 18000
#define THREADS_MOST 20

/* ---- As told --------------------------------------------------------------------------------- */

static int owners[3][MOST];

static void
loop_noted(int *owner, int count)
{
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < count; i++) {
        owner[i] = omp_get_thread_num();
    }
}

static bool
parts_of_figure_6(void)
{
    int parts[THREADS_MOST] = {0};
    for (int round = 0; round < 3; round++) {
        loop_noted(owners[round], MOST);
    }
    for (int i = 0; i < MOST; i++) {
        parts[owners[0][i]]++;
    }
    for (int i = 0; i < THREADS_MOST; i++) {
        int most = i < 4 ? 1929 : 643; /* four on the first processor, sixteen on the other */
        if (parts[i] != most && parts[i] != most - 1) {
            return false;
        }
    }
    return memcmp(owners[0], owners[1], sizeof owners[0]) == 0 &&
           memcmp(owners[0], owners[2], sizeof owners[0]) == 0;
}

static void
ratios_as_told(void **state)
{
    static const variable told[] = {{"MEDLEY_CSR", "3:1"},
                                    {"OMP_PLACES", "{0},{1},{1},{1},{1}"},
                                    {"OMP_NUM_THREADS", "20"},
                                    {"OMP_SCHEDULE", "hetprobe"}};
    (void)state;
    assert_true(WITH(told, parts_of_figure_6));
}

/* Neither bound nor several classes: as static has it. */
static bool
equal_parts(void)
{
    loop_noted(owners[0], 1000);
    for (int i = 0; i < 1000; i++) {
        if (owners[0][i] != i / 250) {
            return false;
        }
    }
    return true;
}

static void
where_there_is_nothing_to_tell_apart(void **state)
{
    static const variable unbound[] = {{"OMP_PROC_BIND", "false"},
                                       {"MEDLEY_CSR", "3:1"},
                                       {"OMP_NUM_THREADS", "4"},
                                       {"OMP_SCHEDULE", "hetprobe"}};
    static const variable one[] = {{"OMP_PLACES", "{0}"},
                                   {"MEDLEY_CSR", "3:1"},
                                   {"OMP_NUM_THREADS", "4"},
                                   {"OMP_SCHEDULE", "hetprobe-i"}};
    (void)state;
    assert_true(WITH(unbound, equal_parts));
    assert_true(WITH(one, equal_parts));
}

/* ---- Each iteration once --------------------------------------------------------------------- */

static int executed[MOST];
static volatile long spent;

/* Long enough for a probe to be worth it, and on the second half of the threads twice that. */
static void
work_some(void)
{
    int rounds = 2 * omp_get_thread_num() < omp_get_num_threads() ? 150 : 300;
    for (int i = 0; i < rounds; i++) {
        (void)spent;
    }
}

static bool
all_once(long count)
{
    for (long i = 0; i < MOST; i++) {
        if (executed[i] != (i < count)) {
            return false;
        }
    }
    memset(executed, 0, sizeof executed);
    return true;
}

/* Upwards and downwards, of several types, to their ends, with and without a wait behind it. */
static bool
each_once(void)
{
    bool holds = true;
    for (int round = 0; round < 25 && holds; round++) {
        const int count = round % 3 == 0 ? 37 * round + 1 : 600 * (round + 1);
        const long first = -7, step = 3;
        const unsigned long long most = ~0ull;
        long last = -1, last_down = -1;
        int past = 0;
#pragma omp parallel
        {
#pragma omp for schedule(runtime) lastprivate(last) nowait
            for (long at = first; at < first + count * step; at += step) {
                executed[(at - first) / step]++;
                last = at;
                work_some();
            }
#pragma omp atomic
            past++;
#pragma omp barrier
#pragma omp single
            holds &= all_once(count);
#pragma omp for schedule(runtime) lastprivate(last_down)
            for (long at = count; at > 0; at--) {
                executed[count - at]++;
                last_down = at;
                work_some();
            }
#pragma omp single
            holds &= all_once(count);
#pragma omp for schedule(runtime)
            for (unsigned long long at = most - (unsigned long long)count; at < most; at++) {
                executed[at - (most - (unsigned long long)count)]++;
                work_some();
            }
#pragma omp for schedule(runtime)
            for (int at = 0; at < round - 24; at++) { /* none */
                executed[0]++;
            }
        }
        holds &= all_once(count) && past == omp_get_max_threads() &&
                 (count == 0 || (last == first + (count - 1) * step && last_down == 1));
    }
    return holds;
}

static const char *const schedules[] = {"hetprobe", "hetprobe-i", "monotonic:hetprobe-i", "steal",
                                        "steal,7"};
#define SCHEDULES (sizeof schedules / sizeof schedules[0])

static void
each_iteration_once(void **state)
{
    static const char *const threads[] = {"2", "5"};
    static const char *const percents[] = {"10", "50", "100"};
    (void)state;
    for (uint32_t i = 0; i < SCHEDULES * 6; i++) {
        const variable v[] = {{"OMP_SCHEDULE", schedules[i % SCHEDULES]},
                              {"OMP_NUM_THREADS", threads[i / SCHEDULES % 2]},
                              {"MEDLEY_PROBE_PERCENT", percents[i / SCHEDULES / 2]},
                              {"OMP_HET_PTG", i % 2 ? "3" : "10"}};
        if (!WITH(v, each_once)) {
            fail_msg("%s, %s threads, %s %%", v[0].value, v[1].value, v[2].value);
        }
    }
}

/* Dynamic and guided loops are taken over; ordered ones keep their order, cancelled ones end. */
static bool
taken_over(void)
{
    int next = 0, wrong = 0;
    bool holds = true;
    for (int round = 0; round < 10; round++) {
#pragma omp parallel for schedule(dynamic, 3)
        for (int i = 0; i < 2000; i++) {
            executed[i]++;
            work_some();
        }
        holds &= all_once(2000);
#pragma omp parallel for schedule(guided)
        for (int i = 0; i < 2000; i++) {
            executed[i]++;
            work_some();
        }
        holds &= all_once(2000);
        next = 0;
#pragma omp parallel for schedule(runtime) ordered
        for (int i = 0; i < 300; i++) {
#pragma omp ordered
            wrong += next++ != i;
        }
#pragma omp parallel
        {
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 2000; i++) {
                executed[i]++;
                work_some();
#pragma omp cancel for if (i % 500 == 99)
            }
        }
        for (int i = 0; i < 2000; i++) {
            wrong += executed[i] > 1;
            executed[i] = 0;
        }
#pragma omp parallel num_threads(2)
#pragma omp parallel for schedule(dynamic) num_threads(2)
        for (int i = 0; i < 300; i++) {
#pragma omp atomic
            executed[i]++;
            work_some();
        }
        for (int i = 0; i < 300; i++) {
            wrong += executed[i] != 2;
            executed[i] = 0;
        }
    }
    return holds && wrong == 0;
}

static void
loops_that_name_no_such_schedule(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SCHEDULES; i++) {
        const variable v[] = {{"MEDLEY_SCHEDULE", schedules[i]},
                              {"OMP_CANCELLATION", "true"},
                              {"OMP_MAX_ACTIVE_LEVELS", "2"},
                              {"OMP_NUM_THREADS", "4"}};
        if (!WITH(v, taken_over)) {
            fail_msg("MEDLEY_SCHEDULE=%s", v[0].value);
        }
    }
}

/* ---- Measured -------------------------------------------------------------------------------- */

/* Nobody is waited for: one member comes to the loop when another has left it. */
static bool
one_comes_late(void)
{
    bool holds = true;
    for (int round = 0; round < 20; round++) {
        int left = 0;
#pragma omp parallel num_threads(2)
        {
            int seen = omp_get_thread_num() == 0;
            while (!seen) {
#pragma omp atomic read seq_cst
                seen = left;
            }
#pragma omp for schedule(runtime) nowait
            for (int i = 0; i < 3000; i++) {
                executed[i]++;
                work_some();
            }
#pragma omp atomic write seq_cst
            left = 1;
        }
        holds &= all_once(3000);
    }
    return holds;
}

static void
nobody_is_waited_for(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SCHEDULES; i++) {
        const variable v[] = {{"OMP_SCHEDULE", schedules[i]}};
        if (!WITH(v, one_comes_late)) {
            fail_msg("OMP_SCHEDULE=%s", v[0].value);
        }
    }
}

/* Once it is probed often enough each thread has the same iterations again and again. */
static bool
stays(void)
{
    for (int round = 0; round < 8; round++) {
#pragma omp parallel for schedule(runtime)
        for (int i = 0; i < 3000; i++) {
            owners[round < 5 ? 0 : 1][i] = omp_get_thread_num();
            work_some();
        }
        if (round > 5 && memcmp(owners[0], owners[1], sizeof owners[0]) != 0) {
            return false;
        }
        memcpy(owners[0], owners[1], sizeof owners[0]);
    }
    return true;
}

static void
the_same_iterations_again(void **state)
{
    static const variable v[] = {
        {"OMP_SCHEDULE", "hetprobe"}, {"OMP_NUM_THREADS", "5"}, {"MEDLEY_MAX_PROBES", "5"}};
    (void)state;
    assert_true(WITH(v, stays));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratios_as_told),
        cmocka_unit_test(where_there_is_nothing_to_tell_apart),
        cmocka_unit_test(each_iteration_once),
        cmocka_unit_test(loops_that_name_no_such_schedule),
        cmocka_unit_test(nobody_is_waited_for),
        cmocka_unit_test(the_same_iterations_again),
    };
    if (!uneven_is_possible()) {
        return 0;
    }
    return cmocka_run_group_tests_name("loops on unlike cores", tests, NULL, NULL);
}
