/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lanes as the nodes of this process see them: each side attaches once, to a life of a lane that it
 * has not left (lane.c says why that life stays there until it does), checks what lies there, and
 * keeps what it will use again and again. What may run together: the two sides of a lane, and
 * lanes; one side is its thread's alone, others only look at its first two words.
 *
 * Progress: all of it is wait-free, but to be the second to leave (lane.c).
 */
#include "mcapi/lane.h"

#include "mcapi/endpoint.h"
#include "mcapi/lane_memory.h"
#include "mcapi/record.h"
#include "mcapi/watch.h"
#include "mrapi/system.h"

/* ---- Attaching ------------------------------------------------------------------------------- */

/* Is this life of the lane there, and that side not left? Then it stays there until it is. */
static bool
side_is_there(const med_lane_row *row, uint32_t generation, med_lane_side side)
{
    uint32_t ends = atomic32_load_acquire(&row->ends); /* F2 ends <- F1 (lane.c) */
    /* Relaxed: ordered by F2. Of which life the ends are. */
    bool live = atomic32_load_relaxed(&row->row.state) == med_row_word(MED_ROW_LIVE, generation);
    return live && !(ends & MED_LANE_GONE(side));
}

/* Is it a ring that such a lane may have, and no other that would fit? */
static medley_status_t
ring_check(const med_self *self, const med_ring_view *view, med_lane_kind kind)
{
    med_ring_config config = med_lane_ring_config_whole(&self->system->limits, kind);
    bool good = view->layout == config.layout && view->element_bytes == config.element_bytes &&
                view->mask + 1 <= config.capacity;
    return good ? MEDLEY_OK : MEDLEY_ERR_CORRUPT;
}

static medley_status_t
ring_attach(const med_self *self, med_lane_own *own, void *memory, med_lane_side side)
{
    uint32_t stride = self->exchange->exchange->lane_stride;
    return side == MED_LANE_PRODUCER
               ? med_ring_producer_attach(&own->producer.ring, memory, stride, self->scope)
               : med_ring_consumer_attach(&own->consumer.ring, memory, stride, self->scope);
}

static medley_status_t
memory_attach(const med_self *self, med_lane_own *own, const med_lane_end *end, med_lane_side side)
{
    bool sends = side == MED_LANE_PRODUCER;
    void *memory = med_exchange_lane_memory(self->exchange->exchange, end->index);
    if (end->kind == MED_LANE_STATES) {
        return med_state_memory_attach(self, memory,
                                       sends ? &own->producer.cell : &own->consumer.cell);
    }
    medley_status_t status = ring_attach(self, own, memory, side);
    if (status == MEDLEY_OK && med_port_has_processes()) { /* else it is as it was made */
        const med_ring_view *view = sends ? &own->producer.ring.view : &own->consumer.ring.view;
        status = ring_check(self, view, end->kind);
    }
    return status;
}

/* The whole lane: a message whose first touch of a page is a fault takes 2 us more. */
static void
memory_ready(const med_self *self, const med_lane_end *end)
{
    const med_exchange *exchange = self->exchange->exchange;
    if (!med_port_is_small()) {
        med_port_segment_ready(med_exchange_lane_memory(exchange, end->index),
                               exchange->lane_stride);
    }
}

/* What both sides do: where nothing is as it should be, the end is nobody's again. */
static medley_status_t
side_attach(const med_self *self, med_lane_own *own, const med_lane_end *end, med_lane_side side)
{
    bool sends = side == MED_LANE_PRODUCER;
    const med_lane_row *row = med_lane_at(self->system, end->index);
    atomic32 *owner = sends ? &own->producer.owner : &own->consumer.owner;
    if (!side_is_there(row, end->generation, side)) {
        return MEDLEY_ERR_STALE;
    }
    if (!med_exchange_claim(self, owner)) {
        return MEDLEY_ERR_CORRUPT;
    }
    /* Relaxed: fixed when it was made. */
    uint32_t other =
        atomic32_load_relaxed(&row->side[sends ? MED_LANE_CONSUMER : MED_LANE_PRODUCER]);
    med_wait *news = med_exchange_news_of(self->system, other);
    if (!news || memory_attach(self, own, end, side) != MEDLEY_OK) {
        atomic32_store_relaxed(owner, 0); /* relaxed: own */
        return MEDLEY_ERR_CORRUPT;
    }
    if (med_port_has_threads()) {
        med_waker_begin(sends ? &own->producer.news : &own->consumer.news, news, self->scope);
        if (end->kind == MED_LANE_SCALARS) { /* is called, and sleeps there as for all else */
            *(sends ? &own->producer.ring.sleepers : &own->consumer.ring.sleepers) = news;
        }
    }
    memory_ready(self, end);
    return MEDLEY_OK;
}

