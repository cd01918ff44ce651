/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The names that gcc calls for tasks: abi_gomp.c has the others. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omp/abi_gomp.h"
#include "omp/depend_list.h"
#include "omp/face.h"
#include "omp/task_plain.h"
#include "omp/taskloop.h"
#include "omp/team.h"

/* As gcc's gomp-constants.h has them. */
#define FLAG_UNTIED (1u << 0)
#define FLAG_FINAL (1u << 1)
#define FLAG_MERGEABLE (1u << 2)
#define FLAG_DEPEND (1u << 3)
#define FLAG_PRIORITY (1u << 4)
#define FLAG_UP (1u << 8)
#define FLAG_GRAINSIZE (1u << 9)
#define FLAG_IF (1u << 10)
#define FLAG_NOGROUP (1u << 11)
#define FLAG_REDUCTION (1u << 12)
#define FLAG_DETACH (1u << 13)
#define FLAG_STRICT (1u << 14)

static uint32_t
flags_of(unsigned flags, bool deferred)
{
    _Static_assert((unsigned)MED_TASK_UNTIED == FLAG_UNTIED &&
                       (unsigned)MED_TASK_FINAL == FLAG_FINAL &&
                       (unsigned)MED_TASK_MERGEABLE == FLAG_MERGEABLE,
                   "they are gcc's");
    return (flags & (FLAG_UNTIED | FLAG_FINAL | FLAG_MERGEABLE)) |
           (deferred ? 0u : MED_TASK_UNDEFERRED);
}

/* Up to what the environment allows; of those without, and by default of all, 0. */
static int32_t
priority_of(unsigned flags, int priority)
{
    if (!(flags & FLAG_PRIORITY) || priority <= 0) {
        return 0;
    }
    int32_t most = med_settings_get()->task_priority_max;
    return priority < most ? priority : most;
}

/* ---- Dependences ----------------------------------------------------------------------------- */

/* Apart: its list is large, and most tasks have none. */
static __attribute__((noinline)) void
meet_with_list(med_member *member, med_task_call *call, void **depend)
{
    med_depend_list l;
    if (!med_gomp_list_read(&l, depend)) {
        med_task_wait(member); /* without memory for it: all of them */
        med_task_meet(member, call);
        return;
    }
    call->depends = l.all;
    call->depend_count = l.count;
    med_task_meet(member, call);
    med_depend_list_give(&l);
}

static void
nothing(void *data)
{
    (void)data;
}

/* A wait that nobody waits at is a task without lines. */
FACE void
GOMP_taskwait_depend_nowait(void **depend)
{
    med_task_call call = {.entry = nothing};
    meet_with_list(MED_CALLED(MED_OMPT_PLAIN), &call, depend);
}
LLVM(GOMP_taskwait_depend_nowait)

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* Its data begin with the event, as that was before the task was met. */
static void
put_event(void *data, const void *event)
{
    *(uintptr_t *)data = *(const uintptr_t *)event;
}

/* Is there nothing to be said of it but whether it may be executed at once? */
static inline bool
is_plain(const med_member *member, void (*copy)(void *, void *), unsigned flags)
{
    unsigned said = flags & (FLAG_DEPEND | FLAG_DETACH | FLAG_PRIORITY);
    return !copy && (said == 0 || (said == FLAG_DEPEND && med_table_is_none(member->task)));
}

/* What gcc says of a task, beyond its lines and data. */
typedef struct said {
    void (*copy)(void *, void *);
    long size;
    long align;
    unsigned flags;
    int priority;
    void **depend;
    void *detach;
} said;

static void
meet(med_member *member, void (*entry)(void *), void *data, bool deferred, const said *s)
{
    if (deferred && is_plain(member, s->copy, s->flags) && !med_ompt_is_on() &&
        med_task_is_plenty(member)) {
        med_task_meet_plain(member, entry, data, flags_of(s->flags, false));
        return;
    }
    med_task_call call = {.entry = entry,
                          .data = data,
                          .copy = s->copy,
                          .size = (size_t)s->size,
                          .align = (size_t)s->align,
                          .flags = flags_of(s->flags, deferred),
                          .priority = priority_of(s->flags, s->priority)};
    if (s->flags & FLAG_DETACH) {
        uintptr_t *event = s->detach;
        *event = 0; /* and stays so, where the task is cancelled before it is met */
        call.flags |= MED_TASK_DETACHES;
        call.event = event;
        call.prepare = put_event;
        call.context = event;
    }
    if (s->flags & FLAG_DEPEND) {
        meet_with_list(member, &call, s->depend);
    } else {
        med_task_meet(member, &call);
    }
}

/* What is not plain, or told. `flags` and the three behind it: where the face has them, on its
 * stack, so that the shortest way does not fetch them; `used` keeps gcc from passing what they
 * point to instead. `caller` and `frame`: the face's own. */
static __attribute__((noinline, used)) void
meet_other(void (*entry)(void *),
           void *data,
           void (*copy)(void *, void *),
           long size,
           long align,
           bool deferred,
           const unsigned *flags,
           void ***depend,
           const int *priority,
           void **detach,
           const void *caller,
           void *frame)
{
    const said s = {copy, size, align, *flags, *priority, *depend, *detach};
    med_member *member = med_member_get();
    if (MED_OMPT_IS_TOLD(member)) {
        member = med_ompt_called_told(member, MED_OMPT_PLAIN, caller, frame);
    }
    meet(member, entry, data, deferred, &s);
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
    med_member *member = med_told_not();
    if (member && is_plain(member, copy, flags) && (!deferred || med_task_is_alone(member))) {
        med_task_meet_plain(member, entry, data, flags_of(flags, false));
    } else {
        meet_other(entry, data, copy, size, align, deferred, &flags, &depend, &priority, &detach,
                   FROM_HERE);
    }
}
LLVM(GOMP_task)

