/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Bit set, pool, state cell and trace, stopped after every single instruction: each operation that
 * changes shared memory is done by a child that is killed after its n-th instruction, for every n;
 * then what it had is recovered, and nothing may be lost or doubled. Where a reader and a writer
 * meet, one of them is stopped there, the other does all it can, and both must make sense of it.
 */
#include <string.h>

#include "base/pool.h"
#include "base/state_cell.h"
#include "base/trace.h"
#include "support/process.h"
#include "support/step.h"
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

typedef struct act {
    const char *name;
    void (*set_up)(void);
    void (*operate)(void); /* in the child, step by step */
    void (*check)(void);   /* after its death */
} act;

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
static const act kills[] = {
    {"bit set: take", set_up_bit_set, bit_set_take, check_bit_set},
    {"bit set: give", set_up_bit_set, bit_set_give, check_bit_set},
    {"bit set: hand over", set_up_bit_set, bit_set_hand_over, check_bit_set},
    {"bit set: recover", set_up_bit_set, bit_set_recover, check_bit_set},
    {"pool: take", set_up_pool, pool_take, check_pool},
    {"pool: give", set_up_pool, pool_give, check_pool},
    {"state cell: write", set_up_state_cell, state_cell_write, check_state_cell},
    {"trace: write", set_up_trace, trace_write, check_trace},
};

static void
need_stepping(void)
{
    const char *reason = step_impossible();
    if (reason) {
        not_possible_here(reason);
    }
}

/* After every instruction; where a sanitizer makes many of one, after some hundreds of them. */
enum {
    STOPS_MAX = 400
};

static uint32_t
stride_of(const act *a)
{
    const step_operation operation = {.operate = a->operate};
    a->set_up();
    pid_t child = step_start(&operation);
    step_outcome outcome = step_run(child, UINT32_MAX, NULL);
    step_kill(child);
    assert_true(outcome.ended && outcome.steps > 20);
    return outcome.steps / STOPS_MAX + 1;
}

static void
killed_after_every_instruction(void **state)
{
    const act *a = *state;
    const step_operation operation = {.operate = a->operate};
    step_outcome outcome = {0};
    need_stepping();
    uint32_t stride = stride_of(a);
    for (uint32_t steps = 0; !outcome.ended; steps += stride) {
        a->set_up();
        pid_t child = step_start(&operation);
        outcome = step_run(child, steps, NULL);
        step_kill(child);
        a->check();
    }
}

/* The child is stopped, `meanwhile` happens, the child goes on to its end. */
static void
stopped_after_every_instruction(const act *a, void (*meanwhile)(void))
{
    const step_operation operation = {.operate = a->operate};
    step_outcome outcome = {0};
    need_stepping();
    uint32_t stride = stride_of(a);
    for (uint32_t steps = 0; !outcome.ended; steps += stride) {
        a->set_up();
        pid_t child = step_start(&operation);
        outcome = step_run(child, steps, NULL);
        meanwhile();
        if (!outcome.ended) {
            assert_true(step_run(child, UINT32_MAX, NULL).ended);
        }
        step_kill(child);
        a->check();
    }
}

static void
a_trace_reader_is_lapped(void **state)
{
    (void)state;
    const act a = {"trace: read", set_up_trace, trace_read, check_trace_read};
    stopped_after_every_instruction(&a, write_a_lap);
}

static void
a_trace_writer_is_lapped(void **state)
{
    (void)state;
    const act a = {"trace: write", set_up_trace, trace_write, check_trace_whole};
    stopped_after_every_instruction(&a, look_at_trace);
}

static int
set_stage(void **state)
{
    (void)state;
    scene.memory = process_shared_memory(4096);
    scene.result = process_shared_memory(sizeof *scene.result);
    return 0;
}

int
main(void)
{
    enum {
        KILLS = sizeof kills / sizeof kills[0]
    };
    struct CMUnitTest tests[KILLS + 2] = {
        [KILLS] = cmocka_unit_test(a_trace_reader_is_lapped),
        [KILLS + 1] = cmocka_unit_test(a_trace_writer_is_lapped),
    };
    for (int i = 0; i < KILLS; i++) {
        tests[i] = (struct CMUnitTest){.name = kills[i].name,
                                       .test_func = killed_after_every_instruction,
                                       .initial_state = (void *)(uintptr_t)&kills[i]};
    }
    return _cmocka_run_group_tests("cells_kill", tests, KILLS + 2, set_stage, NULL);
}
