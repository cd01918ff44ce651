/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The gate. The leader writes one line, in which all of its members look: which region it is, how
 * many of them are told of it, and all that they need to begin. So the line goes from its writer to
 * each of them, and nobody fetches another. What may run together: a team's leader, between two
 * regions, with its members, who look at the gate and at the lines of the barrier that they
 * departed from.
 *
 * The round goes up by one with each region, and who is told acts on each: the next one begins only
 * when he has come to the end of the last. So none of them misses one, or takes an old one for new.
 * Who is not told goes on waiting, and nobody waits for him: the line may change while he looks.
 * Therefore how many are told stands in one word with the lowest bit of the round. It is written
 * before the rest, and he asks for the round before and behind it: if that is the same, the word is
 * of this round or of the next, and the bit says of which. Of the rest he reads nothing. (A round
 * comes again after 2^32; he has slept through no more than 262 s of them.)
 *
 * Edges: what the leader did before it opened the gate (R1) is seen by who passed it (A1); of which
 * round the word at least is (R2), by the second look at the round (A2).
 * Death: of a thread alone there is none; a child of fork starts new ones (team_keep.c).
 */
#include "omp/gate.h"

#include <stddef.h>

#include "omp/apart.h"
#include "omp/bind.h"
#include "omp/cancel.h"
#include "omp/quota.h"
#include "omp/waiting.h"

/* ---- The leader ------------------------------------------------------------------------------ */

static uint32_t
next_round(const med_gate *gate)
{
    return atomic32_load_relaxed(&gate->round) + 1; /* relaxed: the leader's own */
}

static void
told_set(med_gate *gate, uint32_t members)
{
    uint32_t told = members << 1 | (next_round(gate) & 1);
    atomic32_store_release(&gate->told, told); /* R2 last round -> A2 (is_told) */
}

void
med_gate_fill(med_team *team, void (*entry)(void *data), void *data)
{
    const med_member *first = team->members[0];
    med_gate *gate = &team->gate;
    told_set(gate, team->size);
    gate->come = team->formation->come;
    gate->singles = first->singles;
    gate->works = first->works;
    gate->entry = entry;
    gate->data = data;
    gate->barrier = team->formation->barrier;
    gate->work = NULL;
    gate->phase = first->implicit.phase;
    med_formation_tell(team);
}

void
med_gate_open(med_team *team)
{
    uint32_t round = next_round(&team->gate);
    team->members[0]->round = round;
    atomic32_store_release(&team->gate.round, round); /* R1 region -> A1 (is_told) */
    if (team->ready > 1) {
        med_wait_crowd_wake(&team->gate_wait, MED_PORT_SCOPE_PROCESS);
    }
}

void
med_gate_open_for_the_end(med_team *team)
{
    told_set(&team->gate, team->ready);
    team->gate.entry = NULL;
    med_gate_open(team);
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
med_team_turn(med_member *member, uint32_t turn)
{
    if (med_waiting_is_learned(member->limits)) {
        member->limits = med_waiting_learned(member->barrier->members, turn);
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

static void
shares_at_barrier(med_barrier_member *place)
{
    med_apart_again((med_member *)((char *)place - offsetof(med_member, place)));
}

void
med_gate_enter(med_member *member)
{
    const med_team *team = member->team;
    const med_gate *gate = &team->gate;
    member->singles = gate->singles;
    member->works = gate->works;
    member->icv = &team->icv;
    member->waits_fixed = team->icv.waits;
    member->is_dense = team->is_dense;
    member->barrier = gate->barrier;
    /* Who computes beside it on its one processor it knows from region to region. */
    const med_waiter learned = member->place.waiter;
    med_barrier_member_init(&member->place, member->seat);
    member->place.waiter.crowded = learned.crowded;
    member->place.waiter.crowd = learned.crowd;
    member->place.come = gate->come;
    member->place.slept = slept_at_barrier;
    member->place.shares = shares_at_barrier;
    limits_set(member);
    member->implicit.phase = gate->phase;
    member->implicit.icv = &team->icv;
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
    bool told;
} gate_wait;

/* Of a round that the member has not seen. */
static bool
is_told_of(const med_gate *gate, med_member *member, uint32_t round)
{
    uint32_t told = atomic32_load_acquire(&gate->told); /* A2 last round <- R2 (told_set) */
    /* Relaxed: behind A2. */
    if ((told ^ round) & 1 || atomic32_load_relaxed(&gate->round) != round) {
        return false; /* the next one is being written: this one is not for him */
    }
    member->round = round;
    return member->number < told >> 1;
}

static bool
is_told(gate_wait *w)
{
    const med_gate *gate = &w->member->team->gate;
    uint32_t round = atomic32_load_acquire(&gate->round); /* A1 region <- R1 (med_gate_open) */
    if (round != w->member->round && !w->told) {
        w->told = is_told_of(gate, w->member, round);
    }
    return w->told;
}

/* Or called back, since there are tasks. */
static bool
is_told_or_called(void *context)
{
    gate_wait *w = context;
    return is_told(w) || med_task_any(w->member) || med_ompt_is_over(w->member);
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
    bool is_wanted =
        w->member->barrier && med_barrier_is_wanted_here(w->member->barrier, &w->member->place);
    if (is_wanted) {
        med_apart_again(w->member);
    }
    return is_wanted;
}

static void
gate_pass(med_member *member)
{
    gate_wait w = {.member = member};
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
                                    .slices_left_out = med_barrier_slices_left_out(member->number),
                                    .deadline_ns = MED_PORT_FOREVER,
                                    .scope = MED_PORT_SCOPE_PROCESS};
        (void)med_wait_crowd_until(&member->team->gate_wait, &member->waiter, &request);
    }
    med_ompt_region_left(member);
}

void
med_gate_serve(med_member *member)
{
    med_port_member_set(member);
    med_ompt_thread_begin(member);
    const med_gate *gate = &member->team->gate;
    for (;;) {
        gate_pass(member);
        if (!gate->entry) {
            break;
        }
        med_gate_enter(member);
        if (member->icv->bind | member->icv->shown) {
            med_bind_here(member);
        }
        med_ompt_lines(member, gate->entry, gate->data);
        med_cancel_end(member);
    }
    med_ompt_thread_end(member);
}
