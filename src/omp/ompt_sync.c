/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a tool is told of waits: barriers, taskwait, the end of a group, a reduction. Each is a
 * region in which the thread may wait, and within that the waiting; both are told in any case.
 */
#include "omp/ompt_inner.h"

static void
tell(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, med_ompt_task *task, const void *from)
{
    MED_OMPT_TELL(ompt_callback_sync_region, kind, endpoint, med_ompt_region_data(task),
                  &task->data, from);
}

static void
tell_wait(ompt_sync_region_t kind,
          ompt_scope_endpoint_t endpoint,
          med_ompt_task *task,
          const void *from)
{
    MED_OMPT_TELL_AS(ompt_callback_sync_region_wait, ompt_callback_sync_region_t, kind, endpoint,
                     med_ompt_region_data(task), &task->data, from);
}

/* ---- Barriers -------------------------------------------------------------------------------- */

static ompt_state_t
state_at(ompt_sync_region_t kind)
{
    return kind == ompt_sync_region_barrier_explicit ? ompt_state_wait_barrier_explicit
           : kind == ompt_sync_region_barrier_implementation
               ? ompt_state_wait_barrier_implementation
               : ompt_state_wait_barrier_implicit_workshare;
}

bool
med_ompt_barrier_of(med_member *member)
{
    med_ompt_task *task = med_ompt_current(member);
    uint32_t said = med_ompt_kind_take(task);
    ompt_sync_region_t kind = said ? (ompt_sync_region_t)said : ompt_sync_region_barrier_implicit;
    const void *from = task->called_from;
    med_ompt_single_close(member, task);
    tell(kind, ompt_scope_begin, task, from);
    const med_ompt_wait wait = med_ompt_wait_start(task, state_at(kind), ompt_wait_id_none);
    tell_wait(kind, ompt_scope_begin, task, from);
    bool is_cancelled = med_team_barrier(member);
    tell_wait(kind, ompt_scope_end, task, from);
    med_ompt_wait_stop(&wait);
    tell(kind, ompt_scope_end, task, from);
    med_ompt_back(task);
    return is_cancelled;
}

bool
med_ompt_barrier(uint32_t kind, const void *return_address, void *frame)
{
    return med_ompt_barrier_of(med_ompt_called_told(med_member_get(), kind, return_address, frame));
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* The wait, and behind it the end of the region that it stands in. */
static void
wait_told(med_member *member,
          ompt_sync_region_t kind,
          ompt_state_t state,
          void (*wait)(med_member *member))
{
    med_ompt_task *task = med_ompt_current(member);
    const void *from = task->called_from;
    const med_ompt_wait waits = med_ompt_wait_start(task, state, ompt_wait_id_none);
    tell_wait(kind, ompt_scope_begin, task, from);
    wait(member);
    tell_wait(kind, ompt_scope_end, task, from);
    med_ompt_wait_stop(&waits);
    tell(kind, ompt_scope_end, task, from);
    med_ompt_back(task);
}

static med_member *
called(const void *return_address, void *frame)
{
    return med_ompt_called_told(med_member_get(), MED_OMPT_PLAIN, return_address, frame);
}

void
med_ompt_taskwait(const void *return_address, void *frame)
{
    med_member *member = called(return_address, frame);
    med_ompt_task *task = med_ompt_current(member);
    tell(ompt_sync_region_taskwait, ompt_scope_begin, task, task->called_from);
    wait_told(member, ompt_sync_region_taskwait, ompt_state_wait_taskwait, med_task_wait);
}

void
med_ompt_taskwait_begin_told(med_member *member)
{
    med_ompt_task *task = med_ompt_current(member);
    tell(ompt_sync_region_taskwait, ompt_scope_begin, task, task->called_from);
    task->state = ompt_state_wait_taskwait;
    tell_wait(ompt_sync_region_taskwait, ompt_scope_begin, task, task->called_from);
}

void
med_ompt_taskwait_end_told(med_member *member)
{
    med_ompt_task *task = med_ompt_current(member);
    tell_wait(ompt_sync_region_taskwait, ompt_scope_end, task, task->called_from);
    task->state = med_ompt_state_of_work(member);
    tell(ompt_sync_region_taskwait, ompt_scope_end, task, task->called_from);
    med_ompt_back(task);
}

void
med_ompt_group_begin_of(med_member *member)
{
    med_ompt_task *task = med_ompt_current(member);
    med_task_group_begin(member);
    tell(ompt_sync_region_taskgroup, ompt_scope_begin, task, task->called_from);
}

void
med_ompt_group_begin(const void *return_address, void *frame)
{
    med_member *member = called(return_address, frame);
    med_ompt_group_begin_of(member);
    med_ompt_back(med_ompt_current(member));
}

void
med_ompt_group_end_of(med_member *member)
{
    if (med_task_group_of(member->task)->implied) {
        med_task_group_end(member);
    } else {
        wait_told(member, ompt_sync_region_taskgroup, ompt_state_wait_taskgroup,
                  med_task_group_end);
    }
}

void
med_ompt_group_end(const void *return_address, void *frame)
{
    med_ompt_group_end_of(called(return_address, frame));
}

/* ---- Reductions ------------------------------------------------------------------------------ */

static void
tell_reduction(med_member *member, ompt_scope_endpoint_t endpoint)
{
    med_ompt_task *task = med_ompt_current(member);
    MED_OMPT_TELL_AS(ompt_callback_reduction, ompt_callback_sync_region_t,
                     ompt_sync_region_reduction, endpoint, med_ompt_region_data(task), &task->data,
                     task->called_from);
}

void
med_ompt_reduction_begin_told(med_member *member)
{
    med_ompt_task *task = med_ompt_current(member);
    tell_reduction(member, ompt_scope_begin);
    task->state = ompt_state_work_reduction;
    med_ompt_back(task);
}

void
med_ompt_reduction_end_told(med_member *member)
{
    tell_reduction(member, ompt_scope_end);
    med_ompt_current(member)->state = med_ompt_state_of_work(member);
}
