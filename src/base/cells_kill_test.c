/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Bit set, pool, state cell and trace, stopped after every single instruction (step_kill.h): a
 * child does an operation and is killed in it; then what it had is recovered, and nothing may be
 * lost or doubled. Where a reader and a writer meet, one of them is stopped there, the other does
 * all it can, and both must make sense of it.
 */
#include <string.h>

#include "base/pool.h"
#include "base/state_cell.h"
#include "base/trace.h"
#include "support/process.h"
#include "support/step_kill.h"
#include "support/unit.h"

enum {
    CHILD = 1,    /* the owner who dies */
    OTHER = 2,    /* lives, and has something */
    RECEIVER = 3, /* lives, and may get something */
    DEAD = 4,     /* died before */
    CAPACITY = 5,
    TAG = 8,
    VALUE_WORDS = 5
};

static struct scene {
    void *memory;
    med_bit_set set;
    med_pool pool;
    med_state_cell cell;
    med_trace trace;
    med_bit_set_slot slot;
    med_bit_set_slot other;
    med_pool_cache cache;
    med_pool_buffer buffers[3];
    struct scene_result {
        medley_status_t status;
        med_trace_cursor cursor;
        med_trace_record record;
    } * result; /* shared */
} scene;

/* ---- Bit set --------------------------------------------------------------------------------- */
static void
set_up_bit_set(void)
{
    med_bit_set_slot slot;
    assert_int_equal(med_bit_set_init(scene.memory, 4096, CAPACITY, &scene.set), MEDLEY_OK);
    assert_int_equal(med_bit_set_take(&scene.set, OTHER, 1, &scene.other), MEDLEY_OK);
    assert_int_equal(med_bit_set_take(&scene.set, CHILD, 2, &scene.slot), MEDLEY_OK);
    assert_int_equal(med_bit_set_take(&scene.set, DEAD, 2, &slot), MEDLEY_OK);
}

static void
bit_set_take(void)
{
    (void)med_bit_set_take(&scene.set, CHILD, MED_BIT_SET_LOWEST, &scene.slot);
}

static void
bit_set_give(void)
{
    (void)med_bit_set_give(&scene.set, scene.slot, CHILD);
}

static void
bit_set_hand_over(void)
{
    (void)med_bit_set_hand_over(&scene.set, scene.slot, CHILD, RECEIVER);
}

static void
bit_set_recover(void)
{
    (void)med_bit_set_recover(&scene.set, DEAD);
}

static void
check_bit_set(void)
{
    med_bit_set_slot slot;
    uint32_t free_entries = CAPACITY - 1;
    (void)med_bit_set_recover(&scene.set, CHILD);
    (void)med_bit_set_recover(&scene.set, DEAD);
    assert_int_equal(med_bit_set_check(&scene.set, scene.other, OTHER), MEDLEY_OK);
    free_entries -= med_bit_set_check(&scene.set, scene.slot, RECEIVER) == MEDLEY_OK;
    for (uint32_t i = 0; i < free_entries; i++) {
        assert_int_equal(med_bit_set_take(&scene.set, 9, MED_BIT_SET_LOWEST, &slot), MEDLEY_OK);
        assert_int_not_equal(slot.index, scene.other.index);
    }
    assert_int_equal(med_bit_set_take(&scene.set, 9, MED_BIT_SET_LOWEST, &slot), MEDLEY_FULL);
    assert_int_not_equal(med_bit_set_give(&scene.set, scene.slot, CHILD), MEDLEY_OK);
}

/* ---- Pool ------------------------------------------------------------------------------------ */
static void
set_up_pool(void)
{
    med_pool_cache other;
    assert_int_equal(med_pool_init(scene.memory, 4096, CAPACITY, 64, TAG, &scene.pool), MEDLEY_OK);
    med_pool_cache_init(&other, OTHER, 0);
    med_pool_cache_init(&scene.cache, CHILD, 2);
    assert_int_equal(med_pool_take(&scene.pool, &other, &scene.buffers[2]), MEDLEY_OK);
    assert_int_equal(med_pool_take(&scene.pool, &scene.cache, &scene.buffers[0]), MEDLEY_OK);
}

