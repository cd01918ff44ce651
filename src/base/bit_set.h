/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The bit set: hands out the numbers 0 to capacity-1, in shared memory, to anybody.
 *
 * Words
 *   entry       one number; at any time one owner's, or nobody's
 *   owner       who has it; any number but 0, which is nobody. Given back whole when he dies: so it
 *               must not come to mean somebody else while a recovery of the dead one may still run
 *   generation  counts the uses of an entry: even while it is in use, odd while it is not
 *   slot        (index, generation): one use of one entry. Old slots are known for what they are
 *
 * To have an entry and to use it are two steps (claim, begin), so that somebody can keep a few at
 * hand: take and give do both at once. The compare-and-swap that takes an entry writes its owner,
 * so there is no instant at which a dead owner's entry could not be found.
 *
 * In memory, at a multiple of 64 bytes; no pointers, one layout for 32 and 64 bits:
 *
 *   0        constants                                        med_bit_set_shared
 *   64       hint, high water
 *   128      a bit per entry, set: probably free              capacity / 8, rounded up to a line
 *   ...      owner and generation per entry                   capacity * 8, rounded up to a line
 */
#ifndef MEDLEY_BASE_BIT_SET_H
#define MEDLEY_BASE_BIT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/stamp.h"
#include "medley/status.h"

#define MED_BIT_SET_CAPACITY_MAX 65536u
/* As start of a search: the lowest that is free. */
#define MED_BIT_SET_LOWEST UINT32_MAX
#define MED_BIT_SET_NOBODY 0u

typedef struct med_bit_set_entry {
    atomic32 owner;      /* taken from 0 by anybody, put back by the owner or his recovery */
    atomic32 generation; /* changed by the owner only */
} med_bit_set_entry;

typedef struct med_bit_set_shared {
    med_stamp stamp; /* constant, like the rest of this line */
    atomic32 capacity;
    uint32_t reserved[13];
    atomic32 first_free_word; /* by anybody: no word of bits below it has one set, probably */
    atomic32 high_water;      /* by anybody; only goes up */
    uint32_t reserved_hint[14];
} med_bit_set_shared;
_Static_assert(sizeof(med_bit_set_entry) == 8, "layout in shared memory");
_Static_assert(sizeof(med_bit_set_shared) == 128, "layout in shared memory");
_Static_assert(offsetof(med_bit_set_shared, first_free_word) == 64, "layout in shared memory");

/* One process's view of it: private, constant, may be copied. What it holds was checked. */
typedef struct med_bit_set {
    med_bit_set_shared *shared;
    atomic32 *free_bits;
    med_bit_set_entry *entries;
    uint32_t capacity;
    uint32_t words; /* of free_bits */
} med_bit_set;

/* A zeroed slot is none. */
typedef struct med_bit_set_slot {
    uint32_t index;
    uint32_t generation;
} med_bit_set_slot;

/* What the set needs; 0 when there is no such set. */
size_t med_bit_set_size(uint32_t capacity);
/* Makes a set in which everything is free. MEDLEY_ERR_ARGUMENT: capacity, size or alignment. */
medley_status_t
med_bit_set_init(void *memory, size_t size_bytes, uint32_t capacity, med_bit_set *set);
/* The view of a set that another made. MEDLEY_ERR_BYTE_ORDER, _VERSION, _CORRUPT; _ARGUMENT when
 * the memory is not aligned. Whatever the memory holds then or later, no call touches anything
 * outside it or fails to return. */
medley_status_t med_bit_set_attach(void *memory, size_t size_bytes, med_bit_set *set);

/* Takes a free entry for `owner`: the lowest, or the first found from `start` on, which keeps
 * owners that start apart out of each other's way. MEDLEY_FULL when none was free where and when it
 * looked; MEDLEY_ERR_ARGUMENT for nobody. Wait-free, any thread. */
medley_status_t
med_bit_set_take(const med_bit_set *set, uint32_t owner, uint32_t start, med_bit_set_slot *slot);
/* Gives it back. MEDLEY_ERR_STALE: this use of it has ended; MEDLEY_ERR_NOT_OWNER: not yours;
 * MEDLEY_ERR_ARGUMENT: no slot of this set. Of several that give one slot back, one succeeds. */
medley_status_t med_bit_set_give(const med_bit_set *set, med_bit_set_slot slot, uint32_t owner);
/* Changes the owner of a slot that is in use; called by either of the two, while neither gives it
 * back. Errors as give. Either this or a recovery of `from` gets it, never both. */
