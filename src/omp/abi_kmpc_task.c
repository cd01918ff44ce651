/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names that clang calls for tasks: made, met, waited for. Of an untied task clang makes parts:
 * at the end of each but the last one the task is met again.
 *
 * A proxy is a task whose work somebody else does, whose completion is therefore told: an event.
 */
#include "omp/abi_kmpc_task.h"

#include "mrapi/heap_lent.h"
#include "omp/task_plain.h"

void
med_kmpc_task_destroy(med_kmpc_head *head)
{
    if (head->flags & MED_KMPC_DESTROYS) {
        med_kmpc_task *task = med_kmpc_task_of(head);
        (void)task->first.destroy(med_kmpc_thread(med_member_get()), task);
    }
}

static void
execute_lines(const med_member *member, med_kmpc_head *head)
{
    med_kmpc_task *task = med_kmpc_task_of(head);
    do {
        head->goes_on = false;
        (void)task->lines(med_kmpc_thread(member), task);
    } while (head->goes_on);
}

/* One with variables to destroy comes here even if its group is cancelled. */
static void
execute(void *data)
{
    med_kmpc_head *head = data;
    med_member *member = med_member_get();
    MED_OMPT_EXIT_FRAME(member);
    if (!(head->flags & MED_KMPC_DESTROYS) || !med_task_group_is_cancelled(member)) {
        execute_lines(member, head);
    } else {
        head->task->discarded = true;
    }
    med_kmpc_task_destroy(head);
}

static inline uint32_t
flags_of(const med_kmpc_head *h)
{
    return (h->flags & MED_KMPC_TIED ? 0u : MED_TASK_UNTIED) |
           (h->flags & MED_KMPC_FINAL ? MED_TASK_FINAL : 0u) |
           (h->flags & MED_KMPC_MERGEABLE ? MED_TASK_MERGEABLE : 0u) |
           (h->flags & MED_KMPC_DESTROYS ? MED_TASK_COPIED : 0u) |
           (h->detaches ? MED_TASK_DETACHES : 0u);
}

static int32_t
priority_of(med_kmpc_head *h)
{
    int32_t most = med_settings_get()->task_priority_max;
    int32_t priority = h->flags & MED_KMPC_PRIORITY ? med_kmpc_task_of(h)->second.priority : 0;
    return priority <= 0 ? 0 : priority < most ? priority : most;
}

med_task_call
med_kmpc_task_call(med_kmpc_head *h)
{
    return (med_task_call){
        .made = h->task, .entry = execute, .flags = flags_of(h), .priority = priority_of(h)};
}

/* ---- Made ------------------------------------------------------------------------------------ */

#define LINE_BYTES 64u

static uintptr_t
detach(med_kmpc_head *h)
{
    h->detaches = true;
    return med_task_detach(h->task);
}

