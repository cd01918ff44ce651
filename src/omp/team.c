/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Teams, sent off and gathered: a parallel region from its begin to its end.
 *
 * Fork: the leader writes the team's gate, one line (gate.c). Join: each comes to the team's
 * barrier, and goes back to the gate at once; the leader alone waits for all. So a region takes two
 * transfers of a line between the leader and each member, one there and one back, and all members'
 * go on at the same time.
 *
 * What may run together: a team's leader, between two regions, writes what stands in it; its
 * members look at the gate, and at the barrier's lines. What a leader wrote before the gate is seen
 * by who went through; what members did is seen by who passed the barrier.
 */
#include "omp/team.h"

#include <string.h>

#include "omp/cancel.h"
#include "omp/gate.h"
#include "omp/limit.h"
#include "omp/quota.h"
#include "omp/team_keep.h"

uint32_t
med_team_threads(const med_member *leader, uint32_t wanted)
{
    uint32_t threads = wanted ? wanted : leader->icv->threads;
    if (leader->team->active_level >= leader->icv->active_levels_max) {
        return 1;
    }
    if (leader->icv->dynamic) {
        med_quota_look(MED_QUOTA_OF_A_PERIOD_MS);
        threads = med_quota_is_crowd(threads) ? med_quota_threads() : threads;
    }
    return threads < leader->icv->thread_limit ? threads : leader->icv->thread_limit;
}

/* ---- A region -------------------------------------------------------------------------------- */

/* What the tasks of the region begin with: the leader's, and the next number of the list. All
 * members read the line where that stands: it is written only when it changes. */
static void
icv_hand_down(med_team *team, const med_icv *icv)
{
    const med_settings *settings = med_settings_get();
    med_icv next = *icv;
    if (icv->level + 1 < settings->threads_listed) {
        next.level = icv->level + 1;
        next.threads = settings->threads_list[icv->level + 1];
    }
    if (icv->bind) {
        next.bind = med_bind_next(icv->bind, team->leader->bind_wanted, team->level);
    }
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): room between costs a store */
    if (memcmp(&next, &team->icv, sizeof next) != 0) {
        team->icv = next;
    }
}

static void
resize(med_team *team, uint32_t threads)
{
    const med_team *outer = team->leader->team;
    team->formation = med_formation_of(team, med_team_members_ready(team, threads));
    team->size = team->formation->size;
    team->level = outer->level + 1;
    team->active_level = outer->active_level + (team->size > 1);
}

static med_member *
start(med_member *leader, uint32_t threads, void (*entry)(void *data), void *data)
{
    uint32_t reserved = 0;
    if (leader->icv->thread_limit != UINT32_MAX) {
        reserved = med_limit_reserve(leader->team->root, leader->icv->thread_limit, threads - 1);
        threads = 1 + reserved;
    }
    med_team *team = med_team_of(leader, threads > 1 ? &leader->hot : &leader->alone);
    bool is_other = threads != team->size;
    if (is_other) {
        resize(team, threads);
    }
    team->reserved = reserved;
    icv_hand_down(team, leader->icv);
    if (leader->icv->bind) {
        med_bind_team(team, leader->bind_wanted);
    }
    if (is_other || team->size > MED_GROUP_MOST) {
        med_formation_choose(team);
    }
    med_gate_fill(team, entry, data);
    med_gate_enter(team->members[0]);
    med_port_member_set(team->members[0]);
    if (team->icv.bind | team->icv.shown) {
        med_bind_here(team->members[0]);
    }
    return team->members[0];
}

med_member *
med_team_start(med_member *leader, uint32_t threads, void (*entry)(void *data), void *data)
{
    if (med_ompt_is_on()) {
        return med_ompt_start(leader, threads, entry, data, start);
    }
    return start(leader, threads, entry, data);
}

void
med_team_prepare(med_member *first, const med_loop *loop, const med_bounds *bounds)
{
    med_team *team = first->team;
    med_work *work = &team->works[first->works % MED_TEAM_WORKS];
    med_work_prepare(work, first->works, team, loop, bounds);
    team->gate.work = work;
    med_work_enter(first, work);
    med_ompt_work_begin(first);
}

void
med_team_go(med_member *first)
{
    med_gate_open(first->team);
}

/* Until all have come the member executes tasks. */
static void
await_with_tasks(med_member *member)
{
    while (!med_barrier_await(member->barrier, &member->place, med_task_calls, member)) {
        med_task_help(member);
    }
}

void
med_team_depart(med_member *member)
{
    while (!med_barrier_depart(member->barrier, &member->place, med_task_calls, member)) {
        med_task_help(member);
    }
}

void
med_team_phase_end(med_member *member)
{
    if (med_task_any(member)) {
        med_task_drain(member);
    }
    member->implicit.phase++;
}

bool
med_team_barrier(med_member *member)
{
    if (member->team->size > 1) {
        med_team_turn(member, member->place.come);
        return med_cancel_barrier(member);
    }
    member->place.come++; /* counted all the same: cancel.c */
    med_team_phase_end(member);
    return med_cancel_region_is(member);
}

/* Who may be called away for ever would take what he brought with him. */
bool
med_team_combines(const med_member *member)
{
    const med_team *team = member->team; /* an initial one has no formation */
    return team->size > 1 && team->formation->is_in_groups && !med_settings_get()->cancellation;
}

bool
med_team_combine(med_member *member, void *what, void (*combine)(void *into, void *from))
{
    med_barrier_bring(member->barrier, &member->place, what, combine);
    await_with_tasks(member);
    med_team_phase_end(member);
    return member->number == 0;
}

static bool
is_cancelled(const med_team *team)
{
    /* Relaxed: who cancelled something did before he came. */
    return atomic32_load_relaxed(&team->cancelled) != 0;
}

/* All have come to the region's end. */
static void
gather(med_member *first)
{
    med_cancel_note_end(first);
    if (med_settings_get()->cancellation) {
        med_wait_crowd_wake(&first->barrier->wait,
                            MED_PORT_SCOPE_PROCESS); /* as who departs does */
    }
    if (!first->early) {
        med_barrier_come(first->barrier, &first->place);
    }
    await_with_tasks(first);
    first->early = false;
    if (is_cancelled(first->team)) {
        med_cancel_gather(first);
    }
}

static void
finish(med_member *first)
{
    med_team *team = first->team;
    if (team->size > 1) {
        gather(first);
        if (med_task_any(first)) {
            med_task_drain(first);
            med_task_dismiss(first);
            med_barrier_pass(first->barrier, &first->place);
        }
        team->formation->come = first->place.come;
    } else if (med_task_any(first)) {
        med_task_drain(first);
    }
    if (is_cancelled(team)) {
        med_cancel_settle(first);
    }
    if (team->reserved) {
        med_limit_give_back(team->root, team->reserved);
    }
    first->implicit.phase++;
    med_port_member_set(team->leader);
}

void
med_team_finish(med_member *first)
{
    if (med_ompt_is_on()) {
        med_ompt_finish(first, finish);
    } else {
        finish(first);
    }
}

void
med_team_run(med_member *leader, uint32_t threads, void (*entry)(void *data), void *data)
{
    med_member *first = med_team_start(leader, threads, entry, data);
    med_team_go(first);
    med_ompt_lines(first, entry, data);
    med_team_finish(first);
}
