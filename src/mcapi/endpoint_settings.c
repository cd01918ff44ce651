/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What an endpoint is for: how its owner set it, and of which channel it is an end. What may run
 * together: everything, by any nodes.
 *
 *             linearises at
 *   set       the store of the setting
 *   agree     its looks at both, with the lanes' lock held
 *   channel   its look at the lane's state (A1)
 *
 * An endpoint is set, and connected, with the lanes' lock held: so what the ends of a channel
 * agreed on stays as it was as long as they are connected. Whoever reads a setting checks it, since
 * a bad peer may have written the row over; the endpoint's own node goes by its copy
 * (med_endpoint_own).
 *
 * Progress: set blocks on the lanes' lock, the others are wait-free. Death: of who sets, the
 * setting is the old one or the new, and the lock comes back; of who connects, the row may name a
 * lane that was never LIVE, which is no channel.
 */
#include "mcapi/endpoint.h"

#include "mrapi/system.h"

/* ---- The channel ----------------------------------------------------------------------------- */

/* A word that names no lane that is there, or one of others, is a leftover of one who died
 * connecting. */
med_handle
med_endpoint_channel(const med_system *system, med_handle endpoint)
{
    const med_endpoint_row *row = med_endpoint_at(system, med_handle_index(endpoint));
    med_handle channel = atomic32_load_relaxed(&row->channel); /* relaxed: A1 says if it is there */
    uint32_t index = med_handle_index_of_kind(channel, MED_HANDLE_SENDER);
    if (!channel || index >= system->lanes.row_count) {
        return 0;
    }
    const med_lane_row *lane = med_lane_at(system, index);
    uint32_t word = atomic32_load_acquire(&lane->row.state); /* A1 live <- T1 (table.c) */
    /* Relaxed, all: constant while LIVE; of another life, they name others. */
    uint32_t from = atomic32_load_relaxed(&lane->row.key_low) ^ endpoint;
    bool is_end = !(from << 4) || atomic32_load_relaxed(&lane->row.key_high) == endpoint;
    bool is_channel = atomic32_load_relaxed(&lane->kind) != MED_LANE_MESSAGES;
    return med_handle_is_current(channel, word) && is_end && is_channel ? channel : 0;
}

void
med_endpoint_channel_set(const med_system *system, med_handle endpoint, med_handle channel)
{
    med_endpoint_row *row = med_endpoint_at(system, med_handle_index(endpoint));
    atomic32_store_relaxed(&row->channel, channel); /* relaxed: of a lane that is not LIVE yet */
}

void
med_endpoint_channel_clear(const med_endpoint_own *own, med_handle channel)
{
    (void)atomic32_cas_relaxed(&own->row->channel, &channel, 0); /* relaxed: it says "free" */
}

medley_status_t
med_endpoint_for_messages(const med_self *self, med_handle endpoint, med_endpoint_own **own)
{
    *own = med_endpoint_mine(self, endpoint);
    if (__builtin_expect(!*own, 0)) {
        med_endpoint_row *row;
        medley_status_t status = med_endpoint_of(self->system, endpoint, &row);
        return status == MEDLEY_OK ? MEDLEY_ERR_NOT_OWNER : status;
    }
    return med_endpoint_is_connected(self->system, (*own)->row, endpoint) ? MEDLEY_BUSY : MEDLEY_OK;
}

/* ---- Settings -------------------------------------------------------------------------------- */

typedef struct setting_limits {
    uint32_t least;
    uint32_t most;
} setting_limits;

/* As long as a buffer; a state, also as its lane has room for, which takes a while to work out. */
static uint32_t
payload_max(const med_system *system, const med_endpoint_row *row)
{
    uint32_t bytes = system->limits.buffer_bytes;
    /* Relaxed: each setting stands for itself. */
    if (!atomic32_load_relaxed(&row->settings[MED_ENDPOINT_BUFFER_TYPE])) {
        return bytes;
    }
    uint32_t state_bytes = med_lane_state_bytes_max(&system->limits);
    return state_bytes < bytes ? state_bytes : bytes;
}

static setting_limits
limits_of(const med_system *system, const med_endpoint_row *row, med_endpoint_setting which)
{
    switch (which) {
    case MED_ENDPOINT_MAX_PAYLOAD:
        return (setting_limits){1, payload_max(system, row)};
    case MED_ENDPOINT_BUFFER_TYPE:
        return (setting_limits){0, 1};
    case MED_ENDPOINT_PRIORITIES:
        return (setting_limits){1, MED_LANE_PRIORITIES};
    case MED_ENDPOINT_PRIORITY:
        return (setting_limits){0, MED_LANE_PRIORITIES - 1};
    case MED_ENDPOINT_RECEIVE_BUFFERS:
        return (setting_limits){1, system->limits.lane_bytes / MED_LANE_GRANULE_BYTES};
    default:
        return (setting_limits){0, UINT32_MAX};
    }
}

uint32_t
med_endpoint_setting_get(const med_system *system,
                         const med_endpoint_row *row,
                         med_endpoint_setting which)
{
    uint32_t value = atomic32_load_relaxed(&row->settings[which]); /* relaxed: checked here */
    if (!med_port_has_processes()) {
        /* As it was set: nobody writes over it. But how long a state may be, is another limit. */
        uint32_t most = which == MED_ENDPOINT_MAX_PAYLOAD ? payload_max(system, row) : UINT32_MAX;
        return value < most ? value : most;
    }
    setting_limits limits = limits_of(system, row, which);
    value = value < limits.least ? limits.least : value;
    return value > limits.most ? limits.most : value;
}

uint32_t
med_endpoint_setting_of(const med_system *system, med_handle endpoint, med_endpoint_setting which)
{
    return med_endpoint_setting_get(system, med_endpoint_at(system, med_handle_index(endpoint)),
                                    which);
}

