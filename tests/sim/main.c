/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs scenarios under seeds: docs/design/sim.md.
 *
 * usage: sim [OPTION...]
 *   --scenario NAME   only this one; may be repeated
 *   --seeds N         so many seeds of each (default 200; MEDLEY_TEST_EXHAUSTIVE=1: 10000)
 *   --first N         the first of them (default 1)
 *   --seed N          this one, with what the program logs
 *   --mutants         weakens each memory order in turn: some seed must find each
 *   --halves          with --mutants: of what acquires and releases, each by itself
 *   --mutant-seeds N  so many seeds per mutant (default 200000)
 *   --weaken F:LINE   runs seeds with the order at this line weakened, to see how it fails
 *   --list            names them
 * Exit: 0 all passed, 1 something failed, 2 wrong use.
 */
#include <inttypes.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mutants.h"
#include "program.h"
#include "report.h"
#include "shrink.h"

static double
now_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool
wrong_use(const char *what)
{
    fprintf(stderr, "sim: %s; see tests/sim/main.c\n", what);
    return false;
}

/* ---- One scenario ---------------------------------------------------------------------------- */

#define SEEDS_PER_REPEAT 20u

/* One seed, one run: now and then a seed is run once more. */
static bool
repeats(const options *o, const sim_order *order, const sim_outcome *outcome)
{
    if (order->seed % SEEDS_PER_REPEAT != 0) {
        return true;
    }
    sim_run(order, o->second);
    bool same = outcome->kind == o->second->kind && outcome->steps == o->second->steps &&
                outcome->event_count == o->second->event_count &&
                outcome->plan.count == o->second->plan.count &&
                memcmp(outcome->events, o->second->events, sizeof outcome->events) == 0;
    if (!same) {
        printf("%s: seed %" PRIu64 ": a second run goes another way\n", order->scenario->name,
               order->seed);
    }
    return same;
}

static bool
run_seeds(const options *o, const sim_scenario *scenario, sim_outcome *outcome)
{
    if (o->weaken && !mutant_weaken_line(o, scenario, outcome, o->weaken)) {
        return wrong_use("no order at the line to weaken");
    }
    double start_s = now_s();
    uint64_t points = sim_world_points();
    uint64_t deaths = 0;
    for (uint64_t seed = o->first; seed < o->first + o->seeds; seed++) {
        sim_order order = {
            .scenario = scenario, .seed = seed, .steps_max = STEPS_MAX, .loud = o->loud};
        sim_run(&order, outcome);
        deaths += outcome->deaths;
        if (!repeats(o, &order, outcome)) {
            return false;
        }
        if (outcome->kind != SIM_PASSED) {
            report_failure(scenario, seed, outcome);
            shrink(o, &order, outcome);
            printf("  shrunk: ");
            report_failure(scenario, seed, outcome);
            report_events(outcome);
            report_plan(&outcome->plan);
            return false;
        }
    }
    double seconds = now_s() - start_s;
    points = sim_world_points() - points;
    printf("%-14s %6" PRIu64 " seeds, %9" PRIu64 " points, %5" PRIu64
           " deaths, %6.2f s, %5.1f M/s\n",
           scenario->name, o->seeds, points, deaths, seconds, (double)points * 1e-6 / seconds);
    return true;
}

static bool
is_wanted(const options *o, const sim_scenario *scenario)
{
    for (uint32_t i = 0; i < o->name_count; i++) {
        if (strcmp(o->names[i], scenario->name) == 0) {
            return true;
        }
    }
    return o->name_count == 0;
}

/* ---- Options --------------------------------------------------------------------------------- */

static bool
option_with_value(options *o, const char *option, const char *value)
{
    uint64_t number = strtoull(value, NULL, 10);
    if (strcmp(option, "--scenario") == 0 && o->name_count < NAMES_MAX) {
        o->names[o->name_count++] = value;
    } else if (strcmp(option, "--seeds") == 0) {
        o->seeds = number;
    } else if (strcmp(option, "--first") == 0) {
        o->first = number;
    } else if (strcmp(option, "--seed") == 0) {
        o->first = number;
        o->seeds = 1;
        o->loud = true;
    } else if (strcmp(option, "--weaken") == 0) {
        o->weaken = value;
    } else if (strcmp(option, "--mutant-seeds") == 0) {
        o->mutant_seeds = number;
    } else {
        return wrong_use(option);
    }
    return true;
}

static bool
options_read(options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            o->list = true;
        } else if (strcmp(argv[i], "--halves") == 0) {
            o->halves = true;
        } else if (strcmp(argv[i], "--mutants") == 0) {
            o->mutants = true;
        } else if (i + 1 == argc || !option_with_value(o, argv[i], argv[i + 1])) {
            return wrong_use(argv[i]);
        } else {
            i++;
        }
    }
    return true;
}

/* The world lies beside the program. */
static void
world_path(char *path, size_t size)
{
    char self[4096] = "";
    (void)!readlink("/proc/self/exe", self, sizeof self - 1);
    (void)snprintf(path, size, "%s/sim_world.so", dirname(self));
}

int
main(int argc, char **argv)
{
    static char path[4200];
    static sim_outcome outcome;
    static sim_outcome second;
    const char *exhaustive = getenv("MEDLEY_TEST_EXHAUSTIVE");
    options o = {.seeds = exhaustive && *exhaustive == '1' ? 10000 : 200,
                 .first = 1,
                 .mutant_seeds = 200000};
    if (!options_read(&o, argc, argv)) {
        return 2;
    }
    world_path(path, sizeof path);
    report_program(path);
    outcome.plan.deviations = calloc(SIM_DEVIATIONS_MAX, sizeof *outcome.plan.deviations);
    second.plan.deviations = calloc(SIM_DEVIATIONS_MAX, sizeof *second.plan.deviations);
    o.second = &second;
    if (!outcome.plan.deviations || !second.plan.deviations || !sim_world_begin(path)) {
        return 1;
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    bool good = true;
    for (const sim_scenario *const *s = sim_world_scenarios(); *s; s++) {
        if (o.list) {
            printf("%s\n", (*s)->name);
        } else if (is_wanted(&o, *s)) {
            good = (o.mutants ? mutants_run : run_seeds)(&o, *s, &outcome) && good;
        }
    }
    return good ? 0 : 1;
}
