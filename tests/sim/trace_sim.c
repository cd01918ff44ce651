/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The trace: a record that is read is one that was written, whole, and not read before; a slot that
 * a dead writer was in is freed.
 *
 * Actors: 0 to 2 write, 3 reads, 4 recovers.
 */
#include "base/trace.h"
#include "port/port.h"
#include "scenarios.h"

#define WRITERS 3u
#define EVENTS 6u
#define MEMORY_BYTES 4096u
#define PATIENCE 8u

#define RECORDS 2u

typedef struct notes {
    bool seen[WRITERS][EVENTS];
    uint64_t begun_ns[WRITERS][EVENTS]; /* the time before the event */
    uint64_t ended_ns[WRITERS][EVENTS]; /* and after it; 0: not yet */
} notes;

static void
begin(const sim_actor *director)
{
    med_trace trace;
    SIM_CHECK(med_trace_init(director->memory, MEMORY_BYTES, 1, RECORDS, &trace) == MEDLEY_OK);
    med_trace_enable(&trace, true);
}

static uint32_t
check_word(uint32_t node, uint32_t event)
{
    return node * 1000 + event * 7;
}

static void
record_check(notes *n, const med_trace_record *record)
{
    SIM_CHECK(record->node >= 1 && record->node <= WRITERS && record->event < EVENTS);
    SIM_CHECK(record->words[0] == check_word(record->node, record->event));
    SIM_CHECK(record->words[1] == ~record->words[0]);
    SIM_CHECK(!n->seen[record->node - 1][record->event]);
    uint64_t ended_ns = n->ended_ns[record->node - 1][record->event];
    SIM_CHECK(record->time_ns >= n->begun_ns[record->node - 1][record->event]);
    SIM_CHECK(ended_ns == 0 || record->time_ns <= ended_ns);
    n->seen[record->node - 1][record->event] = true;
}

static void
write_all(const sim_actor *actor, const med_trace *trace)
{
    notes *n = actor->notes;
    for (uint32_t event = 0; event < EVENTS; event++) {
        uint32_t word = check_word(actor->index + 1, event);
        n->begun_ns[actor->index][event] = med_port_clock_ns();
        med_trace_event(trace, actor->index + 1, event, word, ~word);
        n->ended_ns[actor->index][event] = med_port_clock_ns();
    }
}

static bool
writers_are_over(void)
{
    bool over = true;
    for (uint32_t i = 0; i < WRITERS; i++) {
        over = sim_has_ended(i) && over;
    }
    return over;
}

/* A slot's sequence goes forward only. */
static void
watch(const med_trace *trace, uint32_t *sequences)
{
    for (uint32_t i = 0; i < RECORDS; i++) {
        uint32_t sequence = atomic32_load_relaxed(&trace->slots[i].sequence);
        SIM_CHECK((int32_t)(sequence - sequences[i]) >= 0);
        sequences[i] = sequence;
    }
}

static void
read_all(const sim_actor *actor, const med_trace *trace)
{
    med_trace_cursor cursor;
    uint32_t tries = 0;
    uint32_t sequences[RECORDS];
    for (uint32_t i = 0; i < RECORDS; i++) {
        sequences[i] = atomic32_load_relaxed(&trace->slots[i].sequence);
    }
    SIM_CHECK(med_trace_rewind(trace, 0, &cursor) == MEDLEY_OK);
    for (;;) {
        bool over = writers_are_over();
        watch(trace, sequences);
        med_trace_record record;
        medley_status_t status = med_trace_read(trace, &cursor, &record);
        if (status == MEDLEY_OK) {
            record_check(actor->notes, &record);
        } else if (status == MEDLEY_EMPTY_PRODUCER_INSERTING && ++tries % PATIENCE == 0) {
            med_trace_skip(&cursor);
        } else if (status == MEDLEY_EMPTY && over) {
            return;
        } else {
            med_port_yield();
        }
    }
}

static void
act(const sim_actor *actor)
{
    med_trace trace;
    SIM_CHECK(med_trace_attach(actor->memory, MEMORY_BYTES, &trace) == MEDLEY_OK);
    if (actor->index < WRITERS) {
        write_all(actor, &trace);
    } else if (actor->index == WRITERS) {
        read_all(actor, &trace);
    } else {
        uint32_t dead;
        while ((dead = sim_await_death()) != UINT32_MAX) {
            (void)med_trace_recover(&trace, dead + 1);
        }
    }
}

/* Nothing is left claimed. */
static void
end(const sim_actor *director)
{
    med_trace trace;
    SIM_CHECK(med_trace_attach(director->memory, MEMORY_BYTES, &trace) == MEDLEY_OK);
    for (uint32_t i = 0; i < RECORDS; i++) {
        SIM_CHECK(atomic32_load_relaxed(&trace.slots[i].writer) == 0);
    }
}

const sim_scenario sim_trace_ring = {
    .name = "trace_ring",
    .covers = "trace",
    .memory_bytes = MEMORY_BYTES,
    .actors = 5,
    .deaths = 2,
    .mortal = 0xf,
    .begin = begin,
    .act = act,
    .end = end,
};
