/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Packets: receiving (packet_send.c has the rest of the story). By a channel of states the same
 * calls look at its value (state.h).
 *
 * Death of the sender: what it published is received, then it is said that it is gone.
 */
#include "mcapi/buffer.h"
#include "mcapi/locked.h"
#include "mcapi/packet.h"
#include "mcapi/state.h"
#include "mcapi/told.h"
#include "mrapi/system.h"

enum {
    CHANNEL
};

/* ---- Receive --------------------------------------------------------------------------------- */

static medley_status_t
receive_once(med_self *self, med_lane_own *lane, void **address, size_t *bytes)
{
    med_record record = {.bytes = 0};
    med_pool_buffer buffer;
    if (__builtin_expect(lane->consumer.kind == MED_LANE_STATES, 0)) {
        return med_state_receive(self, lane, address, bytes);
    }
    /* Asked first: what it published before is found by the look that follows. */
    bool gone = med_lane_is_gone(lane->consumer.row, MED_LANE_PRODUCER);
    medley_status_t status = med_record_peek(lane, &record);
    if (__builtin_expect(status != MEDLEY_OK, 0)) {
        bool empty = status == MEDLEY_EMPTY || status == MEDLEY_EMPTY_PRODUCER_INSERTING;
        return empty ? (gone ? MEDLEY_ERR_PEER_DIED : MEDLEY_EMPTY) : status;
    }
    med_buffer_prefetch_next(&self->exchange->exchange->pool, &lane->consumer.ring, &record);
    status = med_buffer_receive(self, lane, &record, &buffer);
    med_record_release(lane, record.granules, record.leads_on);
    if (__builtin_expect(status != MEDLEY_OK, 0)) {
        return status;
    }
    *address = med_pool_address(&self->exchange->exchange->pool, buffer);
    *bytes = record.bytes;
    med_lane_count(lane->consumer.row, MED_LANE_CONSUMER, record.bytes);
    med_told_received(self, lane, med_told_count(self, lane->consumer.row, MED_LANE_CONSUMER),
                      record.bytes);
    return MEDLEY_OK;
}

static medley_status_t
receive_again(med_self *self, med_pending *pending)
{
    med_lane_own *lane = med_channel_receiver(self, pending->numbers[CHANNEL]);
    size_t bytes = 0;
    medley_status_t status =
        lane ? receive_once(self, lane, pending->buffer, &bytes) : MEDLEY_ERR_STALE;
    pending->outcome.size_bytes = bytes;
    if (status == MEDLEY_EMPTY && med_pending_is_to_count(pending)) {
        med_lane_count_wait(lane->consumer.row, MED_LANE_CONSUMER);
    }
    return status == MEDLEY_EMPTY ? MEDLEY_BUSY : status;
}

/* Of a request, whose outcome says whose end is gone: for a receiver, the other is deleted. */
static medley_status_t
receive_asked(med_self *self, med_pending *pending)
{
    medley_status_t status = receive_again(self, pending);
    return status == MEDLEY_ERR_PEER_DIED ? MEDLEY_ERR_STALE : status;
}

static void
look_at_sender(med_pending *pending)
{
    const med_lane_own *lane = med_channel_receiver(pending->self, pending->numbers[CHANNEL]);
    if (lane) {
        med_lane_look_at(pending->self->system, lane->consumer.row, MED_LANE_PRODUCER);
    }
}

static inline medley_status_t
receive_begin(const med_self *self, med_handle channel, med_lane_own **lane, med_endpoint_own **own)
{
    *lane = med_channel_receiver(self, channel);
    if (__builtin_expect(!*lane, 0)) {
        return MEDLEY_ERR_STALE;
    }
    *own = (*lane)->consumer.endpoint;
    bool packets = med_lane_calls((*lane)->consumer.kind) == MED_LANE_PACKETS;
    return __builtin_expect(packets, 1) ? MEDLEY_OK : MEDLEY_ERR_ARGUMENT;
}

/* As the senders': a function of its own. */
static __attribute__((noinline)) medley_status_t
receive_by_queue(
    med_self *self, med_endpoint_own *own, med_handle channel, void **buffer, size_t *bytes)
{
    med_pending pending = {.attempt = receive_again,
                           .look = look_at_sender,
                           .own = own,
                           .buffer = (void *)buffer,
                           .numbers = {[CHANNEL] = channel},
                           .counts = true};
    medley_status_t status =
        med_pending_wait(self, &own->receives, &pending, med_endpoint_deadline_ns(own));
    *bytes = pending.outcome.size_bytes;
    return status;
}

medley_status_t
med_packet_receive_wait(med_self *self, med_handle channel, void **buffer, size_t *bytes)
{
    med_lane_own *lane;
    med_endpoint_own *own = NULL;
    medley_status_t status = receive_begin(self, channel, &lane, &own);
    if (__builtin_expect(status != MEDLEY_OK, 0)) {
        return status;
    }
    if (med_may_try_at_once(&own->receives)) {
        MED_LOCKED(self, MED_RWL_WRITE, status, receive_once(self, lane, buffer, bytes));
        if (__builtin_expect(status != MEDLEY_EMPTY, 1)) {
            return status;
        }
    }
    return receive_by_queue(self, own, channel, buffer, bytes);
}

medley_status_t
med_packet_receive_request(med_self *self,
                           med_handle channel,
                           void **buffer,
                           med_request_handle *request)
{
    med_lane_own *lane;
    med_endpoint_own *own = NULL;
    medley_status_t status = receive_begin(self, channel, &lane, &own);
    const med_pending pending = {.attempt = receive_asked,
                                 .look = look_at_sender,
                                 .own = own,
                                 .buffer = (void *)buffer,
                                 .numbers = {[CHANNEL] = channel}};
    return status == MEDLEY_OK ? med_pending_begin(self, &own->receives, &pending, request)
                               : status;
}

medley_status_t
med_packet_available(med_self *self, med_handle channel, uint32_t *count)
{
    med_lane_own *lane;
    med_endpoint_own *own = NULL;
    medley_status_t status = receive_begin(self, channel, &lane, &own);
    if (status != MEDLEY_OK) {
        return status;
    }
    /* Asked first, as who receives does. */
    bool gone = med_lane_is_gone(lane->consumer.row, MED_LANE_PRODUCER);
    bool states = lane->consumer.kind == MED_LANE_STATES;
    *count = states ? med_state_available(lane) : med_record_count(lane);
    return *count ? MEDLEY_OK : med_lane_none_available(self, lane, gone);
}

/* ---- Give back ------------------------------------------------------------------------------- */

medley_status_t
med_packet_release(med_self *self, const void *address)
{
    med_pool_buffer buffer = med_buffer_at(&self->exchange->exchange->pool, address);
    return med_buffer_is_none(buffer) ? MEDLEY_ERR_ARGUMENT
                                      : med_exchange_buffer_give(self, buffer);
}
