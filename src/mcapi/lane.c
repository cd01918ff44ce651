/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lanes in the registry: made, and left for good. How a node's side of one is set up, for it to use
 * without asking again, is lane_own.c's. What may run together: everything, by any nodes.
 *
 *           linearises at
 *   make    the row's LIVE (T1 in table.c); that both endpoints are there is looked at under the
 *           lanes' lock
 *   take up the change of `ends`, by what publishes
 *   leave   the change of `ends`, G1; of the second to leave, the removal of the row
 *
 * While a side has not left, the row and its memory are that lane's and no other's: so each side
 * uses what it attached to without asking again. Both attach by the row's generation. A subscriber
 * makes his lane, and what publishes may not come to it for long: until it has taken it up, there
 * is one end, and nobody else to leave it.
 *
 * An endpoint that goes says so first (CLOSING in its row), then leaves all its lanes in one pass
 * with the lanes' lock held. A lane is made with that lock held: either the pass sees it, or its
 * maker sees CLOSING.
 *
 * Progress: make and leave block on the lanes' lock; is_gone is wait-free. Death: a node's recovery
 * leaves for its endpoints (endpoint.c). Who dies between the second GONE and the removal leaves a
 * row that nobody uses; whoever finds no free one removes it (sweep). Model: models/lane.pml.
 */
#include "mcapi/lane.h"

#include "mcapi/endpoint.h"
#include "mcapi/lane_memory.h"
#include "mrapi/system.h"

#define BOTH_GONE (MED_LANE_GONE(MED_LANE_PRODUCER) | MED_LANE_GONE(MED_LANE_CONSUMER))
#define ENDPOINT_MASK 0x0fffffffu

uint32_t
med_lane_row_bytes(const med_limits *limits)
{
    (void)limits;
    return sizeof(med_lane_row);
}

