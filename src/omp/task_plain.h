/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The shortest way of a task that is executed at once, where no tool is told: of which there is
 * nothing to be said but its lines, data of the caller's, and flags. Inline: who recurses by tasks,
 * or has one thread, has little else.
 */
#ifndef MEDLEY_OMP_TASK_PLAIN_H
#define MEDLEY_OMP_TASK_PLAIN_H

#include "omp/task_inner.h"
#include "omp/task_table.h"

/* From here on the member is at the task, whose flags say MED_TASK_UNDEFERRED. It says itself where
 * its member goes back to: so nothing need be kept across its lines, and no room made for that.
 * Variables of the member's own are not kept. */
static inline __attribute__((always_inline)) void
med_task_plain_enter(med_member *member, const med_tasking *tasking, med_task *task, uint32_t flags)
{
    med_task *outer = member->task;
    med_task_init(task, outer, flags);
    task->icv = member->icv;
    med_task_enter_of(member, tasking, outer, task);
}

/* And again where it was. The task, whose memory is the member's; NULL: others are at it yet. */
static inline __attribute__((always_inline)) med_task *
med_task_plain_leave(med_member *member)
{
    med_task *task = member->task;
    member->depth--;
    /* Relaxed: its maker's own. */
    member->task = (med_task *)atomic_word_load_relaxed(&task->parent);
    member->icv = task->icv;
    med_table_forget(member, task);
    return med_task_children_left(task) ? task : NULL;
}

static inline __attribute__((always_inline)) void
med_task_plain(
    med_member *member, med_tasking *tasking, void (*entry)(void *data), void *data, uint32_t flags)
{
    med_task_plain_enter(member, tasking, med_task_take_of(member, tasking), flags);
    entry(data);
    med_task *task = med_task_plain_leave(member);
    if (task) {
        med_task_give_bare(med_tasking_own(member), task);
    }
}

/* The same, with whatever else is to be done before and behind it. */
void med_task_meet_plain_with_care(med_member *member,
                                   void (*entry)(void *data),
                                   void *data,
                                   uint32_t flags);

static inline __attribute__((always_inline)) void
med_task_meet_plain(med_member *member, void (*entry)(void *data), void *data, uint32_t flags)
{
    if (med_task_is_discarded(member, med_task_group_of(member->task))) {
        return;
    }
    med_tasking *tasking = med_tasking_look(member);
    if (!tasking || !tasking->free || member->icv == &member->own_icv) {
        med_task_meet_plain_with_care(member, entry, data, flags);
        return;
    }
    med_task_plain(member, tasking, entry, data, flags);
    med_task_back(member);
}

#endif
