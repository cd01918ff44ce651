/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who has a semaphore's unit, reads, or writes, is killed: what those learn who sleep for it, and
 * who come next; with MEDLEY_MUTEX_ON_DEATH=recover, and fail. */
#include "support/unit.h"

#include <signal.h>

#include "kill/survivor.h"
#include "medley/medley.h"
#include "port/port.h"
#include "support/system.h"

#define NUMBER 1

/* What one has, or wants. */
typedef enum want {
    UNIT,
    READ,
    WRITE
} want;

static want wanted_by_holder, wanted_by_sleeper;

/* ---- Taking and giving ----------------------------------------------------------------------- */

/* One unit, one reader: whoever comes second waits. */
static void
both_made(void)
{
    mrapi_status_t status;
    (void)mrapi_sem_create(NUMBER, NULL, 1, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    (void)mrapi_rwl_create(NUMBER, NULL, 1, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
both_deleted(void)
{
    mrapi_status_t status;
    mrapi_sem_delete(mrapi_sem_get(NUMBER, &status), &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_rwl_delete(mrapi_rwl_get(NUMBER, &status), &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static mrapi_rwl_mode_t
mode_of(want what)
{
    return what == READ ? MRAPI_RWL_READER : MRAPI_RWL_WRITER;
}

static mrapi_status_t
take(want what, mrapi_timeout_t timeout_us)
{
    mrapi_status_t status;
    if (what == UNIT) {
        mrapi_sem_lock(mrapi_sem_get(NUMBER, &status), timeout_us, &status);
    } else {
        mrapi_rwl_lock(mrapi_rwl_get(NUMBER, &status), mode_of(what), timeout_us, &status);
    }
    return status;
}

static void
give(want what)
{
    mrapi_status_t status;
    if (what == UNIT) {
        mrapi_sem_unlock(mrapi_sem_get(NUMBER, &status), &status);
    } else {
        mrapi_rwl_unlock(mrapi_rwl_get(NUMBER, &status), mode_of(what), &status);
    }
    child_expect(status == MRAPI_SUCCESS);
}

/* Takes it and gives it back: 'd' somebody had died, 'o' nobody had, 'n' nobody gets it, 't' not in
 * time. */
static char
have_once(want what, mrapi_timeout_t timeout_us)
{
    mrapi_status_t status = take(what, timeout_us);
    if (status != MRAPI_SUCCESS) {
        return status == MRAPI_ERR_RWL_INVALID ? 'n' : status == MRAPI_TIMEOUT ? 't' : '?';
    }
    char told = medley_lock_owner_died() ? 'd' : 'o';
    give(what);
    return told;
}

/* ---- Who dies, and who waits ----------------------------------------------------------------- */

static int
holder_body(test_process *parent, void *argument)
{
    (void)argument;
    node_up(HOLDER);
    child_expect(take(wanted_by_holder, MRAPI_TIMEOUT_INFINITE) == MRAPI_SUCCESS);
    process_say(parent, 'h');
    (void)process_hear(parent); /* until killed */
    return 1;
}

static int
sleeper_body(test_process *parent, void *argument)
{
    (void)argument;
    node_up(SLEEPER_A);
    process_say(parent, 'r');
    process_say(parent, have_once(wanted_by_sleeper, MRAPI_TIMEOUT_INFINITE));
    node_down();
    return 0;
}

/* `first` is what the sleeper hears, `next` who comes then, `last` who comes after a writer. */
static void
holder_dies(want holders, want sleepers, char first, char next, char last)
{
    test_process holder, sleeper;
    wanted_by_holder = holders;
    wanted_by_sleeper = sleepers;
    both_made();
    process_start(&holder, holder_body, NULL);
    assert_int_equal(process_hear(&holder), 'h');
    process_start(&sleeper, sleeper_body, NULL);
    assert_int_equal(process_hear(&sleeper), 'r');
    while (!process_sleeps(sleeper.pid)) {
        med_port_yield();
    }
    assert_int_equal(have_once(sleepers, 1000), 't');
    process_kill(&holder);
    assert_int_equal(process_hear(&sleeper), first);
    assert_int_equal(process_join(&sleeper), 0);
    assert_int_equal(have_once(sleepers, MRAPI_TIMEOUT_INFINITE), next);
    (void)have_once(WRITE, MRAPI_TIMEOUT_INFINITE);
    assert_int_equal(have_once(READ, MRAPI_TIMEOUT_INFINITE), last);
    assert_int_equal(have_once(WRITE, MRAPI_TIMEOUT_INFINITE), last);
    both_deleted();
    system_is_whole();
    assert_int_equal(process_join(&holder), -SIGKILL);
}

/* It guards nothing that could be half changed. */
static void
unit_comes_back(void **state)
{
    (void)state;
    holder_dies(UNIT, UNIT, 'd', 'o', 'o');
}

/* He changed nothing: nobody is told. */
static void
reader_is_forgotten(void **state)
{
    (void)state;
    holder_dies(READ, WRITE, 'o', 'o', 'o');
    holder_dies(READ, READ, 'o', 'o', 'o');
}

/* All are told, up to the next writer. */
static void
writer_is_told_of(void **state)
{
    (void)state;
    holder_dies(WRITE, READ, 'd', 'd', 'o');
    holder_dies(WRITE, WRITE, 'd', 'o', 'o');
}

static void
writer_closes_it(void **state)
{
    (void)state;
    holder_dies(WRITE, READ, 'n', 'n', 'n');
    holder_dies(WRITE, WRITE, 'n', 'n', 'n');
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SURVIVOR(unit_comes_back),     WITH_SURVIVOR_FAIL(unit_comes_back),
        WITH_SURVIVOR(reader_is_forgotten), WITH_SURVIVOR_FAIL(reader_is_forgotten),
        WITH_SURVIVOR(writer_is_told_of),   WITH_SURVIVOR_FAIL(writer_closes_it),
    };
    test_system_prepare();
    (void)alarm(STUCK_AFTER_S);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
