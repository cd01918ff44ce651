/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Messages: sending. One thread sends from an endpoint, one receives at it; between the two lie
 * lanes, and record.h and ring_spsc.h say why one message gets across.
 *
 *             linearises at                            progress
 *   send      the store of its header (H1) or of the   wait-free, but for a kernel wake, the first
 *             ring's tail (R1): record.h               message of a lane, and the pool
 *
 * Whose a buffer is, step by step, says docs/design/mcapi.md.
 *
 * Death of the receiver: its side of the lane is gone, and the sender leaves the lane too. Who
 * waits looks at the receiver's life after each slice.
 */
#include "mcapi/buffer.h"
#include "mcapi/message.h"
#include "mcapi/message_at_once.h"
#include "mcapi/told.h"
#include "mrapi/system.h"

/* ---- Lanes to send by ------------------------------------------------------------------------ */

/* The receiver is gone: so is the lane, for this side. */
static medley_status_t
lane_drop(med_self *self, med_lane_own *lane)
{
    (void)med_lane_end_leave(self, lane, MED_LANE_PRODUCER);
    return MEDLEY_ERR_PEER_DIED;
}

/* Does the caller send by that life of it already? */
static bool
is_attached(const med_self *self, const med_lane_own *lane, uint32_t generation)
{
    /* Relaxed: own, if it is so; then the rest is, too. */
    return atomic32_load_relaxed(&lane->producer.owner) == self->ref &&
           lane->producer.life == generation + 1;
}

/* Which messages may go at once; under locks, none. */
static void
at_once_arrange(const med_self *self, med_lane_own *lane)
{
    if (med_port_is_small()) {
        return; /* none does */
    }
    uint32_t plain = med_record_plain_max(&lane->producer.ring.view);
    uint32_t most = self->system->limits.buffer_bytes; /* no endpoint takes longer ones */
    lane->producer.receiver = med_endpoint_at(self->system, med_handle_index(lane->producer.to));
    bool may = med_exchange_may_at_once(self);
    lane->producer.at_once_end = may ? 1 + (plain < most ? plain : most) : 0;
    lane->producer.at_once_until = med_ring_tail(&lane->producer.ring);
}

/* A lane that cannot be used is left, so that there is another once the receiver has left it. */
static medley_status_t
lane_take_up(med_self *self, const med_lane_end *end, med_lane_own **lane)
{
    medley_status_t status = med_lane_producer_attach(self, end, lane);
    if (status == MEDLEY_OK) {
        at_once_arrange(self, *lane);
    } else if (status == MEDLEY_ERR_CORRUPT) {
        (void)med_lane_leave(self->system, end->index, end->generation, MED_LANE_PRODUCER);
    }
    return status == MEDLEY_OK ? status : MEDLEY_ERR_PEER_DIED;
}

/* Of one who is not there: whether he died. */
static medley_status_t
why_not_there(const med_self *self, const med_message *message, medley_status_t status)
{
    bool asks = med_port_has_processes() && status == MEDLEY_ERR_STALE;
    return asks ? med_endpoint_why_gone(self->system, message->to) : status;
}

/* The first message that way, or the first for long. */
static medley_status_t
lane_find(med_self *self, med_endpoint_own *own, const med_message *message, med_lane_own **lane)
{
    const med_lane_request request = {.from = message->from,
                                      .to = message->to,
                                      .priority = message->priority,
                                      .kind = MED_LANE_MESSAGES};
    med_lane_end end = {.kind = MED_LANE_MESSAGES,
                        .endpoint = own,
                        .from = message->from,
                        .to = message->to,
                        .priority = message->priority};
    medley_status_t status = med_lane_make(self, &request, &end.index, &end.generation);
    *lane = &self->exchange->exchange->lane_ends[end.index];
    if (status == MEDLEY_OK && !is_attached(self, *lane, end.generation)) {
        (void)med_lanes_give_up(self);
        status = lane_take_up(self, &end, lane);
    }
    return status == MEDLEY_ERR_LIMIT ? MEDLEY_ERR_NO_MEMORY : why_not_there(self, message, status);
}

static inline medley_status_t
lane_of(med_self *self, med_endpoint_own *own, const med_message *message, med_lane_own **lane)
{
    *lane = med_message_lane(self, message->from, message->to, message->priority);
    return *lane ? MEDLEY_OK : lane_find(self, own, message, lane);
}

/* ---- Send ------------------------------------------------------------------------------------ */

