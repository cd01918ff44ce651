/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Channels: lanes that were connected. How they are connected, opened and closed. */
#ifndef MEDLEY_MCAPI_CHANNEL_H
#define MEDLEY_MCAPI_CHANNEL_H

#include "mcapi/endpoint.h"
#include "mcapi/lane.h"
#include "medley/status.h"

/* By any node. MEDLEY_ERR_EXISTS: one of them is connected; MEDLEY_ERR_ACCESS: they do not agree;
 * MEDLEY_ERR_STALE, _ARGUMENT: no endpoint; MEDLEY_ERR_LIMIT; MEDLEY_TIMEOUT. */
medley_status_t
med_channel_connect(med_self *self, med_handle from, med_handle to, med_lane_kind kind);

/* Opens the caller's end as soon as it is connected; then the handle is in `handle`, which stays
 * until the request has ended. MEDLEY_ERR_ARGUMENT: connected as another kind;
 * MEDLEY_ERR_NOT_SUPPORTED: it is the other end: either at once, or as the request's outcome.
 * MEDLEY_ERR_NOT_OWNER, MEDLEY_ERR_STALE; MEDLEY_ERR_EXISTS: it is open; MEDLEY_BUSY: it is being
 * opened; MEDLEY_ERR_LIMIT: no request. Outcome also MEDLEY_ERR_STALE: deleted meanwhile. */
medley_status_t med_channel_open(med_self *self,
                                 med_handle endpoint,
                                 med_lane_side side,
                                 med_lane_kind kind,
                                 unsigned *handle,
                                 med_request_handle *request);
/* Makes a lane from what publishes to an endpoint of the caller's, and opens the caller's end.
 * Errors as of both. */
medley_status_t
med_channel_subscribe(med_self *self, med_handle topic, med_handle endpoint, unsigned *handle);
/* Closes the caller's end. MEDLEY_ERR_NOT_FOUND: he has it not open, or not any more;
 * MEDLEY_ERR_EXISTS: it is a handle of the other end; MEDLEY_ERR_ARGUMENT: of another kind;
 * MEDLEY_ERR_STALE: no handle of a channel's end. */
medley_status_t
med_channel_close(med_self *self, med_handle handle, med_lane_side side, med_lane_kind kind);

/* The lane of an open end of the caller's, or NULL. */
static inline med_lane_own *
med_channel_sender(const med_self *self, med_handle handle)
{
    uint32_t index = med_handle_index_of_kind(handle, MED_HANDLE_SENDER);
    if (__builtin_expect(index >= self->tables[MED_KIND_LANE].row_count, 0)) {
        return NULL;
    }
    med_lane_own *lane = &self->exchange->exchange->lane_ends[index];
    /* Relaxed: written by this very thread, if both are so. */
    bool mine = atomic32_load_relaxed(&lane->producer.handle) == handle &&
                atomic32_load_relaxed(&lane->producer.owner) == self->ref;
    return __builtin_expect(mine, 1) ? lane : NULL;
}

static inline med_lane_own *
med_channel_receiver(const med_self *self, med_handle handle)
{
    uint32_t index = med_handle_index_of_kind(handle, MED_HANDLE_RECEIVER);
    if (__builtin_expect(index >= self->tables[MED_KIND_LANE].row_count, 0)) {
        return NULL;
    }
    med_lane_own *lane = &self->exchange->exchange->lane_ends[index];
    bool mine = atomic32_load_relaxed(&lane->consumer.handle) == handle && /* relaxed: as above */
                atomic32_load_relaxed(&lane->consumer.owner) == self->ref;
    return __builtin_expect(mine, 1) ? lane : NULL;
}

#endif
