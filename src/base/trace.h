/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The trace: what happened, in shared memory, the oldest overwritten by the newest. Anybody writes,
 * whenever the trace is on; anybody reads, at the same time or after everybody died.
 *
 * Words
 *   event    what happened: a number that means something to the modules that write and read it
 *   node     who it happened to; 0: somebody who is no node
 *   lane     a ring of records of its own. There are a few, and node modulo lanes picks one, so
 *            that nodes do not write the same cache lines; times put them together again
 *   ticket   a record's number in its lane, modulo 2^31
 *
 * Where there is none, an event costs one load, of the writer's own view, and a branch; where there
 * is one that is off, one more of each.
 *
 * In memory, at a multiple of 64 bytes; no pointers, one layout for 32 and 64 bits:
 *
 *   0        constants, and whether it is on                  med_trace_shared
 *   64       the next ticket, one line per lane               med_trace_lane
 *   ...      the records of lane 0, of lane 1, ...            med_trace_slot, 32 bytes each
 */
#ifndef MEDLEY_BASE_TRACE_H
#define MEDLEY_BASE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/stamp.h"
#include "medley/status.h"

#define MED_TRACE_LANES_MAX 64u
#define MED_TRACE_RECORDS_MAX 0x100000u

typedef struct med_trace_shared {
    med_stamp stamp; /* constant, like lanes and records */
    atomic32 lanes;
    atomic32 records; /* of a lane; a power of two */
    atomic32 enabled; /* by anybody */
    uint32_t reserved[11];
} med_trace_shared;

typedef struct med_trace_lane {
    atomic32 next; /* by all who write to the lane: twice the next ticket */
    uint32_t reserved[15];
} med_trace_lane;

/* Written by who has it claimed, and by nobody else. */
typedef struct med_trace_slot {
    atomic32 writer;   /* the node that is writing; 0: nobody */
    atomic32 sequence; /* twice the ticket, plus one once the record is whole */
    atomic32 time_low;
    atomic32 time_high;
    atomic32 node;
    atomic32 event;
    atomic32 words[2];
} med_trace_slot;
_Static_assert(sizeof(med_trace_shared) == 64, "layout in shared memory");
_Static_assert(sizeof(med_trace_lane) == 64, "layout in shared memory");
_Static_assert(sizeof(med_trace_slot) == 32, "layout in shared memory");

/* One process's view: private, constant, may be copied. */
typedef struct med_trace {
    const atomic32 *enabled; /* NULL: no trace, never on; and so is `shared` */
    med_trace_shared *shared;
    med_trace_lane *lanes;
    med_trace_slot *slots;
    uint32_t lane_mask;
    uint32_t record_mask;
} med_trace;

/* The view of those who have no trace: off for ever. */
extern const med_trace med_trace_none;

/* What the trace needs; 0 when there is no such trace: both numbers are powers of two. */
size_t med_trace_size(uint32_t lanes, uint32_t records);
/* Makes an empty trace, off. MEDLEY_ERR_ARGUMENT: numbers, size or alignment. */
medley_status_t
med_trace_init(void *memory, size_t size_bytes, uint32_t lanes, uint32_t records, med_trace *trace);
/* The view of a trace that another made. MEDLEY_ERR_BYTE_ORDER, _VERSION, _CORRUPT; _ARGUMENT when
 * the memory is not aligned. Whatever the memory holds then or later, no call touches anything
 * outside it or fails to return. */
medley_status_t med_trace_attach(void *memory, size_t size_bytes, med_trace *trace);
/* For all who write to it, in every process. */
void med_trace_enable(const med_trace *trace, bool on);

/* Writes the record. Lock-free; any thread, also one that may die at any instruction. A record is
 * given up, and never written, when another writer was stopped in its slot a whole ring ago. */
void med_trace_write(
    const med_trace *trace, uint32_t node, uint32_t event, uint32_t first, uint32_t second);

static inline bool
med_trace_is_on(const med_trace *trace)
{
    /* Relaxed: some time after it is switched is soon enough. */
    return __builtin_expect(trace->enabled && atomic32_load_relaxed(trace->enabled), 0);
}

/* What modules call where something happens. */
static inline void
med_trace_event(
    const med_trace *trace, uint32_t node, uint32_t event, uint32_t first, uint32_t second)
{
    if (med_trace_is_on(trace)) {
        med_trace_write(trace, node, event, first, second);
    }
}

/* Frees the slots that a dead node was writing; how many. Its half-written records stay
 * half-written. Idempotent; may die and be called anew; by several at once. One pass over its lane.
 */
uint32_t med_trace_recover(const med_trace *trace, uint32_t dead_node);

/* ---- Reading --------------------------------------------------------------------------------- */
typedef struct med_trace_record {
    uint64_t time_ns;
    uint32_t node;
    uint32_t event;
    uint32_t words[2];
} med_trace_record;

/* A reader's place in one lane; each reader's own. */
typedef struct med_trace_cursor {
    uint32_t lane;
    uint32_t next;        /* twice the ticket it reads next */
    uint32_t overwritten; /* records that were gone before they were read, wrapping */
    uint32_t skipped;     /* by med_trace_skip, wrapping */
} med_trace_cursor;

/* To the oldest record that may still be there. MEDLEY_ERR_ARGUMENT: no such lane. */
medley_status_t med_trace_rewind(const med_trace *trace, uint32_t lane, med_trace_cursor *cursor);
/* The next record, oldest first, and on to the one after it; records that were overwritten are
 * counted and passed over. MEDLEY_EMPTY: nothing newer; MEDLEY_EMPTY_PRODUCER_INSERTING: the next
 * is not whole: its writer is at it, or dead, or gave it up; who has no patience left skips it.
 * Wait-free. */
medley_status_t
med_trace_read(const med_trace *trace, med_trace_cursor *cursor, med_trace_record *record);
void med_trace_skip(med_trace_cursor *cursor);
/* So many records, from the cursor's place on, somebody has begun: whole or not, and perhaps
 * overwritten. 0: no such lane. */
uint32_t med_trace_begun(const med_trace *trace, const med_trace_cursor *cursor);

#endif