static medley_status_t
size_check(const med_self *self, const med_message *message)
{
    med_endpoint_row *row;
    medley_status_t status = med_endpoint_of(self->system, message->to, &row);
    if (status != MEDLEY_OK) {
        return why_not_there(self, message, status);
    }
    uint32_t most = med_endpoint_setting_get(self->system, row, MED_ENDPOINT_MAX_PAYLOAD);
    if (med_endpoint_is_connected(self->system, row, message->to)) {
        return MEDLEY_BUSY;
    }
    return message->bytes <= most ? MEDLEY_OK : MEDLEY_ERR_NOT_SUPPORTED;
}

static void
sent_tell(const med_self *self, const med_lane_own *lane, uint32_t bytes)
{
    med_told_sent(self, lane, med_told_count(self, lane->producer.row, MED_LANE_PRODUCER), bytes);
}

static medley_status_t
send_plain(med_self *self, med_lane_own *lane, const med_message *message)
{
    med_ring_producer *ring = &lane->producer.ring;
    unsigned char *at_tail; /* where it is filled */
    uint32_t granules = med_record_granules(message->bytes);
    medley_status_t status = med_record_reserve(ring, granules, &at_tail);
    if (__builtin_expect(status == MEDLEY_OK, 1)) {
        uint32_t next = med_message_fill(lane, message->payload, message->bytes);
        med_record_publish(lane, next);
        sent_tell(self, lane, message->bytes);
        if (!med_port_is_small()) {
            lane->producer.at_once_until = med_watch_until(lane, ring->limit);
        }
    }
    return status;
}

static medley_status_t
send_buffer(med_self *self, med_lane_own *lane, const med_message *message)
{
    medley_status_t status = med_buffer_send_copy(self, lane, message->payload, message->bytes);
    if (status == MEDLEY_OK) {
        med_lane_count(lane->producer.row, MED_LANE_PRODUCER, message->bytes);
        sent_tell(self, lane, message->bytes);
    }
    return status;
}

static inline medley_status_t
send_by(med_self *self, med_lane_own *lane, const med_message *message)
{
    bool plain = message->bytes <= med_record_plain_max(&lane->producer.ring.view);
    uint32_t granules = med_record_granules(plain ? message->bytes : sizeof(med_pool_buffer));
    if (med_watch_finds_gone(self, lane, granules) ||
        __builtin_expect(med_lane_is_gone(lane->producer.row, MED_LANE_CONSUMER), 0)) {
        return lane_drop(self, lane);
    }
    medley_status_t status =
        plain ? send_plain(self, lane, message) : send_buffer(self, lane, message);
    return status == MEDLEY_FULL_CONSUMER_READING ? MEDLEY_FULL : status;
}

static inline medley_status_t
send_begin(med_self *self, const med_message *message, med_endpoint_own **own, med_lane_own **lane)
{
    medley_status_t status = med_endpoint_for_messages(self, message->from, own);
    if (__builtin_expect(status == MEDLEY_OK, 1)) {
        status = size_check(self, message);
    }
    return __builtin_expect(status == MEDLEY_OK, 1) ? lane_of(self, *own, message, lane) : status;
}

/* ---- Send that goes on later ----------------------------------------------------------------- */

enum {
    TO,
    PRIORITY
};

static medley_status_t
send_again(med_self *self, med_pending *pending)
{
    /* Relaxed: own. */
    const med_message message = {.from = atomic32_load_relaxed(&pending->own->handle),
                                 .to = pending->numbers[TO],
                                 .payload = pending->buffer,
                                 .bytes = (uint32_t)pending->size,
                                 .priority = pending->numbers[PRIORITY]};
    med_lane_own *lane;
    medley_status_t status = lane_of(self, pending->own, &message, &lane);
    bool found = status == MEDLEY_OK;
    if (found) {
        status = send_by(self, lane, &message);
    }
    pending->outcome.size_bytes = pending->size;
    if (!med_lacks_room(status)) {
        /* The own endpoint is there, so it is the receiver's that is not. */
        return status == MEDLEY_ERR_STALE ? MEDLEY_ERR_PEER_DIED : status;
    }
    if (!found) {
        return med_endpoint_may_wait(pending->own) ? MEDLEY_BUSY : status;
    }
    status = med_lane_busy_or(self, lane, status);
    if (status == MEDLEY_BUSY && med_pending_is_to_count(pending)) {
        med_lane_count_wait(lane->producer.row, MED_LANE_PRODUCER);
    }
    return status;
}

/* Recovers a receiver that died, so that its lane says that it is gone. */
static void
look_at_receiver(med_pending *pending)
{
    med_system *system = pending->self->system;
    med_endpoint_row *row;
    /* Also of one that is closing: who recovered it may have died at it. */
    if (med_port_has_processes() &&
        med_endpoint_of(system, pending->numbers[TO], &row) == MEDLEY_OK) {
        /* Relaxed: constant while LIVE. */
        (void)med_node_look(system, atomic32_load_relaxed(&row->row.key_high));
    }
}

