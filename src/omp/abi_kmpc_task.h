/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tasks as clang has them. It has one made, fills in what the task uses, and then says that it is
 * met. What it sees of the task begins with med_kmpc_task and lies behind our head:
 *
 *   head | med_kmpc_task, private variables | addresses of shared variables
 */
#ifndef MEDLEY_OMP_ABI_KMPC_TASK_H
#define MEDLEY_OMP_ABI_KMPC_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omp/abi_kmpc.h"
#include "omp/task.h"

typedef struct med_kmpc_task {
    void *shared;
    int32_t (*lines)(int32_t thread, struct med_kmpc_task *task);
    int32_t part;
    union {
        int32_t (*destroy)(int32_t thread, struct med_kmpc_task *task);
        int32_t priority;
    } first, second;
} med_kmpc_task;

typedef struct med_kmpc_head {
    _Alignas(16) med_task *task;
    union {
        med_task_stand *outer; /* of one that its maker executes */
        struct {
            uint32_t own; /* without what is shared */
            uint32_t all; /* behind the head */
        } size;           /* before */
    } with;
    uint32_t flags; /* as clang gave them */
    bool goes_on;   /* it has been met again */
    bool detaches;
} med_kmpc_head;

/* Of these flags. */
#define MED_KMPC_TIED 1u
#define MED_KMPC_FINAL 2u
#define MED_KMPC_MERGEABLE 4u
#define MED_KMPC_DESTROYS 8u
#define MED_KMPC_PROXY 16u /* who has it done elsewhere says when it is complete */
#define MED_KMPC_PRIORITY 32u

_Static_assert(sizeof(med_kmpc_head) % _Alignof(med_kmpc_head) == 0,
               "what is behind it is aligned as it is");

static inline med_kmpc_head *
med_kmpc_head_of(med_kmpc_task *task)
{
    return (med_kmpc_head *)(void *)task - 1;
}

static inline med_kmpc_task *
med_kmpc_task_of(med_kmpc_head *head)
{
    return (med_kmpc_task *)(void *)(head + 1);
}

/* With room for so much, of which the first `size` are its own; to be filled in. */
med_kmpc_head *med_kmpc_task_make(med_member *member, size_t size, size_t all_size, uint32_t flags);
/* Executed at once, by a member that no tool knows, where it is alone or has enough of them.
 * False: it is to be met. */
bool med_kmpc_task_execute(med_member *member, med_kmpc_head *head);
/* How it is met. */
med_task_call med_kmpc_task_call(med_kmpc_head *head);
/* Its private variables are no more. */
void med_kmpc_task_destroy(med_kmpc_head *head);

#endif
