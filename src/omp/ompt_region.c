/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a tool is told of threads, regions and their implicit tasks.
 *
 * A worker does not wait at a region's end: it says that it has come, and goes to its gate. To a
 * tool the barrier ends, and so does the implicit task, when the region is over; its leader says so
 * in a word of the team, and calls who sleeps at a gate. Who is told of the next region first tells
 * of the end of the last one before. Then the region is gone, so no data are given.
 */
#include "mrapi/heap_lent.h"
#include "omp/ompt_inner.h"

/* ---- Implicit tasks -------------------------------------------------------------------------- */

static void
implicit_begin(med_member *member)
{
    const med_team *team = member->team;
    med_ompt_task *task = med_ompt_task_of(&member->implicit);
    med_ompt_task *outer = med_ompt_task_of(team->leader->task);
    med_ompt_task_reset(task, ompt_task_implicit);
    task->number = member->number;
    task->outer = outer;
    task->region = &outer->led;
    task->called_from = outer->called_from; /* of the construct that its region may be */
    task->ends = true;
    task->over_before = atomic32_load_relaxed(&team->ompt_over); /* relaxed: see its store */
    MED_OMPT_TELL(ompt_callback_implicit_task, ompt_scope_begin, med_ompt_region_data(task),
                  &task->data, team->size, member->number, ompt_task_implicit);
}

/* The barrier at the region's end. */
static void
end_begin(const med_member *member, med_ompt_task *task, const void *from)
{
    med_ompt_single_close(member, task);
    task->frame = (ompt_frame_t){.exit_frame_flags = 0};
    task->state = ompt_state_wait_barrier_implicit_parallel;
    MED_OMPT_TELL(ompt_callback_sync_region, ompt_sync_region_barrier_implicit, ompt_scope_begin,
                  med_ompt_region_data(task), &task->data, from);
    MED_OMPT_TELL_AS(ompt_callback_sync_region_wait, ompt_callback_sync_region_t,
                     ompt_sync_region_barrier_implicit, ompt_scope_begin,
                     med_ompt_region_data(task), &task->data, from);
}

static void
end_end(const med_member *member, med_ompt_task *task, const void *from)
{
    task->ends = false;
    task->state = ompt_state_overhead;
    MED_OMPT_TELL_AS(ompt_callback_sync_region_wait, ompt_callback_sync_region_t,
                     ompt_sync_region_barrier_implicit, ompt_scope_end, NULL, &task->data, from);
    MED_OMPT_TELL(ompt_callback_sync_region, ompt_sync_region_barrier_implicit, ompt_scope_end,
                  NULL, &task->data, from);
    MED_OMPT_TELL(ompt_callback_implicit_task, ompt_scope_end, NULL, &task->data, 0, member->number,
                  ompt_task_implicit);
}

void
med_ompt_region_left_told(med_member *member)
{
    med_ompt_task *task = med_ompt_task_of(&member->implicit);
    if (task->ends) {
        end_end(member, task, NULL);
        task->state = ompt_state_idle;
    }
}

