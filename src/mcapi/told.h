/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a system's trace is told of the exchange (mrapi/traced.h): each that was sent and each that
 * was received, by lane and number, so that the two are found to be one; and waits. Where a system
 * keeps a trace nothing goes at once (exchange.h): the short ways tell nothing, and where it keeps
 * none they ask for none.
 */
#ifndef MEDLEY_MCAPI_TOLD_H
#define MEDLEY_MCAPI_TOLD_H

#include "mcapi/lane.h"
#include "mrapi/system.h"
#include "mrapi/traced.h"

/* The lane, as its sender's handle. */
static inline uint32_t
med_told_lane(const med_self *self, const med_lane_own *lane, med_lane_side side)
{
    uint32_t life = side == MED_LANE_PRODUCER ? lane->producer.life : lane->consumer.life;
    uint32_t index = (uint32_t)(lane - self->exchange->exchange->lane_ends);
    return med_handle_make(MED_HANDLE_SENDER, index, life - 1);
}

/* `number`: of all that went by that life of the lane, from 1 on. */
static inline void
med_told_moved(const med_self *self,
               med_traced_event event,
               const med_lane_own *lane,
               uint32_t number,
               uint64_t bytes)
{
    bool sends = event == MED_TRACED_SENT;
    med_lane_kind kind = sends ? lane->producer.kind : lane->consumer.kind;
    med_traced_more(self->system, self->ref, event, MED_TRACED_MOVED(kind, bytes),
                    med_told_lane(self, lane, sends ? MED_LANE_PRODUCER : MED_LANE_CONSUMER),
                    number);
}

static inline void
med_told_sent(const med_self *self, const med_lane_own *lane, uint32_t number, uint64_t bytes)
{
    if (med_traced_is_on(self->system)) {
        med_told_moved(self, MED_TRACED_SENT, lane, number, bytes);
    }
}

static inline void
med_told_received(const med_self *self, const med_lane_own *lane, uint32_t number, uint64_t bytes)
{
    if (med_traced_is_on(self->system)) {
        med_told_moved(self, MED_TRACED_RECEIVED, lane, number, bytes);
    }
}

/* The number of what that side has moved last; only where it is told. */
static inline uint32_t
med_told_count(const med_self *self, const med_lane_row *row, med_lane_side side)
{
    /* Relaxed: for showing. */
    return med_traced_is_on(self->system) ? (uint32_t)atomic64_load_relaxed(&row->moved[side].count)
                                          : 0;
}

#endif
