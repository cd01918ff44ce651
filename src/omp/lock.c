/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Locks of OpenMP programs. */
#include "omp/lock.h"

#include "omp/team.h"

/* Who has a processor to himself spins that long before he sleeps, unless the environment says how
 * long: a lock that two threads want again and again changes hands once in hundreds of times, and
 * the heavy barrier of a sleeper stops its holder. Two threads at one critical construct: 250 ->
 * 134 ns each, libgomp 12: 133. */
static const med_wait_limits patient = {
    .least_ns = 10000000, .most_ns = UINT64_MAX, .others_apart = true};
/* In a crowd he gives way in between, and the owner wakes nobody meanwhile. What was learned at its
 * barriers, where it is right to sleep at once, says nothing of locks. Four threads on two
 * processors at one critical construct (EPCC): 239 -> 136 ns, libgomp 12: 150. */
static const med_wait_limits crowded = {.least_ns = 500000, .most_ns = UINT64_MAX};

/* ---- Who sleeps ------------------------------------------------------------------------------ */

#define LINES 64u
#define OF_LINE 4u

/* By the lock's address; those side by side have different lines. Who is woken for another lock of
 * the same word spins for his own, and sleeps again; whom the wake was for may wait for the end of
 * a slice meanwhile. That takes two locks of one word for which threads sleep at the same time. */
typedef struct waiters {
    _Alignas(16) med_lock_sleepers sleepers;
    med_lock_spinner spinner;
} waiters;

static _Alignas(64) waiters all_waiters[LINES][OF_LINE];

static waiters *
waiters_of(const med_lock *lock)
{
    uintptr_t number = (uintptr_t)lock / sizeof *lock;
    uintptr_t mixed = number ^ number / LINES;
    return &all_waiters[mixed % LINES][mixed / LINES % OF_LINE];
}

/* ---- Simple locks ---------------------------------------------------------------------------- */

static const med_wait_limits *
limits_of(const med_member *member)
{
    bool is_crowd = med_member_is_crowded(member);
    const med_wait_limits *fixed = member->waits_fixed;
    return fixed ? &fixed[is_crowd] : is_crowd ? &crowded : &patient;
}

void
med_omp_lock_set(med_lock *lock, med_member *member)
{
    if (!med_lock_try_fast(lock, member->owner)) {
        waiters *with = waiters_of(lock);
        const med_lock_request request = {.owner = member->owner,
                                          .deadline_ns = MED_PORT_FOREVER,
                                          .scope = MED_PORT_SCOPE_PROCESS,
                                          .waiter = &member->waiter,
                                          .limits = limits_of(member),
                                          .spinner = &with->spinner};
        (void)med_lock_acquire_slow(lock, &with->sleepers, &request);
    }
}

bool
med_omp_lock_test(med_lock *lock, med_member *member)
{
    return med_lock_try(lock, member->owner) == MEDLEY_OK;
}

void
med_omp_lock_unset(med_lock *lock)
{
    waiters *with = waiters_of(lock);
    med_lock_release_hinted(lock, &with->sleepers, &with->spinner, MED_PORT_SCOPE_PROCESS);
}

/* ---- The runtime's own ----------------------------------------------------------------------- */

/* One of a child's threads changes the life. Whoever it saw hold the lock before that was there
 * before the fork: of the child nobody comes to the lock until he has seen the life changed. */
med_lock *
med_own_lock_here(med_own_lock *own)
{
    uint32_t life = med_port_process_life();
    uint32_t seen =
        atomic32_load_relaxed(&own->life); /* relaxed: the fork orders what was before */
    if (__builtin_expect(seen != life, 0)) {
        uint32_t owner = med_lock_owner(&own->lock);
        /* Relaxed: whom med_lock_owner has seen, by acquire, took it before this. */
        if (atomic32_cas_relaxed(&own->life, &seen, life) && owner) {
            (void)med_lock_recover(&own->lock, &waiters_of(&own->lock)->sleepers, owner, true,
                                   MED_PORT_SCOPE_PROCESS);
        }
    }
    return &own->lock;
}

static struct {
    _Alignas(64) med_own_lock lock;
} atomics;

med_lock *
med_omp_atomic_lock(void)
{
    return med_own_lock_here(&atomics.lock);
}

void
med_omp_atomic_begin(void)
{
    med_omp_lock_set(med_omp_atomic_lock(), med_member_get());
}

void
med_omp_atomic_end(void)
{
    med_omp_lock_unset(&atomics.lock.lock);
}

/* ---- Nestable locks -------------------------------------------------------------------------- */

/* The task that the member executes, never 0: where its memory is, and as often as that was a task
 * before, since one that ended and left the lock set is not the next one there. Addresses leave 16
 * bits at the top where a word has 64. */
#define ALIGN_BITS 5u
#define LIFE_SHIFT ((sizeof(uintptr_t) == 8 ? 48u : 32u) - ALIGN_BITS)
_Static_assert(_Alignof(med_task) >= 1u << ALIGN_BITS, "so many bits of its address are 0");

static uintptr_t
task_of(const med_member *member)
{
    uintptr_t life = atomic32_load_relaxed(&member->task->life); /* relaxed: its own task's */
    return (uintptr_t)member->task >> ALIGN_BITS | life << LIFE_SHIFT;
}

/* Relaxed, all: who finds himself there wrote it, and anybody else finds another. */
static bool
is_mine(const med_nest_lock *lock, const med_member *member)
{
    return atomic_word_load_relaxed(&lock->owner) == task_of(member);
}

static void
take(med_nest_lock *lock, const med_member *member)
{
    atomic_word_store_relaxed(&lock->owner, task_of(member)); /* relaxed: as above */
}

uint32_t
med_nest_lock_set(med_nest_lock *lock, med_member *member)
{
    if (!is_mine(lock, member)) {
        med_omp_lock_set(&lock->lock, member);
        take(lock, member);
    }
    return ++lock->count;
}

uint32_t
med_nest_lock_test(med_nest_lock *lock, med_member *member)
{
    if (!is_mine(lock, member)) {
        if (!med_omp_lock_test(&lock->lock, member)) {
            return 0;
        }
        take(lock, member);
    }
    return ++lock->count;
}

bool
med_nest_lock_unset(med_nest_lock *lock)
{
    bool is_free = --lock->count == 0;
    if (is_free) {
        atomic_word_store_relaxed(&lock->owner, 0); /* relaxed: as above */
        med_omp_lock_unset(&lock->lock);
    }
    return is_free;
}
