/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Messages: receiving (message_send.c has the rest of the story).
 *
 *             linearises at                            progress
 *   receive   its look at the header (H2) or the tail  wait-free, in the number of lanes
 *             (A1) that finds it
 *
 * Order. The receiver looks from the most urgent priority on; within one it takes at most a run
 * from a lane, then goes on to the next.
 *
 * Death of the sender: what it published is received, then the receiver leaves the lane.
 */
#include "mcapi/buffer.h"
#include "mcapi/message.h"
#include "mcapi/message_at_once.h"
#include "mcapi/told.h"
#include "mrapi/system.h"

/* ---- Lanes to receive from ------------------------------------------------------------------- */

static void
lane_add(med_endpoint_own *own, uint32_t priority, med_lane_own *lane)
{
    med_lane_own *at = own->from[priority];
    lane->consumer.next = at ? at->consumer.next : lane;
    if (at) {
        at->consumer.next = lane;
    } else {
        own->from[priority] = lane;
    }
}

/* Takes up a lane that is to this endpoint, if it is new. What is seen of the row may be of
 * different lives; attach finds that out. */
static void
lane_look(med_self *self, med_endpoint_own *own, uint32_t index, uint32_t generation)
{
    const med_lane_row *row = med_lane_at(self->system, index);
    const med_lane_end end = {
        .index = index, .generation = generation, .kind = MED_LANE_MESSAGES, .endpoint = own};
    med_lane_own *lane = &self->exchange->exchange->lane_ends[end.index];
    /* Relaxed: own, if it is so. Whatever life the row says: the caller has not left it. */
    if (atomic32_load_relaxed(&lane->consumer.owner) == self->ref) {
        return;
    }
    medley_status_t status = med_lane_consumer_attach(self, &end, &lane);
    if (status == MEDLEY_OK) {
        /* Relaxed: constant while this side has not left. */
        uint32_t priority = atomic32_load_relaxed(&row->row.key_low) >> 28;
        lane_add(own, priority % MED_LANE_PRIORITIES, lane);
    } else if (status == MEDLEY_ERR_CORRUPT) {
        (void)med_lane_leave(self->system, end.index, end.generation, MED_LANE_CONSUMER);
    }
}

/* Takes up the lanes that were made since it last looked. */
static void
lanes_look(med_self *self, med_endpoint_own *own)
{
    const med_system *system = self->system;
    med_handle endpoint = atomic32_load_relaxed(&own->handle);      /* relaxed: own */
    own->lanes_seen = atomic32_load_acquire(&own->row->lanes_made); /* L2 <- L1 (endpoint.c) */
    for (uint32_t i = 0; i < system->lanes.row_count; i++) {
        const med_lane_row *row = med_lane_at(system, i);
        uint32_t word = atomic32_load_acquire(&row->row.state); /* A1 live <- T1 (table.c) */
        /* A2 key <- T2 (table.c): one of a later life is seen together with that life's CREATING.
         * Relaxed: the kind is fixed when the lane is made. */
        if (med_row_state_of(word) == MED_ROW_LIVE &&
            atomic32_load_acquire(&row->row.key_high) == endpoint &&
            atomic32_load_relaxed(&row->kind) == MED_LANE_MESSAGES) {
            lane_look(self, own, i, med_row_generation_of(word));
        }
    }
}

/* Its sender is gone, and it is empty. */
static void
lane_retire(med_self *self, med_endpoint_own *own, uint32_t priority, med_lane_own *lane)
{
    med_lane_own *before = lane;
    while (before->consumer.next != lane) {
        before = before->consumer.next;
    }
    before->consumer.next = lane->consumer.next;
    own->from[priority] = before == lane ? NULL : before;
    (void)med_lane_end_leave(self, lane, MED_LANE_CONSUMER);
}

/* ---- Receive --------------------------------------------------------------------------------- */

typedef struct found {
    med_lane_own *lane;
    uint32_t priority;
    med_record record;
} found;

/* A look at one lane. A corrupt one is as one whose sender is gone: MEDLEY_ERR_PEER_DIED, and it is
 * retired. */
static inline medley_status_t
look_at_lane(med_self *self, med_endpoint_own *own, found *f)
{
    med_lane_own *lane = f->lane;
    medley_status_t status = med_record_peek(lane, &f->record);
    if (__builtin_expect(status == MEDLEY_OK, 1)) {
        return status;
    }
    if (status != MEDLEY_ERR_CORRUPT && med_lane_is_gone(lane->consumer.row, MED_LANE_PRODUCER)) {
        status = med_record_peek(lane, &f->record); /* G2: all that it published */
        if (status == MEDLEY_OK) {
            return status;
        }
        status = MEDLEY_ERR_PEER_DIED;
    }
    if (status == MEDLEY_ERR_CORRUPT || status == MEDLEY_ERR_PEER_DIED) {
        lane_retire(self, own, f->priority, lane);
        return MEDLEY_ERR_PEER_DIED;
    }
    return MEDLEY_EMPTY;
}

