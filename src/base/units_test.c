/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Units: taken and given by owner, and waited for by more than there are. */
#include "base/units.h"

#include "port/port.h"
#include "support/unit.h"

#define COUNT 3u
#define THREADS 6u
#define ROUNDS 20000u
#define SCOPE MED_PORT_SCOPE_PROCESS

typedef struct shared {
    med_lock words[COUNT];
    med_lock_sleepers sleepers;
    atomic32 inside;
    atomic32 most;
} shared;

static void
taken_by_owner(void **state)
{
    med_lock words[COUNT] = {0};
    med_units units = {.words = words, .count = COUNT, .lines = 1};
    uint32_t index;
    (void)state;
    assert_true(med_units_all_free(&units, 0));
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(med_units_take(&units, 5, 1, &index), MEDLEY_OK);
        assert_int_equal(index, (1 + i) % COUNT);
    }
    assert_int_equal(med_units_take(&units, 6, 0, &index), MEDLEY_BUSY);
    assert_false(med_units_any_free(&units));
    assert_true(med_units_all_free(&units, 5));
    assert_false(med_units_all_free(&units, 6));
    assert_int_equal(med_units_held_by(&units, 5), COUNT);
    assert_int_equal(med_units_find(&units, 6, 2), MED_UNITS_NONE);
    assert_int_equal(med_units_find(&units, 5, 2), 2);
    atomic32_store_release(&words[1].word, 0);
    assert_true(med_units_any_free(&units));
    assert_false(med_units_all_free(&units, 0));
    assert_int_equal(med_units_held(&units), COUNT - 1);
    assert_int_equal(med_units_take(&units, 6, COUNT + 7, &index),
                     MEDLEY_OK); /* any hint will do */
    assert_int_equal(index, 1);
}

static void
next_owner_is_told(void **state)
{
    med_lock words[COUNT] = {0};
    med_lock_sleepers sleepers = {ATOMIC32_INIT(0)};
    med_units units = {.words = words, .count = COUNT, .lines = 1};
    uint32_t index;
    (void)state;
    assert_int_equal(med_units_take(&units, 5, 1, &index), MEDLEY_OK);
    assert_true(med_lock_recover(&words[1], &sleepers, 5, true, SCOPE));
    assert_true(med_units_all_free(&units, 0));
    assert_int_equal(med_units_take(&units, 6, 1, &index), MEDLEY_ERR_OWNER_DIED);
    assert_int_equal(index, 1);
    assert_int_equal(med_units_held_by(&units, 6), 1);
}

#define LINES 3u
#define MANY (LINES * MED_UNITS_OF_LINE)

/* However many they are: each is had once, and neighbours are of different lines. */
static void
spread_over_lines(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= MANY; count++) {
        med_lock words[MANY] = {0};
        med_units units = {.words = words, .count = count, .lines = LINES};
        uint32_t index = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t line = index / MED_UNITS_OF_LINE;
            assert_int_equal(med_units_take(&units, i + 1, index, &index), MEDLEY_OK);
            assert_true(i == 0 || index / MED_UNITS_OF_LINE != line);
            assert_ptr_equal(med_units_nth(&units, i), &words[index]);
            assert_int_equal(med_units_find(&units, i + 1, 0), index);
        }
        assert_int_equal(med_units_take(&units, MANY + 1, 0, &index), MEDLEY_BUSY);
        assert_int_equal(med_units_held(&units), count);
        for (uint32_t hint = 0; hint < 10 * MANY; hint++) {
            assert_int_not_equal(words[med_units_first(&units, hint)].word.value, 0);
        }
        atomic32_store_release(&med_units_nth(&units, count - 1)->word, 0);
        assert_int_equal(med_units_take(&units, MANY + 1, UINT32_MAX, &index), MEDLEY_OK);
        assert_int_equal(med_units_held_by(&units, MANY + 1), 1);
    }
}

/* ---- More threads than units ----------------------------------------------------------------- */

typedef struct contender {
    shared *memory;
    uint32_t owner;
    uint32_t index;
    uint32_t timeouts;
} contender;

static med_units
units_of(const contender *c)
{
    return (med_units){.words = c->memory->words, .count = COUNT, .lines = 1};
}

static medley_status_t
attempt(void *context)
{
    contender *c = context;
    med_units units = units_of(c);
    return med_units_take(&units, c->owner, c->index, &c->index);
}

static bool
any_free(void *context)
{
    med_units units = units_of(context);
    return med_units_any_free(&units);
}

static void
be_inside(contender *c)
{
    uint32_t inside = atomic32_fetch_add_acq_rel(&c->memory->inside, 1) + 1;
    uint32_t most = atomic32_load_relaxed(&c->memory->most);
    while (inside > most && !atomic32_cas_relaxed(&c->memory->most, &most, inside)) {
    }
    if (c->owner % 2) {
        med_port_yield();
    }
    (void)atomic32_fetch_add_acq_rel(&c->memory->inside, UINT32_MAX);
}

static void *
contend(void *argument)
{
    contender *c = argument;
    med_waiter waiter = {.spin_ns = 0};
    for (uint32_t i = 0; i < ROUNDS; i++) {
        bool hasty = i % 8 == 7;
        med_contest contest = {.attempt = attempt,
                               .any_free = any_free,
                               .context = c,
                               .deadline_ns = hasty ? med_port_clock_ns() + 1000 : MED_PORT_FOREVER,
                               .scope = SCOPE,
                               .waiter = &waiter};
        medley_status_t status = med_contest_run(&contest, &c->memory->sleepers);
        if (status == MEDLEY_TIMEOUT && hasty) {
            c->timeouts++;
            continue;
        }
        if (status != MEDLEY_OK) {
            return c;
        }
        be_inside(c);
        med_lock_release(&c->memory->words[c->index], &c->memory->sleepers, SCOPE);
    }
    return NULL;
}

static void
more_threads_than_units(void **state)
{
    static shared memory;
    med_port_thread threads[THREADS];
    contender contenders[THREADS];
    (void)state;
    for (uint32_t i = 0; i < THREADS; i++) {
        contenders[i] = (contender){.memory = &memory, .owner = i + 1};
        assert_int_equal(med_port_thread_start(&threads[i], NULL, contend, &contenders[i]),
                         MEDLEY_OK);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(med_port_thread_join(threads[i], &failed), MEDLEY_OK);
        assert_null(failed);
    }
    assert_int_equal(atomic32_load_relaxed(&memory.inside), 0);
    assert_in_range(atomic32_load_relaxed(&memory.most), 1, COUNT);
    med_units units = {.words = memory.words, .count = COUNT, .lines = 1};
    assert_true(med_units_all_free(&units, 0));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken_by_owner),
        cmocka_unit_test(next_owner_is_told),
        cmocka_unit_test(spread_over_lines),
        cmocka_unit_test(more_threads_than_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
