/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Our ring without its wake check, as fast as it can be then: nobody who sleeps is looked for, so
 * what is free and filled need not be written where the other side could change it.
 */
#include "base/ring_spsc.h"

static inline medley_status_t
silent_reserve(med_ring_producer *producer, med_ring_layout layout, void **slot)
{
    uint32_t tail = med_ring_tail(producer);
    if (med_ring_used_up(producer, tail)) {
        medley_status_t status = med_ring_look_for_space(producer, tail);
        if (status != MEDLEY_OK) {
            return status;
        }
    }
    *slot = med_ring_slot(&producer->view, tail);
    med_ring_mark(producer, layout, tail, *slot);
    return MEDLEY_OK;
}

static inline void
silent_commit_many(med_ring_producer *producer, med_ring_layout layout, uint32_t count)
{
    uint32_t tail = med_ring_tail(producer);
    if (layout == MED_RING_LINE) {
        med_ring_fill_slots(&producer->view, tail, count);
        producer->tail = tail + count;
    } else {
        med_ring_hand_over(producer, tail + count);
    }
}

static inline medley_status_t
silent_peek(med_ring_consumer *consumer, med_ring_layout layout, void **element)
{
    if (layout == MED_RING_LINE) {
        return med_ring_peek_as(consumer, layout, element);
    }
    if (consumer->head == consumer->filled) {
        medley_status_t status = med_ring_look_for_data(consumer, 1);
        if (status != MEDLEY_OK) {
            return status;
        }
    }
    atomic32_store_relaxed(&consumer->end->reading, consumer->head + 1);
    *element = med_ring_slot(&consumer->view, consumer->head);
    return MEDLEY_OK;
}

static inline medley_status_t
silent_push(med_ring_producer *producer, med_ring_layout layout, const void *from, uint32_t bytes)
{
    void *slot;
    medley_status_t status = silent_reserve(producer, layout, &slot);
    if (status == MEDLEY_OK) {
        med_ring_copy(slot, from, bytes);
        med_ring_publish_as(producer, layout);
    }
    return status;
}

static inline medley_status_t
silent_pop(med_ring_consumer *consumer, med_ring_layout layout, void *to, uint32_t bytes)
{
    void *slot;
    medley_status_t status = silent_peek(consumer, layout, &slot);
    if (status == MEDLEY_OK) {
        med_ring_copy(to, slot, bytes);
        med_ring_pass(consumer, 1);
    }
    return status;
}

#define med_ring_reserve_as silent_reserve
#define med_ring_commit_as med_ring_publish_as
#define med_ring_commit_many_as silent_commit_many
#define med_ring_peek_as silent_peek
#define med_ring_release(consumer) med_ring_pass(consumer, 1)
#define med_ring_release_many med_ring_pass
#define med_ring_push_as silent_push
#define med_ring_pop_as silent_pop

#include "ring_own_loops.h"

OWN_SYSTEM(
    ring_packed_silent, packed_, "medley packed, no wake check", LAYOUT_PACKED, MED_RING_PACKED)
OWN_SYSTEM(ring_line_silent, line_, "medley line, no wake check", LAYOUT_LINE, MED_RING_LINE)