static med_pending
pending_of(med_endpoint_own *own, const med_message *message)
{
    return (med_pending){.attempt = send_again,
                         .look = look_at_receiver,
                         .own = own,
                         .buffer = (void *)(uintptr_t)message->payload,
                         .size = message->bytes,
                         .numbers = {[TO] = message->to, [PRIORITY] = message->priority}};
}

medley_status_t
med_message_send_wait(med_self *self, const med_message *message)
{
    med_endpoint_own *own;
    med_lane_own *lane;
    medley_status_t status = send_begin(self, message, &own, &lane);
    if (__builtin_expect(status != MEDLEY_OK, 0)) {
        return status;
    }
    if (med_may_try_at_once(&own->sends)) {
        MED_LOCKED(self, MED_RWL_WRITE, status, send_by(self, lane, message));
        status = med_lane_busy_or(self, lane, status);
        if (__builtin_expect(status != MEDLEY_BUSY, 1)) {
            return status;
        }
    }
    med_pending pending = pending_of(own, message);
    pending.counts = true;
    return med_pending_wait(self, &own->sends, &pending, med_endpoint_deadline_ns(own));
}

medley_status_t
med_message_send_request(med_self *self, const med_message *message, med_request_handle *request)
{
    med_endpoint_own *own;
    med_lane_own *lane;
    medley_status_t status = send_begin(self, message, &own, &lane);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_pending pending = pending_of(own, message);
    return med_pending_begin(self, &own->sends, &pending, request);
}

/* ---- Many at once ---------------------------------------------------------------------------- */

/* As many plain ones as there is room for side by side, published by one store. */
static uint32_t
send_run(med_lane_own *lane,
         const med_message *message,
         const unsigned char *payload,
         uint32_t most)
{
    med_ring_producer *ring = &lane->producer.ring;
    const uint32_t granules = med_record_granules(message->bytes);
    uint32_t many = most < MED_MESSAGE_RUN_MAX ? most : MED_MESSAGE_RUN_MAX;
    uint32_t room;
    void *at;
    if (med_ring_reserve_many_as(ring, MED_RING_PACKED, granules * many, &at, &room) != MEDLEY_OK) {
        return 0;
    }
    many = room / granules;
    uint32_t next = med_ring_tail(ring) + granules * many;
    uint32_t leads_on = many ? med_record_lead_on(ring, next) : 0;
    unsigned char *slot = at;
    for (uint32_t i = 0; i < many; i++, slot += (size_t)granules * MED_LANE_GRANULE_BYTES) {
        uint32_t kind = i + 1 < many ? MED_RECORD_PLAIN : MED_RECORD_PLAIN | leads_on;
        med_ring_copy(slot + sizeof(med_record_header), payload + (size_t)i * message->bytes,
                      message->bytes);
        med_record_header_set(slot, kind, message->bytes);
    }
    if (many) {
        med_record_publish(lane, next);
        med_lane_count_many(lane->producer.row, MED_LANE_PRODUCER, many,
                            (uint64_t)many * message->bytes);
    }
    return many;
}

/* Some of them; none, when that takes waiting, a buffer, or a lock, or the ring's end is near. */
static medley_status_t
send_some(med_self *self, const med_message *message, uint32_t most, uint32_t *sent)
{
    med_endpoint_own *own;
    med_lane_own *lane;
    *sent = 0;
    medley_status_t status = send_begin(self, message, &own, &lane);
    if (status == MEDLEY_OK && !own->sends.first && med_exchange_may_at_once(self) &&
        message->bytes <= med_record_plain_max(&lane->producer.ring.view) &&
        !med_watch_is_due(lane) && !med_lane_is_gone(lane->producer.row, MED_LANE_CONSUMER)) {
        *sent = send_run(lane, message, message->payload, most);
    }
    return status;
}

medley_status_t
med_message_send_many(med_self *self, const med_message *message, uint32_t count, uint32_t *sent)
{
    med_message next = *message;
    medley_status_t status = MEDLEY_OK;
    for (*sent = 0; status == MEDLEY_OK && *sent < count;) {
        uint32_t some;
        status = send_some(self, &next, count - *sent, &some);
        if (status == MEDLEY_OK && some == 0) {
            status = med_message_send_wait(self, &next);
            some = status == MEDLEY_OK;
        }
        *sent += some;
        if (next.payload) {
            next.payload = (const unsigned char *)next.payload + (size_t)some * next.bytes;
        }
    }
    return status;
}
