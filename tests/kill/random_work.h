/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the workers of random_kill_test do with each kind of object. Some stay, and guard something;
 * others come and go under a few numbers, made, used and deleted by whoever happens to.
 *
 * What is guarded is a pair of counters that differ only inside. Who finds a difference, or
 * somebody inside, without having been told of a death, saw two owners at once.
 */
#ifndef MEDLEY_TESTS_KILL_RANDOM_WORK_H
#define MEDLEY_TESTS_KILL_RANDOM_WORK_H

#include "base/atomic.h"
#include "mrapi.h"
#include "support/node.h"
#include "support/random.h"

#define WORKERS 4
#define MUTEXES 4 /* that stay; the last one is recursive, the one before it inherits priority */
#define PASSING 4 /* numbers of objects that come and go */
#define PASSING_FIRST 30

typedef struct guarded {
    atomic32 inside; /* who is between lock and unlock */
    atomic32 first;
    atomic32 second;
    uint32_t unused[13]; /* a line of its own */
} guarded;

typedef struct shared_state {
    guarded by_mutex[MUTEXES];
    guarded by_sem;
    guarded by_rwl;
    atomic32 progress[WORKERS]; /* what whoever is this worker has done, all its nodes together */
    atomic32 stop;
    atomic32 deaths_told;
} shared_state;

extern shared_state *shared;

typedef struct worker {
    uint32_t number;
    uint32_t life; /* how often this worker has been replaced */
} worker;

void progress(const worker *me);

/* In random_locks.c. Before there are workers, and after: each can be had, and goes. */
void staying_make(void);
void staying_end(void);
void passing_end(void);

typedef void random_work(const worker *me, test_random *random);

random_work lock_mutex, lock_sem, lock_rwl;
random_work make_passing, lock_passing, delete_passing;

/* In random_memories.c. Nobody has anything attached any more, or owns any. */
void memories_end(void);
random_work make_memory, use_memory, delete_memory;
random_work make_remote, use_remote, delete_remote;

#endif