/* Out of the shared pool, and back to it. */
static void
pool_take(void)
{
    (void)med_pool_take(&scene.pool, &scene.cache, &scene.buffers[1]);
}

static void
pool_give(void)
{
    scene.cache.limit = 0;
    (void)med_pool_give(&scene.pool, &scene.cache, scene.buffers[0]);
}

static void
check_pool(void)
{
    med_pool_cache cache;
    med_pool_buffer buffer;
    med_pool_cache_init(&cache, 9, 0);
    (void)med_pool_recover(&scene.pool, CHILD);
    assert_int_equal(med_pool_check(&scene.pool, scene.buffers[2], OTHER), MEDLEY_OK);
    for (uint32_t i = 0; i < CAPACITY - 1; i++) {
        assert_int_equal(med_pool_take(&scene.pool, &cache, &buffer), MEDLEY_OK);
        assert_int_not_equal(buffer.place, scene.buffers[2].place);
    }
    assert_int_equal(med_pool_take(&scene.pool, &cache, &buffer), MEDLEY_FULL);
}

/* ---- State cell ------------------------------------------------------------------------------ */
static void
write_value(uint32_t number)
{
    uint32_t value[VALUE_WORDS];
    for (uint32_t i = 0; i < VALUE_WORDS; i++) {
        value[i] = number;
    }
    med_state_cell_write(&scene.cell, value);
}

static uint32_t
read_value(void)
{
    uint32_t value[VALUE_WORDS];
    med_state_cell_reader reader = {0};
    assert_int_equal(med_state_cell_read(&scene.cell, &reader, 0, value), MEDLEY_OK);
    for (uint32_t i = 1; i < VALUE_WORDS; i++) {
        assert_int_equal(value[i], value[0]);
    }
    return value[0];
}

static void
set_up_state_cell(void)
{
    assert_int_equal(med_state_cell_init(scene.memory, 4096, VALUE_WORDS * 4, 2,
                                         MED_PORT_SCOPE_SHARED, &scene.cell),
                     MEDLEY_OK);
    write_value(1);
    write_value(2);
}

static void
state_cell_write(void)
{
    (void)med_state_cell_open(&scene.cell, CHILD);
    write_value(3);
    (void)med_state_cell_close(&scene.cell, CHILD);
}

static void
check_state_cell(void)
{
    uint32_t value = read_value();
    assert_true(value == 2 || value == 3);
    (void)med_state_cell_recover(&scene.cell, CHILD);
    assert_int_equal(med_state_cell_open(&scene.cell, OTHER), MEDLEY_OK);
    assert_int_equal(read_value(), value);
    for (value = 4; value < 8; value++) {
        write_value(value);
        assert_int_equal(read_value(), value);
    }
}

/* ---- Trace ----------------------------------------------------------------------------------- */
static void
write_event(uint32_t node, uint32_t i)
{
    med_trace_event(&scene.trace, node, i, i, ~i);
}

static void
check_record(const med_trace_record *record)
{
    assert_int_equal(record->words[0], record->event);
    assert_int_equal(record->words[1], ~record->event);
}

/* Reads all there is, and says how much. */
static uint32_t
read_all(void)
{
    med_trace_cursor cursor;
    med_trace_record record;
    uint32_t count = 0;
    assert_int_equal(med_trace_rewind(&scene.trace, 0, &cursor), MEDLEY_OK);
    for (;;) {
        medley_status_t status = med_trace_read(&scene.trace, &cursor, &record);
        if (status == MEDLEY_EMPTY) {
            return count;
        }
        if (status == MEDLEY_OK) {
            check_record(&record);
            count++;
        } else {
            med_trace_skip(&cursor);
        }
    }
}

static void
set_up_trace(void)
{
    assert_int_equal(med_trace_init(scene.memory, 4096, 1, 2, &scene.trace), MEDLEY_OK);
    med_trace_enable(&scene.trace, true);
    write_event(OTHER, 1);
    write_event(OTHER, 2);
    *scene.result = (struct scene_result){.status = MEDLEY_TIMEOUT};
    assert_int_equal(med_trace_rewind(&scene.trace, 0, &scene.result->cursor), MEDLEY_OK);
}

