/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The lock. What may run together: everything, by anybody.
 *
 * Transitions of the word (o: owner; +W, +D: with that bit):
 *   0, D            -> o            try, acquire (keeps W; one that slept sets W, since others may)
 *   o               -> o+W          acquire, before it sleeps
 *   o, o+W          -> 0            release; wakes one when W was there
 *   o, o+W          -> D, D+W       recover, the lock stays usable; wakes one
 *   o, o+W          -> DEAD+D       recover, the lock is of no more use; wakes all
 *
 * Linearisation: each of these is one compare-and-swap or exchange. Progress: blocking, by nature;
 * release and recover are wait-free but for the kernel's wake.
 * Death: of the owner, recover. Of one that was woken and had not yet taken the word (the others
 * sleep on a free lock), or of an owner between release and wake: the sleepers' slices end, and
 * they look at the word again. Model: models/lock.pml.
 */
#include "base/lock.h"

static bool
is_free(uint32_t word)
{
    return (word & MED_LOCK_OWNER_MASK) == 0;
}

/* One attempt at a word that looks free. `keep` are bits the new word must have. */
static bool
take(med_lock *lock, uint32_t *word, uint32_t owner, uint32_t keep)
{
    uint32_t desired = owner | (*word & MED_LOCK_WAITERS) | keep;
    return atomic32_cas_acquire(&lock->word, word, desired); /* A1 held <- R1 (release, recover) */
}

static medley_status_t
taken_from(uint32_t word)
{
    return word & MED_LOCK_DIED ? MEDLEY_ERR_OWNER_DIED : MEDLEY_OK;
}

medley_status_t
med_lock_try(med_lock *lock, uint32_t owner)
{
    uint32_t word = 0;
    do {
        if (take(lock, &word, owner, 0)) {
            return taken_from(word);
        }
    } while (is_free(word));
    return (word & MED_LOCK_OWNER_MASK) == MED_LOCK_DEAD ? MEDLEY_ERR_OWNER_DIED : MEDLEY_BUSY;
}

static bool
looks_free(void *context)
{
    const med_lock *lock = context;
    /* Relaxed: the compare-and-swap that follows decides. DEAD counts as free: no use in waiting.
     */
    uint32_t word = atomic32_load_relaxed(&lock->word);
    return is_free(word) || (word & MED_LOCK_OWNER_MASK) == MED_LOCK_DEAD;
}

/* Spins until the lock is had (or dead), or it is time to sleep (MEDLEY_BUSY). */
static medley_status_t
spin(med_lock *lock, const med_lock_request *request)
{
    while (med_wait_spin(request->waiter, looks_free, lock)) {
        medley_status_t status = med_lock_try(lock, request->owner);
        if (status != MEDLEY_BUSY) {
            med_wait_learn(request->waiter, false);
            return status;
        }
    }
    med_wait_learn(request->waiter, true);
    return MEDLEY_BUSY;
}

/* Takes the lock when it is free, else leaves WAITERS on it, so that its owner will wake somebody
 * (MEDLEY_BUSY). Others may sleep: who takes it here keeps WAITERS for them. `seen` becomes what
 * the word held last. */
static medley_status_t
announce(med_lock *lock, uint32_t owner, uint32_t *seen)
{
    uint32_t word = atomic32_load_relaxed(&lock->word); /* relaxed: checked by compare-and-swap */
    for (;;) {
        if ((word & MED_LOCK_OWNER_MASK) == MED_LOCK_DEAD) {
            return MEDLEY_ERR_OWNER_DIED;
        }
        if (is_free(word)) {
            if (take(lock, &word, owner, MED_LOCK_WAITERS)) {
                return taken_from(word);
            }
        } else if ((word & MED_LOCK_WAITERS) ||
                   atomic32_cas_relaxed(&lock->word, &word, word | MED_LOCK_WAITERS)) {
            break; /* relaxed: announces, publishes nothing */
        }
    }
    *seen = word | MED_LOCK_WAITERS;
    return MEDLEY_BUSY;
}

/* Who has slept may have been woken just now, in the others' stead, and goes without the lock: the
 * next release must wake somebody. So he announces once more, or takes it after all. */
static medley_status_t
give_up(med_lock *lock, uint32_t owner, medley_status_t why)
{
    uint32_t seen;
    medley_status_t status = announce(lock, owner, &seen);
    return status == MEDLEY_BUSY ? why : status;
}

medley_status_t
med_lock_acquire_slow(med_lock *lock, const med_lock_request *request)
{
    medley_status_t status = med_lock_try(lock, request->owner);
    if (status != MEDLEY_BUSY || request->deadline_ns == 0) {
        return status;
    }
    status = spin(lock, request);
    for (uint32_t slice = 0; status == MEDLEY_BUSY; slice++) {
        uint64_t end_ns = med_wait_slice_end_ns(slice, request->deadline_ns);
        uint32_t seen;
        request->waiter->sleeps++;
        status = announce(lock, request->owner, &seen);
        if (status != MEDLEY_BUSY) {
            break;
        }
        (void)med_port_wait(&lock->word.value, seen, end_ns, request->scope);
        if (request->each_slice && med_port_clock_ns() >= end_ns) {
            medley_status_t ended =
                request->each_slice(request->context, seen & MED_LOCK_OWNER_MASK);
            if (ended != MEDLEY_OK) {
                return give_up(lock, request->owner, ended);
            }
        }
        if (med_port_clock_ns() >= request->deadline_ns) {
            return give_up(lock, request->owner, MEDLEY_TIMEOUT);
        }
    }
    return status;
}

void
med_lock_wake_one(med_lock *lock, med_port_scope scope)
{
    (void)med_port_wake(&lock->word.value, 1, scope);
}

bool
med_lock_recover(med_lock *lock, uint32_t dead_owner, bool usable, med_port_scope scope)
{
    uint32_t word = atomic32_load_relaxed(&lock->word); /* relaxed: checked by compare-and-swap */
    while ((word & MED_LOCK_OWNER_MASK) == dead_owner) {
        uint32_t desired =
            usable ? (word & MED_LOCK_WAITERS) | MED_LOCK_DIED : MED_LOCK_DEAD | MED_LOCK_DIED;
        /* R1 held -> A1: what the dead owner wrote was made visible by his death (the query that
         * found him dead), and goes on to the next owner. */
        if (atomic32_cas_acq_rel(&lock->word, &word, desired)) {
            (void)med_port_wake(&lock->word.value, usable ? 1 : UINT32_MAX, scope);
            return true;
        }
    }
    return false;
}
