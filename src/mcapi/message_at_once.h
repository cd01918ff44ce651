/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Messages when all is as usual: the lane is known, there is room, or a message, and the payload
 * goes plainly. Whatever else there is, an error too, the ways of message.h find, which begin
 * anew: what is here changes nothing unless it succeeds. Why it is right say message_send.c and
 * message_receive.c, which find lanes, fill places and take turns as here.
 */
#ifndef MEDLEY_MCAPI_MESSAGE_AT_ONCE_H
#define MEDLEY_MCAPI_MESSAGE_AT_ONCE_H

#include <stdbool.h>
#include <stdint.h>

#include "mcapi/endpoint.h"
#include "mcapi/locked.h"
#include "mcapi/record.h"
#include "mcapi/sends.h"

/* From one lane, before the next of the same priority. */
#define MED_MESSAGE_RUN_MAX 32u

/* Is it perhaps an end of a channel, where no message goes? */
static inline bool
med_message_is_barred(const med_endpoint_row *row)
{
    /* Relaxed: as in med_endpoint_is_connected. */
    return __builtin_expect(atomic32_load_relaxed(&row->channel) != 0, 0);
}

/* The lane by which the caller sends that way already, or NULL. */
static inline med_lane_own *
med_message_lane(const med_self *self, med_handle from, med_handle to, uint32_t priority)
{
    const med_sends *sends = &self->exchange->sends;
    med_lane_own *at = sends->heads[med_sends_place(sends, from, to, priority)];
    while (at && !(at->producer.to == to && at->producer.from == from &&
                   at->producer.priority == priority)) {
        at = at->producer.next;
    }
    return at;
}

/* Room in the ring without a look at the receiver, his life either, and without a skip? */
static inline bool
med_message_fits(const med_lane_own *lane, uint32_t granules)
{
    const med_ring_producer *ring = &lane->producer.ring;
    uint32_t tail = med_ring_tail(ring);
    return (int32_t)(lane->producer.at_once_until - tail) >= (int32_t)granules &&
           (tail & ring->view.mask) + granules <= ring->view.mask + 1;
}

/* The lane by which it may go at once, or NULL. */
static inline med_lane_own *
med_message_lane_at_once(const med_self *self,
                         med_handle from,
                         med_handle to,
                         const void *payload,
                         size_t size,
                         uint32_t priority)
{
    med_lane_own *lane = med_message_lane(self, from, to, priority);
    if (__builtin_expect(!lane || !payload || size >= lane->producer.at_once_end, 0)) {
        return NULL;
    }
    const med_endpoint_own *own = lane->producer.endpoint;
    const med_endpoint_row *receiver = lane->producer.receiver;
    uint32_t bytes = (uint32_t)size;
    /* Relaxed: as the slow way reads it, which says no as well if it is less. */
    uint32_t most = atomic32_load_relaxed(&receiver->settings[MED_ENDPOINT_MAX_PAYLOAD]);
    if (__builtin_expect(own->sends.first || bytes > most, 0) || med_message_is_barred(own->row) ||
        med_message_is_barred(receiver) || !med_message_fits(lane, med_record_granules(bytes)) ||
        __builtin_expect(med_lane_is_gone(lane->producer.row, MED_LANE_CONSUMER), 0)) {
        return NULL;
    }
    return lane;
}

/* Fills the place at the ring's tail, which was found free or reserved, and counts it. Where the
 * next will begin. */
static inline uint32_t
med_message_fill(med_lane_own *lane, const void *payload, uint32_t bytes)
{
    med_ring_producer *ring = &lane->producer.ring;
    uint32_t tail = med_ring_tail(ring);
    uint32_t next = tail + med_record_granules(bytes);
    unsigned char *slot = med_record_at(&ring->view, tail);
    uint32_t leads_on = med_record_lead_on(ring, next);
    med_ring_copy(slot + sizeof(med_record_header), payload, bytes);
    med_record_header_set(slot, MED_RECORD_PLAIN | leads_on, bytes);
    med_lane_count(lane->producer.row, MED_LANE_PRODUCER, bytes);
    return next;
}

/* One was taken from that lane: where it goes on next time. */
static inline void
med_message_go_on(med_endpoint_own *own, uint32_t priority, med_lane_own *lane)
{
    bool same = own->from[priority] == lane;
    own->run = same && own->run ? own->run - 1 : MED_MESSAGE_RUN_MAX;
    own->from[priority] = own->run ? lane : lane->consumer.next;
}

/* The most urgent priority at which it ever received from somebody who is there; else the last. */
static inline uint32_t
med_message_most_urgent(const med_endpoint_own *own)
{
    uint32_t priority = 0;
    while (!own->from[priority] && priority < MED_LANE_PRIORITIES - 1) {
        priority++;
    }
    return priority;
}

/* Where the caller goes on to receive at that endpoint: the lane and its priority. NULL: there is
 * none, or what is due there is not only to receive. */
static inline med_lane_own *
med_message_lane_to_receive(const med_self *self, med_handle at, uint32_t *priority)
{
    const med_endpoint_own *own = med_endpoint_mine(self, at);
    /* Relaxed: the slow way acquires it. */
    if (__builtin_expect(!own || own->receives.first, 0) || med_message_is_barred(own->row) ||
        __builtin_expect(atomic32_load_relaxed(&own->row->lanes_made) != own->lanes_seen, 0) ||
        !med_exchange_may_at_once(self)) {
        return NULL;
    }
    *priority = med_message_most_urgent(own);
    return own->from[*priority];
}

/* The lane's next message, if it is known to be there without a look at the tail, goes plainly, and
 * can be received without a call: no longer than `size`.
 *
 * Who received one just now has the patience to look more than once: whoever asks again and again
 * for an answer has it sooner than by a new call. That what he looks for in vain is not what he
 * waits for, he learns soon. */
static inline bool
med_message_find_at_once(med_lane_own *lane, size_t size, med_record *record)
{
    const med_ring_consumer *ring = &lane->consumer.ring;
    uint32_t known = ring->filled - ring->head;
    if (__builtin_expect(known == 0, 0)) {
        if (!med_record_goes_by_header(lane, lane->consumer.leads_on)) {
            return false;
        }
        known = ring->view.mask + 1;
    }
    uint32_t run = med_ring_run(&ring->view, ring->head, known);
    uint32_t looks = lane->consumer.patience;
    while (med_record_read(lane, ring->head, run, record) != MEDLEY_OK) {
        if (looks-- == 0) {
            lane->consumer.patience /= 2;
            return false;
        }
        med_port_cpu_relax();
    }
    return record->kind == MED_RECORD_PLAIN && record->bytes <= size &&
           record->bytes <= MED_RING_COPY_BY_WORD_MAX && !med_ring_drops(ring, record->granules);
}

/* It was received. */
static inline void
med_message_done_at_once(med_lane_own *lane, uint32_t priority, const med_record *record)
{
    med_ring_consumer *ring = &lane->consumer.ring;
    if (ring->filled == ring->head) {
        med_record_found_by_header(lane, ring->head + record->granules);
    }
    med_ring_hand_back(ring, ring->head + record->granules);
    lane->consumer.leads_on = record->leads_on;
    lane->consumer.patience = MED_LANE_PATIENCE;
    if (lane->consumer.next != lane) {
        med_message_go_on(lane->consumer.endpoint, priority, lane);
    }
    med_lane_count(lane->consumer.row, MED_LANE_CONSUMER, record->bytes);
}

#endif
