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
 * One line. Where few come, a record is found by its header alone, so that the tail's line does not
 * change hands as well. Where the next will begin, NONE stands before the record ahead of it is
 * there, and that record says that it does (LEADS_ON): without, nobody looks there. So what lies
 * there from before, a payload perhaps, is never taken for a header. A record does not lead on
 * where the producer does not know that place to be free; the next is found by the tail. Where many
 * come, as the ring's pace says, they are found by the tail, many by one look; where few do, by one
 * look in so many, so that the pace learns when there are more. In a small build none leads on.
 *
 *             linearises at
 *   publish   the store of the header (H1) or of the tail (R1), by which it is found
 *   peek      the look at it (H2, A1) that finds it
 *
 * Both are wait-free. Who dies between the header and the tail may have sent it or not. Model:
 * models/record.pml.
 *
 * Trust. A header is read once; a length that is no record's, or reaches beyond what the ring says
 * is there, is MEDLEY_ERR_CORRUPT.
 */
#ifndef MEDLEY_MCAPI_RECORD_H
#define MEDLEY_MCAPI_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pool.h"
#include "base/ring_spsc.h"
#include "mcapi/lane.h"
#include "mcapi/watch.h"

typedef enum med_record_kind {
    MED_RECORD_NONE,   /* nothing is there yet: where the next will begin */
    MED_RECORD_SKIP,   /* nothing; `bytes` are those up to the ring's end */
    MED_RECORD_PLAIN,  /* `bytes` of payload follow */
    MED_RECORD_BUFFER, /* a med_pool_buffer follows; `bytes` are those in it */
} med_record_kind;

/* Beside the kind: where the next will begin was NONE before this one was there. */
#define MED_RECORD_LEADS_ON 0x100u

typedef struct med_record_header {
    uint32_t bytes;
    atomic32 kind;
} med_record_header;
_Static_assert(sizeof(med_record_header) == 8, "the same in every build");

