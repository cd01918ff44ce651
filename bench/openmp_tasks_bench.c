/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tasks, of two programs on three runtimes (openmp_tasks.c, openmp_recursion.c). */
#include "bench.h"
#include "openmp_runtimes.h"

typedef struct table {
    const char *question;
    const char *setting;
    const char *program;
    uint32_t repetitions, repetitions_crowded; /* crowded: more than processors */
    uint32_t rows;
    const char *const *row_names;
    const char *unit;
    double scale; /* of what the program writes */
} table;

static const char *const ways[] = {"parallel",   "master",         "master, busy others",
                                   "undeferred", "taskwait",       "barrier",
                                   "nested",     "nested, master", "branches",
                                   "leaves",     "dependent",      "dependent, master",
                                   "own places", "excluding"};
static const char *const recursions[] = {"fib", "queens", "sparse LU"};

static const table tables[] = {
    {"OpenMP tasks", "each a delay of 0.1 us", "openmp_tasks", 250, 40, BENCH_COUNT(ways), ways,
     "ns", 1},
    {"OpenMP programs of tasks", "fib(22), 8 queens, 20 x 20 blocks", "openmp_recursion", 3, 1,
     BENCH_COUNT(recursions), recursions, "ms", 1e-6},
};

typedef struct run_case {
    const openmp_runtime *runtime;
    const table *table;
    uint32_t threads;
} run_case;

static bool
measure(const bench *b, void *context, double *values)
{
    const run_case *c = context;
    bool crowded = c->threads > b->processor_count;
    uint32_t full = crowded ? c->table->repetitions_crowded : c->table->repetitions;
    if (!openmp_values(c->runtime, c->table->program, c->threads, bench_count(b, full), NULL,
                       values, c->table->rows)) {
        return bench_failed(c->runtime->name, "tasks went wrong");
    }
    for (uint32_t i = 0; i < c->table->rows; i++) {
        values[i] *= c->table->scale;
    }
    values[c->table->rows] = openmp_mean(values, c->table->rows);
    return true;
}

/* Goals are for the geometric mean; each row is told beside it. */
static void
ask(bench *b, const table *asked, uint32_t threads)
{
    run_case cases[OPENMP_RUNTIMES];
    bench_subject subjects[OPENMP_RUNTIMES];
    for (uint32_t i = 0; i < OPENMP_RUNTIMES; i++) {
        cases[i] = (run_case){&openmp_runtimes[i], asked, threads};
        subjects[i] = (bench_subject){openmp_runtimes[i].name, measure, &cases[i]};
    }
    const bench_goal goals[] = {{.name = "geometric mean",
                                 .first_peer = 1,
                                 .peer_count = 1,
                                 .direction = BENCH_AT_MOST,
                                 .factor = 0.7,
                                 .value = asked->rows},
                                {.name = "geometric mean",
                                 .first_peer = 1,
                                 .peer_count = 2,
                                 .direction = BENCH_AT_MOST,
                                 .factor = 0.9,
                                 .value = asked->rows}};
    bench_question question = {.setting = asked->setting,
                               .unit = asked->unit,
                               .value_count = asked->rows + 1,
                               .subjects = subjects,
                               .subject_count = OPENMP_RUNTIMES,
                               .goals = goals,
                               .goal_count = BENCH_COUNT(goals)};
    for (uint32_t i = 0; i < asked->rows; i++) {
        question.value_names[i] = asked->row_names[i];
    }
    question.value_names[asked->rows] = "geometric mean";
    char name[64];
    (void)snprintf(name, sizeof name, "%s, %u thread%s", asked->question, threads,
                   threads == 1 ? "" : "s");
    question.name = name;
    bench_ask(b, &question);
}

int
main(int argc, char **argv)
{
    bench b;
    bench_begin(&b, argc, argv, "openmp_tasks_bench",
                "OpenMP's tasks beside the compilers' runtimes");
    openmp_delay_settle();
    const uint32_t threads[] = {1, 2, 8, b.processor_count};
    for (uint32_t i = 0; i < BENCH_COUNT(tables); i++) {
        for (uint32_t t = 0; t < BENCH_COUNT(threads) && (t < 3 || threads[t] > 8); t++) {
            ask(&b, &tables[i], threads[t]);
        }
    }
    return bench_end(&b);
}
