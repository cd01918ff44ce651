/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The reader/writer lock: a word for the writer, a unit (units.h) for each reader. So everybody
 * inside is named by a word of his own, and what a dead one held is found and comes back.
 *
 * The writer's word:
 *   bit 31        COMING   its owner waits for the readers to leave; nothing is changed yet
 *   bit 30        DIED     a writer died while it might change things; who comes next is told:
 *                          every reader, until a writer has had it
 *   bits 0..29    owner    0: free; MED_LOCK_DEAD: a writer died, and nobody may have it again
 *
 * A reader takes a unit, then looks at the word; a writer takes the word, then looks at the units.
 * So of two at once at least one sees the other: the reader backs out, the writer waits.
 *
 * Fairness: from when a writer is coming no reader enters, but those who are inside already and
 * want another unit; so readers keep no writer out. Readers and writers who wait for the word stand
 * in one line: whenever it comes free the one who has slept longest is woken, and each reader who
 * gets in wakes the next. He may be forestalled by one who just comes along, as with any lock here,
 * but by no rule: nobody's kind comes before the other.
 */
#ifndef MEDLEY_BASE_RWLOCK_H
#define MEDLEY_BASE_RWLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/units.h"
#include "base/wait.h"
#include "medley/status.h"

typedef struct med_rwlock {
    med_lock writer;
    med_lock_sleepers sleepers; /* for the word: readers and writers */
    med_wait left;              /* for readers to leave: who is coming, or wants a unit */
} med_rwlock;

#define MED_RWLOCK_COMING 0x80000000u

typedef struct med_rwlock_request {
    med_rwlock *lock;
    med_units units;
    uint32_t owner;
    uint64_t deadline_ns; /* MED_PORT_FOREVER: never; 0: one try */
    med_port_scope scope;
    med_waiter *waiter;
    /* Is the lock still what it was? Anything but MEDLEY_OK ends the attempt with it. Asked before
     * anything is taken, and after. */
    medley_status_t (*still_there)(void *context);
    /* Called after every slice slept: recovers dead owners. */
    void (*each_slice)(void *context);
    void *context;
} med_rwlock_request;

/* All of these: MEDLEY_OK, or MEDLEY_ERR_OWNER_DIED, with the lock had. MEDLEY_ERR_PEER_DIED: it is
 * dead, and nobody's any more. MEDLEY_BUSY (one try), MEDLEY_TIMEOUT. MEDLEY_ERR_EXISTS: the owner
 * is inside already and would wait for himself. Or what still_there said. */

/* `unit`: where to look first; becomes the unit that is had. An owner may have several. */
medley_status_t med_rwlock_read(const med_rwlock_request *request, uint32_t *unit);
medley_status_t med_rwlock_write(const med_rwlock_request *request);

/* Is he the writer? */
static inline bool
med_rwlock_is_writer(const med_rwlock *lock, uint32_t owner)
{
    return atomic32_load_relaxed(&lock->writer.word) == owner; /* relaxed: own, or not his */
}

/* Gives a unit back that was taken by mistake, in memory that may be another lock's by now. */
void med_rwlock_back_out(med_rwlock *lock, med_lock *unit, uint32_t owner, med_port_scope scope);

/* The common case of reading. True: the unit is had, and no writer there; still_there is the
 * caller's to ask, and to back out. */
static inline bool
med_rwlock_read_fast(med_rwlock *lock, med_lock *unit, uint32_t owner, med_port_scope scope)
{
    /* Relaxed: looked at again; a writer who is coming is not disturbed. */
    if (__builtin_expect(atomic32_load_relaxed(&lock->writer.word) != 0, 0)) {
        return false;
    }
    /* B1 unit, then word <-> B2 (write) */
    if (__builtin_expect(!med_units_take_at(unit, owner), 0)) {
        return false;
    }
    /* B1 unit, then word <-> B2 (write). A2 free <- R2 (write_end) */
    if (__builtin_expect(atomic32_load_seq_cst(&lock->writer.word) != 0, 0)) {
        med_rwlock_back_out(lock, unit, owner, scope);
        return false;
    }
    return true;
}

/* By the unit's owner. */
static inline void
med_rwlock_read_end(med_rwlock *lock, med_lock *unit, med_port_scope scope)
{
    atomic32_store_release(&unit->word, 0); /* R1 held -> A1 (units.c) */
    med_wait_wake(&lock->left, scope);
}

/* By the writer. */
static inline void
med_rwlock_write_end(med_rwlock *lock, med_port_scope scope)
{
    med_lock_release(&lock->writer, &lock->sleepers, scope); /* R2 free -> A1 (write), A2 (read) */
}

/* Takes a dead owner's word away from him: with `usable` who comes next is told if he might have
 * changed something, else nobody may have it again. False when he did not have it. Idempotent, as
 * is the next. */
bool
med_rwlock_recover_writer(med_rwlock *lock, uint32_t dead_owner, bool usable, med_port_scope scope);
bool med_rwlock_recover_reader(med_rwlock *lock,
                               med_lock *unit,
                               uint32_t dead_owner,
                               med_port_scope scope);

/* For who will delete it: MEDLEY_OK, and nobody can get in, when nobody but the owner is inside;
 * else MEDLEY_BUSY. Taken back when it was not deleted after all. */
medley_status_t med_rwlock_close(const med_rwlock_request *request);
void med_rwlock_reopen(const med_rwlock_request *request);
/* It is gone: whoever waits is woken, to ask still_there. */
void med_rwlock_wake_all(med_rwlock *lock, med_port_scope scope);

#endif
