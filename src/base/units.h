/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Units: something counted, owned unit by unit. A unit is a lock (lock.h), and `count` of them
 * stand side by side: to have one is to own any of the words. So a dead owner's units are found and
 * come back, which those of a plain counter do not.
 *
 * Uncontended, one is taken by one compare-and-swap, of the word where the owner looks first, and
 * given back by one store. Who remembers where he last found one is mostly right, and two who look
 * in different lines do not disturb each other. So few units stand as far apart as the words for
 * many allow: unit n in line n % lines.
 *
 *   line 0    0   lines   2 * lines   ...         16 words each; an index counts the words
 *   line 1    1   lines + 1   ...
 */
#ifndef MEDLEY_BASE_UNITS_H
#define MEDLEY_BASE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "medley/status.h"

/* Where they are: `count` is the caller's, and checked; at most as many as the lines hold. */
typedef struct med_units {
    med_lock *words;
    uint32_t count;
    uint32_t lines;
} med_units;

#define MED_UNITS_OF_LINE 16u

#define MED_UNITS_NONE UINT32_MAX

/* For so many. */
static inline uint32_t
med_units_lines(uint32_t count)
{
    return (count + MED_UNITS_OF_LINE - 1) / MED_UNITS_OF_LINE;
}

/* The index of a unit. */
static inline uint32_t
med_units_index(uint32_t lines, uint32_t unit)
{
    return unit % lines * MED_UNITS_OF_LINE + unit / lines;
}

static inline med_lock *
med_units_nth(const med_units *units, uint32_t unit)
{
    return &units->words[med_units_index(units->lines, unit)];
}

/* Where to look first: any hint will do. */
static inline uint32_t
med_units_first(const med_units *units, uint32_t hint)
{
    uint32_t unit = hint % MED_UNITS_OF_LINE * units->lines + hint / MED_UNITS_OF_LINE;
    bool good = hint / MED_UNITS_OF_LINE < units->lines && unit < units->count;
    return __builtin_expect(good, 1) ? hint : 0;
}

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

#endif
