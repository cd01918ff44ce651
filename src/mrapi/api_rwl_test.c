/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Conformance of what is MRAPI's reader/writer locks' own, through the public calls: readers and
 * writers, deletion under a waiter, the end of an owner. What all locks have in common:
 * api_locks_test.c. Run in a private system and in a named one.
 */
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/rwl.h"
#include "mrapi/system.h"
#include "support/api.h"
#include "support/system.h"
#include "support/threads.h"
#include "support/unit.h"

#define READ MRAPI_RWL_READER
#define WRITE MRAPI_RWL_WRITER
#define NO_MODE ((mrapi_rwl_mode_t)2)

static mrapi_rwl_hndl_t
rwl_make(mrapi_rwl_id_t number, mrapi_uint_t limit)
{
    mrapi_status_t status;
    mrapi_rwl_hndl_t rwl = mrapi_rwl_create(number, NULL, limit, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return rwl;
}

static mrapi_rwl_hndl_t
rwl_extended(mrapi_rwl_id_t number)
{
    mrapi_status_t status;
    mrapi_boolean_t yes = MRAPI_TRUE;
    mrapi_rwl_attributes_t attributes;
    mrapi_rwl_init_attributes(&attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_rwl_set_attribute(&attributes, MRAPI_ERROR_EXT, &yes, sizeof yes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_rwl_hndl_t rwl = mrapi_rwl_create(number, &attributes, 4, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return rwl;
}

static void
lock(mrapi_rwl_hndl_t rwl, mrapi_rwl_mode_t mode)
{
    mrapi_status_t status;
    mrapi_rwl_lock(rwl, mode, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
unlock(mrapi_rwl_hndl_t rwl, mrapi_rwl_mode_t mode, mrapi_status_t expected)
{
    mrapi_status_t status;
    mrapi_rwl_unlock(rwl, mode, &status);
    assert_int_equal(status, expected);
}

static void
delete_rwl(mrapi_rwl_hndl_t rwl, mrapi_status_t expected)
{
    mrapi_status_t status;
    mrapi_rwl_delete(rwl, &status);
    assert_int_equal(status, expected);
}

/* Somebody else is in the way. */
static void
refused(mrapi_rwl_hndl_t rwl, mrapi_rwl_mode_t mode)
{
    mrapi_status_t status;
    assert_int_equal(mrapi_rwl_trylock(rwl, mode, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_RWL_LOCKED);
    mrapi_rwl_lock(rwl, mode, MRAPI_TIMEOUT_IMMEDIATE, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    mrapi_rwl_lock(rwl, mode, 300, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    uint64_t deadline_ns = medley_clock_ns() + 20000000; /* long enough to sleep a slice */
    medley_rwl_lock_until_ns(rwl, mode, deadline_ns, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    assert_true(medley_clock_ns() >= deadline_ns);
}

/* ---- By one node ----------------------------------------------------------------------------- */

static void
limits_of_readers(void **state)
{
    mrapi_status_t status;
    (void)state;
    uint32_t sharers = med_self_get()->system->limits.sharers;
    (void)mrapi_rwl_create(5, NULL, 0, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    (void)mrapi_rwl_create(5, NULL, sharers + 1, &status);
    assert_int_equal(status, MRAPI_ERR_RWL_LIMIT);
    (void)mrapi_rwl_create(5, NULL, ~0u, &status);
    assert_int_equal(status, MRAPI_ERR_RWL_LIMIT);
    delete_rwl(rwl_make(5, sharers), MRAPI_SUCCESS);
}

static void
reading_by_one_node(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_rwl_hndl_t rwl = rwl_make(5, 3);
    unlock(rwl, READ, MRAPI_ERR_RWL_NOTLOCKED);
    for (int i = 0; i < 3; i++) {
        lock(rwl, READ);
        assert_int_equal(medley_lock_owner_died(), 0);
    }
    refused(rwl, READ);
    mrapi_rwl_lock(rwl, READ, MRAPI_TIMEOUT_INFINITE, &status); /* it would wait for itself */
    assert_int_equal(status, MRAPI_ERR_RWL_LOCKED);
    mrapi_rwl_lock(rwl, WRITE, MRAPI_TIMEOUT_INFINITE, &status); /* as here */
    assert_int_equal(status, MRAPI_ERR_RWL_LOCKED);
    assert_int_equal(mrapi_rwl_trylock(rwl, WRITE, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_RWL_LOCKED);
    unlock(rwl, WRITE, MRAPI_ERR_RWL_NOTLOCKED);
    for (int i = 0; i < 3; i++) {
        unlock(rwl, READ, MRAPI_SUCCESS);
    }
    unlock(rwl, READ, MRAPI_ERR_RWL_NOTLOCKED);
    lock(rwl, READ);
    delete_rwl(rwl, MRAPI_SUCCESS); /* by its only reader */
}

static void
writing_by_one_node(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_rwl_hndl_t rwl = rwl_make(5, 3);
    for (int i = 0; i < 3; i++) {
        unlock(rwl, WRITE, MRAPI_ERR_RWL_NOTLOCKED);
        lock(rwl, WRITE);
        assert_int_equal(medley_lock_owner_died(), 0);
        for (int mode = 0; mode < 2; mode++) {
            mrapi_rwl_lock(rwl, (mrapi_rwl_mode_t)mode, MRAPI_TIMEOUT_INFINITE, &status);
            assert_int_equal(status, MRAPI_ERR_RWL_LOCKED);
            assert_int_equal(mrapi_rwl_trylock(rwl, (mrapi_rwl_mode_t)mode, &status), MRAPI_FALSE);
            assert_int_equal(status, MRAPI_ERR_RWL_LOCKED);
        }
        unlock(rwl, READ, MRAPI_ERR_RWL_NOTLOCKED);
        unlock(rwl, WRITE, MRAPI_SUCCESS);
        lock(rwl, READ);
        unlock(rwl, READ, MRAPI_SUCCESS);
        assert_int_equal(mrapi_rwl_trylock(rwl, WRITE, &status), MRAPI_TRUE);
        unlock(rwl, WRITE, MRAPI_SUCCESS);
    }
    lock(rwl, WRITE);
    delete_rwl(rwl, MRAPI_SUCCESS); /* by its writer */
}

static void
no_such_mode(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_rwl_hndl_t rwl = rwl_make(5, 3);
    mrapi_rwl_lock(rwl, NO_MODE, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    assert_int_equal(mrapi_rwl_trylock(rwl, NO_MODE, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    medley_rwl_lock_until_ns(rwl, NO_MODE, 0, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    unlock(rwl, NO_MODE, MRAPI_ERR_PARAMETER);
    delete_rwl(rwl, MRAPI_SUCCESS);
}

/* ---- By several ------------------------------------------------------------------------------ */

static mrapi_rwl_hndl_t shared_rwl;
static mrapi_rwl_mode_t others_mode;

static void *
has_it_until_two(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    mrapi_rwl_lock(shared_rwl, others_mode, MRAPI_TIMEOUT_INFINITE, &status);
    stage_reach(1);
    stage_await(2);
    mrapi_rwl_unlock(shared_rwl, others_mode, &status);
    return (void *)(uintptr_t)status;
}

static void
other_has_it(mrapi_rwl_mode_t mode, mrapi_uint_t limit)
{
    shared_rwl = rwl_make(5, limit);
    others_mode = mode;
    stage_reach(0);
    start(30, has_it_until_two);
    stage_await(1);
}

static void
other_leaves(void)
{
    stage_reach(2);
    lock(shared_rwl, WRITE);
    unlock(shared_rwl, WRITE, MRAPI_SUCCESS);
    join(30, MRAPI_SUCCESS);
    delete_rwl(shared_rwl, MRAPI_SUCCESS);
}

static void
another_writes(void **state)
{
    (void)state;
    other_has_it(WRITE, 3);
    refused(shared_rwl, READ);
    refused(shared_rwl, WRITE);
    delete_rwl(shared_rwl, MRAPI_ERR_RWL_LOCKED);
    unlock(shared_rwl, WRITE, MRAPI_ERR_RWL_NOTLOCKED);
    unlock(shared_rwl, READ, MRAPI_ERR_RWL_NOTLOCKED);
    other_leaves();
}

static void
another_reads(void **state)
{
    (void)state;
    for (mrapi_uint_t limit = 1; limit <= 2; limit++) {
        other_has_it(READ, limit);
        refused(shared_rwl, WRITE); /* and has given the word back */
        if (limit == 1) {
            refused(shared_rwl, READ);
        } else {
            lock(shared_rwl, READ);
            refused(shared_rwl, READ);
            unlock(shared_rwl, READ, MRAPI_SUCCESS);
        }
        delete_rwl(shared_rwl, MRAPI_ERR_RWL_LOCKED);
        unlock(shared_rwl, READ, MRAPI_ERR_RWL_NOTLOCKED);
        other_leaves();
    }
}

static const med_rwl_row *
row_of(mrapi_rwl_hndl_t rwl)
{
    return (const med_rwl_row *)(void *)med_table_row(&med_self_get()->system->rwls,
                                                      med_handle_index(rwl));
}

static void *
writes_once(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    mrapi_rwl_lock(shared_rwl, WRITE, MRAPI_TIMEOUT_INFINITE, &status);
    mrapi_rwl_unlock(shared_rwl, WRITE, &status);
    return (void *)(uintptr_t)status;
}

/* Who reads may read again though a writer is coming; others may not. */
static void
a_writer_is_coming(void **state)
{
    mrapi_status_t status;
    (void)state;
    shared_rwl = rwl_make(5, 3);
    lock(shared_rwl, READ);
    start(30, writes_once);
    while (!(atomic32_load_acquire(&row_of(shared_rwl)->lock.writer.word) & MED_RWLOCK_COMING)) {
        med_port_yield();
    }
    lock(shared_rwl, READ);
    others_mode = READ;
    stage_reach(0);
    start(31, has_it_until_two);
    unlock(shared_rwl, READ, MRAPI_SUCCESS);
    assert_int_equal(atomic32_load_acquire(&stage), 0);
    assert_int_equal(mrapi_rwl_trylock(shared_rwl, READ, &status), MRAPI_TRUE);
    unlock(shared_rwl, READ, MRAPI_SUCCESS);
    unlock(shared_rwl, READ, MRAPI_SUCCESS);
    stage_await(1);
    stage_reach(2);
    join(30, MRAPI_SUCCESS);
    join(31, MRAPI_SUCCESS);
    delete_rwl(shared_rwl, MRAPI_SUCCESS);
}

static void *
waits_to_read(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    mrapi_rwl_lock(shared_rwl, READ, MRAPI_TIMEOUT_INFINITE, &status);
    return (void *)(uintptr_t)status;
}

static void *
waits_to_write(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    mrapi_rwl_lock(shared_rwl, WRITE, MRAPI_TIMEOUT_INFINITE, &status);
    return (void *)(uintptr_t)status;
}

static void
deleted_under_waiters(void **state)
{
    (void)state;
    struct {
        mrapi_rwl_hndl_t rwl;
        mrapi_status_t code;
    } cases[] = {{rwl_make(5, 2), MRAPI_ERR_RWL_INVALID}, {rwl_extended(6), MRAPI_ERR_RWL_DELETED}};
    for (size_t i = 0; i < 2; i++) {
        shared_rwl = cases[i].rwl;
        lock(shared_rwl, WRITE);
        start(30, waits_to_read);
        start(31, waits_to_write);
        while (!atomic32_load_acquire(&row_of(shared_rwl)->lock.sleepers.flag)) {
            med_port_yield();
        }
        delete_rwl(shared_rwl, MRAPI_SUCCESS);
        join(30, cases[i].code);
        join(31, cases[i].code);
    }
}

static void *
ends_with_it(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    mrapi_rwl_lock(shared_rwl, others_mode, MRAPI_TIMEOUT_INFINITE, &status);
    stage_reach(1);
    stage_await(2);
    return (void *)(uintptr_t)status;
}

/* A writer's end is told to all, up to the next writer; a reader's to nobody. */
static void
owner_ends(void **state)
{
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        int told = mode == WRITE;
        shared_rwl = rwl_make(5, 2);
        others_mode = (mrapi_rwl_mode_t)mode;
        stage_reach(0);
        start(30, ends_with_it);
        stage_await(1);
        stage_reach(2);
        join(30, MRAPI_SUCCESS);
        for (int i = 0; i < 3; i++) {
            lock(shared_rwl, READ);
            assert_int_equal(medley_lock_owner_died(), told);
            unlock(shared_rwl, READ, MRAPI_SUCCESS);
        }
        lock(shared_rwl, WRITE);
        assert_int_equal(medley_lock_owner_died(), told);
        unlock(shared_rwl, WRITE, MRAPI_SUCCESS);
        lock(shared_rwl, WRITE);
        assert_int_equal(medley_lock_owner_died(), 0);
        unlock(shared_rwl, WRITE, MRAPI_SUCCESS);
        lock(shared_rwl, READ);
        assert_int_equal(medley_lock_owner_died(), 0);
        delete_rwl(shared_rwl, MRAPI_SUCCESS);
    }
}

/* ---- Readers see what writers wrote, whole --------------------------------------------------- */

#define WORKERS 4
#define ROUNDS 20000

static uint32_t guarded[2];

static void *
reads_and_writes(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    mrapi_node_t node = mrapi_node_id_get(&status);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        mrapi_rwl_mode_t mode = (i + node) % 8 ? READ : WRITE;
        mrapi_timeout_t timeout = i % 64 ? MRAPI_TIMEOUT_INFINITE : 1;
        mrapi_rwl_lock(shared_rwl, mode, timeout, &status);
        if (status == MRAPI_TIMEOUT) {
            continue;
        }
        if (status != MRAPI_SUCCESS || guarded[0] != guarded[1]) {
            return (void *)(uintptr_t)MRAPI_ERR_RWL_INVALID;
        }
        if (mode == WRITE) {
            guarded[0]++;
            guarded[1]++;
        }
        mrapi_rwl_unlock(shared_rwl, mode, &status);
    }
    return (void *)(uintptr_t)status;
}

static void
many_at_once(void **state)
{
    (void)state;
    for (mrapi_uint_t limit = 1; limit <= 3; limit++) {
        shared_rwl = rwl_make(5, limit);
        for (mrapi_node_t n = 0; n < WORKERS; n++) {
            start(30 + n, reads_and_writes);
        }
        for (mrapi_node_t n = 0; n < WORKERS; n++) {
            mrapi_status_t status;
            void *result;
            mrapi_thread_join(DOMAIN, 30 + n, &result, &status);
            assert_true((uintptr_t)result == MRAPI_SUCCESS || (uintptr_t)result == MRAPI_TIMEOUT);
        }
        delete_rwl(shared_rwl, MRAPI_SUCCESS);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(limits_of_readers, node_up, node_down),
        cmocka_unit_test_setup_teardown(reading_by_one_node, node_up, node_down),
        cmocka_unit_test_setup_teardown(writing_by_one_node, node_up, node_down),
        cmocka_unit_test_setup_teardown(no_such_mode, node_up, node_down),
        cmocka_unit_test_setup_teardown(another_writes, node_up, node_down),
        cmocka_unit_test_setup_teardown(another_reads, node_up, node_down),
        cmocka_unit_test_setup_teardown(a_writer_is_coming, node_up, node_down),
        cmocka_unit_test_setup_teardown(deleted_under_waiters, node_up, node_down),
        cmocka_unit_test_setup_teardown(owner_ends, node_up, node_down),
        cmocka_unit_test_setup_teardown(many_at_once, node_up, node_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
