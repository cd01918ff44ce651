/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* States: a channel that holds one value, the newest. The sender never waits; the receiver looks at
 * the value as often as it likes. */
#ifndef MEDLEY_MCAPI_STATE_H
#define MEDLEY_MCAPI_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "mcapi/channel.h"

/* By an end of states, both; the other side was there. MEDLEY_ERR_NOT_SUPPORTED: longer than it may
 * be; MEDLEY_ERR_PEER_DIED: the receiver was found to be gone (watch.h). */
medley_status_t
med_state_send(med_self *self, med_lane_own *lane, const void *payload, uint32_t bytes);
/* A copy of the newest in a buffer, the caller's until it is given back. MEDLEY_EMPTY: none was
 * sent yet, or the sender was too fast; MEDLEY_ERR_PEER_DIED: the sender is gone, and its last was
 * received; MEDLEY_ERR_NO_MEMORY: no buffer is left; MEDLEY_ERR_CORRUPT. */
medley_status_t med_state_receive(med_self *self, med_lane_own *lane, void **buffer, size_t *bytes);

/* The memory of a lane of states, when the lane is made (lane.c): a cell of so many buffers, or as
 * many as there is room for. How many. */
uint32_t
med_state_memory_init(const med_system *system, void *memory, uint32_t bytes, uint32_t buffers);
/* And when an end of it is opened. MEDLEY_ERR_CORRUPT: what lies there is no such cell. */
medley_status_t med_state_memory_attach(const med_self *self, void *memory, med_state_cell *cell);

/* Can it be received at once? */
static inline bool
med_state_available(const med_lane_own *lane)
{
    return med_state_cell_newest(&lane->consumer.cell) != 0;
}

/* ---- By handle ------------------------------------------------------------------------------- */

/* All of these: MEDLEY_ERR_STALE: no open end of the caller's; MEDLEY_ERR_ARGUMENT: not of states.
 */

/* A copy of the newest: at most `size` bytes of it; `bytes` is how many. Waits until there is one,
 * as long as the endpoint's timeout says: MEDLEY_TIMEOUT; MEDLEY_ERR_LIMIT: it was longer than
 * `size`; MEDLEY_ERR_PEER_DIED, MEDLEY_ERR_CORRUPT as above. */
medley_status_t med_state_receive_copy(
    med_self *self, med_handle receiver, void *buffer, size_t size, size_t *bytes);
/* Waits until there is one newer than the caller received last: MEDLEY_TIMEOUT,
 * MEDLEY_ERR_PEER_DIED: there will be none. */
medley_status_t med_state_await(med_self *self, med_handle receiver, uint64_t deadline_ns);

typedef struct med_state_counts {
    uint32_t retries; /* copies that were made again, in all, wrapping */
    uint32_t retries_worst;
    uint32_t collisions; /* calls that had to begin anew after as many as there may be */
} med_state_counts;
medley_status_t
med_state_counts_get(const med_self *self, med_handle receiver, med_state_counts *counts);

#endif
