/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Scalars. One thread sends, one receives; ring_spsc.h says why a scalar gets across, and its width
 * with it: both are written before the store of the tail, and read before that of the head.
 *
 * Death. As messages (message_send.c): who waits looks at the other's life after each slice; what
 * a gone sender published is received first.
 */
#include "mcapi/scalar.h"

#include <string.h>

#include "mcapi/locked.h"
#include "mcapi/told.h"
#include "mcapi/watch.h"
#include "mrapi/system.h"

typedef struct moving {
    med_self *self;
    med_lane_own *lane;
    uint64_t *value;
    uint32_t width;
    medley_status_t status;
} moving;

/* Is it an end of scalars at all? */
static medley_status_t
kind_check(med_lane_kind kind)
{
    return kind == MED_LANE_SCALARS ? MEDLEY_OK : MEDLEY_ERR_ARGUMENT;
}

static medley_status_t
look_at_receiver(void *context)
{
    const moving *m = context;
    med_lane_look_at(m->self->system, m->lane->producer.row, MED_LANE_CONSUMER);
    med_pending_slice(m->self);
    return MEDLEY_OK;
}

static medley_status_t
look_at_sender(void *context)
{
    const moving *m = context;
    med_lane_look_at(m->self->system, m->lane->consumer.row, MED_LANE_PRODUCER);
    med_pending_slice(m->self);
    return MEDLEY_OK;
}

static medley_status_t
wait_for(moving *m, bool (*condition)(void *context), med_lane_row *row, med_lane_side side)
{
    const med_self *self = m->self;
    bool sends = side == MED_LANE_PRODUCER;
    const med_endpoint_own *own = sends ? m->lane->producer.endpoint : m->lane->consumer.endpoint;
    const med_ring_producer *to = &m->lane->producer.ring;
    const med_ring_consumer *from = &m->lane->consumer.ring;
    med_wait_request wait = {.condition = condition,
                             .context = m,
                             .deadline_ns = med_endpoint_deadline_ns(own),
                             .scope = self->scope};
    if (med_port_has_threads()) {
        wait.each_slice = sends ? look_at_receiver : look_at_sender;
        wait.call = sends ? &to->view.ring->consumer.stop : &from->view.ring->producer.stop;
        wait.call_value = sends ? to->tail - to->view.mask - 1 : from->head;
    }
    const med_traced_wait what = sends ? MED_TRACED_WAIT_SEND : MED_TRACED_WAIT_RECEIVE;
    med_lane_count_wait(row, side);
    uint32_t begun = med_traced_wait_begin(self, what, med_told_lane(self, m->lane, side));
    medley_status_t status = med_wait_until(&m->self->row->news, &m->self->waiter, &wait);
    med_traced_wait_end(self, what, begun);
    if (status == MEDLEY_TIMEOUT) {
        med_lane_glance_at(m->self, row, sends ? MED_LANE_CONSUMER : MED_LANE_PRODUCER);
    }
    return status == MEDLEY_OK ? m->status : status;
}

/* ---- Stops ----------------------------------------------------------------------------------- */

/* From one to the next at most: a sender that goes over to another width is not held up for long.
 */
#define STOP_MOST 256u

static bool
are_all(const uint8_t *widths, uint32_t count, uint32_t width)
{
    return widths[0] == width && memcmp(widths, widths + 1, count - 1) == 0;
}

/* The sender stops where it is to ask (watch.h), as if there were no more room: after each look for
 * room, before anything is put. */
static inline void
stop_to_ask(med_lane_own *lane)
{
    lane->producer.ring.limit = med_watch_until(lane, lane->producer.ring.limit);
}

/* A wake reached nobody: it asks before it sends the next. */
static void
missed(med_lane_own *lane)
{
    med_watch_missed(lane);
    stop_to_ask(lane);
    (void)med_ring_producer_stopped(&lane->producer.ring);
}

/* The end where the caller stopped: the next call finds it at once, where any does. */
static inline void
keep(med_self_recent_end *recent, uint32_t at_once, med_lane_own *lane)
{
    bool passes = at_once && med_self_get()->lane_end_count;
    *recent = (med_self_recent_end){passes ? at_once : MED_SELF_NO_END, lane};
}

