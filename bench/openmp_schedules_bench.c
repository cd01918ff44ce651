/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Schedules of loops, of one program on three runtimes (openmp_schedules.c). */
#include "bench.h"
#include "openmp_runtimes.h"

static const char *const chunks[] = {"1", "2", "4", "8", "16", "32", "64", "128"};
#define CHUNKS BENCH_COUNT(chunks)

typedef struct kind {
    const char *name;
    uint32_t count; /* of values that the program writes */
} kind;

static const kind kinds[] = {{"static", 1 + CHUNKS}, {"dynamic", CHUNKS}, {"guided", CHUNKS}};

typedef struct run_case {
    const openmp_runtime *runtime;
    const kind *kind;
    uint32_t threads;
} run_case;

static bool
measure(const bench *b, void *context, double *values)
{
    const run_case *c = context;
    uint64_t repetitions = bench_count(b, c->threads <= b->processor_count ? 30 : 8);
    if (!openmp_values(c->runtime, "openmp_schedules", c->threads, repetitions, c->kind->name,
                       values, c->kind->count)) {
        return bench_failed(c->runtime->name, "a loop went wrong");
    }
    values[c->kind->count] = openmp_mean(values, c->kind->count);
    return true;
}

static void
ask(bench *b, const kind *schedule, uint32_t threads)
{
    run_case cases[OPENMP_RUNTIMES];
    bench_subject subjects[OPENMP_RUNTIMES];
    bench_goal goals[BENCH_VALUES_MAX];
    for (uint32_t i = 0; i < OPENMP_RUNTIMES; i++) {
        cases[i] = (run_case){&openmp_runtimes[i], schedule, threads};
        subjects[i] = (bench_subject){openmp_runtimes[i].name, measure, &cases[i]};
    }
    bench_question question = {.setting = "128 iterations of 0.1 us for each thread",
                               .unit = "ns",
                               .value_count = schedule->count + 1,
                               .subjects = subjects,
                               .subject_count = OPENMP_RUNTIMES,
                               .goals = goals,
                               .goal_count = schedule->count + 1};
    char names[BENCH_VALUES_MAX][24];
    uint32_t whole = schedule->count - CHUNKS; /* 1 where there is one without a chunk */
    for (uint32_t i = 0; i <= schedule->count; i++) {
        (void)snprintf(names[i], sizeof names[i], "%s%s%s",
                       i == schedule->count ? "geometric mean" : "", i < whole ? "whole" : "",
                       i >= whole && i < schedule->count ? chunks[i - whole] : "");
        question.value_names[i] = names[i];
        goals[i] = (bench_goal){.name = names[i],
                                .first_peer = 1,
                                .peer_count = 2,
                                .direction = BENCH_AT_MOST,
                                .factor = 1,
                                .value = i};
    }
    char name[64];
    (void)snprintf(name, sizeof name, "OpenMP schedule(%s), %u thread%s", schedule->name, threads,
                   threads == 1 ? "" : "s");
    question.name = name;
    bench_ask(b, &question);
}

int
main(int argc, char **argv)
{
    bench b;
    bench_begin(&b, argc, argv, "openmp_schedules_bench",
                "OpenMP's loop schedules beside the compilers' runtimes");
    openmp_delay_settle();
    const uint32_t threads[] = {1, 2, 8, b.processor_count};
    for (uint32_t t = 0; t < BENCH_COUNT(threads) && (t < 3 || threads[t] > 8); t++) {
        for (uint32_t k = 0; k < BENCH_COUNT(kinds); k++) {
            ask(&b, &kinds[k], threads[t]);
        }
    }
    return bench_end(&b);
}
