/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Places: what the word of a request and its handle say. For request.c and request_table.c.
 *
 *   word     generation (bits 12 to 31), QUEUED, TURN, state (bits 0 to 2)
 *   handle   generation (bits 12 to 31), place (bits 0 to 11)
 */
#ifndef MEDLEY_MRAPI_REQUEST_PLACE_H
#define MEDLEY_MRAPI_REQUEST_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "mrapi/request.h"

#define MED_REQUEST_STATE_MASK 7u
#define MED_REQUEST_TURN 8u
#define MED_REQUEST_QUEUED 16u /* with VALID, and with CANCELED: in a queue of its maker's */
#define MED_REQUEST_PLACE_MASK 0xfffu
#define MED_REQUEST_GENERATION_SHIFT 12
#define MED_REQUEST_GENERATION_STEP (1u << MED_REQUEST_GENERATION_SHIFT)

static inline med_request_state
med_request_word_state(uint32_t word)
{
    return (med_request_state)(word & MED_REQUEST_STATE_MASK);
}

static inline uint32_t
med_request_word_generation(uint32_t word)
{
    return word >> MED_REQUEST_GENERATION_SHIFT;
}

static inline uint32_t
med_request_word(med_request_state state, uint32_t generation)
{
    return (uint32_t)state | generation << MED_REQUEST_GENERATION_SHIFT;
}

/* Of a word; but 0 is no generation: so no handle is 0. */
static inline uint32_t
med_request_generation_from(uint32_t word)
{
    uint32_t generation = med_request_word_generation(word);
    return generation ? generation : 1;
}

static inline uint32_t
med_request_generation_next(uint32_t word)
{
    return med_request_generation_from(word + MED_REQUEST_GENERATION_STEP);
}

static inline uint32_t
med_request_handle_of(const med_requests *requests, const med_request *request, uint32_t word)
{
    return (word & ~MED_REQUEST_PLACE_MASK) | (uint32_t)(request - requests->places);
}

/* The place that a handle names; NULL: none. */
static inline med_request *
med_request_place_of(const med_requests *requests, uint32_t handle)
{
    uint32_t index = handle & MED_REQUEST_PLACE_MASK;
    bool good = index < requests->count && med_request_word_generation(handle);
    return good ? &requests->places[index] : NULL;
}

#endif