void
med_scalar_sent(med_lane_own *lane, uint32_t width)
{
    med_ring_producer *ring = &lane->producer.ring;
    if (med_port_is_small()) {
        (void)med_ring_producer_stopped(ring);
        return;
    }
    uint32_t free = med_ring_known_free(ring);
    uint32_t tail = med_ring_tail(ring);
    uint32_t many = med_ring_run(&ring->view, tail, free < STOP_MOST ? free : STOP_MOST);
    uint8_t *widths = lane->producer.widths + (tail & ring->view.mask);
    if (many && !are_all(widths, many, width)) {
        memset(widths, (int)width, many);
    }
    if (med_ring_producer_stopped_until(ring, many) && med_port_has_processes()) {
        missed(lane);
        many = 0;
    }
    med_handle handle = atomic32_load_relaxed(&lane->producer.handle); /* relaxed: own */
    uint32_t sign = many ? med_scalar_at_once(handle, MED_HANDLE_SENDER, width) : 0;
    med_lane_at_once_set(&lane->producer.at_once, sign);
    keep(&med_self_get()->recent_sender, sign, lane);
}

/* At once if all of so many have one width; where widths take turns, the other way and as far as
 * can be. */
uint64_t
med_scalar_received(med_lane_own *lane, uint64_t value)
{
    med_ring_consumer *ring = &lane->consumer.ring;
    if (med_port_is_small()) {
        med_ring_consumer_stopped(ring);
        return value;
    }
    uint32_t filled = med_ring_known_filled(ring);
    uint32_t many = med_ring_run(&ring->view, ring->head, filled < STOP_MOST ? filled : STOP_MOST);
    const uint8_t *widths = lane->consumer.widths + (ring->head & ring->view.mask);
    uint32_t width = many ? widths[0] : 0;
    bool at_once = many && are_all(widths, many, width);
    med_ring_consumer_stopped_until(ring, at_once ? many : MED_RING_CAPACITY_MAX);
    med_handle handle = atomic32_load_relaxed(&lane->consumer.handle); /* relaxed: own */
    uint32_t sign = at_once ? med_scalar_at_once(handle, MED_HANDLE_RECEIVER, width) : 0;
    med_lane_at_once_set(&lane->consumer.at_once, sign);
    keep(&med_self_get()->recent_receiver, sign, lane);
    return value;
}

/* ---- Send ------------------------------------------------------------------------------------ */

/* One try. MEDLEY_FULL, MEDLEY_ERR_PEER_DIED. */
static medley_status_t
send(const moving *m)
{
    med_lane_own *lane = m->lane;
    med_ring_producer *ring = &lane->producer.ring;
    medley_status_t status = MEDLEY_OK;
    if (!med_scalar_fits(lane)) {
        if (med_watch_finds_gone(m->self, lane, 1)) {
            return MEDLEY_ERR_PEER_DIED;
        }
        med_lane_count_by_index(lane->producer.row, MED_LANE_PRODUCER);
        status = med_port_has_threads() ? med_ring_open_space(ring)
                                        : med_ring_look_for_space(ring, med_ring_tail(ring));
        stop_to_ask(lane);
    }
    if (status == MEDLEY_OK) {
        med_scalar_mark(lane, m->width);
        uint32_t number = med_ring_tail(ring) + 1;
        if (med_scalar_put(lane, lane->producer.row, *m->value)) {
            med_scalar_sent(lane, m->width);
        }
        med_told_sent(m->self, lane, number, m->width);
    }
    return status == MEDLEY_FULL_CONSUMER_READING ? MEDLEY_FULL : status;
}

static medley_status_t
send_once(const moving *m)
{
    return med_lane_is_gone(m->lane->producer.row, MED_LANE_CONSUMER) ? MEDLEY_ERR_PEER_DIED
                                                                      : send(m);
}

static bool
was_sent(void *context)
{
    moving *m = context;
    if (m->status == MEDLEY_FULL) {
        MED_LOCKED(m->self, MED_RWL_WRITE, m->status, send_once(m));
    }
    return m->status != MEDLEY_FULL;
}

medley_status_t
med_scalar_send_slow(med_self *self, med_handle sender, uint64_t value, uint32_t width)
{
    med_lane_own *lane = med_channel_sender(self, sender);
    if (!lane) {
        return MEDLEY_ERR_STALE;
    }
    med_lane_row *row = lane->producer.row;
    medley_status_t status = kind_check(lane->producer.kind);
    moving m = {.self = self, .lane = lane, .value = &value, .width = width, .status = MEDLEY_FULL};
    if (status != MEDLEY_OK || was_sent(&m)) {
        return status == MEDLEY_OK ? m.status : status;
    }
    return med_lane_may_wait(self, lane) ? wait_for(&m, was_sent, row, MED_LANE_PRODUCER)
                                         : MEDLEY_FULL;
}

