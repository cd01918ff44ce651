/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loops on unlike cores (openmp_uneven.c): hetprobe beside the split that it is told, which is the
 * ideal one, and hetprobe-i beside hetprobe where the loop's begin misleads. The other runtimes'
 * schedules stand by, without a goal.
 */
#include <stdlib.h>

#include "bench.h"
#include "openmp_runtimes.h"

typedef struct run_case {
    const char *name;
    uint32_t runtime;
    const char *schedule;
    const char *ratios; /* MEDLEY_CSR; NULL: they are measured */
} run_case;

typedef struct loop_case {
    const run_case *run;
    const char *loop;
} loop_case;

static bool
measure(const bench *b, void *context, double *values)
{
    const loop_case *c = context;
    (void)setenv("OMP_SCHEDULE", c->run->schedule, 1);
    (void)(c->run->ratios ? setenv("MEDLEY_CSR", c->run->ratios, 1) : unsetenv("MEDLEY_CSR"));
    return openmp_values(&openmp_runtimes[c->run->runtime], "openmp_uneven", 2, bench_count(b, 10),
                         c->loop, values, 1) ||
           bench_failed(c->run->name, "the loop went wrong");
}

static void
ask(bench *b,
    const char *name,
    const char *loop,
    const run_case *runs,
    uint32_t count,
    bench_goal goal)
{
    loop_case cases[BENCH_SUBJECTS_MAX];
    bench_subject subjects[BENCH_SUBJECTS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        cases[i] = (loop_case){&runs[i], loop};
        subjects[i] = (bench_subject){runs[i].name, measure, &cases[i]};
    }
    /* Threads on one processor take turns: what is measured of them is the kernel's. */
    goal.report_only = b->processor_count < 2;
    bench_ask(b, &(bench_question){.name = name,
                                   .setting = "4,000 iterations of 1 or 2 us, 2 threads",
                                   .unit = "us",
                                   .value_count = 1,
                                   .subjects = subjects,
                                   .subject_count = count,
                                   .goals = &goal,
                                   .goal_count = 1});
}

/* One place and one class for each of the first two processors. */
static void
say_that_they_are_unlike(const bench *b)
{
    char places[64];
    (void)snprintf(places, sizeof places, "{%u},{%u}", b->processors[0], b->processors[1]);
    (void)setenv("OMP_PLACES", places, 1);
    (void)setenv("MEDLEY_CORE_CLASSES", places, 1);
}

int
main(int argc, char **argv)
{
    static const run_case even[] = {
        {"hetprobe", 0, "hetprobe", NULL},        {"told", 0, "hetprobe", "2:1"},
        {"hetprobe-i", 0, "hetprobe-i", NULL},    {"static", 0, "static", NULL},
        {"dynamic", 0, "dynamic,1", NULL},        {"libgomp, dynamic", 1, "dynamic,1", NULL},
        {"libomp, dynamic", 2, "dynamic,1", NULL}};
    static const run_case shifts[] = {{"hetprobe-i", 0, "hetprobe-i", NULL},
                                      {"hetprobe", 0, "hetprobe", NULL},
                                      {"static", 0, "static", NULL},
                                      {"dynamic", 0, "dynamic,1", NULL},
                                      {"libgomp, dynamic", 1, "dynamic,1", NULL},
                                      {"libomp, dynamic", 2, "dynamic,1", NULL}};
    bench b;
    bench_begin(&b, argc, argv, "openmp_uneven_bench",
                "OpenMP's loops on cores of which one half is half as fast");
    openmp_delay_settle();
    say_that_they_are_unlike(&b);
    ask(&b, "OpenMP loop, half of the cores half as fast", "even", even, BENCH_COUNT(even),
        (bench_goal)BENCH_BESIDE("hetprobe beside the ideal split", 1, BENCH_AT_MOST, 1.1));
    ask(&b, "OpenMP loop, which cores are fast shifts", "shifts", shifts, BENCH_COUNT(shifts),
        (bench_goal)BENCH_BESIDE("hetprobe-i beside hetprobe: its time", 1, BENCH_AT_MOST,
                                 1 / 1.2));
    return bench_end(&b);
}
