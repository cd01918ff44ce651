/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Conformance of MRAPI's mutexes between threads, through the public calls: contention, deletion
 * under a waiter, the end of a holder. Run in a private system and in a named one.
 */
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/mutex.h"
#include "mrapi/system.h"
#include "port/port.h"
#include "support/api.h"
#include "support/threads.h"
#include "support/unit.h"

/* What the other thread of the next tests works on. */
static mrapi_mutex_hndl_t shared_mutex;

static void *
holds_until_two(void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)argument;
    mrapi_mutex_lock(shared_mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    stage_reach(1);
    stage_await(2);
    mrapi_mutex_unlock(shared_mutex, &key, &status);
    return (void *)(uintptr_t)status;
}

/* How often it was slept for; and the calling node slept for locks. */
static uint32_t
sleeps_of(mrapi_mutex_hndl_t mutex)
{
    const med_self *self = med_self_get();
    const med_mutex_row *row = (const med_mutex_row *)(void *)med_table_row(
        &self->system->mutexes, med_handle_index(mutex));
    uint32_t slept = atomic32_load_relaxed(&row->slept);
    assert_true(atomic32_load_relaxed(&self->row->sleeps) >= slept);
    assert_int_equal(atomic32_load_relaxed(&self->row->waiting_for), 0);
    return slept;
}

