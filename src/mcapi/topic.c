/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Topics. One thread publishes; to each subscriber goes a lane of packets or states, whose other
 * end is a channel's to him. What may run together, and why, is each lane's affair (packet_send.c,
 * state.c); no lane knows of another.
 *
 *               linearises at
 *   subscribe   the lane's LIVE; what is published after the subscriber's call has returned is
 *               offered to him (L2 <- L1)
 *   publish     for each subscriber, as a packet or a state that is sent
 *
 * What is published has a number, and so has what each lane was offered last. A round offers it to
 * those who have not had it; those who have no room are offered it again, or have lost it. So
 * nobody gets anything twice, what he gets is in order, and what he got and lost is all that was
 * published.
 *
 * Progress: wait-free where nothing waits for room, but for a kernel wake, new subscribers and the
 * pool. Death. Of a subscriber: his lane is left in the next round. Of the publisher: as of who
 * sends by a channel.
 */
#include "mcapi/topic.h"

#include "mcapi/locked.h"
#include "mcapi/packet.h"
#include "mcapi/told.h"
#include "mrapi/system.h"

/* ---- Subscribers ----------------------------------------------------------------------------- */

/* A lane that cannot be used is left. */
static void
subscriber_look(med_self *self, med_endpoint_own *own, uint32_t index, uint32_t generation)
{
    med_lane_row *row = med_lane_at(self->system, index);
    med_lane_own *lane = &self->exchange->exchange->lane_ends[index];
    uint32_t kind = atomic32_load_relaxed(&row->kind); /* relaxed: fixed when it is made */
    const med_lane_end end = {
        .index = index, .generation = generation, .kind = (med_lane_kind)kind, .endpoint = own};
    /* Relaxed: own, if it is so; then the rest is, too. */
    if (atomic32_load_relaxed(&lane->producer.owner) == self->ref &&
        lane->producer.life == generation + 1) {
        return;
    }
    if (!med_lane_take_up(row, generation)) {
        return;
    }
    medley_status_t status = kind == MED_LANE_PACKETS || kind == MED_LANE_STATES
                                 ? med_lane_producer_attach(self, &end, &lane)
                                 : MEDLEY_ERR_CORRUPT;
    if (status == MEDLEY_OK) {
        lane->producer.next = own->subscribers;
        lane->producer.published = own->published - 1;
        own->subscribers = lane;
    } else if (status == MEDLEY_ERR_CORRUPT) {
        (void)med_lane_leave(self->system, index, generation, MED_LANE_PRODUCER);
    }
}

/* Takes up the lanes of those who subscribed since it last looked. */
static void
subscribers_look(med_self *self, med_endpoint_own *own)
{
    const med_system *system = self->system;
    /* Relaxed: own. */
    uint32_t key_low = med_lane_key_low(atomic32_load_relaxed(&own->handle), MED_LANE_TOPIC);
    own->subscribers_seen =
        atomic32_load_acquire(&own->row->lanes_made); /* L2 <- L1 (endpoint.c) */
    for (uint32_t i = 0; i < system->lanes.row_count; i++) {
        const med_lane_row *row = med_lane_at(system, i);
        uint32_t word = atomic32_load_acquire(&row->row.state); /* A1 live <- T1 (table.c) */
        /* Relaxed: where it is a later life's, taking up finds this one over. */
        if (med_row_state_of(word) == MED_ROW_LIVE &&
            atomic32_load_relaxed(&row->row.key_low) == key_low) {
            subscriber_look(self, own, i, med_row_generation_of(word));
        }
    }
}

/* ---- Publish --------------------------------------------------------------------------------- */

typedef struct publishing {
    med_self *self;
    med_endpoint_own *own;
    const void *payload;
    size_t bytes;
    uint32_t reached;
    bool waits;
} publishing;

static bool
has_had_it(const med_lane_own *lane)
{
    return lane->producer.published == lane->producer.endpoint->published;
}

static void
lose(med_self *self, med_lane_own *lane)
{
    atomic32 *lost = &lane->producer.row->moved[MED_LANE_PRODUCER].lost;
    lane->producer.published = lane->producer.endpoint->published;
    /* Relaxed, both: its only writer; who receives a later one sees it by R1 of that. */
    atomic32_store_relaxed(lost, atomic32_load_relaxed(lost) + 1);
    med_lane_glance_at(self, lane->producer.row, MED_LANE_CONSUMER);
}

/* MEDLEY_FULL: not yet; MEDLEY_ERR_PEER_DIED: the lane is of no use any more. */
static medley_status_t
offer(publishing *p, med_lane_own *lane)
{
    medley_status_t status = med_packet_send_try(p->self, lane, p->payload, p->bytes);
    switch (status) {
    case MEDLEY_OK:
        lane->producer.published = p->own->published;
        p->reached++;
        return MEDLEY_OK;
    case MEDLEY_ERR_PEER_DIED:
    case MEDLEY_ERR_CORRUPT:
        return MEDLEY_ERR_PEER_DIED;
    case MEDLEY_ERR_NOT_SUPPORTED: /* what publishes was set otherwise since he subscribed */
        lose(p->self, lane);
        return MEDLEY_OK;
    default:
        return MEDLEY_FULL;
    }
}

