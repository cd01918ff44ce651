/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A loop on unlike cores, as far as a machine of like ones can have it: on the later half of the
 * threads an iteration is twice the work. A program by itself, which openmp_uneven_bench runs:
 *
 *   openmp_uneven THREADS REPETITIONS even|shifts
 *
 * The loop has schedule(runtime). With `shifts` its first quarter is as said, and in the rest an
 * iteration is twice the work on the other half of the threads: what the loop's begin tells of the
 * cores is wrong for most of it.
 *
 * Writes the microseconds of the loop, once those are past that a schedule may learn by.
 * Exit: 1 when an iteration was left out or executed twice.
 */
#include <string.h>

#include "openmp_measure.h"

#define ITERATIONS 4000
#define LEARNS 20

static int repetitions;
static bool shifts;
static uint64_t executed; /* of all iterations: the sum of their weights, each time */

static void
work_at(int i, bool later_half)
{
    bool is_slow = later_half != (shifts && i >= ITERATIONS / 4);
    for (int turn = 0; turn < (is_slow ? 20 : 10); turn++) {
        measure_delay();
    }
}

static void
pass(void *context)
{
    const int *times = context;
    for (int i = 0; i < *times; i++) {
        uint64_t weights = 0;
#pragma omp parallel reduction(+ : weights)
        {
            bool later_half = 2 * omp_get_thread_num() >= omp_get_num_threads();
#pragma omp for schedule(runtime)
            for (int j = 0; j < ITERATIONS; j++) {
                work_at(j, later_half);
                weights += (uint64_t)(j + 1) * (uint64_t)(j + 1);
            }
        }
        executed += weights;
    }
}

int
main(int argc, char **argv)
{
    const char *kind = argc == 4 ? argv[3] : "";
    shifts = strcmp(kind, "shifts") == 0;
    repetitions = measure_begin(argc, argv);
    if (!shifts && strcmp(kind, "even") != 0) {
        return 2;
    }
    int learns = LEARNS;
    pass(&learns);
    uint64_t took_ns = measure_median_ns(pass, &repetitions);
    const uint64_t n = ITERATIONS;
    uint64_t times = (uint64_t)repetitions * MEASURE_PASSES + LEARNS;
    if (executed != times * (n * (n + 1) * (2 * n + 1) / 6)) {
        return 1;
    }
    (void)printf("%.3f\n", (double)took_ns / 1000 / repetitions);
    return 0;
}
