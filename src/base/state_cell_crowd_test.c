/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The state cell: many readers at once, beside a writer that goes on or is killed. */
#include <string.h>

#include "base/state_cell_test.h"
#include "support/process.h"

/* ---- One writer, many readers ---------------------------------------------------------------- */

/* Every word of a value is the value's own number, counted from the start of the test. */
enum {
    READERS = 5,
    WORDS_MAX = 16384
};

typedef struct stress {
    med_state_cell cell;
    uint32_t words;
    uint32_t reads; /* of each reader */
    uint32_t retries_max;
    bool waits;
    atomic32 done; /* readers */
} stress;

typedef struct stress_reader {
    stress *stress;
    med_state_cell_reader reader;
    uint32_t torn;
    uint32_t backwards;
    uint32_t given_up;
    uint32_t value[WORDS_MAX];
} stress_reader;

static void
look_at(stress_reader *r, uint32_t *newest)
{
    for (uint32_t i = 1; i < r->stress->words; i++) {
        r->torn += r->value[i] != r->value[0];
    }
    r->backwards += r->value[0] < *newest;
    *newest = r->value[0];
}

static void *
stress_read(void *argument)
{
    stress_reader *r = argument;
    stress *s = r->stress;
    uint32_t newest = 0;
    for (uint32_t read = 0; read < s->reads; read++) {
        if (s->waits && med_state_cell_wait_until(&s->cell, &r->reader, MED_PORT_FOREVER, NULL,
                                                  NULL) != MEDLEY_OK) {
            r->torn++;
        }
        medley_status_t status =
            med_state_cell_read(&s->cell, &r->reader, s->retries_max, r->value);
        if (status == MEDLEY_OK) {
            look_at(r, &newest);
        } else {
            r->given_up += status == MEDLEY_EMPTY_PRODUCER_INSERTING;
        }
    }
    (void)atomic32_fetch_add_relaxed(&s->done, 1);
    return NULL;
}

/* Goes on until every reader has had enough. */
static void
stress_write(stress *s)
{
    static uint32_t value[WORDS_MAX];
    for (uint32_t number = 1; atomic32_load_relaxed(&s->done) < READERS; number++) {
        for (uint32_t i = 0; i < s->words; i++) {
            value[i] = number;
        }
        med_state_cell_write(&s->cell, value);
        if (s->waits) {
            med_port_yield();
        }
    }
}

static void
run_stress(stress *s, uint32_t buffers)
{
    static stress_reader readers[READERS];
    med_port_thread threads[READERS];
    void *memory = make(s->words * 4, buffers, &s->cell);
    /* Soon the numbers start again; the buffers hold what the jumped-over left: 0. */
    jump_to(&s->cell, s->cell.last - 100);
    for (int i = 0; i < READERS; i++) {
        memset(&readers[i], 0, sizeof readers[i]);
        readers[i].stress = s;
        assert_int_equal(med_port_thread_start(&threads[i], NULL, stress_read, &readers[i]),
                         MEDLEY_OK);
    }
    stress_write(s);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(med_port_thread_join(threads[i], NULL), MEDLEY_OK);
        assert_int_equal(readers[i].torn, 0);
        assert_int_equal(readers[i].backwards, 0);
        assert_int_equal(readers[i].given_up, readers[i].reader.collisions);
        assert_true(readers[i].reader.retries_worst <= s->retries_max);
    }
    free(memory);
}

static void
readers_see_whole_values_only(void **state)
{
    (void)state;
    static stress s;
    s = (stress){.words = 16, .reads = 100000, .retries_max = 1};
    run_stress(&s, 2);
    s = (stress){.words = 512, .reads = 4000, .retries_max = 3};
    run_stress(&s, 3);
    s = (stress){.words = WORDS_MAX, .reads = 200, .retries_max = 0};
    run_stress(&s, 2);
}

static void
readers_that_sleep_are_woken(void **state)
{
    (void)state;
    static stress s;
    s = (stress){.words = 4, .reads = 1000, .retries_max = 8, .waits = true};
    run_stress(&s, 4);
}

/* ---- Death of the writer --------------------------------------------------------------------- */
enum {
    KILLS = 40,
    DEATH_WORDS = 200
};

/* Writes until it is killed, or its test has failed; every word is the value's number. */
static int
writer_run(test_process *parent, void *argument)
{
    const med_state_cell *cell = argument;
    uint32_t value[DEATH_WORDS];
    child_expect(med_state_cell_open(cell, 7) == MEDLEY_OK);
    for (uint32_t round = 1; round % 256 != 0 || getppid() == parent->pid; round++) {
        med_state_cell_draft draft;
        med_state_cell_begin(cell, &draft);
        for (uint32_t i = 0; i < DEATH_WORDS; i++) {
            value[i] = draft.number;
        }
        child_expect(med_state_cell_put(cell, &draft, 0, value, sizeof value) == MEDLEY_OK);
        med_state_cell_commit(cell, &draft);
    }
    return 0;
}

static void
read_whole(const med_state_cell *cell, med_state_cell_reader *reader)
{
    uint32_t value[DEATH_WORDS];
    uint32_t before = reader->number;
    if (med_state_cell_read(cell, reader, 4, value) != MEDLEY_OK) {
        med_port_yield();
        return;
    }
    assert_true(reader->number >= before);
    for (uint32_t i = 0; i < DEATH_WORDS; i++) {
        assert_int_equal(value[i], reader->number);
    }
}

static void
readers_survive_the_writer(void **state)
{
    (void)state;
    med_state_cell cell;
    med_state_cell_reader reader = {0};
    size_t size_bytes = med_state_cell_size(DEATH_WORDS * 4, 2);
    void *memory = process_shared_memory(size_bytes);
    assert_int_equal(
        med_state_cell_init(memory, size_bytes, DEATH_WORDS * 4, 2, MED_PORT_SCOPE_SHARED, &cell),
        MEDLEY_OK);
    for (uint32_t i = 0; i < KILLS; i++) {
        test_process writer;
        uint32_t first = reader.number;
        process_start(&writer, writer_run, &cell);
        while (reader.number - first < 100 + i) {
            read_whole(&cell, &reader);
        }
        process_kill(&writer);
        assert_int_equal(process_join(&writer), -SIGKILL);
        first = reader.number;
        for (int again = 0; again < 3; again++) {
            read_whole(&cell, &reader);
        }
        assert_true(reader.number != 0);
        assert_true(med_state_cell_recover(&cell, 7));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_see_whole_values_only),
        cmocka_unit_test(readers_that_sleep_are_woken),
        cmocka_unit_test(readers_survive_the_writer),
    };
    return cmocka_run_group_tests_name("state_cell_crowd", tests, NULL, NULL);
}
