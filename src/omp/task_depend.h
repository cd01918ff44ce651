/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Dependences between the children of one task: what each has to wait for, by the addresses that
 * it names. */
#ifndef MEDLEY_OMP_TASK_DEPEND_H
#define MEDLEY_OMP_TASK_DEPEND_H

#include <stdbool.h>

#include "omp/task.h"

struct med_member;

#define MED_DEPEND_EDGES 6u
#define MED_DEPEND_CLOSED ((uintptr_t)1)

typedef struct med_edge {
    struct med_edge *next;
    med_task *task; /* that waits */
} med_edge;

typedef struct med_edges {
    struct med_edges *more;
    uint32_t used;
    med_edge list[MED_DEPEND_EDGES];
} med_edges;

/* Stays with a task's memory from the first one on that has dependences. */
typedef struct med_task_depend {
    atomic_word dependents; /* the first edge; or MED_DEPEND_CLOSED: complete */
    atomic32 blockers;      /* so many it waits for, and its maker */
    atomic32 holds;         /* of its memory */
    med_edges edges;
    struct med_exclusions *exclusions; /* task_exclude.h; or NULL: never had one */
} med_task_depend;

/* Is everything complete that a task of the member's own would wait for? */
bool med_depend_is_clear(const struct med_member *member, const med_task_call *call);
/* The task, made by the member's own, is behind all those that it depends on. True: there is
 * nothing left to wait for; else whoever completes the last of them says that it is ready. */
bool med_depend_add(struct med_member *member, med_task *task, const med_task_call *call);
/* It waits for those of them that are not complete: for the table that they stand in. */
void med_depend_behind(med_task *task, med_task *const *others, uint32_t count);
/* It is complete: those that depend on it may be ready. */
void med_depend_release(struct med_member *member, med_task *task);
/* Of a task that had dependences: does nobody keep its memory any more? */
bool med_depend_drop(med_task *task);
/* With the task's memory. */
void med_depend_destroy(struct med_task_depend *after);

static inline bool
med_depend_is_complete(const med_task *task)
{
    /* A1 complete <- R1 (med_depend_release) */
    return atomic_word_load_acquire(&task->after->dependents) == MED_DEPEND_CLOSED;
}

/* By its maker, before others have it. */
static inline void
med_depend_hold(med_task *task)
{
    /* Relaxed, both: nobody gives it back until all edges are in. */
    uint32_t holds = atomic32_load_relaxed(&task->after->holds);
    atomic32_store_relaxed(&task->after->holds, holds + 1);
}

#endif
