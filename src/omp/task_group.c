/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Groups: who starts one waits at its end for all tasks made in it, and for those that these made;
 * or gives up those that have not begun (med_task_is_discarded, task_inner.h).
 */
#include "omp/task_inner.h"

void
med_task_group_begin(med_member *member)
{
    med_task_group *group = med_task_group_take(member);
    group->tally = (med_tally){.here = 0};
    group->keeper = member;
    atomic32_store_relaxed(&group->cancelled, 0); /* relaxed: nobody else has it yet */
    group->implied = false;
    group->outer = member->task->group;
    group->reductions = (med_reductions){.count = 0};
    member->task->group = group;
}

void
med_task_group_begin_implied(med_member *member)
{
    med_task_group_begin(member);
    member->task->group->implied = true;
}

void
med_task_group_end(med_member *member)
{
    med_task_group *group = member->task->group;
    med_task_until_clear(member, &group->tally);
    member->task->group = group->outer;
    med_task_group_give(member, group);
}

/* ---- Cancelled ------------------------------------------------------------------------------- */

void
med_task_group_cancel(med_member *member)
{
    med_task_group *group = med_task_group_cancellable(member->task->group);
    if (group) {
        atomic32_store_relaxed(&group->cancelled, 1); /* relaxed: as above */
    }
}

bool
med_task_group_is_cancelled(const med_member *member)
{
    return med_task_is_discarded(member, member->task->group);
}