FACE void
omp_fulfill_event(uintptr_t event)
{
    med_task_fulfil(event);
}

/* By value in Fortran, too. */
FACE void
omp_fulfill_event_(uintptr_t event)
{
    med_task_fulfil(event);
}
LLVM_BOTH(omp_fulfill_event)

/* ---- Loops of tasks -------------------------------------------------------------------------- */

static med_taskloop_by
by_of(unsigned flags)
{
    return !(flags & FLAG_GRAINSIZE) ? MED_TASKLOOP_BY_TASKS
           : flags & FLAG_STRICT     ? MED_TASKLOOP_BY_STRICT_GRAIN
                                     : MED_TASKLOOP_BY_GRAIN;
}

typedef struct part {
    uint64_t first;
    uint64_t behind;
} part;

/* The data of a loop's task begins with its bounds. */
static void
put_long(void *data, const void *context)
{
    const part *p = context;
    long *bounds = data;
    bounds[0] = (long)p->first;
    bounds[1] = (long)p->behind;
}

static void
put_ull(void *data, const void *context)
{
    const part *p = context;
    unsigned long long *bounds = data;
    bounds[0] = p->first;
    bounds[1] = p->behind;
}

#define DATA_REDUCTIONS 2 /* behind the bounds */

static void
loop(med_task_call *call,
     unsigned flags,
     uint64_t number,
     uint64_t count,
     uint64_t start,
     uint64_t step)
{
    med_member *member = med_member_get();
    uintptr_t *reductions =
        flags & FLAG_REDUCTION ? ((uintptr_t **)call->data)[DATA_REDUCTIONS] : NULL;
    if (count == 0) {
        if (reductions) {
            med_gomp_no_reductions(reductions);
        }
        return;
    }
    const med_taskloop s = med_taskloop_split(count, by_of(flags), number, member->team->size);
    med_ompt_taskloop_begin(member, count);
    if (!(flags & FLAG_NOGROUP)) {
        med_told_group_begin_of(member);
    }
    if (reductions) {
        GOMP_taskgroup_reduction_register(reductions);
    }
    part p = {.behind = start};
    call->context = &p;
    call->flags = flags_of(flags, (flags & FLAG_IF) != 0);
    for (uint64_t i = 0; i < s.tasks; i++) {
        p.first = p.behind;
        p.behind += med_taskloop_iterations(&s, i) * step;
        med_task_meet(member, call);
    }
    if (!(flags & FLAG_NOGROUP)) {
        med_told_group_end_of(member);
    }
    call->context = NULL;
    med_ompt_taskloop_end(member, count);
}

/* Of one of its tasks, but for what writes the bounds. */
static med_task_call
loop_call(void (*entry)(void *),
          void *data,
          void (*copy)(void *, void *),
          long size,
          long align,
          int priority)
{
    return (med_task_call){.entry = entry,
                           .data = data,
                           .copy = copy,
                           .size = (size_t)size,
                           .align = (size_t)align,
                           .priority = priority_of(FLAG_PRIORITY, priority)};
}

FACE void
GOMP_taskloop(void (*entry)(void *),
              void *data,
              void (*copy)(void *, void *),
              long size,
              long align,
              unsigned flags,
              unsigned long number,
              int priority,
              long start,
              long end,
              long step)
{
    MED_CALLED_ONLY(MED_OMPT_PLAIN);
    med_task_call call = loop_call(entry, data, copy, size, align, priority);
    call.prepare = put_long;
    loop(&call, flags, number, med_gomp_count_long(start, end, step), (uint64_t)start,
         (uint64_t)step);
}
LLVM(GOMP_taskloop)

FACE void
GOMP_taskloop_ull(void (*entry)(void *),
                  void *data,
                  void (*copy)(void *, void *),
                  long size,
                  long align,
                  unsigned flags,
                  unsigned long number,
                  int priority,
                  unsigned long long start,
                  unsigned long long end,
                  unsigned long long step)
{
    MED_CALLED_ONLY(MED_OMPT_PLAIN);
    med_task_call call = loop_call(entry, data, copy, size, align, priority);
    call.prepare = put_ull;
    loop(&call, flags, number, med_gomp_count_ull((flags & FLAG_UP) != 0, start, end, step), start,
         step);
}
LLVM(GOMP_taskloop_ull)

/* ---- Waits, groups --------------------------------------------------------------------------- */

FACE void
GOMP_taskwait(void)
{
    med_told_taskwait();
}
LLVM(GOMP_taskwait)

FACE void
GOMP_taskyield(void)
{
    med_told_taskyield();
}
LLVM(GOMP_taskyield)

FACE void
GOMP_taskgroup_start(void)
{
    med_told_group_begin();
}
LLVM(GOMP_taskgroup_start)

FACE void
GOMP_taskgroup_end(void)
{
    med_told_group_end();
}
LLVM(GOMP_taskgroup_end)