/* One round of the lanes of a priority. Where the first is retired, it ends at the second. */
static medley_status_t
look_at_priority(med_self *self, med_endpoint_own *own, found *f)
{
    med_lane_own *first = own->from[f->priority];
    med_lane_own *next = first;
    while (next) {
        f->lane = next;
        next = next->consumer.next == first ? NULL : next->consumer.next;
        medley_status_t status = look_at_lane(self, own, f);
        if (status == MEDLEY_OK) {
            return MEDLEY_OK;
        }
        if (__builtin_expect(status == MEDLEY_ERR_PEER_DIED, 0) && f->lane == first) {
            first = next;
        }
    }
    return MEDLEY_EMPTY;
}

static medley_status_t
look(med_self *self, med_endpoint_own *own, found *f)
{
    /* Relaxed: lanes_look acquires it. */
    if (__builtin_expect(atomic32_load_relaxed(&own->row->lanes_made) != own->lanes_seen, 0)) {
        lanes_look(self, own);
    }
    for (f->priority = 0; f->priority < MED_LANE_PRIORITIES; f->priority++) {
        if (own->from[f->priority] && look_at_priority(self, own, f) == MEDLEY_OK) {
            return MEDLEY_OK;
        }
    }
    return MEDLEY_EMPTY;
}

static medley_status_t
take_from_buffer(med_self *self, const found *f, void *target, size_t size)
{
    med_exchange_node *node = self->exchange;
    const med_pool *pool = &node->exchange->pool;
    med_pool_buffer buffer;
    medley_status_t status = med_buffer_receive(self, f->lane, &f->record, &buffer);
    if (status == MEDLEY_OK) {
        med_ring_copy(target, med_pool_address(pool, buffer), (uint32_t)size);
        status = med_exchange_buffer_give(self, buffer);
    }
    return status;
}

static medley_status_t
take(med_self *self, med_endpoint_own *own, found *f, void *buffer, size_t size)
{
    uint32_t bytes = f->record.bytes;
    size_t fits = bytes < size ? bytes : size;
    med_lane_own *lane = f->lane;
    medley_status_t status = MEDLEY_OK;
    if (__builtin_expect(f->record.kind == MED_RECORD_PLAIN, 1)) {
        med_ring_copy(buffer, f->record.payload, (uint32_t)fits);
    } else {
        status = take_from_buffer(self, f, buffer, fits);
    }
    if (__builtin_expect(status != MEDLEY_OK, 0)) {
        lane_retire(self, own, f->priority, lane);
        return status;
    }
    med_record_release(lane, f->record.granules, f->record.leads_on);
    med_message_go_on(own, f->priority, lane);
    med_lane_count(lane->consumer.row, MED_LANE_CONSUMER, bytes);
    med_told_received(self, lane, med_told_count(self, lane->consumer.row, MED_LANE_CONSUMER),
                      bytes);
    return bytes > size ? MEDLEY_ERR_LIMIT : MEDLEY_OK;
}

static medley_status_t
receive(med_self *self, med_endpoint_own *own, void *buffer, size_t size, uint32_t *bytes)
{
    found f;
    medley_status_t status;
    do {
        status = look(self, own, &f);
        if (status != MEDLEY_OK) {
            return status;
        }
        *bytes = f.record.bytes;
        status = take(self, own, &f, buffer, size);
        /* What names no buffer is a corrupt lane: there is one less. */
    } while (__builtin_expect(status != MEDLEY_OK && status != MEDLEY_ERR_LIMIT, 0));
    return status;
}

static medley_status_t
receive_again(med_self *self, med_pending *pending)
{
    uint32_t bytes = 0;
    medley_status_t status = receive(self, pending->own, pending->buffer, pending->size, &bytes);
    pending->outcome.size_bytes = bytes < pending->size ? bytes : pending->size;
    return status == MEDLEY_EMPTY ? MEDLEY_BUSY : status;
}

medley_status_t
med_message_receive_wait(med_self *self, med_handle at, void *buffer, size_t size, uint32_t *bytes)
{
    med_endpoint_own *own;
    medley_status_t status = med_endpoint_for_messages(self, at, &own);
    if (__builtin_expect(status != MEDLEY_OK, 0)) {
        return status;
    }
    if (med_may_try_at_once(&own->receives)) {
        MED_LOCKED(self, MED_RWL_WRITE, status, receive(self, own, buffer, size, bytes));
        if (__builtin_expect(status != MEDLEY_EMPTY, 1)) {
            return status;
        }
        if (own->settings[MED_ENDPOINT_TIMEOUT_US] == 0) {
            return MEDLEY_TIMEOUT;
        }
    }
    med_pending pending = {.attempt = receive_again, .own = own, .buffer = buffer, .size = size};
    status = med_pending_wait(self, &own->receives, &pending, med_endpoint_deadline_ns(own));
    *bytes = (uint32_t)pending.outcome.size_bytes;
    return status;
}

