/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Records: what messages and packets are in a lane. Runs of granules of the lane's packed ring,
 * side by side: a header, then the payload or the name of the buffer that has it. Where the ring's
 * end is nearer than the record is long, a record of kind SKIP fills the rest up.
 *
 * What may run together, and why, is the ring's affair (ring_spsc.h): a record is published by one
 * store of the ring's tail, and given back by one of its head. Instead of the ring's own wait
 * objects that of the other side's node is woken, where its thread sleeps for everything.
 *
 * Trust. A header is read once; a length that is no record's, or reaches beyond what the ring says
 * is there, is MEDLEY_ERR_CORRUPT.
 */
#ifndef MEDLEY_MCAPI_RECORD_H
#define MEDLEY_MCAPI_RECORD_H

#include <stdint.h>

#include "base/pool.h"
#include "base/ring_spsc.h"
#include "mcapi/lane.h"

typedef enum med_record_kind {
    MED_RECORD_SKIP = 1, /* nothing; `bytes` are those up to the ring's end */
    MED_RECORD_PLAIN,    /* `bytes` of payload follow */
    MED_RECORD_BUFFER,   /* a med_pool_buffer follows; `bytes` are those in it */
} med_record_kind;

typedef struct med_record_header {
    uint32_t bytes;
    uint32_t kind;
} med_record_header;
_Static_assert(sizeof(med_record_header) == 8, "the same in every build");

typedef struct med_record {
    uint32_t bytes;
    med_record_kind kind;
    uint32_t granules;
    unsigned char *payload; /* in the lane */
} med_record;

static inline uint32_t
med_record_granules(uint32_t bytes)
{
    return (bytes + (uint32_t)sizeof(med_record_header) + MED_LANE_GRANULE_BYTES - 1) /
           MED_LANE_GRANULE_BYTES;
}

/* The longest payload that goes plainly: with its header, a quarter of the ring, or a granule. */
static inline uint32_t
med_record_plain_max(const med_ring_view *view)
{
    uint32_t granules = (view->mask + 1) / 4;
    return (granules ? granules : 1) * MED_LANE_GRANULE_BYTES - (uint32_t)sizeof(med_record_header);
}

/* ---- The producer ---------------------------------------------------------------------------- */

/* Fills the ring up to its end: MEDLEY_OK, and the next reservation begins at its start. */
medley_status_t med_record_skip(med_ring_producer *ring, uint32_t granules);

/* Room for a record of so many granules: one, or at most a quarter of the ring. MEDLEY_FULL, or
 * MEDLEY_FULL_CONSUMER_READING; MEDLEY_ERR_CORRUPT. The same again until it is published. */
static inline medley_status_t
med_record_reserve(med_ring_producer *ring, uint32_t granules, unsigned char **slot)
{
    void *at = NULL;
    uint32_t count;
    medley_status_t status = med_ring_reserve_many_as(ring, MED_RING_PACKED, granules, &at, &count);
    if (__builtin_expect(status == MEDLEY_OK && count < granules, 0)) {
        bool at_end = count == med_ring_run(&ring->view, med_ring_tail(ring), granules);
        status = at_end ? med_record_skip(ring, count) : MEDLEY_FULL;
        if (status == MEDLEY_OK) {
            status = med_ring_reserve_many_as(ring, MED_RING_PACKED, granules, &at, &count);
            status = status == MEDLEY_OK && count < granules ? MEDLEY_FULL : status;
        }
    }
    *slot = at;
    return status;
}

static inline void
med_record_header_set(unsigned char *slot, med_record_kind kind, uint32_t bytes)
{
    med_record_header *header = (med_record_header *)(void *)slot;
    header->bytes = bytes;
    header->kind = kind;
}

/* Hands it over, and wakes the consumer if it sleeps. */
static inline void
med_record_publish(med_ring_producer *ring, uint32_t granules, med_waker *news)
{
    uint32_t tail = med_ring_tail(ring);
    /* R1 record filled -> A1 (ring_spsc.h) */
    atomic32_store_release(&ring->view.ring->tail, tail + granules);
    med_waker_wake(news);
}

/* ---- The consumer ---------------------------------------------------------------------------- */

/* Gives the granules of a record back, and wakes the producer if it sleeps. */
static inline void
med_record_release(med_ring_consumer *ring, uint32_t granules, med_waker *news)
{
    med_ring_pass(ring, granules);
    med_waker_wake(news);
}

/* What stands at the beginning of a run of filled granules. MEDLEY_ERR_CORRUPT: no record. */
static inline medley_status_t
med_record_read(void *at, const med_ring_view *view, uint32_t run, med_record *record)
{
    med_record_header header = *(const med_record_header *)at;
    __asm__("" : "+r"(header.bytes), "+r"(header.kind)); /* what is checked is what is used */
    uint32_t in_lane = header.kind == MED_RECORD_BUFFER ? sizeof(med_pool_buffer) : header.bytes;
    if (__builtin_expect(in_lane > med_record_plain_max(view), 0) ||
        __builtin_expect(header.kind - MED_RECORD_SKIP > MED_RECORD_BUFFER - MED_RECORD_SKIP, 0)) {
        return MEDLEY_ERR_CORRUPT;
    }
    record->bytes = header.bytes;
    record->kind = (med_record_kind)header.kind;
    record->payload = (unsigned char *)at + sizeof header;
    record->granules = med_record_granules(in_lane);
    return __builtin_expect(record->granules <= run, 1) ? MEDLEY_OK : MEDLEY_ERR_CORRUPT;
}

/* The next record, skips passed over. MEDLEY_EMPTY, MEDLEY_EMPTY_PRODUCER_INSERTING,
 * MEDLEY_ERR_CORRUPT. The same again until it is released. */
static inline medley_status_t
med_record_peek(med_ring_consumer *ring, med_record *record)
{
    for (uint32_t skips = 0; skips < 2; skips++) {
        void *at;
        medley_status_t status = med_ring_peek_as(ring, MED_RING_PACKED, &at);
        if (__builtin_expect(status != MEDLEY_OK, 0)) {
            return status;
        }
        /* Whole records only: the tail stands behind one. */
        uint32_t run = med_ring_run(&ring->view, ring->head, ring->filled - ring->head);
        status = med_record_read(at, &ring->view, run, record);
        if (__builtin_expect(status != MEDLEY_OK || record->kind != MED_RECORD_SKIP, 1)) {
            return status;
        }
        med_ring_pass(ring, record->granules); /* nobody is woken: the next record does that */
    }
    return MEDLEY_ERR_CORRUPT; /* two skips in a row */
}

/* The next record, if no look at the producer is needed to find it. */
static inline bool
med_record_is_known(const med_ring_consumer *ring, med_record *record)
{
    uint32_t known = ring->filled - ring->head;
    uint32_t run = med_ring_run(&ring->view, ring->head, known);
    return __builtin_expect(known != 0, 1) &&
           med_record_read(med_ring_slot(&ring->view, ring->head), &ring->view, run, record) ==
               MEDLEY_OK;
}

/* The same of a lane, noting how much of its ring was in use when it looked. */
static inline medley_status_t
med_record_peek_in(med_lane_own *lane, med_record *record)
{
    med_ring_consumer *ring = &lane->consumer.ring;
    uint32_t known = ring->filled;
    medley_status_t status = med_record_peek(ring, record);
    if (ring->filled != known) {
        med_lane_note_use(lane->consumer.row, MED_LANE_CONSUMER, ring->filled - ring->head);
    }
    return status;
}

/* How many there are, up to one that is none: as many as one look finds. */
uint32_t med_record_count(med_ring_consumer *ring);

#endif
