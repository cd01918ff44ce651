/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The names that clang calls for loops of tasks. It has one task made, the pattern, which is never
 * executed: each part of the loop is a copy of it, with bounds of its own. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "omp/abi_kmpc_task.h"
#include "omp/taskloop.h"

#define BY_GRAIN 1
#define BY_TASKS 2

/* How clang has a task's bounds, and what else differs from one to the other. */
typedef struct pattern {
    med_kmpc_head *h;
    size_t first_at; /* in what clang sees of it */
    size_t last_at;
    void (*copy)(med_kmpc_task *to, med_kmpc_task *from, int32_t has_last); /* or NULL */
    bool deferred;
} pattern;

static void
meet_part(med_member *member, const pattern *p, uint64_t first, uint64_t last, bool has_last)
{
    med_kmpc_task *from = med_kmpc_task_of(p->h);
    med_kmpc_head *h =
        med_kmpc_task_make(member, p->h->with.size.own, p->h->with.size.all, p->h->flags);
    med_kmpc_task *task = med_kmpc_task_of(h);
    memcpy(task, from, h->with.size.all);
    if (from->shared) {
        task->shared = (char *)task + ((char *)from->shared - (char *)from);
    }
    memcpy((char *)task + p->first_at, &first, sizeof first);
    memcpy((char *)task + p->last_at, &last, sizeof last);
    if (p->copy) {
        p->copy(task, from, has_last);
    }
    med_task_call call = med_kmpc_task_call(h);
    call.flags |= p->deferred ? 0u : MED_TASK_UNDEFERRED;
    med_task_meet(member, &call);
}

static med_taskloop_by
by_of(int32_t by, bool strict)
{
    return by == BY_TASKS   ? MED_TASKLOOP_BY_TASKS
           : by != BY_GRAIN ? MED_TASKLOOP_BY_NOTHING
           : strict         ? MED_TASKLOOP_BY_STRICT_GRAIN
                            : MED_TASKLOOP_BY_GRAIN;
}

static void
meet_parts(med_member *member, const pattern *p, const med_taskloop *s, int64_t step)
{
    uint64_t at;
    memcpy(&at, (char *)med_kmpc_task_of(p->h) + p->first_at, sizeof at);
    for (uint64_t i = 0; i < s->tasks; i++) {
        uint64_t behind = at + med_taskloop_iterations(s, i) * (uint64_t)step;
        meet_part(member, p, at, behind - (uint64_t)step, i + 1 == s->tasks);
        at = behind;
    }
}

static void
taskloop(med_member *member,
         med_kmpc_task *task,
         int32_t condition,
         const uint64_t *first,
         const uint64_t *last,
         int64_t step,
         int32_t no_group,
         int32_t by,
         uint64_t number,
         int32_t strict,
         void (*copy)(med_kmpc_task *to, med_kmpc_task *from, int32_t has_last))
{
    const pattern p = {.h = med_kmpc_head_of(task),
                       .first_at = (size_t)((const char *)first - (char *)task),
                       .last_at = (size_t)((const char *)last - (char *)task),
                       .copy = copy,
                       .deferred = condition != 0};
    uint64_t distance = step > 0 ? *last - *first : *first - *last;
    uint64_t count = distance / (step > 0 ? (uint64_t)step : -(uint64_t)step) + 1;
    const med_taskloop s =
        med_taskloop_split(count, by_of(by, strict != 0), number, member->team->size * 10ull);
    med_ompt_taskloop_begin(member, count);
    if (!no_group) {
        med_told_group_begin_of(member);
    }
    meet_parts(member, &p, &s, step);
    if (!no_group) {
        med_told_group_end_of(member);
    }
    med_ompt_taskloop_end(member, count);
    med_kmpc_task_destroy(p.h);
    med_task_throw(member, p.h->task);
}

FACE void
__kmpc_taskloop_5(const med_kmpc_place *place,
                  int32_t thread,
                  med_kmpc_task *task,
                  int32_t condition,
                  uint64_t *first,
                  uint64_t *last,
                  int64_t step,
                  int32_t no_group,
                  int32_t by,
                  uint64_t number,
                  int32_t strict,
                  void (*copy)(med_kmpc_task *to, med_kmpc_task *from, int32_t has_last))
{
    (void)place;
    (void)thread;
    taskloop(MED_CALLED(MED_OMPT_PLAIN), task, condition, first, last, step, no_group, by, number,
             strict, copy);
}

FACE void
__kmpc_taskloop(const med_kmpc_place *place,
                int32_t thread,
                med_kmpc_task *task,
                int32_t condition,
                uint64_t *first,
                uint64_t *last,
                int64_t step,
                int32_t no_group,
                int32_t by,
                uint64_t number,
                void (*copy)(med_kmpc_task *to, med_kmpc_task *from, int32_t has_last))
{
    (void)place;
    (void)thread;
    taskloop(MED_CALLED(MED_OMPT_PLAIN), task, condition, first, last, step, no_group, by, number,
             0, copy);
}
