/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the programs that openmp_*_bench run on one runtime after the other share: a clock, a delay
 * of 0.1 us (as EPCC's benchmarks have), and arguments. They are built as a user's are, by gcc.
 */
#ifndef MEDLEY_BENCH_OPENMP_MEASURE_H
#define MEDLEY_BENCH_OPENMP_MEASURE_H

#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MEASURE_DELAY_NS 100
#define MEASURE_PASSES 5

static uint64_t measure_delay_rounds;

static inline uint64_t
measure_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void
measure_delay_by(uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) {
        __asm__ volatile("" : : "r"(i));
    }
}

static inline void
measure_delay(void)
{
    measure_delay_by(measure_delay_rounds);
}

static inline void
measure_delay_calibrate(void)
{
    const uint64_t many = 500000;
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < 10; i++) {
        uint64_t begin_ns = measure_now_ns();
        measure_delay_by(many);
        uint64_t took_ns = measure_now_ns() - begin_ns;
        best_ns = took_ns < best_ns ? took_ns : best_ns;
    }
    measure_delay_rounds = many * MEASURE_DELAY_NS / (best_ns + 1) + 1;
}

/* The median of a few passes: one that was disturbed does not count. */
static inline uint64_t
measure_median_ns(void (*pass)(void *context), void *context)
{
    uint64_t took_ns[MEASURE_PASSES];
    for (int i = 0; i < MEASURE_PASSES; i++) {
        uint64_t begin_ns = measure_now_ns();
        pass(context);
        uint64_t this_ns = measure_now_ns() - begin_ns;
        int at = i;
        for (; at > 0 && took_ns[at - 1] > this_ns; at--) {
            took_ns[at] = took_ns[at - 1];
        }
        took_ns[at] = this_ns;
    }
    return took_ns[MEASURE_PASSES / 2];
}

/* NAME THREADS REPETITIONS [KIND]: sets the threads, calibrates the delay, returns the repetitions.
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
    measure_delay_calibrate();
    return repetitions;
}

#endif
