/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Hetprobe-I (libHetMP, section 3.3), for loops whose iterations change on their way: as hetprobe,
 * but the rest is given away by and by, and each time that some per cent of the loop are given
 * there is another probe, by which what is left is split anew.
 *
 * Each class has a queue of units. Before and behind a probe what is left in all queues is joined,
 * with jumps over what has been given away, and shared out again (rest.h). A member takes its share
 * of the probe first, then parts from its class's queue, the larger the faster the class is; where
 * that is empty, from the one that has most. Nobody waits for another one's probe.
 *
 * The last unit is in no queue: who finds all empty takes it, and nothing behind it, as with steal.
 *
 * What may run together: `next`, by all members, and all of it under the lock of the loop: parts
 * are few, some for each member and probe.
 */
#include "omp/lock.h"
#include "omp/schedule/het.h"

#define PARTS 4u /* that a member takes from one probe to the next, or so */

/* ---- Shared out ------------------------------------------------------------------------------ */

/* To each member that has none its share of the next probe; it rises with their numbers. */
static void
probe_share(const med_work *work, med_rest *whole, uintptr_t each)
{
    med_het *het = work->het;
    het->pace = (med_pace){.ns = {0}};
    het->probing = 0;
    for (uint32_t i = 0; i < work->members; i++) {
        med_het_member *member = &het->members[i];
        if (member->probe.first == member->probe.end) {
            member->probe = med_rest_take(whole, each);
            het->given += member->probe.end - member->probe.first;
        }
        het->probing += member->probe.first != member->probe.end;
    }
    het->given_at_probe = het->given;
}

static void
het_i_begin(med_work *work, const med_team *team, const med_loop *loop)
{
    if (!med_het_plan(work, team, loop, false)) {
        return;
    }
    med_het *het = work->het;
    med_rest whole = {.count = 0};
    med_rest_put(&whole, (med_units){.first = 0, .end = work->units - 1});
    /* A later probe is as much of what is given away since the last one as the first is of all. */
    uint32_t percent = med_settings_get()->uneven.again_percent;
    het->again_each = med_percent_of(het->probe_each, percent);
    het->again = med_percent_of(work->units, percent);
    if (het->probes) {
        probe_share(work, &whole, het->probe_each);
    }
    med_rest_share(&whole, &het->split, het->queues);
}

static void
share_again(med_work *work, uintptr_t probe_each)
{
    med_het *het = work->het;
    med_rest whole;
    if (med_rest_join(het->queues, het->split.classes, &whole)) {
        if (probe_each) {
            probe_share(work, &whole, probe_each);
            atomic32_fetch_add_relaxed(&het->site->reprobes,
                                       1); /* relaxed: for who wants to know */
        }
        med_rest_share(&whole, &het->split, het->queues);
    }
}

/* ---- Probes ---------------------------------------------------------------------------------- */

static uintptr_t
left_in_queues(const med_het *het)
{
    uintptr_t left = 0;
    for (uint32_t i = 0; i < het->split.classes; i++) {
        left += het->queues[i].units;
    }
    return left;
}

/* The loop's first probe tells of the whole loop, and is kept; the others, of what comes next. */
static void
probe_back(med_work *work, med_het_member *own, uintptr_t units)
{
    med_het *het = work->het;
    het->probing -= het->probing != 0;
    if (het->probed < work->members) {
        (void)med_het_measured(work, own, units);
    } else {
        het->pace.ns[own->class] += med_het_since(own);
        het->pace.units[own->class] += units;
        own->measures = false;
    }
    if (het->probing > 0) {
        return;
    }
    uint32_t weights[MED_CLASSES_MAX];
    med_pace_weights(&het->pace, het->split.classes, weights);
    for (uint32_t i = 0; i < het->split.classes; i++) {
        het->split.weights[i] = weights[i] ? weights[i] : het->split.weights[i];
    }
    med_site_note_split(het->site, &het->split);
    share_again(work, 0);
}

static bool
wants_probe(const med_work *work)
{
    const med_het *het = work->het;
    return het->probes && het->again_each > 0 && het->probing == 0 &&
           het->given - het->given_at_probe >= het->again &&
           left_in_queues(het) >= het->again_each * work->members;
}

/* ---- Taken ----------------------------------------------------------------------------------- */

/* What a member of the class does from one probe to the next, in parts. */
static uintptr_t
part_length(const med_work *work, uint32_t class)
{
    const med_het *het = work->het;
    uintptr_t whole = het->again ? het->again : 1;
    med_units part = med_split_class(&het->split, whole, class);
    uintptr_t members = het->split.members[class] ? het->split.members[class] : 1;
    uintptr_t length = (part.end - part.first) / members / PARTS;
    return length ? length : 1;
}

static uint32_t
longest_queue(const med_het *het)
{
    uint32_t longest = 0;
    for (uint32_t i = 1; i < het->split.classes; i++) {
        longest = het->queues[i].units > het->queues[longest].units ? i : longest;
    }
    return longest;
}

static med_units
part_of_queue(med_work *work, const med_het_member *own)
{
    med_het *het = work->het;
    uint32_t class = own->class;
    uintptr_t length = part_length(work, class);
    if (het->queues[class].units == 0) { /* no more than half of what others would do */
        class = longest_queue(het);
        uintptr_t half = (het->queues[class].units + 1) / 2;
        length = length < half ? length : half;
    }
    med_units units = med_rest_take(&het->queues[class], length);
    het->given += units.end - units.first;
    return units;
}

static med_units
part_of_it(med_work *work, med_het_member *own, uintptr_t had)
{
    med_het *het = work->het;
    if (own->measures) {
        probe_back(work, own, had);
    }
    if (wants_probe(work)) {
        share_again(work, het->again_each);
    }
    med_units units = own->probe;
    own->probe = (med_units){.first = 0};
    own->measures = units.first < units.end;
    if (!own->measures) {
        units = part_of_queue(work, own);
    }
    if (units.first == units.end && !het->last_given) {
        het->last_given = true;
        units = (med_units){.first = work->units - 1, .end = work->units};
    }
    return units;
}

static bool
het_i_next(med_work *work, med_member *member, med_units *units)
{
    med_het_member *own = &work->het->members[member->number];
    if (units->end == work->units) {
        return false; /* that was the last one */
    }
    uintptr_t had = units->end - units->first;
    med_omp_lock_set(&work->het->lock, member);
    *units = part_of_it(work, own, had);
    med_omp_lock_unset(&work->het->lock);
    if (own->measures) {
        own->since_ns = med_port_clock_ns();
    }
    return units->first < units->end;
}

const med_schedule med_schedule_hetprobe_i = {
    .name = "hetprobe-i", .notes = true, .begin = het_i_begin, .next = het_i_next};
