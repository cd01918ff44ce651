/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The trace: one writer, many, slow and dying ones, readers beside them, and memory that lies. */
#include <stdlib.h>
#include <string.h>

#include "base/trace.h"
#include "port/port.h"
#include "support/process.h"
#include "support/unit.h"

static void *
make(uint32_t lanes, uint32_t records, med_trace *trace)
{
    size_t size_bytes = med_trace_size(lanes, records);
    void *memory = aligned_alloc(64, size_bytes);
    assert_non_null(memory);
    assert_int_equal(med_trace_init(memory, size_bytes, lanes, records, trace), MEDLEY_OK);
    med_trace_enable(trace, true);
    return memory;
}

static med_trace_cursor
oldest(const med_trace *trace, uint32_t lane)
{
    med_trace_cursor cursor;
    assert_int_equal(med_trace_rewind(trace, lane, &cursor), MEDLEY_OK);
    return cursor;
}

static void
expect_event(const med_trace *trace, med_trace_cursor *cursor, uint32_t event)
{
    med_trace_record record;
    assert_int_equal(med_trace_read(trace, cursor, &record), MEDLEY_OK);
    assert_int_equal(record.event, event);
}

static void
expect_status(const med_trace *trace, med_trace_cursor *cursor, medley_status_t status)
{
    med_trace_record record;
    assert_int_equal(med_trace_read(trace, cursor, &record), status);
}

static void
wrong_arguments_are_refused(void **state)
{
    (void)state;
    med_trace trace;
    med_trace_cursor cursor = {0};
    assert_int_equal(med_trace_size(0, 8), 0);
    assert_int_equal(med_trace_size(3, 8), 0);
    assert_int_equal(med_trace_size(128, 8), 0);
    assert_int_equal(med_trace_size(1, 1), 0);
    assert_int_equal(med_trace_size(1, 12), 0);
    assert_int_equal(med_trace_size(1, 0x200000), 0);
    unsigned char *memory = make(2, 8, &trace);
    assert_int_equal(med_trace_rewind(&trace, 2, &cursor), MEDLEY_ERR_ARGUMENT);
    cursor.lane = 2;
    expect_status(&trace, &cursor, MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_trace_recover(&trace, 0), 0);
    free(memory);
}

static void
nothing_is_written_while_it_is_off(void **state)
{
    (void)state;
    med_trace trace;
    void *memory = make(1, 8, &trace);
    med_trace_cursor cursor = oldest(&trace, 0);
    med_trace_enable(&trace, false);
    med_trace_event(&trace, 1, 1, 0, 0);
    expect_status(&trace, &cursor, MEDLEY_EMPTY);
    med_trace_enable(&trace, true);
    med_trace_event(&trace, 1, 2, 0, 0);
    expect_event(&trace, &cursor, 2);
    med_trace_enable(&med_trace_none, true);
    med_trace_event(&med_trace_none, 1, 1, 0, 0);
    med_trace_write(&med_trace_none, 1, 1, 0, 0);
    assert_int_equal(med_trace_rewind(&med_trace_none, 0, &cursor), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_trace_recover(&med_trace_none, 1), 0);
    free(memory);
}

static void
records_come_as_they_went(void **state)
{
    (void)state;
    med_trace trace;
    med_trace_record record;
    void *memory = make(4, 16, &trace);
    uint64_t before_ns = med_port_clock_common_ns();
    for (uint32_t i = 0; i < 40; i++) {
        med_trace_event(&trace, i, i + 1000, i * 3, ~i);
    }
    uint64_t after_ns = med_port_clock_common_ns();
    for (uint32_t lane = 0; lane < 4; lane++) {
        med_trace_cursor cursor = oldest(&trace, lane);
        uint64_t last_ns = before_ns;
        for (uint32_t i = lane; i < 40; i += 4) {
            assert_int_equal(med_trace_read(&trace, &cursor, &record), MEDLEY_OK);
            assert_int_equal(record.node, i);
            assert_int_equal(record.event, i + 1000);
            assert_int_equal(record.words[0], i * 3);
            assert_int_equal(record.words[1], ~i);
            assert_true(record.time_ns >= last_ns && record.time_ns <= after_ns);
            last_ns = record.time_ns;
        }
        expect_status(&trace, &cursor, MEDLEY_EMPTY);
        assert_int_equal(cursor.overwritten + cursor.skipped, 0);
    }
    free(memory);
}

