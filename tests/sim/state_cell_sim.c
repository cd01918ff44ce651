/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The state cell: a reader gets whole values, never an older one than before, and waits for the
 * newest; writers take turns, and one takes over from a dead one.
 *
 * Actors: 0 and 3 write, 1 and 2 read; 2 looks for the dead. Two scenarios: of values, and of
 * records of three lengths.
 */
#include "base/state_cell.h"
#include "scenarios.h"

#define VALUES 6u
#define PARTS 5u
#define MEMORY_BYTES 1024u
#define PRELUDE_AT 768u
#define PRELUDE 77u
#define RETRIES 2u
#define VALUES_PER_TURN 2u

/* Two words and a half. */
typedef struct value {
    uint16_t parts[PARTS];
} value;

typedef struct notes {
    uint32_t written; /* the last value of a turn that is over */
} notes;

static void
begin_of(const sim_actor *director, uint32_t value_bytes)
{
    med_state_cell cell;
    SIM_CHECK(med_state_cell_init(director->memory, MEMORY_BYTES, value_bytes, 2,
                                  MED_PORT_SCOPE_SHARED, &cell) == MEDLEY_OK);
}

static void
begin(const sim_actor *director)
{
    begin_of(director, sizeof(value));
}

static void
begin_records(const sim_actor *director)
{
    begin_of(director, sizeof(value) + 1);
}

static bool
has_records(const med_state_cell *cell)
{
    return cell->value_bytes != sizeof(value);
}

/* Of a record: another than that of the one before it in its buffer. */
static uint32_t
length_of(uint32_t number)
{
    return sizeof(value) - number % 3 * (uint32_t)sizeof(uint16_t);
}

static value
value_of(uint32_t number)
{
    value v;
    for (uint32_t i = 0; i < PARTS; i++) {
        v.parts[i] = (uint16_t)(number * 16 + i);
    }
    return v;
}

static void
write_parts(const med_state_cell *cell, const value *v)
{
    med_state_cell_draft draft;
    med_state_cell_begin(cell, &draft);
    SIM_CHECK(med_state_cell_put(cell, &draft, 0, v, 5) == MEDLEY_OK);
    SIM_CHECK(med_state_cell_put(cell, &draft, 5, (const uint8_t *)v + 5, sizeof *v - 5) ==
              MEDLEY_OK);
    med_state_cell_commit(cell, &draft);
}

/* Behind the cell, plain: written before the first value. */
static uint32_t *
prelude_of(const sim_actor *actor)
{
    return (uint32_t *)(void *)((uint8_t *)actor->memory + PRELUDE_AT);
}

/* A turn at the seat. Numbers follow the values: who takes over writes anew what was begun and not
 * committed. */
static void
write_some(const sim_actor *actor, const med_state_cell *cell)
{
    uint32_t number = atomic32_load_relaxed(&cell->shared->counter);
    for (uint32_t i = 0; i < VALUES_PER_TURN && number < VALUES; i++) {
        value v = value_of(++number);
        if (number == 1) {
            *prelude_of(actor) = PRELUDE;
        }
        if (has_records(cell) && length_of(number) % MED_STATE_CELL_WORD_BYTES == 0) {
            SIM_CHECK(med_state_cell_write_at_once(cell, &v, length_of(number)) == number);
            med_wait_wake(&cell->shared->news, cell->scope);
        } else if (has_records(cell)) {
            SIM_CHECK(med_state_cell_write_record(cell, &v, length_of(number)) == MEDLEY_OK);
        } else if (sim_random(3) == 0) {
            write_parts(cell, &v);
        } else {
            med_state_cell_write(cell, &v);
        }
        uint32_t newest = atomic32_load_relaxed(&cell->shared->counter);
        SIM_CHECK(newest == number);
    }
    ((notes *)actor->notes)->written = number;
    SIM_CHECK(med_state_cell_close(cell, actor->index + 1) == MEDLEY_OK);
}

static void
write_all(const sim_actor *actor, const med_state_cell *cell)
{
    while (((const notes *)actor->notes)->written < VALUES) {
        if (med_state_cell_open(cell, actor->index + 1) == MEDLEY_OK) {
            write_some(actor, cell);
        }
        med_port_yield();
    }
}

static uint32_t
value_check(const value *v, uint32_t bytes)
{
    uint32_t number = v->parts[0] / 16;
    value whole = value_of(number);
    for (uint32_t i = 0; i < bytes / sizeof v->parts[0]; i++) {
        SIM_CHECK(v->parts[i] == whole.parts[i]);
    }
    return number;
}

static bool
writers_are_over(void)
{
    bool first = sim_has_ended(0);
    return sim_has_ended(3) && first;
}

static void
look_for_dead(const med_state_cell *cell)
{
    for (uint32_t writer = 0; writer < 4; writer += 3) {
        if (sim_is_dead(writer)) {
            (void)med_state_cell_recover(cell, writer + 1);
        }
    }
}

static void
wait_for_news(const sim_actor *actor,
              const med_state_cell *cell,
              med_state_cell_reader *reader,
              uint64_t deadline_ns)
{
    medley_status_t status = med_state_cell_wait_until(cell, reader, deadline_ns, NULL, NULL);
    if (status == MEDLEY_OK) {
        SIM_CHECK(*prelude_of(actor) == PRELUDE);
    } else {
        SIM_CHECK(status == MEDLEY_TIMEOUT && deadline_ns == 0);
    }
}

static void
read_all(const sim_actor *actor, const med_state_cell *cell)
{
    med_state_cell_reader reader = {0};
    uint32_t newest = 0;
    while (newest < VALUES || (actor->index == 2 && !writers_are_over())) {
        if (sim_random(2) == 0) {
            wait_for_news(actor, cell, &reader, actor->index == 1 ? MED_PORT_FOREVER : 0);
        }
        value v;
        uint32_t bytes = sizeof v;
        medley_status_t status =
            has_records(cell)
                ? med_state_cell_read_record(cell, &reader, RETRIES, &v, sizeof v, &bytes)
                : med_state_cell_read(cell, &reader, RETRIES, &v);
        if (status == MEDLEY_OK) {
            uint32_t number = value_check(&v, bytes);
            SIM_CHECK(number >= newest && number == reader.number);
            SIM_CHECK(!has_records(cell) || bytes == length_of(number));
            newest = number;
        } else {
            SIM_CHECK(status == MEDLEY_EMPTY || status == MEDLEY_EMPTY_PRODUCER_INSERTING);
            med_port_yield();
        }
        if (actor->index == 2) {
            look_for_dead(cell);
            med_port_yield();
        }
    }
}

static void
act(const sim_actor *actor)
{
    med_state_cell cell;
    SIM_CHECK(med_state_cell_attach(actor->memory, MEMORY_BYTES, MED_PORT_SCOPE_SHARED, &cell) ==
              MEDLEY_OK);
    if (actor->index == 0 || actor->index == 3) {
        write_all(actor, &cell);
    } else {
        read_all(actor, &cell);
    }
}

const sim_scenario sim_state_cell = {
    .name = "state_cell",
    .covers = "state_cell",
    .memory_bytes = MEMORY_BYTES,
    .actors = 4,
    .deaths = 1,
    .mortal = 9,
    .waits_forever = true,
    .begin = begin,
    .act = act,
};

const sim_scenario sim_state_cell_record = {
    .name = "state_cell_record",
    .covers = "state_cell",
    .memory_bytes = MEMORY_BYTES,
    .actors = 4,
    .deaths = 1,
    .mortal = 9,
    .waits_forever = true,
    .begin = begin_records,
    .act = act,
};
