/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A tool that holds what it is told against what must be so of any program: what begins ends, on
 * the same thread, the inner before the outer; a thread is in the task that it was last said to be
 * in; what the tool has put into a task, a region or a thread is there the next time; data are
 * empty when they are new. A program includes it, and ends with 1 where something was not so.
 *
 * What stands in a watch_task is plain: whoever has the task is ordered behind who had it before,
 * or TSan says so.
 */
#ifndef MEDLEY_TESTS_OPENMP_WATCH_H
#define MEDLEY_TESTS_OPENMP_WATCH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/atomic.h"
#include "medley/std/omp-tools.h"

#define WATCH_DEPTH 64

/* What is open, innermost last. */
typedef struct watch_stack {
    uintptr_t entries[WATCH_DEPTH];
    int count;
} watch_stack;

typedef enum watch_life {
    WATCH_MADE,
    WATCH_RUNS,
    WATCH_WAITS, /* beneath another one */
    WATCH_OVER
} watch_life;

typedef struct watch_task {
    int flags;
    unsigned number;
    watch_life life;
    watch_stack syncs, waits, works, masked, reductions;
} watch_task;

typedef struct watch_region {
    watch_task *met_by;
    unsigned wanted;
} watch_region;

typedef struct watch_thread {
    watch_task *task;
    watch_stack outer, regions, held;
    ompt_wait_id_t wanted;
} watch_thread;

static struct {
    atomic32 wrong;
    atomic32 threads, threads_over;
    atomic32 implicit, implicit_over;
    atomic32 regions, regions_over;
    atomic32 made, over, discarded, detached, fulfilled;
    atomic32 works, syncs, dispatches, acquired, cancels, dependences;
    atomic32 locks;
    bool is_final;
} watch;

static ompt_get_thread_data_t watch_thread_data;
static ompt_get_task_info_t watch_task_info;
static ompt_get_parallel_info_t watch_parallel_info;
static ompt_get_state_t watch_state;
static ompt_finalize_tool_t watch_finalize_tool;

#define WATCH_COUNT(what) ((void)atomic32_fetch_add_relaxed(&watch.what, 1))
#define WATCH_READ(what) (atomic32_load_relaxed(&watch.what))

static void
watch_check(bool holds, const char *what, int line)
{
    if (!holds && atomic32_fetch_add_relaxed(&watch.wrong, 1) < 10) {
        (void)fprintf(stderr, "line %d: not so: %s\n", line, what);
    }
}
#define WATCH(condition) watch_check((condition), #condition, __LINE__)

/* ---- What is open ---------------------------------------------------------------------------- */

static void
watch_push(watch_stack *stack, uintptr_t entry)
{
    WATCH(stack->count < WATCH_DEPTH);
    stack->entries[stack->count++ % WATCH_DEPTH] = entry;
}

static uintptr_t
watch_top(const watch_stack *stack)
{
    return stack->count > 0 ? stack->entries[stack->count - 1] : 0;
}

static uintptr_t
watch_pop(watch_stack *stack)
{
    WATCH(stack->count > 0);
    uintptr_t top = watch_top(stack);
    stack->count -= stack->count > 0;
    return top;
}

static void
watch_end_of(watch_stack *stack, ompt_scope_endpoint_t endpoint, uintptr_t entry)
{
    WATCH(entry != 0);
    if (endpoint == ompt_scope_begin) {
        watch_push(stack, entry);
    } else {
        WATCH(endpoint == ompt_scope_end);
        WATCH(watch_pop(stack) == entry);
    }
}

static bool
watch_nothing_open(const watch_task *task)
{
    return task->syncs.count == 0 && task->waits.count == 0 && task->works.count == 0 &&
           task->masked.count == 0 && task->reductions.count == 0;
}

static watch_thread *
watch_here(void)
{
    static watch_thread nobody;
    ompt_data_t *data = watch_thread_data();
    WATCH(data != NULL && data->ptr != NULL);
    return data && data->ptr ? data->ptr : &nobody;
}

static bool
watch_is_here(const ompt_data_t *task)
{
    return task && task->ptr && task->ptr == watch_here()->task;
}

static watch_task *
watch_task_new(ompt_data_t *data, int flags)
{
    WATCH(data->value == 0);
    watch_task *task = calloc(1, sizeof *task);
    task->flags = flags;
    data->ptr = task;
    return task;
}

static void
watch_goes_to(watch_task *task)
{
    watch_thread *here = watch_here();
    if (here->task) {
        WATCH(here->task->life == WATCH_RUNS);
        here->task->life = WATCH_WAITS;
    }
    watch_push(&here->outer, (uintptr_t)here->task);
    here->task = task;
    WATCH(task->life == WATCH_MADE);
    task->life = WATCH_RUNS;
}

