/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Endpoints in the registry: how they come, are found, and go. What they are for is
 * endpoint_settings.c's. What may run together: everything, by any nodes.
 *
 *            linearises at
 *   create   the row's LIVE (T1 in table.c)
 *   find     its look at the row's state
 *   delete   CLOSING, from when on nobody makes a lane for it; then its lanes are left, then
 *            the row goes. Each step may be done again, by the owner or his recovery
 *
 * One that is expected (endpoint_expected.c) is replaced by its node's in one hold of the table's
 * lock, so that no other gets its place, and replaces that when it goes.
 *
 * Who waits for an endpoint to appear sets `awaited` in the exchange, and sleeps where he sleeps
 * for everything. Who makes one looks at that, and wakes all nodes: it is rare.
 *
 * A node's private view (own) is written by its own thread; others of the process only compare its
 * handle and owner, which are never both theirs. It is claimed for a row that was just made, and
 * given up before the row goes, so that the table's lock orders it from one node to the next. Where
 * rows were written over, the table gives out one whose view is another's, who lives: he keeps it.
 *
 * Progress: find is wait-free but for the table's bound; the others block on tables' locks. Death:
 * a node sets its touch bit before its row is LIVE, so its recovery finds the row.
 */
#include "mcapi/endpoint.h"

#include "mcapi/locked.h"
#include "mcapi/told.h"
#include "mrapi/object.h"
#include "mrapi/system.h"

#define PRIORITIES_DEFAULT MED_LANE_PRIORITIES

uint32_t
med_endpoint_row_bytes(const med_limits *limits)
{
    (void)limits;
    return sizeof(med_endpoint_row);
}

/* ---- Which it is ----------------------------------------------------------------------------- */

medley_status_t
med_endpoint_of(const med_system *system, med_handle endpoint, med_endpoint_row **row)
{
    uint32_t index = med_handle_index_of_kind(endpoint, MED_HANDLE_ENDPOINT);
    if (index >= system->endpoints.row_count) {
        return MEDLEY_ERR_ARGUMENT;
    }
    *row = med_endpoint_at(system, index);
    /* A1 live, over <- T1 (table.c), T6 (table_index.c) */
    uint32_t word = atomic32_load_acquire(&(*row)->row.state);
    bool there = med_handle_is_current(endpoint, word) && !med_endpoint_is_expected(*row);
    return there ? MEDLEY_OK : MEDLEY_ERR_STALE;
}

medley_status_t
med_endpoint_owner(const med_system *system, med_handle endpoint, uint32_t *node_ref)
{
    med_endpoint_row *row;
    medley_status_t status = med_endpoint_of(system, endpoint, &row);
    if (status != MEDLEY_OK) {
        return status;
    }
    *node_ref = atomic32_load_relaxed(&row->row.key_high); /* relaxed: constant while LIVE */
    /* Relaxed: for who makes a lane, the lanes' lock orders it. */
    return atomic32_load_relaxed(&row->closing) ? MEDLEY_ERR_STALE : MEDLEY_OK;
}

medley_status_t
med_endpoint_why_gone(const med_system *system, med_handle endpoint)
{
    uint32_t index = med_handle_index_of_kind(endpoint, MED_HANDLE_ENDPOINT);
    if (index >= system->endpoints.row_count) {
        return MEDLEY_ERR_STALE;
    }
    /* Relaxed: who found the row over (A1), or was told of the death by a lane (G2 in lane.h), sees
     * it here. */
    uint32_t closing = atomic32_load_relaxed(&med_endpoint_at(system, index)->closing);
    uint32_t died = MED_ENDPOINT_DIED(med_handle_generation(endpoint));
    return (closing & 0x0fffffffu) == died ? MEDLEY_ERR_PEER_DIED : MEDLEY_ERR_STALE;
}

void
med_endpoint_lane_made(const med_system *system, med_handle endpoint)
{
    if (med_handle_index(endpoint) >= system->endpoints.row_count) {
        return;
    }
    med_endpoint_row *row = med_endpoint_at(system, med_handle_index(endpoint));
    uint32_t seen = atomic32_load_relaxed(&row->lanes_made); /* relaxed: checked by what follows */
    /* L1 -> L2 (message_receive.c) */
    while (!atomic32_cas_release(&row->lanes_made, &seen, seen + 1)) {
    }
}

/* ---- Leaving its row ------------------------------------------------------------------------- */

/* With the lock held: of two who recover its node, the slower must not close another's. The context
 * is what `closing` says of a death, or NULL. */
