/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What directives of OpenMP cost, by the method of EPCC's benchmarks: each is executed many times
 * around a delay of 0.1 us, which is part of what is told. A program by itself, as gcc builds it,
 * which openmp_bench runs on one runtime after the other:
 *
 *   openmp_directives THREADS REPETITIONS
 *
 * Writes the nanoseconds of each in the order of the table below, one line each. Exit: 1 when
 * something was not executed as often as it should be.
 */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>

#include "openmp_delay.h"

static int repetitions;
static int threads;
static uint64_t delay_rounds;
static long counted; /* by what excludes others */
static omp_lock_t lock;

static void
delay(void)
{
    delay_by(delay_rounds);
}

/* ---- The directives: `repetitions` of each; of what excludes others, by all threads ---------- */

static void
parallel(void)
{
    for (int i = 0; i < repetitions; i++) {
#pragma omp parallel
        delay();
    }
}

static void
loop(void)
{
#pragma omp parallel
    for (int i = 0; i < repetitions; i++) {
#pragma omp for
        for (int j = 0; j < threads; j++) {
            delay();
        }
    }
}

static void
parallel_loop(void)
{
    for (int i = 0; i < repetitions; i++) {
#pragma omp parallel for
        for (int j = 0; j < threads; j++) {
            delay();
        }
    }
}

static void
barrier(void)
{
#pragma omp parallel
    for (int i = 0; i < repetitions; i++) {
        delay();
#pragma omp barrier
    }
}

static void
single(void)
{
#pragma omp parallel
    for (int i = 0; i < repetitions; i++) {
#pragma omp single
        delay();
    }
}

static void
critical(void)
{
#pragma omp parallel
    for (int i = 0; i < repetitions / threads; i++) {
#pragma omp critical
        {
            delay();
            counted++;
        }
    }
}

static void
locked(void)
{
#pragma omp parallel
    for (int i = 0; i < repetitions / threads; i++) {
        omp_set_lock(&lock);
        delay();
        counted++;
        omp_unset_lock(&lock);
    }
}

static void
ordered(void)
{
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < repetitions; i++) {
#pragma omp ordered
        {
            delay();
            counted++;
        }
    }
}

static void
reduction(void)
{
    for (int i = 0; i < repetitions; i++) {
        long sum = 0;
#pragma omp parallel reduction(+ : sum)
        {
            delay();
            sum++;
        }
        counted += sum;
    }
}

/* ---- Measured -------------------------------------------------------------------------------- */

typedef struct directive {
    void (*run)(void);
    bool excludes; /* and `counted` is how often it was executed */
    bool sums;     /* and `counted` is how often by all threads */
} directive;

static const directive directives[] = {
    {parallel, false, false}, {loop, false, false},   {parallel_loop, false, false},
    {barrier, false, false},  {single, false, false}, {critical, true, false},
    {locked, true, false},    {ordered, true, false}, {reduction, false, true},
};

static uint64_t
time_of(void (*run)(void))
{
    run();
    counted = 0;
    uint64_t begin_ns = delay_now_ns();
    run();
    return delay_now_ns() - begin_ns;
}

static bool
is_counted(const directive *d)
{
    long all = (long)repetitions * threads;
    return counted == (d->excludes ? repetitions : d->sums ? all : 0);
}

int
main(int argc, char **argv)
{
    threads = argc == 3 ? atoi(argv[1]) : 0;
    repetitions = argc == 3 ? atoi(argv[2]) : 0;
    if (threads < 1 || repetitions < threads || repetitions % threads != 0) {
        (void)fprintf(stderr, "usage: openmp_directives THREADS REPETITIONS (a multiple)\n");
        return 2;
    }
    omp_set_num_threads(threads);
    omp_init_lock(&lock);
    delay_rounds = delay_rounds_get();
    for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++) {
        uint64_t took_ns = time_of(directives[i].run);
        if (!is_counted(&directives[i])) {
            return 1;
        }
        (void)printf("%.3f\n", (double)took_ns / repetitions);
    }
    return 0;
}
