/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What tasks cost, by the method of EPCC's benchmarks: tasks that are a delay of 0.1 us, made in
 * all the ways of the table below, of which the first is none: the same lines without a task. A
 * program by itself, which openmp_tasks_bench runs on one runtime after the other:
 *
 *   openmp_tasks THREADS REPETITIONS
 *
 * Writes the nanoseconds that the team takes for each task, times its threads (so that the delay
 * counts once, however many threads there are), in the order of the table, one line each. Exit: 1
 * when something was not executed as often as it should be.
 */
#include "openmp_measure.h"

#define TREE_LEVELS 6
#define TREE_TASKS ((1 << TREE_LEVELS) - 1)
#define COUNTS 64 /* threads share none up to here */

static int repetitions; /* tasks, for each thread */
static int threads;

typedef struct count {
    _Alignas(128) long executed;
} count;

static count counts[COUNTS]; /* [thread modulo COUNTS] */

static void
body(void)
{
    measure_delay();
    long *executed = &counts[omp_get_thread_num() % COUNTS].executed;
    if (threads > COUNTS) {
#pragma omp atomic
        ++*executed;
    } else {
        ++*executed;
    }
}

/* ---- The ways; each makes `repetitions` tasks for each thread -------------------------------- */

/* What all others would take if tasks were for nothing. */
static void
no_tasks(void)
{
#pragma omp parallel
    for (int i = 0; i < repetitions; i++) {
        body();
    }
}

static void
parallel_tasks(void)
{
#pragma omp parallel
    for (int i = 0; i < repetitions; i++) {
#pragma omp task
        body();
    }
}

static void
master_tasks(void)
{
#pragma omp parallel
#pragma omp master
    for (int i = 0; i < repetitions * threads; i++) {
#pragma omp task
        body();
    }
}

/* The others have work of their own at first. */
static void
master_tasks_busy(void)
{
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) {
            for (int i = 0; i < repetitions; i++) {
#pragma omp task
                body();
            }
        } else {
            for (int i = 0; i < repetitions; i++) {
                body();
            }
        }
    }
}

static volatile int never;

static void
undeferred_tasks(void)
{
#pragma omp parallel
    for (int i = 0; i < repetitions; i++) {
#pragma omp task if (never)
        body();
    }
}

static void
waited_tasks(void)
{
#pragma omp parallel
    for (int i = 0; i < repetitions; i++) {
#pragma omp task
        body();
#pragma omp taskwait
    }
}

static void
barrier_tasks(void)
{
#pragma omp parallel
    for (int i = 0; i < repetitions; i++) {
#pragma omp task
        body();
#pragma omp barrier
    }
}

static void
nested_make(int count)
{
    for (int i = 0; i < count; i++) {
#pragma omp task
        {
            for (int j = 0; j < threads; j++) {
#pragma omp task
                body();
            }
#pragma omp taskwait
        }
    }
}

static void
nested_tasks(void)
{
#pragma omp parallel
    nested_make(repetitions / threads);
}

static void
master_nested_tasks(void)
{
#pragma omp parallel
#pragma omp master
    nested_make(repetitions);
}

static void
branches(int levels)
{
    if (levels > 1) {
#pragma omp task
        branches(levels - 1);
#pragma omp task
        branches(levels - 1);
#pragma omp taskwait
    }
    body();
}

/* Only the lowest have a delay; it is that of all. */
static void
leaves(int levels)
{
    if (levels > 1) {
#pragma omp task
        leaves(levels - 1);
#pragma omp task
        leaves(levels - 1);
#pragma omp taskwait
    } else {
        body();
        measure_delay();
    }
}

static void
branch_trees(void)
{
#pragma omp parallel
    for (int i = 0; i < repetitions / TREE_TASKS; i++) {
#pragma omp task
        branches(TREE_LEVELS);
    }
}

static void
leaf_trees(void)
{
#pragma omp parallel
    for (int i = 0; i < repetitions / TREE_TASKS; i++) {
#pragma omp task
        leaves(TREE_LEVELS);
    }
}

/* Of each thread's tasks, one after the other. */
static void
parallel_chains(void)
{
#pragma omp parallel
    {
        int place = 0;
        (void)place;
        for (int i = 0; i < repetitions; i++) {
#pragma omp task depend(inout : place)
            body();
        }
#pragma omp taskwait
    }
}

static void
master_chains(void)
{
    int places[8] = {0};
    (void)places;
#pragma omp parallel
#pragma omp master
    {
        for (int i = 0; i < repetitions * threads; i++) {
#pragma omp task depend(inout : places[i % 8])
            body();
        }
#pragma omp taskwait
    }
}

/* Each of its own: nothing is in the way of any. */
static void
master_places(void)
{
    char *places = calloc((size_t)repetitions, (size_t)threads);
#pragma omp parallel
#pragma omp master
    {
        for (int i = 0; i < repetitions * threads; i++) {
#pragma omp task depend(inout : places[i])
            body();
        }
#pragma omp taskwait
    }
    free(places);
}

/* In any order, one at a time. */
static void
master_excluding(void)
{
    int place = 0;
    (void)place;
#pragma omp parallel
#pragma omp master
    {
        for (int i = 0; i < repetitions * threads; i++) {
#pragma omp task depend(mutexinoutset : place)
            body();
        }
#pragma omp taskwait
    }
}

/* ---- Measured -------------------------------------------------------------------------------- */

typedef struct way {
    void (*run)(void);
    enum {
        ALL,
        TREES,
        TREES_LEAVES
    } executes;
} way;

static const way ways[] = {
    {no_tasks, ALL},          {parallel_tasks, ALL},      {master_tasks, ALL},
    {master_tasks_busy, ALL}, {undeferred_tasks, ALL},    {waited_tasks, ALL},
    {barrier_tasks, ALL},     {nested_tasks, ALL},        {master_nested_tasks, ALL},
    {branch_trees, TREES},    {leaf_trees, TREES_LEAVES}, {parallel_chains, ALL},
    {master_chains, ALL},     {master_places, ALL},       {master_excluding, ALL},
};

static void
pass(void *context)
{
    const way *w = context;
    w->run();
}

static long
executed_take(void)
{
    long sum = 0;
    for (int i = 0; i < COUNTS; i++) {
        sum += counts[i].executed;
        counts[i].executed = 0;
    }
    return sum;
}

static long
expected(const way *w)
{
    long trees = (long)repetitions / TREE_TASKS * threads;
    return w->executes == ALL     ? (long)repetitions * threads
           : w->executes == TREES ? trees * TREE_TASKS
                                  : trees * (1L << (TREE_LEVELS - 1));
}

int
main(int argc, char **argv)
{
    repetitions = measure_begin(argc, argv);
    threads = omp_get_max_threads();
    int unit = TREE_TASKS * threads;
    repetitions = (repetitions + unit - 1) / unit * unit;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        way w = ways[i];
        pass(&w);
        uint64_t took_ns = measure_median_ns(pass, &w);
        if (executed_take() != expected(&w) * (MEASURE_PASSES + 1)) {
            return 1;
        }
        (void)printf("%.3f\n", (double)took_ns / repetitions);
    }
    return 0;
}
