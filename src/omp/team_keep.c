/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Teams as they are kept: what there is of them between two regions, and what a region needs that
 * was not there yet. What may run together: the calls of one team's leader, with its members at
 * the gate, who look at that, and at the barriers that they departed from.
 */
#include "omp/team_keep.h"

#include "base/log.h"
#include "mrapi/heap_lent.h"
#include "omp/crew.h"
#include "omp/lock.h"
#include "omp/private.h"
#include "omp/say.h"

/* Once: a program that goes on has it in each of its regions. */
void
med_team_report_fewer(uint32_t threads, const char *why)
{
    static atomic32 is_said;
    uint32_t none = 0;
    /* Relaxed: only one of those who come at once says it. */
    if (atomic32_cas_relaxed(&is_said, &none, 1)) {
        med_text text = {.length = 0};
        med_text_string(&text, "OpenMP: no more than ");
        med_text_count(&text, threads, "threads");
        med_text_string(&text, " in a team: ");
        med_text_string(&text, why);
        med_log(MED_LOG_ERROR, &text);
    }
}

/* ---- Made ------------------------------------------------------------------------------------ */

static bool
member_add(med_team *team)
{
    bool is_bound = team->leader && team->leader->icv->bind;
    med_member *member =
        is_bound ? med_heap_lend_apart(sizeof *member) : med_heap_lend(sizeof *member);
    if (member) {
        /* Relaxed: its leader's own. What it is told begins with the next region. */
        uint32_t round = atomic32_load_relaxed(&team->gate.round);
        *member = (med_member){.team = team,
                               .round = round,
                               .number = team->ready,
                               .seat = team->ready,
                               .owner = med_crew_owner()};
        member->implicit.runner = member;
        member->implicit.phase = MED_TASK_PHASE_NONE;
        member->task = &member->implicit;
        member->implicit.reach.ancestor = &member->implicit;
        team->members[team->ready++] = member;
    }
    return member != NULL;
}

/* Room for so many members, and as many again: whether there will be threads for all who are asked
 * for nobody knows before. What waits at its gate does not look at the list. */
static bool
room_make(med_team *team, uint32_t count)
{
    if (count <= team->room) {
        return true;
    }
    count = count > 1 ? 2 * count : 1;
    med_member **members = med_heap_lend(count * sizeof(med_member *));
    if (!members) {
        return false;
    }
    for (uint32_t i = 0; i < team->ready; i++) {
        members[i] = team->members[i];
    }
    med_heap_take_back(team->members);
    team->members = members;
    team->room = count;
    return true;
}

static void
teams_destroy(med_member *member)
{
    med_team_destroy(member->hot);
    med_team_destroy(member->alone);
    med_team_destroy(member->initial);
    member->hot = NULL;
    member->alone = NULL;
    member->initial = NULL;
}

void
med_team_destroy(med_team *team)
{
    if (!team) {
        return;
    }
    med_task_await_visitors(team);
    med_crew_end(team);
    for (uint32_t i = 0; i < team->ready; i++) {
        teams_destroy(team->members[i]);
        /* Relaxed: its thread has ended. */
        med_tasking_destroy((void *)atomic_word_load_relaxed(&team->members[i]->tasking));
        med_privates_destroy(team->members[i]->privates);
        med_ompt_forget(team->members[i]);
        if (team->members[i]->empty) {
            med_work_place_fini(team->members[i]->empty);
            med_heap_take_back(team->members[i]->empty);
        }
        med_heap_take_back(team->members[i]);
    }
    for (uint32_t i = 0; i < MED_TEAM_WORKS; i++) {
        med_work_place_fini(&team->works[i]);
    }
    med_formations_destroy(team);
    med_heap_take_back(team->members);
    med_heap_take_back(team);
}

bool
med_team_rest(med_member *member)
{
    if (member->team->leader && member->team->process_life == med_port_process_life()) {
        return false;
    }
    teams_destroy(member);
    return true;
}

