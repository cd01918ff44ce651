/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
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

medley_status_t
med_record_look(med_lane_own *lane)
{
    med_ring_consumer *ring = &lane->consumer.ring;
    /* Relaxed: it is looked at again. What was found by its header may be ahead of it: by a record,
     * whose tail is not stored, or not seen yet. */
    uint32_t tail = atomic32_load_relaxed(&ring->view.ring->tail);
    uint32_t ahead = ring->head - tail;
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

uint32_t
med_record_count(med_lane_own *lane)
{
    med_ring_consumer *ring = &lane->consumer.ring;
    uint32_t ready = med_ring_ready(ring);
    uint32_t head = ring->head;
    uint32_t count = 0;
    while (ready) {
        med_record record;
        uint32_t run = med_ring_run(&ring->view, head, ready);
        if (med_record_read(lane, head, run, &record) != MEDLEY_OK) {
            return count;
        }
        count += record.kind != MED_RECORD_SKIP;
        head += record.granules;
        ready -= record.granules;
    }
    return count;
}
