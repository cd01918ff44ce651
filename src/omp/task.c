/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The life of a task: made by who meets it, ready once nothing that it depends on is left, executed
 * by one member, complete, and its memory given back when its children are complete as well.
 *
 * What may run together: everything, of different members. The
 * counts of a task's children are its runner's (`here`) while that executes it, and everybody
 * else's (`away`). At its last line the runner adds both up; who comes to nothing then gives the
 * memory back. As long as it runs, nothing is what `away` comes to only when the runner has added
 * up as well, to sleep (med_tally_merge), and is to be woken.
 *
 * A child is complete to its parent before it is counted in its phase, so a phase is over only when
 * nobody changes a task of it any more; but for giving its memory back, which is its maker's.
 */
#include "omp/task.h"

#include <string.h>

#include "omp/cancel.h"
#include "omp/task_depend.h"
#include "omp/task_inner.h"

/* Nested so deep an untied task is bound like all others: stacks end. */
#define UNTIED_DEPTH 64u

/* ---- Tallies --------------------------------------------------------------------------------- */

static void
tally_add(med_tally *tally, bool keeps)
{
    if (keeps) {
        tally->here++;
    } else {
        /* Relaxed: a number; what adds is counted there itself until it is complete. */
        (void)atomic32_fetch_add_relaxed(&tally->away, MED_TALLY_ONE);
    }
}

/* True: it was the last one, and the keeper is gone. Behind this nothing of it is touched. */
static bool
tally_drop(med_tally *tally, bool keeps, med_wait *wait)
{
    if (keeps) {
        tally->here--;
        return false;
    }
    /* R2 complete -> A2 (task_inner.h, keeper_leaves, tally_drop); A2 complete <- R2 (tally_drop,
     * keeper_leaves) */
    uint32_t away = atomic32_fetch_add_acq_rel(&tally->away, 0 - MED_TALLY_ONE) - MED_TALLY_ONE;
    if (away == 0) {
        med_wait_wake(wait, MED_PORT_SCOPE_PROCESS);
    }
    return away == MED_TALLY_LEFT;
}

/* The runner has nothing more to do with its children. True: nobody has. */
static bool
keeper_leaves(med_task *task)
{
    med_tally *tally = &task->children;
    if (med_tally_is_clear(tally)) {
        return true;
    }
    task->left = true;
    uint32_t more = tally->here * MED_TALLY_ONE + MED_TALLY_LEFT;
    /* R2 complete -> A2 (tally_drop); A2 complete <- R2 (tally_drop) */
    return atomic32_fetch_add_acq_rel(&tally->away, more) + more == MED_TALLY_LEFT;
}

/* ---- Made ------------------------------------------------------------------------------------ */

static void
med_task_become(med_task *task, const med_task *parent)
{
    /* L1 task is another -> L1 (task_queue.c), all; relaxed: its owner's own */
    atomic32_store_release(&task->life, atomic32_load_relaxed(&task->life) + 1);
    atomic32_store_release(&task->parent_life, atomic32_load_relaxed(&parent->life));
    atomic32_store_release(&task->level, atomic32_load_relaxed(&parent->level) + 1);
    atomic_word_store_release(&task->parent, (uintptr_t)parent);
}

/* The data environment: that of who meets it, as it is now. */
static void
make_room(med_task *task, const med_member *member, size_t size, size_t wanted)
{
    size_t align = wanted > _Alignof(med_icv) ? wanted : _Alignof(med_icv);
    size_t first = (size + align - 1) / align * align;
    bool changed = member->icv != member->gate.icv;
    unsigned char *data = med_task_data(task, changed ? first + sizeof(med_icv) : size, align);
    task->data = data;
    task->icv = member->icv;
    if (changed) {
        task->icv = memcpy(data + first, member->icv, sizeof(med_icv));
    }
}

static void
copy_environment(med_task *task, const med_member *member, const med_task_call *call)
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
    return task;
}

void
med_task_throw(med_member *member, med_task *made)
{
    med_task_give(member, made);
}

