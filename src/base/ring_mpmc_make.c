/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ring with many producers and consumers: how large it is, making it, and whether what somebody
 * attaches to is one. Nothing here runs beside anything else: the caller publishes the memory after
 * init, and what attach reads is constant from then on.
 */
#include "base/ring_mpmc_slot.h"

typedef struct shape {
    uint32_t sides;
    uint32_t element_bytes;
    uint32_t capacity;
    uint32_t stride_bytes;
    uint32_t size_bytes;
} shape;

static uint64_t
slots_offset(uint32_t sides)
{
    return sizeof(med_ring_mpmc) + med_ring_apart(sides * sizeof(atomic32));
}

/* Completes a shape whose sides, element_bytes and capacity are given; false when there is none. */
static bool
shape_complete(shape *s)
{
    if (s->sides < 1 || s->sides > MED_RING_MPMC_SIDES_MAX ||
        !med_ring_is_possible(s->element_bytes, s->capacity)) {
        return false;
    }
    s->stride_bytes = MED_RING_MPMC_ELEMENT_AT + (s->element_bytes + 7) / 8 * 8;
    uint64_t size = slots_offset(s->sides) + (uint64_t)s->capacity * s->stride_bytes;
    s->size_bytes = (uint32_t)size;
    return size <= UINT32_MAX;
}

static bool
shape_from_config(const med_ring_mpmc_config *config, shape *s)
{
    *s = (shape){.sides = config->sides,
                 .element_bytes = config->element_bytes,
                 .capacity = config->capacity};
    return shape_complete(s);
}

medley_status_t
med_ring_mpmc_size(const med_ring_mpmc_config *config, uint32_t *size_bytes)
{
    shape s;
    if (!shape_from_config(config, &s)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    *size_bytes = s.size_bytes;
    return MEDLEY_OK;
}

static med_ring_mpmc_view
view_of(void *memory, const shape *s, med_port_scope scope)
{
    uint8_t *bytes = memory;
    return (med_ring_mpmc_view){
        .ring = memory,
        .owners = (atomic32 *)(void *)(bytes + sizeof(med_ring_mpmc)),
        .slots = bytes + slots_offset(s->sides),
        .mask = s->capacity - 1,
        .capacity_log2 = (uint32_t)__builtin_ctz(s->capacity),
        .stride_bytes = s->stride_bytes,
        .element_bytes = s->element_bytes,
        .sides = s->sides,
        .scope = scope,
    };
}

medley_status_t
med_ring_mpmc_init(void *memory, size_t memory_bytes, const med_ring_mpmc_config *config)
{
    shape s;
    if (!shape_from_config(config, &s) || !med_stamp_fits(memory, memory_bytes, s.size_bytes)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    med_ring_mpmc_view view = view_of(memory, &s, MED_PORT_SCOPE_PROCESS);
    med_ring_mpmc *ring = view.ring;
    /* All relaxed: the caller publishes the memory. */
    atomic32_store_relaxed(&ring->shape.sides, s.sides);
    atomic32_store_relaxed(&ring->shape.element_bytes, s.element_bytes);
    atomic32_store_relaxed(&ring->shape.capacity, s.capacity);
    atomic32_store_relaxed(&ring->shape.stride_bytes, s.stride_bytes);
    atomic32_store_relaxed(&ring->shape.size_bytes, s.size_bytes);
    atomic32_store_relaxed(&ring->tail, config->first_index);
    atomic32_store_relaxed(&ring->head, config->first_index);
    atomic32_store_relaxed(&ring->data.word, 0);
    atomic32_store_relaxed(&ring->space.word, 0);
    for (uint32_t i = 0; i < s.sides; i++) {
        atomic32_store_relaxed(&view.owners[i], 0);
    }
    for (uint32_t i = 0; i < s.capacity; i++) {
        uint32_t index = config->first_index + i;
        atomic32_store_relaxed(mpmc_slot_word(&view, index),
                               mpmc_word_of(&view, index, 0, MPMC_FREE, 0));
    }
    med_stamp_write(&ring->shape.stamp, MED_RING_MPMC_KIND, MED_RING_MPMC_VERSION);
    return MEDLEY_OK;
}

medley_status_t
med_ring_mpmc_attach(med_ring_mpmc_view *view,
                     void *memory,
                     size_t memory_bytes,
                     med_port_scope scope)
{
    medley_status_t status = med_stamp_attach(memory, memory_bytes, sizeof(med_ring_mpmc),
                                              MED_RING_MPMC_KIND, MED_RING_MPMC_VERSION);
    if (status != MEDLEY_OK) {
        return status;
    }
    const med_ring_mpmc_shape *shared = &((med_ring_mpmc *)memory)->shape;
    /* All relaxed: constant since the memory was published. Each is read once, and not believed. */
    shape s = {.sides = atomic32_load_relaxed(&shared->sides),
               .element_bytes = atomic32_load_relaxed(&shared->element_bytes),
               .capacity = atomic32_load_relaxed(&shared->capacity)};
    uint32_t stride_bytes = atomic32_load_relaxed(&shared->stride_bytes);
    uint32_t size_bytes = atomic32_load_relaxed(&shared->size_bytes);
    if (!shape_complete(&s) || s.stride_bytes != stride_bytes || s.size_bytes != size_bytes ||
        size_bytes > memory_bytes) {
        return MEDLEY_ERR_CORRUPT;
    }
    *view = view_of(memory, &s, scope);
    return MEDLEY_OK;
}