medley_status_t
med_lane_producer_attach(med_self *self, const med_lane_end *end, med_lane_own **lane)
{
    const med_exchange *exchange = self->exchange->exchange;
    med_lane_own *own = &exchange->lane_ends[end->index];
    medley_status_t status = side_attach(self, own, end, MED_LANE_PRODUCER);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (end->kind != MED_LANE_STATES) {
        void *memory = med_exchange_lane_memory(exchange, end->index);
        own->producer.widths = med_lane_widths(memory, &own->producer.ring.view);
    }
    own->producer.row = med_lane_at(self->system, end->index);
    own->producer.kind = end->kind;
    own->producer.endpoint = end->endpoint;
    own->producer.buffers = med_exchange_lane_owner(end->index, end->generation);
    own->producer.share_end = 0;
    med_lane_at_once_set(&own->producer.at_once, 0);
    own->producer.life = end->generation + 1;
    own->producer.from = end->from;
    own->producer.to = end->to;
    own->producer.priority = end->priority;
    if (med_port_has_processes()) {
        med_watch_begin(own);
    }
    if (end->kind == MED_LANE_MESSAGES) {
        med_sends_add(&self->exchange->sends, own);
    }
    *lane = own;
    return MEDLEY_OK;
}

medley_status_t
med_lane_consumer_attach(med_self *self, const med_lane_end *end, med_lane_own **lane)
{
    const med_exchange *exchange = self->exchange->exchange;
    med_lane_own *own = &exchange->lane_ends[end->index];
    medley_status_t status = side_attach(self, own, end, MED_LANE_CONSUMER);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (end->kind == MED_LANE_STATES) {
        own->consumer.reader = (med_state_cell_reader){.number = 0};
    } else {
        void *memory = med_exchange_lane_memory(exchange, end->index);
        own->consumer.plain_max = med_record_plain_max(&own->consumer.ring.view);
        own->consumer.widths = med_lane_widths(memory, &own->consumer.ring.view);
    }
    own->consumer.row = med_lane_at(self->system, end->index);
    own->consumer.kind = end->kind;
    own->consumer.endpoint = end->endpoint;
    own->consumer.buffers = med_exchange_lane_owner(end->index, end->generation);
    own->consumer.headers = 0;
    own->consumer.leads_on = false;
    med_lane_at_once_set(&own->consumer.at_once, 0);
    own->consumer.life = end->generation + 1;
    *lane = own;
    return MEDLEY_OK;
}

/* ---- Leaving --------------------------------------------------------------------------------- */

/* By its thread, before the side is left: afterwards this may be another's. */
static uint32_t
detach(const med_self *self, med_lane_own *lane, med_lane_side side)
{
    bool sends = side == MED_LANE_PRODUCER;
    if (sends && lane->producer.kind == MED_LANE_MESSAGES) {
        med_sends_remove(&self->exchange->sends, lane);
    }
    uint32_t *life = sends ? &lane->producer.life : &lane->consumer.life;
    uint32_t generation = *life - 1;
    *life = 0;
    med_lane_at_once_set(sends ? &lane->producer.at_once : &lane->consumer.at_once, 0);
    /* Relaxed, both: own. */
    atomic32_store_relaxed(sends ? &lane->producer.handle : &lane->consumer.handle, 0);
    atomic32_store_relaxed(sends ? &lane->producer.owner : &lane->consumer.owner, 0);
    return generation;
}

