/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The names that gcc calls for tasks: abi_gomp.c has the others. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omp/face.h"
#include "omp/task.h"
#include "omp/team.h"

/* As gcc's gomp-constants.h has them. */
#define FLAG_UNTIED (1u << 0)
#define FLAG_FINAL (1u << 1)
#define FLAG_PRIORITY (1u << 4)

static uint32_t
flags_of(unsigned flags, bool deferred)
{
    return (flags & FLAG_UNTIED ? MED_TASK_UNTIED : 0u) |
           (flags & FLAG_FINAL ? MED_TASK_FINAL : 0u) | (deferred ? 0u : MED_TASK_UNDEFERRED);
}

FACE void
GOMP_task(void (*entry)(void *),
          void *data,
          void (*copy)(void *, void *),
          long size,
          long align,
          bool deferred,
          unsigned flags,
          void **depend,
          int priority,
          void *detach)
{
    (void)depend;
    (void)priority;
    (void)detach;
    const med_task_call call = {.entry = entry,
                                .data = data,
                                .copy = copy,
                                .size = (size_t)size,
                                .align = (size_t)align,
                                .flags = flags_of(flags, deferred)};
    med_task_meet(med_member_get(), &call);
}

FACE void
GOMP_taskwait(void)
{
    med_task_wait(med_member_get());
}

FACE void
GOMP_taskyield(void)
{
    med_task_yield(med_member_get());
}

FACE void
GOMP_taskgroup_start(void)
{
    med_task_group_begin(med_member_get());
}

FACE void
GOMP_taskgroup_end(void)
{
    med_task_group_end(med_member_get());
}
