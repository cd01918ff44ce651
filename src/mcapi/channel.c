/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Channels. What may run together: everything, by any nodes.
 *
 *   an end:  free --connect--> CONNECTED --open--> OPEN --close--> free
 *              \--open--> OPEN PENDING --connect--> OPEN
 *
 *             linearises at
 *   connect   the lane's LIVE; that both ends are free, and agree, is looked at under the lanes'
 *             lock, and both endpoints name the lane before it is LIVE. What they agree on is set
 *             under that lock too (endpoint.c), and not any more then
 *   open      the change of `ends` in the lane's row
 *   close     GONE in the same
 *
 * A connected end sees its lane as long as it has not closed (lane.c). Who connects wakes both
 * ends' nodes. Death: who dies connecting leaves names of a lane that is not LIVE, which count as
 * none; an end's node's recovery closes it. Model: models/channel.pml.
 */
#include "mcapi/channel.h"

#include "mrapi/system.h"

/* ---- Connect --------------------------------------------------------------------------------- */

static void
owner_wake(const med_self *self, med_handle endpoint)
{
    uint32_t owner;
    if (med_port_has_threads() && med_endpoint_owner(self->system, endpoint, &owner) == MEDLEY_OK) {
        med_wait *news = med_exchange_news_of(self->system, owner);
        if (news) {
            med_wait_wake(news, self->scope);
        }
    }
}

medley_status_t
med_channel_connect(med_self *self, med_handle from, med_handle to, med_lane_kind kind)
{
    const med_lane_request request = {
        .from = from, .to = to, .priority = MED_LANE_CHANNEL, .kind = kind};
    uint32_t index, generation;
    if (from == to) {
        return MEDLEY_ERR_ARGUMENT; /* one endpoint is one end */
    }
    medley_status_t status = med_lane_make(self, &request, &index, &generation);
    if (status == MEDLEY_OK) {
        owner_wake(self, from);
        owner_wake(self, to);
    }
    return status;
}

/* ---- Open ------------------------------------------------------------------------------------ */

enum {
    SIDE,
    KIND
};

/* Is it the end that is to be opened, of the kind that is to be opened? */
static medley_status_t
end_check(const med_endpoint_own *own, const med_lane_row *row, const med_pending *pending)
{
    /* Relaxed, all: own, or constant while this end has not left. */
    med_handle endpoint = atomic32_load_relaxed(&own->handle);
    bool consumer = atomic32_load_relaxed(&row->row.key_high) == endpoint;
    bool wants_consumer = pending->numbers[SIDE] == MED_LANE_CONSUMER;
    if (med_lane_calls(atomic32_load_relaxed(&row->kind)) != pending->numbers[KIND]) {
        return MEDLEY_ERR_ARGUMENT;
    }
    return consumer == wants_consumer ? MEDLEY_OK : MEDLEY_ERR_NOT_SUPPORTED;
}

static medley_status_t
end_attach(med_self *self, med_handle channel, const med_pending *pending)
{
    bool sends = pending->numbers[SIDE] == MED_LANE_PRODUCER;
    med_lane_row *row = med_lane_at(self->system, med_handle_index(channel));
    uint32_t word = atomic32_load_relaxed(&row->row.state); /* relaxed: acquired by who found it */
    bool states = atomic32_load_relaxed(&row->kind) == MED_LANE_STATES; /* relaxed: constant */
    const med_lane_end end = {.index = med_handle_index(channel),
                              .generation = med_row_generation_of(word),
                              .kind =
                                  states ? MED_LANE_STATES : (med_lane_kind)pending->numbers[KIND],
                              .endpoint = pending->own};
    med_lane_own *lane;
    medley_status_t status = sends ? med_lane_producer_attach(self, &end, &lane)
                                   : med_lane_consumer_attach(self, &end, &lane);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (sends) {
        lane->producer.payload_max =
            med_endpoint_setting_get(self->system, pending->own->row, MED_ENDPOINT_MAX_PAYLOAD);
    }
    unsigned *handle = pending->buffer;
    *handle =
        med_handle_make(sends ? MED_HANDLE_SENDER : MED_HANDLE_RECEIVER, end.index, end.generation);
    /* Relaxed, both: the own word; for showing. */
    atomic32_store_relaxed(sends ? &lane->producer.handle : &lane->consumer.handle, *handle);
    (void)atomic32_fetch_or_relaxed(&row->ends, MED_LANE_OPEN(pending->numbers[SIDE]));
    return MEDLEY_OK;
}

static medley_status_t
open_again(med_self *self, med_pending *pending)
{
    med_endpoint_own *own = pending->own;
    med_handle endpoint = atomic32_load_relaxed(&own->handle); /* relaxed: own */
    med_handle channel = med_endpoint_channel(self->system, endpoint);
    if (!channel) {
        return MEDLEY_BUSY;
    }
    const med_lane_row *row = med_lane_at(self->system, med_handle_index(channel));
    medley_status_t status = end_check(own, row, pending);
    return status == MEDLEY_OK ? end_attach(self, channel, pending) : status;
}

