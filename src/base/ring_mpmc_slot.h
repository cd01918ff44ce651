/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A slot of the ring with many producers and consumers: its word, and its element behind it. For
 * ring_mpmc.c, which says what the states mean, and ring_mpmc_make.c.
 *
 * The word: bits 0 to 7 side, bits 8 to 10 state, bits 11 to 31 lap.
 */
#ifndef MEDLEY_BASE_RING_MPMC_SLOT_H
#define MEDLEY_BASE_RING_MPMC_SLOT_H

#include "base/ring_mpmc.h"

#define MPMC_SIDE_MASK 0xffu
#define MPMC_STATE_SHIFT 8
#define MPMC_STATE_MASK 7u
#define MPMC_LAP_SHIFT 11
#define MPMC_LAP_BITS 21

enum {
    MPMC_FREE,
    MPMC_WRITING,
    MPMC_FULL,
    MPMC_READING,
    MPMC_SKIP
};

static inline uint32_t
mpmc_lap_mask(const med_ring_mpmc_view *view)
{
    uint32_t index_bits = 32 - view->capacity_log2;
    return index_bits < MPMC_LAP_BITS ? (1u << index_bits) - 1 : (1u << MPMC_LAP_BITS) - 1;
}

/* The word of the slot of `index`, in its lap plus `laps`. */
static inline uint32_t
mpmc_word_of(
    const med_ring_mpmc_view *view, uint32_t index, uint32_t laps, uint32_t state, uint32_t side)
{
    uint32_t lap = (uint32_t)((uint64_t)index >> view->capacity_log2) + laps;
    return (lap & mpmc_lap_mask(view)) << MPMC_LAP_SHIFT | state << MPMC_STATE_SHIFT | side;
}

static inline uint32_t
mpmc_state_of(uint32_t word)
{
    return word >> MPMC_STATE_SHIFT & MPMC_STATE_MASK;
}

/* By how many laps the word is ahead of `index`, or behind. */
static inline int32_t
mpmc_lead_of(const med_ring_mpmc_view *view, uint32_t word, uint32_t index)
{
    uint32_t mask = mpmc_lap_mask(view);
    uint32_t lead = ((word >> MPMC_LAP_SHIFT) -
                     (mpmc_word_of(view, index, 0, MPMC_FREE, 0) >> MPMC_LAP_SHIFT)) &
                    mask;
    return lead > mask / 2 ? (int32_t)lead - (int32_t)mask - 1 : (int32_t)lead;
}

static inline uint8_t *
mpmc_slot_at(const med_ring_mpmc_view *view, uint32_t index)
{
    return view->slots + (size_t)(index & view->mask) * view->stride_bytes;
}

static inline atomic32 *
mpmc_slot_word(const med_ring_mpmc_view *view, uint32_t index)
{
    return (atomic32 *)(void *)mpmc_slot_at(view, index);
}

static inline void *
mpmc_slot_element(const med_ring_mpmc_view *view, uint32_t index)
{
    return mpmc_slot_at(view, index) + MED_RING_MPMC_ELEMENT_AT;
}

#endif
