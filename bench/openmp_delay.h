/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The delay of 0.1 us that programs of openmp_*_bench have in each iteration, as EPCC's have: so
 * many rounds of nothing. Found by each program for itself they are 77 to 124 from one start to the
 * next, which is more than what is asked for; so who starts them says how many it is for all.
 */
#ifndef MEDLEY_BENCH_OPENMP_DELAY_H
#define MEDLEY_BENCH_OPENMP_DELAY_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define DELAY_NS 100
#define DELAY_ROUNDS_NAME "MEDLEY_BENCH_DELAY_ROUNDS" /* in the environment */

static inline uint64_t
delay_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void
delay_by(uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) {
        __asm__ volatile("" : : "r"(i));
    }
}

/* The shortest of so many tries. */
static inline uint64_t
delay_rounds_measure(int tries)
{
    const uint64_t many = 500000;
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < tries; i++) {
        uint64_t begin_ns = delay_now_ns();
        delay_by(many);
        uint64_t took_ns = delay_now_ns() - begin_ns;
        best_ns = took_ns < best_ns ? took_ns : best_ns;
    }
    return many * DELAY_NS / (best_ns + 1) + 1;
}

/* As the environment has it; or as it is found here. */
static inline uint64_t
delay_rounds_get(void)
{
    const char *told = getenv(DELAY_ROUNDS_NAME);
    unsigned long long rounds = told ? strtoull(told, NULL, 10) : 0;
    return rounds ? rounds : delay_rounds_measure(10);
}

#endif
