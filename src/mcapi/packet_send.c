/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Packets: sending. One thread sends, one receives; buffer.h says whose a buffer is, record.h how
 * its name gets across. By a channel of states the same calls send a value (state.h). What is asked
 * for goes through the endpoint's queue (pending.h), so that what waits is not overtaken.
 *
 * Death. As messages (message_send.c). What the receiver had comes back with its recovery, what was
 * under way when the lane ends.
 */
#include "mcapi/buffer.h"
#include "mcapi/locked.h"
#include "mcapi/packet.h"
#include "mcapi/state.h"
#include "mcapi/told.h"
#include "mrapi/system.h"

/* ---- Send ------------------------------------------------------------------------------------ */

enum {
    CHANNEL
};

/* One try, by a lane of the caller's: what lies there goes, or a buffer is had for it. */
typedef medley_status_t send_try(med_self *self, med_lane_own *lane, void *buffer, size_t bytes);

/* How a call of senders is done: at once, and when it comes from its queue. */
typedef struct send_way {
    send_try *once;
    med_pending_try *again;
    bool alone; /* it goes by no queue of the endpoint's, since it wants no room */
} send_way;

static inline medley_status_t
again(med_self *self, med_pending *pending, send_try *once)
{
    med_lane_own *lane = med_channel_sender(self, pending->numbers[CHANNEL]);
    if (!lane) {
        return MEDLEY_ERR_STALE;
    }
    pending->outcome.size_bytes = pending->size;
    medley_status_t status =
        med_lane_busy_or(self, lane, once(self, lane, pending->buffer, pending->size));
    if (status == MEDLEY_BUSY && med_pending_is_to_count(pending)) {
        med_lane_count_wait(lane->producer.row, MED_LANE_PRODUCER);
    }
    return status;
}

static void
look_at_receiver(med_pending *pending)
{
    const med_lane_own *lane = med_channel_sender(pending->self, pending->numbers[CHANNEL]);
    if (lane) {
        med_lane_look_at(pending->self->system, lane->producer.row, MED_LANE_CONSUMER);
    }
}

static inline med_pending
pending_of(
    const send_way *way, med_endpoint_own *own, med_handle channel, void *buffer, size_t bytes)
{
    return (med_pending){.attempt = way->again,
                         .look = look_at_receiver,
                         .own = own,
                         .buffer = buffer,
                         .size = bytes,
                         .numbers = {[CHANNEL] = channel}};
}

