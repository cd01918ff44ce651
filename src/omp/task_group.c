/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Groups: who starts one waits at its end for all tasks made in it, and for those that these made;
 * or gives up those that have not begun (med_task_is_discarded, task_inner.h).
 */
#include "omp/task_inner.h"

/* What the task is in from here on. */
static void
become(med_task *task, med_task_group *group)
{
    /* L1 task is another -> L1 (is_in, task_queue.c): it was taken long ago */
    atomic_word_store_release(&task->group, (uintptr_t)group);
}

void
med_task_group_begin(med_member *member)
{
    med_task_group *group = med_task_group_take(member);
    group->tally = (med_tally){.here = 0};
    group->keeper = member;
    atomic32_store_relaxed(&group->cancelled, 0); /* relaxed: nobody else has it yet */
    group->implied = false;
    group->outer = med_task_group_of(member->task);
    group->reductions = (med_reductions){.count = 0};
    become(member->task, group);
}

void
med_task_group_begin_implied(med_member *member)
{
    med_task_group_begin(member);
    med_task_group_of(member->task)->implied = true;
}

void
med_task_group_end(med_member *member)
{
    med_task_group *group = med_task_group_of(member->task);
    med_task_offer_again(member);
    med_task_until_clear(member, &group->tally, group);
    become(member->task, group->outer);
    med_task_group_give(member, group);
}

/* ---- Cancelled ------------------------------------------------------------------------------- */

void
med_task_group_cancel(med_member *member)
{
    med_task_group *group = med_task_group_cancellable(med_task_group_of(member->task));
    if (group) {
        atomic32_store_relaxed(&group->cancelled, 1); /* relaxed: as above */
    }
}

bool
med_task_group_is_cancelled(const med_member *member)
{
    return med_task_is_discarded(member, med_task_group_of(member->task));
}