static void
watch_comes_back(void)
{
    watch_thread *here = watch_here();
    WATCH(here->task->life == WATCH_RUNS);
    WATCH(watch_nothing_open(here->task));
    here->task->life = WATCH_OVER;
    here->task = (watch_task *)watch_pop(&here->outer);
    if (here->task) {
        WATCH(here->task->life == WATCH_WAITS);
        here->task->life = WATCH_RUNS;
    }
}

/* ---- Threads, regions ------------------------------------------------------------------------ */

static void
watch_thread_begin(ompt_thread_t type, ompt_data_t *data)
{
    (void)type;
    WATCH(data == watch_thread_data());
    WATCH(data->value == 0);
    data->ptr = calloc(1, sizeof(watch_thread));
    WATCH_COUNT(threads);
}

static void
watch_thread_end(ompt_data_t *data)
{
    watch_thread *thread = data->ptr;
    WATCH(thread == watch_here());
    WATCH(thread->task == NULL && thread->outer.count == 0);
    WATCH(thread->regions.count == 0 && thread->held.count == 0);
    data->ptr = NULL;
    free(thread);
    WATCH_COUNT(threads_over);
}

static void
watch_parallel_begin(ompt_data_t *task,
                     const ompt_frame_t *frame,
                     ompt_data_t *data,
                     unsigned wanted,
                     int flags,
                     const void *at)
{
    watch_region *region = calloc(1, sizeof *region);
    WATCH(watch_is_here(task));
    WATCH(frame->enter_frame.ptr != NULL);
    WATCH(data->value == 0);
    WATCH(wanted > 0);
    WATCH(flags & (ompt_parallel_team | ompt_parallel_league));
    WATCH(at != NULL);
    region->met_by = task->ptr;
    region->wanted = wanted;
    data->ptr = region;
    watch_push(&watch_here()->regions, (uintptr_t)region);
    WATCH_COUNT(regions);
}

static void
watch_parallel_end(ompt_data_t *data, ompt_data_t *task, int flags, const void *at)
{
    watch_region *region = data->ptr;
    WATCH(watch_is_here(task));
    WATCH(region->met_by == task->ptr);
    WATCH(watch_pop(&watch_here()->regions) == (uintptr_t)region);
    WATCH(flags & (ompt_parallel_team | ompt_parallel_league));
    WATCH(at != NULL);
    free(region);
    WATCH_COUNT(regions_over);
}

static void
watch_implicit_begin(
    ompt_data_t *data, ompt_data_t *task, unsigned size, unsigned number, int flags)
{
    watch_task *begun = watch_task_new(task, flags);
    begun->number = number;
    if (flags & ompt_task_implicit) {
        const watch_region *region = data->ptr;
        WATCH(number < size && size <= region->wanted);
    }
    watch_goes_to(begun);
    WATCH_COUNT(implicit);
}

static void
watch_implicit(ompt_scope_endpoint_t endpoint,
               ompt_data_t *data,
               ompt_data_t *task,
               unsigned size,
               unsigned number,
               int flags)
{
    if (endpoint == ompt_scope_begin) {
        watch_implicit_begin(data, task, size, number, flags);
        return;
    }
    WATCH(watch_is_here(task));
    watch_task *ends = watch_here()->task;
    WATCH(ends->flags == flags && ends->number == number);
    watch_comes_back();
    free(ends);
    WATCH_COUNT(implicit_over);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static void
watch_create(ompt_data_t *task,
             const ompt_frame_t *frame,
             ompt_data_t *made,
             int flags,
             int depends,
             const void *at)
{
    (void)depends;
    WATCH(watch_is_here(task));
    WATCH(frame->enter_frame.ptr != NULL);
    WATCH(flags & ompt_task_explicit);
    WATCH(at != NULL);
    (void)watch_task_new(made, flags);
    WATCH_COUNT(made);
}

static void
watch_dependences(ompt_data_t *task, const ompt_dependence_t *list, int count)
{
    const watch_task *made = task->ptr;
    WATCH(made->life == WATCH_MADE);
    WATCH(count > 0 && list[0].variable.ptr != NULL);
    WATCH_COUNT(dependences);
}

static void
watch_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
    if (status == ompt_task_early_fulfill || status == ompt_task_late_fulfill) {
        WATCH(next == NULL);
        WATCH_COUNT(fulfilled);
        return;
    }
    WATCH(watch_is_here(prior));
    if (status == ompt_task_switch || status == ompt_task_yield) {
        watch_goes_to(next->ptr);
        return;
    }
    watch_task *ends = watch_here()->task;
    WATCH(ends->flags & ompt_task_explicit);
    watch_comes_back();
    free(ends);
    WATCH(watch_is_here(next));
    WATCH_COUNT(over);
    if (status == ompt_task_detach) {
        WATCH_COUNT(detached);
    }
}

