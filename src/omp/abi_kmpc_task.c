/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names that clang calls for tasks. It has one made, fills in what the task uses, and then says
 * that it is met. What it sees of the task begins with med_kmpc_task and lies behind our head:
 *
 *   head | med_kmpc_task, private variables | addresses of shared variables
 *
 * Of an untied task clang makes parts: at the end of each but the last one the task is met again.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "omp/abi_kmpc.h"
#include "omp/block.h"
#include "omp/task_inner.h"

typedef struct med_kmpc_task {
    void *shared;
    int32_t (*lines)(int32_t thread, struct med_kmpc_task *task);
    int32_t part;
    union {
        int32_t (*destroy)(int32_t thread, struct med_kmpc_task *task);
        int32_t priority;
    } first, second;
} med_kmpc_task;

typedef struct head {
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
} head;

/* Of these flags. */
#define FLAG_TIED 1u
#define FLAG_FINAL 2u
#define FLAG_DESTROYS 8u
#define FLAG_PRIORITY 32u

_Static_assert(sizeof(head) % _Alignof(head) == 0, "what is behind it is aligned as it is");

static head *
head_of(med_kmpc_task *task)
{
    return (head *)(void *)task - 1;
}

static med_kmpc_task *
task_of(head *h)
{
    return (med_kmpc_task *)(void *)(h + 1);
}

static void
execute(void *data)
{
    head *h = data;
    int32_t thread = med_kmpc_thread(med_member_get());
    do {
        h->goes_on = false;
        (void)task_of(h)->lines(thread, task_of(h));
    } while (h->goes_on);
    if (h->flags & FLAG_DESTROYS) {
        (void)task_of(h)->first.destroy(thread, task_of(h));
    }
}

static uint32_t
flags_of(const head *h)
{
    return (h->flags & FLAG_TIED ? 0u : MED_TASK_UNTIED) |
           (h->flags & FLAG_FINAL ? MED_TASK_FINAL : 0u);
}

static int32_t
priority_of(head *h)
{
    int32_t most = med_settings_get()->task_priority_max;
    int32_t priority = h->flags & FLAG_PRIORITY ? task_of(h)->second.priority : 0;
    return priority <= 0 ? 0 : priority < most ? priority : most;
}

static med_task_call
call_of(head *h)
{
    return (med_task_call){
        .made = h->task, .entry = execute, .flags = flags_of(h), .priority = priority_of(h)};
}

/* ---- Made ------------------------------------------------------------------------------------ */

#define LINE_BYTES 64u

/* A size is a multiple of the alignment, which nobody tells: so what may need a line's has it. */
static head *
make(med_member *member, size_t size, size_t all_size, uint32_t flags)
{
    size_t align = size % LINE_BYTES == 0 ? LINE_BYTES : _Alignof(head);
    size_t before = align > sizeof(head) ? align : sizeof(head);
    med_task *made = med_task_make(member, before + all_size, align);
    head *h = (head *)(void *)((char *)made->data + before) - 1;
    *h = (head){.task = made, .with.size = {(uint32_t)size, (uint32_t)all_size}, .flags = flags};
    made->data = h;
    return h;
}

FACE med_kmpc_task *
__kmpc_omp_task_alloc(const med_kmpc_place *place,
                      int32_t thread,
                      int32_t flags,
                      size_t size,
                      size_t shared_size,
                      int32_t (*lines)(int32_t thread, med_kmpc_task *task))
{
    (void)place;
    (void)thread;
    size_t first = (size + 7) / 8 * 8;
    head *h = make(med_member_get(), size, first + shared_size, (uint32_t)flags);
    med_kmpc_task *task = task_of(h);
    task->shared = shared_size ? (char *)task + first : NULL;
    task->lines = lines;
    task->part = 0;
    return task;
}

FACE med_kmpc_task *
__kmpc_omp_target_task_alloc(const med_kmpc_place *place,
                             int32_t thread,
                             int32_t flags,
                             size_t size,
                             size_t shared_size,
                             int32_t (*lines)(int32_t thread, med_kmpc_task *task),
                             int64_t device)
{
    (void)device;
    return __kmpc_omp_task_alloc(place, thread, flags, size, shared_size, lines);
}

