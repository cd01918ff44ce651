/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * OpenMP's directives, of one program on three runtimes: ours, gcc's, and LLVM's by the names that
 * gcc calls. Each restart is a process of its own, on which runtime says LD_LIBRARY_PATH.
 */
#include "bench.h"
#include "openmp_runtimes.h"

static const char *const directives[] = {"parallel", "for",  "parallel for", "barrier",  "single",
                                         "critical", "lock", "ordered",      "reduction"};
#define DIRECTIVES BENCH_COUNT(directives)
#define ORDERED 7
#define MEAN DIRECTIVES /* the geometric mean of them is the value behind them */
_Static_assert(DIRECTIVES + 1 <= BENCH_VALUES_MAX, "they fit");

typedef struct run_case {
    openmp_runtime runtime;
    uint32_t threads;
} run_case;

static bool
measure(const bench *b, void *context, double *values)
{
    const run_case *c = context;
    uint64_t rounds = bench_count(b, c->threads <= b->processor_count ? 10000 : 320) / c->threads;
    if (!openmp_values(&c->runtime, "openmp_directives", c->threads, rounds * c->threads, NULL,
                       values, DIRECTIVES)) {
        return bench_failed(c->runtime.name, "a directive went wrong");
    }
    values[MEAN] = openmp_mean(values, DIRECTIVES);
    return true;
}

/* By gcc's names libomp gives each thread of an ordered static loop one part, whatever the chunk,
 * and hands the order over once a thread: of that row gcc's library alone is a peer. */
static void
ask(bench *b, uint32_t threads, bool bound)
{
    run_case cases[OPENMP_RUNTIMES];
    bench_subject subjects[OPENMP_RUNTIMES];
    for (uint32_t i = 0; i < OPENMP_RUNTIMES; i++) {
        cases[i] = (run_case){openmp_runtimes[i], threads};
        cases[i].runtime.setting = bound ? "OMP_PROC_BIND=true" : NULL;
        subjects[i] = (bench_subject){openmp_runtimes[i].name, measure, &cases[i]};
    }
    bench_goal goals[DIRECTIVES + 1];
    bench_question question = {.setting =
                                   "each with a delay of 0.1 us; the program as gcc builds it",
                               .unit = "ns",
                               .value_count = DIRECTIVES + 1,
                               .subjects = subjects,
                               .subject_count = OPENMP_RUNTIMES,
                               .goals = goals,
                               .goal_count = BENCH_COUNT(goals)};
    for (uint32_t i = 0; i <= DIRECTIVES; i++) {
        double mean = threads > b->processor_count ? 0.8 : 0.85;
        question.value_names[i] = i == MEAN ? "geometric mean" : directives[i];
        goals[i] = (bench_goal){.name = question.value_names[i],
                                .first_peer = 1,
                                .peer_count = i == ORDERED ? 1 : 2,
                                .direction = BENCH_AT_MOST,
                                .factor = i == MEAN ? mean : 1.05,
                                .value = i};
    }
    char name[64];
    (void)snprintf(name, sizeof name, "OpenMP directives, %u%s thread%s", threads,
                   bound ? " bound" : "", threads == 1 ? "" : "s");
    question.name = name;
    bench_ask(b, &question);
}

int
main(int argc, char **argv)
{
    static const uint32_t threads[] = {1, 2, 4, 8, 12, 16, 20, 24};
    bench b;
    bench_begin(&b, argc, argv, "openmp_bench",
                "OpenMP's directives beside the compilers' runtimes");
    openmp_delay_settle();
    for (uint32_t i = 0; i < BENCH_COUNT(threads); i++) {
        ask(&b, threads[i], false);
    }
    if (b.processor_count > 1) {
        ask(&b, b.processor_count, true);
    }
    return bench_end(&b);
}