/* The lane of a channel to send by, and its endpoint. */
static inline medley_status_t
send_begin(const med_self *self,
           med_handle channel,
           size_t bytes,
           med_lane_own **lane,
           med_endpoint_own **own)
{
    *lane = med_channel_sender(self, channel);
    if (__builtin_expect(!*lane, 0)) {
        return MEDLEY_ERR_STALE;
    }
    if (__builtin_expect(med_lane_calls((*lane)->producer.kind) != MED_LANE_PACKETS, 0)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    *own = (*lane)->producer.endpoint;
    return __builtin_expect(bytes <= (*lane)->producer.payload_max, 1) ? MEDLEY_OK
                                                                       : MEDLEY_ERR_NOT_SUPPORTED;
}

/* A function of its own: what it builds, those that go at once need not. */
static __attribute__((noinline)) medley_status_t
send_by_queue(med_self *self,
              const send_way *way,
              med_endpoint_own *own,
              med_handle channel,
              void *buffer,
              size_t bytes)
{
    med_pending_queue alone = {.first = NULL};
    med_pending pending = pending_of(way, own, channel, buffer, bytes);
    pending.counts = true;
    return med_pending_wait(self, way->alone ? &alone : &own->sends, &pending,
                            med_endpoint_deadline_ns(own));
}

static inline medley_status_t
send_wait(med_self *self, const send_way *way, med_handle channel, void *buffer, size_t bytes)
{
    static const med_pending_queue none;
    med_lane_own *lane;
    med_endpoint_own *own = NULL;
    medley_status_t status = send_begin(self, channel, way->alone ? 0 : bytes, &lane, &own);
    if (__builtin_expect(status != MEDLEY_OK, 0)) {
        return status;
    }
    if (med_may_try_at_once(way->alone ? &none : &own->sends)) {
        MED_LOCKED(self, MED_RWL_WRITE, status, way->once(self, lane, buffer, bytes));
        status = med_lane_busy_or(self, lane, status);
        if (__builtin_expect(status != MEDLEY_BUSY, 1)) {
            return status;
        }
    }
    return send_by_queue(self, way, own, channel, buffer, bytes);
}

static inline void
sent_tell(const med_self *self, const med_lane_own *lane, size_t bytes)
{
    if (!med_traced_is_on(self->system)) {
        return;
    }
    bool is_state = lane->producer.kind == MED_LANE_STATES;
    med_told_sent(self, lane,
                  is_state ? med_state_cell_newest(&lane->producer.cell)
                           : med_told_count(self, lane->producer.row, MED_LANE_PRODUCER),
                  bytes);
}

/* ---- Send a copy ----------------------------------------------------------------------------- */

static inline medley_status_t
copy_once(med_self *self, med_lane_own *lane, void *payload, size_t bytes)
{
    if (__builtin_expect(med_lane_is_gone(lane->producer.row, MED_LANE_CONSUMER), 0)) {
        return MEDLEY_ERR_PEER_DIED;
    }
    medley_status_t status = __builtin_expect(lane->producer.kind == MED_LANE_STATES, 0)
                                 ? med_state_send(self, lane, payload, (uint32_t)bytes)
                                 : med_buffer_send_copy(self, lane, payload, (uint32_t)bytes);
    if (__builtin_expect(status == MEDLEY_OK, 1)) {
        med_lane_count(lane->producer.row, MED_LANE_PRODUCER, bytes);
        sent_tell(self, lane, bytes);
    }
    return status;
}

static medley_status_t
copy_again(med_self *self, med_pending *pending)
{
    return again(self, pending, copy_once);
}

static const send_way copied = {.once = copy_once, .again = copy_again};

medley_status_t
med_packet_send_try(med_self *self, med_lane_own *lane, const void *payload, size_t bytes)
{
    return copy_once(self, lane, (void *)(uintptr_t)payload, bytes);
}

medley_status_t
med_packet_send_wait(med_self *self, med_handle channel, const void *payload, size_t bytes)
{
    return send_wait(self, &copied, channel, (void *)(uintptr_t)payload, bytes);
}

medley_status_t
med_packet_send_request(med_self *self,
                        med_handle channel,
                        const void *payload,
                        size_t bytes,
                        med_request_handle *request)
{
    med_lane_own *lane;
    med_endpoint_own *own = NULL;
    medley_status_t status = send_begin(self, channel, bytes, &lane, &own);
    const med_pending pending =
        pending_of(&copied, own, channel, (void *)(uintptr_t)payload, bytes);
    return status == MEDLEY_OK ? med_pending_begin(self, &own->sends, &pending, request) : status;
}

/* ---- Send in place --------------------------------------------------------------------------- */

static inline medley_status_t
take_once(med_self *self, med_lane_own *lane, void *address, size_t bytes)
{
    (void)bytes;
    med_pool_buffer buffer;
    medley_status_t status = med_exchange_buffer_take(self, &buffer);
    if (__builtin_expect(status == MEDLEY_OK, 1)) {
        *(void **)address = med_pool_address(&self->exchange->exchange->pool, buffer);
        return MEDLEY_OK;
    }
    return med_lane_is_gone(lane->producer.row, MED_LANE_CONSUMER) ? MEDLEY_ERR_PEER_DIED : status;
}

static medley_status_t
take_again(med_self *self, med_pending *pending)
{
    return again(self, pending, take_once);
}

static const send_way taken = {.once = take_once, .again = take_again, .alone = true};

medley_status_t
med_packet_buffer_take(med_self *self, med_handle channel, void **address)
{
    return send_wait(self, &taken, channel, (void *)address, 0);
}

/* A value is copied, and its buffer given back. A function of its own, so that the next is small
 * enough to be inlined. */
static __attribute__((noinline)) medley_status_t
place_as_state(med_self *self, med_lane_own *lane, void *address, size_t bytes)
{
    const med_pool *pool = &self->exchange->exchange->pool;
    med_pool_buffer buffer = med_buffer_at(pool, address);
    if (!med_pool_is_owners(pool, buffer, self->ref)) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    medley_status_t status = copy_once(self, lane, address, bytes);
    return status == MEDLEY_OK ? med_exchange_buffer_give(self, buffer) : status;
}

/* Where the node notes what it sends in place, from the first time on. Who can have no memory for
 * it waits for some as for a buffer. */
static __attribute__((noinline)) medley_status_t
notes_make(const med_self *self)
{
    void *sent;
    medley_status_t status = med_port_memory_map(med_exchange_sent_bytes(self->system), &sent);
    if (status == MEDLEY_OK) {
        self->exchange->sent = sent;
    }
    return status;
}

static inline medley_status_t
place_once(med_self *self, med_lane_own *lane, void *address, size_t bytes)
{
    if (__builtin_expect(lane->producer.kind == MED_LANE_STATES, 0)) {
        return place_as_state(self, lane, address, bytes);
    }
    if (__builtin_expect(med_lane_is_gone(lane->producer.row, MED_LANE_CONSUMER), 0)) {
        return MEDLEY_ERR_PEER_DIED;
    }
    if (__builtin_expect(!self->exchange->sent, 0) && notes_make(self) != MEDLEY_OK) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    med_pool_buffer buffer = med_buffer_at(&self->exchange->exchange->pool, address);
    medley_status_t status = med_buffer_send(self, lane, buffer, (uint32_t)bytes);
    if (__builtin_expect(status == MEDLEY_OK, 1)) {
        self->exchange->sent[buffer.place & 0xffffu] = buffer.generation;
        med_lane_count(lane->producer.row, MED_LANE_PRODUCER, bytes);
        sent_tell(self, lane, bytes);
    }
    return status;
}

static medley_status_t
place_again(med_self *self, med_pending *pending)
{
    return again(self, pending, place_once);
}

static const send_way placed = {.once = place_once, .again = place_again};

medley_status_t
med_packet_send_place(med_self *self, med_handle channel, void *buffer, size_t bytes)
{
    return send_wait(self, &placed, channel, buffer, bytes);
}

bool
med_packet_is_released(const med_self *self, const void *address)
{
    med_pool_buffer buffer = med_buffer_at(&self->exchange->exchange->pool, address);
    if (med_buffer_is_none(buffer)) {
        return true;
    }
    /* One that was given back is in no use, or in a later one. Whose it is does not tell: the
     * caller may be its receiver too. */
    const uint32_t *sent = self->exchange->sent;
    uint32_t use = sent ? sent[buffer.place & 0xffffu] : 0;
    return use == 0 || use != buffer.generation;
}
