/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A runtime that loses work, put before the real one (LD_PRELOAD): every second chunk of a loop,
 * every hundredth task, and of loops that the compiler shares out the last part. The programs must
 * notice. With LOSSY=0 it loses nothing: what fails then fails for another reason.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/atomic.h"

static atomic32 chunks, tasks, parts;

static bool
loses(atomic32 *counter, uint32_t every)
{
    const char *wanted = getenv("LOSSY");
    bool kept = wanted && wanted[0] == '0';
    return !kept && (atomic32_fetch_add_relaxed(counter, 1) + 1) % every == 0;
}

/* Of `type`, by that name in the library behind this one. */
#define REAL(type, name) (*(type **)&(void *){real(name)})

static void *
real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        (void)fprintf(stderr, "lossy: no %s\n", name);
        abort();
    }
    return found;
}

typedef bool loop_start(long start, long end, long step, long *first, long *last);
typedef bool loop_next(long *first, long *last);
typedef void task(void (*run)(void *),
                  void *data,
                  void (*copy)(void *, void *),
                  long size,
                  long alignment,
                  bool now,
                  unsigned flags,
                  void **depend,
                  int priority,
                  void *detach);
typedef int number(void);

loop_next GOMP_loop_maybe_nonmonotonic_runtime_next;
loop_start GOMP_loop_maybe_nonmonotonic_runtime_start;
task GOMP_task;
number omp_get_num_threads;

bool
GOMP_loop_maybe_nonmonotonic_runtime_next(long *first, long *last)
{
    loop_next *call = REAL(loop_next, "GOMP_loop_maybe_nonmonotonic_runtime_next");
    bool found = call(first, last);
    return found && loses(&chunks, 2) ? call(first, last) : found;
}

bool
GOMP_loop_maybe_nonmonotonic_runtime_start(long start, long end, long step, long *first, long *last)
{
    loop_start *call = REAL(loop_start, "GOMP_loop_maybe_nonmonotonic_runtime_start");
    loop_next *next = REAL(loop_next, "GOMP_loop_maybe_nonmonotonic_runtime_next");
    bool found = call(start, end, step, first, last);
    return found && loses(&chunks, 2) ? next(first, last) : found;
}

void
GOMP_task(void (*run)(void *),
          void *data,
          void (*copy)(void *, void *),
          long size,
          long alignment,
          bool now,
          unsigned flags,
          void **depend,
          int priority,
          void *detach)
{
    task *call = REAL(task, "GOMP_task");
    if (!loses(&tasks, 100)) {
        call(run, data, copy, size, alignment, now, flags, depend, priority, detach);
    }
}

int
omp_get_num_threads(void)
{
    number *call = REAL(number, "omp_get_num_threads");
    return call() + (loses(&parts, 1) ? 1 : 0);
}
