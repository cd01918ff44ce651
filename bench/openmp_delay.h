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

/* The same lines at the same place in a line of the cache, wherever it is called: where they stood
 * in place of the call they took one or two cycles a round, as they happened to lie. */
static __attribute__((noinline, aligned(64))) void
delay_by(uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) {
        __asm__ volatile("" : : "r"(i));
    }
}

#define DELAY_TRIES 41

static inline int
delay_compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* By the median of some tries: the shortest may be twice as fast as the machine is as a rule. */
static inline uint64_t
delay_rounds_measure(void)
{
    const uint64_t many = 100000;
    uint64_t took_ns[DELAY_TRIES];
    for (int i = 0; i < DELAY_TRIES; i++) {
        uint64_t begin_ns = delay_now_ns();
        delay_by(many);
        took_ns[i] = delay_now_ns() - begin_ns;
    }
    qsort(took_ns, DELAY_TRIES, sizeof took_ns[0], delay_compare);
    return many * DELAY_NS / (took_ns[DELAY_TRIES / 2] + 1) + 1;
}

/* As the environment has it; or as it is found here. */
static inline uint64_t
delay_rounds_get(void)
{
    const char *told = getenv(DELAY_ROUNDS_NAME);
    unsigned long long rounds = told ? strtoull(told, NULL, 10) : 0;
    return rounds ? rounds : delay_rounds_measure();
}

#endif