/* A size is a multiple of the alignment, which nobody tells: so what may need a line's has it. */
med_kmpc_head *
med_kmpc_task_make(med_member *member, size_t size, size_t all_size, uint32_t flags)
{
    size_t align = size % LINE_BYTES == 0 ? LINE_BYTES : _Alignof(med_kmpc_head);
    size_t before = align > sizeof(med_kmpc_head) ? align : sizeof(med_kmpc_head);
    med_task *made = med_task_make(member, before + all_size, align);
    med_kmpc_head *h = (med_kmpc_head *)(void *)((char *)made->data + before) - 1;
    *h = (med_kmpc_head){
        .task = made, .with.size = {(uint32_t)size, (uint32_t)all_size}, .flags = flags};
    made->data = h;
    if (flags & MED_KMPC_PROXY) {
        (void)detach(h);
    }
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
    med_kmpc_head *h =
        med_kmpc_task_make(med_member_get(), size, first + shared_size, (uint32_t)flags);
    med_kmpc_task *task = med_kmpc_task_of(h);
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

/* ---- Events ---------------------------------------------------------------------------------- */

/* Before it is met: what omp_fulfill_event is to be called with. */
FACE uintptr_t
__kmpc_task_allow_completion_event(const med_kmpc_place *place, int32_t thread, med_kmpc_task *task)
{
    (void)place;
    (void)thread;
    return detach(med_kmpc_head_of(task));
}

/* By any thread, of the team or not. */
FACE void
__kmpc_proxy_task_completed_ooo(med_kmpc_task *task)
{
    med_task_fulfil((uintptr_t)med_kmpc_head_of(task)->task);
}

FACE void
__kmpc_proxy_task_completed(int32_t thread, med_kmpc_task *task)
{
    (void)thread;
    __kmpc_proxy_task_completed_ooo(task);
}

/* ---- Executed at once ------------------------------------------------------------------------ */

/* By a member that no tool knows: is there nothing to be said of the task but its lines, and
 * nothing of the member's to be kept? */
static inline bool
is_plain(const med_member *member, const med_kmpc_head *h)
{
    return !(h->flags & (MED_KMPC_DESTROYS | MED_KMPC_PRIORITY)) && !h->detaches &&
           member->icv != &member->own_icv;
}

static inline void
plain_enter(med_member *member, med_kmpc_head *h)
{
    med_task_plain_enter(member, med_tasking_own(member), h->task,
                         flags_of(h) | MED_TASK_UNDEFERRED);
}

static inline void
plain_leave(med_member *member)
{
    med_task *task = med_task_plain_leave(member);
    if (task) {
        med_task_give_own(member, task);
    }
    med_task_back(member);
}

bool
med_kmpc_task_execute(med_member *member, med_kmpc_head *h)
{
    if (!is_plain(member, h) || !(med_task_is_alone(member) || med_task_is_plenty(member)) ||
        med_task_is_discarded(member, med_task_group_of(member->task))) {
        return false;
    }
    plain_enter(member, h);
    execute_lines(member, h);
    plain_leave(member);
    return true;
}

/* ---- Met ------------------------------------------------------------------------------------- */

FACE int32_t
__kmpc_omp_task(const med_kmpc_place *place, int32_t thread, med_kmpc_task *task)
{
    (void)place;
    (void)thread;
    med_kmpc_head *h = med_kmpc_head_of(task);
    med_member *member = med_told_not();
    if (h->task == med_member_get()->task) { /* it is no construct: a tool is told nothing */
        h->goes_on = true;
    } else if (!member || !med_kmpc_task_execute(member, h)) {
        const med_task_call call = med_kmpc_task_call(h);
        med_task_meet(MED_CALLED(MED_OMPT_PLAIN), &call);
    }
    return 0;
}
LLVM_AS(__kmpc_omp_task, __kmpc_omp_task_parts)

/* Between these two the caller executes it. */
FACE void
__kmpc_omp_task_begin_if0(const med_kmpc_place *place, int32_t thread, med_kmpc_task *task)
{
    (void)place;
    (void)thread;
    med_kmpc_head *h = med_kmpc_head_of(task);
    med_member *member = med_told_not();
    if (member && is_plain(member, h)) {
        h->with.outer = NULL;
        plain_enter(member, h);
        return;
    }
    const med_task_call call = med_kmpc_task_call(h);
    h->with.outer = med_task_memory(sizeof *h->with.outer);
    med_task_begin(MED_CALLED(MED_OMPT_PLAIN), &call, h->with.outer);
}

FACE void
__kmpc_omp_task_complete_if0(const med_kmpc_place *place, int32_t thread, med_kmpc_task *task)
{
    (void)place;
    (void)thread;
    med_kmpc_head *h = med_kmpc_head_of(task);
    med_member *member = med_member_get();
    med_task_stand *outer = h->with.outer;
    if (h->goes_on) { /* the caller has executed the first part of an untied one */
        execute_lines(member, h);
    }
    if (!outer) {
        plain_leave(member);
        return;
    }
    med_kmpc_task_destroy(h);
    med_task_end(member, outer);
    med_heap_take_back(outer);
}

FACE int32_t
__kmpc_omp_taskwait(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    med_told_taskwait();
    return 0;
}

FACE int32_t
__kmpc_omp_taskyield(const med_kmpc_place *place, int32_t thread, int32_t part)
{
    (void)place;
    (void)thread;
    (void)part;
    med_told_taskyield();
    return 0;
}