static medley_status_t
close_row(med_row *row, uint32_t index, void *context)
{
    const uint32_t *died = med_port_has_processes() ? context : NULL;
    (void)index;
    /* Relaxed: the lanes' lock, taken next, orders it for who makes a lane. */
    atomic32_store_relaxed(&((med_endpoint_row *)(void *)row)->closing, died ? *died : 1);
    return MEDLEY_OK;
}

static medley_status_t
leave(med_system *system, uint32_t index, uint32_t generation, uint32_t *died)
{
    medley_status_t status = med_table_act(&system->endpoints, index, generation, close_row, died);
    if (status == MEDLEY_OK) {
        status = med_lanes_leave(system, med_handle_make(MED_HANDLE_ENDPOINT, index, generation));
    }
    if (status == MEDLEY_OK) {
        status = med_port_has_processes() /* else no place is kept */
                     ? med_endpoint_remove(system, index, generation)
                     : med_table_remove(&system->endpoints, index, generation);
    }
    return status == MEDLEY_ERR_STALE ? MEDLEY_OK : status;
}

/* ---- Create ---------------------------------------------------------------------------------- */

static void
own_lanes_none(med_endpoint_own *own)
{
    own->lanes_seen = 0;
    own->run = 0;
    own->subscribers = NULL;
    own->subscribers_seen = 0;
    for (uint32_t i = 0; i < MED_LANE_PRIORITIES; i++) {
        own->from[i] = NULL;
    }
}

/* Field by field: others may be comparing the first two. */
static void
own_begin(med_endpoint_own *own, med_handle endpoint)
{
    own_lanes_none(own);
    own->published = 0;
    own->sends = (med_pending_queue){.first = NULL};
    own->receives = (med_pending_queue){.first = NULL};
    own->opens = (med_pending_queue){.first = NULL};
    atomic32_store_relaxed(&own->handle, endpoint); /* relaxed: own */
}

typedef struct creating {
    const med_self *self;
    med_table_insertion insertion; /* replaces: one that was expected */
    med_endpoint_place place;      /* of that one; it stays kept */
    bool had;                      /* what the process knows of that row is of another endpoint */
} creating;

/* Relaxed, all: published with the row (T1 in table.c). */
static void
fill(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    creating *c = context;
    const med_self *self = c->self;
    const med_system *system = self->system;
    med_endpoint_row *endpoint = (med_endpoint_row *)(void *)row;
    med_endpoint_own *own = &self->exchange->exchange->endpoints[index];
    const uint32_t defaults[MED_ENDPOINT_SETTINGS] = {
        [MED_ENDPOINT_MAX_PAYLOAD] = system->limits.buffer_bytes,
        [MED_ENDPOINT_PRIORITIES] = PRIORITIES_DEFAULT,
        [MED_ENDPOINT_RECEIVE_BUFFERS] = system->limits.lane_bytes / MED_LANE_GRANULE_BYTES,
        [MED_ENDPOINT_TIMEOUT_US] = UINT32_MAX,
    };
    if (med_port_has_processes()) {
        med_endpoint_place_keep(endpoint, c->insertion.replaces ? &c->place : NULL);
    }
    /* Before the row is LIVE: its recovery looks where this says. */
    med_object_touch(&self->tables[MED_KIND_ENDPOINT], index);
    if (!med_exchange_claim(self, &own->owner)) {
        c->had = true;
        return;
    }
    own->row = endpoint;
    for (uint32_t i = 0; i < MED_ENDPOINT_SETTINGS; i++) {
        atomic32_store_relaxed(&endpoint->settings[i], defaults[i]);
        own->settings[i] = defaults[i];
    }
    atomic32_store_relaxed(&endpoint->gets, 0);
    atomic32_store_relaxed(&endpoint->got_by, 0);
    atomic32_store_relaxed(&endpoint->channel, 0);
    atomic32_store_relaxed(&endpoint->closing, 0);
    atomic32_store_relaxed(&endpoint->lanes_made, 0);
    own_begin(own, med_handle_make(MED_HANDLE_ENDPOINT, index, generation));
}

/* An endpoint appeared: who waits for one looks. */
static void
tell_who_waits(const med_self *self)
{
    atomic32 *awaited = &self->exchange->exchange->head->awaited;
    if (!med_port_has_threads()) {
        return; /* who waits makes none meanwhile */
    }
    med_port_barrier_light(self->scope); /* F3 there, then flag <-> F1 (exchange.h) */
    /* Relaxed, both: as the sleep flag in wait.c. */
    if (!atomic32_load_relaxed(awaited)) {
        return;
    }
    atomic32_store_relaxed(awaited, 0);
    med_node_wake_all(self->system);
}