static void
trace_write(void)
{
    write_event(CHILD, 3);
}

static void
check_trace(void)
{
    assert_true(read_all() >= 1);
    (void)med_trace_recover(&scene.trace, CHILD);
    write_event(OTHER, 5);
    write_event(OTHER, 6);
    assert_int_equal(read_all(), 2);
}

static void
trace_read(void)
{
    scene.result->status =
        med_trace_read(&scene.trace, &scene.result->cursor, &scene.result->record);
}

static void
write_a_lap(void)
{
    write_event(OTHER, 3);
    write_event(OTHER, 4);
}

static void
check_trace_read(void)
{
    if (scene.result->status == MEDLEY_OK) {
        check_record(&scene.result->record);
    } else {
        assert_int_equal(scene.result->status, MEDLEY_EMPTY_PRODUCER_INSERTING);
    }
}

/* A reader who looked at the lane before the child drew his ticket, and at the slot only now. */
static void
look_belatedly(void)
{
    med_trace_cursor cursor = scene.result->cursor;
    med_trace_record record;
    uint32_t next = atomic32_load_relaxed(&scene.trace.lanes[0].next);
    atomic32_store_relaxed(&scene.trace.lanes[0].next, 2 * 2);
    if (med_trace_read(&scene.trace, &cursor, &record) == MEDLEY_OK) {
        check_record(&record);
    }
    atomic32_store_relaxed(&scene.trace.lanes[0].next, next);
}

/* Somebody looks while the child writes; others go round twice, and may not write beside him. */
static void
look_at_trace(void)
{
    look_belatedly();
    (void)read_all();
    write_a_lap();
    write_a_lap();
    (void)read_all();
}

static void
check_trace_whole(void)
{
    assert_true(read_all() >= 1);
    write_a_lap();
    assert_int_equal(read_all(), 2);
}

/* ---- The stage ------------------------------------------------------------------------------- */
static const step_plan kills[] = {
    {.name = "bit set: take",
     .set_up = set_up_bit_set,
     .operation = {.operate = bit_set_take},
     .check = check_bit_set},
    {.name = "bit set: give",
     .set_up = set_up_bit_set,
     .operation = {.operate = bit_set_give},
     .check = check_bit_set},
    {.name = "bit set: hand over",
     .set_up = set_up_bit_set,
     .operation = {.operate = bit_set_hand_over},
     .check = check_bit_set},
    {.name = "bit set: recover",
     .set_up = set_up_bit_set,
     .operation = {.operate = bit_set_recover},
     .check = check_bit_set},
    {.name = "pool: take",
     .set_up = set_up_pool,
     .operation = {.operate = pool_take},
     .check = check_pool},
    {.name = "pool: give",
     .set_up = set_up_pool,
     .operation = {.operate = pool_give},
     .check = check_pool},
    {.name = "state cell: write",
     .set_up = set_up_state_cell,
     .operation = {.operate = state_cell_write},
     .check = check_state_cell},
    {.name = "trace: write",
     .set_up = set_up_trace,
     .operation = {.operate = trace_write},
     .check = check_trace},
};

static void
a_trace_reader_is_lapped(void **state)
{
    (void)state;
    step_stop_run(&(step_plan){.name = "trace: read",
                               .set_up = set_up_trace,
                               .operation = {.operate = trace_read},
                               .stopped = write_a_lap,
                               .check = check_trace_read});
}

static void
a_trace_writer_is_lapped(void **state)
{
    (void)state;
    step_stop_run(&(step_plan){.name = "trace: write",
                               .set_up = set_up_trace,
                               .operation = {.operate = trace_write},
                               .stopped = look_at_trace,
                               .check = check_trace_whole});
}

int
main(void)
{
    const struct CMUnitTest stops[] = {cmocka_unit_test(a_trace_reader_is_lapped),
                                       cmocka_unit_test(a_trace_writer_is_lapped)};
    step_kill_prepare();
    scene.memory = process_shared_memory(4096);
    scene.result = process_shared_memory(sizeof *scene.result);
    return step_kill_group("cells_kill", kills, sizeof kills / sizeof kills[0]) +
           cmocka_run_group_tests_name("cells_stopped", stops, NULL, NULL);
}