/* ---- Receive --------------------------------------------------------------------------------- */

/* Is there something? MEDLEY_EMPTY, MEDLEY_ERR_CORRUPT. */
static medley_status_t
look(med_lane_own *lane)
{
    med_ring_consumer *ring = &lane->consumer.ring;
    if (med_scalar_is_there(lane)) {
        return MEDLEY_OK;
    }
    medley_status_t status =
        med_port_has_threads() ? med_ring_open_data(ring) : med_ring_look_for_data(ring, 1);
    if (status == MEDLEY_OK) {
        med_lane_count_by_index(lane->consumer.row, MED_LANE_CONSUMER);
        med_lane_note_use(lane->consumer.row, MED_LANE_CONSUMER, ring->filled - ring->head);
    }
    return status == MEDLEY_EMPTY_PRODUCER_INSERTING ? MEDLEY_EMPTY : status;
}

/* One try. MEDLEY_EMPTY; MEDLEY_ERR_ACCESS. */
static medley_status_t
receive(const moving *m)
{
    medley_status_t status = look(m->lane);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (!med_scalar_is_of(m->lane, m->width)) {
        return MEDLEY_ERR_ACCESS;
    }
    uint32_t number = m->lane->consumer.ring.head + 1;
    if (med_scalar_take(m->lane, m->value)) {
        (void)med_scalar_received(m->lane, 0);
    }
    med_told_received(m->self, m->lane, number, m->width);
    return MEDLEY_OK;
}

static medley_status_t
receive_once(const moving *m)
{
    /* Asked first: what it published before is found by the look that follows. */
    bool gone = med_lane_is_gone(m->lane->consumer.row, MED_LANE_PRODUCER);
    medley_status_t status = receive(m);
    return status == MEDLEY_EMPTY && gone ? MEDLEY_ERR_PEER_DIED : status;
}

static bool
was_received(void *context)
{
    moving *m = context;
    if (m->status == MEDLEY_EMPTY) {
        MED_LOCKED(m->self, MED_RWL_WRITE, m->status, receive_once(m));
    }
    return m->status != MEDLEY_EMPTY;
}

medley_status_t
med_scalar_receive_slow(med_self *self, med_handle receiver, uint64_t *value, uint32_t width)
{
    med_lane_own *lane = med_channel_receiver(self, receiver);
    if (!lane) {
        return MEDLEY_ERR_STALE;
    }
    med_lane_row *row = lane->consumer.row;
    medley_status_t status = kind_check(lane->consumer.kind);
    moving m = {.self = self, .lane = lane, .value = value, .width = width, .status = MEDLEY_EMPTY};
    if (status != MEDLEY_OK || was_received(&m)) {
        return status == MEDLEY_OK ? m.status : status;
    }
    return wait_for(&m, was_received, row, MED_LANE_CONSUMER);
}

medley_status_t
med_scalar_available(med_self *self, med_handle receiver, uint32_t *count)
{
    med_lane_own *lane = med_channel_receiver(self, receiver);
    medley_status_t status = lane ? kind_check(lane->consumer.kind) : MEDLEY_ERR_STALE;
    if (status != MEDLEY_OK) {
        return status;
    }
    bool gone = med_lane_is_gone(lane->consumer.row, MED_LANE_PRODUCER); /* as receive_once */
    *count = med_ring_ready(&lane->consumer.ring);
    return *count ? MEDLEY_OK : med_lane_none_available(self, lane, gone);
}

/* ---- Many at once ---------------------------------------------------------------------------- */

/* From one store of the tail, or of the head, to the next. */
#define RUN_MAX 64u
#define SCALAR_BYTES 8u

_Static_assert(sizeof(uint64_t) == SCALAR_BYTES, "in the lane as in the program's memory");

/* The number that lies there: of a type that the program calls as it likes. */
static inline uint64_t
value_at(const unsigned char *values, uint32_t place, uint32_t width)
{
    uint64_t value;
    memcpy(&value, values + (size_t)place * SCALAR_BYTES, sizeof value);
    return value & UINT64_MAX >> (64 - 8 * width);
}

