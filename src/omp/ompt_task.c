/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a tool is told of explicit tasks. A task's record stays with its memory, and begins anew
 * with each task there; whoever has the task has seen it.
 */
#include "mrapi/heap_lent.h"
#include "omp/cancel.h"
#include "omp/ompt_inner.h"
#include "omp/task.h"

/* ---- Made ------------------------------------------------------------------------------------ */

/* Where the compilers say out they may mean inout, and the reverse. */
static ompt_dependence_type_t
type_of(med_depend_kind kind)
{
    switch (kind) {
    case MED_DEPEND_IN:
        return ompt_dependence_type_in;
    case MED_DEPEND_MUTEX:
        return ompt_dependence_type_mutexinoutset;
    case MED_DEPEND_SET:
        return ompt_dependence_type_inoutset;
    default:
        return ompt_dependence_type_inout;
    }
}

#define DEPENDENCES_FEW 16u

static void
tell_dependences(med_ompt_task *task, const med_task_call *call)
{
    ompt_dependence_t few[DEPENDENCES_FEW];
    ompt_dependence_t *all = few;
    if (!med_ompt_callback(ompt_callback_dependences)) {
        return;
    }
    if (call->depend_count > DEPENDENCES_FEW) {
        all = med_ompt_memory(call->depend_count * sizeof *all);
    }
    for (size_t i = 0; i < call->depend_count; i++) {
        all[i].variable.value = call->depends[i].address;
        all[i].dependence_type = type_of(call->depends[i].kind);
    }
    MED_OMPT_TELL(ompt_callback_dependences, &task->data, all, (int)call->depend_count);
    if (all != few) {
        med_heap_take_back(all);
    }
}

static int
flags_of(const med_task *task, bool is_undeferred)
{
    return ompt_task_explicit | (is_undeferred ? ompt_task_undeferred : 0) |
           (task->flags & MED_TASK_UNTIED ? ompt_task_untied : 0) |
           (task->flags & MED_TASK_FINAL ? ompt_task_final : 0) |
           (task->flags & MED_TASK_MERGEABLE ? ompt_task_mergeable : 0);
}

/* The construct that made one task is met. */
static void
back_from_task(med_ompt_task *outer)
{
    if (!outer->loops) {
        med_ompt_back(outer);
    }
}

void
med_ompt_task_made_told(med_member *member,
                        med_task *task,
                        const med_task_call *call,
                        bool is_undeferred)
{
    med_ompt_task *outer = med_ompt_current(member);
    med_ompt_task *made = med_ompt_task_of(task);
    med_ompt_task_reset(made, flags_of(task, is_undeferred));
    if (!call->made) {
        made->memory_bytes = is_undeferred && !call->copy ? 0 : call->size;
    }
    MED_OMPT_TELL(ompt_callback_task_create, &outer->data, &outer->frame, &made->data, made->flags,
                  call->depend_count > 0, outer->called_from);
    if (call->depend_count > 0) {
        tell_dependences(made, call);
    }
    if (!is_undeferred) {
        back_from_task(outer);
    }
}

void
med_ompt_task_data_told(med_task *task, size_t size_bytes)
{
    med_ompt_task_of(task)->memory_bytes = size_bytes;
}

void
med_ompt_task_hide_told(med_task *task)
{
    med_ompt_task_of(task)->flags = 0;
}

void
med_ompt_task_waits_told(const med_task *task, const med_task *other)
{
    if (task->ompt && other->ompt && task->ompt->flags) {
        MED_OMPT_TELL(ompt_callback_task_dependence, &other->ompt->data, &task->ompt->data);
    }
}

/* ---- Executed -------------------------------------------------------------------------------- */

static void
switch_to(med_member *member, med_ompt_task *prior, med_ompt_task *next)
{
    next->outer = prior;
    next->region = prior->region;
    next->number = member->number;
    next->state = med_ompt_state_of_work(member);
    next->memory = member->task->data;
    MED_OMPT_TELL(ompt_callback_task_schedule, &prior->data,
                  prior->yields ? ompt_task_yield : ompt_task_switch, &next->data);
}

