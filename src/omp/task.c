/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tasks are made by who meets them: with their data and the variables that they inherit, counted
 * where somebody waits for them, and put where some member finds them: but for those that are
 * executed at once, as all are in a team of one.
 *
 * The life of a task goes on in task_run.c, once nothing that it depends on is left.
 */
#include "omp/task.h"

#include <string.h>

#include "omp/task_depend.h"
#include "omp/task_inner.h"

/* ---- Made ------------------------------------------------------------------------------------ */

/* The data environment: that of who meets it, as it is now. */
static void
make_room(med_task *task, med_member *member, size_t size, size_t wanted)
{
    size_t align = wanted > _Alignof(med_icv) ? wanted : _Alignof(med_icv);
    size_t first = med_task_aligned(size, align);
    bool changed = member->icv != &member->team->icv;
    unsigned char *data =
        med_task_data(member, task, changed ? first + sizeof(med_icv) : size, align);
    task->data = data;
    task->icv = member->icv;
    if (changed) {
        task->icv = memcpy(data + first, member->icv, sizeof(med_icv));
    }
}

static void
copy_environment(med_task *task, med_member *member, const med_task_call *call)
{
    if (call->made) {
        return;
    }
    make_room(task, member, call->size, call->align);
    if (call->copy) {
        call->copy(task->data, call->data);
    } else if (call->size) {
        memcpy(task->data, call->data, call->size);
    }
    if (call->prepare) {
        call->prepare(task->data, call->context);
    }
}

med_task *
med_task_make(med_member *member, size_t size, size_t align)
{
    med_task *task = med_task_take(member);
    task->flags = 0;
    make_room(task, member, size, align);
    med_ompt_task_data(task, size);
    return task;
}

void
med_task_throw(med_member *member, med_task *made)
{
    med_task_give(member, made);
}

uintptr_t
med_task_detach(med_task *made)
{
    med_task_event_begin(made);
    return (uintptr_t)made;
}

static med_task *
make(med_member *member, const med_task_call *call)
{
    med_task *task = call->made ? call->made : med_task_take(member);
    med_task_init(task, member->task, call->flags | (call->copy ? MED_TASK_COPIED : 0u));
    task->entry = call->entry;
    task->priority = call->priority;
    if (call->event) {
        *call->event = med_task_detach(task);
    }
    med_ompt_task_made(member, task, call, false);
    return task;
}

/* Who makes his first one of a phase looks whether it is the first of all: then it says that there
 * are some, and calls those who are at their gates already. */
static void
count_made(med_member *member, const med_task *task)
{
    med_tasking *tasking = med_tasking_get(member);
    med_team *team = member->team;
    uint32_t pair = task->phase % 2;
    /* Relaxed, all: its own count; both are seen behind the barrier, or by who sees more of it. */
    atomic32_store_relaxed(&tasking->made[pair], atomic32_load_relaxed(&tasking->made[pair]) + 1);
    if (tasking->phase == task->phase) {
        return;
    }
    tasking->phase = task->phase;
    med_task_queue_begin(&tasking->queue);
    if (atomic_word_load_relaxed(&team->tasked[pair]) != task->phase) {
        atomic_word_store_relaxed(&team->tasked[pair], task->phase);
        med_wait_crowd_wake(&team->gate_wait, MED_PORT_SCOPE_PROCESS);
    }
}

static void
count_in(med_member *member, med_task *task)
{
    count_made(member, task);
    med_tally_add(&member->task->children, true);
    med_task_group *group = med_task_group_of(task);
    if (group) {
        med_tally_add(&group->tally, group->keeper == member);
    }
}

/* ---- Met ------------------------------------------------------------------------------------- */

/* What becomes ready elsewhere than where it was met is not executed there at once: one after the
 * other could do so, each within the last one. What the member's task may not start is not put
 * above the mark in its queue. */
void
med_task_ready(med_member *member, med_task *task)
{
    if (task->priority > 0 || member->lists ||
        !med_task_queue_push(&med_tasking_get(member)->queue, task)) {
        med_task_list_put(&member->team->tasks, member, task);
    }
    med_task_wake(member);
}

static bool
is_deep(const med_member *member)
{
    return member->depth >= MED_TASK_DEPTH;
}

static void
start(med_member *member, med_task *task)
{
    bool is_alone = member->team->size == 1;
    if (is_alone && !is_deep(member)) {
        med_task_execute(member, task);
        return;
    }
    member->put_aside = is_alone;
    bool is_queued =
        task->priority <= 0 && med_task_queue_push(&med_tasking_get(member)->queue, task);
    if (is_queued) {
        med_task_wake(member);
    } else if (task->priority > 0 || is_deep(member)) {
        med_task_ready(member, task);
    } else {
        med_task_execute(member, task);
    }
}

/* Of one maker's tasks as many as there are threads may wait for each other: the standard promises
 * nothing, and programs do it. So who has some under way has enough of them before he executes one
 * instead of making the next. */
static bool
others_can_meet(const med_member *member)
{
    uint32_t under_way = med_tally_count(&member->task->children);
    return under_way == 0 || under_way + 1 >= member->team->size;
}

bool
med_task_is_plenty(med_member *member)
{
    if (is_deep(member)) {
        return false;
    }
    return member->team->size == 1 ||
           (med_task_queue_has_enough(&med_tasking_get(member)->queue, member->task) &&
            others_can_meet(member));
}

/* In a team of one tasks are complete when they have been met, but for those that detach, that were
 * met deep in others, and what depends on these; in others, where the queue has enough, what may be
 * executed now. */
static bool
is_executed_at_once(med_member *member, const med_task_call *call)
{
    if ((call->flags & MED_TASK_UNDEFERRED) || (member->task->flags & MED_TASK_FINAL)) {
        return true;
    }
    if ((call->flags & MED_TASK_DETACHES) || (call->priority > 0 && member->team->size > 1)) {
        return false;
    }
    return med_task_is_plenty(member) && (!call->depend_count || med_depend_is_clear(member, call));
}

void
med_task_discard(med_member *member, const med_task_call *call)
{
    if (call->made && (call->flags & MED_TASK_DETACHES)) {
        med_task_init(call->made, member->task, call->flags);
        med_task_event_forgo(member, call->made);
    } else if (call->made) {
        med_task_throw(member, call->made);
    }
}

void
med_task_meet(med_member *member, const med_task_call *call)
{
    if (med_task_is_discarded(member, med_task_group_of(member->task))) {
        if (call->made && (call->flags & MED_TASK_COPIED)) {
            med_task_meet_here(member, call);
        } else {
            med_task_discard(member, call);
        }
        return;
    }
    if (is_executed_at_once(member, call)) {
        med_task_meet_here(member, call);
        med_task_back(member);
    } else {
        med_task *task = make(member, call);
        copy_environment(task, member, call);
        count_in(member, task);
        if (!call->depend_count || med_depend_add(member, task, call)) {
            start(member, task);
        }
    }
}
