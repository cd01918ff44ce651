/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The simulator's speed: scheduling points a second, of the program that the tests run, started
 * anew for each restart, on scenarios of different kinds.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define SEEDS 1000u
#define GOAL_MILLION 1.0

/* The number before "M/s" on the line that the program prints per scenario. */
static bool
measure(const bench *b, void *context, double *values)
{
    const char *scenario = context;
    char command[512];
    char line[256] = "";
    (void)snprintf(command, sizeof command, "%s --scenario %s --seeds %llu", SIM_PROGRAM, scenario,
                   (unsigned long long)bench_count(b, SEEDS));
    FILE *output = popen(command, "r");
    if (!output) {
        return bench_failed(scenario, "cannot start the simulator");
    }
    bool read = fgets(line, sizeof line, output) != NULL;
    bool passed = pclose(output) == 0;
    const char *comma = strrchr(line, ',');
    if (!read || !passed || !comma || sscanf(comma + 1, "%lf M/s", &values[0]) != 1) {
        return bench_failed(scenario, "a seed failed");
    }
    return true;
}

int
main(int argc, char **argv)
{
    static const bench_subject subjects[] = {
        {"ring with one producer", measure, "ring_packed"},
        {"ring with many producers", measure, "ring_mpsc"},
        {"lock", measure, "lock"},
        {"MRAPI between processes", measure, "mrapi"},
    };
    static const char *const names[] = {"points a second, one producer",
                                        "points a second, many producers", "points a second, lock",
                                        "points a second, MRAPI"};
    enum {
        COUNT = sizeof subjects / sizeof subjects[0]
    };
    bench b;
    bench_goal goals[COUNT];
    bench_begin(&b, argc, argv, "sim_bench", "The simulator");
    for (uint32_t i = 0; i < COUNT; i++) {
        goals[i] = (bench_goal){.name = names[i],
                                .own = i,
                                .figure = GOAL_MILLION,
                                .factor = 1.0,
                                .direction = BENCH_AT_LEAST};
    }
    bench_question question = {.name = "scheduling points of the simulator",
                               .setting = "one thread; the seeds of make test, and more",
                               .unit = "M/s",
                               .value_count = 1,
                               .subjects = subjects,
                               .subject_count = COUNT,
                               .goals = goals,
                               .goal_count = COUNT};
    bench_ask(&b, &question);
    return bench_end(&b);
}
