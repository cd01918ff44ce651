/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread that waits, and one that looks how: whether it works meanwhile, or sleeps. Its file
 * defines _GNU_SOURCE. */
#ifndef MEDLEY_TESTS_OPENMP_WAITER_H
#define MEDLEY_TESTS_OPENMP_WAITER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"

#define LONG_NS 20000000 /* of a processor's time; twice what a wait for a lock takes by itself */

typedef struct waiter {
    pid_t thread;
    clockid_t clock; /* of what it has used */
    atomic32 waits;
} waiter;

/* Until one looks again: he leaves the processor to whom he looks at. */
static inline void
nap(void)
{
    (void)usleep(200);
}

/* The calling thread does, from now on. */
static inline void
wait_begins(waiter *w)
{
    w->thread = gettid();
    (void)pthread_getcpuclockid(pthread_self(), &w->clock);
    atomic32_store_release(&w->waits, 1);
}

static inline long
used_ns(const waiter *w)
{
    struct timespec used;
    (void)clock_gettime(w->clock, &used);
    return used.tv_sec * 1000000000 + used.tv_nsec;
}

static inline bool
is_asleep(const waiter *w)
{
    char line[512] = "";
    (void)snprintf(line, sizeof line, "/proc/self/task/%d/stat", (int)w->thread);
    FILE *file = fopen(line, "r");
    bool has_some = file && fgets(line, sizeof line, file);
    if (file) {
        (void)fclose(file);
    }
    const char *behind_name = has_some ? strrchr(line, ')') : NULL;
    return behind_name && strncmp(behind_name, ") S", 3) == 0;
}

/* Is it at work for longer than anybody is by himself, not asleep? */
static inline bool
works(waiter *w)
{
    while (!atomic32_load_acquire(&w->waits)) {
        nap();
    }
    atomic32_store_release(&w->waits, 0);
    long begin_ns = used_ns(w);
    for (;;) {
        if (used_ns(w) - begin_ns > LONG_NS) {
            return true;
        }
        if (is_asleep(w)) {
            return false;
        }
        nap();
    }
}

#endif
