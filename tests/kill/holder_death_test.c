/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The holder of a mutex is killed: what those learn who sleep for it, who come next, who only try.
 */
#include "support/unit.h"

#include <signal.h>

#include "kill/survivor.h"
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "port/port.h"
#include "support/system.h"

#define OWN_NUMBER 2
#define APART_NS 2000000u /* a look is due after 1 ms, and at everybody after 100 (object.c) */
#define ROUNDS_MOST 60u

static uint64_t slowest_ns; /* from a death to the last who learned of it; for showing */

/* The holder stays a zombie until the end: dead all the same. */
static void
holder_dies_before_sleepers(mrapi_uint_t attribute, const char *expected)
{
    test_process holder;
    test_process sleepers[2];
    mrapi_mutex_hndl_t mutex = mutex_make(attribute);
    holder_start(&holder);
    sleeper_start(&sleepers[0], SLEEPER_A);
    sleeper_start(&sleepers[1], SLEEPER_B);
    process_kill(&holder);
    uint64_t died_ns = med_port_clock_ns();
    char told[3] = {process_hear(&sleepers[0]), process_hear(&sleepers[1]), '\0'};
    uint64_t took_ns = med_port_clock_ns() - died_ns;
    slowest_ns = took_ns > slowest_ns ? took_ns : slowest_ns;
    if (told[0] > told[1]) {
        told[2] = told[0];
        told[0] = told[1];
        told[1] = told[2];
        told[2] = '\0';
    }
    assert_string_equal(told, expected); /* either may be first */
    assert_int_equal(process_join(&sleepers[0]), 0);
    assert_int_equal(process_join(&sleepers[1]), 0);
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), expected[1] == 'n' ? 'n' : 'o');
    mutex_delete(mutex);
    system_is_whole();
    assert_int_equal(process_join(&holder), -SIGKILL);
}

static void
sleepers_learn(void **state)
{
    (void)state;
    holder_dies_before_sleepers(0, "do");
}

static void
sleepers_learn_pi(void **state)
{
    (void)state;
    holder_dies_before_sleepers(MEDLEY_MUTEX_PRIORITY_INHERITANCE, "do");
}

static void
sleepers_learn_fail(void **state)
{
    (void)state;
    holder_dies_before_sleepers(0, "nn");
}

static void
sleepers_learn_fail_pi(void **state)
{
    (void)state;
    holder_dies_before_sleepers(MEDLEY_MUTEX_PRIORITY_INHERITANCE, "nn");
}

/* Nobody waits when it dies; the first who comes is told. `meanwhile_us`: somebody waits that long,
 * and gives up, before the holder dies. */
static void
holder_dies_alone(mrapi_uint_t attribute, mrapi_timeout_t meanwhile_us, char expected)
{
    test_process holder;
    mrapi_mutex_hndl_t mutex = mutex_make(attribute);
    holder_start(&holder);
    assert_int_equal(lock_once(mutex, meanwhile_us), 't');
    process_kill(&holder);
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), expected);
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), expected == 'n' ? 'n' : 'o');
    mrapi_status_t status;
    mrapi_key_t key;
    (void)mrapi_mutex_trylock(mutex, &key, &status);
    assert_int_equal(status, expected == 'n' ? MRAPI_ERR_MUTEX_NOTVALID : MRAPI_SUCCESS);
    mutex_delete(mutex);
    system_is_whole();
    assert_int_equal(process_join(&holder), -SIGKILL);
}

static void
next_learns(void **state)
{
    (void)state;
    holder_dies_alone(0, 0, 'd');
    holder_dies_alone(0, 1000, 'd');
    holder_dies_alone(MEDLEY_MUTEX_PRIORITY_INHERITANCE, 0, 'd');
    holder_dies_alone(MEDLEY_MUTEX_PRIORITY_INHERITANCE, 1000, 'd');
}

