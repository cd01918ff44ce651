/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A task is executed by one member, is complete then, and its memory given back when its children
 * are complete as well: task_tally.h.
 *
 * What may run together: everything, of different members. A child is complete to its parent before
 * it is counted in its phase, so a phase is over only when nobody changes a task of it any more;
 * but for giving its memory back, which is its maker's.
 */
#include "omp/task_depend.h"
#include "omp/task_inner.h"
#include "omp/task_table.h"

/* ---- Complete -------------------------------------------------------------------------------- */

static void
count_done(med_member *member, const med_task *task)
{
    med_tasking *tasking = med_tasking_get(member);
    uint32_t pair = task->phase % 2;
    uint32_t done = atomic32_load_relaxed(&tasking->done[pair]); /* relaxed: its own */
    /* R1 done -> A1 (is_phase_over, task_phase.c) */
    atomic32_store_release(&tasking->done[pair], done + 1);
}

static bool
keeps_children_of(const med_member *member, const med_task *task)
{
    return task->runner == member && !task->left;
}

static void
complete(med_member *member, med_task *task)
{
    med_wait_crowd *wait = &member->barrier->wait;
    if (task->flags & MED_TASK_DEPENDS) {
        med_depend_release(member, task);
    }
    /* Relaxed: whoever has the task has seen who made it. */
    med_task *parent = (med_task *)atomic_word_load_relaxed(&task->parent);
    med_task_group *group = med_task_group_of(task);
    if (group) {
        (void)med_tally_drop(&group->tally, group->keeper == member, wait);
    }
    if (med_tally_drop(&parent->children, keeps_children_of(member, parent), wait)) {
        med_task_give(member, parent);
    }
    count_done(member, task);
}

void
med_task_release(med_member *member, med_task *task)
{
    if (med_tally_drop(&task->children, false, &member->barrier->wait)) {
        med_task_give(member, task);
    }
}

void
med_task_finish(med_member *member, med_task *task)
{
    complete(member, task);
    med_task_release(member, task);
}

/* Until it is finished, which may be now, its event counts as one more child of it. */
static void
leave_half(med_member *member, med_task *task)
{
    task->children.here++;
    (void)med_task_children_left(task);
    if (med_task_event_half(task, MED_TASK_HALF_LINES)) {
        med_task_finish(member, task);
    }
}

static void
leave(med_member *member, med_task *task)
{
    med_table_forget(member, task);
    if ((task->flags & MED_TASK_DETACHES) && !task->discarded) {
        leave_half(member, task);
        return;
    }
    complete(member, task);
    if (task->flags & MED_TASK_DETACHES) {
        med_task_event_forgo(member, task);
    } else if (med_task_children_left(task)) {
        med_task_give(member, task);
    }
}

/* ---- Executed -------------------------------------------------------------------------------- */

static void
lines(med_member *member, med_task *task, med_task *outer)
{
    if (med_ompt_is_on()) {
        med_ompt_task_lines(member, outer, task->entry);
    } else {
        task->entry(task->data);
    }
}

static void
enter_and_leave(med_member *member, med_task *task)
{
    med_task_stand outer;
    med_task_enter(member, task, &outer);
    if ((task->flags & MED_TASK_COPIED) ||
        !med_task_is_discarded(member, med_task_group_of(task))) {
        lines(member, task, outer.task);
    } else {
        task->discarded = true;
        med_ompt_task_discarded(member, task);
    }
    med_task_go_back(member, &outer);
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

/* At its own lines again it may execute all that there is: nobody else has made any. What they came
 * from may be gone, so that nothing tells whose descendants they are. */
void
med_task_take_up(med_member *member)
{
    const med_bound all = {.ancestor = NULL};
    med_task *task;
    member->put_aside = false;
    while ((task = med_task_find(member, &all)) != NULL) {
        med_task_execute(member, task);
    }
}
