/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who has a semaphore's unit, reads, or writes, is killed: what those learn who sleep for it, and
 * who come next; with MEDLEY_MUTEX_ON_DEATH=recover, and fail. */
#include "support/unit.h"

#include <signal.h>

#include "kill/survivor.h"
#include "port/port.h"
#include "support/system.h"

#define NUMBER 1

static want wanted_by_holder, wanted_by_sleeper;

/* ---- Who dies, and who waits ----------------------------------------------------------------- */

static int
holder_body(test_process *parent, void *argument)
{
    (void)argument;
    node_up(HOLDER);
    child_expect(sharing_take(wanted_by_holder, NUMBER, MRAPI_TIMEOUT_INFINITE) == MRAPI_SUCCESS);
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
    process_say(parent, sharing_once(wanted_by_sleeper, NUMBER, MRAPI_TIMEOUT_INFINITE));
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
    sharing_make(NUMBER);
    process_start(&holder, holder_body, NULL);
    assert_int_equal(process_hear(&holder), 'h');
    process_start(&sleeper, sleeper_body, NULL);
    assert_int_equal(process_hear(&sleeper), 'r');
    while (!process_sleeps(sleeper.pid)) {
        med_port_yield();
    }
    assert_int_equal(sharing_once(sleepers, NUMBER, 1000), 't');
    process_kill(&holder);
    assert_int_equal(process_hear(&sleeper), first);
    assert_int_equal(process_join(&sleeper), 0);
    assert_int_equal(sharing_once(sleepers, NUMBER, MRAPI_TIMEOUT_INFINITE), next);
    (void)sharing_once(WRITE, NUMBER, MRAPI_TIMEOUT_INFINITE);
    assert_int_equal(sharing_once(READ, NUMBER, MRAPI_TIMEOUT_INFINITE), last);
    assert_int_equal(sharing_once(WRITE, NUMBER, MRAPI_TIMEOUT_INFINITE), last);
    sharing_delete(NUMBER);
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