static void
watch_cancel(ompt_data_t *task, int flags, const void *at)
{
    (void)at;
    if (flags & ompt_cancel_discarded_task) {
        watch_task *made = task->ptr;
        WATCH(made->life == WATCH_MADE);
        free(made);
        WATCH_COUNT(discarded);
    } else {
        WATCH(watch_is_here(task));
        WATCH_COUNT(cancels);
    }
}

/* ---- Waits, constructs ----------------------------------------------------------------------- */

static bool
watch_is_around(const ompt_data_t *data)
{
    ompt_data_t *around = NULL;
    return watch_parallel_info(0, &around, NULL) == 2 && around == data;
}

static void
watch_sync(ompt_sync_region_t kind,
           ompt_scope_endpoint_t endpoint,
           ompt_data_t *data,
           ompt_data_t *task,
           const void *at)
{
    (void)at;
    WATCH(watch_is_here(task));
    WATCH(endpoint == ompt_scope_end || watch_is_around(data));
    watch_end_of(&watch_here()->task->syncs, endpoint, kind);
    WATCH_COUNT(syncs);
}

static void
watch_sync_wait(ompt_sync_region_t kind,
                ompt_scope_endpoint_t endpoint,
                ompt_data_t *data,
                ompt_data_t *task,
                const void *at)
{
    (void)data;
    (void)at;
    WATCH(watch_is_here(task));
    WATCH(watch_top(&watch_here()->task->syncs) == kind);
    watch_end_of(&watch_here()->task->waits, endpoint, kind);
}

static void
watch_reduction(ompt_sync_region_t kind,
                ompt_scope_endpoint_t endpoint,
                ompt_data_t *data,
                ompt_data_t *task,
                const void *at)
{
    (void)data;
    (void)at;
    WATCH(watch_is_here(task));
    watch_end_of(&watch_here()->task->reductions, endpoint, kind);
}

static void
watch_work(ompt_work_t kind,
           ompt_scope_endpoint_t endpoint,
           ompt_data_t *data,
           ompt_data_t *task,
           uint64_t count,
           const void *at)
{
    WATCH(watch_is_here(task));
    WATCH(watch_is_around(data));
    WATCH(at != NULL);
    watch_end_of(&watch_here()->task->works, endpoint, (uintptr_t)count << 4 | kind);
    WATCH_COUNT(works);
}

static void
watch_dispatch(ompt_data_t *data, ompt_data_t *task, ompt_dispatch_t kind, ompt_data_t instance)
{
    WATCH(watch_is_here(task));
    WATCH(watch_is_around(data));
    WATCH(instance.ptr != NULL);
    WATCH(kind != ompt_dispatch_ws_loop_chunk ||
          ((const ompt_dispatch_chunk_t *)instance.ptr)->iterations > 0);
    WATCH(watch_here()->task->works.count > 0);
    WATCH_COUNT(dispatches);
}

static void
watch_masked(ompt_scope_endpoint_t endpoint, ompt_data_t *data, ompt_data_t *task, const void *at)
{
    (void)at;
    WATCH(watch_is_here(task));
    WATCH(watch_is_around(data));
    watch_end_of(&watch_here()->task->masked, endpoint, 1);
}

/* ---- Exclusion ------------------------------------------------------------------------------- */

static void
watch_acquire(ompt_mutex_t kind, unsigned hint, unsigned way, ompt_wait_id_t id, const void *at)
{
    (void)hint;
    WATCH(kind >= ompt_mutex_lock && kind <= ompt_mutex_ordered);
    WATCH(way > 0);
    WATCH(id != 0);
    WATCH(at != NULL);
    watch_here()->wanted = id;
}

static void
watch_acquired(ompt_mutex_t kind, ompt_wait_id_t id, const void *at)
{
    (void)kind;
    watch_thread *here = watch_here();
    WATCH(id != 0 && here->wanted == id);
    WATCH(at != NULL);
    here->wanted = 0;
    watch_push(&here->held, (uintptr_t)id);
    WATCH_COUNT(acquired);
}

static void
watch_released(ompt_mutex_t kind, ompt_wait_id_t id, const void *at)
{
    (void)kind;
    watch_thread *here = watch_here();
    int i = here->held.count;
    WATCH(at != NULL);
    while (i > 0 && here->held.entries[i - 1] != (uintptr_t)id) {
        i--;
    }
    WATCH(i > 0);
    for (; i > 0 && i < here->held.count; i++) {
        here->held.entries[i - 1] = here->held.entries[i];
    }
    here->held.count -= here->held.count > 0;
}

