/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The programs of examples/openmp on three runtimes, two of them at once, and a program that does
 * next to nothing. Each verifies its result; what is told is the median of its runs.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "openmp_runtimes.h"

#define RUNS_MAX 100
#define EMPTY_STARTS 10

typedef struct program {
    const char *name;
    const char *size;
    const char *size_wide; /* where there are more than two processors */
    uint32_t runs;
    bool alone;   /* with 1 thread, too */
    bool crowded; /* with 4 and 8, too, for the pictures */
} program;

static const program programs[] = {
    {"ep", "21", "24", 1, true, true},
    {"cg", "S", "W", 3, true, true},
    {"is", "W", "A", 5, true, true},
    {"mg", "S", "W", 20, true, true},
    {"lu", "S", "W", 10, true, false},
    {"kmeans", "S", "W", 2, false, false},
    {"blackscholes", "S", "W", 2, false, false},
    {"particles", "S", "W", 2, false, false},
    {"irregular", "S", "W", 10, false, false},
    {"tree", "S", "W", 3, false, false},
};

typedef struct run_case {
    const openmp_runtime *runtime;
    const program *program;
    uint32_t threads;
} run_case;

static const char *
size_here(const bench *b, const program *asked)
{
    return b->processor_count > 2 ? asked->size_wide : asked->size;
}

/* ---- One program ----------------------------------------------------------------------------- */

static bool
start(const bench *b, const run_case *c, openmp_run *run)
{
    char threads[12], runs[12];
    uint32_t count = (uint32_t)bench_count(b, c->program->runs);
    count = count < c->program->runs ? count : c->program->runs;
    (void)snprintf(threads, sizeof threads, "%u", c->threads);
    (void)snprintf(runs, sizeof runs, "%u", count);
    return openmp_start(run, c->runtime,
                        (const char *[]){c->program->name, "--size", size_here(b, c->program),
                                         "--threads", threads, "--repeat", runs, "--json", NULL});
}

/* The median of its runs, in ms; false when it could not verify its result. */
static bool
finish(openmp_run *run, double *median_ms)
{
    char line[4096];
    double seconds[RUNS_MAX];
    uint32_t count = 0;
    char *told = fgets(line, sizeof line, run->output) ? strstr(line, "\"seconds\": [") : NULL;
    if (!openmp_end(run) || !told || !strstr(told, "\"verified\": true")) {
        return false;
    }
    for (char *at = strchr(told, '['); *at != ']' && count < RUNS_MAX;) {
        seconds[count++] = strtod(at + 1, &at);
    }
    *median_ms = bench_permille(seconds, count, 500) * 1e3;
    return true;
}

static bool
measure(const bench *b, void *context, double *values)
{
    const run_case *c = context;
    openmp_run run;
    return (start(b, c, &run) && finish(&run, &values[0])) ||
           bench_failed(c->runtime->name, "the program's result is wrong");
}

/* Until the later one is through. */
static bool
measure_two(const bench *b, void *context, double *values)
{
    const run_case *c = context;
    openmp_run runs[2];
    bool started[2];
    double ms[2] = {0};
    bool right = true;
    for (int i = 0; i < 2; i++) {
        started[i] = start(b, c, &runs[i]);
    }
    for (int i = 0; i < 2; i++) {
        right = started[i] && finish(&runs[i], &ms[i]) && right;
    }
    values[0] = ms[0] > ms[1] ? ms[0] : ms[1];
    return right || bench_failed(c->runtime->name, "a program's result is wrong");
}

static void
ask(bench *b, const program *asked, uint32_t threads)
{
    run_case cases[OPENMP_RUNTIMES];
    bench_subject subjects[OPENMP_RUNTIMES];
    char name[64];
    for (uint32_t i = 0; i < OPENMP_RUNTIMES; i++) {
        cases[i] = (run_case){&openmp_runtimes[i], asked, threads};
        subjects[i] = (bench_subject){openmp_runtimes[i].name, measure, &cases[i]};
    }
    const bench_goal goal = {
        .name = "time", .first_peer = 1, .peer_count = 2, .direction = BENCH_AT_MOST, .factor = 1};
    (void)snprintf(name, sizeof name, "OpenMP program %s, %u thread%s", asked->name, threads,
                   threads == 1 ? "" : "s");
    char setting[64];
    (void)snprintf(setting, sizeof setting, "size %s, schedule(static)", size_here(b, asked));
    /* Without a goal where there are more threads than the machine has processors. */
    bench_ask(b, &(bench_question){.name = name,
                                   .setting = setting,
                                   .unit = "ms",
                                   .value_names = {"time"},
                                   .value_count = 1,
                                   .subjects = subjects,
                                   .subject_count = OPENMP_RUNTIMES,
                                   .goals = &goal,
                                   .goal_count = threads <= b->processor_count ? 1 : 0});
}

