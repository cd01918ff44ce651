/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which children of a task named an address last: what a new one that names it has to wait for. For
 * each address there are the last ones that named it in one way (readers, or one writer, or a set
 * of inoutset), and those before them in another way. A new one of the same way waits for these,
 * any other for those.
 *
 * The table is its task's runner's alone. What it names keeps its memory, though it is complete.
 */
#ifndef MEDLEY_OMP_TASK_TABLE_H
#define MEDLEY_OMP_TASK_TABLE_H

#include <stdint.h>

#include "omp/task.h"

struct med_member;

/* Tasks that named an address in one way, one after the other. */
typedef struct med_way {
    med_task **tasks;
    uint32_t count;
    uint32_t room;
    med_depend_kind kind;
} med_way;

/* The task, a child of the member's own, names an address. Whom it has to wait for, until the table
 * is used again; NULL: it has named that before, and no weaker. */
const med_way *
med_table_put(struct med_member *member, med_task *task, const med_dependence *named);
/* Whom one would wait for that names it so; NULL: nobody. */
const med_way *med_table_look(const struct med_task_table *table, const med_dependence *named);
/* Nobody asks any more what the task's children named. */
void med_table_forget(struct med_member *member, med_task *task);

#endif
