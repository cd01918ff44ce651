/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads rows that others change meanwhile, and writes nothing. What went while it was read is not
 * shown; whose owner went, as of nobody known.
 */
#include "mcapi/view.h"

#include "mcapi/endpoint.h"
#include "mrapi/shmem.h"
#include "mrapi/system.h"
#include "mrapi/view.h"

#define PRIORITY_SHIFT 28
#define SCALAR_BYTES 8u

/* Of rows that may change meanwhile, as in mrapi/view.c. */
static uint32_t
seen(const atomic32 *a)
{
    /* A1 live <- T1 (table.c); A2 key <- T2 (table.c) */
    return atomic32_load_acquire(a);
}

/* Under which node and port it is found. */
static void
end_read(const med_system *system, const med_endpoint_row *row, med_view_end *end)
{
    uint32_t owner = seen(&row->row.key_high), ref;
    uint32_t index = med_node_ref_index(owner);
    end->port = seen(&row->row.key_low);
    end->owner_known =
        med_view_node_name(system, index, &ref, &end->domain, &end->node) && ref == owner;
}

static void
expected_read(const med_endpoint_row *row, med_view_endpoint *view)
{
    *view = (med_view_endpoint){.expected = true,
                                .name = {.owner_known = true,
                                         .domain = seen(&row->expected.domain),
                                         .node = seen(&row->expected.node),
                                         .port = seen(&row->expected.port)}};
}

static void
owned_read(const med_system *system, uint32_t index, uint32_t life, med_view_endpoint *view)
{
    const med_endpoint_row *row = med_endpoint_at(system, index);
    med_handle handle = med_handle_make(MED_HANDLE_ENDPOINT, index, life);
    view->expected = false;
    view->kept = seen(&row->is_kept) != 0;
    end_read(system, row, &view->name);
    view->closing = seen(&row->closing) != 0;
    view->connected = med_endpoint_channel(system, handle) != 0;
    view->gets = seen(&row->gets);
}

bool
med_view_endpoint_read(const med_system *system, uint32_t index, med_view_endpoint *view)
{
    const med_endpoint_row *row = med_endpoint_at(system, index);
    uint32_t state = seen(&row->row.state);
    if (med_row_state_of(state) != MED_ROW_LIVE) {
        return false;
    }
    if (seen(&row->row.key_high) == 0) {
        expected_read(row, view);
    } else {
        owned_read(system, index, med_row_generation_of(state), view);
    }
    return seen(&row->row.state) == state;
}

/* The end of a lane, by the handle, or all of it but the kind. */
static void
end_of(const med_system *system, uint32_t handle, med_view_end *end)
{
    uint32_t index = med_handle_index(handle);
    end->owner_known = false;
    if (index >= system->endpoints.row_count) {
        return;
    }
    const med_endpoint_row *row = med_endpoint_at(system, index);
    end_read(system, row, end);
    end->owner_known = end->owner_known && med_handle_is_current(handle, seen(&row->row.state));
}

static void
side_read(const med_lane_row *row, med_lane_side side, med_view_lane *view)
{
    uint32_t ends = seen(&row->ends), most = seen(&row->moved[side].most);
    view->side[side].open = ends & MED_LANE_OPEN(side);
    view->side[side].gone = ends & MED_LANE_GONE(side);
    /* Relaxed, both: for showing. */
    uint64_t count = view->kind == MED_LANE_SCALARS
                         ? med_lane_count_of_index(row, side)
                         : atomic64_load_relaxed(&row->moved[side].count);
    uint64_t bytes = atomic64_load_relaxed(&row->moved[side].bytes);
    view->side[side].count = count;
    view->side[side].bytes = view->kind == MED_LANE_SCALARS ? count * SCALAR_BYTES : bytes;
    view->side[side].waits = seen(&row->moved[side].waits);
    view->most = view->most > most ? view->most : most;
}

bool
med_view_lane_read(const med_system *system, uint32_t index, med_view_lane *view)
{
    const med_lane_row *row = med_lane_at(system, index);
    uint32_t state = seen(&row->row.state);
    uint32_t kind = seen(&row->kind);
    if (med_row_state_of(state) != MED_ROW_LIVE || kind > MED_LANE_STATES) {
        return false;
    }
    uint32_t from = seen(&row->row.key_low);
    *view = (med_view_lane){.kind = (med_lane_kind)kind, .priority = from >> PRIORITY_SHIFT};
    end_of(system, from, &view->side[MED_LANE_PRODUCER].name);
    end_of(system, seen(&row->row.key_high), &view->side[MED_LANE_CONSUMER].name);
    side_read(row, MED_LANE_CONSUMER, view); /* first: what was received had been sent */
    side_read(row, MED_LANE_PRODUCER, view);
    uint64_t sent = view->side[MED_LANE_PRODUCER].count;
    uint64_t received = view->side[MED_LANE_CONSUMER].count;
    view->depth = kind != MED_LANE_STATES && sent > received ? sent - received : 0;
    view->capacity = seen(&row->capacity);
    view->retries = seen(&row->moved[MED_LANE_CONSUMER].retries);
    view->retries_worst = seen(&row->moved[MED_LANE_CONSUMER].retries_worst);
    view->is_topic = from >> PRIORITY_SHIFT == MED_LANE_TOPIC;
    view->lost = seen(&row->moved[MED_LANE_PRODUCER].lost);
    return seen(&row->row.state) == state;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/* The number of the segment in which the exchange is; 0: there is none. */
static uint32_t
exchange_file(const med_system *system, uint32_t bytes)
{
    for (uint32_t i = 0; i < system->shmems.row_count; i++) {
        const med_shmem_row *row = (const med_shmem_row *)(void *)med_table_row(&system->shmems, i);
        uint32_t state = seen(&row->row.state);
        bool it_is = med_row_state_of(state) == MED_ROW_LIVE && seen(&row->row.key_high) == 0 &&
                     seen(&row->row.key_low) == MED_EXCHANGE_MEMORY_NUMBER &&
                     seen(&row->size_bytes) == bytes;
        uint32_t file = seen(&row->file);
        if (it_is && seen(&row->row.state) == state) {
            return file;
        }
    }
    return 0;
}

static bool
pool_read(const med_system *system, med_exchange_head *head, med_view_buffers *view)
{
    const med_limits *limits = &system->limits;
    med_pool pool;
    med_bit_set_statistics statistics;
    /* The pool may be in the making until then. */
    if (!seen(&head->ready) ||
        med_pool_attach(head + 1, med_pool_size(limits->buffers, limits->buffer_bytes), &pool) !=
            MEDLEY_OK) {
        return false;
    }
    med_bit_set_statistics_get(&pool.slots, &statistics);
    *view = (med_view_buffers){.count = pool.slots.capacity,
                               .bytes = pool.buffer_bytes,
                               .in_use = statistics.in_use,
                               .kept = statistics.claimed};
    return true;
}

bool
med_view_buffers_read(const med_system *system, med_view_buffers *view)
{
    uint32_t bytes = med_exchange_memory_bytes(&system->limits);
    uint32_t file = bytes ? exchange_file(system, bytes) : 0;
    med_port_segment segment;
    if (file == 0 || med_shmem_map_again(system, file, &segment) != MEDLEY_OK) {
        return false;
    }
    bool read = segment.size_bytes == bytes && pool_read(system, segment.address, view);
    med_port_segment_unmap(segment.address, segment.size_bytes, segment.place);
    return read;
}
