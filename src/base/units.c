/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Units. What may run together: everything, by anybody.
 *
 * Each word is a lock of its own, with lock.c's transitions, edges and recovery. Linearisation: the
 * compare-and-swap of the word that is taken; that there is none (MEDLEY_BUSY) is not one instant,
 * but each word was had when it was looked at, and a waiter who looks behind his flag misses no
 * word that came free later (S3 in lock.c, for each word).
 * Progress: one pass over the words; each repeats only when others took or gave that very word.
 * Death: of an owner, med_lock_recover for each word.
 * Model: models/units.pml.
 */
#include "base/units.h"

static uint32_t
owner_at(const med_units *units, uint32_t index)
{
    return med_lock_owner(&units->words[index]);
}

/* From line to line, so that the last comes before the first of all. */
static uint32_t
next_of(const med_units *units, uint32_t index)
{
    uint32_t next = index + MED_UNITS_OF_LINE;
    if (next >= units->lines * MED_UNITS_OF_LINE) {
        next = next % MED_UNITS_OF_LINE + 1;
    }
    return med_units_first(units, next);
}

/* MEDLEY_BUSY: it is somebody's. */
static medley_status_t
take_one(med_lock *lock, uint32_t owner)
{
    uint32_t word = atomic32_load_relaxed(&lock->word); /* relaxed: checked by compare-and-swap */
    while ((word & MED_LOCK_OWNER_MASK) == 0) {
        /* A1 held <- R1 (lock.h, rwlock.c); R3 owner came -> A2 (lock.h);
         * B1 unit, then word <-> B2 (rwlock.c) */
        if (atomic32_cas_seq_cst(&lock->word, &word, owner)) {
            return word & MED_LOCK_DIED ? MEDLEY_ERR_OWNER_DIED : MEDLEY_OK;
        }
    }
    return MEDLEY_BUSY;
}

medley_status_t
med_units_take(const med_units *units, uint32_t owner, uint32_t first, uint32_t *index)
{
    uint32_t at = med_units_first(units, first);
    for (uint32_t n = 0; n < units->count; n++, at = next_of(units, at)) {
        medley_status_t status = take_one(&units->words[at], owner);
        if (status != MEDLEY_BUSY) {
            *index = at;
            return status;
        }
    }
    return MEDLEY_BUSY;
}

uint32_t
med_units_find(const med_units *units, uint32_t owner, uint32_t first)
{
    uint32_t at = med_units_first(units, first);
    for (uint32_t n = 0; n < units->count; n++, at = next_of(units, at)) {
        if (owner_at(units, at) == owner) {
            return at;
        }
    }
    return MED_UNITS_NONE;
}

uint32_t
med_units_held(const med_units *units)
{
    uint32_t held = 0;
    for (uint32_t n = 0, at = 0; n < units->count; n++, at = next_of(units, at)) {
        held += owner_at(units, at) != 0;
    }
    return held;
}

uint32_t
med_units_held_by(const med_units *units, uint32_t owner)
{
    uint32_t held = 0;
    for (uint32_t n = 0, at = 0; n < units->count; n++, at = next_of(units, at)) {
        held += owner_at(units, at) == owner;
    }
    return held;
}

bool
med_units_any_free(const med_units *units)
{
    return med_units_find(units, 0, 0) != MED_UNITS_NONE;
}

bool
med_units_all_free(const med_units *units, uint32_t but_for)
{
    for (uint32_t n = 0, at = 0; n < units->count; n++, at = next_of(units, at)) {
        /* B2 word, then units <-> B1 (rwlock.c). It acquires too, A1 held <- R1 (lock.h, rwlock.c):
         * what its owner did comes before what follows. */
        uint32_t owner = atomic32_load_seq_cst(&units->words[at].word) & MED_LOCK_OWNER_MASK;
        if (owner && owner != but_for) {
            return false;
        }
    }
    return true;
}
