/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A tool by OpenMP's interface for tools (OMPT): a library that watches a program which knows
 * nothing of it, and says at its end how many regions and tasks there were, and for how long each
 * thread waited. OMP_TOOL_LIBRARIES names it; medley-ompt(7).
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <medley/std/omp-tools.h>

typedef struct thread {
    struct thread *next; /* that began before */
    long number;
    long regions, tasks; /* that it began, that it made */
    uint64_t waited_ns;
    uint64_t since_ns;     /* it waits; 0: it does not */
    pthread_mutex_t guard; /* of what it counts: the program may end while it does */
} thread;

static thread *last; /* that began */
static pthread_mutex_t list_guard = PTHREAD_MUTEX_INITIALIZER;
static ompt_get_thread_data_t get_thread_data;

static uint64_t
now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The calling thread's, to count in; NULL: there was no memory for it. */
static thread *
counts_take(void)
{
    ompt_data_t *data = get_thread_data();
    thread *own = data ? data->ptr : NULL;
    if (own) {
        pthread_mutex_lock(&own->guard);
    }
    return own;
}

static void
counts_give(thread *own)
{
    pthread_mutex_unlock(&own->guard);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void
thread_begins(ompt_thread_t kind, ompt_data_t *data)
{
    thread *new = calloc(1, sizeof *new);
    (void)kind;
    data->ptr = new;
    if (new) {
        pthread_mutex_init(&new->guard, NULL);
        pthread_mutex_lock(&list_guard);
        new->number = last ? last->number + 1 : 0;
        new->next = last;
        last = new;
        pthread_mutex_unlock(&list_guard);
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
    thread *own = counts_take();
    (void)task, (void)frame, (void)region, (void)threads, (void)flags, (void)at;
    if (own) {
        own->regions++;
        counts_give(own);
    }
}

static void
task_is_made(ompt_data_t *task,
             const ompt_frame_t *frame,
             ompt_data_t *made,
             int flags,
             int has_dependences,
             const void *at)
{
    thread *own = counts_take();
    (void)task, (void)frame, (void)made, (void)has_dependences, (void)at;
    if (own) {
        own->tasks += (flags & ompt_task_explicit) != 0; /* an initial one is told as well */
        counts_give(own);
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
    uint64_t at_ns = now_ns();
    thread *own = counts_take();
    (void)kind, (void)region, (void)task, (void)at;
    if (!own) {
        return;
    }
    if (endpoint == ompt_scope_begin) {
        own->since_ns = at_ns;
    } else if (own->since_ns) {
        own->waited_ns += at_ns - own->since_ns;
        own->since_ns = 0;
    }
    counts_give(own);
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
    long regions = 0, tasks = 0, threads = 0;
    (void)data;
    pthread_mutex_lock(&list_guard);
    for (thread *t = last; t; t = t->next) {
        pthread_mutex_lock(&t->guard);
        regions += t->regions;
        tasks += t->tasks;
        fprintf(stderr, "thread %ld: made %ld tasks, waited %.3f ms\n", t->number, t->tasks,
                (double)t->waited_ns / 1e6);
        pthread_mutex_unlock(&t->guard);
        threads++;
    }
    pthread_mutex_unlock(&list_guard);
    fprintf(stderr, "regions %ld, tasks %ld, threads %ld\n", regions, tasks, threads);
}

ompt_start_tool_result_t *
ompt_start_tool(unsigned openmp, const char *runtime)
{
    static ompt_start_tool_result_t tool = {begin, end, {0}};
    (void)openmp, (void)runtime;
    return &tool;
}