static void
creating_begin(creating *c, const med_self *self, uint32_t port)
{
    const med_endpoint_name name = {self->domain, self->node, port};
    bool any = port == MED_ENDPOINT_PORT_ANY;
    *c = (creating){
        .self = self,
        .insertion = {.key = {self->ref, any ? MED_ENDPOINT_PORT_ANY_FIRST : port},
                      .any = any,
                      .fill = fill,
                      .context = c},
    };
    c->insertion.replaces =
        med_port_has_processes() &&
        med_endpoint_expected_find(self->system, &name, &c->place, &c->insertion.index,
                                   &c->insertion.generation);
}

medley_status_t
med_endpoint_create(med_self *self, uint32_t port, med_handle *endpoint)
{
    creating c;
    const med_table_insertion *made = &c.insertion;
    creating_begin(&c, self, port);
    medley_status_t status = med_table_insert(&self->system->endpoints, &c.insertion);
    if (status == MEDLEY_ERR_LIMIT && med_exchange_bury_due(self)) {
        status = med_table_insert(&self->system->endpoints, &c.insertion);
    }
    if (status == MEDLEY_ERR_LIMIT) {
        med_limits_report(&self->system->limits, MED_LIMIT_ENDPOINTS);
    }
    if (med_port_has_processes() && status == MEDLEY_OK && c.had) {
        (void)leave(self->system, made->index, made->generation, NULL);
        return MEDLEY_ERR_CORRUPT;
    }
    if (status == MEDLEY_OK) {
        *endpoint = med_handle_make(MED_HANDLE_ENDPOINT, made->index, made->generation);
        tell_who_waits(self);
    }
    return status;
}

/* ---- Find ------------------------------------------------------------------------------------ */

medley_status_t
med_endpoint_find(
    const med_self *self, uint32_t domain, uint32_t node, uint32_t port, med_handle *endpoint)
{
    const med_system *system = self->system;
    uint32_t index, generation;
    med_key node_key = {.high = domain, .low = node};
    medley_status_t status = med_table_find(&system->nodes, node_key, &index, &generation);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_key key = {.high = med_node_ref(index, generation), .low = port};
    status = med_table_find(&system->endpoints, key, &index, &generation);
    if (status == MEDLEY_OK) {
        *endpoint = med_handle_make(MED_HANDLE_ENDPOINT, index, generation);
    }
    return status;
}

typedef struct sought {
    med_self *self;
    uint32_t domain;
    uint32_t node;
    uint32_t port;
    med_handle *endpoint;
} sought;

static bool
is_there(void *context)
{
    const sought *s = context;
    /* Each time, since who makes any endpoint clears it. */
    med_exchange_flag_raise(s->self, &s->self->exchange->exchange->head->awaited);
    return med_endpoint_find(s->self, s->domain, s->node, s->port, s->endpoint) == MEDLEY_OK;
}

static bool
is_there_now(void *context)
{
    const sought *s = context;
    if (med_locked_enter(s->self, MED_RWL_READ) != MEDLEY_OK) {
        return false;
    }
    bool there = is_there(context);
    med_locked_leave(s->self, MED_RWL_READ);
    return there;
}

static medley_status_t
sweep(void *context)
{
    med_pending_slice(((const sought *)context)->self);
    return MEDLEY_OK;
}

medley_status_t
med_endpoint_await(med_self *self,
                   uint32_t domain,
                   uint32_t node,
                   uint32_t port,
                   uint64_t deadline_ns,
                   med_handle *endpoint)
{
    sought s = {self, domain, node, port, endpoint};
    const med_wait_request wait = {.condition = is_there_now,
                                   .each_slice = med_port_has_threads() ? sweep : NULL,
                                   .context = &s,
                                   .deadline_ns = deadline_ns,
                                   .scope = self->scope};
    uint32_t begun = med_traced_wait_begin(self, MED_TRACED_WAIT_ENDPOINT, 0);
    medley_status_t status = med_wait_until(&self->row->news, &self->waiter, &wait);
    med_traced_wait_end(self, MED_TRACED_WAIT_ENDPOINT, begun);
    return status;
}

enum {
    DOMAIN,
    NODE,
    PORT
};

static medley_status_t
look_again(med_self *self, med_pending *pending)
{
    const unsigned *n = pending->numbers;
    sought s = {self, n[DOMAIN], n[NODE], n[PORT], pending->buffer};
    if (!is_there(&s)) {
        return MEDLEY_BUSY;
    }
    (void)med_endpoint_got(self, *s.endpoint, true);
    return MEDLEY_OK;
}

medley_status_t
med_endpoint_request(med_self *self,
                     uint32_t domain,
                     uint32_t node,
                     uint32_t port,
                     unsigned *endpoint,
                     med_request_handle *request)
{
    const med_pending pending = {.attempt = look_again,
                                 .buffer = endpoint,
                                 .numbers = {[DOMAIN] = domain, [NODE] = node, [PORT] = port}};
    return med_pending_begin(self, &self->exchange->gets, &pending, request);
}

