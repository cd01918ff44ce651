/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Hetprobe (libHetMP, section 3.2), between the classes of a machine's cores: a small part of the
 * loop is probed, in equal shares, which lie at its beginning in the members' order. The rest is
 * split in proportion to the speed that was measured.
 *
 * Nobody waits for another one's probe: programs may have a member come to a loop only after
 * another has left it. Who is back from his and finds no ratios yet takes small parts from the
 * front of the rest, until the last one is back; what is left then is split. Once a loop has
 * ratios, the rest is split from the start, so each core gets the same iterations from one
 * invocation to the next; when it was probed often enough, all of it is.
 *
 * What may run together: `next`, by all members; the lock is for what changes. A probe is short of
 * nothing but time, so its being held by one who lost his processor costs no more than that.
 */
#include "omp/lock.h"
#include "omp/schedule/het.h"

#define SMALLER 4u /* a part that is taken meanwhile than a probe's share */

static void
hetprobe_begin(med_work *work, const med_team *team, const med_loop *loop)
{
    if (med_het_plan(work, team, loop, false)) {
        work->het->rest = work->het->probes ? work->het->probe_each * work->members : 0;
    }
}

/* Of what is left: it is split between all. */
static med_units
part_of_rest(const med_work *work, const med_het_member *own)
{
    const med_het *het = work->het;
    med_units part = med_split_member(&het->split, work->units - het->rest, own->class, own->rank);
    return (med_units){.first = het->rest + part.first, .end = het->rest + part.end};
}

static med_units
part_meanwhile(med_work *work)
{
    med_het *het = work->het;
    uintptr_t left = work->units - het->rest;
    uintptr_t part = het->probe_each / SMALLER + (het->probe_each < SMALLER);
    med_units units = {.first = het->rest, .end = het->rest + (part < left ? part : left)};
    het->rest = units.end;
    return units;
}

static med_units
behind_probe(med_work *work, med_member *member, med_het_member *own)
{
    med_units units;
    med_omp_lock_set(&work->het->lock, member);
    if (own->measures) {
        (void)med_het_measured(work, own, work->het->probe_each);
    }
    if (work->het->is_split) {
        units = part_of_rest(work, own);
        own->has_part = true;
    } else {
        units = part_meanwhile(work);
    }
    med_omp_lock_unset(&work->het->lock);
    return units;
}

static bool
hetprobe_next(med_work *work, med_member *member, med_units *units)
{
    med_het *het = work->het;
    med_het_member *own = &het->members[member->number];
    if (own->has_part) {
        return false;
    }
    if (!het->probes) {
        *units = part_of_rest(work, own);
        own->has_part = true;
    } else if (member->share.rounds == 0) {
        units->first = het->probe_each * member->number;
        units->end = units->first + het->probe_each;
        own->measures = true;
        own->since_ns = med_port_clock_ns();
    } else {
        *units = behind_probe(work, member, own);
    }
    return units->first < units->end;
}

const med_schedule med_schedule_hetprobe = {
    .name = "hetprobe", .notes = true, .begin = hetprobe_begin, .next = hetprobe_next};

/* ---- Measured whole -------------------------------------------------------------------------- */

static void
whole_begin(med_work *work, const med_team *team, const med_loop *loop)
{
    (void)med_het_plan(work, team, loop, true);
}

static bool
whole_next(med_work *work, med_member *member, med_units *units)
{
    med_het_member *own = &work->het->members[member->number];
    *units = part_of_rest(work, own);
    if (work->het->probes) {
        own->measures = true;
        own->since_ns = med_port_clock_ns();
    }
    return member->share.rounds == 0 && units->first < units->end;
}

const med_schedule med_schedule_hetprobe_whole = {
    .name = "hetprobe", .notes = true, .begin = whole_begin, .next = whole_next};

void
med_hetprobe_whole_end(med_member *member)
{
    med_work *work = member->work;
    if (work->schedule == &med_schedule_hetprobe_whole) {
        med_het_member *own = &work->het->members[member->number];
        if (own->measures) {
            med_omp_lock_set(&work->het->lock, member);
            (void)med_het_measured(work, own, member->share.units.end - member->share.units.first);
            med_omp_lock_unset(&work->het->lock);
        }
    }
}