medley_status_t
med_endpoints_agree(const med_system *system, med_handle from, med_handle to)
{
    static const med_endpoint_setting both[] = {MED_ENDPOINT_MAX_PAYLOAD, MED_ENDPOINT_BUFFER_TYPE,
                                                MED_ENDPOINT_MEMORY_TYPE, MED_ENDPOINT_PRIORITIES,
                                                MED_ENDPOINT_PRIORITY};
    med_endpoint_row *sender, *receiver;
    medley_status_t status = med_endpoint_of(system, from, &sender);
    if (status == MEDLEY_OK) {
        status = med_endpoint_of(system, to, &receiver);
    }
    for (size_t i = 0; status == MEDLEY_OK && i < sizeof both / sizeof both[0]; i++) {
        bool same = med_endpoint_setting_get(system, sender, both[i]) ==
                    med_endpoint_setting_get(system, receiver, both[i]);
        status = same ? MEDLEY_OK : MEDLEY_ERR_ACCESS;
    }
    return status;
}

static bool
value_is_good(const med_system *system,
              const med_endpoint_row *row,
              med_endpoint_setting which,
              uint32_t value)
{
    setting_limits limits = limits_of(system, row, which);
    if (which == MED_ENDPOINT_MEMORY_TYPE) {
        return (value & ~MED_ENDPOINT_FAIL_ON_MEM_LIMIT) <= MED_ENDPOINT_MEMORY_MOST;
    }
    return value >= limits.least && value <= limits.most;
}

typedef struct set_context {
    const med_system *system;
    med_endpoint_row *row;
    med_endpoint_own *own;
    med_handle endpoint;
    med_endpoint_setting which;
    uint32_t value;
} set_context;

/* With the lanes' lock held: so nobody connects it between the look and the store. */
static medley_status_t
set_unless_connected(void *context)
{
    const set_context *set = context;
    if (med_endpoint_channel(set->system, set->endpoint)) {
        return MEDLEY_BUSY;
    }
    /* Relaxed: the lock orders it for who connects; each stands for itself. */
    atomic32_store_relaxed(&set->row->settings[set->which], set->value);
    set->own->settings[set->which] = set->value;
    return MEDLEY_OK;
}

medley_status_t
med_endpoint_set(med_self *self, med_handle endpoint, med_endpoint_setting which, uint32_t value)
{
    const med_system *system = self->system;
    set_context set = {.system = system,
                       .own = med_endpoint_mine(self, endpoint),
                       .endpoint = endpoint,
                       .which = which,
                       .value = value};
    medley_status_t status = med_endpoint_of(system, endpoint, &set.row);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (!set.own) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    if (!value_is_good(system, set.row, which, value)) {
        return med_endpoint_channel(system, endpoint) ? MEDLEY_BUSY : MEDLEY_ERR_NOT_SUPPORTED;
    }
    return med_table_hold(&system->lanes, set_unless_connected, &set);
}

/* ---- How calls at it wait -------------------------------------------------------------------- */

uint64_t
med_endpoint_deadline_ns(const med_endpoint_own *own)
{
    uint32_t us = own->settings[MED_ENDPOINT_TIMEOUT_US];
    return us == UINT32_MAX ? MED_PORT_FOREVER : med_port_clock_ns() + (uint64_t)us * 1000u;
}

bool
med_endpoint_may_wait(const med_endpoint_own *own)
{
    return !(own->settings[MED_ENDPOINT_MEMORY_TYPE] & MED_ENDPOINT_FAIL_ON_MEM_LIMIT);
}

/* ---- What there is to tell ------------------------------------------------------------------- */

static void
got_by_get(const med_system *system, const med_endpoint_row *row, med_endpoint_state *state)
{
    /* Relaxed, all: for showing. */
    uint32_t ref = atomic32_load_relaxed(&row->got_by);
    uint32_t index = med_node_ref_index(ref);
    uint32_t there = med_row_word(MED_ROW_LIVE, med_node_ref_generation(ref));
    state->got_domain = UINT32_MAX;
    state->got_node = UINT32_MAX;
    if (index >= system->limits.nodes) {
        return;
    }
    const med_row *node = med_table_row(&system->nodes, index);
    if (atomic32_load_relaxed(&node->state) == there) { /* else its row may be another's */
        state->got_domain = atomic32_load_relaxed(&node->key_high);
        state->got_node = atomic32_load_relaxed(&node->key_low);
    }
}

medley_status_t
med_endpoint_state_get(const med_self *self, med_handle endpoint, med_endpoint_state *state)
{
    const med_system *system = self->system;
    med_endpoint_row *row;
    medley_status_t status = med_endpoint_of(system, endpoint, &row);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_handle channel = med_endpoint_channel(system, endpoint);
    const med_endpoint_own *own = med_endpoint_mine(self, endpoint);
    bool opens = own && med_pending_is_any(&self->system->requests, &own->opens);
    /* Relaxed: for showing. */
    *state = (med_endpoint_state){.connected = channel != 0,
                                  .open_pending = opens,
                                  .gets = atomic32_load_relaxed(&row->gets)};
    got_by_get(system, row, state);
    if (channel) {
        const med_lane_row *lane = med_lane_at(system, med_handle_index(channel));
        /* Relaxed, all: fixed, or for showing. */
        bool consumer = atomic32_load_relaxed(&lane->row.key_high) == endpoint;
        state->side = consumer ? MED_LANE_CONSUMER : MED_LANE_PRODUCER;
        state->kind = (med_lane_kind)atomic32_load_relaxed(&lane->kind);
        state->open = atomic32_load_relaxed(&lane->ends) & MED_LANE_OPEN(state->side);
    }
    return MEDLEY_OK;
}
