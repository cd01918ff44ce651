/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The lock. What may run together: everything, by anybody.
 *
 * Transitions of the word (o: owner; +D: with DIED):
 *   0, D     -> o          try, acquire
 *   o        -> 0          release: a store, since nobody else changes the word of a living owner
 *   o        -> D          recover, the lock stays usable; wakes one
 *   o        -> DEAD+D     recover, the lock is of no more use; wakes one, who wakes the others
 *
 * Why no wake is lost. A sleeper sets the flag (S1), passes the heavy barrier (S2), looks at the
 * word (S3), and sleeps only while the flag is set. An owner frees the word, then looks at the
 * flag: if he misses S1, then S3 finds the word free (the asymmetric fence, as in wait.c). If he
 * sees it, he clears it and wakes one. There may be others, so who was woken carries the duty on:
 * he sets the flag again before he tries, and either gets the lock, and sees the flag when he gives
 * it back, or sleeps with the flag set. Who gives up instead (a deadline) passes the duty on
 * (hand_on).
 *
 * Linearisation: the compare-and-swap that takes, the store that frees. Progress: blocking, by
 * nature; release is wait-free but for the kernel's wake.
 * Death: of the owner, recover. Of one that was woken and had not yet taken the word (the others
 * sleep on a free lock), or of an owner between free and wake: the sleepers' slices end, and they
 * look at the word again.
 * Model: models/lock.pml.
 */
#include "base/lock.h"

/* Between two looks of a spinner, in pauses: the holder has the line to itself meanwhile, and can
 * take the lock many times more. */
#define PAUSES_FIRST 8u
#define PAUSES_LAST 128u
/* Beyond this many rounds it offers its processor to others in between. */
#define ROUNDS_ALONE 6u

static bool
is_free(uint32_t word)
{
    return (word & MED_LOCK_OWNER_MASK) == 0;
}

static bool
is_dead(uint32_t word)
{
    return (word & MED_LOCK_OWNER_MASK) == MED_LOCK_DEAD;
}

medley_status_t
med_lock_try(med_lock *lock, uint32_t owner)
{
    uint32_t word = atomic32_load_relaxed(&lock->word); /* relaxed: checked by compare-and-swap */
    while (is_free(word)) {
        /* A1 held <- R1 (release, recover) */
        if (atomic32_cas_acquire(&lock->word, &word, owner)) {
            return word & MED_LOCK_DIED ? MEDLEY_ERR_OWNER_DIED : MEDLEY_OK;
        }
    }
    return is_dead(word) ? MEDLEY_ERR_OWNER_DIED : MEDLEY_BUSY;
}

/* ---- Spinning -------------------------------------------------------------------------------- */

static void
pause_for(uint32_t pauses)
{
    for (uint32_t i = 0; i < pauses; i++) {
        med_port_cpu_relax();
    }
}

/* Until the lock is had (or dead), or it is time to sleep (MEDLEY_BUSY). */
static medley_status_t
spin(med_lock *lock, const med_lock_request *request)
{
    med_port_scheduling scheduling;
    med_port_scheduling_get(&scheduling);
    bool only_processor = scheduling.processors == 1;
    if (only_processor && scheduling.real_time) {
        return MEDLEY_BUSY; /* the holder waits for this very processor */
    }
    uint64_t end_ns = med_port_clock_ns() + med_wait_spin_budget_ns(request->waiter);
    uint32_t pauses = PAUSES_FIRST;
    for (uint32_t round = 0;; round++) {
        medley_status_t status = med_lock_try(lock, request->owner);
        if (status != MEDLEY_BUSY || med_port_clock_ns() >= end_ns) {
            med_wait_learn(request->waiter, status == MEDLEY_BUSY);
            return status;
        }
        if (only_processor || (round > ROUNDS_ALONE && !scheduling.real_time)) {
            med_port_yield();
        }
        pause_for(only_processor ? 1 : pauses);
        pauses = pauses < PAUSES_LAST ? pauses * 2 : PAUSES_LAST;
    }
}

/* ---- Sleeping -------------------------------------------------------------------------------- */

void
med_lock_wake(med_lock_sleepers *sleepers, uint32_t count, med_port_scope scope)
{
    /* Relaxed: a sleeper on his way finds it cleared, and looks at the lock once more. */
    atomic32_store_relaxed(&sleepers->flag, 0);
    (void)med_port_wake(&sleepers->flag.value, count, scope);
}

/* A try by one who has set the flag. A lock that turns out dead has no owner who would see it, and
 * somebody may have gone to sleep on it since the lock's recovery cleared it: wake them. */
