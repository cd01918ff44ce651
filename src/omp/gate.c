/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Gates. The leader writes each member's gate, its own line, and says there which region it is; who
 * waits there has all it needs in one line, and looks at no other. What may run together: a team's
 * leader, between two regions, with its members, who look at their own gates and at the lines of
 * the barrier that they departed from.
 *
 * A gate's number goes up by one with each region, and its member acts on each: the next one begins
 * only when it has come to the end of the last. So nobody misses one, or takes an old one for new.
 *
 * Edge: what the leader did before it opened a gate (R1) is seen by who passed it (A1).
 * Death: of a thread alone there is none; a child of fork starts new ones (team_keep.c).
 */
#include "omp/gate.h"

#include <stddef.h>

#include "omp/bind.h"
#include "omp/cancel.h"
#include "omp/quota.h"
#include "omp/waiting.h"

/* ---- The leader ------------------------------------------------------------------------------ */

void
med_gates_fill(med_team *team, void (*entry)(void *data), void *data)
{
    const med_member *first = team->members[0];
    for (uint32_t i = 0; i < team->size; i++) {
        med_gate *gate = &team->members[i]->gate;
        gate->come = team->formation->come;
        gate->singles = first->singles;
        gate->works = first->works;
        gate->entry = entry;
        gate->data = data;
        gate->icv = &team->icv;
        gate->barrier = team->formation->barrier;
        gate->work = NULL;
        gate->phase = first->implicit.phase;
    }
}

/* Of so many members; the first one waits at none, and counts its regions alike. */
static void
open(med_team *team, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        med_gate *gate = &team->members[i]->gate;
        /* Relaxed: the leader's own. */
        uint32_t round = atomic32_load_relaxed(&gate->round) + 1;
        atomic32_store_release(&gate->round, round); /* R1 region -> A1 (is_told) */
    }
}

void
med_gates_open(med_team *team)
{
    open(team, team->size);
    if (team->size > 1) {
        med_wait_wake(&team->gate_wait, MED_PORT_SCOPE_PROCESS);
    }
}

void
med_gates_open_for_the_end(med_team *team)
{
    for (uint32_t i = 1; i < team->ready; i++) {
        team->members[i]->gate.entry = NULL;
    }
    open(team, team->ready);
    med_wait_wake(&team->gate_wait, MED_PORT_SCOPE_PROCESS);
}

/* ---- Entering -------------------------------------------------------------------------------- */

static void
limits_set(med_member *member)
{
    uint32_t members = member->barrier->members;
    member->limits =
        med_waiting_limits(member->waits_fixed, member->is_dense, members, member->place.come);
    member->place.limits = member->limits;
}

void
med_team_next_turn(med_member *member)
{
    if (med_waiting_is_learned(member->limits)) {
        member->limits = med_waiting_learned(member->place.come);
        member->place.limits = member->limits;
    }
}

void
med_team_slept(med_member *member)
{
    med_quota_look(MED_QUOTA_OF_A_SECOND_MS);
    if (member->barrier) {
        limits_set(member);
    }
}

static void
slept_at_barrier(med_barrier_member *place)
{
    med_team_slept((med_member *)((char *)place - offsetof(med_member, place)));
}

void
med_gate_enter(med_member *member)
{
    const med_gate *gate = &member->gate;
    member->singles = gate->singles;
    member->works = gate->works;
    member->icv = gate->icv;
    member->waits_fixed = gate->icv->waits;
    member->is_dense = member->team->is_dense;
    member->barrier = gate->barrier;
    med_barrier_member_init(&member->place, member->seat);
    member->place.come = gate->come;
    member->place.slept = slept_at_barrier;
    limits_set(member);
    member->implicit.phase = gate->phase;
    member->implicit.icv = gate->icv;
    member->gives = false;
    atomic32_store_relaxed(&member->settled, gate->singles); /* relaxed: nothing was given since */
    member->work = NULL;
    if (gate->work) {
        med_work_enter(member, gate->work);
    }
}

/* ---- A member's thread ----------------------------------------------------------------------- */

typedef struct gate_wait {
    med_member *member;
    uint32_t round; /* that it was told of last */
} gate_wait;

static bool
is_told(void *context)
{
    const gate_wait *w = context;
    /* A1 region <- R1 (open) */
    return atomic32_load_acquire(&w->member->gate.round) != w->round;
}

/* Or called back, since there are tasks. */
static bool
is_told_or_called(void *context)
{
    const gate_wait *w = context;
    return is_told(context) || med_task_any(w->member) || med_ompt_is_over(w->member);
}

static medley_status_t
slept(void *context)
{
    med_team_slept(((const gate_wait *)context)->member);
    return MEDLEY_OK;
}

static bool
is_wanted_here(void *context)
{
    const gate_wait *w = context;
    return w->member->barrier && med_barrier_is_wanted_here(w->member->barrier, &w->member->place);
}

static void
gate_pass(med_member *member, uint32_t round)
{
    gate_wait w = {.member = member, .round = round};
    while (!is_told(&w)) {
        if (med_task_any(member)) {
            med_task_serve(member);
            member->implicit.phase = MED_TASK_PHASE_NONE;
            med_barrier_come(member->barrier, &member->place);
            med_team_depart(member);
        }
        if (med_ompt_is_over(member)) {
            med_ompt_region_left(member);
        }
        med_wait_request request = {.condition = is_told_or_called,
                                    .each_slice = slept,
                                    .is_wanted_here = is_wanted_here,
                                    .context = &w,
                                    .limits = member->limits,
                                    .slices_double = true,
                                    .deadline_ns = MED_PORT_FOREVER,
                                    .scope = MED_PORT_SCOPE_PROCESS};
        (void)med_wait_until(&member->team->gate_wait, &member->waiter, &request);
    }
    med_ompt_region_left(member);
}

void
med_gate_serve(med_member *member)
{
    med_port_member_set(member);
    med_ompt_thread_begin(member);
    for (uint32_t round = 0;; round++) {
        gate_pass(member, round);
        if (!member->gate.entry) {
            break;
        }
        med_gate_enter(member);
        if (member->icv->bind | member->icv->shown) {
            med_bind_here(member);
        }
        med_ompt_lines(member, member->gate.entry, member->gate.data);
        med_cancel_end(member);
    }
    med_ompt_thread_end(member);
}