static void
contention(mrapi_mutex_hndl_t mutex)
{
    mrapi_status_t status;
    mrapi_key_t key;
    shared_mutex = mutex;
    stage_reach(0);
    start(30, holds_until_two);
    stage_await(1);
    assert_int_equal(mrapi_mutex_trylock(mutex, &key, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_IMMEDIATE, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    mrapi_mutex_lock(mutex, &key, 300, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    uint64_t deadline_ns = medley_clock_ns() + 20000000; /* long enough to sleep a slice */
    medley_mutex_lock_until_ns(mutex, &key, deadline_ns, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    assert_true(medley_clock_ns() >= deadline_ns);
    assert_true(sleeps_of(mutex) > 0);
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_NOTLOCKED);
    mrapi_mutex_delete(mutex, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED);
    stage_reach(2);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    join(30, MRAPI_SUCCESS);
    delete_mutex(mutex);
}

static void
mutex_contention(void **state)
{
    mrapi_status_t status;
    (void)state;
    contention(mrapi_mutex_create(5, NULL, &status));
}

static void
mutex_contention_with_priority_inheritance(void **state)
{
    (void)state;
    pi_possible_or_refused();
    contention(mutex_with(MEDLEY_MUTEX_PRIORITY_INHERITANCE, 5));
}

static void *
waits_for_it(void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)argument;
    stage_reach(1);
    mrapi_mutex_lock(shared_mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    return (void *)(uintptr_t)status;
}

/* Until some node is seen to sleep on the mutex. */
static void
await_sleeper(mrapi_mutex_hndl_t mutex)
{
    const med_system *system = med_self_get()->system;
    const med_mutex_row *row =
        (const med_mutex_row *)(void *)med_table_row(&system->mutexes, med_handle_index(mutex));
    while (!atomic32_load_acquire(&row->sleepers.flag)) {
        med_port_yield();
    }
}

static void
mutex_deleted_under_a_waiter(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    struct {
        mrapi_mutex_hndl_t mutex;
        mrapi_status_t code;
    } cases[] = {{mrapi_mutex_create(5, NULL, &status), MRAPI_ERR_MUTEX_INVALID},
                 {mutex_with(MRAPI_ERROR_EXT, 6), MRAPI_ERR_MUTEX_DELETED}};
    for (size_t i = 0; i < 2; i++) {
        shared_mutex = cases[i].mutex;
        mrapi_mutex_lock(shared_mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
        stage_reach(0);
        start(30, waits_for_it);
        await_sleeper(shared_mutex);
        delete_mutex(shared_mutex);
        join(30, cases[i].code);
    }
}

static void *
dies_holding(void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)argument;
    mrapi_mutex_lock(shared_mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    return (void *)(uintptr_t)status;
}

static void
holder_ends(mrapi_mutex_hndl_t mutex)
{
    mrapi_status_t status;
    mrapi_key_t key;
    shared_mutex = mutex;
    start(30, dies_holding);
    join(30, MRAPI_SUCCESS);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(medley_lock_owner_died(), 1);
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(medley_lock_owner_died(), 1); /* of the last lock that was had: */
    shared_mutex = mrapi_mutex_create(MRAPI_MUTEX_ID_ANY, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    stage_reach(0);
    start(30, holds_until_two);
    stage_await(1);
    mrapi_mutex_lock(shared_mutex, &key, 300, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    assert_int_equal(medley_lock_owner_died(), 1); /* not of one that was not had */
    stage_reach(2);
    join(30, MRAPI_SUCCESS);
    delete_mutex(shared_mutex);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(medley_lock_owner_died(), 0); /* told once */
    delete_mutex(mutex);
}

/* Each has one and wants the other's: neither handle is wrong, both wait to their deadlines. */
static mrapi_mutex_hndl_t circle[2];

static void *
wants_the_first(void *argument)
{
    mrapi_status_t status;
    mrapi_key_t keys[2];
    (void)argument;
    mrapi_mutex_lock(circle[1], &keys[1], MRAPI_TIMEOUT_INFINITE, &status);
    stage_reach(1);
    stage_await(2);
    mrapi_mutex_lock(circle[0], &keys[0], 50000, &status);
    stage_reach(3);
    stage_await(4);
    return (void *)(uintptr_t)status;
}

static void
mutex_circle(mrapi_uint_t attribute)
{
    mrapi_status_t status;
    mrapi_key_t keys[2];
    circle[0] = mutex_with(attribute, 7);
    circle[1] = mutex_with(attribute, 8);
    stage_reach(0);
    start(30, wants_the_first);
    stage_await(1);
    mrapi_mutex_lock(circle[0], &keys[0], MRAPI_TIMEOUT_INFINITE, &status);
    stage_reach(2);
    mrapi_mutex_lock(circle[1], &keys[1], 50000, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    stage_await(3);
    stage_reach(4);
    join(30, MRAPI_TIMEOUT);
    delete_mutex(circle[0]);
    delete_mutex(circle[1]);
}

static void
mutex_circles_end_at_deadlines(void **state)
{
    (void)state;
    mutex_circle(MRAPI_ERROR_EXT); /* a plain one */
    pi_possible_or_refused();
    mutex_circle(MEDLEY_MUTEX_PRIORITY_INHERITANCE);
}

/* Another level of a lock that is held is an acquisition, too: of one whose holder lives. */
static void
mutex_holder_ends_and_another_is_locked_again(void **state)
{
    mrapi_status_t status;
    mrapi_key_t keys[3];
    (void)state;
    mrapi_mutex_hndl_t recursive = mutex_with(MRAPI_MUTEX_RECURSIVE, 6);
    mrapi_mutex_lock(recursive, &keys[0], MRAPI_TIMEOUT_INFINITE, &status);
    shared_mutex = mrapi_mutex_create(5, NULL, &status);
    start(30, dies_holding);
    join(30, MRAPI_SUCCESS);
    mrapi_mutex_lock(shared_mutex, &keys[1], MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(medley_lock_owner_died(), 1);
    mrapi_mutex_lock(recursive, &keys[2], MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(medley_lock_owner_died(), 0);
    delete_mutex(shared_mutex);
    delete_mutex(recursive);
}

static void
mutex_holder_ends(void **state)
{
    mrapi_status_t status;
    (void)state;
    holder_ends(mrapi_mutex_create(5, NULL, &status));
}

static void
mutex_holder_ends_with_priority_inheritance(void **state)
{
    (void)state;
    pi_possible_or_refused();
    holder_ends(mutex_with(MEDLEY_MUTEX_PRIORITY_INHERITANCE, 6));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(mutex_contention, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_deleted_under_a_waiter, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_holder_ends, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_circles_end_at_deadlines, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_holder_ends_and_another_is_locked_again, node_up,
                                        node_down),
        cmocka_unit_test_setup_teardown(mutex_contention_with_priority_inheritance, node_up,
                                        node_down),
        cmocka_unit_test_setup_teardown(mutex_holder_ends_with_priority_inheritance, node_up,
                                        node_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