medley_status_t
med_bit_set_hand_over(const med_bit_set *set, med_bit_set_slot slot, uint32_t from, uint32_t to);
/* MEDLEY_OK when the slot is in use and `owner`'s at this instant; errors as give. */
medley_status_t med_bit_set_check(const med_bit_set *set, med_bit_set_slot slot, uint32_t owner);
/* Frees everything of an owner that will never run again; how many entries. Idempotent; may die at
 * any instruction and be called anew; by several at once. One pass over the set. */
uint32_t med_bit_set_recover(const med_bit_set *set, uint32_t dead_owner);

typedef struct med_bit_set_statistics {
    uint32_t in_use;
    uint32_t claimed;    /* had by somebody, but not in use */
    uint32_t high_water; /* how many were ever had at once, if all were taken lowest first */
} med_bit_set_statistics;
/* One pass; exact when nobody is at work. */
void med_bit_set_statistics_get(const med_bit_set *set, med_bit_set_statistics *statistics);

/* About how many nobody has, or `enough`, if it is as many: a look at the bits, which err to either
 * side while others are at work. */
uint32_t med_bit_set_free(const med_bit_set *set, uint32_t enough);

/* ---- The two steps --------------------------------------------------------------------------- */
/* Gets up to `count` entries into `indices`; how many. */
uint32_t med_bit_set_claim(
    const med_bit_set *set, uint32_t owner, uint32_t start, uint16_t *indices, uint32_t count);
/* Lets go of entries that the owner claimed and does not use. */
void med_bit_set_unclaim(const med_bit_set *set,
                         uint32_t owner,
                         const uint16_t *indices,
                         uint32_t count);

/* Starts a use of an entry that the caller has claimed; its generation. */
static inline uint32_t
med_bit_set_begin(const med_bit_set *set, uint32_t index)
{
    atomic32 *generation = &set->entries[index].generation;
    /* Relaxed, both: only the owner changes it; whoever is told the slot, is told by an edge. */
    uint32_t even = (atomic32_load_relaxed(generation) | 1u) + 1u;
    if (even == 0) {
        even = 2; /* 0 is no slot's */
    }
    atomic32_store_relaxed(generation, even);
    return even;
}

/* Ends a use; the entry stays the owner's. Errors as give. */
static inline medley_status_t
med_bit_set_end(const med_bit_set *set, med_bit_set_slot slot, uint32_t owner)
{
    medley_status_t status = med_bit_set_check(set, slot, owner);
    if (status != MEDLEY_OK) {
        return status;
    }
    /* Relaxed: it decides between several that end one use; the contents go on through `owner`. */
    return atomic32_cas_relaxed(&set->entries[slot.index].generation, &slot.generation,
                                slot.generation + 1u)
               ? MEDLEY_OK
               : MEDLEY_ERR_STALE;
}

/* ---- By one who is alone at it --------------------------------------------------------------- */

/* The same with plain stores, by a thread that is the only one to give, or to hand over, what
 * `owner` has, while nobody recovers that owner. As a change of owner they are no choice between
 * two: nobody else may make one. The new owner may be recovered at once, while who handed over
 * lives, whose use is over by then (R2). */

/* In use, and `owner`'s. */
static inline bool
med_bit_set_is_owners(const med_bit_set *set, med_bit_set_slot slot, uint32_t owner)
{
    if (slot.index >= set->capacity || slot.generation == 0 || (slot.generation & 1u)) {
        return false;
    }
    const med_bit_set_entry *entry = &set->entries[slot.index];
    /* Relaxed, both: if the slot is the owner's, only the caller changes them. */
    return atomic32_load_relaxed(&entry->generation) == slot.generation &&
           atomic32_load_relaxed(&entry->owner) == owner;
}

/* MEDLEY_ERR_NOT_OWNER: it is not in use, or not `from`'s. */
static inline medley_status_t
med_bit_set_hand_over_alone(const med_bit_set *set,
                            med_bit_set_slot slot,
                            uint32_t from,
                            uint32_t to)
{
    if (__builtin_expect(!med_bit_set_is_owners(set, slot, from), 0)) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    atomic32_store_release(&set->entries[slot.index].owner, to); /* R2 use over -> A1 (bit_set.c) */
    return MEDLEY_OK;
}

/* Likewise. */
static inline medley_status_t
med_bit_set_end_alone(const med_bit_set *set, med_bit_set_slot slot, uint32_t owner)
{
    if (__builtin_expect(!med_bit_set_is_owners(set, slot, owner), 0)) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    /* Relaxed: the contents go on through `owner`. */
    atomic32_store_relaxed(&set->entries[slot.index].generation, slot.generation + 1u);
    return MEDLEY_OK;
}

#endif
