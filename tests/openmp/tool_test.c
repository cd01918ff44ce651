/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A tool within the program: what it is told of a region, tasks and locks agrees with the program,
 * and each thing that begins ends. */
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "medley/std/omp-tools.h"
#include "support/unit.h"

#define THREADS 4
#define TASKS 100
#define COUNT_UP(word, more) ((int)atomic32_fetch_add_acq_rel(word, (uint32_t)(more)))
#define COUNT_DOWN(word, less) COUNT_UP(word, -(less))
#define READ(word) ((int)atomic32_load_acquire(&(word)))

static atomic32 regions, implicit, tasks_made, tasks_ended, acquired, released, barriers, threads;
static atomic32 without_place, out_of_thread, tasks_gone;
static atomic32 newer_kinds;    /* of barriers, than the version has that the tool was given */
static atomic_word made_at;     /* the last task */
static atomic_word group_at[2]; /* where it began, and where it ended */
static ompt_get_thread_data_t thread_data;
static ompt_get_state_t state;
static ompt_get_task_info_t task_info;

static void
on_thread(ompt_thread_t type, ompt_data_t *data)
{
    (void)type;
    data->value = (uint64_t)COUNT_UP(&threads, 1) + 1;
}

static void
place(const void *at)
{
    COUNT_UP(&without_place, at == NULL);
}

static void
on_parallel_begin(ompt_data_t *task,
                  const ompt_frame_t *frame,
                  ompt_data_t *region,
                  unsigned wanted,
                  int flags,
                  const void *at)
{
    (void)task;
    (void)flags;
    place(at);
    assert_int_equal(wanted, THREADS);
    assert_non_null(frame->enter_frame.ptr);
    region->value = (uint64_t)COUNT_UP(&regions, 1) + 1;
}

static void
on_parallel_end(ompt_data_t *region, ompt_data_t *task, int flags, const void *at)
{
    (void)task;
    (void)flags;
    place(at);
    assert_int_equal(region->value, 1);
    COUNT_DOWN(&regions, 1);
}

static void
on_implicit(ompt_scope_endpoint_t endpoint,
            ompt_data_t *region,
            ompt_data_t *task,
            unsigned size,
            unsigned number,
            int flags)
{
    (void)region;
    (void)number;
    if (flags & ompt_task_initial) {
        return;
    }
    if (endpoint == ompt_scope_begin) {
        assert_int_equal(size, THREADS);
        task->value = thread_data()->value;
        COUNT_UP(&implicit, 1);
    } else {
        COUNT_UP(&out_of_thread, task->value != thread_data()->value);
        COUNT_DOWN(&implicit, 1);
    }
}

static void
on_create(ompt_data_t *task,
          const ompt_frame_t *frame,
          ompt_data_t *made,
          int flags,
          int depends,
          const void *at)
{
    (void)task;
    (void)frame;
    (void)made;
    (void)depends;
    place(at);
    atomic_word_store_relaxed(&made_at, (uintptr_t)at);
    COUNT_UP(&tasks_made, (flags & ompt_task_explicit) != 0);
}

static void
on_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
    (void)prior;
    (void)next;
    COUNT_UP(&tasks_ended, status == ompt_task_complete);
    COUNT_UP(&tasks_gone, status == ompt_task_complete || status == ompt_task_cancel);
}

static void
on_cancel(ompt_data_t *task, int flags, const void *at)
{
    (void)task;
    (void)at;
    COUNT_UP(&tasks_gone, (flags & ompt_cancel_discarded_task) != 0);
}

static void
on_sync(ompt_sync_region_t kind,
        ompt_scope_endpoint_t endpoint,
        ompt_data_t *region,
        ompt_data_t *task,
        const void *at)
{
    (void)region;
    (void)task;
    if (kind == ompt_sync_region_barrier_explicit) {
        COUNT_UP(&barriers, endpoint == ompt_scope_begin ? 1 : -1);
    }
    if (kind == ompt_sync_region_taskgroup) {
        atomic_word_store_relaxed(&group_at[endpoint == ompt_scope_end], (uintptr_t)at);
    }
    COUNT_UP(&newer_kinds, kind >= ompt_sync_region_barrier_implicit_workshare);
}

static void
on_acquired(ompt_mutex_t kind, ompt_wait_id_t id, const void *at)
{
    (void)id;
    place(at);
    COUNT_UP(&acquired, kind == ompt_mutex_critical);
}

static void
on_released(ompt_mutex_t kind, ompt_wait_id_t id, const void *at)
{
    (void)id;
    place(at);
    COUNT_UP(&released, kind == ompt_mutex_critical);
}

