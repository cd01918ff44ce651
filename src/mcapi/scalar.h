/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scalars: eight bytes each, end to end in their channel's ring, and a byte beside for the width of
 * each. */
#ifndef MEDLEY_MCAPI_SCALAR_H
#define MEDLEY_MCAPI_SCALAR_H

#include <stdint.h>

#include "mcapi/channel.h"

/* When the ring is full, and wherever something is not as usual: waits, as long as the endpoint's
 * timeout says. MEDLEY_TIMEOUT; MEDLEY_FULL: it may not wait; MEDLEY_ERR_PEER_DIED: the receiver is
 * gone; MEDLEY_ERR_STALE: no open end of the caller's; MEDLEY_ERR_ARGUMENT: of packets. */
medley_status_t
med_scalar_send_slow(med_self *self, med_handle sender, uint64_t value, uint32_t width);
/* MEDLEY_ERR_PEER_DIED: the sender is gone, and all it sent is received; MEDLEY_ERR_ACCESS: the
 * next has another width, and stays; MEDLEY_ERR_CORRUPT; the others as above. */
medley_status_t
med_scalar_receive_slow(med_self *self, med_handle receiver, uint64_t *value, uint32_t width);

medley_status_t med_scalar_available(med_self *self, med_handle receiver, uint32_t *count);

/* Is it an end of scalars, the other side there? */
static inline bool
med_scalar_may_send(const med_lane_own *lane)
{
    return lane->producer.kind == MED_LANE_SCALARS &&
           !med_lane_is_gone(lane->producer.row, MED_LANE_CONSUMER);
}

static inline bool
med_scalar_may_receive(const med_lane_own *lane)
{
    return lane->consumer.kind == MED_LANE_SCALARS;
}

/* Room in the ring without a look at the receiver? */
static inline bool
med_scalar_fits(const med_lane_own *lane)
{
    const med_ring_producer *ring = &lane->producer.ring;
    return __builtin_expect(!med_ring_used_up(ring, med_ring_tail(ring)), 1);
}

/* Where there is room, in the slots of a ring that was checked to be of scalars. */
static inline void
med_scalar_put(med_lane_own *lane, uint64_t value, uint32_t width)
{
    med_ring_producer *ring = &lane->producer.ring;
    uint32_t tail = med_ring_tail(ring);
    uint32_t place = tail & ring->view.mask;
    ((uint64_t *)(void *)ring->view.slots)[place] = value;
    lane->producer.widths[place] = (uint8_t)width;
    med_ring_hand_over(ring, tail + 1);
    med_lane_count_one(lane->producer.row, MED_LANE_PRODUCER);
    med_lane_wake(&lane->producer.news);
}

/* One try. MEDLEY_FULL. */
static inline medley_status_t
med_scalar_send(med_lane_own *lane, uint64_t value, uint32_t width)
{
    med_ring_producer *ring = &lane->producer.ring;
    if (!med_scalar_fits(lane)) {
        medley_status_t status = med_ring_look_for_space(ring, med_ring_tail(ring));
        if (status != MEDLEY_OK) {
            return status == MEDLEY_FULL_CONSUMER_READING ? MEDLEY_FULL : status;
        }
    }
    med_scalar_put(lane, value, width);
    return MEDLEY_OK;
}

/* Is the next known to be there, and of that width? */
static inline bool
med_scalar_is_known(const med_lane_own *lane, uint32_t width)
{
    const med_ring_consumer *ring = &lane->consumer.ring;
    return __builtin_expect(ring->head != ring->filled, 1) &&
           __builtin_expect(lane->consumer.widths[ring->head & ring->view.mask] == width, 1);
}

/* The one that is known. */
static inline uint64_t
med_scalar_take(med_lane_own *lane)
{
    med_ring_consumer *ring = &lane->consumer.ring;
    const uint64_t *slots = (const uint64_t *)(const void *)ring->view.slots;
    uint64_t value = slots[ring->head & ring->view.mask];
    med_ring_pass(ring, 1);
    med_lane_count_one(lane->consumer.row, MED_LANE_CONSUMER);
    med_lane_wake(&lane->consumer.news);
    return value;
}

/* One try. MEDLEY_EMPTY; MEDLEY_ERR_ACCESS. */
static inline medley_status_t
med_scalar_receive(med_lane_own *lane, uint64_t *value, uint32_t width)
{
    med_ring_consumer *ring = &lane->consumer.ring;
    if (__builtin_expect(ring->head == ring->filled, 0)) {
        medley_status_t status = med_ring_look_for_data(ring, 1);
        if (status != MEDLEY_OK) {
            return status == MEDLEY_EMPTY_PRODUCER_INSERTING ? MEDLEY_EMPTY : status;
        }
        med_lane_note_use(lane->consumer.row, MED_LANE_CONSUMER, ring->filled - ring->head);
    }
    if (!med_scalar_is_known(lane, width)) {
        return MEDLEY_ERR_ACCESS;
    }
    *value = med_scalar_take(lane);
    return MEDLEY_OK;
}

/* ---- Many at once ---------------------------------------------------------------------------- */

/* Sends `count` of them, eight bytes each in memory and all of one width, as if each was sent
 * alone, but published by the dozen. `sent` is how many were: all, unless the status says why not.
 * */
medley_status_t med_scalar_send_many(med_self *self,
                                     med_handle sender,
                                     const void *values,
                                     uint32_t width,
                                     uint32_t count,
                                     uint32_t *sent);
/* Receives those of that width that are there, at most `count`; waits for the first only.
 * `received` is how many. */
medley_status_t med_scalar_receive_many(med_self *self,
                                        med_handle receiver,
                                        void *values,
                                        uint32_t width,
                                        uint32_t count,
                                        uint32_t *received);

#endif
