/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Conformance of MRAPI's shared memory, through the public calls: every function with every kind of
 * wrong argument gives the code that the standard names, and changes nothing. Run in a private
 * system and in a named one.
 */
#define _GNU_SOURCE /* process_vm_readv */
#include <sys/mman.h>

#include "mrapi/shmem.h"
#include "mrapi/system.h"
#include "support/api.h"
#include "support/unit.h"

#define NUMBER 0xdeadbabeu
#define SIZE 10000u

static mrapi_shmem_hndl_t
made(mrapi_shmem_id_t number, mrapi_uint_t size, const mrapi_shmem_attributes_t *attributes)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t shmem = mrapi_shmem_create(number, size, NULL, 0, attributes,
                                                  attributes ? sizeof *attributes : 0, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return shmem;
}

static unsigned char *
attached(mrapi_shmem_hndl_t shmem)
{
    mrapi_status_t status;
    unsigned char *bytes = mrapi_shmem_attach(shmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_non_null(bytes);
    return bytes;
}

static void
detach(mrapi_shmem_hndl_t shmem)
{
    mrapi_status_t status;
    mrapi_shmem_detach(shmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
delete_shmem(mrapi_shmem_hndl_t shmem)
{
    mrapi_status_t status;
    mrapi_shmem_delete(shmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
on_another_node(mrapi_domain_t domain, mrapi_node_t node, void *(*body)(void *), void *argument)
{
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = body, .arg = argument};
    mrapi_thread_create(domain, node, &parameters, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_thread_join(domain, node, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

/* ---- The life of one ------------------------------------------------------------------------- */

static void
one_life(void **state)
{
    mrapi_status_t status;
    (void)state;
    static const uint32_t sizes[] = {1, 4096, SIZE, (1u << 20) + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        mrapi_shmem_hndl_t shmem = made(NUMBER, sizes[i], NULL);
        assert_int_equal(mrapi_shmem_get(NUMBER, &status), shmem);
        assert_int_equal(status, MRAPI_SUCCESS);
        unsigned char *bytes = attached(shmem);
        assert_int_equal(bytes[0] | bytes[sizes[i] - 1], 0);
        bytes[0] = 1;
        bytes[sizes[i] - 1] = 2;
        detach(shmem);
        bytes = attached(shmem); /* what was written stays */
        assert_int_equal(bytes[sizes[i] - 1], 2);
        detach(shmem);
        delete_shmem(shmem);
        (void)mrapi_shmem_get(NUMBER, &status);
        assert_int_equal(status, MRAPI_ERR_SHM_ID_INVALID);
    }
}

static void
without_a_number(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_shmem_hndl_t first = made(MRAPI_SHMEM_ID_ANY, SIZE, NULL);
    mrapi_shmem_hndl_t second = made(MRAPI_SHMEM_ID_ANY, SIZE, NULL);
    assert_int_not_equal(first, second);
    assert_ptr_not_equal(attached(first), attached(second));
    (void)mrapi_shmem_get(MRAPI_SHMEM_ID_ANY, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_ID_INVALID);
    for (mrapi_shmem_id_t number = 0; number < 64; number++) {
        (void)mrapi_shmem_get(number, &status);
        assert_int_equal(status, MRAPI_ERR_SHM_ID_INVALID);
    }
    detach(first);
    detach(second);
    delete_shmem(first);
    delete_shmem(second);
}

static void
all_numbers_for_users(void **state)
{
    static const mrapi_shmem_id_t numbers[] = {0, 0xdeadbabe, MRAPI_MAX_USER_SHMEM_ID};
    mrapi_status_t status;
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        mrapi_shmem_hndl_t shmem = made(numbers[i], SIZE, NULL);
        assert_int_equal(mrapi_shmem_get(numbers[i], &status), shmem);
        delete_shmem(shmem);
    }
    (void)mrapi_shmem_create(MRAPI_MAX_USER_SHMEM_ID + 1, SIZE, NULL, 0, NULL, 0, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_ID_INVALID);
    (void)mrapi_shmem_get(MRAPI_MAX_USER_SHMEM_ID + 1, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_ID_INVALID);
}

static void
not_a_node(void **state)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes;
    mrapi_uint_t value = 0;
    (void)state;
    mrapi_shmem_init_attributes(&attributes, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_shmem_set_attribute(&attributes, MRAPI_SHMEM_RESOURCE, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_shmem_get_attribute(1, MRAPI_SHMEM_SIZE, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    assert_int_equal(mrapi_shmem_create(NUMBER, 1, NULL, 0, NULL, 0, &status),
                     MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    assert_int_equal(mrapi_shmem_get(NUMBER, &status), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    assert_null(mrapi_shmem_attach(1, &status));
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_shmem_detach(1, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_shmem_delete(1, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
}

static void
no_status(void **state)
{
    mrapi_shmem_attributes_t attributes;
    mrapi_uint_t value = 0;
    (void)state;
    mrapi_shmem_init_attributes(&attributes, NULL);
    mrapi_shmem_set_attribute(&attributes, MRAPI_SHMEM_RESOURCE, &value, sizeof value, NULL);
    mrapi_shmem_get_attribute(1, MRAPI_SHMEM_SIZE, &value, sizeof value, NULL);
    assert_int_equal(mrapi_shmem_create(NUMBER, 1, NULL, 0, NULL, 0, NULL),
                     MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(mrapi_shmem_get(NUMBER, NULL), MRAPI_RETURN_VALUE_INVALID);
    assert_null(mrapi_shmem_attach(1, NULL));
    mrapi_shmem_detach(1, NULL);
    mrapi_shmem_delete(1, NULL);
}

/* ---- Wrong arguments ------------------------------------------------------------------------- */

static void
create_wrong(void **state)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes = {.set = 0};
    const mrapi_node_t none[] = {NODE, MRAPI_NODE_INVALID};
    static mrapi_node_t many[20000];
    (void)state;
    mrapi_shmem_hndl_t shmem = made(NUMBER, SIZE, NULL);
    assert_int_equal(mrapi_shmem_create(NUMBER, SIZE, NULL, 0, NULL, 0, &status),
                     MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, MRAPI_ERR_SHM_EXISTS);
    (void)mrapi_shmem_create(1, 0, NULL, 0, NULL, 0, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    (void)mrapi_shmem_create(1, SIZE, NULL, 1, NULL, 0, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    (void)mrapi_shmem_create(1, SIZE, NULL, 0, &attributes, sizeof attributes, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_shmem_init_attributes(&attributes, &status);
    (void)mrapi_shmem_create(1, SIZE, NULL, 0, &attributes, 3, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    (void)mrapi_shmem_create(1, SIZE, none, 2, NULL, 0, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_NODES_INCOMPAT);
    (void)mrapi_shmem_create(1, SIZE, many, 20000, NULL, 0, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_NODES_INCOMPAT);
    (void)mrapi_shmem_get(1, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_ID_INVALID);
    delete_shmem(shmem);
}

static void
handles_wrong(void **state)
{
    mrapi_status_t status;
    mrapi_uint_t value;
    (void)state;
    mrapi_shmem_hndl_t shmem = made(NUMBER, SIZE, NULL);
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(1, NULL, &status);
    delete_shmem(made(1, SIZE, NULL));
    const mrapi_shmem_hndl_t wrong[] = {
        0, ~0u, shmem + 1, shmem ^ 0x00010000u, shmem ^ 0x10000000u, shmem | 0xffffu, mutex,
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_null(mrapi_shmem_attach(wrong[i], &status));
        assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
        mrapi_shmem_detach(wrong[i], &status);
        assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
        mrapi_shmem_delete(wrong[i], &status);
        assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
        mrapi_shmem_get_attribute(wrong[i], MRAPI_SHMEM_SIZE, &value, sizeof value, &status);
        assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
    }
    mrapi_mutex_delete(mutex, &status);
    delete_shmem(shmem);
    assert_null(mrapi_shmem_attach(shmem, &status));
    assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
}

static void
attach_and_detach_in_turn(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_shmem_hndl_t shmem = made(NUMBER, SIZE, NULL);
    mrapi_shmem_detach(shmem, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_NOTATTACHED);
    (void)attached(shmem);
    assert_null(mrapi_shmem_attach(shmem, &status));
    assert_int_equal(status, MRAPI_ERR_SHM_ATTACHED);
    mrapi_shmem_delete(shmem, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_ATTCH);
    detach(shmem);
    mrapi_shmem_detach(shmem, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_NOTATTACHED);
    delete_shmem(shmem);
}

static void
limit(void **state)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t all[64];
    unsigned count = 0;
    (void)state;
    do {
        all[count] = mrapi_shmem_create(count, 1, NULL, 0, NULL, 0, &status);
    } while (status == MRAPI_SUCCESS && ++count < 64);
    assert_int_equal(count, med_self_get()->system->limits.shmems);
    assert_int_equal(status, MRAPI_ERR_MEM_LIMIT);
    while (count > 0) {
        delete_shmem(all[--count]);
    }
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static void *
attaches_and_ends(void *argument)
{
    mrapi_status_t status;
    unsigned char **seen_at = argument;
    *seen_at = mrapi_shmem_attach(mrapi_shmem_get(NUMBER, &status), &status);
    return NULL; /* without detach */
}

static void
nodes_of_a_process_share_the_mapping(void **state)
{
    unsigned char *seen_at = NULL;
    (void)state;
    mrapi_shmem_hndl_t shmem = made(NUMBER, SIZE, NULL);
    unsigned char *bytes = attached(shmem);
    on_another_node(DOMAIN, NODE + 1, attaches_and_ends, &seen_at);
    assert_ptr_equal(seen_at, bytes);
    bytes[0] = 1; /* it stays mapped for us */
    detach(shmem);
    on_another_node(DOMAIN, NODE + 1, attaches_and_ends, &seen_at);
    assert_non_null(seen_at);
    delete_shmem(shmem); /* a node that ended has it attached no more */
}

typedef struct outcome {
    mrapi_shmem_hndl_t shmem;
    mrapi_status_t get;
    mrapi_status_t attach;
} outcome;

static void *
gets(void *argument)
{
    outcome *o = argument;
    mrapi_status_t status;
    (void)mrapi_shmem_get(NUMBER, &o->get);
    (void)mrapi_shmem_attach(o->shmem, &o->attach);
    mrapi_shmem_detach(o->shmem, &status);
    return NULL;
}

static void
only_for_some_nodes(void **state)
{
    mrapi_status_t status;
    const mrapi_node_t nodes[] = {NODE, NODE + 2};
    (void)state;
    outcome o = {.shmem = mrapi_shmem_create(NUMBER, SIZE, nodes, 2, NULL, 0, &status)};
    assert_int_equal(status, MRAPI_SUCCESS);
    on_another_node(DOMAIN, NODE + 2, gets, &o);
    assert_int_equal(o.get, MRAPI_SUCCESS);
    assert_int_equal(o.attach, MRAPI_SUCCESS);
    on_another_node(DOMAIN, NODE + 1, gets, &o);
    assert_int_equal(o.get, MRAPI_ERR_SHM_NODE_NOTSHARED);
    assert_int_equal(o.attach, MRAPI_ERR_SHM_NODE_NOTSHARED);
    (void)attached(o.shmem);
    detach(o.shmem);
    delete_shmem(o.shmem);
}

static void
only_for_its_domain(void **state)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes;
    mrapi_boolean_t no = MRAPI_FALSE;
    (void)state;
    mrapi_shmem_init_attributes(&attributes, &status);
    mrapi_shmem_set_attribute(&attributes, MRAPI_DOMAIN_SHARED, &no, sizeof no, &status);
    outcome o = {.shmem = made(NUMBER, SIZE, &attributes)};
    on_another_node(DOMAIN, NODE + 1, gets, &o);
    assert_int_equal(o.get, MRAPI_SUCCESS);
    assert_int_equal(o.attach, MRAPI_SUCCESS);
    on_another_node(DOMAIN + 1, NODE, gets, &o);
    assert_int_equal(o.get, MRAPI_ERR_DOMAIN_NOTSHARED);
    assert_int_equal(o.attach, MRAPI_ERR_DOMAIN_NOTSHARED);
    delete_shmem(o.shmem);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

static void
attributes_of_records(void **state)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes = {.set = 0};
    mrapi_uint_t number = 1;
    (void)state;
    mrapi_shmem_init_attributes(NULL, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_shmem_set_attribute(&attributes, MRAPI_SHMEM_RESOURCE, &number, sizeof number, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_shmem_init_attributes(&attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_shmem_set_attribute(&attributes, MRAPI_SHMEM_SIZE, &number, sizeof number, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_READONLY);
    mrapi_shmem_set_attribute(&attributes, MRAPI_SHMEM_RESOURCE, &number, 1, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_SIZE);
    mrapi_shmem_set_attribute(&attributes, MRAPI_SHMEM_ADDRESS, &number, 1, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_SIZE);
    mrapi_shmem_set_attribute(&attributes, MRAPI_MUTEX_RECURSIVE, &number, 1, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    mrapi_shmem_set_attribute(&attributes, MRAPI_SHMEM_RESOURCE, NULL, sizeof number, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
}

static void
attributes_of_memories(void **state)
{
    mrapi_status_t status;
    mrapi_uint_t number = 77;
    mrapi_boolean_t flag = 77;
    void *address = &number;
    (void)state;
    mrapi_shmem_hndl_t shmem = made(NUMBER, SIZE, NULL);
    mrapi_shmem_get_attribute(shmem, MRAPI_SHMEM_SIZE, &number, sizeof number, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(number, SIZE);
    mrapi_shmem_get_attribute(shmem, MRAPI_SHMEM_RESOURCE, &number, sizeof number, &status);
    assert_int_equal(number, MEDLEY_SHMEM_RESOURCE_ANY);
    mrapi_shmem_get_attribute(shmem, MRAPI_SHMEM_ADDRESS, &address, sizeof address, &status);
    assert_null(address);
    mrapi_shmem_get_attribute(shmem, MRAPI_DOMAIN_SHARED, &flag, sizeof flag, &status);
    assert_int_equal(flag, MRAPI_TRUE);
    mrapi_shmem_get_attribute(shmem, MRAPI_ERROR_EXT, &flag, sizeof flag, &status);
    assert_int_equal(flag, MRAPI_FALSE);
    mrapi_shmem_get_attribute(shmem, MRAPI_SHMEM_SIZE, &number, 1, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_SIZE);
    mrapi_shmem_get_attribute(shmem, 99, &number, sizeof number, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    mrapi_shmem_get_attribute(shmem, MRAPI_SHMEM_SIZE, NULL, sizeof number, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    delete_shmem(shmem);
}

/* ---- Where, and on what ---------------------------------------------------------------------- */

/* A private system's is mapped when it is made, another when it is attached: a refusal comes
 * then. */
static mrapi_status_t
outcome_at(void *address)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes;
    mrapi_shmem_init_attributes(&attributes, &status);
    mrapi_shmem_set_attribute(&attributes, MRAPI_SHMEM_ADDRESS, &address, sizeof address, &status);
    mrapi_shmem_hndl_t shmem =
        mrapi_shmem_create(NUMBER, SIZE, NULL, 0, &attributes, sizeof attributes, &status);
    if (status != MRAPI_SUCCESS) {
        return status;
    }
    void *there = mrapi_shmem_attach(shmem, &status);
    if (status == MRAPI_SUCCESS) {
        void *said = NULL;
        mrapi_status_t asked;
        assert_ptr_equal(there, address);
        mrapi_shmem_get_attribute(shmem, MRAPI_SHMEM_ADDRESS, &said, sizeof said, &asked);
        assert_ptr_equal(said, address);
        detach(shmem);
    }
    delete_shmem(shmem);
    return status;
}

static void
at_an_address(void **state)
{
    (void)state;
    unsigned char *place =
        mmap(NULL, 16 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(place != MAP_FAILED);
    place[0] = 7;
    assert_int_equal(outcome_at(place), MRAPI_ERR_MEM_LIMIT);
    assert_int_equal(place[0], 7); /* nothing is mapped over it */
    assert_int_equal(munmap(place, 16 * SIZE), 0);
    assert_int_equal(outcome_at(place), MRAPI_SUCCESS);
    assert_int_equal(outcome_at(place), MRAPI_SUCCESS);
    assert_int_equal(outcome_at(place + 1), MRAPI_ERR_PARAMETER);
}

/* Either it is had, and says so, or it is not supported. */
static mrapi_status_t
outcome_on(mrapi_uint_t resource)
{
    mrapi_status_t status;
    mrapi_uint_t said = ~0u;
    mrapi_shmem_attributes_t attributes;
    mrapi_shmem_init_attributes(&attributes, &status);
    mrapi_shmem_set_attribute(&attributes, MRAPI_SHMEM_RESOURCE, &resource, sizeof resource,
                              &status);
    mrapi_shmem_hndl_t shmem =
        mrapi_shmem_create(NUMBER, SIZE, NULL, 0, &attributes, sizeof attributes, &status);
    if (status != MRAPI_SUCCESS) {
        return status;
    }
    mrapi_shmem_get_attribute(shmem, MRAPI_SHMEM_RESOURCE, &said, sizeof said, &status);
    assert_int_equal(said, resource);
    attached(shmem)[SIZE - 1] = 1;
    detach(shmem);
    attached(shmem)[SIZE - 1] = 1;
    detach(shmem);
    delete_shmem(shmem);
    return MRAPI_SUCCESS;
}

static void
on_a_resource(void **state)
{
    (void)state;
    assert_int_equal(outcome_on(MEDLEY_SHMEM_RESOURCE_TIGHT(0)), MRAPI_ERR_NOT_SUPPORTED);
    assert_int_equal(outcome_on(MEDLEY_SHMEM_RESOURCE_NUMA(1000)), MRAPI_ERR_NOT_SUPPORTED);
    assert_int_equal(outcome_on(0xfff00000u), MRAPI_ERR_NOT_SUPPORTED);
    assert_int_equal(outcome_on(MEDLEY_SHMEM_RESOURCE_ANY | 1), MRAPI_ERR_NOT_SUPPORTED);
    assert_int_equal(outcome_on(MEDLEY_SHMEM_RESOURCE_HUGE_PAGES | 1), MRAPI_ERR_NOT_SUPPORTED);
    assert_int_equal(outcome_on(MEDLEY_SHMEM_RESOURCE_NUMA(0x10000)), MRAPI_ERR_NOT_SUPPORTED);
    assert_int_equal(outcome_on(MEDLEY_SHMEM_RESOURCE_TIGHT(-1)), MRAPI_ERR_NOT_SUPPORTED);
    assert_int_equal(outcome_on(MEDLEY_SHMEM_RESOURCE_ANY), MRAPI_SUCCESS);
    mrapi_status_t numa = outcome_on(MEDLEY_SHMEM_RESOURCE_NUMA(0));
    mrapi_status_t huge = outcome_on(MEDLEY_SHMEM_RESOURCE_HUGE_PAGES);
    assert_true(numa == MRAPI_SUCCESS || numa == MRAPI_ERR_NOT_SUPPORTED);
    assert_true(huge == MRAPI_SUCCESS || huge == MRAPI_ERR_NOT_SUPPORTED);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_a_node),
        cmocka_unit_test(no_status),
        cmocka_unit_test_setup_teardown(one_life, node_up, node_down),
        cmocka_unit_test_setup_teardown(without_a_number, node_up, node_down),
        cmocka_unit_test_setup_teardown(all_numbers_for_users, node_up, node_down),
        cmocka_unit_test_setup_teardown(create_wrong, node_up, node_down),
        cmocka_unit_test_setup_teardown(handles_wrong, node_up, node_down),
        cmocka_unit_test_setup_teardown(attach_and_detach_in_turn, node_up, node_down),
        cmocka_unit_test_setup_teardown(limit, node_up, node_down),
        cmocka_unit_test_setup_teardown(nodes_of_a_process_share_the_mapping, node_up, node_down),
        cmocka_unit_test_setup_teardown(only_for_some_nodes, node_up, node_down),
        cmocka_unit_test_setup_teardown(only_for_its_domain, node_up, node_down),
        cmocka_unit_test_setup_teardown(attributes_of_records, node_up, node_down),
        cmocka_unit_test_setup_teardown(attributes_of_memories, node_up, node_down),
        cmocka_unit_test_setup_teardown(at_an_address, node_up, node_down),
        cmocka_unit_test_setup_teardown(on_a_resource, node_up, node_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