medley_status_t
med_message_receive_request(
    med_self *self, med_handle at, void *buffer, size_t size, med_request_handle *request)
{
    med_endpoint_own *own;
    medley_status_t status = med_endpoint_for_messages(self, at, &own);
    const med_pending pending = {
        .attempt = receive_again, .own = own, .buffer = buffer, .size = size};
    return status == MEDLEY_OK ? med_pending_begin(self, &own->receives, &pending, request)
                               : status;
}

medley_status_t
med_message_available(med_self *self, med_handle at, uint32_t *count)
{
    med_endpoint_own *own;
    found f;
    medley_status_t status = med_endpoint_for_messages(self, at, &own);
    if (status != MEDLEY_OK) {
        return status;
    }
    *count = 0;
    (void)look(self, own, &f); /* takes up new lanes */
    for (uint32_t priority = 0; priority < MED_LANE_PRIORITIES; priority++) {
        med_lane_own *lane = own->from[priority];
        do {
            *count += lane ? med_record_count(lane) : 0;
            lane = lane ? lane->consumer.next : NULL;
        } while (lane != own->from[priority]);
    }
    return MEDLEY_OK;
}

/* ---- Many at once ---------------------------------------------------------------------------- */

/* The plain ones that lie side by side, from the one that was found on, given back by one store. A
 * turn of its lane: the next is another's. */
static uint32_t
take_run(med_endpoint_own *own, found *f, const med_message_places *places, uint32_t first)
{
    med_lane_own *lane = f->lane;
    med_ring_consumer *ring = &lane->consumer.ring;
    uint32_t granules = 0;
    uint32_t many = 0;
    uint64_t bytes = 0;
    bool leads_on = false;
    uint32_t most =
        places->count - first < MED_MESSAGE_RUN_MAX ? places->count - first : MED_MESSAGE_RUN_MAX;
    uint32_t ready = ring->filled - ring->head;
    bool more = true;
    while (more) {
        med_ring_copy(places->buffer + (first + many) * places->size, f->record.payload,
                      f->record.bytes);
        places->lengths[first + many++] = f->record.bytes;
        bytes += f->record.bytes;
        granules += f->record.granules;
        leads_on = f->record.leads_on;
        uint32_t next = ring->head + granules;
        more = many < most && granules < ready &&
               med_record_read(lane, next, med_ring_run(&ring->view, next, ready - granules),
                               &f->record) == MEDLEY_OK &&
               f->record.kind == MED_RECORD_PLAIN && f->record.bytes <= places->size;
    }
    med_record_release(lane, granules, leads_on);
    med_lane_count_many(lane->consumer.row, MED_LANE_CONSUMER, many, bytes);
    own->run = 0;
    own->from[f->priority] = lane->consumer.next;
    return many;
}

static void
received_tell(const med_self *self, const med_lane_own *lane, const size_t *lengths, uint32_t many)
{
    uint32_t before = med_told_count(self, lane->consumer.row, MED_LANE_CONSUMER) - many;
    for (uint32_t i = 0; i < many && med_traced_is_on(self->system); i++) {
        med_told_received(self, lane, before + i + 1, lengths[i]);
    }
}

/* Those that are there. MEDLEY_EMPTY: none (any more). */
static medley_status_t
receive_some(med_self *self,
             med_endpoint_own *own,
             const med_message_places *places,
             uint32_t *received)
{
    found f;
    medley_status_t status = look(self, own, &f);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (f.record.kind == MED_RECORD_PLAIN && f.record.bytes <= places->size) {
        uint32_t many = take_run(own, &f, places, *received);
        received_tell(self, f.lane, places->lengths + *received, many);
        *received += many;
        return MEDLEY_OK;
    }
    uint32_t bytes = 0;
    unsigned char *place = places->buffer + *received * places->size;
    status = receive(self, own, place, places->size, &bytes);
    if (status == MEDLEY_OK || status == MEDLEY_ERR_LIMIT) {
        places->lengths[(*received)++] = bytes < places->size ? bytes : places->size;
    }
    return status;
}

medley_status_t
med_message_receive_many(med_self *self,
                         med_handle at,
                         const med_message_places *places,
                         uint32_t *received)
{
    med_endpoint_own *own;
    medley_status_t status = med_endpoint_for_messages(self, at, &own);
    *received = 0;
    while (status == MEDLEY_OK && *received < places->count && !own->receives.first) {
        MED_LOCKED(self, MED_RWL_WRITE, status, receive_some(self, own, places, received));
    }
    if (*received != 0 || (status != MEDLEY_OK && status != MEDLEY_EMPTY)) {
        return status == MEDLEY_EMPTY ? MEDLEY_OK : status;
    }
    uint32_t bytes = 0;
    status = med_message_receive_wait(self, at, places->buffer, places->size, &bytes);
    if (status == MEDLEY_OK || status == MEDLEY_ERR_LIMIT) {
        places->lengths[0] = bytes < places->size ? bytes : places->size;
        *received = 1;
    }
    return status;
}
