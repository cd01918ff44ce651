/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The trace. What may run together: everything, by anybody.
 *
 * A writer draws a ticket, which names its slot, and claims the slot: whoever is stopped while he
 * writes keeps it, and the writer of the next lap gives its record up rather than write beside him.
 * One that was stopped between ticket and claim may find that a later lap has passed: then it is he
 * who gives up. So in a slot one writer writes at a time, and sequences only go forward.
 *
 * sequence is 2t while the record of ticket t is written, 2t + 1 once it is whole, and tickets
 * count modulo 2^31: all comparisons are of differences. A lane's slots start with an even
 * sequence, so nothing that was never written looks whole.
 *
 * Why a reader gets no mixture. It finds 2t+1 (A1): all of t is there. It copies the words. Should
 * one of them come from a later writer, then it was loaded with acquire from a store with release
 * (R2 -> A2), before which that writer set the sequence; so the second look at the sequence, after
 * the copy, differs, and the copy is thrown away.
 *
 * Linearisation: write, the store of 2t+1; read, the second load of the sequence. Progress: both
 * are wait-free but for the loop in the ticket's fetch-and-add where the processor has none. Death:
 * of a writer with a ticket and no claim: that record is never there. With a claim: the slot is
 * unused until recover frees it; all other slots go on. Readers skip both.
 */
#include "base/trace.h"

#include "port/port.h"

#define KIND MED_STAMP_KIND('T', 'R', 'A', 'C')
#define VERSION 1u
/* Writes in the name of somebody who is no node; should he die in it, nobody recovers the slot. */
#define ANONYMOUS UINT32_MAX

const med_trace med_trace_none = {.enabled = NULL};

