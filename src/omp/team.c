/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Teams, sent off and gathered.
 *
 * Fork: the leader writes each member's gate, its own line, and says there which region it is; who
 * waits there has all it needs in one line, and looks at no other. Join: each comes to the team's
 * barrier, and goes back to its gate at once; the leader alone waits for all. So a region takes two
 * transfers of a line between the leader and each member, one there and one back, and all members'
 * go on at the same time.
 *
 * What may run together: a team's leader, between two regions, writes what stands in it; its
 * members look at their own gates, and at the barrier's lines. What a leader wrote before the gate
 * (R1) is seen by who went through it (A1); what members did is seen by who passed the barrier.
 *
 * Death: of a thread alone there is none. A child of fork has one thread: the others of its teams
 * are not there. It starts new ones (process_life).
 */
#include "omp/team.h"

#include <stddef.h>
#include <string.h>

#include "omp/cancel.h"
#include "omp/crew.h"
#include "omp/limit.h"
#include "omp/quota.h"
#include "omp/team_keep.h"
#include "omp/waiting.h"

/* ---- Who is who ------------------------------------------------------------------------------ */

static void
limits_set(med_member *member)
{
    member->limits = med_waiting_limits(member->waits_fixed, member->barrier->members);
    member->place.limits = member->limits;
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
member_enters(med_member *member)
{
    const med_gate *gate = &member->gate;
    member->singles = gate->singles;
    member->works = gate->works;
    member->icv = gate->icv;
    member->waits_fixed = gate->icv->waits;
    member->barrier = gate->barrier;
    med_barrier_member_init(&member->place, member->seat);
    member->place.come = gate->come;
    member->place.slept = slept_at_barrier;
    limits_set(member);
    member->implicit.phase = gate->phase;
    member->implicit.icv = gate->icv;
    member->work = NULL;
    if (gate->work) {
        med_work_enter(member, gate->work);
    }
}

static bool
is_of_parent(const med_team *team)
{
    return team->process_life != med_port_process_life();
}

/* The thread forked in a region, and this is the child: nobody waits for it there, but the threads
 * that it has started here wait for it. */
static void
forked_thread_ends(med_member *member)
{
    (void)med_team_rest(member);
    med_ompt_thread_end(member);
    med_crew_hide();
}

static void
leading_thread_ends(med_member *member)
{
    bool is_shown = member->team->is_shown;
    (void)med_team_rest(member);
    med_ompt_thread_end(member);
    med_team_destroy(member->team);
    if (is_shown) {
        med_crew_hide();
    }
}

/* Those of a team end where their leader says so. */
static void
thread_ends(void *pointer)
{
    med_member *member = pointer;
    while (!member->thread_of_team && member->team->leader) {
        member = member->team->leader;
    }
    if (!member->thread_of_team) {
        leading_thread_ends(member);
    } else if (is_of_parent(member->team)) {
        forked_thread_ends(member);
    }
}

/* Its thread is its only member, with the variables that the program began with. */
static med_member *
begin_initial(med_team *team)
{
    med_member *member = team->members[0];
    team->size = 1;
    team->root = team;
    member->gate.icv = &med_settings_get()->initial;
    member->gate.phase = member->implicit.phase;
    member->gate.barrier = team->formations->barrier;
    member_enters(member);
    med_port_member_set(member);
    return member;
}

med_member *
med_member_begin(void)
{
    med_crew_begin(thread_ends);
    med_member *member = begin_initial(med_team_make(NULL));
    if (member->icv->bind) {
        med_bind_begin(member);
    }
    med_ompt_thread_begin(member);
    return member;
}

med_member *
med_team_start_initial(med_member *leader)
{
    med_member *first = begin_initial(med_team_of(leader, &leader->initial));
    first->placement = leader->placement;
    med_ompt_initial_begin(first);
    return first;
}

void
med_team_finish_initial(med_member *first)
{
    if (med_task_any(first)) {
        med_task_drain(first);
    }
    med_ompt_initial_end(first);
    first->implicit.phase++;
    first->gate.singles = first->singles;
    first->gate.works = first->works;
    med_port_member_set(first->team->leader);
}

med_icv *
med_member_icv(med_member *member)
{
    if (member->icv != &member->own_icv) {
        member->own_icv = *member->icv;
        member->icv = &member->own_icv;
    }
    return &member->own_icv;
}

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

static void
gates_fill(med_team *team, void (*entry)(void *data), void *data)
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
    gates_fill(team, entry, data);
    member_enters(team->members[0]);
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
    for (uint32_t i = 0; i < team->size; i++) {
        team->members[i]->gate.work = work;
    }
    med_work_enter(first, work);
    med_ompt_work_begin(first);
}

void
med_team_go(med_member *first)
{
    med_team *team = first->team;
    for (uint32_t i = 1; i < team->size; i++) {
        med_gate *gate = &team->members[i]->gate;
        /* Relaxed: the leader's own. */
        uint32_t round = atomic32_load_relaxed(&gate->round) + 1;
        atomic32_store_release(&gate->round, round); /* R1 region -> A1 (is_told) */
    }
    if (team->size > 1) {
        med_wait_wake(&team->gate_wait, MED_PORT_SCOPE_PROCESS);
    }
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
        return med_cancel_barrier(member);
    }
    member->place.come++; /* counted all the same: cancel.c */
    med_team_phase_end(member);
    return med_cancel_region_is(member);
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

/* ---- A member's thread ----------------------------------------------------------------------- */

typedef struct gate_wait {
    med_member *member;
    uint32_t round; /* that it was told of last */
} gate_wait;

static bool
is_told(void *context)
{
    const gate_wait *w = context;
    /* A1 region <- R1 (med_team_go) */
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
med_team_serve(med_member *member)
{
    med_port_member_set(member);
    med_ompt_thread_begin(member);
    for (uint32_t round = 0;; round++) {
        gate_pass(member, round);
        if (!member->gate.entry) {
            break;
        }
        member_enters(member);
        if (member->icv->bind | member->icv->shown) {
            med_bind_here(member);
        }
        med_ompt_lines(member, member->gate.entry, member->gate.data);
        med_cancel_end(member, round + 1);
    }
    med_ompt_thread_end(member);
}