medley_status_t
med_endpoint_got(const med_self *self, med_handle endpoint, bool got)
{
    med_endpoint_row *row;
    medley_status_t status = med_endpoint_of(self->system, endpoint, &row);
    if (status != MEDLEY_OK) {
        return status;
    }
    /* Relaxed, all: for showing. */
    if (got) {
        (void)atomic32_fetch_add_relaxed(&row->gets, 1);
        atomic32_store_relaxed(&row->got_by, self->ref);
    } else if (atomic32_load_relaxed(&row->gets)) {
        (void)atomic32_fetch_add_relaxed(&row->gets, UINT32_MAX);
    }
    return MEDLEY_OK;
}

/* ---- Delete ---------------------------------------------------------------------------------- */

/* Before the row goes: from then on this may be another's. */
static void
forget(med_self *self, med_endpoint_own *own)
{
    med_pending_end_all(self, &own->sends, MEDLEY_ERR_STALE);
    med_pending_end_all(self, &own->receives, MEDLEY_ERR_STALE);
    med_pending_end_all(self, &own->opens, MEDLEY_ERR_STALE);
    /* Relaxed, both: own. */
    atomic32_store_relaxed(&own->handle, 0);
    atomic32_store_relaxed(&own->owner, 0);
}

/* The row stays. Relaxed, both: own. */
static void
remember(const med_self *self, med_endpoint_own *own, med_handle endpoint)
{
    if (med_exchange_claim(self, &own->owner)) {
        atomic32_store_relaxed(&own->handle, endpoint);
        atomic32_store_relaxed(&own->row->closing, 0); /* as if it had not been asked for */
    }
}

/* Its lanes, as this process sees them: before they are left, since then they may be another's. If
 * the endpoint stays, it takes them up again. */
static void
own_lanes_leave(med_self *self, med_endpoint_own *own)
{
    med_lanes_detach(self, own);
    own_lanes_none(own);
}

medley_status_t
med_endpoint_delete(med_self *self, med_handle endpoint)
{
    med_endpoint_row *row;
    medley_status_t status = med_endpoint_of(self->system, endpoint, &row);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_endpoint_own *own = med_endpoint_mine(self, endpoint);
    if (!own) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    if (med_endpoint_channel(self->system, endpoint)) {
        return MEDLEY_BUSY;
    }
    uint32_t word = atomic32_load_relaxed(&row->row.state); /* relaxed: the own row's */
    own_lanes_leave(self, own);
    forget(self, own);
    status = leave(self->system, med_handle_index(endpoint), med_row_generation_of(word), NULL);
    if (med_port_has_processes() && status != MEDLEY_OK) { /* else nobody keeps a lock */
        remember(self, own, endpoint);
    }
    return status;
}

void
med_endpoints_leave(med_self *self)
{
    const med_system *system = self->system;
    for (uint32_t i = 0; i < system->endpoints.row_count; i++) {
        med_endpoint_own *own = &self->exchange->exchange->endpoints[i];
        /* Relaxed, both: own, if it is so. */
        if (atomic32_load_relaxed(&own->owner) == self->ref) {
            uint32_t word = atomic32_load_relaxed(&own->row->row.state);
            own_lanes_leave(self, own);
            forget(self, own);
            (void)leave(self->system, i, med_row_generation_of(word), NULL);
        }
    }
}

/* ---- Death ----------------------------------------------------------------------------------- */

medley_status_t
med_endpoint_recover_rows(
    med_system *system, uint32_t first, uint32_t count, uint32_t node_ref, uint32_t thread_id)
{
    (void)thread_id;
    medley_status_t status = MEDLEY_OK;
    if (!med_port_has_processes()) {
        return status; /* who does not die has deleted his own (med_exchange_node_leaves) */
    }
    for (uint32_t i = first; i < first + count && i < system->endpoints.row_count; i++) {
        const med_endpoint_row *row = med_endpoint_at(system, i);
        uint32_t word = atomic32_load_acquire(&row->row.state); /* A1 live <- T1 (table.c) */
        uint32_t life = med_row_generation_of(word);
        uint32_t died = MED_ENDPOINT_DIED(life);
        /* Relaxed: constant while LIVE. */
        if (med_row_state_of(word) == MED_ROW_LIVE &&
            atomic32_load_relaxed(&row->row.key_high) == node_ref &&
            leave(system, i, life, &died) != MEDLEY_OK) {
            status = MEDLEY_TIMEOUT;
        }
    }
    return status;
}