static void
ask_two(bench *b)
{
    static const program cg = {"cg", "W", "W", 1, false, false};
    uint32_t threads = b->processor_count > 2 ? b->processor_count : 2;
    run_case cases[] = {{&openmp_runtimes[0], &cg, threads},
                        {&openmp_gcc_passive, &cg, threads},
                        {&openmp_runtimes[2], &cg, threads}};
    bench_subject subjects[BENCH_COUNT(cases)];
    for (uint32_t i = 0; i < BENCH_COUNT(cases); i++) {
        subjects[i] = (bench_subject){cases[i].runtime->name, measure_two, &cases[i]};
    }
    const bench_goal goal = {.name = "time of the later one",
                             .first_peer = 1,
                             .peer_count = 2,
                             .direction = BENCH_AT_MOST,
                             .factor = 1.1};
    char setting[64];
    (void)snprintf(setting, sizeof setting, "size W, %u threads each", threads);
    bench_ask(b, &(bench_question){.name = "two OpenMP programs cg at once",
                                   .setting = setting,
                                   .unit = "ms",
                                   .value_names = {"time"},
                                   .value_count = 1,
                                   .subjects = subjects,
                                   .subject_count = BENCH_COUNT(subjects),
                                   .goals = &goal,
                                   .goal_count = 1});
}

/* ---- A program with one empty region --------------------------------------------------------- */

static double
now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* From its start to its end, and KiB that were resident: medians of a few starts. */
static bool
empty_run(const openmp_runtime *runtime, double *took_ms, double *resident_kib)
{
    double took[EMPTY_STARTS], resident[EMPTY_STARTS];
    for (int i = 0; i < EMPTY_STARTS; i++) {
        double begin_ms = now_ms();
        if (!openmp_values(runtime, "openmp_empty", 0, 0, NULL, &resident[i], 1)) {
            return bench_failed(runtime->name, "the program failed");
        }
        took[i] = now_ms() - begin_ms;
    }
    *took_ms = bench_permille(took, EMPTY_STARTS, 500);
    *resident_kib = bench_permille(resident, EMPTY_STARTS, 500);
    return true;
}

static bool
measure_empty(const bench *b, void *context, double *values)
{
    (void)b;
    return empty_run(context, &values[0], &values[1]);
}

/* What is resident beyond libgomp's. */
static bool
measure_beyond(const bench *b, void *context, double *values)
{
    double took_ms, ours_kib, theirs_kib;
    (void)b;
    (void)context;
    if (!empty_run(&openmp_runtimes[0], &took_ms, &ours_kib) ||
        !empty_run(&openmp_runtimes[1], &took_ms, &theirs_kib)) {
        return false;
    }
    values[0] = ours_kib - theirs_kib;
    return true;
}

static void
ask_empty(bench *b)
{
    bench_subject subjects[OPENMP_RUNTIMES];
    for (uint32_t i = 0; i < OPENMP_RUNTIMES; i++) {
        subjects[i] = (bench_subject){openmp_runtimes[i].name, measure_empty,
                                      (void *)(uintptr_t)&openmp_runtimes[i]};
    }
    const bench_goal wall = BENCH_BESIDE("wall time", 1, BENCH_AT_MOST, 1.1);
    bench_ask(b, &(bench_question){.name = "an OpenMP program with one empty region",
                                   .setting = "a process, from its start to its end",
                                   .unit = "ms",
                                   .value_names = {"wall time", "resident"},
                                   .value_units = {"ms", "KiB"},
                                   .value_count = 2,
                                   .subjects = subjects,
                                   .subject_count = OPENMP_RUNTIMES,
                                   .goals = &wall,
                                   .goal_count = 1});
    const bench_subject beyond = {"medley beyond libgomp", measure_beyond, NULL};
    const bench_goal memory = BENCH_AT_MOST_FIGURE("resident memory beyond libgomp's", 0, 256);
    bench_ask(b, &(bench_question){.name = "an OpenMP program with one empty region, memory",
                                   .setting = "the most that was resident",
                                   .unit = "KiB",
                                   .value_names = {"resident"},
                                   .value_count = 1,
                                   .subjects = &beyond,
                                   .subject_count = 1,
                                   .goals = &memory,
                                   .goal_count = 1});
}

/* 1, 2, 4 and so on, to 8 threads or as many as there are processors. */
static void
ask_by_threads(bench *b, const program *asked)
{
    uint32_t most = b->processor_count > 8 ? b->processor_count : 8;
    for (uint32_t threads = 1; threads <= most; threads *= 2) {
        if (threads == 2 || (threads == 1 && asked->alone) ||
            (threads > 2 && asked->crowded && !b->is_short) ||
            (threads > 2 && threads <= b->processor_count)) {
            ask(b, asked, threads);
        }
    }
}

int
main(int argc, char **argv)
{
    bench b;
    bench_begin(&b, argc, argv, "openmp_programs_bench",
                "OpenMP programs on ours and on the compilers' runtimes");
    openmp_delay_settle();
    ask_empty(&b);
    ask_two(&b);
    for (uint32_t i = 0; i < BENCH_COUNT(programs); i++) {
        ask_by_threads(&b, &programs[i]);
    }
    return bench_end(&b);
}