static void
watch_nested(ompt_scope_endpoint_t endpoint, ompt_wait_id_t id, const void *at)
{
    (void)at;
    const watch_thread *here = watch_here();
    bool holds = false;
    for (int i = 0; i < here->held.count; i++) {
        holds |= here->held.entries[i] == (uintptr_t)id;
    }
    WATCH(holds);
    WATCH(endpoint == ompt_scope_begin || endpoint == ompt_scope_end);
}

static void
watch_lock_begins(ompt_mutex_t kind, unsigned hint, unsigned way, ompt_wait_id_t id, const void *at)
{
    (void)hint;
    (void)way;
    (void)at;
    WATCH(kind == ompt_mutex_lock || kind == ompt_mutex_nest_lock);
    WATCH(id != 0);
    WATCH_COUNT(locks);
}

static void
watch_lock_ends(ompt_mutex_t kind, ompt_wait_id_t id, const void *at)
{
    (void)at;
    WATCH(kind == ompt_mutex_lock || kind == ompt_mutex_nest_lock);
    WATCH(id != 0);
    (void)atomic32_fetch_add_relaxed(&watch.locks, UINT32_MAX);
}

/* ---- The tool -------------------------------------------------------------------------------- */

static int
watch_begin(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    static const struct {
        ompt_callbacks_t event;
        ompt_callback_t callback;
    } events[] = {{ompt_callback_thread_begin, (ompt_callback_t)watch_thread_begin},
                  {ompt_callback_thread_end, (ompt_callback_t)watch_thread_end},
                  {ompt_callback_parallel_begin, (ompt_callback_t)watch_parallel_begin},
                  {ompt_callback_parallel_end, (ompt_callback_t)watch_parallel_end},
                  {ompt_callback_implicit_task, (ompt_callback_t)watch_implicit},
                  {ompt_callback_task_create, (ompt_callback_t)watch_create},
                  {ompt_callback_dependences, (ompt_callback_t)watch_dependences},
                  {ompt_callback_task_schedule, (ompt_callback_t)watch_schedule},
                  {ompt_callback_cancel, (ompt_callback_t)watch_cancel},
                  {ompt_callback_sync_region, (ompt_callback_t)watch_sync},
                  {ompt_callback_sync_region_wait, (ompt_callback_t)watch_sync_wait},
                  {ompt_callback_reduction, (ompt_callback_t)watch_reduction},
                  {ompt_callback_work, (ompt_callback_t)watch_work},
                  {ompt_callback_dispatch, (ompt_callback_t)watch_dispatch},
                  {ompt_callback_masked, (ompt_callback_t)watch_masked},
                  {ompt_callback_mutex_acquire, (ompt_callback_t)watch_acquire},
                  {ompt_callback_mutex_acquired, (ompt_callback_t)watch_acquired},
                  {ompt_callback_mutex_released, (ompt_callback_t)watch_released},
                  {ompt_callback_nest_lock, (ompt_callback_t)watch_nested},
                  {ompt_callback_lock_init, (ompt_callback_t)watch_lock_begins},
                  {ompt_callback_lock_destroy, (ompt_callback_t)watch_lock_ends}};
    (void)device;
    (void)data;
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    watch_thread_data = (ompt_get_thread_data_t)lookup("ompt_get_thread_data");
    watch_task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
    watch_parallel_info = (ompt_get_parallel_info_t)lookup("ompt_get_parallel_info");
    watch_state = (ompt_get_state_t)lookup("ompt_get_state");
    watch_finalize_tool = (ompt_finalize_tool_t)lookup("ompt_finalize_tool");
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        WATCH(set(events[i].event, events[i].callback) >= ompt_set_sometimes);
    }
    return 1;
}

/* All that began has ended. */
static void
watch_end(ompt_data_t *data)
{
    (void)data;
    WATCH(!watch.is_final);
    watch.is_final = true;
    WATCH(WATCH_READ(threads) == WATCH_READ(threads_over));
    WATCH(WATCH_READ(implicit) == WATCH_READ(implicit_over));
    WATCH(WATCH_READ(regions) == WATCH_READ(regions_over));
    WATCH(WATCH_READ(made) == WATCH_READ(over) + WATCH_READ(discarded));
    WATCH(WATCH_READ(locks) == 0);
    if (WATCH_READ(wrong)) {
        _exit(1);
    }
}

ompt_start_tool_result_t *
ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t tool = {watch_begin, watch_end, {0}};
    (void)runtime;
    return version >= 201811 ? &tool : NULL;
}

#endif
