/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread of the program's own, in no team, that fulfils the event of a task when it is asked. */
#ifndef OPENMP_VISITOR_H
#define OPENMP_VISITOR_H

#include <omp.h>
#include <pthread.h>

#include "base/atomic.h"
#include "support/unit.h"

typedef struct visit {
    omp_event_handle_t event;
    atomic32 asked; /* somebody is about to wait for it */
    atomic32 fulfilled;
    int lines;
} visit;

static inline int
get(const atomic32 *flag)
{
    return (int)atomic32_load_acquire(flag);
}

static inline void
set(atomic32 *flag)
{
    atomic32_store_release(flag, 1);
}

static void *
fulfil(void *context)
{
    visit *v = context;
    while (!get(&v->asked)) {
        sched_yield();
    }
    set(&v->fulfilled);
    omp_fulfill_event(v->event);
    return NULL;
}

static inline pthread_t
visitor(visit *v)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fulfil, v), 0);
    return thread;
}

#endif