static med_task *
make(med_member *member, const med_task_call *call, uint32_t flags)
{
    med_task *task = call->made ? call->made : med_task_take(member);
    const med_task *outer = member->task;
    med_task_become(task, outer);
    task->flags = flags | (outer->flags & MED_TASK_FINAL) | (call->copy ? MED_TASK_COPIED : 0u);
    task->left = false;
    task->entry = call->entry;
    task->group = outer->group;
    task->phase = outer->phase;
    task->children.here = 0;
    task->table = NULL;
    /* Relaxed: it is not to be seen yet. */
    atomic32_store_relaxed(&task->children.away, 0);
    task->priority = call->priority;
    if (flags & MED_TASK_DETACHES) {
        med_task_event_begin(task);
        *call->event = (uintptr_t)task;
    }
    return task;
}

/* The first task of a phase says so, and calls those who are at their gates already. */
static void
count_made(med_member *member, const med_task *task)
{
    med_tasking *tasking = med_tasking_get(member);
    med_team *team = member->team;
    uint32_t pair = task->phase % 2;
    /* Relaxed, all: its own count; both are seen behind the barrier, or by who sees more of it. */
    atomic32_store_relaxed(&tasking->made[pair], atomic32_load_relaxed(&tasking->made[pair]) + 1);
    if (atomic_word_load_relaxed(&team->tasked[pair]) != task->phase) {
        atomic_word_store_relaxed(&team->tasked[pair], task->phase);
        med_wait_wake(&team->gate_wait, MED_PORT_SCOPE_PROCESS);
    }
}

static bool
keeps_children_of(const med_member *member, const med_task *task)
{
    return task->runner == member && !task->left;
}

static void
count_in(med_member *member, med_task *task)
{
    count_made(member, task);
    tally_add(&member->task->children, true);
    if (task->group) {
        tally_add(&task->group->tally, task->group->keeper == member);
    }
}

/* ---- Complete -------------------------------------------------------------------------------- */

static void
count_done(med_member *member, const med_task *task)
{
    med_tasking *tasking = med_tasking_get(member);
    uint32_t pair = task->phase % 2;
    uint32_t done = atomic32_load_relaxed(&tasking->done[pair]); /* relaxed: its own */
    /* R1 done -> A1 (is_phase_over, task_wait.c) */
    atomic32_store_release(&tasking->done[pair], done + 1);
}

static void
complete(med_member *member, med_task *task)
{
    med_wait *wait = &member->barrier->wait;
    if (task->flags & MED_TASK_UNDEFERRED) {
        return;
    }
    if (task->flags & MED_TASK_DEPENDS) {
        med_depend_release(member, task);
    }
    /* Relaxed: whoever has the task has seen who made it. */
    med_task *parent = (med_task *)atomic_word_load_relaxed(&task->parent);
    if (task->group) {
        (void)tally_drop(&task->group->tally, task->group->keeper == member, wait);
    }
    if (tally_drop(&parent->children, keeps_children_of(member, parent), wait)) {
        med_task_give(member, parent);
    }
    count_done(member, task);
}

void
med_task_finish(med_member *member, med_task *task)
{
    complete(member, task);
    if (tally_drop(&task->children, false, &member->barrier->wait)) {
        med_task_give(member, task);
    }
}

/* Until it is finished, which may be now, its event counts as one more child of it. */
static void
leave_half(med_member *member, med_task *task)
{
    task->children.here++;
    (void)keeper_leaves(task);
    if (med_task_event_drop(task)) {
        med_task_finish(member, task);
    }
}

static void
leave(med_member *member, med_task *task)
{
    med_depend_forget(member, task);
    if (task->flags & MED_TASK_DETACHES) {
        if (!(task->flags & MED_TASK_UNDEFERRED)) {
            leave_half(member, task);
            return;
        }
        med_task_event_wait(member, task);
    }
    complete(member, task);
    if (keeper_leaves(task)) {
        med_task_give(member, task);
    }
}

/* ---- Executed -------------------------------------------------------------------------------- */

static med_task_group *
cancellable(const med_task_group *group)
{
    while (group && group->implied) {
        group = group->outer;
    }
    return (med_task_group *)group;
}

static bool
is_discarded(const med_member *member, const med_task_group *group)
{
    group = cancellable(group);
    /* Relaxed: a program that needs to know when has to say so. */
    return (group && atomic32_load_relaxed(&group->cancelled)) || med_cancel_region_is(member);
}

void
med_task_group_cancel(med_member *member)
{
    med_task_group *group = cancellable(member->task->group);
    if (group) {
        atomic32_store_relaxed(&group->cancelled, 1); /* relaxed: as above */
    }
}

bool
med_task_group_is_cancelled(const med_member *member)
{
    return is_discarded(member, member->task->group);
}