static int
begin(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    (void)device;
    (void)data;
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    thread_data = (ompt_get_thread_data_t)lookup("ompt_get_thread_data");
    state = (ompt_get_state_t)lookup("ompt_get_state");
    task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
    set(ompt_callback_thread_begin, (ompt_callback_t)on_thread);
    set(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin);
    set(ompt_callback_parallel_end, (ompt_callback_t)on_parallel_end);
    set(ompt_callback_implicit_task, (ompt_callback_t)on_implicit);
    set(ompt_callback_task_create, (ompt_callback_t)on_create);
    set(ompt_callback_task_schedule, (ompt_callback_t)on_schedule);
    set(ompt_callback_cancel, (ompt_callback_t)on_cancel);
    set(ompt_callback_sync_region, (ompt_callback_t)on_sync);
    set(ompt_callback_mutex_acquired, (ompt_callback_t)on_acquired);
    set(ompt_callback_mutex_released, (ompt_callback_t)on_released);
    return 1;
}

static void
end(ompt_data_t *data)
{
    (void)data;
}

ompt_start_tool_result_t *
ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t result = {begin, end, {0}};
    (void)runtime;
    return version >= 201811 ? &result : NULL;
}

static void
told_of_a_region(void **unused)
{
    (void)unused;
    atomic32 done = {0}, parallel = {0};
#pragma omp parallel num_threads(THREADS)
    {
        int flags = 0;
        COUNT_UP(&parallel, state(NULL) == ompt_state_work_parallel &&
                                task_info(0, &flags, NULL, NULL, NULL, NULL) == 2 &&
                                flags == ompt_task_implicit);
#pragma omp critical
        COUNT_UP(&done, 1);
#pragma omp barrier
#pragma omp master
        for (int i = 0; i < TASKS; i++) {
#pragma omp task shared(done)
            COUNT_UP(&done, 1);
        }
    }
    assert_int_equal(READ(done), THREADS + TASKS);
    assert_int_equal(READ(parallel), THREADS);
    assert_int_equal(READ(threads), THREADS);
    assert_int_equal(READ(regions), 0);
    assert_int_equal(READ(tasks_made), TASKS);
    assert_int_equal(READ(tasks_ended), TASKS);
    assert_int_equal(READ(acquired), THREADS);
    assert_int_equal(READ(released), THREADS);
    assert_int_equal(READ(barriers), 0);
    assert_int_equal(READ(without_place), 0);
    assert_int_equal(READ(out_of_thread), 0);
    assert_int_equal(state(NULL), ompt_state_work_serial);
    assert_int_equal(thread_data()->value, 1);
}

static void
reset(void)
{
    atomic32_store_release(&regions, 0);
    atomic32_store_release(&tasks_made, 0);
    atomic32_store_release(&tasks_gone, 0);
}

static int thing; /* that tasks depend on */

/* While it waits for what it depends on, its group is given up: nobody else would tell its end. */
static void
told_of_what_is_discarded(void **unused)
{
    atomic32 done = {0};
    (void)unused;
    reset();
    assert_int_equal(omp_get_cancellation(), 1);
#pragma omp parallel num_threads(THREADS)
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task depend(out : thing)
        {
#pragma omp cancel taskgroup
        }
#pragma omp task if (0) depend(in : thing) shared(done)
        COUNT_UP(&done, 1);
    }
#ifndef __clang__ /* its maker executes it, whatever becomes of the group */
    assert_int_equal(READ(done), 0);
#endif
    assert_int_equal(READ(tasks_gone), READ(tasks_made));
}

/* Each end of it is at a place of its own, and so is the task between. */
static void
told_where_a_group_is(void **unused)
{
    (void)unused;
    uintptr_t first = 0, second = 0;
    for (int i = 0; i < 2; i++) {
#pragma omp taskgroup
        {
#pragma omp task
            first++;
        }
        second += atomic_word_load_relaxed(&group_at[1]) != atomic_word_load_relaxed(&made_at);
    }
    assert_true(atomic_word_load_relaxed(&group_at[0]) != 0);
    assert_true(atomic_word_load_relaxed(&group_at[0]) != atomic_word_load_relaxed(&group_at[1]));
    assert_int_equal(second, 2);
    assert_int_equal(READ(newer_kinds), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(told_of_a_region),
                                       cmocka_unit_test(told_where_a_group_is),
                                       cmocka_unit_test(told_of_what_is_discarded)};
    /* Read at the first region. */
    if (setenv("OMP_CANCELLATION", "true", 1) != 0) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
