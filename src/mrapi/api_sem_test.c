/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Conformance of what is MRAPI's semaphores' own, through the public calls: units and their owners,
 * deletion under a waiter, the end of an owner. What all locks have in common: api_locks_test.c.
 * Run in a private system and in a named one.
 */
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/sem.h"
#include "mrapi/system.h"
#include "support/api.h"
#include "support/system.h"
#include "support/threads.h"
#include "support/unit.h"

static mrapi_sem_hndl_t
sem_make(mrapi_sem_id_t number, mrapi_uint_t limit)
{
    mrapi_status_t status;
    mrapi_sem_hndl_t sem = mrapi_sem_create(number, NULL, limit, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return sem;
}

static mrapi_sem_hndl_t
sem_extended(mrapi_sem_id_t number)
{
    mrapi_status_t status;
    mrapi_boolean_t yes = MRAPI_TRUE;
    mrapi_sem_attributes_t attributes;
    mrapi_sem_init_attributes(&attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_sem_set_attribute(&attributes, MRAPI_ERROR_EXT, &yes, sizeof yes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_sem_hndl_t sem = mrapi_sem_create(number, &attributes, 1, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return sem;
}

static void
lock(mrapi_sem_hndl_t sem)
{
    mrapi_status_t status;
    mrapi_sem_lock(sem, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
unlock(mrapi_sem_hndl_t sem, mrapi_status_t expected)
{
    mrapi_status_t status;
    mrapi_sem_unlock(sem, &status);
    assert_int_equal(status, expected);
}

static void
delete_sem(mrapi_sem_hndl_t sem, mrapi_status_t expected)
{
    mrapi_status_t status;
    mrapi_sem_delete(sem, &status);
    assert_int_equal(status, expected);
}

static void
refused(mrapi_sem_hndl_t sem)
{
    mrapi_status_t status;
    assert_int_equal(mrapi_sem_trylock(sem, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_SEM_LOCKED);
    mrapi_sem_lock(sem, MRAPI_TIMEOUT_IMMEDIATE, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    mrapi_sem_lock(sem, 300, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    uint64_t deadline_ns = medley_clock_ns() + 20000000; /* long enough to sleep a slice */
    medley_sem_lock_until_ns(sem, deadline_ns, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    assert_true(medley_clock_ns() >= deadline_ns);
}

/* ---- By one node ----------------------------------------------------------------------------- */

static void
limits_of_units(void **state)
{
    mrapi_status_t status;
    (void)state;
    uint32_t sharers = med_self_get()->system->limits.sharers;
    const mrapi_uint_t wrong[] = {0, sharers + 1, ~0u};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        (void)mrapi_sem_create(5, NULL, wrong[i], &status);
        assert_int_equal(status, MRAPI_ERR_SEM_LOCKLIMIT);
    }
    delete_sem(sem_make(5, sharers), MRAPI_SUCCESS);
}

static void
units_of_one_node(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_sem_hndl_t sem = sem_make(5, 3);
    mrapi_sem_hndl_t other = sem_make(6, 1);
    unlock(sem, MRAPI_ERR_SEM_NOTLOCKED);
    for (int i = 0; i < 3; i++) {
        lock(sem);
        assert_int_equal(medley_lock_owner_died(), 0);
    }
    refused(sem);
    mrapi_sem_lock(sem, MRAPI_TIMEOUT_INFINITE, &status); /* it would wait for itself */
    assert_int_equal(status, MRAPI_ERR_SEM_LOCKED);
    lock(other);
    unlock(sem, MRAPI_SUCCESS);
    assert_int_equal(mrapi_sem_trylock(sem, &status), MRAPI_TRUE);
    for (int i = 0; i < 3; i++) {
        unlock(sem, MRAPI_SUCCESS);
    }
    unlock(sem, MRAPI_ERR_SEM_NOTLOCKED);
    lock(sem);
    delete_sem(sem, MRAPI_SUCCESS); /* by its only owner */
    unlock(other, MRAPI_SUCCESS);
    delete_sem(other, MRAPI_SUCCESS);
}

/* Whoever has the handle still, and reads the limit of the row's next life, gets no unit before
 * that life frees them: sim's mrapi_sem, seed 15085, when the deletion took only its own. */
static void
no_unit_of_a_deleted_one(void **state)
{
    (void)state;
    const med_self *self = med_self_get();
    mrapi_sem_hndl_t sem = sem_make(5, 1);
    med_sem_row *row =
        (med_sem_row *)(void *)med_table_row(&self->system->sems, med_handle_index(sem));
    delete_sem(sem, MRAPI_SUCCESS);
    atomic32_store_relaxed(&row->limit, self->sharers);
    const med_units units = med_sem_units(row, self->sharers);
    assert_int_equal(units.count, self->sharers);
    assert_false(med_units_any_free(&units));
}

/* ---- By several ------------------------------------------------------------------------------ */

static mrapi_sem_hndl_t shared_sem;

static void *
has_one_until_two(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    mrapi_sem_lock(shared_sem, MRAPI_TIMEOUT_INFINITE, &status);
    stage_reach(1);
    stage_await(2);
    mrapi_sem_unlock(shared_sem, &status);
    return (void *)(uintptr_t)status;
}

static void
had_by_others(void **state)
{
    (void)state;
    for (mrapi_uint_t limit = 1; limit <= 2; limit++) {
        shared_sem = sem_make(5, limit);
        stage_reach(0);
        start(30, has_one_until_two);
        stage_await(1);
        if (limit == 2) {
            lock(shared_sem);
        }
        refused(shared_sem);
        delete_sem(shared_sem, MRAPI_ERR_SEM_LOCKED);
        unlock(shared_sem, limit == 2 ? MRAPI_SUCCESS : MRAPI_ERR_SEM_NOTLOCKED);
        stage_reach(2);
        lock(shared_sem);
        unlock(shared_sem, MRAPI_SUCCESS);
        join(30, MRAPI_SUCCESS);
        delete_sem(shared_sem, MRAPI_SUCCESS);
    }
}

static void *
waits_for_one(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    mrapi_sem_lock(shared_sem, MRAPI_TIMEOUT_INFINITE, &status);
    return (void *)(uintptr_t)status;
}

static void
deleted_under_a_waiter(void **state)
{
    (void)state;
    struct {
        mrapi_sem_hndl_t sem;
        mrapi_status_t code;
    } cases[] = {{sem_make(5, 1), MRAPI_ERR_SEM_INVALID}, {sem_extended(6), MRAPI_ERR_SEM_DELETED}};
    for (size_t i = 0; i < 2; i++) {
        shared_sem = cases[i].sem;
        const med_system *system = med_self_get()->system;
        const med_sem_row *row =
            (const med_sem_row *)(void *)med_table_row(&system->sems, med_handle_index(shared_sem));
        lock(shared_sem);
        start(30, waits_for_one);
        start(31, waits_for_one);
        while (!atomic32_load_acquire(&row->sleepers.flag)) {
            med_port_yield();
        }
        delete_sem(shared_sem, MRAPI_SUCCESS);
        join(30, cases[i].code);
        join(31, cases[i].code);
    }
}

static void *
ends_with_two(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    mrapi_sem_lock(shared_sem, MRAPI_TIMEOUT_INFINITE, &status);
    mrapi_sem_lock(shared_sem, MRAPI_TIMEOUT_INFINITE, &status);
    stage_reach(1);
    stage_await(2);
    return (void *)(uintptr_t)status;
}

/* What a node leaves behind comes back, and who gets it is told. */
static void
owner_ends(void **state)
{
    (void)state;
    shared_sem = sem_make(5, 2);
    stage_reach(0);
    start(30, ends_with_two);
    stage_await(1);
    stage_reach(2);
    lock(shared_sem);
    assert_int_equal(medley_lock_owner_died(), 1);
    lock(shared_sem);
    assert_int_equal(medley_lock_owner_died(), 1);
    unlock(shared_sem, MRAPI_SUCCESS);
    lock(shared_sem);
    assert_int_equal(medley_lock_owner_died(), 0);
    join(30, MRAPI_SUCCESS);
    delete_sem(shared_sem, MRAPI_SUCCESS);
}

static void *
has_the_third(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    mrapi_sem_lock(shared_sem, MRAPI_TIMEOUT_INFINITE, &status);
    stage_reach(2);
    stage_await(3);
    mrapi_sem_unlock(shared_sem, &status);
    return (void *)(uintptr_t)status;
}

/* Whose owner has died are taken first by who would delete it; then it is seen that the third is
 * had. Who gets them next is told all the same. */
static void
deleted_in_vain_after_a_death(void **state)
{
    int told = 0;
    (void)state;
    shared_sem = sem_make(5, 3);
    stage_reach(0);
    start(30, ends_with_two);
    stage_await(1);
    start(31, has_the_third);
    join(30, MRAPI_SUCCESS);
    for (int i = 0; i < 2; i++) {
        delete_sem(shared_sem, MRAPI_ERR_SEM_LOCKED);
    }
    stage_reach(3);
    join(31, MRAPI_SUCCESS);
    for (int i = 0; i < 3; i++) {
        lock(shared_sem);
        told += medley_lock_owner_died();
    }
    assert_int_equal(told, 2);
    delete_sem(shared_sem, MRAPI_SUCCESS);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(limits_of_units, node_up, node_down),
        cmocka_unit_test_setup_teardown(units_of_one_node, node_up, node_down),
        cmocka_unit_test_setup_teardown(no_unit_of_a_deleted_one, node_up, node_down),
        cmocka_unit_test_setup_teardown(had_by_others, node_up, node_down),
        cmocka_unit_test_setup_teardown(deleted_under_a_waiter, node_up, node_down),
        cmocka_unit_test_setup_teardown(owner_ends, node_up, node_down),
        cmocka_unit_test_setup_teardown(deleted_in_vain_after_a_death, node_up, node_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
