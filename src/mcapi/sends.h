/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The lanes by which a node sends messages, found by sender, receiver and priority. Its thread's
 * own: a hash with chains through the lanes, which grows with their number, so that who sends to a
 * hundred receivers in turn finds each lane as fast as who sends to one.
 */
#ifndef MEDLEY_MCAPI_SENDS_H
#define MEDLEY_MCAPI_SENDS_H

#include <stdint.h>

#include "mrapi/handle.h"

struct med_lane_own;

#define MED_SENDS_FEW 8u

typedef struct med_sends {
    struct med_lane_own **heads; /* `few`, or mapped */
    uint32_t mask;               /* their number, - 1 */
    uint32_t count;              /* of lanes */
    struct med_lane_own *few[MED_SENDS_FEW];
} med_sends;

void med_sends_init(med_sends *sends);
void med_sends_fini(med_sends *sends);

/* A lane that is in none; its producer's `from`, `to` and `priority` say where. */
void med_sends_add(med_sends *sends, struct med_lane_own *lane);
/* Nothing, if it is not in it. */
void med_sends_remove(med_sends *sends, const struct med_lane_own *lane);

static inline uint32_t
med_sends_place(const med_sends *sends, med_handle from, med_handle to, uint32_t priority)
{
    return (med_handle_index(to) * 4 + med_handle_index(from) * 29 + priority) & sends->mask;
}

#endif