static void
the_oldest_are_overwritten_and_counted(void **state)
{
    (void)state;
    med_trace trace;
    void *memory = make(1, 8, &trace);
    med_trace_cursor cursor = oldest(&trace, 0);
    for (uint32_t i = 1; i <= 21; i++) {
        med_trace_event(&trace, 1, i, 0, 0);
    }
    for (uint32_t i = 14; i <= 21; i++) {
        expect_event(&trace, &cursor, i);
    }
    expect_status(&trace, &cursor, MEDLEY_EMPTY);
    assert_int_equal(cursor.overwritten, 13);
    cursor = oldest(&trace, 0);
    expect_event(&trace, &cursor, 14);
    assert_int_equal(cursor.overwritten, 0);
    free(memory);
}

/* As if the lane had seen all tickets before `next` / 2. */
static void
jump_to(const med_trace *trace, uint32_t next)
{
    uint32_t records = trace->record_mask + 1;
    for (uint32_t i = 1; i <= records; i++) {
        uint32_t sequence = next - 2 * i;
        atomic32_store_relaxed(&trace->slots[sequence / 2 % records].sequence, sequence);
    }
    atomic32_store_relaxed(&trace->lanes[0].next, next);
}

static void
tickets_wrap_around(void **state)
{
    (void)state;
    med_trace trace;
    void *memory = make(1, 8, &trace);
    for (uint32_t below = 2; below <= 40; below += 2) {
        jump_to(&trace, 0 - below);
        med_trace_cursor cursor = {.next = 0 - below};
        for (uint32_t i = 1; i <= 50; i++) {
            med_trace_event(&trace, 1, i, 0, 0);
            expect_event(&trace, &cursor, i);
            expect_status(&trace, &cursor, MEDLEY_EMPTY);
        }
        cursor.next = 0 - below;
        expect_event(&trace, &cursor, 43);
        assert_int_equal(cursor.overwritten, 42);
    }
    free(memory);
}

static void
a_half_written_record_is_seen_as_one(void **state)
{
    (void)state;
    med_trace trace;
    void *memory = make(1, 4, &trace);
    med_trace_cursor cursor = oldest(&trace, 0);
    /* Dead node 9: ticket 1, claimed, half filled. */
    med_trace_event(&trace, 1, 100, 0, 0);
    atomic32_store_relaxed(&trace.lanes[0].next, 4);
    atomic32_store_relaxed(&trace.slots[1].writer, 9);
    atomic32_store_relaxed(&trace.slots[1].sequence, 2);
    atomic32_store_relaxed(&trace.slots[1].event, 666);
    med_trace_event(&trace, 1, 102, 0, 0);
    expect_event(&trace, &cursor, 100);
    expect_status(&trace, &cursor, MEDLEY_EMPTY_PRODUCER_INSERTING);
    expect_status(&trace, &cursor, MEDLEY_EMPTY_PRODUCER_INSERTING);
    assert_int_equal(med_trace_begun(&trace, &cursor), 2);
    med_trace_skip(&cursor);
    expect_event(&trace, &cursor, 102);
    assert_int_equal(med_trace_begun(&trace, &cursor), 0);
    assert_int_equal(cursor.skipped, 1);
    /* The next lap leaves his slot alone, until it is recovered. */
    for (uint32_t i = 3; i < 8; i++) {
        med_trace_event(&trace, 1, 100 + i, 0, 0);
    }
    assert_int_equal(atomic32_load_relaxed(&trace.slots[1].sequence), 2);
    assert_int_equal(med_trace_recover(&trace, 8), 0);
    assert_int_equal(med_trace_recover(&trace, 9), 1);
    assert_int_equal(med_trace_recover(&trace, 9), 0);
    cursor = oldest(&trace, 0);
    expect_event(&trace, &cursor, 104);
    expect_status(&trace, &cursor, MEDLEY_EMPTY_PRODUCER_INSERTING);
    for (uint32_t i = 8; i < 12; i++) {
        med_trace_event(&trace, 1, 100 + i, 0, 0);
    }
    cursor = oldest(&trace, 0);
    for (uint32_t i = 8; i < 12; i++) {
        expect_event(&trace, &cursor, 100 + i);
    }
    free(memory);
}

