/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A state that is sent when all is as usual: the end is open, its receiver there, no look at his
 * life due, nothing was asked for first, and the value short and of whole words. Whatever else
 * there is the ways of packet.h find, which begin anew: what is here changes nothing unless it
 * succeeds.
 *
 * It calls nothing, so that it stores little beside the value: what a processor has stored waits,
 * in order, for the line that the receiver just took, and there is room for some dozens of stores.
 */
#ifndef MEDLEY_MCAPI_STATE_AT_ONCE_H
#define MEDLEY_MCAPI_STATE_AT_ONCE_H

#include <stdbool.h>
#include <stddef.h>

#include "mcapi/endpoint.h"
#include "mcapi/locked.h"
#include "mcapi/state.h"
#include "mcapi/watch.h"

/* The lane by which it may go at once, or NULL. */
static inline med_lane_own *
med_state_lane_at_once(const med_self *self, med_handle channel, size_t bytes)
{
    med_lane_own *lane = med_channel_sender(self, channel);
    if (!lane || lane->producer.kind != MED_LANE_STATES) {
        return NULL;
    }
    bool usual = bytes <= lane->producer.payload_max && bytes <= lane->producer.cell.value_bytes &&
                 bytes <= MED_STATE_CELL_AT_ONCE_MAX && bytes % MED_STATE_CELL_WORD_BYTES == 0 &&
                 !lane->producer.endpoint->sends.first && med_exchange_may_at_once(self) &&
                 !med_watch_is_due_after(lane, med_state_cell_newest(&lane->producer.cell)) &&
                 !med_lane_is_gone(lane->producer.row, MED_LANE_CONSUMER);
    return __builtin_expect(usual, 1) ? lane : NULL;
}

static inline void
med_state_send_at_once(med_lane_own *lane, const void *payload, size_t bytes)
{
    (void)med_state_cell_write_at_once(&lane->producer.cell, payload, (uint32_t)bytes);
    med_lane_count(lane->producer.row, MED_LANE_PRODUCER, bytes);
    med_watch_wake(lane);
}

#endif
