/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads rows that others change meanwhile, and writes nothing. What went while it was read is not
 * shown; whose owner went, as of nobody known.
 */
#include "mcapi/view.h"

#include "mcapi/endpoint.h"
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
    end->owner_known = index < system->limits.nodes &&
                       med_view_node_name(system, index, &ref, &end->domain, &end->node) &&
                       ref == owner;
}

bool
med_view_endpoint_read(const med_system *system, uint32_t index, med_view_endpoint *view)
{
    const med_endpoint_row *row = med_endpoint_at(system, index);
    uint32_t state = seen(&row->row.state);
    if (med_row_state_of(state) != MED_ROW_LIVE) {
        return false;
    }
    med_handle handle = med_handle_make(MED_HANDLE_ENDPOINT, index, med_row_generation_of(state));
    end_read(system, row, &view->name);
    view->closing = seen(&row->closing) != 0;
    view->connected = med_endpoint_channel(system, handle) != 0;
    view->gets = seen(&row->gets);
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
