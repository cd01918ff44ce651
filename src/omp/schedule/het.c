/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How a loop is split between unlike cores: what is known of it, whether it is probed. */
#include "omp/schedule/het.h"

#include <string.h>

#include "mrapi/heap_lent.h"
#include "omp/cores.h"

/* So long a loop takes at least that is probed: a probe costs each member two looks at the clock, a
 * lock and one more part, less than 1 us. */
#define SHORT_NS 20000u

/* ---- What is there --------------------------------------------------------------------------- */

static med_het *
het_make(med_work *work)
{
    if (!work->het || work->het->room < work->members) {
        med_heap_take_back(work->het);
        work->het = med_heap_lend(sizeof *work->het + work->members * sizeof(med_het_member));
    }
    if (work->het) {
        uint32_t room = work->het->room > work->members ? work->het->room : work->members;
        memset(work->het, 0, sizeof *work->het);
        memset(work->het->members, 0, work->members * sizeof(med_het_member));
        work->het->room = room;
    }
    return work->het;
}

/* How many classes have members. */
static uint32_t
classes_fill(med_het *het, const med_work *work, const med_team *team)
{
    uint32_t used = 0;
    het->split.classes = med_cores_classes();
    for (uint32_t i = 0; i < work->members; i++) {
        uint32_t class = med_cores_class(team->members[i]);
        het->members[i].class = class;
        het->members[i].rank = het->split.members[class]++;
        used += het->members[i].rank == 0;
    }
    return used;
}

/* ---- Ratios ---------------------------------------------------------------------------------- */

static uint32_t
weight_measured(const med_het *het, uint32_t class)
{
    return atomic32_load_relaxed(&het->site->weights[class]); /* relaxed: a measurement */
}

static uint32_t
weight_told(const med_het *het, uint32_t class)
{
    const med_uneven *told = &med_settings_get()->uneven;
    (void)het;
    return class < told->ratio_count ? told->ratios[class] : 0;
}

static uint32_t
weight_of_system(const med_het *het, uint32_t class)
{
    (void)het;
    return med_cores_capacity(class);
}

/* False: some class that has members has no weight, and nothing is done. */
static bool
weights_take(med_het *het, uint32_t (*weight_of)(const med_het *het, uint32_t class))
{
    med_split split = het->split;
    for (uint32_t i = 0; i < split.classes; i++) {
        uint32_t weight = weight_of(het, i);
        if (weight == 0 && split.members[i]) {
            return false;
        }
        split.weights[i] = weight ? weight : 1;
    }
    het->split = split;
    return true;
}

/* Nothing is measured: as the system says, or all alike. */
static void
weights_guess(med_het *het)
{
    if (!weights_take(het, weight_of_system)) {
        for (uint32_t i = 0; i < het->split.classes; i++) {
            het->split.weights[i] = 1;
        }
    }
}

/* ---- The plan -------------------------------------------------------------------------------- */

static med_site_why
why_not(const med_loop *loop, const med_team *team, uint32_t used)
{
    if (loop->ordered || loop->dimensions) {
        return MED_SITE_ORDERED;
    }
    if (!team->members[0]->placement.count) {
        return MED_SITE_UNBOUND;
    }
    return used < 2 ? MED_SITE_ONE_CLASS : MED_SITE_PROBED;
}

/* Who begins the same loop elsewhere may probe once more. */
static med_site_why
what_next(const med_work *work, const med_site *site, uintptr_t probe_each)
{
    const med_uneven *uneven = &med_settings_get()->uneven;
    if (uneven->probes_most == 0) {
        return MED_SITE_UNPROBED;
    }
    if (med_site_is_short(site, work->units) && !med_site_is_due(site, &site->short_due)) {
        return MED_SITE_SHORT;
    }
    /* Relaxed: as all of a site. */
    bool is_enough = atomic32_load_relaxed(&site->probes) >= uneven->probes_most;
    if (is_enough && !(uneven->probe_again && med_site_is_due(site, &site->probe_due))) {
        return MED_SITE_CACHED;
    }
    return probe_each ? MED_SITE_PROBED : MED_SITE_FEW;
}

