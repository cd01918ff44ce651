/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which children of a task named an address last: what a new one that names it has to wait for. For
 * each address there are the last ones that named it in one way (readers, or one writer, or a set
 * of inoutset, or of mutexinoutset), and those before them in another way. A new one of the same
 * way waits for these, any other for those. Who names all addresses begins the table anew.
 *
 * The table is its task's runner's alone. What it names keeps its memory, though it is complete.
 */
#ifndef MEDLEY_OMP_TASK_TABLE_H
#define MEDLEY_OMP_TASK_TABLE_H

#include "omp/task.h"

struct med_member;

/* The task, a child of the member's own, names these: it waits for whom it has to. */
void
med_table_put(struct med_member *member, med_task *task, const med_dependence *list, size_t count);
/* Is everything complete that one that names these would wait for? */
bool
med_table_is_clear(const struct med_task_table *table, const med_dependence *list, size_t count);
/* A task that stands in no table waits for whom one that names it so would. */
void
med_table_look(const struct med_task_table *table, med_task *waits, const med_dependence *named);
/* Have the children of the task named nothing that is not complete? Then whatever one depends on is
 * complete, and its list need not be read. */
static inline bool
med_table_is_none(const med_task *task)
{
    return !task->table;
}
/* Nobody asks any more what the task's children named. */
void med_table_drop(struct med_member *member, med_task *task);
/* The same of whatever task: most have named nothing. */
static inline void
med_table_forget(struct med_member *member, med_task *task)
{
    if (task->table) {
        med_table_drop(member, task);
    }
}

#endif
