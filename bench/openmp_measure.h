/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the programs that openmp_*_bench run on one runtime after the other share: medians, a delay
 * and arguments. They are built as a user's are, by gcc.
 */
#ifndef MEDLEY_BENCH_OPENMP_MEASURE_H
#define MEDLEY_BENCH_OPENMP_MEASURE_H

#include <omp.h>
#include <stdbool.h>
#include <stdio.h>

#include "openmp_delay.h"

#define MEASURE_PASSES 5

static uint64_t measure_delay_rounds;

static inline void
measure_delay(void)
{
    delay_by(measure_delay_rounds);
}

/* The median of a few passes: one that was disturbed does not count. */
static inline uint64_t
measure_median_ns(void (*pass)(void *context), void *context)
{
    uint64_t took_ns[MEASURE_PASSES];
    for (int i = 0; i < MEASURE_PASSES; i++) {
        uint64_t begin_ns = delay_now_ns();
        pass(context);
        uint64_t this_ns = delay_now_ns() - begin_ns;
        int at = i;
        for (; at > 0 && took_ns[at - 1] > this_ns; at--) {
            took_ns[at] = took_ns[at - 1];
        }
        took_ns[at] = this_ns;
    }
    return took_ns[MEASURE_PASSES / 2];
}

/* NAME THREADS REPETITIONS [KIND]: sets the threads and the delay, returns the repetitions.
 * Ends the program on wrong use. */
static inline int
measure_begin(int argc, char **argv)
{
    int threads = argc >= 3 ? atoi(argv[1]) : 0;
    int repetitions = argc >= 3 ? atoi(argv[2]) : 0;
    if (threads < 1 || repetitions < 1) {
        (void)fprintf(stderr, "usage: %s THREADS REPETITIONS [KIND]\n", argv[0]);
        exit(2);
    }
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
    measure_delay_rounds = delay_rounds_get();
    return repetitions;
}

#endif
