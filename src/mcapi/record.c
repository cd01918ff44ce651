/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "mcapi/record.h"

medley_status_t
med_record_skip(med_ring_producer *ring, uint32_t granules)
{
    uint32_t tail = med_ring_tail(ring);
    uint32_t bytes = granules * MED_LANE_GRANULE_BYTES - (uint32_t)sizeof(med_record_header);
    med_record_header_set(med_ring_slot(&ring->view, tail), MED_RECORD_SKIP, bytes);
    /* R1 record filled -> A1 (ring_spsc.h). Nobody is woken: the record behind it does that. */
    atomic32_store_release(&ring->view.ring->tail, tail + granules);
    return MEDLEY_OK;
}

uint32_t
med_record_count(med_ring_consumer *ring)
{
    med_ring_consumer ahead = *ring; /* looks on, and gives nothing back */
    uint32_t count = 0;
    ahead.filled = ahead.head + med_ring_ready(ring);
    while (ahead.head != ahead.filled) {
        uint32_t run = med_ring_run(&ahead.view, ahead.head, ahead.filled - ahead.head);
        med_record record;
        if (med_record_read(med_ring_slot(&ahead.view, ahead.head), &ahead.view, run, &record) !=
            MEDLEY_OK) {
            return count;
        }
        count += record.kind != MED_RECORD_SKIP;
        ahead.head += record.granules;
    }
    return count;
}