typedef struct med_record {
    uint32_t bytes;
    med_record_kind kind;
    bool leads_on;
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

/* Where the granule of that index lies, of a ring that was checked to be of granules. */
static inline unsigned char *
med_record_at(const med_ring_view *view, uint32_t index)
{
    return view->slots + (size_t)(index & view->mask) * MED_LANE_GRANULE_BYTES;
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

/* If the place where the next will begin is known to be free: says there that nothing is there yet.
 * What the kind of the record before it is to have beside it. */
static inline uint32_t
med_record_lead_on(const med_ring_producer *ring, uint32_t next)
{
    if (med_port_is_small() || __builtin_expect(med_ring_used_up(ring, next), 0)) {
        return 0;
    }
    med_record_header *header = (med_record_header *)(void *)med_record_at(&ring->view, next);
    /* Relaxed: H1 of the record before it comes after, and nobody looks here without. */
    atomic32_store_relaxed(&header->kind, MED_RECORD_NONE);
    return MED_RECORD_LEADS_ON;
}

/* Behind its payload. `kind` as it stands there. */
static inline void
med_record_header_set(unsigned char *slot, uint32_t kind, uint32_t bytes)
{
    med_record_header *header = (med_record_header *)(void *)slot;
    header->bytes = bytes;
    atomic32_store_release(&header->kind, kind); /* H1 record filled -> H2 (med_record_read_in) */
}

/* Hands over what is filled before `next`, and wakes the consumer if it sleeps. */
static inline void
med_record_publish(med_lane_own *lane, uint32_t next)
{
    med_ring_hand_over(&lane->producer.ring, next);
    med_watch_wake(lane);
}

/* How many of the records under way name a buffer, from the head as last seen; or `enough`, if they
 * are as many. */
uint32_t med_record_count_buffers(const med_ring_producer *ring, uint32_t enough);

/* ---- The consumer ---------------------------------------------------------------------------- */

/* So many are found by their headers, before one look at the tail: whether there are many. */
#define MED_RECORD_HEADERS_MAX 64u

/* The record is done with. */
static inline void
med_record_pass(med_lane_own *lane, uint32_t granules, bool leads_on)
{
    med_ring_pass(&lane->consumer.ring, granules);
    lane->consumer.leads_on = leads_on;
}

/* Gives the granules of records back, of which the last leads on or not, and wakes the producer if
 * it sleeps. */
static inline void
med_record_release(med_lane_own *lane, uint32_t granules, bool leads_on)
{
    med_record_pass(lane, granules, leads_on);
    med_lane_wake(&lane->consumer.news);
}

/* What stands at the beginning of a run of granules, at an index. MEDLEY_EMPTY: nothing
 * yet; MEDLEY_ERR_CORRUPT: no record, nor one with more than `plain_max` in the lane. */
static inline medley_status_t
med_record_read_in(
    const med_ring_view *view, uint32_t plain_max, uint32_t index, uint32_t run, med_record *record)
{
    unsigned char *at = med_record_at(view, index);
    const med_record_header *header = (const med_record_header *)(void *)at;
    uint32_t word = atomic32_load_acquire(&header->kind); /* H2 record filled <- H1 */
    if (__builtin_expect(word == MED_RECORD_NONE, 0)) {
        return MEDLEY_EMPTY;
    }
    uint32_t bytes = header->bytes;
    __asm__("" : "+r"(bytes)); /* what is checked is what is used */
    uint32_t kind = word & ~MED_RECORD_LEADS_ON;
    uint32_t in_lane = kind == MED_RECORD_BUFFER ? sizeof(med_pool_buffer) : bytes;
    if (__builtin_expect(in_lane > plain_max, 0) ||
        __builtin_expect(kind - MED_RECORD_SKIP > MED_RECORD_BUFFER - MED_RECORD_SKIP, 0)) {
        return MEDLEY_ERR_CORRUPT;
    }
    record->bytes = bytes;
    record->kind = (med_record_kind)kind;
    record->leads_on = kind != word;
    record->payload = at + sizeof *header;
    record->granules = med_record_granules(in_lane);
    return __builtin_expect(record->granules <= run, 1) ? MEDLEY_OK : MEDLEY_ERR_CORRUPT;
}

/* The same, by the consumer. */
static inline medley_status_t
med_record_read(const med_lane_own *lane, uint32_t index, uint32_t run, med_record *record)
{
    return med_record_read_in(&lane->consumer.ring.view, lane->consumer.plain_max, index, run,
                              record);
}

/* Is the next to be found by its header, where the one before it leads on or not? */
static inline bool
med_record_goes_by_header(const med_lane_own *lane, bool leads_on)
{
    return !med_port_is_small() && leads_on && lane->consumer.headers &&
           !lane->consumer.ring.pace.moment_ns;
}

/* One was found so, which ends there. */
static inline void
med_record_found_by_header(med_lane_own *lane, uint32_t end)
{
    lane->consumer.ring.filled = end;
    lane->consumer.headers--;
}

/* The next, if no look at the tail is needed: MEDLEY_EMPTY. */
static inline medley_status_t
med_record_at_hand(med_lane_own *lane, med_record *record)
{
    med_ring_consumer *ring = &lane->consumer.ring;
    uint32_t known = ring->filled - ring->head;
    if (__builtin_expect(known != 0, 1)) {
        known = med_ring_run(&ring->view, ring->head, known); /* whole records only */
        medley_status_t status = med_record_read(lane, ring->head, known, record);
        return __builtin_expect(status == MEDLEY_EMPTY, 0) ? MEDLEY_ERR_CORRUPT : status;
    }
    if (!med_record_goes_by_header(lane, lane->consumer.leads_on)) {
        return MEDLEY_EMPTY;
    }
    uint32_t run = med_ring_run(&ring->view, ring->head, ring->view.mask + 1);
    medley_status_t status = med_record_read(lane, ring->head, run, record);
    if (status == MEDLEY_OK) {
        med_record_found_by_header(lane, ring->head + record->granules);
    }
    return status;
}

/* A look at the tail. MEDLEY_EMPTY, MEDLEY_EMPTY_PRODUCER_INSERTING: nothing that was not found
 * before; MEDLEY_ERR_CORRUPT. */
medley_status_t med_record_look(med_lane_own *lane);

/* The next record, skips passed over. MEDLEY_EMPTY, MEDLEY_EMPTY_PRODUCER_INSERTING,
 * MEDLEY_ERR_CORRUPT. The same again until it is released. */
static inline medley_status_t
med_record_peek(med_lane_own *lane, med_record *record)
{
    const med_ring_consumer *ring = &lane->consumer.ring;
    for (uint32_t skips = 0; skips < 2; skips++) {
        medley_status_t status = MEDLEY_OK;
        if (ring->head == ring->filled &&
            !med_record_goes_by_header(lane, lane->consumer.leads_on)) {
            status = med_record_look(lane);
        }
        if (__builtin_expect(status == MEDLEY_OK, 1)) {
            status = med_record_at_hand(lane, record);
        }
        if (__builtin_expect(status != MEDLEY_OK || record->kind != MED_RECORD_SKIP, 1)) {
            return status;
        }
        /* Nobody is woken: the next record does that. */
        med_record_pass(lane, record->granules, record->leads_on);
    }
    return MEDLEY_ERR_CORRUPT; /* two skips in a row */
}

/* How many there are, up to one that is none: as many as one look finds, and then their headers. A
 * med_record_peek finds each of them. */
uint32_t med_record_count(med_lane_own *lane);

#endif