static void
next_learns_fail(void **state)
{
    (void)state;
    holder_dies_alone(0, 0, 'n');
    holder_dies_alone(0, 1000, 'n');
    holder_dies_alone(MEDLEY_MUTEX_PRIORITY_INHERITANCE, 0, 'n');
    holder_dies_alone(MEDLEY_MUTEX_PRIORITY_INHERITANCE, 1000, 'n');
}

/* Who only ever tries, or deletes, finds the death as well. */
static void
trying_finds_the_death(mrapi_uint_t attribute)
{
    mrapi_status_t status;
    mrapi_key_t key;
    test_process holder;
    mrapi_mutex_hndl_t mutex = mutex_make(attribute);
    holder_start(&holder);
    assert_int_equal(mrapi_mutex_trylock(mutex, &key, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED);
    process_kill(&holder);
    uint64_t deadline_ns = medley_clock_ns() + STUCK_AFTER_S * 1000000000ull;
    while (!mrapi_mutex_trylock(mutex, &key, &status)) {
        assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED);
        assert_true(medley_clock_ns() < deadline_ns); /* not every try looks */
    }
    assert_int_equal(medley_lock_owner_died(), 1);
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(process_join(&holder), -SIGKILL);

    holder_start(&holder);
    mrapi_mutex_delete(mutex, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED);
    process_kill(&holder);
    mutex_delete(mutex);
    system_is_whole();
    assert_int_equal(process_join(&holder), -SIGKILL);
}

static void
trying_is_enough(void **state)
{
    (void)state;
    trying_finds_the_death(0);
    trying_finds_the_death(MEDLEY_MUTEX_PRIORITY_INHERITANCE);
}

/* Tried in turn with what is always tried first, so that the look that is due comes there; then a
 * rest, so that one is due again. */
static void
trying_in_turn_is_enough(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    test_process holder;
    uint32_t rounds = 0;
    (void)state;
    mrapi_mutex_hndl_t mutex = mutex_make(0);
    sharing_make(OWN_NUMBER);
    assert_int_equal(sharing_take(UNIT, OWN_NUMBER, 0), MRAPI_SUCCESS);
    holder_start(&holder);
    process_kill(&holder);
    do {
        med_port_delay_ns(APART_NS);
        assert_int_equal(sharing_take(UNIT, OWN_NUMBER, 0), MRAPI_TIMEOUT);
        assert_true(++rounds <= ROUNDS_MOST);
    } while (!mrapi_mutex_trylock(mutex, &key, &status));
    mrapi_mutex_unlock(mutex, &key, &status);
    mrapi_sem_unlock(mrapi_sem_get(OWN_NUMBER, &status), &status);
    sharing_delete(OWN_NUMBER);
    mutex_delete(mutex);
    system_is_whole();
    assert_int_equal(process_join(&holder), -SIGKILL);
}

static void
number_is_free_at_once(void **state)
{
    test_process holder;
    (void)state;
    mrapi_mutex_hndl_t mutex = mutex_make(0);
    for (int i = 0; i < 3; i++) {
        test_process next;
        holder_start(&holder);
        process_kill(&holder);
        holder_start(&next); /* the same number, while the dead one is a zombie */
        process_kill(&next);
        assert_int_equal(process_join(&next), -SIGKILL);
        assert_int_equal(process_join(&holder), -SIGKILL);
    }
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), 'd');
    mutex_delete(mutex);
    system_is_whole();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SURVIVOR(sleepers_learn),
        WITH_SURVIVOR(sleepers_learn_pi),
        WITH_SURVIVOR_FAIL(sleepers_learn_fail),
        WITH_SURVIVOR_FAIL(sleepers_learn_fail_pi),
        WITH_SURVIVOR(next_learns),
        WITH_SURVIVOR_FAIL(next_learns_fail),
        WITH_SURVIVOR(trying_is_enough),
        WITH_SURVIVOR(trying_in_turn_is_enough),
        WITH_SURVIVOR(number_is_free_at_once),
    };
    test_system_prepare();
    (void)alarm(STUCK_AFTER_S);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    print_message("a death was known to all sleepers after at most %u us\n",
                  (unsigned)(slowest_ns / 1000));
    return failed;
}