static bool
is_power_of_two(uint32_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

size_t
med_trace_size(uint32_t lanes, uint32_t records)
{
    if (!is_power_of_two(lanes) || lanes > MED_TRACE_LANES_MAX || !is_power_of_two(records) ||
        records < 2 || records > MED_TRACE_RECORDS_MAX) {
        return 0;
    }
    uint64_t size_bytes = sizeof(med_trace_shared) + lanes * sizeof(med_trace_lane) +
                          (uint64_t)lanes * records * sizeof(med_trace_slot);
    return size_bytes <= UINT32_MAX ? (size_t)size_bytes : 0;
}

static void
view(void *memory, uint32_t lanes, uint32_t records, med_trace *trace)
{
    unsigned char *bytes = memory;
    trace->shared = memory;
    trace->enabled = &trace->shared->enabled;
    trace->lanes = (med_trace_lane *)(void *)(bytes + sizeof(med_trace_shared));
    trace->slots = (med_trace_slot *)(void *)(bytes + sizeof(med_trace_shared) +
                                              lanes * sizeof(med_trace_lane));
    trace->lane_mask = lanes - 1;
    trace->record_mask = records - 1;
}

medley_status_t
med_trace_init(void *memory, size_t size_bytes, uint32_t lanes, uint32_t records, med_trace *trace)
{
    size_t needed_bytes = med_trace_size(lanes, records);
    if (needed_bytes == 0 || !trace || !med_stamp_fits(memory, size_bytes, needed_bytes)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    view(memory, lanes, records, trace);
    /* Relaxed, all: the creator publishes the memory afterwards. */
    atomic32_store_relaxed(&trace->shared->lanes, lanes);
    atomic32_store_relaxed(&trace->shared->records, records);
    atomic32_store_relaxed(&trace->shared->enabled, 0);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        atomic32_store_relaxed(&trace->lanes[lane].next, 0);
    }
    for (uint32_t i = 0; i < lanes * records; i++) {
        med_trace_slot *slot = &trace->slots[i];
        atomic32_store_relaxed(&slot->writer, 0);
        /* As if the lap before the first had been begun and never finished. */
        atomic32_store_relaxed(&slot->sequence, 2 * (i % records) - 2 * records);
    }
    med_stamp_write(&trace->shared->stamp, KIND, VERSION);
    return MEDLEY_OK;
}

medley_status_t
med_trace_attach(void *memory, size_t size_bytes, med_trace *trace)
{
    if (!trace) {
        return MEDLEY_ERR_ARGUMENT;
    }
    const med_trace_shared *shared = memory;
    medley_status_t status = med_stamp_attach(memory, size_bytes, sizeof *shared, KIND, VERSION);
    if (status != MEDLEY_OK) {
        return status;
    }
    /* Relaxed, both: constant since before the memory was published; read once. */
    uint32_t lanes = atomic32_load_relaxed(&shared->lanes);
    uint32_t records = atomic32_load_relaxed(&shared->records);
    size_t needed_bytes = med_trace_size(lanes, records);
    if (needed_bytes == 0 || needed_bytes > size_bytes) {
        return MEDLEY_ERR_CORRUPT;
    }
    view(memory, lanes, records, trace);
    return MEDLEY_OK;
}

void
med_trace_enable(const med_trace *trace, bool on)
{
    if (trace->shared) {
        atomic32_store_relaxed(&trace->shared->enabled, on); /* relaxed: see med_trace_event */
    }
}

/* ---- Writing --------------------------------------------------------------------------------- */

static med_trace_slot *
slot_of(const med_trace *trace, uint32_t lane, uint32_t sequence)
{
    size_t first = (size_t)lane * (trace->record_mask + 1u);
    return &trace->slots[first + (sequence >> 1 & trace->record_mask)];
}

/* Is `a` a later sequence than `b`? They lie less than half the numbers apart. */
static bool
is_after(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

static void
fill(med_trace_slot *slot, const med_trace_record *record)
{
    /* R2 sequence even -> A2 (copy), each. */
    atomic32_store_release(&slot->time_low, (uint32_t)record->time_ns);
    atomic32_store_release(&slot->time_high, (uint32_t)(record->time_ns >> 32));
    atomic32_store_release(&slot->node, record->node);
    atomic32_store_release(&slot->event, record->event);
    atomic32_store_release(&slot->words[0], record->words[0]);
    atomic32_store_release(&slot->words[1], record->words[1]);
}

void
med_trace_write(
    const med_trace *trace, uint32_t node, uint32_t event, uint32_t first, uint32_t second)
{
    if (!trace->shared) {
        return;
    }
    med_trace_record record = {.time_ns = med_port_clock_common_ns(),
                               .node = node,
                               .event = event,
                               .words = {first, second}};
    uint32_t lane = node & trace->lane_mask;
    /* Relaxed: it only deals out numbers. */
    uint32_t sequence = atomic32_fetch_add_relaxed(&trace->lanes[lane].next, 2) & ~1u;
    med_trace_slot *slot = slot_of(trace, lane, sequence);
    uint32_t nobody = 0;
    if (!atomic32_cas_acquire(&slot->writer, &nobody,
                              node ? node : ANONYMOUS)) { /* A3 slot left <- R3 */
        return;
    }
    /* Relaxed, both: A3 showed us the last writer's; R2 makes it known that it is even. */
    if (is_after(sequence, atomic32_load_relaxed(&slot->sequence))) {
        atomic32_store_relaxed(&slot->sequence, sequence);
        fill(slot, &record);
        atomic32_store_release(&slot->sequence, sequence + 1u); /* R1 record whole -> A1 (read) */
    }
    atomic32_store_release(&slot->writer, 0); /* R3 slot left -> A3 (write) */
}

uint32_t
med_trace_recover(const med_trace *trace, uint32_t dead_node)
{
    uint32_t recovered = 0;
    if (!trace->shared || dead_node == 0 || dead_node == ANONYMOUS) {
        return 0;
    }
    uint32_t lane = dead_node & trace->lane_mask;
    for (uint32_t i = 0; i <= trace->record_mask; i++) {
        med_trace_slot *slot = slot_of(trace, lane, 2 * i);
        uint32_t expected = dead_node;
        /* Relaxed: a look that spares a compare-and-swap. R3 slot left -> A3 (write): what the dead
         * one wrote was made visible by his death, and goes on to the next writer. */
        if (atomic32_load_relaxed(&slot->writer) == dead_node &&
            atomic32_cas_release(&slot->writer, &expected, 0)) {
            recovered++;
        }
    }
    return recovered;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static uint32_t
next_of(const med_trace *trace, uint32_t lane)
{
    /* Relaxed: a bound; A1 is what shows a record. */
    return atomic32_load_relaxed(&trace->lanes[lane].next) & ~1u;
}

/* Passes over what the writers have lapped, as of `next`. */
static void
catch_up(const med_trace *trace, med_trace_cursor *cursor, uint32_t next)
{
    uint32_t oldest = next - 2u * (trace->record_mask + 1u);
    if (is_after(oldest, cursor->next)) {
        cursor->overwritten += (oldest - cursor->next) / 2u;
        cursor->next = oldest;
    }
}

medley_status_t
med_trace_rewind(const med_trace *trace, uint32_t lane, med_trace_cursor *cursor)
{
    if (!trace->shared || lane > trace->lane_mask) {
        return MEDLEY_ERR_ARGUMENT;
    }
    uint32_t next = next_of(trace, lane);
    uint32_t back = 2u * (trace->record_mask + 1u);
    /* In the first lap there are fewer; when numbers have just begun again the first is as good. */
    *cursor = (med_trace_cursor){.lane = lane, .next = next < back ? 0 : next - back};
    return MEDLEY_OK;
}

static void
copy(const med_trace_slot *slot, med_trace_record *record)
{
    /* A2 sequence even <- R2 (fill), each. */
    uint32_t low = atomic32_load_acquire(&slot->time_low);
    uint32_t high = atomic32_load_acquire(&slot->time_high);
    record->time_ns = (uint64_t)high << 32 | low;
    record->node = atomic32_load_acquire(&slot->node);
    record->event = atomic32_load_acquire(&slot->event);
    record->words[0] = atomic32_load_acquire(&slot->words[0]);
    record->words[1] = atomic32_load_acquire(&slot->words[1]);
}

medley_status_t
med_trace_read(const med_trace *trace, med_trace_cursor *cursor, med_trace_record *record)
{
    if (!trace->shared || cursor->lane > trace->lane_mask) {
        return MEDLEY_ERR_ARGUMENT;
    }
    for (uint32_t tries = 0; tries < 2; tries++) {
        uint32_t next = next_of(trace, cursor->lane);
        if (!is_after(next, cursor->next)) {
            return MEDLEY_EMPTY;
        }
        catch_up(trace, cursor, next);
        med_trace_record seen;
        const med_trace_slot *slot = slot_of(trace, cursor->lane, cursor->next);
        uint32_t whole = atomic32_load_acquire(&slot->sequence); /* A1 record whole <- R1 (write) */
        if (whole == cursor->next + 1u) {
            copy(slot, &seen);
            /* Relaxed: A2 has put it after whatever the copy saw. */
            if (atomic32_load_relaxed(&slot->sequence) == whole) {
                *record = seen;
                cursor->next += 2;
                return MEDLEY_OK;
            }
        } else if (!is_after(whole, cursor->next)) {
            return MEDLEY_EMPTY_PRODUCER_INSERTING;
        }
        /* Overwritten under our eyes: the lane's next has moved; once more from what is oldest now.
         */
    }
    return MEDLEY_EMPTY_PRODUCER_INSERTING;
}

void
med_trace_skip(med_trace_cursor *cursor)
{
    cursor->next += 2;
    cursor->skipped++;
}

uint32_t
med_trace_begun(const med_trace *trace, const med_trace_cursor *cursor)
{
    bool is_there = trace->shared && cursor->lane <= trace->lane_mask;
    return is_there ? (next_of(trace, cursor->lane) - cursor->next) / 2u : 0;
}