static void
enter(med_member *member, med_task *task, med_task_stand *outer)
{
    outer->task = member->task;
    outer->icv = member->icv;
    outer->bound = member->allowed;
    task->runner = member;
    member->task = task;
    member->icv = task->icv;
    member->depth++;
    if (!(task->flags & MED_TASK_UNTIED) || member->depth > UNTIED_DEPTH) {
        member->allowed = (med_bound){.ancestor = task,
                                      .mark = med_task_queue_mark(&med_tasking_get(member)->queue)};
    }
}

static void
go_back(med_member *member, const med_task_stand *outer)
{
    member->depth--;
    member->task = outer->task;
    member->icv = outer->icv;
    member->allowed = outer->bound;
}

static void
enter_and_leave(med_member *member, med_task *task)
{
    med_task_stand outer;
    enter(member, task, &outer);
    if ((task->flags & MED_TASK_COPIED) || !is_discarded(member, task->group)) {
        task->entry(task->data);
    } else if (task->flags & MED_TASK_DETACHES) {
        (void)med_task_event_drop(task); /* nobody may be left who would */
    }
    go_back(member, &outer);
    leave(member, task);
}

void
med_task_execute(med_member *member, med_task *task)
{
    if (member->icv == &member->own_icv) {
        const med_icv outer = member->own_icv;
        enter_and_leave(member, task);
        member->own_icv = outer;
    } else {
        enter_and_leave(member, task);
    }
}

/* ---- Met ------------------------------------------------------------------------------------- */

/* What becomes ready elsewhere than where it was met is not executed there at once: one after the
 * other could do so, each within the last one. */
void
med_task_ready(med_member *member, med_task *task)
{
    if (task->priority > 0 || !med_task_queue_push(&med_tasking_get(member)->queue, task)) {
        med_task_list_put(&member->team->tasks, member, task);
    }
    med_task_wake(member);
}

static void
start(med_member *member, med_task *task)
{
    if (member->team->size == 1) {
        med_task_execute(member, task);
    } else if (task->priority > 0) {
        med_task_ready(member, task);
    } else if (med_task_queue_push(&med_tasking_get(member)->queue, task)) {
        med_task_wake(member);
    } else {
        med_task_execute(member, task);
    }
}

/* Its data are the caller's. */
static void
share_environment(med_task *task, const med_task_call *call)
{
    task->data = call->data;
    if (call->copy) {
        task->data = med_task_data(task, call->size, call->align);
        call->copy(task->data, call->data);
    }
    if (call->prepare) {
        call->prepare(task->data, call->context);
    }
}

static med_task *
make_undeferred(med_member *member, const med_task_call *call)
{
    if (call->depend_count) {
        med_task_wait_depend(member, call->depends, call->depend_count);
    }
    med_task *task = make(member, call, call->flags | MED_TASK_UNDEFERRED);
    task->icv = member->icv;
    if (!call->made) {
        share_environment(task, call);
    }
    return task;
}

static void
meet_undeferred(med_member *member, const med_task_call *call)
{
    med_task_execute(member, make_undeferred(member, call));
}

void
med_task_begin(med_member *member, const med_task_call *call, med_task_stand *outer)
{
    outer->own_icv = member->own_icv;
    enter(member, make_undeferred(member, call), outer);
}

void
med_task_end(med_member *member, const med_task_stand *outer)
{
    med_task *task = member->task;
    go_back(member, outer);
    leave(member, task);
    member->own_icv = outer->own_icv;
}

/* In a team of one tasks are complete when they have been met, but for those that detach, and what
 * depends on these. */
static bool
is_executed_at_once(const med_member *member, const med_task_call *call)
{
    if ((call->flags & MED_TASK_UNDEFERRED) || (member->task->flags & MED_TASK_FINAL)) {
        return true;
    }
    return member->team->size == 1 && !(call->flags & MED_TASK_DETACHES) &&
           !(call->depend_count && member->task->table);
}

void
med_task_meet(med_member *member, const med_task_call *call)
{
    if (is_discarded(member, member->task->group)) {
        if (call->made) {
            med_task_throw(member, call->made);
        }
        return;
    }
    if (is_executed_at_once(member, call)) {
        meet_undeferred(member, call);
    } else {
        med_task *task = make(member, call, call->flags);
        copy_environment(task, member, call);
        count_in(member, task);
        if (!call->depend_count || med_depend_add(member, task, call)) {
            start(member, task);
        }
    }
}
