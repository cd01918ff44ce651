/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Each attempt is a run of its own, under a plan with fewer choices. Of one that still fails only
 * the choices that it came to are kept.
 */
#include "shrink.h"

#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 20000u
/* A plan that leads nowhere is given up sooner than a run by seed. */
#define STEPS_FACTOR 4u

typedef struct search {
    sim_order order;
    sim_failure_kind kind;
    sim_plan best;    /* the shortest plan that fails, in the order in which it was chosen */
    sim_plan attempt; /* sorted, for the simulator */
    sim_outcome *outcome;
    uint32_t runs;
} search;

static int
compare(const void *left, const void *right)
{
    const sim_deviation *a = left;
    const sim_deviation *b = right;
    if (a->fiber != b->fiber) {
        return a->fiber < b->fiber ? -1 : 1;
    }
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    return a->ordinal < b->ordinal ? -1 : a->ordinal > b->ordinal;
}

/* The best plan without `count` choices from `first` on: does it fail in the same way? */
static bool
fails_without(search *s, uint32_t first, uint32_t count)
{
    uint32_t rest = s->best.count - first - count;
    sim_deviation *to = s->attempt.deviations;
    memcpy(to, s->best.deviations, first * sizeof *to);
    memcpy(to + first, s->best.deviations + first + count, rest * sizeof *to);
    s->attempt.count = first + rest;
    qsort(to, s->attempt.count, sizeof *to, compare);
    s->runs++;
    sim_run(&s->order, s->outcome);
    return s->outcome->kind == s->kind;
}

/* Only those that the run came to are kept, which may be fewer than were asked for. */
static void
keep(search *s)
{
    s->best.count = s->outcome->plan.count;
    memcpy(s->best.deviations, s->outcome->plan.deviations,
           s->best.count * sizeof *s->best.deviations);
}

/* One pass with parts of that size. True: something could be left out. */
static bool
pass(search *s, uint32_t size)
{
    bool smaller = false;
    uint32_t first = 0;
    while (first < s->best.count && s->runs < RUNS_MAX) {
        uint32_t here = s->best.count - first < size ? s->best.count - first : size;
        if (fails_without(s, first, here)) {
            keep(s);
            smaller = true;
        } else {
            first += here;
        }
    }
    return smaller;
}

static void
search_all(search *s)
{
    uint32_t size = s->best.count;
    while (size >= 1 && s->runs < RUNS_MAX) {
        bool smaller = pass(s, size);
        if (size == 1 && !smaller) {
            break;
        }
        size = size > 1 ? size / 2 : 1;
    }
}

void
shrink(const options *o, const sim_order *order, sim_outcome *failed)
{
    sim_early early = failed->early;
    search s = {.order = *order, .kind = failed->kind, .outcome = o->second};
    s.best.deviations = malloc(SIM_DEVIATIONS_MAX * sizeof *s.best.deviations);
    s.attempt.deviations = malloc(SIM_DEVIATIONS_MAX * sizeof *s.attempt.deviations);
    if (s.best.deviations && s.attempt.deviations) {
        s.best.count = failed->plan.count;
        memcpy(s.best.deviations, failed->plan.deviations,
               s.best.count * sizeof *s.best.deviations);
        s.order.plan = &s.attempt;
        s.order.early = early.there ? &early : NULL;
        s.order.steps_max = failed->steps * STEPS_FACTOR + 1000;
        search_all(&s);
        if (fails_without(&s, 0, 0)) {
            sim_deviation *mine = failed->plan.deviations;
            memcpy(mine, o->second->plan.deviations, o->second->plan.count * sizeof *mine);
            *failed = *o->second;
            failed->plan.deviations = mine;
        }
    }
    free(s.best.deviations);
    free(s.attempt.deviations);
}