void
med_lanes_detach(med_self *self, const med_endpoint_own *endpoint)
{
    for (uint32_t i = 0; i < self->system->lanes.row_count; i++) {
        med_lane_own *lane = &self->exchange->exchange->lane_ends[i];
        /* Relaxed, both: own, if it is so; then the rest is, too. */
        if (atomic32_load_relaxed(&lane->producer.owner) == self->ref &&
            lane->producer.endpoint == endpoint) {
            (void)detach(self, lane, MED_LANE_PRODUCER);
        }
        if (atomic32_load_relaxed(&lane->consumer.owner) == self->ref &&
            lane->consumer.endpoint == endpoint) {
            (void)detach(self, lane, MED_LANE_CONSUMER);
        }
    }
}

medley_status_t
med_lane_end_leave(med_self *self, med_lane_own *lane, med_lane_side side)
{
    uint32_t index = (uint32_t)(lane - self->exchange->exchange->lane_ends);
    return med_lane_leave(self->system, index, detach(self, lane, side), side);
}

/* ---- Given up -------------------------------------------------------------------------------- */

/* Has its receiver gone, and is it no channel's? One who is there, and left the lane since what lay
 * in it was no record, lost what was sent: the next send there says so. */
static bool
is_to_give_up(const med_self *self, const med_lane_own *lane)
{
    uint32_t node;
    /* Relaxed, both: own, if it is so; then the rest is, too. */
    bool goes = atomic32_load_relaxed(&lane->producer.owner) == self->ref &&
                atomic32_load_relaxed(&lane->producer.handle) == 0 &&
                med_lane_is_gone(lane->producer.row, MED_LANE_CONSUMER);
    return goes && (lane->producer.kind != MED_LANE_MESSAGES ||
                    med_endpoint_owner(self->system, lane->producer.to, &node) != MEDLEY_OK);
}

static void
subscriber_forget(const med_lane_own *lane)
{
    med_lane_own **at = &lane->producer.endpoint->subscribers;
    while (*at && *at != lane) {
        at = &(*at)->producer.next;
    }
    if (*at) {
        *at = lane->producer.next;
    }
}

bool
med_lanes_give_up(med_self *self)
{
    bool any = false;
    for (uint32_t i = 0; i < self->system->lanes.row_count; i++) {
        med_lane_own *lane = &self->exchange->exchange->lane_ends[i];
        if (is_to_give_up(self, lane)) {
            if (lane->producer.kind != MED_LANE_MESSAGES) {
                subscriber_forget(lane);
            }
            (void)med_lane_end_leave(self, lane, MED_LANE_PRODUCER);
            any = true;
        }
    }
    return any;
}

void
med_lanes_give_up_wanted(med_self *self)
{
    med_exchange_node *node = self->exchange;
    /* Relaxed: who is refused again says so again. */
    uint32_t wanted = atomic32_load_relaxed(&node->exchange->head->lanes_wanted);
    if (wanted != node->lanes_wanted) {
        node->lanes_wanted = wanted;
        (void)med_lanes_give_up(self);
    }
}

/* ---- No room --------------------------------------------------------------------------------- */

bool
med_lane_may_wait(med_self *self, const med_lane_own *lane)
{
    bool may = med_endpoint_may_wait(lane->producer.endpoint);
    if (lane->producer.kind != MED_LANE_STATES) {
        med_lane_note_use(lane->producer.row, MED_LANE_PRODUCER,
                          med_lane_in_use(&lane->producer.ring));
    }
    if (!may) {
        med_lane_glance_at(self, lane->producer.row, MED_LANE_CONSUMER);
    }
    return may;
}

/* ---- Nothing there --------------------------------------------------------------------------- */

medley_status_t
med_lane_none_available(med_self *self, const med_lane_own *lane, bool gone)
{
    if (gone) {
        return MEDLEY_ERR_PEER_DIED;
    }
    med_lane_glance_at(self, lane->consumer.row, MED_LANE_PRODUCER);
    return MEDLEY_OK;
}