/* Where it would be best executed: a hint. */
FACE int32_t
__kmpc_omp_reg_task_with_affinity(const med_kmpc_place *place,
                                  int32_t thread,
                                  const med_kmpc_task *task,
                                  int32_t count,
                                  const void *list)
{
    (void)place;
    (void)thread;
    (void)task;
    (void)count;
    (void)list;
    return 0;
}

/* ---- Dependences ----------------------------------------------------------------------------- */

typedef struct med_kmpc_dependence {
    uintptr_t address;
    size_t size;
    uint8_t kind;
} med_kmpc_dependence;

#define DEPEND_OUT 2u /* and inout, which is 3 */
#define DEPEND_MUTEX 4u
#define DEPEND_SET 8u
#define DEPEND_ALL 0x80u /* on whatever stands before, and so for what comes */

#define LIST_FEW 16u

typedef struct list {
    size_t count;
    bool on_all;
    med_dependence *all;
    med_dependence few[LIST_FEW];
} list;

static med_depend_kind
kind_of(uint8_t kind)
{
    return kind & (DEPEND_OUT | DEPEND_MUTEX) ? MED_DEPEND_OUT
           : kind & DEPEND_SET                ? MED_DEPEND_SET
                                              : MED_DEPEND_IN;
}

/* Those that write, or those that do not: of several on one address the first one counts. */
static void
list_add(list *l, const med_kmpc_dependence *more, int32_t count, bool writers)
{
    for (int32_t i = 0; i < count; i++) {
        med_depend_kind kind = kind_of(more[i].kind);
        if ((kind == MED_DEPEND_OUT) == writers) {
            l->all[l->count++] = (med_dependence){more[i].address, kind};
        }
        l->on_all |= (more[i].kind & DEPEND_ALL) != 0;
    }
}

/* False: there is no memory, or it depends on all. */
static bool
list_read(list *l,
          int32_t count,
          const med_kmpc_dependence *first,
          int32_t more_count,
          const med_kmpc_dependence *more)
{
    size_t most = (size_t)count + (size_t)more_count;
    *l = (list){.all = l->few};
    if (most > LIST_FEW) {
        l->all = med_block_take(most * sizeof *l->all);
    }
    if (!l->all) {
        return false;
    }
    list_add(l, first, count, true);
    list_add(l, more, more_count, true);
    list_add(l, first, count, false);
    list_add(l, more, more_count, false);
    return !l->on_all;
}

static void
list_give(const list *l)
{
    if (l->all != l->few) {
        med_block_give(l->all);
    }
}

FACE void
__kmpc_omp_wait_deps(const med_kmpc_place *place,
                     int32_t thread,
                     int32_t count,
                     const med_kmpc_dependence *first,
                     int32_t more_count,
                     const med_kmpc_dependence *more)
{
    list l;
    med_member *member = med_member_get();
    (void)place;
    (void)thread;
    if (list_read(&l, count, first, more_count, more)) {
        med_task_wait_depend(member, l.all, l.count);
    } else {
        med_task_wait(member);
    }
    list_give(&l);
}

FACE void
__kmpc_omp_taskwait_deps_51(const med_kmpc_place *place,
                            int32_t thread,
                            int32_t count,
                            const med_kmpc_dependence *first,
                            int32_t more_count,
                            const med_kmpc_dependence *more,
                            int32_t waits_not)
{
    (void)waits_not;
    __kmpc_omp_wait_deps(place, thread, count, first, more_count, more);
}

/* ---- Met ------------------------------------------------------------------------------------- */

FACE int32_t
__kmpc_omp_task(const med_kmpc_place *place, int32_t thread, med_kmpc_task *task)
{
    (void)place;
    (void)thread;
    head *h = head_of(task);
    med_member *member = med_member_get();
    if (h->task == member->task) {
        h->goes_on = true;
    } else {
        const med_task_call call = call_of(h);
        med_task_meet(member, &call);
    }
    return 0;
}

FACE int32_t
__kmpc_omp_task_with_deps(const med_kmpc_place *place,
                          int32_t thread,
                          med_kmpc_task *task,
                          int32_t count,
                          const med_kmpc_dependence *first,
                          int32_t more_count,
                          const med_kmpc_dependence *more)
{
    (void)place;
    (void)thread;
    list l;
    med_member *member = med_member_get();
    med_task_call call = call_of(head_of(task));
    if (list_read(&l, count, first, more_count, more)) {
        call.depends = l.all;
        call.depend_count = l.count;
    } else {
        med_task_wait(member);
        call.flags |= MED_TASK_UNDEFERRED;
    }
    med_task_meet(member, &call);
    list_give(&l);
    return 0;
}

