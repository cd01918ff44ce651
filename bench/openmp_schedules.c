/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What schedules of loops cost, by the method of EPCC's benchmarks: a loop of 128 iterations for
 * each thread, each a delay of 0.1 us, which is part of what is told. A program by itself, which
 * openmp_schedules_bench runs on one runtime after the other:
 *
 *   openmp_schedules THREADS REPETITIONS static|dynamic|guided
 *
 * Writes the nanoseconds of an iteration's turn (all threads have one at once), one line each:
 * static without a chunk, then with chunks of 1, 2, 4, ... 128.
 * Exit: 1 when an iteration was left out or executed twice.
 */
#include <string.h>

#include "openmp_measure.h"

#define ITERATIONS 128 /* for each thread */
#define CHUNK_MOST 128

static int repetitions;
static int iterations;
static uint64_t executed; /* of all iterations: the sum of their weights, each time */

/* Its weight: one that is left out is not made up for by another that is executed twice. */
static uint64_t
body(int i)
{
    measure_delay();
    return (uint64_t)(i + 1) * (uint64_t)(i + 1);
}

static void
executed_add(uint64_t weights)
{
#pragma omp atomic
    executed += weights;
}

static void
static_whole(int chunk)
{
    (void)chunk;
#pragma omp parallel
    {
        uint64_t weights = 0;
        for (int i = 0; i < repetitions; i++) {
#pragma omp for schedule(static)
            for (int j = 0; j < iterations; j++) {
                weights += body(j);
            }
        }
        executed_add(weights);
    }
}

static void
static_chunks(int chunk)
{
#pragma omp parallel
    {
        uint64_t weights = 0;
        for (int i = 0; i < repetitions; i++) {
#pragma omp for schedule(static, chunk)
            for (int j = 0; j < iterations; j++) {
                weights += body(j);
            }
        }
        executed_add(weights);
    }
}

static void
dynamic_chunks(int chunk)
{
#pragma omp parallel
    {
        uint64_t weights = 0;
        for (int i = 0; i < repetitions; i++) {
#pragma omp for schedule(dynamic, chunk)
            for (int j = 0; j < iterations; j++) {
                weights += body(j);
            }
        }
        executed_add(weights);
    }
}

static void
guided_chunks(int chunk)
{
#pragma omp parallel
    {
        uint64_t weights = 0;
        for (int i = 0; i < repetitions; i++) {
#pragma omp for schedule(guided, chunk)
            for (int j = 0; j < iterations; j++) {
                weights += body(j);
            }
        }
        executed_add(weights);
    }
}

/* ---- Measured -------------------------------------------------------------------------------- */

typedef struct schedule {
    void (*run)(int chunk);
    int chunk;
} schedule;

static void
pass(void *context)
{
    const schedule *s = context;
    s->run(s->chunk);
}

static void
tell(void (*run)(int chunk), int chunk)
{
    schedule s = {run, chunk};
    uint64_t n = (uint64_t)iterations;
    uint64_t times = (uint64_t)repetitions * (MEASURE_PASSES + 1);
    executed = 0;
    pass(&s);
    uint64_t took_ns = measure_median_ns(pass, &s);
    if (executed != times * (n * (n + 1) * (2 * n + 1) / 6)) {
        exit(1);
    }
    (void)printf("%.3f\n", (double)took_ns / repetitions / ITERATIONS);
}

int
main(int argc, char **argv)
{
    const char *kind = argc == 4 ? argv[3] : "";
    void (*run)(int chunk) = strcmp(kind, "static") == 0    ? static_chunks
                             : strcmp(kind, "dynamic") == 0 ? dynamic_chunks
                             : strcmp(kind, "guided") == 0  ? guided_chunks
                                                            : NULL;
    repetitions = measure_begin(argc, argv);
    iterations = ITERATIONS * omp_get_max_threads();
    if (!run) {
        return 2;
    }
    if (run == static_chunks) {
        tell(static_whole, 0);
    }
    for (int chunk = 1; chunk <= CHUNK_MOST; chunk *= 2) {
        tell(run, chunk);
    }
    return 0;
}