static void
a_late_writer_leaves_newer_records_alone(void **state)
{
    (void)state;
    med_trace trace;
    void *memory = make(1, 4, &trace);
    for (uint32_t i = 0; i < 6; i++) {
        med_trace_event(&trace, 1, i, 0, 0);
    }
    /* One who drew ticket 1 and was stopped before he claimed the slot, where ticket 5 now is. */
    atomic32_store_relaxed(&trace.lanes[0].next, 2);
    med_trace_event(&trace, 2, 666, 0, 0);
    atomic32_store_relaxed(&trace.lanes[0].next, 12);
    med_trace_cursor cursor = oldest(&trace, 0);
    for (uint32_t i = 2; i < 6; i++) {
        expect_event(&trace, &cursor, i);
    }
    assert_int_equal(atomic32_load_relaxed(&trace.slots[1].writer), 0);
    free(memory);
}

/* ---- Writers and readers together ------------------------------------------------------------ */
enum {
    WRITERS = 5,
    READERS = 2,
    EVENTS = 20000
};

typedef struct stress {
    med_trace trace;
    atomic32 mixed;
    atomic32 read;
    atomic32 writing; /* how many still write */
} stress;

typedef struct stress_writer {
    stress *stress;
    uint32_t node;
} stress_writer;

static void
write_event(const med_trace *trace, uint32_t node, uint32_t i)
{
    med_trace_event(trace, node, i ^ node, i, i * 2654435761u + node);
}

static bool
is_consistent(const med_trace_record *record)
{
    uint32_t i = record->words[0];
    return record->event == (i ^ record->node) &&
           record->words[1] == i * 2654435761u + record->node && record->time_ns != 0;
}

static void *
stress_write(void *argument)
{
    stress_writer *w = argument;
    for (uint32_t i = 0; i < EVENTS; i++) {
        write_event(&w->stress->trace, w->node, i);
    }
    (void)atomic32_fetch_add_relaxed(&w->stress->writing, UINT32_MAX);
    return NULL;
}

static void *
stress_read(void *argument)
{
    stress *s = argument;
    med_trace_cursor cursor;
    med_trace_record record;
    bool last = false;
    (void)med_trace_rewind(&s->trace, 0, &cursor);
    for (;;) {
        medley_status_t status = med_trace_read(&s->trace, &cursor, &record);
        if (status == MEDLEY_OK) {
            (void)atomic32_fetch_add_relaxed(&s->read, 1);
            (void)atomic32_fetch_add_relaxed(&s->mixed, !is_consistent(&record));
        } else if (status == MEDLEY_EMPTY_PRODUCER_INSERTING) {
            med_trace_skip(&cursor);
        } else if (last) {
            return NULL;
        } else {
            last = atomic32_load_relaxed(&s->writing) == 0;
            (void)med_trace_rewind(&s->trace, 0, &cursor); /* to what is overwritten next */
            med_port_yield();
        }
    }
}

static void
no_record_is_a_mixture(void **state)
{
    (void)state;
    static stress s;
    static stress_writer writers[WRITERS];
    med_port_thread threads[WRITERS + READERS];
    void *memory = make(1, 2, &s.trace);
    atomic32_store_relaxed(&s.writing, WRITERS);
    for (uint32_t i = 0; i < WRITERS + READERS; i++) {
        void *argument = &s;
        if (i < WRITERS) {
            writers[i] = (stress_writer){.stress = &s, .node = i + 1};
            argument = &writers[i];
        }
        assert_int_equal(med_port_thread_start(&threads[i], NULL,
                                               i < WRITERS ? stress_write : stress_read, argument),
                         MEDLEY_OK);
    }
    for (uint32_t i = 0; i < WRITERS + READERS; i++) {
        assert_int_equal(med_port_thread_join(threads[i], NULL), MEDLEY_OK);
    }
    assert_int_equal(atomic32_load_relaxed(&s.mixed), 0);
    assert_true(atomic32_load_relaxed(&s.read) > 0);
    assert_int_equal(atomic32_load_relaxed(&s.trace.lanes[0].next), 2 * WRITERS * EVENTS);
    free(memory);
}

/* ---- Death ----------------------------------------------------------------------------------- */
enum {
    KILLS = 40,
    CHILDREN = 3,
    RECORDS = 8
};

typedef struct death {
    med_trace trace;
    atomic32 nodes; /* the last number given */
} death;

static int
child_run(test_process *parent, void *argument)
{
    death *d = argument;
    uint32_t node = atomic32_load_relaxed(&d->nodes);
    process_say(parent, 'r');
    for (uint32_t i = 0; i % 256 != 0 || getppid() == parent->pid; i++) {
        write_event(&d->trace, node, i);
    }
    return 1;
}

/* The child's node. */
static uint32_t
child_start(test_process *process, death *d)
{
    uint32_t node = atomic32_fetch_add_relaxed(&d->nodes, 1) + 1;
    process_start(process, child_run, d);
    assert_int_equal(process_hear(process), 'r');
    return node;
}

