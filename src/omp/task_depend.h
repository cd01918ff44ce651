/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Dependences between the children of one task: what each has to wait for, by the addresses that
 * it names. */
#ifndef MEDLEY_OMP_TASK_DEPEND_H
#define MEDLEY_OMP_TASK_DEPEND_H

#include <stdbool.h>

#include "omp/task.h"

struct med_member;

/* The task, made by the member's own, is behind all those that it depends on. True: there is
 * nothing left to wait for; else whoever completes the last of them says that it is ready. */
bool med_depend_add(struct med_member *member, med_task *task, const med_task_call *call);
/* It is complete: those that depend on it may be ready. */
void med_depend_release(struct med_member *member, med_task *task);
/* Nobody asks any more what the task's children were. */
void med_depend_forget(struct med_member *member, med_task *task);
/* Of a task that had dependences: does nobody keep its memory any more? */
bool med_depend_drop(med_task *task);
/* With the task's memory. */
void med_depend_destroy(struct med_task_depend *after);

#endif
