/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * EP of NAS's parallel benchmarks: pairs of random numbers become pairs of Gaussian deviates
 * (Marsaglia's polar method), which are added up and counted by square annulus. Threads share
 * nothing but the sums: each batch of pairs finds its place in the random sequence by itself.
 */
#include <math.h>

#include "program.h"

#define BATCH 65536 /* pairs */
#define ANNULI 10
#define SEED 271828183u

typedef struct problem {
    int log2_pairs;
    double sum_x, sum_y; /* as NAS published them */
} problem;

static const problem problems[] = {
    {24, -3.247834652034740e+3, -6.958407078382297e+3},
    {25, -2.863319731645753e+3, -6.320053679109499e+3},
    {28, -4.295875165629892e+3, -1.580732573678431e+4},
};

static double sum_x, sum_y;
static long annuli[ANNULI];

static void
batch_add(long batch, double *x, double *y, long *counts)
{
    uint64_t seed = program_random_skip(SEED, 2u * BATCH * (uint64_t)batch);
    for (int i = 0; i < BATCH; i++) {
        double u = 2 * program_random(&seed) - 1;
        double v = 2 * program_random(&seed) - 1;
        double square = u * u + v * v;
        if (square <= 1) {
            double scale = sqrt(-2 * log(square) / square);
            double a = u * scale, b = v * scale;
            counts[(int)fmax(fabs(a), fabs(b))]++;
            *x += a;
            *y += b;
        }
    }
}

static void
run(long batches)
{
    sum_x = sum_y = 0;
    memset(annuli, 0, sizeof annuli);
#pragma omp parallel for schedule(runtime) reduction(+ : sum_x, sum_y, annuli)
    for (long batch = 0; batch < batches; batch++)
        batch_add(batch, &sum_x, &sum_y, annuli);
}

static bool
is_near(double value, double wanted)
{
    return fabs((value - wanted) / wanted) <= 1e-8;
}

/* A size that NAS has no sums of: those of one thread, without OpenMP, and its counts. */
static bool
is_as_serial(problem *given, long batches)
{
    long counts[ANNULI] = {0};
    given->sum_x = given->sum_y = 0;
    for (long batch = 0; batch < batches; batch++)
        batch_add(batch, &given->sum_x, &given->sum_y, counts);
    return memcmp(counts, annuli, sizeof counts) == 0;
}

int
main(int argc, char **argv)
{
    static const program_about about = {"ep", "Gaussian deviates, NAS EP", "2^N pairs", 16, 36};
    program ep = program_begin(&about, argc, argv);
    problem given = {.log2_pairs = (int)ep.number};
    if (ep.class != PROGRAM_NO_CLASS)
        given = problems[ep.class];
    long batches = (1L << given.log2_pairs) / BATCH;
    for (int i = 0; i < ep.repeat; i++) {
        program_run_begin(&ep);
        run(batches);
        program_run_end(&ep);
    }
    bool right = ep.class != PROGRAM_NO_CLASS || is_as_serial(&given, batches);
    right = right && is_near(sum_x, given.sum_x) && is_near(sum_y, given.sum_y);
    return program_end(
        &ep, right, "sums %.15g and %.15g; %s %.15g and %.15g, to 1e-8", sum_x, sum_y,
        ep.class == PROGRAM_NO_CLASS ? "serial, with equal counts," : "NAS published", given.sum_x,
        given.sum_y);
}
