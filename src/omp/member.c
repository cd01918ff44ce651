/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Members: which one a thread is, and what becomes of its teams when it ends. A thread of the
 * program is the only member of an initial team from its first call on.
 */
#include "omp/crew.h"
#include "omp/gate.h"
#include "omp/task_table.h"
#include "omp/team_keep.h"

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
    med_table_forget(member, &member->implicit);
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
    team->icv = med_settings_get()->initial;
    team->gate.phase = member->implicit.phase;
    team->gate.barrier = team->formations->barrier;
    med_gate_enter(member);
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
    first->team->gate.singles = first->singles;
    first->team->gate.works = first->works;
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