bool
med_ompt_is_over_told(const med_member *member)
{
    const med_ompt_task *task = member->implicit.ompt;
    /* Relaxed: see its store. */
    return task && task->ends &&
           atomic32_load_relaxed(&member->team->ompt_over) != task->over_before;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

void
med_ompt_exit_frame_told(med_member *member, void *frame)
{
    med_ompt_task *task = med_ompt_current(member);
    task->frame.exit_frame.ptr = frame;
    task->frame.exit_frame_flags = ompt_frame_runtime | ompt_frame_framepointer;
}

void
med_ompt_lines_told(med_member *member, void (*entry)(void *data), void *data)
{
    bool is_worker = member->number > 0;
    if (is_worker) {
        implicit_begin(member);
        if (member->work) {
            med_ompt_work_begin(member);
        }
    }
    med_ompt_exit_frame_told(member, __builtin_frame_address(0));
    entry(data);
    if (is_worker) {
        end_begin(member, med_ompt_task_of(&member->implicit), NULL);
    }
}

/* ---- Regions --------------------------------------------------------------------------------- */

/* A face has said it; or the member was told before; or the environment, or the program's calls,
 * count. Between two calls there is one thread. */
static uint32_t
wanted(const med_member *leader, uint32_t said, bool by_program)
{
    return said                     ? said
           : leader->threads_wanted ? leader->threads_wanted
           : by_program             ? 1
                                    : leader->icv->threads;
}

med_member *
med_ompt_start(med_member *leader,
               uint32_t threads,
               void (*entry)(void *data),
               void *data,
               med_ompt_start_function start)
{
    med_ompt_task *outer = med_ompt_current(leader);
    bool by_program = !entry; /* the lines are between two calls */
    outer->led = (med_ompt_region){
        .outer = outer->region,
        .size = threads,
        .flags = (int)ompt_parallel_team |
                 (by_program ? ompt_parallel_invoker_program : ompt_parallel_invoker_runtime)};
    MED_OMPT_TELL(ompt_callback_parallel_begin, &outer->data, &outer->frame, &outer->led.data,
                  wanted(leader, med_ompt_kind_take(outer), by_program), outer->led.flags,
                  outer->called_from);
    med_member *first = start(leader, threads, entry, data);
    outer->led.size = first->team->size;
    first->ompt = leader->ompt;
    implicit_begin(first);
    med_ompt_task *task = med_ompt_task_of(&first->implicit);
    if (by_program) {
        med_ompt_lines_of_caller(outer, task);
    }
    return first;
}

static void
say_over(med_team *team)
{
    /* Relaxed: it orders nothing; who sees it has something to tell that is his own. */
    uint32_t over = atomic32_load_relaxed(&team->ompt_over) + 1;
    atomic32_store_relaxed(&team->ompt_over, over); /* relaxed: as above */
    if (team->size > 1) {
        med_wait_crowd_wake(&team->gate_wait, MED_PORT_SCOPE_PROCESS);
    }
}

void
med_ompt_finish(med_member *first, void (*finish)(med_member *first))
{
    med_member *leader = first->team->leader;
    med_ompt_task *outer = med_ompt_current(leader);
    med_ompt_task *task = med_ompt_task_of(&first->implicit);
    if (!task->region) { /* it began before there was a tool */
        finish(first);
        return;
    }
    end_begin(first, task, outer->called_from);
    finish(first);
    med_port_member_set(first); /* who ends is still that one */
    end_end(first, task, outer->called_from);
    med_port_member_set(leader);
    say_over(first->team);
    MED_OMPT_TELL(ompt_callback_parallel_end, &outer->led.data, &outer->data, outer->led.flags,
                  outer->called_from);
    med_ompt_back(outer);
}

/* ---- Initial tasks --------------------------------------------------------------------------- */

static void
initial_begin(med_member *member, med_ompt_task *outer)
{
    med_ompt_task *task = med_ompt_task_of(&member->implicit);
    med_ompt_task_reset(task, ompt_task_initial);
    task->state = ompt_state_work_serial;
    task->outer = outer;
    task->own = (med_ompt_region){.outer = outer ? outer->region : NULL, .size = 1};
    task->region = &task->own;
    MED_OMPT_TELL(ompt_callback_implicit_task, ompt_scope_begin, med_ompt_region_data(task),
                  &task->data, 1, 1, ompt_task_initial);
}

static void
initial_end(med_member *member)
{
    med_ompt_task *task = med_ompt_task_of(&member->implicit);
    MED_OMPT_TELL(ompt_callback_implicit_task, ompt_scope_end, &task->own.data, &task->data, 0, 1,
                  ompt_task_initial);
}

void
med_ompt_initial_begin_told(med_member *first)
{
    med_member *leader = first->team->leader;
    first->ompt = leader->ompt;
    initial_begin(first, med_ompt_current(leader));
}

void
med_ompt_initial_end_told(med_member *first)
{
    initial_end(first);
    med_ompt_back(med_ompt_current(first->team->leader));
}

/* ---- Threads --------------------------------------------------------------------------------- */

void
med_ompt_thread_begin_told(med_member *member)
{
    bool is_worker = member->number > 0;
    if (!med_ompt_begin()) {
        return;
    }
    member->ompt = med_ompt_memory(sizeof *member->ompt);
    MED_OMPT_TELL(ompt_callback_thread_begin, is_worker ? ompt_thread_worker : ompt_thread_initial,
                  &member->ompt->data);
    if (is_worker) {
        med_ompt_task *task = med_ompt_task_of(&member->implicit);
        med_ompt_task_reset(task, ompt_task_implicit);
        task->state = ompt_state_idle;
    } else {
        initial_begin(member, NULL);
    }
}

void
med_ompt_thread_end_told(med_member *member)
{
    if (!member->ompt || member->ompt->is_over) {
        return;
    }
    member->ompt->is_over = true;
    if (member->number > 0) {
        med_ompt_region_left_told(member);
    } else {
        initial_end(member);
    }
    MED_OMPT_TELL(ompt_callback_thread_end, &member->ompt->data);
}

/* ---- Leagues --------------------------------------------------------------------------------- */

void
med_ompt_league_begin_told(med_member *member, uint32_t teams)
{
    med_ompt_task *outer = med_ompt_current(member);
    uint32_t said = med_ompt_kind_take(outer);
    outer->led = (med_ompt_region){.outer = outer->region,
                                   .size = teams,
                                   .flags = ompt_parallel_league | ompt_parallel_invoker_runtime};
    MED_OMPT_TELL(ompt_callback_parallel_begin, &outer->data, &outer->frame, &outer->led.data,
                  said ? said : teams, outer->led.flags, outer->called_from);
}

void
med_ompt_league_end_told(med_member *member)
{
    med_ompt_task *outer = med_ompt_current(member);
    MED_OMPT_TELL(ompt_callback_parallel_end, &outer->led.data, &outer->data, outer->led.flags,
                  outer->called_from);
    med_ompt_back(outer);
}

/* Each team's initial task stands in the place of the one that met the league. */
void
med_ompt_team_lines_told(med_member *member, uint32_t number, void (*entry)(void *data), void *data)
{
    med_ompt_task *outer = med_ompt_current(member);
    med_ompt_task *task = &member->ompt->league;
    med_ompt_task_reset(task, ompt_task_initial);
    task->state = ompt_state_work_serial;
    task->outer = outer;
    task->region = &outer->led;
    MED_OMPT_TELL(ompt_callback_implicit_task, ompt_scope_begin, &outer->led.data, &task->data,
                  outer->led.size, number, ompt_task_initial);
    member->task->ompt = task;
    med_ompt_exit_frame_told(member, __builtin_frame_address(0));
    entry(data);
    member->task->ompt = outer;
    MED_OMPT_TELL(ompt_callback_implicit_task, ompt_scope_end, &outer->led.data, &task->data, 0,
                  number, ompt_task_initial);
}
