/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tasks, of two programs on three runtimes (openmp_tasks.c, openmp_recursion.c). Of the first one
 * the overhead is told, too, which is EPCC's own figure: the time less that of the same lines
 * without a task. By one thread these lines may be more than 0.7 of libgomp's whole time: there no
 * runtime meets the goal for times, whatever its tasks cost.
 */
#include "bench.h"
#include "openmp_runtimes.h"

typedef struct table {
    const char *question;
    const char *setting;
    const char *program;
    uint32_t repetitions, repetitions_crowded; /* crowded: more than processors */
    uint32_t rows;
    const char *const *row_names;
    uint32_t without; /* of the rows, the first ones: what all others would take at least */
    const char *unit;
    double scale; /* of what the program writes */
} table;

static const char *const ways[] = {
    "no task",           "parallel",   "master",   "master, busy others",
    "undeferred",        "taskwait",   "barrier",  "nested",
    "nested, master",    "branches",   "leaves",   "dependent",
    "dependent, master", "own places", "excluding"};
static const char *const recursions[] = {"fib", "queens", "sparse LU"};

static const table tables[] = {
    {"OpenMP tasks", "each a delay of 0.1 us", "openmp_tasks", 250, 40, BENCH_COUNT(ways), ways, 1,
     "ns", 1},
    {"OpenMP programs of tasks", "fib(22), 8 queens, 20 x 20 blocks", "openmp_recursion", 3, 1,
     BENCH_COUNT(recursions), recursions, 0, "ms", 1e-6},
};

typedef struct run_case {
    const openmp_runtime *runtime;
    const table *table;
    uint32_t threads;
} run_case;

/* Less than this is none that could be told from the delay's own changes. */
#define OVERHEAD_LEAST_NS 1.0

/* Geometric mean. */
static double
overhead(const double *took_ns, uint32_t rows)
{
    double beyond_ns[BENCH_VALUES_MAX];
    for (uint32_t i = 1; i < rows; i++) {
        double more_ns = took_ns[i] - took_ns[0];
        beyond_ns[i - 1] = more_ns > OVERHEAD_LEAST_NS ? more_ns : OVERHEAD_LEAST_NS;
    }
    return openmp_mean(beyond_ns, rows - 1);
}

static bool
measure(const bench *b, void *context, double *values)
{
    const run_case *c = context;
    const table *t = c->table;
    bool crowded = c->threads > b->processor_count;
    uint32_t full = crowded ? t->repetitions_crowded : t->repetitions;
    if (!openmp_values(c->runtime, t->program, c->threads, bench_count(b, full), NULL, values,
                       t->rows)) {
        return bench_failed(c->runtime->name, "tasks went wrong");
    }
    for (uint32_t i = 0; i < t->rows; i++) {
        values[i] *= t->scale;
    }
    values[t->rows] = openmp_mean(values + t->without, t->rows - t->without);
    if (t->without) {
        values[t->rows + 1] = overhead(values, t->rows);
    }
    return true;
}

#define MEANS 2u
_Static_assert(BENCH_COUNT(ways) + MEANS <= BENCH_VALUES_MAX, "they fit");
static const char *const mean_names[MEANS] = {"geometric mean", "overhead, geometric mean"};

static void
goals_fill(bench_goal *goals, const char *name, uint32_t value)
{
    goals[0] = (bench_goal){.name = name,
                            .first_peer = 1,
                            .peer_count = 1,
                            .direction = BENCH_AT_MOST,
                            .factor = 0.7,
                            .value = value};
    goals[1] = goals[0];
    goals[1].peer_count = 2;
    goals[1].factor = 0.9;
}

/* Goals are for geometric means; each row is told beside them. */
static void
ask(bench *b, const table *asked, uint32_t threads)
{
    run_case cases[OPENMP_RUNTIMES];
    bench_subject subjects[OPENMP_RUNTIMES];
    for (uint32_t i = 0; i < OPENMP_RUNTIMES; i++) {
        cases[i] = (run_case){&openmp_runtimes[i], asked, threads};
        subjects[i] = (bench_subject){openmp_runtimes[i].name, measure, &cases[i]};
    }
    bench_goal goals[MEANS * 2];
    uint32_t means = asked->without ? MEANS : 1;
    bench_question question = {.setting = asked->setting,
                               .unit = asked->unit,
                               .value_count = asked->rows + means,
                               .subjects = subjects,
                               .subject_count = OPENMP_RUNTIMES,
                               .goals = goals,
                               .goal_count = means * 2};
    for (uint32_t i = 0; i < asked->rows; i++) {
        question.value_names[i] = asked->row_names[i];
    }
    for (uint32_t i = 0; i < means; i++) {
        question.value_names[asked->rows + i] = mean_names[i];
        goals_fill(&goals[i * 2], mean_names[i], asked->rows + i);
    }
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