static const char to_begin_with[] = "there is no memory to begin with";

med_team *
med_team_make(med_member *leader)
{
    med_team *team = med_heap_lend(sizeof *team);
    if (!team) {
        med_say_fatal(to_begin_with);
    }
    *team = (med_team){.leader = leader,
                       .root = leader ? leader->team->root : team,
                       .process_life = med_port_process_life(),
                       .cancels = med_settings_get()->cancellation};
    for (uint32_t i = 0; i < MED_TEAM_WORKS; i++) {
        med_work_place_init(&team->works[i], i);
    }
    if (!room_make(team, 1) || !member_add(team) || !med_formation_of(team, 1)) {
        med_say_fatal(to_begin_with);
    }
    team->members[0]->implicit.phase = MED_TASK_PHASE_FIRST;
    team->is_shown = med_crew_show(leader ? leader : team->members[0]);
    return team;
}

med_team *
med_team_of(med_member *leader, med_team **team)
{
    if (*team && (*team)->process_life != med_port_process_life()) {
        med_crew_forget(*team);
        *team = NULL;
    }
    if (!*team) {
        *team = med_team_make(leader);
    }
    return *team;
}

static bool
member_start(med_team *team, uint32_t wanted)
{
    if (!room_make(team, team->ready + 1) || !member_add(team)) {
        med_team_report_fewer(team->ready, MED_TEAM_NO_MORE);
        return false;
    }
    med_bind_first(team->members[team->ready - 1], wanted);
    if (!med_crew_start(team->members[team->ready - 1])) {
        med_heap_take_back(team->members[--team->ready]);
        return false;
    }
    return true;
}

/* What the threads of a process take beside their stacks when they work: their tasks, teams of
 * their own. So much is left behind each one that is started: where memory has a limit, the last
 * stack that fits would leave the program without, and it would end. */
#define SPARE_BYTES (8u << 20)
#define SPARE_EACH_BYTES (512u << 10)

static bool
is_enough(uint64_t left_bytes)
{
    size_t told_bytes = med_crew_stack_bytes();
    uint64_t stack_bytes = told_bytes ? told_bytes : med_port_thread_stack_bytes();
    return left_bytes >= SPARE_BYTES + stack_bytes + (uint64_t)med_crew_count() * SPARE_EACH_BYTES;
}

/* A limit is seldom raised, nor memory given back: who was refused has a while of regions with
 * fewer threads, and does not ask the system in each. */
#define REFUSED_FOR_NS UINT64_C(100000000)

/* With the lock, since all who start threads at once would see the same memory left. */
static bool
member_start_limited(med_team *team, uint32_t wanted)
{
    static med_own_lock starting;
    med_omp_lock_set(med_own_lock_here(&starting), team->leader);
    bool is_left = is_enough(med_port_memory_left());
    bool is_there = is_left && member_start(team, wanted);
    med_omp_lock_unset(&starting.lock);
    if (!is_left) {
        team->refused_until_ns = med_port_clock_ns() + REFUSED_FOR_NS;
        med_team_report_fewer(team->ready, "more would leave no memory for what they do; ask for a "
                                           "smaller stack, or raise the limit (ulimit -v)");
        med_port_heap_share();
    }
    return is_there;
}

uint32_t
med_team_members_ready(med_team *team, uint32_t wanted)
{
    bool is_refused = team->refused_until_ns && med_port_clock_ns() < team->refused_until_ns;
    while (team->ready < wanted && !is_refused) {
        if (team->ready == MED_THREADS_MOST) {
            med_team_report_fewer(MED_THREADS_MOST, "that is the most that a team has");
            break;
        }
        bool is_limited = med_port_memory_left() != UINT64_MAX;
        if (!(is_limited ? member_start_limited(team, wanted) : member_start(team, wanted))) {
            break;
        }
    }
    return wanted < team->ready ? wanted : team->ready;
}
