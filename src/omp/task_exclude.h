/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tasks that exclude each other (mutexinoutset): siblings that name an address so run in any order,
 * one at a time. An exclusion belongs to an address; a task that names several has all of them when
 * it is ready, and gives them back when it is complete.
 */
#ifndef MEDLEY_OMP_TASK_EXCLUDE_H
#define MEDLEY_OMP_TASK_EXCLUDE_H

#include <stdbool.h>

#include "omp/task.h"

struct med_member;

typedef struct med_exclusion med_exclusion;

/* What a task excludes others by; stays with its memory. */
typedef struct med_exclusions med_exclusions;

/* By the task's maker, before it may be ready. `*one` is the address's, made when it is NULL. */
void med_exclusions_add(med_task *task, med_exclusion **one);
/* By the address, which is forgotten. NULL: it has none. */
void med_exclusion_drop(med_exclusion *one);
/* Nothing else is left that it depends on. False: it has to wait for one, and is ready when another
 * task has given that back; it is not the caller's any more. */
bool med_exclusions_take(med_task *task);
/* The task is complete; others may be ready. */
void med_exclusions_give(struct med_member *member, med_task *task);
/* With the task's memory. */
void med_exclusions_destroy(med_exclusions *of);

#endif
