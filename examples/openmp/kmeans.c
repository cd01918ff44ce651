/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * k-means: points of 34 features go to the nearest of five centres, which move to the middle of
 * theirs, until next to no point changes its centre. Features are multiples of 2^-16: sums of them
 * are exact in whatever order threads add, so the result is the serial one to the last bit.
 */
#include "program.h"

#define FEATURES 34
#define CENTRES 5
#define ROUNDS_MAX 100
#define GRAIN 65536.0
#define SEED 271828183u

static const long sizes[] = {10000, 100000, 819200};

static long points;
static float (*features)[FEATURES];
static int *nearest; /* of a point: its centre */
static double centres[CENTRES][FEATURES];
static double sums[CENTRES][FEATURES];
static long members[CENTRES];

/* Around eight places, so that there is something to find, and no perfect answer. */
static void
features_fill(void)
{
    uint64_t seed = SEED;
    for (long i = 0; i < points; i++)
        for (int f = 0; f < FEATURES; f++) {
            double place = (double)((i % 8 * 37 + f * 11) % 64) / 128;
            features[i][f] = (float)((int)((place + program_random(&seed) / 2) * GRAIN) / GRAIN);
        }
}

/* One function for all, so that the compiler has no two ways to compute it. */
__attribute__((noinline)) static int
nearest_find(const float *point)
{
    int best = 0;
    double best_square = 1e300;
    for (int c = 0; c < CENTRES; c++) {
        double square = 0;
        for (int f = 0; f < FEATURES; f++)
            square += (point[f] - centres[c][f]) * (point[f] - centres[c][f]);
        if (square < best_square) {
            best_square = square;
            best = c;
        }
    }
    return best;
}

static void
begin(void)
{
    for (int c = 0; c < CENTRES; c++)
        for (int f = 0; f < FEATURES; f++)
            centres[c][f] = features[c][f];
    for (long i = 0; i < points; i++)
        nearest[i] = -1;
}

static void
centres_move(void)
{
    for (int c = 0; c < CENTRES; c++)
        for (int f = 0; f < FEATURES; f++) {
            if (members[c] > 0)
                centres[c][f] = sums[c][f] / (double)members[c];
            sums[c][f] = 0;
        }
    memset(members, 0, sizeof members);
}

/* So many points have changed their centre. */
static long
round_parallel(void)
{
    long changed = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : changed, sums, members)
    for (long i = 0; i < points; i++) {
        int centre = nearest_find(features[i]);
        changed += centre != nearest[i];
        nearest[i] = centre;
        members[centre]++;
        for (int f = 0; f < FEATURES; f++)
            sums[centre][f] += features[i][f];
    }
    return changed;
}

static long
round_serial(void)
{
    long changed = 0;
    for (long i = 0; i < points; i++) {
        int centre = nearest_find(features[i]);
        changed += centre != nearest[i];
        nearest[i] = centre;
        members[centre]++;
        for (int f = 0; f < FEATURES; f++)
            sums[centre][f] += features[i][f];
    }
    return changed;
}

static int
run(long (*round)(void))
{
    int rounds = 0;
    long changed = points;
    while (rounds < ROUNDS_MAX && changed > points / 1000) {
        changed = round();
        centres_move();
        rounds++;
    }
    return rounds;
}

/* Does it all again without OpenMP. */
static bool
is_as_serial(int rounds)
{
    double found[CENTRES][FEATURES];
    int *found_nearest = program_memory((size_t)points, sizeof *found_nearest);
    memcpy(found, centres, sizeof found);
    memcpy(found_nearest, nearest, (size_t)points * sizeof *nearest);
    begin();
    bool same = run(round_serial) == rounds && memcmp(found, centres, sizeof found) == 0 &&
                memcmp(found_nearest, nearest, (size_t)points * sizeof *nearest) == 0;
    free(found_nearest);
    return same;
}

int
main(int argc, char **argv)
{
    static const program_about about = {"kmeans", "points and the nearest of five centres",
                                        "points", 100, 10000000};
    program kmeans = program_begin(&about, argc, argv);
    int rounds = 0;
    points = kmeans.class == PROGRAM_NO_CLASS ? kmeans.number : sizes[kmeans.class];
    features = program_memory((size_t)points, sizeof *features);
    nearest = program_memory((size_t)points, sizeof *nearest);
    features_fill();
    for (int i = 0; i < kmeans.repeat; i++) {
        begin();
        program_run_begin(&kmeans);
        rounds = run(round_parallel);
        program_run_end(&kmeans);
    }
    return program_end(&kmeans, is_as_serial(rounds),
                       "centres and every point's after %d rounds are those of serial execution, "
                       "bit by bit",
                       rounds);
}