/* Between these two the caller executes it. */
FACE void
__kmpc_omp_task_begin_if0(const med_kmpc_place *place, int32_t thread, med_kmpc_task *task)
{
    (void)place;
    (void)thread;
    head *h = head_of(task);
    const med_task_call call = call_of(h);
    h->with.outer = med_task_memory(sizeof *h->with.outer);
    med_task_begin(med_member_get(), &call, h->with.outer);
}

FACE void
__kmpc_omp_task_complete_if0(const med_kmpc_place *place, int32_t thread, med_kmpc_task *task)
{
    (void)place;
    med_task_stand *outer = head_of(task)->with.outer;
    if (head_of(task)->flags & FLAG_DESTROYS) {
        (void)task->first.destroy(thread, task);
    }
    med_task_end(med_member_get(), outer);
    med_block_give(outer);
}

FACE int32_t
__kmpc_omp_taskwait(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    med_task_wait(med_member_get());
    return 0;
}

FACE int32_t
__kmpc_omp_taskyield(const med_kmpc_place *place, int32_t thread, int32_t part)
{
    (void)place;
    (void)thread;
    (void)part;
    med_task_yield(med_member_get());
    return 0;
}

FACE void
__kmpc_taskgroup(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    med_task_group_begin(med_member_get());
}

FACE void
__kmpc_end_taskgroup(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    med_task_group_end(med_member_get());
}

/* ---- Loops of tasks -------------------------------------------------------------------------- */

#define BY_GRAIN 1
#define BY_TASKS 2

/* How clang has a task's bounds, and what else differs from one to the other. */
typedef struct pattern {
    head *h;
    size_t first_at; /* in what clang sees of it */
    size_t last_at;
    void (*copy)(med_kmpc_task *to, med_kmpc_task *from, int32_t has_last); /* or NULL */
    bool deferred;
} pattern;

static void
meet_part(med_member *member, const pattern *p, uint64_t first, uint64_t last, bool has_last)
{
    med_kmpc_task *from = task_of(p->h);
    head *h = make(member, p->h->with.size.own, p->h->with.size.all, p->h->flags);
    med_kmpc_task *task = task_of(h);
    memcpy(task, from, h->with.size.all);
    if (from->shared) {
        task->shared = (char *)task + ((char *)from->shared - (char *)from);
    }
    memcpy((char *)task + p->first_at, &first, sizeof first);
    memcpy((char *)task + p->last_at, &last, sizeof last);
    if (p->copy) {
        p->copy(task, from, has_last);
    }
    med_task_call call = call_of(h);
    call.flags |= p->deferred ? 0u : MED_TASK_UNDEFERRED;
    med_task_meet(member, &call);
}

static uint64_t
tasks_of(uint64_t count, int32_t by, uint64_t number, uint32_t threads)
{
    uint64_t tasks = by == BY_TASKS ? number : by == BY_GRAIN ? count / number : threads * 10ull;
    tasks = tasks ? tasks : 1;
    return tasks < count ? tasks : count;
}

static void
meet_parts(med_member *member, const pattern *p, uint64_t count, uint64_t tasks, int64_t step)
{
    uint64_t at;
    memcpy(&at, (char *)task_of(p->h) + p->first_at, sizeof at);
    for (uint64_t i = 0; i < tasks; i++) {
        uint64_t iterations = count / tasks + (i < count % tasks);
        uint64_t behind = at + iterations * (uint64_t)step;
        meet_part(member, p, at, behind - (uint64_t)step, i + 1 == tasks);
        at = behind;
    }
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
    med_member *member = med_member_get();
    const pattern p = {.h = head_of(task),
                       .first_at = (size_t)((char *)first - (char *)task),
                       .last_at = (size_t)((char *)last - (char *)task),
                       .copy = copy,
                       .deferred = condition != 0};
    uint64_t distance = step > 0 ? *last - *first : *first - *last;
    uint64_t count = distance / (step > 0 ? (uint64_t)step : -(uint64_t)step) + 1;
    if (!no_group) {
        __kmpc_taskgroup(place, thread);
    }
    meet_parts(member, &p, count, tasks_of(count, by, number, member->team->size), step);
    if (!no_group) {
        __kmpc_end_taskgroup(place, thread);
    }
    med_task_throw(member, p.h->task);
}
