/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tasks that who meets them executes before anything else: those that are not deferred, all in a
 * team of one, and those of which the queue has enough. Nobody finds or awaits such a task, so it
 * is counted nowhere; it is there for those that come from it, and for what it says of its thread.
 */
#include "omp/task_depend.h"
#include "omp/task_inner.h"
#include "omp/task_plain.h"
#include "omp/task_table.h"

/* Its data are the caller's. */
static void
share_environment(med_member *member, med_task *task, const med_task_call *call)
{
    task->data = call->data;
    if (call->copy) {
        task->data = med_task_data(member, task, call->size, call->align);
        call->copy(task->data, call->data);
    }
    if (call->prepare) {
        call->prepare(task->data, call->context);
    }
}

static inline void
await_depends(med_member *member, const med_task_call *call)
{
    if (call->depend_count) {
        med_task_wait_depend(member, call->depends, call->depend_count);
    }
}

static med_task *
make_here(med_member *member, const med_task_call *call)
{
    med_task *task = call->made ? call->made : med_task_take(member);
    med_task_init(task, member->task, call->flags | MED_TASK_UNDEFERRED);
    task->icv = member->icv;
    if (call->event) {
        *call->event = med_task_detach(task);
    }
    if (!call->made) {
        share_environment(member, task, call);
    }
    med_ompt_task_made(member, task, call, true);
    return task;
}

static inline void
enter(med_member *member, med_task *task, med_task_stand *outer)
{
    if (member->icv == &member->own_icv) {
        outer->own_icv = member->own_icv;
    }
    med_task_enter(member, task, outer);
}

static inline med_task *
begin(med_member *member, const med_task_call *call, med_task_stand *outer)
{
    med_task *task = make_here(member, call);
    enter(member, task, outer);
    return task;
}

static inline void
end(med_member *member, med_task *task, const med_task_stand *outer)
{
    med_task_go_back(member, outer);
    if (member->icv == &member->own_icv) {
        member->own_icv = outer->own_icv;
    }
    med_table_forget(member, task);
    if ((task->flags & MED_TASK_DETACHES) && task->discarded) {
        med_task_event_forgo(member, task);
        return;
    }
    if (task->flags & MED_TASK_DETACHES) {
        med_task_event_wait(member, task);
    }
    if (med_task_children_left(task)) {
        med_task_give_own(member, task);
    }
}

void
med_task_begin(med_member *member, const med_task_call *call, med_task_stand *outer)
{
    await_depends(member, call);
    (void)begin(member, call, outer);
    med_ompt_task_begin(member, outer->task);
}

void
med_task_end(med_member *member, const med_task_stand *outer)
{
    med_ompt_task_end(member, outer->task);
    end(member, member->task, outer);
    med_task_back(member);
}

/* Its lines may have data to destroy. */
static bool
is_discarded(const med_member *member, const med_task_call *call)
{
    return !call->copy && !(call->flags & MED_TASK_COPIED) &&
           med_task_is_discarded(member, med_task_group_of(member->task));
}

static void
lines(med_member *member, const med_task_call *call, med_task *outer)
{
    if (med_ompt_is_on()) {
        med_ompt_task_lines(member, outer, call->entry);
    } else {
        call->entry(member->task->data);
    }
}

/* Where the member has variables of its own, what the task changes of them is undone. */
void
med_task_meet_plain_with_care(med_member *member,
                              void (*entry)(void *data),
                              void *data,
                              uint32_t flags)
{
    const med_icv outer = member->own_icv;
    med_task_plain(member, med_tasking_get(member), entry, data, flags);
    if (member->icv == &member->own_icv) {
        member->own_icv = outer;
    }
    med_task_back(member);
}

void
med_task_meet_here(med_member *member, const med_task_call *call)
{
    med_task_stand outer;
    if (call->depend_count) {
        await_depends(member, call);
        /* Meanwhile it may have been given up: then it never was. */
        if (is_discarded(member, call)) {
            med_task_discard(member, call);
            return;
        }
    }
    med_task *task = begin(member, call, &outer);
    lines(member, call, outer.task);
    end(member, task, &outer);
}