/* Of a loop on unlike cores. What was measured of a loop says nothing while it is short: then time
 * is lost by what lies around it. */
static med_site_why
plan_probe(const med_work *work, med_het *het)
{
    const med_site *site = het->site;
    if (weights_take(het, weight_told)) {
        het->is_split = true;
        return MED_SITE_TOLD;
    }
    med_site_why why = what_next(work, site, het->probe_each);
    het->is_split = why != MED_SITE_SHORT && weights_take(het, weight_measured);
    if (!het->is_split) {
        weights_guess(het);
    }
    het->probes = why == MED_SITE_PROBED;
    return why;
}

static void
note(const med_work *work, const med_het *het, med_site_why why, const char *schedule)
{
    med_site *site = het->site;
    med_site_note(site, why, schedule, work->units);
    med_site_note_split(site, &het->split);
    for (uint32_t i = 0; i < het->split.classes && why == MED_SITE_TOLD; i++) {
        /* Relaxed: for who wants to know. */
        atomic32_store_relaxed(&site->weights[i], het->split.weights[i]);
    }
}

static void
be_static(med_work *work)
{
    work->schedule = &med_schedule_static;
    work->chunk = 0;
}

bool
med_het_plan(med_work *work, const med_team *team, const med_loop *loop, bool wholes)
{
    const char *name = work->schedule->name;
    if (work->units == 0) {
        be_static(work);
        return false;
    }
    const med_uneven *told = &med_settings_get()->uneven;
    const void *region = (const void *)(uintptr_t)team->gate.entry;
    med_site *site = med_site_of(loop->code, region, loop->source);
    med_het *het = site ? het_make(work) : NULL;
    if (!het) {
        be_static(work);
        return false;
    }
    het->site = site;
    uintptr_t probe = med_percent_of(work->units, told->probe_percent);
    het->probe_each = (wholes ? work->units : probe) / work->members;
    med_site_why why = why_not(loop, team, classes_fill(het, work, team));
    why = why == MED_SITE_PROBED ? plan_probe(work, het) : why;
    note(work, het, why, name);
    if (why == MED_SITE_ORDERED || why == MED_SITE_UNBOUND || why == MED_SITE_ONE_CLASS) {
        be_static(work);
        return false;
    }
    work->chunk = 0;
    return true;
}

/* ---- Measured -------------------------------------------------------------------------------- */

/* How long a member would be at the whole loop, by the probe. */
static bool
is_short(const med_work *work)
{
    const med_het *het = work->het;
    uint64_t ns = 0, units = 0;
    for (uint32_t i = 0; i < het->split.classes; i++) {
        ns += het->pace.ns[i];
        units += het->pace.units[i];
    }
    ns = ns < UINT64_MAX / 1000 ? ns : UINT64_MAX / 1000;
    return units == 0 || ns * 1000 / units * (work->units / work->members) / 1000 < SHORT_NS;
}

bool
med_het_measured(med_work *work, med_het_member *own, uintptr_t units)
{
    med_het *het = work->het;
    het->pace.ns[own->class] += units ? med_het_since(own) : 0;
    het->pace.units[own->class] += units;
    own->measures = false;
    if (++het->probed < work->members) {
        return false;
    }
    if (is_short(work)) {
        med_site_learn_short(het->site, work->units);
        atomic32_store_relaxed(&het->site->why, MED_SITE_SHORT); /* relaxed: as all of a site */
    } else {
        med_site_learn(het->site, &het->pace, het->split.classes,
                       med_settings_get()->uneven.probe_again);
        if (!het->is_split && weights_take(het, weight_measured)) {
            med_site_note_split(het->site, &het->split);
        }
    }
    het->is_split = true;
    return true;
}