static uint32_t
send_run(med_lane_own *lane, const unsigned char *values, uint32_t width, uint32_t most)
{
    med_ring_producer *ring = &lane->producer.ring;
    const med_ring_producer_end *end = ring->end;
    uint32_t tail = med_ring_tail(ring);
    uint32_t room;
    void *at;
    most = most < RUN_MAX ? most : RUN_MAX;
    if (med_ring_reserve_many_as(ring, MED_RING_PACKED, most, &at, &room) != MEDLEY_OK) {
        return 0;
    }
    uint64_t *slots = at;
    for (uint32_t i = 0; i < room; i++) {
        slots[i] = value_at(values, i, width);
    }
    memset(lane->producer.widths + (tail & ring->view.mask), (int)width, room);
    med_lane_note_index(lane->producer.row, MED_LANE_PRODUCER, tail + room);
    med_lane_count_by_index(lane->producer.row, MED_LANE_PRODUCER);
    stop_to_ask(lane);
    med_ring_hand_over(ring, tail + room);
    if (med_port_has_threads() && med_ring_stops(&end->stop, tail + room)) {
        med_scalar_sent(lane, width);
    }
    return room;
}

medley_status_t
med_scalar_send_many(med_self *self,
                     med_handle sender,
                     const void *values,
                     uint32_t width,
                     uint32_t count,
                     uint32_t *sent)
{
    medley_status_t status = MEDLEY_OK;
    for (*sent = 0; status == MEDLEY_OK && *sent < count;) {
        const unsigned char *next = (const unsigned char *)values + (size_t)*sent * SCALAR_BYTES;
        med_lane_own *lane = med_channel_sender(self, sender);
        bool at_once = lane && lane->producer.kind == MED_LANE_SCALARS &&
                       med_exchange_may_at_once(self) && !med_watch_is_due(lane) &&
                       !med_lane_is_gone(lane->producer.row, MED_LANE_CONSUMER);
        uint32_t some = at_once ? send_run(lane, next, width, count - *sent) : 0;
        if (some == 0) {
            status = med_scalar_send_slow(self, sender, value_at(next, 0, width), width);
            some = status == MEDLEY_OK;
        }
        *sent += some;
    }
    return status;
}

/* Those of that width that lie side by side. */
static uint32_t
receive_run(med_lane_own *lane, unsigned char *values, uint32_t width, uint32_t most)
{
    med_ring_consumer *ring = &lane->consumer.ring;
    const med_ring_consumer_end *end = ring->end;
    if (look(lane) != MEDLEY_OK) {
        return 0;
    }
    uint32_t ready = med_ring_run(&ring->view, ring->head, ring->filled - ring->head);
    most = most < RUN_MAX ? most : RUN_MAX;
    most = most < ready ? most : ready;
    const uint8_t *widths = lane->consumer.widths + (ring->head & ring->view.mask);
    const uint64_t *slots = med_ring_slot(&ring->view, ring->head);
    uint32_t many = 0;
    for (; many < most && widths[many] == width; many++) {
        memcpy(values + (size_t)many * SCALAR_BYTES, &slots[many], SCALAR_BYTES);
    }
    if (many) {
        med_lane_note_index(lane->consumer.row, MED_LANE_CONSUMER, ring->head + many);
        med_ring_hand_back(ring, ring->head + many);
        if (med_port_has_threads() && med_ring_stops(&end->stop, ring->head)) {
            (void)med_scalar_received(lane, 0);
        }
    }
    return many;
}

/* So many, of which the last was the one before the ring's head. */
static void
received_tell(const med_self *self, const med_lane_own *lane, uint32_t width, uint32_t many)
{
    uint32_t head = lane->consumer.ring.head;
    for (uint32_t number = head - many; number != head && med_traced_is_on(self->system);) {
        med_told_received(self, lane, ++number, width);
    }
}

medley_status_t
med_scalar_receive_many(med_self *self,
                        med_handle receiver,
                        void *values,
                        uint32_t width,
                        uint32_t count,
                        uint32_t *received)
{
    med_lane_own *lane = med_channel_receiver(self, receiver);
    uint32_t some = 1;
    *received = 0;
    if (med_locked_enter(self, MED_RWL_WRITE) != MEDLEY_OK) {
        return MEDLEY_ERR_CORRUPT;
    }
    while (lane && lane->consumer.kind == MED_LANE_SCALARS && some && *received < count) {
        unsigned char *next = (unsigned char *)values + (size_t)*received * SCALAR_BYTES;
        some = receive_run(lane, next, width, count - *received);
        received_tell(self, lane, width, some);
        *received += some;
    }
    med_locked_leave(self, MED_RWL_WRITE);
    if (*received) {
        return MEDLEY_OK;
    }
    uint64_t value;
    medley_status_t status = med_scalar_receive_slow(self, receiver, &value, width);
    if (status == MEDLEY_OK) {
        memcpy(values, &value, sizeof value);
        *received = 1;
    }
    return status;
}
