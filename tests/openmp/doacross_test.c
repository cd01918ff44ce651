/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loops whose iterations wait for single earlier ones: each finds what these have left, with every
 * schedule and chunk, in one dimension and in three; and what a loop's threads have in common. */
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "support/unit.h"

#define THREADS 4
#define LINES 37
#define COLUMNS 11

static long sums[LINES + 1][COLUMNS + 1];

static void
clear(void)
{
    memset(sums, 0, sizeof sums);
    for (int i = 0; i <= LINES; i++) {
        sums[i][0] = 1;
    }
    for (int i = 0; i <= COLUMNS; i++) {
        sums[0][i] = 1;
    }
}

static void
check(void)
{
    long right[LINES + 1][COLUMNS + 1];
    for (int i = 0; i <= LINES; i++) {
        for (int j = 0; j <= COLUMNS; j++) {
            right[i][j] = i && j ? (right[i - 1][j] + 3 * right[i][j - 1]) % 1000 : 1;
            assert_int_equal(sums[i][j], right[i][j]);
        }
    }
}

#define TABLE(type, clause)                                                                        \
    clear();                                                                                       \
    _Pragma("omp parallel num_threads(THREADS)")                                                   \
    {                                                                                              \
        clause for (type i = 1; i <= LINES; i++)                                                   \
        {                                                                                          \
            for (type j = 1; j <= COLUMNS; j++) {                                                  \
                _Pragma("omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)")             \
                    sums[i][j] = (sums[i - 1][j] + 3 * sums[i][j - 1]) % 1000;                     \
                _Pragma("omp ordered depend(source)")                                              \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    check();

static void
each_iteration_finds_those_before(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        TABLE(int, _Pragma("omp for ordered(2) schedule(static)"))
        TABLE(long, _Pragma("omp for ordered(2) schedule(static, 1)"))
        TABLE(int, _Pragma("omp for ordered(2) schedule(static, 3)"))
        TABLE(int, _Pragma("omp for ordered(2) schedule(dynamic)"))
        TABLE(unsigned long long, _Pragma("omp for ordered(2) schedule(dynamic, 4)"))
        TABLE(int, _Pragma("omp for ordered(2) schedule(guided, 2)"))
        omp_set_schedule(round % 2 ? omp_sched_dynamic : omp_sched_static, 1 + round % 5);
        TABLE(unsigned long long, _Pragma("omp for ordered(2) schedule(runtime)"))
    }
}

/* Whose outer loops are one: a member's part begins in the middle of a line. */
static void
each_iteration_of_collapsed_loops_too(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        TABLE(int, _Pragma("omp for ordered(2) collapse(2) schedule(static)"))
        TABLE(int, _Pragma("omp for ordered(2) collapse(2) schedule(static, 7)"))
        TABLE(long, _Pragma("omp for ordered(2) collapse(2) schedule(dynamic, 3)"))
        TABLE(int, _Pragma("omp for ordered(2) collapse(2) schedule(guided)"))
    }
}

static void
three_dimensions_go_backwards_and_in_steps(void **state)
{
    static int done[9][9][9];
    int wrong = 0;
    (void)state;
    memset(done, 0, sizeof done);
#pragma omp parallel for num_threads(THREADS) ordered(3) schedule(dynamic) reduction(+ : wrong)
    for (int i = 8; i >= 0; i--) {
        for (int j = 0; j < 9; j += 2) {
            for (int k = 8; k >= 2; k -= 3) {
#pragma omp ordered depend(sink : i + 1, j, k) depend(sink : i + 1, j - 2, k + 3)
                wrong += i < 8 && !done[i + 1][j][k];
                wrong += i < 8 && j >= 2 && k < 8 && !done[i + 1][j - 2][k + 3];
                done[i][j][k] = 1;
#pragma omp ordered depend(source)
            }
        }
    }
    assert_int_equal(wrong, 0);
}

/* As a scan leaves it: what a loop's threads have in common. */
static void
prefix_sums_are_right(void **state)
{
    enum {
        COUNT = 1000
    };
    static int in[COUNT], out[COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        in[i] = i % 7;
    }
    for (int round = 0; round < 30; round++) {
        int sum = 0;
        int last = -1;
#pragma omp parallel for num_threads(1 + round % 6) reduction(inscan, + : sum)
        for (int i = 0; i < COUNT; i++) {
            sum += in[i];
#pragma omp scan inclusive(sum)
            out[i] = sum;
        }
#pragma omp parallel for num_threads(1 + round % 6) lastprivate(conditional : last)
        for (int i = 0; i < COUNT; i++) {
            if (in[i] == 3) {
                last = i;
            }
        }
        int right = 0;
        int right_last = -1;
        for (int i = 0; i < COUNT; i++) {
            right += in[i];
            right_last = in[i] == 3 ? i : right_last;
            assert_int_equal(out[i], right);
        }
        assert_int_equal(last, right_last);
    }
}

#ifndef __clang__
/* As gcc calls it for these. */
bool GOMP_loop_start(long start,
                     long end,
                     long step,
                     long kind,
                     long chunk,
                     long *first,
                     long *behind,
                     uintptr_t *reductions,
                     void **memory);
void GOMP_loop_end(void);

static void
memory_in_common_is_zeroed_each_time(void **state)
{
    enum {
        BYTES = 200
    };
    char *of_first = NULL;
    int wrong = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    for (int round = 0; round < 50; round++) {
        void *memory = (void *)(uintptr_t)(BYTES - round % 3);
        wrong += !GOMP_loop_start(0, 0, 1, 1, 0, NULL, NULL, NULL, &memory);
        char *bytes = memory;
#pragma omp single
        of_first = bytes;
        wrong += of_first != bytes;
        for (int i = 0; i < BYTES - 2; i++) {
            wrong += bytes[i] != 0;
        }
#pragma omp barrier
#pragma omp single
        memset(bytes, 1, BYTES - 2);
        GOMP_loop_end();
    }
    assert_int_equal(wrong, 0);
}
#endif

/* The one before, by an unsigned number that gcc 12 takes for 2^32 more: nobody waits for it. */
static void
an_iteration_that_there_is_not(void **state)
{
    int executed = 0;
    (void)state;
#pragma omp parallel for num_threads(THREADS) ordered(2) reduction(+ : executed)
    for (unsigned i = 1; i < 100; i++) {
        for (int j = 4; j > 0; j--) {
#pragma omp ordered depend(sink : i - 1, j)
            executed++;
#pragma omp ordered depend(source)
        }
    }
    assert_int_equal(executed, 396);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_iteration_finds_those_before),
        cmocka_unit_test(each_iteration_of_collapsed_loops_too),
        cmocka_unit_test(three_dimensions_go_backwards_and_in_steps),
        cmocka_unit_test(prefix_sums_are_right),
        cmocka_unit_test(an_iteration_that_there_is_not),
#ifndef __clang__
        cmocka_unit_test(memory_in_common_is_zeroed_each_time),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