static void
subscriber_leave(med_self *self, med_lane_own **at)
{
    med_lane_own *lane = *at;
    *at = lane->producer.next;
    (void)med_lane_end_leave(self, lane, MED_LANE_PRODUCER);
}

/* What those had who are gone comes back: the buffers that others wait for, too. */
static void
gone_leave(const publishing *p)
{
    for (med_lane_own **at = &p->own->subscribers; *at;) {
        if (med_lane_is_gone((*at)->producer.row, MED_LANE_CONSUMER)) {
            subscriber_leave(p->self, at);
        } else {
            at = &(*at)->producer.next;
        }
    }
}

/* One round. MEDLEY_FULL: some have not had it yet. */
static medley_status_t
offer_to_all(publishing *p)
{
    med_endpoint_own *own = p->own;
    medley_status_t all = MEDLEY_OK;
    /* Relaxed: subscribers_look acquires it. */
    if (__builtin_expect(atomic32_load_relaxed(&own->row->lanes_made) != own->subscribers_seen,
                         0)) {
        subscribers_look(p->self, own);
    }
    if (p->waits) {
        gone_leave(p);
    }
    for (med_lane_own **at = &own->subscribers; *at;) {
        med_lane_own *lane = *at;
        medley_status_t status = has_had_it(lane) ? MEDLEY_OK : offer(p, lane);
        if (__builtin_expect(status == MEDLEY_ERR_PEER_DIED, 0)) {
            subscriber_leave(p->self, at);
            continue;
        }
        all = status == MEDLEY_OK ? all : status;
        at = &lane->producer.next;
    }
    return all;
}

static medley_status_t
offer_to_all_locked(publishing *p)
{
    medley_status_t status;
    MED_LOCKED(p->self, MED_RWL_WRITE, status, offer_to_all(p));
    return status;
}

static void
each_without(publishing *p, void (*act)(med_self *self, med_lane_own *lane))
{
    for (med_lane_own *lane = p->own->subscribers; lane; lane = lane->producer.next) {
        if (!has_had_it(lane)) {
            act(p->self, lane);
        }
    }
}

static void
count_wait(med_self *self, med_lane_own *lane)
{
    (void)self;
    med_lane_count_wait(lane->producer.row, MED_LANE_PRODUCER);
}

static bool
have_all(void *context)
{
    return offer_to_all_locked(context) != MEDLEY_FULL;
}

/* At all: who has had it may hold the buffers that others want. */
static medley_status_t
look_at_all(void *context)
{
    const publishing *p = context;
    for (med_lane_own *lane = p->own->subscribers; lane; lane = lane->producer.next) {
        med_lane_look_at(p->self->system, lane->producer.row, MED_LANE_CONSUMER);
    }
    med_pending_slice(p->self);
    return MEDLEY_OK;
}

/* Some have no room: MEDLEY_TIMEOUT. */
static medley_status_t
wait_for_room(publishing *p)
{
    const med_wait_request wait = {.condition = have_all,
                                   .each_slice = look_at_all,
                                   .context = p,
                                   .deadline_ns = med_endpoint_deadline_ns(p->own),
                                   .scope = p->self->scope};
    each_without(p, count_wait);
    p->waits = true;
    uint32_t begun =
        med_traced_wait_begin(p->self, MED_TRACED_WAIT_SEND, med_traced_word(&p->own->handle));
    medley_status_t status = med_wait_until(&p->self->row->news, &p->self->waiter, &wait);
    med_traced_wait_end(p->self, MED_TRACED_WAIT_SEND, begun);
    return status;
}

medley_status_t
med_topic_publish(
    med_self *self, med_handle topic, const void *payload, size_t bytes, uint32_t *reached)
{
    publishing p = {
        .self = self, .own = med_endpoint_mine(self, topic), .payload = payload, .bytes = bytes};
    if (__builtin_expect(!p.own, 0)) {
        med_endpoint_row *row;
        medley_status_t status = med_endpoint_of(self->system, topic, &row);
        return status == MEDLEY_OK ? MEDLEY_ERR_NOT_OWNER : status;
    }
    if (__builtin_expect(bytes > p.own->settings[MED_ENDPOINT_MAX_PAYLOAD], 0)) {
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    p.own->published++;
    medley_status_t status = offer_to_all_locked(&p);
    if (__builtin_expect(status == MEDLEY_FULL, 0)) {
        status = med_endpoint_may_wait(p.own) ? wait_for_room(&p) : MEDLEY_OK;
        each_without(&p, lose);
    }
    *reached = p.reached;
    return status;
}

/* ---- Receive --------------------------------------------------------------------------------- */

medley_status_t
med_topic_lost(const med_self *self, med_handle receiver, uint32_t *lost)
{
    const med_lane_own *lane = med_channel_receiver(self, receiver);
    if (!lane) {
        return MEDLEY_ERR_STALE;
    }
    med_lane_row *row = lane->consumer.row;
    uint32_t from = atomic32_load_relaxed(&row->row.key_low); /* relaxed: constant while LIVE */
    if (from != med_lane_key_low(from, MED_LANE_TOPIC)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    /* Relaxed: those before what it has received it sees by A1 of that. */
    *lost = atomic32_load_relaxed(&row->moved[MED_LANE_PRODUCER].lost);
    return MEDLEY_OK;
}
