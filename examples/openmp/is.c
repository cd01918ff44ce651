/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * IS of NAS's parallel benchmarks: the ranks of integer keys, ten times, by counting. Each thread
 * counts the keys that it is given; sums over the threads' counts and over smaller keys are ranks.
 */
#include "program.h"

#define ITERATIONS 10
#define CHECKED 5   /* keys whose rank NAS published */
#define BLOCK 4096L /* keys: what a thread is given at once */
#define SEED 314159265u

typedef struct problem {
    int log2_keys, log2_most; /* keys are below 2^log2_most */
    int checked[CHECKED];     /* their numbers */
    int ranks[CHECKED];       /* as NAS published them, but for the iteration: moves */
    int rising;               /* so many of the ranks rise by one with each iteration ... */
    int rises_from;           /* ... from this one; the others fall ... */
    int falls_from;           /* ... from this one */
} problem;

static const problem problems[] = {
    {16, 11, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}, 3, 0, 0},
    {20,
     16,
     {357773, 934767, 875723, 898999, 404505},
     {1249, 11698, 1039987, 1043896, 1048018},
     2,
     2,
     0},
    {23,
     19,
     {2112377, 662041, 5336171, 3642833, 4250760},
     {104, 17523, 123928, 8288932, 8388264},
     3,
     1,
     1},
};

static long key_count;
static int key_most;
static int *keys;
static int *counts; /* [thread][key] */
static int *below;  /* [key]: so many keys are smaller */
static int *sums;   /* [thread]: of its part of `below` */
static bool ranks_right;

/* Sums of four random numbers: near the middle there are most. */
static void
keys_fill(void)
{
    uint64_t seed = SEED;
    for (long i = 0; i < key_count; i++) {
        double sum = program_random(&seed);
        for (int j = 1; j < 4; j++)
            sum += program_random(&seed);
        keys[i] = (int)(key_most / 4 * sum);
    }
}

/* So many keys of all threads are this one. */
static int
column_sum(int key, int threads)
{
    int sum = 0;
    for (int t = 0; t < threads; t++)
        sum += counts[(long)t * key_most + key];
    return sum;
}

static void
rank_all(void)
{
#pragma omp parallel
    {
        int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        int *own = &counts[(long)thread * key_most];
        memset(own, 0, (size_t)key_most * sizeof *own);
#pragma omp for schedule(runtime)
        for (long block = 0; block < key_count / BLOCK; block++)
            for (long i = block * BLOCK; i < (block + 1) * BLOCK; i++)
                own[keys[i]]++;
        /* Each thread adds up a part of the keys, then adds the sums of the parts before. */
        int first = (int)((long)key_most * thread / threads);
        int end = (int)((long)key_most * (thread + 1) / threads);
        int sum = 0;
        for (int key = first; key < end; key++) {
            below[key] = sum;
            sum += column_sum(key, threads);
        }
        sums[thread] = sum;
#pragma omp barrier
        int before = 0;
        for (int t = 0; t < thread; t++)
            before += sums[t];
        for (int key = first; key < end; key++)
            below[key] += before;
    }
}

/* Whether the ranks of five keys are those published; each iteration moves two keys. */
static bool
is_published(const problem *given, const int *checked_keys, int iteration)
{
    for (int i = 0; i < CHECKED; i++) {
        int moved =
            i < given->rising ? iteration - given->rises_from : given->falls_from - iteration;
        if (below[checked_keys[i]] != given->ranks[i] + moved)
            return false;
    }
    return true;
}

static void
run(const problem *given, bool is_class)
{
    for (int iteration = 1; iteration <= ITERATIONS; iteration++) {
        int checked_keys[CHECKED];
        keys[iteration] = iteration;
        keys[iteration + ITERATIONS] = key_most - iteration;
        for (int i = 0; i < CHECKED; i++)
            checked_keys[i] = keys[given->checked[i]];
        rank_all();
        ranks_right = ranks_right && (!is_class || is_published(given, checked_keys, iteration));
    }
}

/* Puts each key where its rank says, and looks whether they are the same keys, and in order. */
static bool
is_sorted(void)
{
    int *sorted = program_memory((size_t)key_count, sizeof *sorted);
    int *count = program_memory((size_t)key_most, sizeof *count);
    bool right = true;
    for (long i = 0; i < key_count && right; i++) {
        int at = below[keys[i]] + count[keys[i]]++;
        right = at >= 0 && at < key_count && sorted[at] == 0;
        if (right)
            sorted[at] = keys[i] + 1; /* never 0: a place is taken once */
    }
    for (long i = 1; i < key_count && right; i++)
        right = sorted[i - 1] <= sorted[i];
    free(count);
    free(sorted);
    return right;
}

int
main(int argc, char **argv)
{
    static const program_about about = {"is", "ranks of integer keys, NAS IS", "2^N keys", 12, 30};
    program is = program_begin(&about, argc, argv);
    bool is_class = is.class != PROGRAM_NO_CLASS;
    problem given = {.log2_keys = (int)is.number, .log2_most = (int)is.number - 4};
    if (is_class)
        given = problems[is.class];
    size_t threads = (size_t)omp_get_max_threads();
    key_count = 1L << given.log2_keys;
    key_most = 1 << given.log2_most;
    keys = program_memory((size_t)key_count, sizeof *keys);
    counts = program_memory(threads * (size_t)key_most, sizeof *counts);
    below = program_memory((size_t)key_most, sizeof *below);
    sums = program_memory(threads, sizeof *sums);
    ranks_right = true;
    for (int i = 0; i < is.repeat; i++) {
        keys_fill();
        program_run_begin(&is);
        run(&given, is_class);
        program_run_end(&is);
    }
    return program_end(&is, ranks_right && is_sorted(),
                       "%ld keys are in order by their ranks, each place taken once%s", key_count,
                       is_class ? "; 50 ranks are those that NAS published" : "");
}