medley_status_t
med_lane_recover_rows(
    med_system *system, uint32_t first, uint32_t count, uint32_t node_ref, uint32_t thread_id)
{
    (void)system;
    (void)first;
    (void)count;
    (void)node_ref;
    (void)thread_id;
    return MEDLEY_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static uint32_t
power_of_two(uint32_t at_least)
{
    uint32_t power = 1;
    while (power < at_least && power < 1u << 31) {
        power *= 2;
    }
    return power;
}

/* As many granules, or all the bytes of a lane, if that is less; scalars need room for their widths
 * too. */
static med_ring_config
ring_config(const med_limits *limits, med_lane_kind kind, uint32_t granules)
{
    bool scalars = kind == MED_LANE_SCALARS;
    uint32_t bytes = scalars ? MED_LANE_SCALAR_BYTES + 1 : MED_LANE_GRANULE_BYTES;
    uint64_t wanted = (uint64_t)power_of_two(granules) * MED_LANE_GRANULE_BYTES;
    uint32_t most = wanted < limits->lane_bytes ? (uint32_t)wanted : limits->lane_bytes;
    uint32_t capacity = 1;
    while (capacity <= most / bytes / 2) {
        capacity *= 2;
    }
    return (med_ring_config){.layout = MED_RING_PACKED,
                             .element_bytes =
                                 scalars ? MED_LANE_SCALAR_BYTES : MED_LANE_GRANULE_BYTES,
                             .capacity = capacity};
}

med_ring_config
med_lane_ring_config_whole(const med_limits *limits, med_lane_kind kind)
{
    return ring_config(limits, kind, limits->lane_bytes / MED_LANE_GRANULE_BYTES);
}

size_t
med_lane_memory_bytes(const med_limits *limits)
{
    med_ring_config config = med_lane_ring_config_whole(limits, MED_LANE_MESSAGES);
    uint32_t bytes = 0;
    (void)med_ring_size(&config, &bytes); /* within its limits, as the limits are */
    return bytes;
}

/* Two buffers are the fewest of a cell. */
uint32_t
med_lane_state_bytes_max(const med_limits *limits)
{
    return med_state_cell_value_max(med_lane_memory_bytes(limits), MED_STATE_CELL_BUFFERS_MIN);
}

/* ---- Making ---------------------------------------------------------------------------------- */

static med_key
key_of(const med_lane_request *request)
{
    return (med_key){.high = request->to,
                     .low = med_lane_key_low(request->from, request->priority)};
}

typedef struct make_context {
    med_system *system;
    const med_lane_request *request;
    uint32_t side[2]; /* node references */
    /* As the endpoints are set: */
    med_lane_kind kind;   /* of packets, states */
    uint32_t elements;    /* granules, or buffers, that the receiver wants */
    uint32_t state_bytes; /* at most */
} make_context;

/* Scalars have no such form. */
static medley_status_t
shape_of(make_context *make)
{
    const med_lane_request *request = make->request;
    const med_system *system = make->system;
    make->kind = request->kind;
    make->elements = med_endpoint_setting_of(system, request->to, MED_ENDPOINT_RECEIVE_BUFFERS);
    if (request->kind == MED_LANE_MESSAGES ||
        !med_endpoint_setting_of(system, request->to, MED_ENDPOINT_BUFFER_TYPE)) {
        return MEDLEY_OK;
    }
    make->kind = MED_LANE_STATES;
    make->state_bytes = med_endpoint_setting_of(system, request->to, MED_ENDPOINT_MAX_PAYLOAD);
    return request->kind == MED_LANE_PACKETS ? MEDLEY_OK : MEDLEY_ERR_ACCESS;
}

/* With the lanes' lock held, as is the next. */
static medley_status_t
may_make(void *context)
{
    make_context *make = context;
    const med_lane_request *request = make->request;
    medley_status_t status =
        med_endpoint_owner(make->system, request->from, &make->side[MED_LANE_PRODUCER]);
    if (status == MEDLEY_OK) {
        status = med_endpoint_owner(make->system, request->to, &make->side[MED_LANE_CONSUMER]);
    }
    if (status == MEDLEY_OK) {
        status = shape_of(make);
    }
    if (status != MEDLEY_OK || request->kind == MED_LANE_MESSAGES) {
        return status;
    }
    status = med_endpoints_agree(make->system, request->from, request->to);
    if (status == MEDLEY_OK) {
        bool connected = (request->priority == MED_LANE_CHANNEL &&
                          med_endpoint_channel(make->system, request->from)) ||
                         med_endpoint_channel(make->system, request->to);
        status = connected ? MEDLEY_ERR_EXISTS : MEDLEY_OK;
    }
    return status;
}

/* What such a lane begins with: nothing in it. How many elements, or buffers, it has. */
static uint32_t
memory_init(const make_context *make, uint32_t index)
{
    const med_system *system = make->system;
    const med_exchange *exchange = system->exchange;
    void *memory = med_exchange_lane_memory(exchange, index);
    if (make->kind == MED_LANE_STATES) {
        return med_state_memory_init(system, memory, make->state_bytes, make->elements);
    }
    med_ring_config config = ring_config(&system->limits, make->kind, make->elements);
    (void)med_ring_init(memory, exchange->lane_stride, &config);
    return config.capacity;
}

/* Relaxed, all: published with the row, as the next. */
static void
moved_none(med_lane_row *lane, med_lane_side side)
{
    if (med_port_has_processes()) {
        atomic64_store_relaxed(&lane->moved[side].count, 0);
        atomic64_store_relaxed(&lane->moved[side].bytes, 0);
        atomic32_store_relaxed(&lane->moved[side].most, 0);
        atomic32_store_relaxed(&lane->moved[side].waits, 0);
        atomic32_store_relaxed(&lane->moved[side].retries, 0);
        atomic32_store_relaxed(&lane->moved[side].retries_worst, 0);
        atomic32_store_relaxed(&lane->moved[side].index, 0);
    }
    atomic32_store_relaxed(&lane->moved[side].lost, 0);
}

/* Relaxed, all: published with the row (T1 in table.c). */
static void
lane_fill(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    const make_context *make = context;
    med_lane_row *lane = (med_lane_row *)(void *)row;
    atomic32_store_relaxed(&lane->kind, make->kind);
    /* Release: those of this life are seen together with its CREATING. */
    uint32_t untaken = make->request->priority == MED_LANE_TOPIC ? MED_LANE_UNTAKEN : 0;
    atomic32_store_release(&lane->ends, generation << MED_LANE_LIFE_SHIFT |
                                            untaken); /* F1 ends -> F2 (lane_own.c) */
    for (uint32_t side = 0; side < 2; side++) {
        atomic32_store_relaxed(&lane->side[side], make->side[side]);
        moved_none(lane, (med_lane_side)side);
    }
    atomic32_store_relaxed(&lane->capacity, memory_init(make, index));
    if (make->request->kind != MED_LANE_MESSAGES) {
        med_handle channel = med_handle_make(MED_HANDLE_SENDER, index, generation);
        if (make->request->priority == MED_LANE_CHANNEL) {
            med_endpoint_channel_set(make->system, make->request->from, channel);
        }
        med_endpoint_channel_set(make->system, make->request->to, channel);
    }
}

/* Has each left who had an end? */
static bool
is_over(uint32_t ends)
{
    uint32_t taken = ends & MED_LANE_UNTAKEN ? MED_LANE_GONE(MED_LANE_CONSUMER) : BOTH_GONE;
    return (ends & taken) == taken;
}

/* Relaxed, both: of what life they are, they say; what lies there is looked at later (F2). */
bool
med_lane_take_up(med_lane_row *row, uint32_t generation)
{
    uint32_t ends = atomic32_load_relaxed(&row->ends), taken;
    do {
        if (ends >> MED_LANE_LIFE_SHIFT != generation || is_over(ends)) {
            return false;
        }
        taken = (ends & ~MED_LANE_UNTAKEN) | MED_LANE_OPEN(MED_LANE_PRODUCER);
    } while (!atomic32_cas_relaxed(&row->ends, &ends, taken));
    return true;
}

static medley_status_t
lane_remove(med_system *system, uint32_t index, uint32_t generation)
{
    med_exchange_lane_ended(system, index, generation);
    return med_table_remove(&system->lanes, index, generation);
}

/* Removes that life of it, if nobody uses it and nobody has removed it. Whether it did. */
static bool
sweep_one(med_system *system, uint32_t index, uint32_t generation)
{
    const med_lane_row *row = med_lane_at(system, index);
    /* G4 both gone, and done with the memory, which is the next lane's <- G1 (side_leaves). It
     * stays so as long as the generation does; else the removal says so. */
    bool over = is_over(atomic32_load_acquire(&row->ends));
    return over && lane_remove(system, index, generation) == MEDLEY_OK;
}

/* All of them. Whether there was anything. */
static bool
sweep(med_system *system)
{
    bool any = false;
    for (uint32_t i = 0; i < system->lanes.row_count; i++) {
        const med_lane_row *row = med_lane_at(system, i);
        uint32_t word = atomic32_load_acquire(&row->row.state); /* A1 live <- T1 (table.c) */
        if (med_row_state_of(word) == MED_ROW_LIVE) {
            any |= sweep_one(system, i, med_row_generation_of(word));
        }
    }
    return any;
}

/* For who found no row: whether there may be one now. */
static bool
others_come_free(med_self *self)
{
    return sweep(self->system) || med_lanes_give_up(self) || med_exchange_bury_due(self);
}

/* Those who sleep look what they can do for him. */
static void
refused(const med_self *self)
{
    med_limits_report(&self->system->limits, MED_LIMIT_LANES);
    if (med_port_has_threads()) {
        /* Relaxed: a hint. */
        (void)atomic32_fetch_add_relaxed(&self->exchange->exchange->head->lanes_wanted, 1);
    }
}

medley_status_t
med_lane_make(med_self *self,
              const med_lane_request *request,
              uint32_t *index,
              uint32_t *generation)
{
    med_system *system = self->system;
    make_context context = {.system = system, .request = request};
    med_table_insertion insertion = {
        .key = key_of(request), .may = may_make, .fill = lane_fill, .context = &context};
    medley_status_t status = MEDLEY_OK;
    for (bool again = true; again;) {
        insertion.index = UINT32_MAX; /* stays so, if an end of a channel is what exists */
        status = med_table_insert(&system->lanes, &insertion);
        again = (status == MEDLEY_ERR_LIMIT && others_come_free(self)) ||
                (status == MEDLEY_ERR_EXISTS && insertion.index != UINT32_MAX &&
                 sweep_one(system, insertion.index, insertion.generation));
    }
    *index = insertion.index;
    *generation = insertion.generation;
    if (status == MEDLEY_ERR_LIMIT) {
        refused(self);
    } else if (status == MEDLEY_OK) {
        med_endpoint_lane_made(system, request->to);
        if (request->priority == MED_LANE_TOPIC) {
            med_endpoint_lane_made(system, request->from);
        }
    }
    bool is_channel = request->kind != MED_LANE_MESSAGES;
    return status == MEDLEY_ERR_EXISTS && !is_channel ? MEDLEY_OK : status;
}

/* ---- Its end --------------------------------------------------------------------------------- */

/* Marks it, and wakes the other side. Whether it is over now. */
static bool
side_leaves(const med_system *system, med_lane_row *row, med_lane_side side)
{
    med_lane_side other = side == MED_LANE_PRODUCER ? MED_LANE_CONSUMER : MED_LANE_PRODUCER;
    /* Its maker may have died before it said so. Relaxed, both: constant until it has left. */
    uint32_t from = atomic32_load_relaxed(&row->row.key_low);
    uint32_t to = atomic32_load_relaxed(&row->row.key_high);
    if (side == MED_LANE_PRODUCER) {
        med_endpoint_lane_made(system, to);
    } else if (from == med_lane_key_low(from, MED_LANE_TOPIC)) {
        med_endpoint_lane_made(system, from);
    }
    /* G1 gone, and what was published before -> G2 (is_gone), G3 (here, the other side),
     * G4 (sweep_one).
     * G3 the other gone, and done with the memory <- G1 (here) */
    uint32_t before = atomic32_fetch_or_acq_rel(&row->ends, MED_LANE_GONE(side));
    if (med_port_has_threads() && !(before & MED_LANE_GONE(side))) {
        /* Relaxed: fixed when it was made. */
        med_wait *news = med_exchange_news_of(system, atomic32_load_relaxed(&row->side[other]));
        if (news) {
            med_wait_wake(news, system->scope);
        }
    }
    return is_over(before | MED_LANE_GONE(side));
}

medley_status_t
med_lane_leave(med_system *system, uint32_t index, uint32_t generation, med_lane_side side)
{
    med_lane_row *row = med_lane_at(system, index);
    if (!side_leaves(system, row, side)) {
        return MEDLEY_OK;
    }
    medley_status_t status = lane_remove(system, index, generation);
    return status == MEDLEY_ERR_STALE ? MEDLEY_OK : status;
}

typedef struct leave_context {
    med_system *system;
    med_handle endpoint;
    bool any_over;
} leave_context;

/* With the lanes' lock held. */
static medley_status_t
leave_all(void *context)
{
    leave_context *leave = context;
    med_system *system = leave->system;
    for (uint32_t i = 0; i < system->lanes.row_count; i++) {
        med_lane_row *row = med_lane_at(system, i);
        /* Relaxed, all: the lock orders them. */
        if (med_row_state_of(atomic32_load_relaxed(&row->row.state)) != MED_ROW_LIVE) {
            continue;
        }
        if (atomic32_load_relaxed(&row->row.key_high) == leave->endpoint) {
            leave->any_over |= side_leaves(system, row, MED_LANE_CONSUMER);
        }
        uint32_t from = atomic32_load_relaxed(&row->row.key_low) & ENDPOINT_MASK;
        if (from == (leave->endpoint & ENDPOINT_MASK)) {
            leave->any_over |= side_leaves(system, row, MED_LANE_PRODUCER);
        }
    }
    return MEDLEY_OK;
}

medley_status_t
med_lanes_leave(med_system *system, med_handle endpoint)
{
    leave_context context = {.system = system, .endpoint = endpoint};
    medley_status_t status = med_table_hold(&system->lanes, leave_all, &context);
    if (status == MEDLEY_OK && context.any_over) {
        (void)sweep(system);
    }
    return status;
}
