/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The lock: four bytes, in place, zero is free, nothing to destroy. The word inside an MRAPI mutex,
 * of the registry's tables, and of omp_lock_t.
 *
 * The word always says who owns it: the compare-and-swap that takes it writes the owner. So the
 * locks of a dead owner can be found and given back, at whatever instruction he died.
 *
 *   bit 31        0
 *   bit 30        DIED     a former owner died holding it; the next owner is told, once
 *   bits 0..29    owner    0: free; MED_LOCK_DEAD: its owner died and nobody may have it again
 *
 * Whether anybody sleeps for it stands in a second word, so that giving the lock back is a plain
 * store and a plain look, as with the wait object: who goes to sleep pays for the fence. That word
 * lies wherever the caller wants: beside the lock, or in a table of few for very many locks (a
 * sleeper that is woken for another lock looks, and sleeps again).
 *
 * What an owner is, is the caller's affair (a node, a process slot, a thread); it is not recursive.
 *
 * How one waits for a lock serves others too who have a word for their sleepers (med_contest): one
 * of several locks, say, which is how something counted is owned unit by unit.
 */
#ifndef MEDLEY_BASE_LOCK_H
#define MEDLEY_BASE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/wait.h"
#include "medley/status.h"

typedef struct med_lock {
    atomic32 word;
} med_lock;

/* 1: somebody may sleep. */
typedef struct med_lock_sleepers {
    atomic32 flag;
} med_lock_sleepers;

/* Which lock somebody spins for, of those that share this word: a hint for who gives one back, that
 * need not wake a sleeper to have it taken. Of threads of one process. */
typedef struct med_lock_spinner {
    atomic32 lock;    /* med_lock_hint of it, or 0 */
    atomic32 unwoken; /* so often nobody was woken for that, in a row */
} med_lock_spinner;

#define MED_LOCK_DIED 0x40000000u
#define MED_LOCK_OWNER_MASK 0x3fffffffu
#define MED_LOCK_DEAD MED_LOCK_OWNER_MASK

typedef struct med_lock_request {
    uint32_t owner;       /* who takes it: neither 0 nor MED_LOCK_DEAD */
    uint64_t deadline_ns; /* MED_PORT_FOREVER: never; 0: one try */
    med_port_scope scope;
    med_waiter *waiter;
    const med_wait_limits *limits; /* as in med_wait_request */
    med_lock_spinner *spinner;     /* NULL; or what med_lock_release_hinted looks at */
    /* Called after every slice slept, with the owner seen; may be NULL. Anything but MEDLEY_OK ends
     * the wait with it. Here the caller recovers a dead owner's locks. */
    medley_status_t (*each_slice)(void *context, uint32_t owner);
    void *context;
} med_lock_request;

/* MEDLEY_OK: it is mine. MEDLEY_ERR_OWNER_DIED: it is mine unless med_lock_is_dead(), and its
 * former owner died holding it. MEDLEY_BUSY, MEDLEY_TIMEOUT: somebody else's. */
MED_INNER medley_status_t med_lock_acquire_slow(med_lock *lock,
                                                med_lock_sleepers *sleepers,
                                                const med_lock_request *request);

static inline uint32_t
med_lock_owner(const med_lock *lock)
{
    /* A2 owner came <- R2 (lock.h, lock.c), R3 (rwlock.c, units.c, units.h): who looks whether the
     * owner lives does not take him, who has just come to life, for one that is gone. */
    return atomic32_load_acquire(&lock->word) & MED_LOCK_OWNER_MASK;
}

static inline bool
med_lock_is_mine(const med_lock *lock, uint32_t owner)
{
    /* Relaxed: an owner reads his own store. */
    return (atomic32_load_relaxed(&lock->word) & MED_LOCK_OWNER_MASK) == owner;
}

static inline bool
med_lock_is_dead(const med_lock *lock)
{
    return med_lock_owner(lock) == MED_LOCK_DEAD;
}

/* The uncontended case in one compare-and-swap. */
static inline bool
med_lock_try_fast(med_lock *lock, uint32_t owner)
{
    uint32_t expected = 0;
    /* A1 held <- R1 (release); R2 owner came -> A2 (lock.h) */
    return atomic32_cas_acq_rel(&lock->word, &expected, owner);
}

MED_INNER medley_status_t med_lock_try(med_lock *lock, uint32_t owner);

static inline medley_status_t
med_lock_acquire(med_lock *lock, med_lock_sleepers *sleepers, const med_lock_request *request)
{
    return med_lock_try_fast(lock, request->owner) ? MEDLEY_OK
                                                   : med_lock_acquire_slow(lock, sleepers, request);
}

/* After it came free, or to an end: wakes so many of those who wait. */
MED_INNER void med_lock_wake(med_lock_sleepers *sleepers, uint32_t count, med_port_scope scope);