static void
read_until(const med_trace *trace, med_trace_cursor *cursor, uint32_t ticket)
{
    med_trace_record record;
    while ((int32_t)(cursor->next - 2 * ticket) < 0) {
        medley_status_t status = med_trace_read(trace, cursor, &record);
        if (status == MEDLEY_OK) {
            assert_true(is_consistent(&record));
        } else if (status == MEDLEY_EMPTY_PRODUCER_INSERTING) {
            med_trace_skip(cursor);
        } else {
            med_port_yield();
        }
    }
}

static void
the_slots_of_the_killed_come_back(void **state)
{
    (void)state;
    death *d = process_shared_memory(sizeof *d);
    size_t size_bytes = med_trace_size(1, RECORDS);
    void *memory = process_shared_memory(size_bytes);
    assert_int_equal(med_trace_init(memory, size_bytes, 1, RECORDS, &d->trace), MEDLEY_OK);
    med_trace_enable(&d->trace, true);
    test_process processes[CHILDREN];
    uint32_t nodes[CHILDREN];
    med_trace_cursor cursor = oldest(&d->trace, 0);
    for (int i = 0; i < CHILDREN; i++) {
        nodes[i] = child_start(&processes[i], d);
    }
    for (uint32_t kill_index = 0; kill_index < KILLS; kill_index++) {
        uint32_t victim = kill_index * 7 % CHILDREN;
        read_until(&d->trace, &cursor, cursor.next / 2 + 100 + kill_index * 13);
        process_kill(&processes[victim]);
        (void)med_trace_recover(&d->trace, nodes[victim]);
        assert_int_equal(process_join(&processes[victim]), -SIGKILL);
        nodes[victim] = child_start(&processes[victim], d);
    }
    for (int i = 0; i < CHILDREN; i++) {
        process_kill(&processes[i]);
        assert_int_equal(process_join(&processes[i]), -SIGKILL);
        (void)med_trace_recover(&d->trace, nodes[i]);
    }
    for (uint32_t i = 0; i < RECORDS; i++) {
        write_event(&d->trace, 1, i);
    }
    cursor = oldest(&d->trace, 0);
    for (uint32_t i = 0; i < RECORDS; i++) {
        expect_event(&d->trace, &cursor, i ^ 1);
    }
}

/* ---- Memory that lies ------------------------------------------------------------------------ */
static void
who_attaches_sees_the_same(void **state)
{
    (void)state;
    med_trace trace;
    med_trace other;
    void *memory = make(2, 8, &trace);
    assert_int_equal(med_trace_attach(memory, med_trace_size(2, 8), &other), MEDLEY_OK);
    assert_ptr_equal(other.slots, trace.slots);
    assert_int_equal(other.record_mask, 7);
    free(memory);
}

static void
scribbled_contents_bound_every_call(void **state)
{
    (void)state;
    med_trace trace;
    med_trace_record record;
    unsigned char *memory = make(2, 8, &trace);
    uint32_t random = 1;
    for (int round = 0; round < 500; round++) {
        for (size_t i = 64; i < med_trace_size(2, 8); i++) {
            random = random * 1664525u + 1013904223u;
            memory[i] = (unsigned char)(round % 5 ? random >> 24 : UINT8_MAX);
        }
        med_trace_cursor cursor = {.lane = random >> 31, .next = random};
        for (int i = 0; i < 20; i++) {
            med_trace_event(&trace, random >> 16, 1, 2, 3);
            if (med_trace_read(&trace, &cursor, &record) != MEDLEY_OK) {
                med_trace_skip(&cursor);
            }
        }
        (void)med_trace_rewind(&trace, 0, &cursor);
        (void)med_trace_recover(&trace, 0x01010101);
    }
    free(memory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(nothing_is_written_while_it_is_off),
        cmocka_unit_test(records_come_as_they_went),
        cmocka_unit_test(the_oldest_are_overwritten_and_counted),
        cmocka_unit_test(tickets_wrap_around),
        cmocka_unit_test(a_half_written_record_is_seen_as_one),
        cmocka_unit_test(a_late_writer_leaves_newer_records_alone),
        cmocka_unit_test(the_slots_of_the_killed_come_back),
        cmocka_unit_test(who_attaches_sees_the_same),
        cmocka_unit_test(scribbled_contents_bound_every_call),
        cmocka_unit_test(no_record_is_a_mixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
