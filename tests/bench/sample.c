/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A benchmark program as those in bench are, but nothing is measured: every restart gives figures
 * of which report_test.py knows the verdicts.
 *
 *   bench_sample PROGRAM [OPTION...]
 *
 * PROGRAM is the one that it stands for: ring_bench, machine_bench, openmp_bench,
 * openmp_programs_bench.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define VALUES_MAX 2
#define OPERATIONS 1000

/* Around `values`, up to `spread` of them more or less. */
typedef struct figures {
    double values[VALUES_MAX];
    double spread;
    bool tells; /* latencies, too */
    uint32_t restarts;
} figures;

static void
tell_latencies(double longest_ns)
{
    double ns[OPERATIONS];
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        ns[i] = longest_ns * (i + 1) / OPERATIONS + 10;
    }
    bench_latencies(ns, OPERATIONS, 10);
}

static bool
measure(const bench *b, void *context, double *values)
{
    figures *f = context;
    (void)b;
    /* -1 to 1 in steps of 0.2, in an order that has no trend. */
    double off = ((double)(f->restarts++ * 7 % 11) - 5) / 5 * f->spread;
    for (uint32_t v = 0; v < VALUES_MAX; v++) {
        values[v] = f->values[v] * (1 + off);
    }
    if (f->tells) {
        tell_latencies(f->values[0]);
    }
    return true;
}

/* ---- Rings ----------------------------------------------------------------------------------- */

static void
ask_rates(bench *b)
{
    static figures own = {.values = {100}, .spread = 0.02}, boost = {.values = {50}};
    static figures dpdk = {.values = {80}};
    static const bench_subject subjects[] = {{"medley packed", measure, &own},
                                             {"boost spsc_queue", measure, &boost},
                                             {"DPDK rte_ring", measure, &dpdk}};
    static const bench_goal goals[] = {
        {.name = "beside boost", .first_peer = 1, .peer_count = 1, .factor = 1.5},
        {.name = "beside the best", .first_peer = 1, .peer_count = 2, .factor = 2},
        {.name = "a second", .figure = 60, .factor = 1},
        {.name = "best <of> all & more", .figure = 200, .factor = 1, .report_only = true}};
    bench_ask(b, &(bench_question){.name = "SPSC 8 B, clear",
                                   .setting = "nothing is touched",
                                   .unit = "M/s",
                                   .value_count = 1,
                                   .subjects = subjects,
                                   .subject_count = BENCH_COUNT(subjects),
                                   .goals = goals,
                                   .goal_count = BENCH_COUNT(goals)});
}

/* The limit, 1.10 + 0.05, stays in the middle of the interval. */
static void
ask_undecided(bench *b)
{
    static figures own = {.values = {115, 900}, .spread = 0.1, .tells = true};
    static figures bare = {.values = {100, 400}, .tells = true};
    static const bench_subject subjects[] = {{"medley line, 4 slots", measure, &own},
                                             {"bare, one word each way", measure, &bare}};
    static const bench_goal goals[] = {BENCH_BESIDE("median", 1, BENCH_AT_MOST, 1.1)};
    bench_ask(b, &(bench_question){.name = "SPSC 24 B, round trip",
                                   .setting = "both awake",
                                   .unit = "ns",
                                   .value_names = {"median", "p99.9"},
                                   .value_count = 2,
                                   .subjects = subjects,
                                   .subject_count = BENCH_COUNT(subjects),
                                   .goals = goals,
                                   .goal_count = BENCH_COUNT(goals)});
}

static void
rings(bench *b)
{
    ask_rates(b);
    ask_undecided(b);
}

/* ---- The machine ----------------------------------------------------------------------------- */

static void
machine(bench *b)
{
    static figures alone = {.values = {10}}, beside = {.values = {15}};
    static const bench_subject subjects[] = {{"alone", measure, &alone},
                                             {"beside another", measure, &beside}};
    bench_ask(b, &(bench_question){.name = "a loop of multiplications",
                                   .setting = "one on each",
                                   .unit = "ms",
                                   .value_count = 1,
                                   .subjects = subjects,
                                   .subject_count = BENCH_COUNT(subjects)});
}

/* ---- OpenMP ---------------------------------------------------------------------------------- */

static void
ask_runtimes(
    bench *b, const char *name, const char *unit, const char *const *values, uint32_t count)
{
    figures of[] = {{.values = {100, 200}}, {.values = {200, 300}}, {.values = {400, 300}}};
    const bench_subject subjects[] = {
        {"medley", measure, &of[0]}, {"libgomp", measure, &of[1]}, {"libomp", measure, &of[2]}};
    const bench_goal goals[] = {{.name = values[count - 1],
                                 .first_peer = 1,
                                 .peer_count = 2,
                                 .direction = BENCH_AT_MOST,
                                 .factor = 1,
                                 .value = count - 1}};
    bench_ask(b, &(bench_question){.name = name,
                                   .setting = "nothing is run",
                                   .unit = unit,
                                   .value_names = {values[0], values[count - 1]},
                                   .value_count = count,
                                   .subjects = subjects,
                                   .subject_count = BENCH_COUNT(subjects),
                                   .goals = goals,
                                   .goal_count = BENCH_COUNT(goals)});
}

static void
directives(bench *b)
{
    static const char *const values[] = {"barrier", "geometric mean"};
    ask_runtimes(b, "OpenMP directives, 1 thread", "ns", values, 2);
    ask_runtimes(b, "OpenMP directives, 2 threads", "ns", values, 2);
    ask_runtimes(b, "OpenMP directives, 2 bound threads", "ns", values, 2);
}

static void
programs(bench *b)
{
    static const char *const values[] = {"time"};
    ask_runtimes(b, "an OpenMP program with one empty region", "ms", values, 1);
    ask_runtimes(b, "OpenMP program ep, 1 thread", "ms", values, 1);
    ask_runtimes(b, "OpenMP program ep, 2 threads", "ms", values, 1);
}

/* ---- Which ----------------------------------------------------------------------------------- */

typedef struct kind {
    const char *name;
    void (*ask)(bench *b);
} kind;

static const kind kinds[] = {{"ring_bench", rings},
                             {"machine_bench", machine},
                             {"openmp_bench", directives},
                             {"openmp_programs_bench", programs}};

int
main(int argc, char **argv)
{
    for (uint32_t i = 0; argc > 1 && i < BENCH_COUNT(kinds); i++) {
        if (strcmp(argv[1], kinds[i].name) == 0) {
            bench b;
            bench_begin(&b, argc - 1, argv + 1, kinds[i].name, "Figures that are known");
            kinds[i].ask(&b);
            return bench_end(&b);
        }
    }
    (void)fprintf(stderr, "usage: bench_sample PROGRAM [OPTION...]\n");
    return 2;
}
