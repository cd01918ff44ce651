/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Scalars: eight bytes each, end to end in their channel's ring, and a byte beside for the width of
 * each, which is written only where another stood in the lap before: so its line stays with both.
 *
 * Both sides stop as the ring's do (ring_spsc.h, Stop): one scalar after another passes without a
 * look at how many there are, at who sleeps, or at what is to be dropped. Nor at the widths: where
 * the sender stops, it marks what is free up to its next stop as of the width it sends; and the
 * receiver finds out whether all up to its next stop has one width. Then the end's word `at_once`
 * is the handle with that width in place of its kind, and says of a call all there is to ask. What
 * is not so is found by the slow ways, which are whole by themselves.
 */
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

/* ---- One that is at hand --------------------------------------------------------------------- */

/* `at_once` of an end while scalars of that width pass without another look; else it is 0. */
static inline uint32_t
med_scalar_at_once(med_handle handle, med_handle_kind kind, uint32_t width)
{
    return handle + (width << 28) - ((uint32_t)kind << 28);
}

/* The lane of the caller's open end, if the next scalar passes so; else NULL. The node keeps the
 * end at which it stopped last: there a compare says that it is its own. */
static inline med_lane_own *
med_scalar_sender_at_once(const med_self *self, med_handle handle, uint32_t width)
{
    uint32_t sign = med_scalar_at_once(handle, MED_HANDLE_SENDER, width);
    if (__builtin_expect(self->recent_sender.at_once == sign, 1)) {
        med_lane_own *recent = self->recent_sender.lane;
        /* Relaxed: written by this very thread. */
        return atomic32_load_relaxed(&recent->producer.at_once) == sign ? recent : NULL;
    }
    uint32_t index = med_handle_index_of_kind(handle, MED_HANDLE_SENDER);
    if (__builtin_expect(index >= self->lane_end_count, 0)) {
        return NULL;
    }
    med_lane_own *lane = &self->lane_ends[index];
    /* Relaxed: written by this very thread, if both are so. */
    bool passes = atomic32_load_relaxed(&lane->producer.at_once) == sign &&
                  atomic32_load_relaxed(&lane->producer.owner) == self->ref;
    return __builtin_expect(passes, 1) ? lane : NULL;
}

static inline med_lane_own *
med_scalar_receiver_at_once(const med_self *self, med_handle handle, uint32_t width)
{
    uint32_t sign = med_scalar_at_once(handle, MED_HANDLE_RECEIVER, width);
    if (__builtin_expect(self->recent_receiver.at_once == sign, 1)) {
        med_lane_own *recent = self->recent_receiver.lane;
        /* Relaxed: as above. */
        return atomic32_load_relaxed(&recent->consumer.at_once) == sign ? recent : NULL;
    }
    uint32_t index = med_handle_index_of_kind(handle, MED_HANDLE_RECEIVER);
    if (__builtin_expect(index >= self->lane_end_count, 0)) {
        return NULL;
    }
    med_lane_own *lane = &self->lane_ends[index];
    bool passes = atomic32_load_relaxed(&lane->consumer.at_once) == sign && /* relaxed: as above */
                  atomic32_load_relaxed(&lane->consumer.owner) == self->ref;
    return __builtin_expect(passes, 1) ? lane : NULL;
}

/* Is there room, as far as is known? Where nobody calls, nobody stops. */
static inline bool
med_scalar_fits(const med_lane_own *lane)
{
    const med_ring_producer *ring = &lane->producer.ring;
    return __builtin_expect(med_port_has_threads() ? ring->open != NULL
                                                   : !med_ring_used_up(ring, med_ring_tail(ring)),
                            1);
}

/* What is sent next has that width. */
static inline void
med_scalar_mark(med_lane_own *lane, uint32_t width)
{
    const med_ring_producer *ring = &lane->producer.ring;
    uint8_t *at = lane->producer.widths + (med_ring_tail(ring) & ring->view.mask);
    if (__builtin_expect(*at != width, 0)) {
        *at = (uint8_t)width;
    }
}

/* Where there is room, and the width is marked. Whether there is then more to do: _sent. */
static inline bool
med_scalar_put(med_lane_own *lane, med_lane_row *row, uint64_t value)
{
    med_ring_producer *ring = &lane->producer.ring;
    const med_ring_producer_end *end = ring->end;
    uint32_t tail = med_ring_tail(ring);
    ((uint64_t *)(void *)ring->view.slots)[tail & ring->view.mask] = value;
    med_lane_note_index(row, MED_LANE_PRODUCER, tail + 1);
    med_ring_hand_over(ring, tail + 1);
    return med_port_has_threads() && med_ring_stops(&end->stop, tail + 1);
}

/* At a stop, which was one of that width. */
void med_scalar_sent(med_lane_own *lane, uint32_t width);

/* Is something known to be there? */
static inline bool
med_scalar_is_there(const med_lane_own *lane)
{
    const med_ring_consumer *ring = &lane->consumer.ring;
    return __builtin_expect(
        med_port_has_threads() ? ring->open != NULL : ring->head != ring->filled, 1);
}

/* Is the next of that width? */
static inline bool
med_scalar_is_of(const med_lane_own *lane, uint32_t width)
{
    const med_ring_consumer *ring = &lane->consumer.ring;
    return __builtin_expect(lane->consumer.widths[ring->head & ring->view.mask] == width, 1);
}

/* That one. Whether there is then more to do: _received. */
static inline bool
med_scalar_take(med_lane_own *lane, uint64_t *value)
{
    med_ring_consumer *ring = &lane->consumer.ring;
    const med_ring_consumer_end *end = ring->end;
    uint32_t head = ring->head;
    *value = ((const uint64_t *)(const void *)ring->view.slots)[head & ring->view.mask];
    med_lane_note_index(lane->consumer.row, MED_LANE_CONSUMER, head + 1);
    med_ring_hand_back(ring, head + 1);
    return med_port_has_threads() && med_ring_stops(&end->stop, head + 1);
}

/* At a stop. The value is given back, so that who calls this last keeps nothing. */
uint64_t med_scalar_received(med_lane_own *lane, uint64_t value);

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
