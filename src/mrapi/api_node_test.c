/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Conformance of MRAPI's nodes, through the public calls: every function with every kind of
 * wrong argument gives the code that the standard names, and changes nothing. Run in a private
 * system and in a named one.
 */
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "port/port.h"
#include "support/api.h"
#include "support/unit.h"

/* ---- Nodes ----------------------------------------------------------------------------------- */

static void
initialize_wrong(void **state)
{
    mrapi_status_t status;
    mrapi_info_t info;
    (void)state;
    mrapi_initialize(DOMAIN, NODE, 0, &info, NULL); /* must not crash */
    mrapi_initialize(DOMAIN, NODE, 0, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_initialize(MRAPI_DOMAIN_INVALID, NODE, 0, &info, &status);
    assert_int_equal(status, MRAPI_ERR_DOMAIN_INVALID);
    mrapi_initialize(DOMAIN, MRAPI_NODE_INVALID, 0, &info, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    mrapi_finalize(&status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    assert_int_equal(mrapi_node_id_get(&status), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    assert_int_equal(mrapi_domain_id_get(&status), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
}

static void
initialize_twice(void **state)
{
    mrapi_status_t status;
    mrapi_info_t info;
    node_up(state);
    mrapi_initialize(DOMAIN, NODE, 0, &info, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INITIALIZED);
    mrapi_initialize(DOMAIN, NODE + 1, 0, &info, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INITIALIZED);
    assert_int_equal(mrapi_node_id_get(&status), NODE);
    assert_int_equal(mrapi_domain_id_get(&status), DOMAIN);
    node_down(state);
    node_up(state); /* and again */
    node_down(state);
}

static void
number_is_taken(void)
{
    mrapi_status_t status;
    mrapi_info_t info;
    (void)mrapi_node_id_get(&status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT); /* until it adopts */
    mrapi_initialize(DOMAIN, NODE, 0, &info, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INITIALIZED);
    mrapi_initialize(DOMAIN + 1, NODE, 0, &info, &status); /* another domain, another number */
    assert_int_equal(status, MRAPI_SUCCESS);
    /* ends without finalize: its number comes free with the thread */
}

static void
adopt_any(void)
{
    mrapi_node_t first = 0;
    mrapi_status_t status;
    assert_int_equal(medley_node_adopt(MRAPI_DOMAIN_INVALID, 1, NULL), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(medley_node_adopt(DOMAIN, MEDLEY_NODE_ANY, &first), MEDLEY_OK);
    assert_int_equal(mrapi_node_id_get(&status), first);
    assert_int_equal(medley_node_adopt(DOMAIN, MEDLEY_NODE_ANY, NULL), MEDLEY_ERR_EXISTS);
}

static void
threads_are_nodes(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        on_other_thread(number_is_taken);
        on_other_thread(adopt_any);
    }
}

/* ---- Attributes ------------------------------------------------------------------------------ */

/* None is defined; any thread may ask for a record. */
static void
attribute_records(void **state)
{
    mrapi_node_attributes_t record, filled;
    mrapi_uint_t value = 1;
    mrapi_status_t status;
    (void)state;
    mrapi_node_init_attributes(&record, NULL); /* must not crash */
    mrapi_node_set_attribute(&record, 1, &value, sizeof value, NULL);
    mrapi_node_init_attributes(NULL, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_node_set_attribute(NULL, 1, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    memset(&record, 0xa5, sizeof record);
    mrapi_node_set_attribute(&record, 1, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER); /* never initialised */
    mrapi_node_init_attributes(&record, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    filled = record;
    mrapi_node_set_attribute(&record, 1, NULL, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    const mrapi_uint_t numbers[] = {0, 1, MRAPI_ERROR_EXT, MRAPI_DOMAIN_SHARED, UINT32_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        mrapi_node_set_attribute(&record, numbers[i], &value, sizeof value, &status);
        assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    }
    assert_memory_equal(&record, &filled, sizeof record);
}

static void
attributes_of_nodes(void **state)
{
    mrapi_uint_t value = 77;
    mrapi_status_t status;
    (void)state;
    mrapi_node_get_attribute(NODE, 0, &value, sizeof value, NULL); /* must not crash */
    mrapi_finalize(NULL);                                          /* does nothing */
    assert_int_equal(mrapi_domain_id_get(NULL), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(mrapi_node_id_get(NULL), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(mrapi_node_id_get(&status), NODE);
    mrapi_node_get_attribute(NODE, 0, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    mrapi_node_get_attribute(NODE, UINT32_MAX, &value, 0, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    mrapi_node_get_attribute(NODE, 0, NULL, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_node_get_attribute(NODE + 1, 0, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    mrapi_node_get_attribute(MRAPI_NODE_INVALID, 0, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    assert_int_equal(value, 77);
}

/* ---- Thread nodes ---------------------------------------------------------------------------- */

static void *
node_number(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    return (void *)(uintptr_t)mrapi_node_id_get(&status);
}

static void *
exits(void *argument)
{
    mrapi_status_t status;
    mrapi_thread_exit(NULL, NULL); /* does nothing */
    mrapi_thread_exit(argument, &status);
    return NULL;
}

static void
thread_create_and_join(void **state)
{
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = node_number};
    void *result;
    (void)state;
    for (int round = 0; round < 3; round++) {
        mrapi_thread_create(DOMAIN, 20, &parameters, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_thread_create(DOMAIN, 20, &parameters, &status);
        assert_int_equal(status, MRAPI_ERR_NODE_INITIALIZED); /* taken until joined */
        mrapi_thread_join(DOMAIN, 20, &result, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal((uintptr_t)result, 20);
        mrapi_thread_join(DOMAIN, 20, &result, &status);
        assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    }
    parameters = (mrapi_thread_parameters_t){.start_routine = exits, .arg = &parameters};
    mrapi_thread_create(DOMAIN, 21, &parameters, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_thread_join(DOMAIN, 21, &result, NULL); /* does nothing */
    mrapi_thread_join(DOMAIN, 21, &result, &status);
    assert_ptr_equal(result, &parameters);
}

static void
thread_wrong(void **state)
{
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = node_number};
    mrapi_thread_parameters_t empty = {.start_routine = NULL};
    (void)state;
    mrapi_thread_create(DOMAIN, 20, &parameters, NULL);
    mrapi_thread_create(DOMAIN, 20, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_thread_create(DOMAIN, 20, &empty, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_thread_create(MRAPI_DOMAIN_INVALID, 20, &parameters, &status);
    assert_int_equal(status, MRAPI_ERR_DOMAIN_INVALID);
    mrapi_thread_create(DOMAIN, MRAPI_NODE_INVALID, &parameters, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    mrapi_thread_join(DOMAIN, NODE, NULL, &status); /* the caller */
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    mrapi_thread_exit(NULL, &status); /* not started so */
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
}

/* ---- Without a node -------------------------------------------------------------------------- */

static void
not_a_node(void **state)
{
    mrapi_status_t status = MRAPI_SUCCESS;
    mrapi_key_t key = 0;
    mrapi_mutex_attributes_t attributes;
    mrapi_thread_parameters_t parameters = {.start_routine = node_number};
    mrapi_boolean_t value = 0;
    (void)state;
    GIVES_NOTINIT(mrapi_mutex_create(1, NULL, &status));
    GIVES_NOTINIT(mrapi_mutex_get(1, &status));
    GIVES_NOTINIT(mrapi_mutex_trylock(1, &key, &status));
    GIVES_NOTINIT((mrapi_mutex_delete(1, &status), 0));
    GIVES_NOTINIT((mrapi_mutex_lock(1, &key, 0, &status), 0));
    GIVES_NOTINIT((mrapi_mutex_unlock(1, &key, &status), 0));
    GIVES_NOTINIT((mrapi_mutex_init_attributes(&attributes, &status), 0));
    GIVES_NOTINIT((mrapi_mutex_set_attribute(&attributes, 1, &value, 1, &status), 0));
    GIVES_NOTINIT((mrapi_mutex_get_attribute(1, 1, &value, 1, &status), 0));
    GIVES_NOTINIT((mrapi_node_get_attribute(1, 1, &value, 1, &status), 0));
    GIVES_NOTINIT((mrapi_thread_create(1, 1, &parameters, &status), 0));
    GIVES_NOTINIT((mrapi_thread_join(1, 1, NULL, &status), 0));
    GIVES_NOTINIT((mrapi_thread_exit(NULL, &status), 0));
    GIVES_NOTINIT((medley_mutex_lock_until_ns(1, &key, 0, &status), 0));
    assert_int_equal(medley_lock_owner_died(), 0);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initialize_wrong),
        cmocka_unit_test(initialize_twice),
        cmocka_unit_test(not_a_node),
        cmocka_unit_test(attribute_records),
        cmocka_unit_test_setup_teardown(attributes_of_nodes, node_up, node_down),
        cmocka_unit_test_setup_teardown(threads_are_nodes, node_up, node_down),
        cmocka_unit_test_setup_teardown(thread_create_and_join, node_up, node_down),
        cmocka_unit_test_setup_teardown(thread_wrong, node_up, node_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
