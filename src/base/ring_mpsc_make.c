/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ring with many producers: how large it is, making it, and whether what somebody attaches to
 * is one. Nothing here runs beside anything else: the caller publishes the memory after init, and
 * what attach reads is constant from then on.
 */
#include "base/ring_mpsc.h"

typedef struct shape {
    uint32_t lanes;
    uint32_t element_bytes;
    uint32_t capacity;
    uint32_t stride_bytes; /* from slot to slot of a lane */
    uint32_t lane_bytes;
    uint32_t size_bytes;
} shape;

static uint64_t
lanes_offset(uint32_t lanes)
{
    return sizeof(med_ring_mpsc) + med_ring_apart((uint64_t)lanes * sizeof(med_ring_mpsc_role));
}

static med_ring_config
lane_config(uint32_t element_bytes, uint32_t capacity, uint32_t first_index)
{
    return (med_ring_config){.layout = MED_RING_PACKED,
                             .element_bytes = element_bytes,
                             .capacity = capacity,
                             .first_index = first_index};
}

/* Completes a shape whose lanes, element_bytes and capacity are given; false when there is none. */
static bool
shape_complete(shape *s)
{
    med_ring_config config = lane_config(s->element_bytes, s->capacity, 0);
    uint32_t ring_bytes;
    if (s->lanes < 1 || s->lanes > MED_RING_MPSC_LANES_MAX ||
        med_ring_size(&config, &ring_bytes) != MEDLEY_OK) {
        return false;
    }
    uint64_t lane_bytes = med_ring_apart(ring_bytes);
    uint64_t size = lanes_offset(s->lanes) + s->lanes * lane_bytes;
    s->stride_bytes = (ring_bytes - (uint32_t)sizeof(med_ring)) / s->capacity;
    s->lane_bytes = (uint32_t)lane_bytes;
    s->size_bytes = (uint32_t)size;
    return size <= UINT32_MAX;
}

static bool
shape_from_config(const med_ring_mpsc_config *config, shape *s)
{
    *s = (shape){.lanes = config->lanes,
                 .element_bytes = config->element_bytes,
                 .capacity = config->capacity};
    return shape_complete(s);
}

medley_status_t
med_ring_mpsc_size(const med_ring_mpsc_config *config, uint32_t *size_bytes)
{
    shape s;
    if (!shape_from_config(config, &s)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    *size_bytes = s.size_bytes;
    return MEDLEY_OK;
}

static med_ring_mpsc_view
view_of(void *memory, const shape *s, med_port_scope scope)
{
    uint8_t *bytes = memory;
    return (med_ring_mpsc_view){
        .ring = memory,
        .roles = (med_ring_mpsc_role *)(void *)(bytes + sizeof(med_ring_mpsc)),
        .lanes_at = bytes + lanes_offset(s->lanes),
        .lanes = s->lanes,
        .lane_bytes = s->lane_bytes,
        .element_bytes = s->element_bytes,
        .stride_bytes = s->stride_bytes,
        .capacity = s->capacity,
        .scope = scope,
    };
}

medley_status_t
med_ring_mpsc_init(void *memory, size_t memory_bytes, const med_ring_mpsc_config *config)
{
    shape s;
    if (!shape_from_config(config, &s) || !med_stamp_fits(memory, memory_bytes, s.size_bytes)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    med_ring_mpsc_view view = view_of(memory, &s, MED_PORT_SCOPE_PROCESS);
    med_ring_mpsc *ring = view.ring;
    med_ring_config lane = lane_config(s.element_bytes, s.capacity, config->first_index);
    /* All relaxed: the caller publishes the memory. */
    atomic32_store_relaxed(&ring->shape.lanes, s.lanes);
    atomic32_store_relaxed(&ring->shape.element_bytes, s.element_bytes);
    atomic32_store_relaxed(&ring->shape.capacity, s.capacity);
    atomic32_store_relaxed(&ring->shape.lane_bytes, s.lane_bytes);
    atomic32_store_relaxed(&ring->shape.size_bytes, s.size_bytes);
    atomic32_store_relaxed(&ring->data.word, 0);
    atomic32_store_relaxed(&ring->consumer, 0);
    for (uint32_t i = 0; i < MED_RING_MPSC_LANES_MAX / 32; i++) {
        atomic32_store_relaxed(&ring->map[i], 0);
    }
    for (uint32_t i = 0; i < s.lanes; i++) {
        atomic32_store_relaxed(&view.roles[i].owner, 0);
        atomic32_store_relaxed(&view.roles[i].former, 0);
        (void)med_ring_init(med_ring_mpsc_lane(&view, i), s.lane_bytes,
                            &lane); /* it fits: shape_complete */
    }
    med_stamp_write(&ring->shape.stamp, MED_RING_MPSC_KIND, MED_RING_MPSC_VERSION);
    return MEDLEY_OK;
}

medley_status_t
med_ring_mpsc_attach(med_ring_mpsc_view *view,
                     void *memory,
                     size_t memory_bytes,
                     med_port_scope scope)
{
    medley_status_t status = med_stamp_attach(memory, memory_bytes, sizeof(med_ring_mpsc),
                                              MED_RING_MPSC_KIND, MED_RING_MPSC_VERSION);
    if (status != MEDLEY_OK) {
        return status;
    }
    const med_ring_mpsc_shape *shared = &((med_ring_mpsc *)memory)->shape;
    /* All relaxed: constant since the memory was published. Each is read once, and not believed. */
    shape s = {.lanes = atomic32_load_relaxed(&shared->lanes),
               .element_bytes = atomic32_load_relaxed(&shared->element_bytes),
               .capacity = atomic32_load_relaxed(&shared->capacity)};
    uint32_t lane_bytes = atomic32_load_relaxed(&shared->lane_bytes);
    uint32_t size_bytes = atomic32_load_relaxed(&shared->size_bytes);
    if (!shape_complete(&s) || s.lane_bytes != lane_bytes || s.size_bytes != size_bytes ||
        size_bytes > memory_bytes) {
        return MEDLEY_ERR_CORRUPT;
    }
    *view = view_of(memory, &s, scope);
    return MEDLEY_OK;
}