/* After it came free: wakes one, if anybody waits. */
static inline void
med_lock_wake_one(med_lock_sleepers *sleepers, med_port_scope scope)
{
    med_port_barrier_light(scope); /* B1 free, then flag <-> S2 (lock.c) */
    /* Relaxed: it decides only whether to look closer. */
    if (__builtin_expect(atomic32_load_relaxed(&sleepers->flag) != 0, 0)) {
        med_lock_wake(sleepers, 1, scope);
    }
}

/* By the owner only. */
static inline void
med_lock_release(med_lock *lock, med_lock_sleepers *sleepers, med_port_scope scope)
{
    atomic32_store_release(&lock->word, 0); /* R1 held -> A1 (acquire, try) */
    med_lock_wake_one(sleepers, scope);
}

static inline uint32_t
med_lock_hint(const med_lock *lock)
{
    return (uint32_t)((uintptr_t)lock >> 2) | 1u;
}

/* So often in a row a spinner is relied on: who sleeps is to have his turn. */
#ifndef MED_LOCK_UNWOKEN_MOST
#define MED_LOCK_UNWOKEN_MOST 1024u
#endif

/* Is there one who spins for the lock, so that the sleepers may sleep on? Relaxed, all: he may be
 * gone; but then he has passed S2 before he slept, and seen that it is free (lock.c). */
static inline bool
med_lock_has_spinner(const med_lock *lock, med_lock_spinner *spinner)
{
    uint32_t unwoken = atomic32_load_relaxed(&spinner->unwoken) + 1; /* relaxed: as above */
    bool has = unwoken < MED_LOCK_UNWOKEN_MOST &&
               atomic32_load_relaxed(&spinner->lock) == med_lock_hint(lock); /* relaxed: as above */
    atomic32_store_relaxed(&spinner->unwoken, has ? unwoken : 0);            /* relaxed: as above */
    return has;
}

/* As release, of a lock for which all who wait give that word. Where many threads have few
 * processors a sleeper that is woken beside one who spins would find it taken, and sleep again, and
 * each time hold up the owner, by his heavy barrier and for his wake. */
static inline void
med_lock_release_hinted(med_lock *lock,
                        med_lock_sleepers *sleepers,
                        med_lock_spinner *spinner,
                        med_port_scope scope)
{
    atomic32_store_release(&lock->word, 0); /* R1 held -> A1 (acquire, try) */
    med_port_barrier_light(scope);          /* B1 free, then flag <-> S2 (lock.c) */
    /* Relaxed: it decides only whether to look closer. */
    if (__builtin_expect(atomic32_load_relaxed(&sleepers->flag) != 0, 0) &&
        !med_lock_has_spinner(lock, spinner)) {
        med_lock_wake(sleepers, 1, scope);
    }
}

/* ---- Anything that is waited for in this way ------------------------------------------------- */

typedef struct med_contest {
    /* One try. MEDLEY_OK: it is had. MEDLEY_BUSY: not now. Any other: nobody will ever have it;
     * whoever waits is woken to see the same. Called often; must not block. */
    medley_status_t (*attempt)(void *context);
    /* Where several may have it at once: might an attempt succeed? A look only. Else NULL. */
    bool (*any_free)(void *context);
    /* After every slice slept; may be NULL. Anything but MEDLEY_OK ends the wait with it. */
    medley_status_t (*each_slice)(void *context);
    void *context;
    uint64_t deadline_ns; /* MED_PORT_FOREVER: never; 0: one try */
    med_port_scope scope;
    med_waiter *waiter;
    const med_wait_limits *limits;
    med_lock_spinner *spinner; /* of a lock; or NULL */
    uint32_t hint;             /* of that */
} med_contest;

/* What `attempt` or `each_slice` ended it with, or MEDLEY_TIMEOUT. With a deadline of 0 MEDLEY_BUSY
 * instead. Who gives it back does as med_lock_release: store, then med_lock_wake_one. */
medley_status_t med_contest_run(const med_contest *contest, med_lock_sleepers *sleepers);

/* ---- Uncommon ends --------------------------------------------------------------------------- */

/* Gives back what was taken by mistake, in memory that may have become another lock meanwhile: only
 * if it is still this owner's. */
void med_lock_give_back(med_lock *lock,
                        med_lock_sleepers *sleepers,
                        uint32_t owner,
                        med_port_scope scope);

/* Takes a dead owner's lock away from him. With `usable` the next owner gets it and is told, else
 * nobody may have it again. False when he did not hold it. Idempotent. */
MED_INNER bool med_lock_recover(med_lock *lock,
                                med_lock_sleepers *sleepers,
                                uint32_t dead_owner,
                                bool usable,
                                med_port_scope scope);

#endif
