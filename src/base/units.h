/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Units: something counted, owned unit by unit. A unit is a lock (lock.h), and `count` of them
 * stand side by side: to have one is to own any of the words. So a dead owner's units are found and
 * come back, which those of a plain counter do not.
 *
 * Uncontended, one is taken by one compare-and-swap, of the word where the owner looks first, and
 * given back by one store. Who remembers where he last found one is mostly right, and two who look
 * in different lines do not disturb each other.
 */
#ifndef MEDLEY_BASE_UNITS_H
#define MEDLEY_BASE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "medley/status.h"

/* Where they are: `count` is the caller's, and checked. */
typedef struct med_units {
    med_lock *words;
    uint32_t count;
} med_units;

#define MED_UNITS_NONE UINT32_MAX

/* The common case: that one. Sequentially consistent for those who look at another word next
 * (rwlock.c); for the others it acquires. */
static inline bool
med_units_take_at(med_lock *word, uint32_t owner)
{
    uint32_t free = 0;
    /* A1 held <- R1 (lock.h, rwlock.c); R3 owner came -> A2 (lock.h);
     * B1 unit, then word <-> B2 (rwlock.c) */
    return atomic32_cas_seq_cst(&word->word, &free, owner);
}

/* Any one, beginning at `first`. MEDLEY_OK, or MEDLEY_ERR_OWNER_DIED when its last owner died with
 * it: it is had, and `index` says which. MEDLEY_BUSY: there is none. */
medley_status_t
med_units_take(const med_units *units, uint32_t owner, uint32_t first, uint32_t *index);

/* One that the owner has, beginning at `first`; MED_UNITS_NONE. */
uint32_t med_units_find(const med_units *units, uint32_t owner, uint32_t first);

/* How many are had by anybody, and how many of these by the owner. */
uint32_t med_units_held(const med_units *units);
uint32_t med_units_held_by(const med_units *units, uint32_t owner);
bool med_units_any_free(const med_units *units);

/* Is none had, but by that owner (0: by anybody)? Sequentially consistent: after a store (by
 * compare-and-swap) that those who take one look at afterwards. */
bool med_units_all_free(const med_units *units, uint32_t but_for);

/* Where an owner of that number looks at first, when he has not found any yet: neighbours look in
 * different lines. */
static inline uint32_t
med_units_spread(uint32_t number, uint32_t count)
{
    return (number * 16 + number / 4) % count;
}

#endif