/* Where the face that met it was called is the end of the outer one, and this one's begin. */
void
med_ompt_task_begin_told(med_member *member, med_task *outer)
{
    med_ompt_task *prior = med_ompt_task_of(outer);
    med_ompt_task *next = med_ompt_current(member);
    switch_to(member, prior, next);
    med_ompt_lines_of_caller(prior, next);
}

/* Decided by who comes first, the task's end or its event. */
static bool
is_second(med_ompt_task *task, uint32_t own)
{
    /* Relaxed: which of both a tool is told was first; what they do is ordered elsewhere. */
    return atomic32_fetch_add_relaxed(&task->event, own) != 0;
}

static ompt_task_status_t
status_of(const med_member *member, med_ompt_task *task)
{
    const med_task *own = member->task;
    if ((own->flags & MED_TASK_DETACHES) && !own->discarded &&
        !is_second(task, MED_OMPT_EVENT_ENDED)) {
        return ompt_task_detach;
    }
    return med_task_group_is_cancelled(member) ? ompt_task_cancel : ompt_task_complete;
}

void
med_ompt_task_end_told(med_member *member, med_task *outer)
{
    med_ompt_task *prior = med_ompt_current(member);
    med_ompt_task *next = med_ompt_task_of(outer);
    prior->frame = (ompt_frame_t){.exit_frame_flags = 0};
    MED_OMPT_TELL(ompt_callback_task_schedule, &prior->data, status_of(member, prior), &next->data);
    if (prior->flags & ompt_task_undeferred) {
        back_from_task(next);
    }
}

/* A task that is executed in the middle of another one, where that met it, has made it enter the
 * runtime again. */
void
med_ompt_task_lines(med_member *member, med_task *outer, void (*entry)(void *data))
{
    med_task *task = member->task;
    med_ompt_task *prior = med_ompt_task_of(outer);
    bool enters = prior->frame.exit_frame.ptr && !prior->frame.enter_frame.ptr;
    if (enters) {
        prior->frame.enter_frame.ptr = __builtin_frame_address(0);
        prior->frame.enter_frame_flags = ompt_frame_runtime | ompt_frame_framepointer;
    }
    switch_to(member, prior, med_ompt_current(member));
    med_ompt_exit_frame_told(member, __builtin_frame_address(0));
    entry(task->data);
    med_ompt_task_end_told(member, outer);
    if (enters) {
        med_ompt_back(prior);
    }
}

void
med_ompt_task_discarded_told(med_member *member, med_task *task)
{
    int of = med_cancel_region_is(member) ? ompt_cancel_parallel : ompt_cancel_taskgroup;
    MED_OMPT_TELL(ompt_callback_cancel, &med_ompt_task_of(task)->data,
                  of | ompt_cancel_discarded_task, NULL);
}

void
med_ompt_task_fulfilled_told(med_task *task)
{
    med_ompt_task *of = task->ompt;
    if (of) {
        bool is_late = is_second(of, MED_OMPT_EVENT_FULFILLED);
        MED_OMPT_TELL(ompt_callback_task_schedule, &of->data,
                      is_late ? ompt_task_late_fulfill : ompt_task_early_fulfill, NULL);
    }
}

void
med_ompt_task_yield(const void *return_address, void *frame)
{
    med_member *member =
        med_ompt_called_told(med_member_get(), MED_OMPT_PLAIN, return_address, frame);
    med_ompt_task *task = med_ompt_current(member);
    task->yields = true;
    (void)med_task_yield(member);
    task->yields = false;
    med_ompt_back(task);
}

/* ---- Loops of tasks -------------------------------------------------------------------------- */

static void
tell_taskloop(med_member *member, ompt_scope_endpoint_t endpoint, uint64_t count)
{
    med_ompt_task *task = med_ompt_current(member);
    MED_OMPT_TELL(ompt_callback_work, ompt_work_taskloop, endpoint, med_ompt_region_data(task),
                  &task->data, count, task->called_from);
}

void
med_ompt_taskloop_begin_told(med_member *member, uint64_t count)
{
    tell_taskloop(member, ompt_scope_begin, count);
    med_ompt_current(member)->loops = true;
}

void
med_ompt_taskloop_end_told(med_member *member, uint64_t count)
{
    med_ompt_task *task = med_ompt_current(member);
    tell_taskloop(member, ompt_scope_end, count);
    task->loops = false;
    med_ompt_back(task);
}
