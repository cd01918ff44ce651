/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is not on the way of every message: skipping the ring's end, looking for more than was seen,
 * and counting the records that are there, by either side.
 */
#include "mcapi/record.h"

medley_status_t
med_record_skip(med_ring_producer *ring, uint32_t granules)
{
    uint32_t tail = med_ring_tail(ring);
    uint32_t bytes = granules * MED_LANE_GRANULE_BYTES - (uint32_t)sizeof(med_record_header);
    uint32_t leads_on = med_record_lead_on(ring, tail + granules);
    med_record_header_set(med_record_at(&ring->view, tail), MED_RECORD_SKIP | leads_on, bytes);
    med_ring_hand_over(ring, tail + granules); /* wakes nobody: the record behind it does that */
    return MEDLEY_OK;
}

/* What is no record, which only a bad peer can have put there, counts as if each granule were. */
uint32_t
med_record_count_buffers(const med_ring_producer *ring, uint32_t enough)
{
    const med_ring_view *view = &ring->view;
    const uint32_t plain_max = med_record_plain_max(view);
    const uint32_t tail = med_ring_tail(ring);
    uint32_t count = 0;
    for (uint32_t index = tail - med_lane_in_use(ring); index != tail && count < enough;) {
        med_record record;
        uint32_t run = med_ring_run(view, index, tail - index);
        if (med_record_read_in(view, plain_max, index, run, &record) != MEDLEY_OK) {
            count += tail - index;
            break;
        }
        count += record.kind == MED_RECORD_BUFFER;
        index += record.granules;
    }
    return count < enough ? count : enough;
}

medley_status_t
med_record_look(med_lane_own *lane)
{
    med_ring_consumer *ring = &lane->consumer.ring;
    /* Relaxed: it is looked at again. What was found by its header may be ahead of it: by a record,
     * whose tail is not stored, or not seen yet. That stays found. */
    uint32_t tail = atomic32_load_relaxed(&ring->view.ring->producer.tail);
    uint32_t ahead = ring->filled - tail;
    if (__builtin_expect(ahead != 0 && ahead <= ring->view.mask, 0)) {
        return MEDLEY_EMPTY;
    }
    lane->consumer.headers = MED_RECORD_HEADERS_MAX;
    medley_status_t status = med_ring_look_for_data(ring, 1);
    if (status == MEDLEY_OK) {
        med_lane_note_use(lane->consumer.row, MED_LANE_CONSUMER, ring->filled - ring->head);
    }
    return status;
}

/* The record at an index that follows those before it, of which the last leads on or not. */
static medley_status_t
look_on(med_lane_own *lane, uint32_t index, bool leads_on, med_record *record)
{
    const med_ring_consumer *ring = &lane->consumer.ring;
    uint32_t known = ring->filled - index;
    uint32_t room = ring->head + ring->view.mask + 1 - index;
    if (known == 0 && (room == 0 || !med_record_goes_by_header(lane, leads_on))) {
        return MEDLEY_EMPTY;
    }
    uint32_t run = med_ring_run(&ring->view, index, known ? known : room);
    medley_status_t status = med_record_read(lane, index, run, record);
    if (status == MEDLEY_OK && known == 0) {
        med_record_found_by_header(lane, index + record->granules);
    }
    return status;
}

uint32_t
med_record_count(med_lane_own *lane)
{
    uint32_t index = lane->consumer.ring.head;
    bool leads_on = lane->consumer.leads_on;
    uint32_t count = 0;
    med_record record;
    (void)med_record_look(lane);
    while (look_on(lane, index, leads_on, &record) == MEDLEY_OK) {
        count += record.kind != MED_RECORD_SKIP;
        index += record.granules;
        leads_on = record.leads_on;
    }
    return count;
}
