/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Conformance of MRAPI's semaphores, through the public calls: every function with every kind of
 * wrong argument, units and their owners, deletion under a waiter, the end of an owner. Run in a
 * private system and in a named one.
 */
#include <string.h>

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
sem_with(mrapi_uint_t attribute, mrapi_boolean_t value, mrapi_sem_id_t number)
{
    mrapi_status_t status;
    mrapi_sem_attributes_t attributes;
    mrapi_sem_init_attributes(&attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_sem_set_attribute(&attributes, attribute, &value, sizeof value, &status);
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
create_and_get(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_sem_hndl_t sem = sem_make(5, 1);
    assert_int_equal(mrapi_sem_get(5, &status), sem);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(mrapi_sem_create(5, NULL, 1, &status), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, MRAPI_ERR_SEM_EXISTS);
    (void)mrapi_sem_get(6, &status);
    assert_int_equal(status, MRAPI_ERR_SEM_ID_INVALID);
    (void)mrapi_sem_get(MRAPI_SEM_ID_ANY, &status);
    assert_int_equal(status, MRAPI_ERR_SEM_ID_INVALID);
    (void)mrapi_sem_create(MRAPI_MAX_USER_SEM_ID + 1, NULL, 1, &status);
    assert_int_equal(status, MRAPI_ERR_SEM_ID_INVALID);
    mrapi_sem_hndl_t any = sem_make(MRAPI_SEM_ID_ANY, 1);
    assert_int_not_equal(any, sem_make(MRAPI_SEM_ID_ANY, 1));
    delete_sem(any, MRAPI_SUCCESS);
    delete_sem(sem, MRAPI_SUCCESS);
    (void)mrapi_sem_get(5, &status);
    assert_int_equal(status, MRAPI_ERR_SEM_ID_INVALID);
    delete_sem(sem_make(MRAPI_MAX_USER_SEM_ID, 1), MRAPI_SUCCESS);
    delete_sem(sem_make(0xdeadbeef, 1), MRAPI_SUCCESS);
}

static void
limits(void **state)
{
    mrapi_status_t status;
    mrapi_sem_hndl_t sems[64];
    (void)state;
    uint32_t most = med_self_get()->system->limits.semaphores;
    uint32_t sharers = med_self_get()->system->limits.sharers;
    (void)mrapi_sem_create(5, NULL, 0, &status);
    assert_int_equal(status, MRAPI_ERR_SEM_LOCKLIMIT);
    (void)mrapi_sem_create(5, NULL, sharers + 1, &status);
    assert_int_equal(status, MRAPI_ERR_SEM_LOCKLIMIT);
    (void)mrapi_sem_create(5, NULL, ~0u, &status);
    assert_int_equal(status, MRAPI_ERR_SEM_LOCKLIMIT);
    delete_sem(sem_make(5, sharers), MRAPI_SUCCESS);
    uint32_t count = 0;
    while (count < most && (sems[count] = mrapi_sem_create(MRAPI_SEM_ID_ANY, NULL, 1, &status),
                            status == MRAPI_SUCCESS)) {
        count++;
    }
    (void)mrapi_sem_create(MRAPI_SEM_ID_ANY, NULL, 1, &status);
    assert_int_equal(status, MRAPI_ERR_SEM_LIMIT);
    for (uint32_t i = 0; i < count; i++) {
        delete_sem(sems[i], MRAPI_SUCCESS);
    }
}

static void
attributes_wrong(void **state)
{
    mrapi_status_t status;
    mrapi_sem_attributes_t attributes;
    mrapi_boolean_t value = MRAPI_FALSE;
    (void)state;
    mrapi_sem_init_attributes(NULL, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    memset(&attributes, 0, sizeof attributes); /* never initialised */
    (void)mrapi_sem_create(5, &attributes, 1, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_mutex_attributes_t others;
    mrapi_mutex_init_attributes(&others, &status);
    memcpy(&attributes, &others, sizeof attributes); /* of another kind */
    (void)mrapi_sem_create(5, &attributes, 1, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_sem_set_attribute(&attributes, MRAPI_ERROR_EXT, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_sem_init_attributes(&attributes, &status);
    mrapi_sem_set_attribute(&attributes, MRAPI_MUTEX_RECURSIVE, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    mrapi_sem_set_attribute(&attributes, MRAPI_ERROR_EXT, &value, 4, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_SIZE);
    mrapi_sem_set_attribute(&attributes, MRAPI_ERROR_EXT, NULL, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
}

static void
attributes_asked_for(void **state)
{
    mrapi_status_t status;
    mrapi_boolean_t value;
    (void)state;
    mrapi_sem_hndl_t sem = sem_with(MRAPI_ERROR_EXT, MRAPI_TRUE, 5);
    mrapi_sem_get_attribute(sem, MRAPI_ERROR_EXT, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(value, MRAPI_TRUE);
    mrapi_sem_get_attribute(sem, MRAPI_DOMAIN_SHARED, &value, sizeof value, &status);
    assert_int_equal(value, MRAPI_TRUE);
    mrapi_sem_get_attribute(sem, 999, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    mrapi_sem_get_attribute(sem, MRAPI_ERROR_EXT, &value, 2, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_SIZE);
    mrapi_sem_get_attribute(sem, MRAPI_ERROR_EXT, NULL, 1, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_sem_get_attribute(sem + 1, MRAPI_ERROR_EXT, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_SEM_INVALID);
    delete_sem(sem, MRAPI_SUCCESS);
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

static void
stale(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_sem_hndl_t plain = sem_make(5, 1);
    mrapi_sem_hndl_t extended = sem_with(MRAPI_ERROR_EXT, MRAPI_TRUE, 6);
    delete_sem(plain, MRAPI_SUCCESS);
    delete_sem(extended, MRAPI_SUCCESS);
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(5, NULL, &status);
    struct {
        mrapi_sem_hndl_t handle;
        mrapi_status_t code;
    } cases[] = {
        {plain, MRAPI_ERR_SEM_INVALID}, {extended, MRAPI_ERR_SEM_DELETED},
        {0, MRAPI_ERR_SEM_INVALID},     {~0u, MRAPI_ERR_SEM_INVALID},
        {mutex, MRAPI_ERR_SEM_INVALID}, {plain | 0xffffu, MRAPI_ERR_SEM_INVALID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mrapi_sem_lock(cases[i].handle, MRAPI_TIMEOUT_INFINITE, &status);
        assert_int_equal(status, cases[i].code);
        assert_int_equal(mrapi_sem_trylock(cases[i].handle, &status), MRAPI_FALSE);
        assert_int_equal(status, cases[i].code);
        medley_sem_lock_until_ns(cases[i].handle, ~UINT64_C(0), &status);
        assert_int_equal(status, cases[i].code);
        unlock(cases[i].handle, cases[i].code);
        delete_sem(cases[i].handle, cases[i].code);
    }
    delete_mutex(mutex);
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
    } cases[] = {{sem_make(5, 1), MRAPI_ERR_SEM_INVALID},
                 {sem_with(MRAPI_ERROR_EXT, MRAPI_TRUE, 6), MRAPI_ERR_SEM_DELETED}};
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
gets_it_in_another_domain(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    (void)mrapi_sem_get(5, &status);
    return (void *)(uintptr_t)status;
}

static void
domains(void **state)
{
    mrapi_status_t status;
    (void)state;
    const mrapi_status_t expected[] = {MRAPI_ERR_DOMAIN_NOTSHARED, MRAPI_SUCCESS};
    for (mrapi_boolean_t is_shared = 0; is_shared < 2; is_shared++) {
        mrapi_sem_hndl_t sem = sem_with(MRAPI_DOMAIN_SHARED, is_shared, 5);
        mrapi_thread_parameters_t parameters = {.start_routine = gets_it_in_another_domain};
        mrapi_thread_create(DOMAIN + 1, 30, &parameters, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        void *result;
        mrapi_thread_join(DOMAIN + 1, 30, &result, &status);
        assert_int_equal((uintptr_t)result, expected[is_shared]);
        assert_int_equal(mrapi_sem_get(5, &status), sem);
        delete_sem(sem, MRAPI_SUCCESS);
    }
}

static void
without_a_node(void **state)
{
    mrapi_status_t status;
    mrapi_sem_attributes_t attributes;
    mrapi_boolean_t value = 0;
    (void)state;
    GIVES_NOTINIT((mrapi_sem_init_attributes(&attributes, &status), 0));
    GIVES_NOTINIT((mrapi_sem_set_attribute(&attributes, 2, &value, 1, &status), 0));
    GIVES_NOTINIT((mrapi_sem_get_attribute(1, 2, &value, 1, &status), 0));
    GIVES_NOTINIT(mrapi_sem_create(1, NULL, 1, &status));
    GIVES_NOTINIT(mrapi_sem_get(1, &status));
    GIVES_NOTINIT((mrapi_sem_delete(1, &status), 0));
    GIVES_NOTINIT((mrapi_sem_lock(1, 0, &status), 0));
    GIVES_NOTINIT(mrapi_sem_trylock(1, &status));
    GIVES_NOTINIT((mrapi_sem_unlock(1, &status), 0));
    GIVES_NOTINIT((medley_sem_lock_until_ns(1, 0, &status), 0));
}

static void
without_a_status(void **state)
{
    (void)state;
    mrapi_sem_hndl_t sem = sem_make(5, 1);
    mrapi_sem_lock(sem, 0, NULL);
    assert_int_equal(mrapi_sem_trylock(sem, NULL), MRAPI_FALSE);
    medley_sem_lock_until_ns(sem, 0, NULL);
    unlock(sem, MRAPI_ERR_SEM_NOTLOCKED); /* nothing was done */
    lock(sem);
    mrapi_sem_unlock(sem, NULL);
    mrapi_sem_delete(sem, NULL);
    mrapi_sem_init_attributes(NULL, NULL);
    mrapi_sem_set_attribute(NULL, 0, NULL, 0, NULL);
    mrapi_sem_get_attribute(sem, 0, NULL, 0, NULL);
    assert_int_equal(mrapi_sem_get(5, NULL), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(mrapi_sem_create(6, NULL, 1, NULL), MRAPI_RETURN_VALUE_INVALID);
    unlock(sem, MRAPI_SUCCESS);
    delete_sem(sem, MRAPI_SUCCESS);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(create_and_get, node_up, node_down),
        cmocka_unit_test_setup_teardown(limits, node_up, node_down),
        cmocka_unit_test_setup_teardown(attributes_wrong, node_up, node_down),
        cmocka_unit_test_setup_teardown(attributes_asked_for, node_up, node_down),
        cmocka_unit_test_setup_teardown(units_of_one_node, node_up, node_down),
        cmocka_unit_test_setup_teardown(stale, node_up, node_down),
        cmocka_unit_test_setup_teardown(had_by_others, node_up, node_down),
        cmocka_unit_test_setup_teardown(deleted_under_a_waiter, node_up, node_down),
        cmocka_unit_test_setup_teardown(owner_ends, node_up, node_down),
        cmocka_unit_test_setup_teardown(domains, node_up, node_down),
        cmocka_unit_test(without_a_node),
        cmocka_unit_test_setup_teardown(without_a_status, node_up, node_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
