/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A tool by OpenMP's interface for tools (OMPT): a library that watches a program which knows
 * nothing of it, and says at its end how many regions and tasks there were, and for how long each
 * thread waited. OMP_TOOL_LIBRARIES names it; medley-ompt(7).
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <medley/std/omp-tools.h>

/* A thread's own, but that the end of the program reads it. */
typedef struct thread {
    struct thread *next; /* that began before */
    atomic_long tasks;   /* made by it */
    atomic_ullong waited_ns;
    uint64_t since_ns; /* it waits */
} thread;

static atomic_long regions;
static _Atomic(thread *) last; /* that began */
static ompt_get_thread_data_t get_thread_data;

static uint64_t
now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* NULL: there was no memory for it. */
static thread *
self(void)
{
    ompt_data_t *data = get_thread_data();
    return data ? data->ptr : NULL;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void
thread_begins(ompt_thread_t kind, ompt_data_t *data)
{
    thread *new = calloc(1, sizeof *new);
    (void)kind;
    data->ptr = new;
    if (new) {
        new->next = atomic_load(&last);
        while (!atomic_compare_exchange_weak(&last, &new->next, new)) {
        }
    }
}

static void
region_begins(ompt_data_t *task,
              const ompt_frame_t *frame,
              ompt_data_t *region,
              unsigned threads,
              int flags,
              const void *at)
{
    (void)task, (void)frame, (void)region, (void)threads, (void)flags, (void)at;
    regions++;
}

static void
task_is_made(ompt_data_t *task,
             const ompt_frame_t *frame,
             ompt_data_t *made,
             int flags,
             int has_dependences,
             const void *at)
{
    thread *maker = self();
    (void)task, (void)frame, (void)made, (void)has_dependences, (void)at;
    if (maker && flags & ompt_task_explicit) {
        maker->tasks++;
    }
}

/* At barriers, at taskwait, at the end of taskgroup. */
static void
waits(ompt_sync_region_t kind,
      ompt_scope_endpoint_t endpoint,
      ompt_data_t *region,
      ompt_data_t *task,
      const void *at)
{
    thread *waiter = self();
    (void)kind, (void)region, (void)task, (void)at;
    if (!waiter) {
        return;
    }
    if (endpoint == ompt_scope_begin) {
        waiter->since_ns = now_ns();
    } else if (waiter->since_ns) {
        waiter->waited_ns += now_ns() - waiter->since_ns;
        waiter->since_ns = 0;
    }
}

/* ---- Life ------------------------------------------------------------------------------------ */

static int
begin(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    get_thread_data = (ompt_get_thread_data_t)lookup("ompt_get_thread_data");
    (void)device, (void)data;
    set(ompt_callback_thread_begin, (ompt_callback_t)thread_begins);
    set(ompt_callback_parallel_begin, (ompt_callback_t)region_begins);
    set(ompt_callback_task_create, (ompt_callback_t)task_is_made);
    set(ompt_callback_sync_region_wait, (ompt_callback_t)waits);
    return 1; /* it stays active */
}

static void
end(ompt_data_t *data)
{
    long tasks = 0;
    long threads = 0;
    (void)data;
    for (thread *t = last; t; t = t->next) {
        tasks += t->tasks;
        threads++;
    }
    fprintf(stderr, "regions %ld, tasks %ld, threads %ld\n", (long)regions, tasks, threads);
    for (thread *t = last; t; t = t->next) {
        fprintf(stderr, "thread %ld: made %ld tasks, waited %.3f ms\n", --threads, (long)t->tasks,
                (double)t->waited_ns / 1e6);
    }
}

ompt_start_tool_result_t *
ompt_start_tool(unsigned openmp, const char *runtime)
{
    static ompt_start_tool_result_t tool = {begin, end, {0}};
    (void)openmp, (void)runtime;
    return &tool;
}
