/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs scenarios under seeds: docs/design/sim.md. */
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
#include "seed.h"
#include "shrink.h"
#include "survivors.h"

static double
now_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const char help[] =
    "usage: sim [OPTION...]\n"
    "\n"
    "  --scenario NAME   only this one; may be repeated\n"
    "  --seeds N         so many seeds of each (default 200; MEDLEY_TEST_EXHAUSTIVE=1: 10000)\n"
    "  --first N         the first of them (default 1)\n"
    "  --seed N          this one, with what the program logs\n"
    "  --mutants         weakens each memory order in turn, tears each read-modify-write:\n"
    "                    some seed must find each\n"
    "  --orders          lists the orders that it weakens, and those that no scenario finds\n"
    "  --mutant-seeds N  so many seeds per mutant (default 200000)\n"
    "  --weaken F:LINE   runs seeds with the order at this line weakened, to see how it fails, of\n"
    "                    the scenarios that meet it; or otherwise: no-release:F:LINE,\n"
    "                    no-acquire:F:LINE, not-total:F:LINE, torn:F:LINE\n"
    "  --world NAME      of this one beside the program (default sim_world)\n"
    "  --list            names them\n"
    "  -h, --help        this text\n"
    "\n"
    "Exit: 0 all passed, 1 something failed, 2 wrong use.\n";

static bool
wrong_use(const char *option, const char *value, const char *want)
{
    fprintf(stderr, "sim: %s '%s': %s; 'sim --help' says how it is used\n", option, value, want);
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
    seed_run(order, o->second);
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
    double start_s = now_s();
    uint64_t points = sim_world_points();
    uint64_t deaths = 0;
    for (uint64_t seed = o->first; seed < o->first + o->seeds; seed++) {
        sim_order order = {.scenario = scenario,
                           .seed = seed,
                           .steps_max = STEPS_MAX,
                           .varied = !o->weaken, /* else the same as a mutant's run */
                           .loud = o->loud};
        seed_run(&order, outcome);
        deaths += outcome->deaths;
        if (!repeats(o, &order, outcome)) {
            return false;
        }
        if (outcome->kind != SIM_PASSED) {
            report_failure(o, scenario, seed, outcome);
            shrink(o, &order, outcome);
            printf("  shrunk: ");
            report_failure(o, scenario, seed, outcome);
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

/* Two of them can be added. */
static bool
number_read(const char *option, const char *value, uint64_t least, uint64_t *number)
{
    char *end;
    *number = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || *number < least || *number > INT64_MAX) {
        return wrong_use(option, value, least ? "want a number from 1 on" : "want a number");
    }
    return true;
}

static bool
option_with_value(options *o, const char *option, const char *value)
{
    if (strcmp(option, "--scenario") == 0) {
        if (o->name_count == NAMES_MAX) {
            return wrong_use(option, value, "too many; without any, all run");
        }
        o->names[o->name_count++] = value;
        return true;
    }
    if (strcmp(option, "--weaken") == 0) {
        o->weaken = value;
        return true;
    }
    if (strcmp(option, "--world") == 0) {
        o->world = value;
        return true;
    }
    if (strcmp(option, "--seed") == 0) {
        o->seeds = 1;
        o->loud = true;
        return number_read(option, value, 0, &o->first);
    }
    if (strcmp(option, "--seeds") == 0) {
        return number_read(option, value, 1, &o->seeds);
    }
    if (strcmp(option, "--first") == 0) {
        return number_read(option, value, 0, &o->first);
    }
    if (strcmp(option, "--mutant-seeds") == 0) {
        return number_read(option, value, 1, &o->mutant_seeds);
    }
    return wrong_use("option", option, "unknown");
}

/* One without a value. */
static bool
switch_set(options *o, const char *option)
{
    bool *on = strcmp(option, "--list") == 0      ? &o->list
               : strcmp(option, "--mutants") == 0 ? &o->mutants
               : strcmp(option, "--orders") == 0  ? &o->orders
               : strcmp(option, "--help") == 0    ? &o->help
               : strcmp(option, "-h") == 0        ? &o->help
                                                  : NULL;
    if (on) {
        *on = true;
    }
    return on;
}

static bool
options_read(options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (switch_set(o, argv[i])) {
            continue;
        }
        const char *value = argv[i + 1] ? argv[i + 1] : "";
        if (!option_with_value(o, argv[i], value)) {
            return false;
        }
        i++;
    }
    return true;
}

/* Options that go together? */
static bool
options_fit(const options *o)
{
    return !(o->weaken && o->mutants) ||
           wrong_use("--weaken", o->weaken, "--mutants weakens by itself");
}

static bool
names_known(const options *o)
{
    for (uint32_t i = 0; i < o->name_count; i++) {
        const sim_scenario *const *s = sim_world_scenarios();
        while (*s && strcmp(o->names[i], (*s)->name) != 0) {
            s++;
        }
        if (!*s) {
            return wrong_use("--scenario", o->names[i], "there is none; --list names them");
        }
    }
    return true;
}

/* The world lies beside the program. */
static void
world_path(const char *name, char *path, size_t size)
{
    char self[4096] = "";
    (void)!readlink("/proc/self/exe", self, sizeof self - 1);
    (void)snprintf(path, size, "%s/%s.so", dirname(self), name);
}

static int
scenarios_list(void)
{
    for (const sim_scenario *const *s = sim_world_scenarios(); *s; s++) {
        printf("%s\n", (*s)->name);
    }
    return 0;
}

static int
scenarios_run(const options *o, sim_outcome *outcome)
{
    bool (*work)(const options *, const sim_scenario *, sim_outcome *) = o->orders    ? mutants_list
                                                                         : o->mutants ? mutants_run
                                                                                      : run_seeds;
    bool good = true;
    bool met = !o->weaken; /* what is to be weakened, if anything */
    for (const sim_scenario *const *s = sim_world_scenarios(); *s; s++) {
        if (is_wanted(o, *s) && (!o->weaken || mutant_weaken_line(*s, outcome, o->weaken))) {
            met = true;
            good = work(o, *s, outcome) && good;
        }
    }
    if (!met) {
        (void)wrong_use("--weaken", o->weaken, "no order was met there");
        return 2;
    }
    if (o->orders) {
        survivors_print();
    }
    return good ? 0 : 1;
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
                 .mutant_seeds = 200000,
                 .world = WORLD_USUAL};
    if (!options_read(&o, argc, argv) || !options_fit(&o)) {
        return 2;
    }
    if (o.help) {
        (void)fputs(help, stdout);
        return 0;
    }
    world_path(o.world, path, sizeof path);
    report_program(path);
    outcome.plan.deviations = calloc(SIM_DEVIATIONS_MAX, sizeof *outcome.plan.deviations);
    second.plan.deviations = calloc(SIM_DEVIATIONS_MAX, sizeof *second.plan.deviations);
    o.second = &second;
    if (!outcome.plan.deviations || !second.plan.deviations || !sim_world_begin(path)) {
        return 1;
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (!names_known(&o)) {
        return 2;
    }
    return o.list ? scenarios_list() : scenarios_run(&o, &outcome);
}
