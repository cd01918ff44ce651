/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A team's list of tasks, by priority: those that have one, and those that became ready where the
 * member's own queue was full. Under a lock; `count` spares it to who looks in vain.
 */
#include "omp/lock.h"
#include "omp/task_inner.h"

void
med_task_list_put(med_task_list *list, med_member *member, med_task *task)
{
    med_omp_lock_set(&list->lock, member);
    med_task *ahead = list->last;
    while (ahead && ahead->priority < task->priority) {
        ahead = ahead->ahead;
    }
    med_task *behind = ahead ? ahead->behind : list->first;
    task->ahead = ahead;
    task->behind = behind;
    *(ahead ? &ahead->behind : &list->first) = task;
    *(behind ? &behind->ahead : &list->last) = task;
    /* Relaxed, all: under the lock; who looks without it looks again under it. */
    atomic32_store_relaxed(&list->count, atomic32_load_relaxed(&list->count) + 1);
    atomic32_store_relaxed(&list->puts, atomic32_load_relaxed(&list->puts) + 1);
    med_omp_lock_unset(&list->lock);
}

static void
take_out(med_task_list *list, med_task *task)
{
    *(task->ahead ? &task->ahead->behind : &list->first) = task->behind;
    *(task->behind ? &task->behind->ahead : &list->last) = task->ahead;
    /* Relaxed, both: as above. */
    atomic32_store_relaxed(&list->count, atomic32_load_relaxed(&list->count) - 1);
}

med_task *
med_task_list_take(med_task_list *list, med_member *member, const med_bound *bound)
{
    med_omp_lock_set(&list->lock, member);
    med_task *task = list->first;
    while (task && !med_task_is_allowed(task, bound)) {
        task = task->behind;
    }
    if (task) {
        take_out(list, task);
    } else {
        /* Relaxed: under the lock. */
        med_tasking_get(member)->puts_seen = atomic32_load_relaxed(&list->puts);
    }
    med_omp_lock_unset(&list->lock);
    return task;
}