static medley_status_t
try_announced(med_lock *lock, med_lock_sleepers *sleepers, const med_lock_request *request)
{
    medley_status_t status = med_lock_try(lock, request->owner);
    if (status == MEDLEY_ERR_OWNER_DIED && med_lock_is_dead(lock)) {
        med_lock_wake(sleepers, UINT32_MAX, request->scope);
    }
    return status;
}

/* S1, and a try: all that one who was woken needs, if he gets the lock. */
static medley_status_t
announce(med_lock *lock, med_lock_sleepers *sleepers, const med_lock_request *request)
{
    atomic32_store_relaxed(&sleepers->flag, 1); /* S1. Relaxed: S2 orders it, or the own release */
    return try_announced(lock, sleepers, request);
}

/* Who gives up may have been woken just now in another's stead. */
static medley_status_t
hand_on(med_lock *lock,
        med_lock_sleepers *sleepers,
        const med_lock_request *request,
        medley_status_t why)
{
    medley_status_t status = announce(lock, sleepers, request);
    if (status != MEDLEY_BUSY) {
        return status;
    }
    med_port_barrier_heavy(request->scope);
    /* Relaxed: as S3. Free by now: its owner may have missed the flag. */
    if (is_free(atomic32_load_relaxed(&lock->word))) {
        med_lock_wake(sleepers, 1, request->scope);
    }
    return why;
}

/* One sleep of at most a slice. MEDLEY_BUSY: look again; `owner` is who had it. */
static medley_status_t
sleep_once(med_lock *lock,
           med_lock_sleepers *sleepers,
           const med_lock_request *request,
           uint64_t end_ns,
           uint32_t *owner)
{
    medley_status_t status = announce(lock, sleepers, request);
    if (status != MEDLEY_BUSY) {
        return status;
    }
    med_port_barrier_heavy(request->scope);          /* S2 */
    status = try_announced(lock, sleepers, request); /* S3 */
    if (status == MEDLEY_BUSY) {
        *owner = med_lock_owner(lock);
        (void)med_port_wait(&sleepers->flag.value, 1, end_ns, request->scope);
    }
    return status;
}

medley_status_t
med_lock_acquire_slow(med_lock *lock, med_lock_sleepers *sleepers, const med_lock_request *request)
{
    medley_status_t status = med_lock_try(lock, request->owner);
    if (status != MEDLEY_BUSY || request->deadline_ns == 0) {
        return status;
    }
    status = spin(lock, request);
    for (uint32_t slice = 0; status == MEDLEY_BUSY; slice++) {
        uint64_t end_ns = med_wait_slice_end_ns(slice, request->deadline_ns);
        uint32_t owner = 0;
        request->waiter->sleeps++;
        status = sleep_once(lock, sleepers, request, end_ns, &owner);
        if (status != MEDLEY_BUSY) {
            break;
        }
        uint64_t now_ns = med_port_clock_ns();
        if (request->each_slice && now_ns >= end_ns) {
            medley_status_t ended = request->each_slice(request->context, owner);
            if (ended != MEDLEY_OK) {
                return hand_on(lock, sleepers, request, ended);
            }
        }
        if (now_ns >= request->deadline_ns) {
            return hand_on(lock, sleepers, request, MEDLEY_TIMEOUT);
        }
    }
    return status;
}

void
med_lock_give_back(med_lock *lock,
                   med_lock_sleepers *sleepers,
                   uint32_t owner,
                   med_port_scope scope)
{
    if (!atomic32_cas_release(&lock->word, &owner, 0)) { /* R1 held -> A1 (acquire, try) */
        return;
    }
    med_port_barrier_light(scope); /* as in release */
    if (atomic32_load_relaxed(&sleepers->flag)) {
        med_lock_wake(sleepers, 1, scope);
    }
}

/* ---- Death ----------------------------------------------------------------------------------- */

bool
med_lock_recover(med_lock *lock,
                 med_lock_sleepers *sleepers,
                 uint32_t dead_owner,
                 bool usable,
                 med_port_scope scope)
{
    uint32_t word = atomic32_load_relaxed(&lock->word); /* relaxed: checked by compare-and-swap */
    while ((word & MED_LOCK_OWNER_MASK) == dead_owner) {
        uint32_t desired = usable ? MED_LOCK_DIED : MED_LOCK_DEAD | MED_LOCK_DIED;
        /* R1 held -> A1: what the dead owner wrote was made visible by his death (the query that
         * found him dead), and goes on to the next owner. */
        if (atomic32_cas_acq_rel(&lock->word, &word, desired)) {
            med_port_barrier_light(scope); /* as in release */
            med_lock_wake(sleepers, 1, scope);
            return true;
        }
    }
    return false;
}