/* What can be said at once: that it is open already, or being opened, or not what is asked for. */
static medley_status_t
may_open(const med_self *self, const med_pending *pending)
{
    const med_endpoint_own *own = pending->own;
    /* Relaxed: own. */
    med_handle channel = med_endpoint_channel(self->system, atomic32_load_relaxed(&own->handle));
    if (med_pending_is_any(&self->system->requests, &pending->own->opens)) {
        return MEDLEY_BUSY;
    }
    if (!channel) {
        return MEDLEY_OK;
    }
    const med_lane_row *row = med_lane_at(self->system, med_handle_index(channel));
    medley_status_t status = end_check(own, row, pending);
    if (status != MEDLEY_OK) {
        return status;
    }
    uint32_t ends = atomic32_load_relaxed(&row->ends); /* relaxed: the own bit is asked for */
    return ends & MED_LANE_OPEN(pending->numbers[SIDE]) ? MEDLEY_ERR_EXISTS : MEDLEY_OK;
}

/* The caller's own endpoint. */
static medley_status_t
own_of(const med_self *self, med_handle endpoint, med_endpoint_own **own)
{
    med_endpoint_row *row;
    *own = med_endpoint_mine(self, endpoint);
    if (*own) {
        return MEDLEY_OK;
    }
    medley_status_t status = med_endpoint_of(self->system, endpoint, &row);
    return status == MEDLEY_OK ? MEDLEY_ERR_NOT_OWNER : MEDLEY_ERR_STALE;
}

medley_status_t
med_channel_open(med_self *self,
                 med_handle endpoint,
                 med_lane_side side,
                 med_lane_kind kind,
                 unsigned *handle,
                 med_request_handle *request)
{
    med_endpoint_own *own;
    medley_status_t status = own_of(self, endpoint, &own);
    if (status != MEDLEY_OK) {
        return status;
    }
    const med_pending pending = {.attempt = open_again,
                                 .own = own,
                                 .buffer = handle,
                                 .numbers = {[SIDE] = side, [KIND] = kind}};
    status = may_open(self, &pending);
    return status == MEDLEY_OK ? med_pending_begin(self, &own->opens, &pending, request) : status;
}

/* ---- Subscribe ------------------------------------------------------------------------------- */

medley_status_t
med_channel_subscribe(med_self *self, med_handle topic, med_handle endpoint, unsigned *handle)
{
    med_endpoint_own *own;
    medley_status_t status = own_of(self, endpoint, &own);
    if (status != MEDLEY_OK || med_pending_is_any(&self->system->requests, &own->opens)) {
        return status == MEDLEY_OK ? MEDLEY_BUSY : status;
    }
    const med_lane_request request = {
        .from = topic, .to = endpoint, .priority = MED_LANE_TOPIC, .kind = MED_LANE_PACKETS};
    uint32_t index, generation;
    status = med_lane_make(self, &request, &index, &generation);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_handle channel = med_handle_make(MED_HANDLE_SENDER, index, generation);
    const med_pending pending = {
        .own = own,
        .buffer = handle,
        .numbers = {[SIDE] = MED_LANE_CONSUMER, [KIND] = MED_LANE_PACKETS}};
    status = end_attach(self, channel, &pending);
    if (status != MEDLEY_OK) {
        med_endpoint_channel_clear(own, channel);
        (void)med_lane_leave(self->system, index, generation, MED_LANE_CONSUMER);
    }
    return status;
}

/* ---- Close ----------------------------------------------------------------------------------- */

/* Why the caller has no such end open: all that the handle says. */
static medley_status_t
why_not_open(med_handle handle, bool sends)
{
    const med_handle_kind kind = med_handle_kind_of(handle);
    if (kind == (sends ? MED_HANDLE_SENDER : MED_HANDLE_RECEIVER)) {
        return MEDLEY_ERR_NOT_FOUND;
    }
    return kind == (sends ? MED_HANDLE_RECEIVER : MED_HANDLE_SENDER) ? MEDLEY_ERR_EXISTS
                                                                     : MEDLEY_ERR_STALE;
}

medley_status_t
med_channel_close(med_self *self, med_handle handle, med_lane_side side, med_lane_kind kind)
{
    bool sends = side == MED_LANE_PRODUCER;
    med_lane_own *lane =
        sends ? med_channel_sender(self, handle) : med_channel_receiver(self, handle);
    if (!lane) {
        return why_not_open(handle, sends);
    }
    if (med_lane_calls(sends ? lane->producer.kind : lane->consumer.kind) != kind) {
        return MEDLEY_ERR_ARGUMENT;
    }
    med_endpoint_own *own = sends ? lane->producer.endpoint : lane->consumer.endpoint;
    med_endpoint_channel_clear(own, med_handle_of_kind(handle, MED_HANDLE_SENDER));
    (void)med_lane_end_leave(self, lane, side);
    return MEDLEY_OK;
}
