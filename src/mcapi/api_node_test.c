/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Conformance of MCAPI's nodes, of which some are MRAPI's too, through the public calls. */
#include "mrapi/system.h"
#include "support/exchange.h"
#include "support/expected.h"

static void
nodes(void **state)
{
    mcapi_status_t status;
    mcapi_info_t info;
    (void)state;
    mcapi_initialize(DOMAIN, NODE, NULL, NULL, NULL, &status);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    mcapi_initialize(MCAPI_DOMAIN_INVALID, NODE, NULL, NULL, &info, &status);
    assert_int_equal(status, MCAPI_ERR_DOMAIN_INVALID);
    mcapi_initialize(DOMAIN, MCAPI_NODE_INVALID, NULL, NULL, &info, &status);
    assert_int_equal(status, MCAPI_ERR_NODE_INVALID);
    (void)mcapi_node_id_get(&status);
    assert_int_equal(status, MCAPI_ERR_NODE_NOTINIT);
    mcapi_finalize(&status);
    assert_int_equal(status, MCAPI_ERR_NODE_NOTINIT);
    exchange_begin(NODE);
    assert_int_equal(mcapi_node_id_get(&status), NODE);
    assert_int_equal(mcapi_domain_id_get(&status), DOMAIN);
    mcapi_initialize(DOMAIN, NODE, NULL, NULL, &info, &status);
    assert_int_equal(status, MCAPI_ERR_NODE_INITIALIZED);
    exchange_end();
}

/* One node of both standards; MCAPI's end leaves MRAPI's. */
static void
one_node_of_both(void **state)
{
    mrapi_status_t status;
    (void)node_up(state);
    exchange_begin(NODE);
    assert_int_equal(mrapi_node_id_get(&status), NODE);
    exchange_end();
    assert_int_equal(mrapi_node_id_get(&status), NODE);
    exchange_begin(NODE);
    (void)node_down(state); /* takes MCAPI's with it */
    mcapi_status_t mcapi_status;
    mcapi_finalize(&mcapi_status);
    assert_int_equal(mcapi_status, MCAPI_ERR_NODE_NOTINIT);
}

/* Whichever was initialised first: MCAPI's end leaves what MRAPI has begun since. */
static void
one_node_in_the_other_order(void **state)
{
    mrapi_status_t status;
    mcapi_status_t mcapi_status;
    exchange_begin(NODE);
    mcapi_endpoint_t at = endpoint_make(1);
    assert_int_equal(initialize(NODE + 1), MRAPI_ERR_NODE_INITIALIZED);
    (void)node_up(state);
    assert_int_equal(initialize(NODE), MRAPI_ERR_NODE_INITIALIZED);
    assert_int_equal(send_number(at, at, 1, 0), MCAPI_SUCCESS);
    expect_number(at, 1);
    exchange_end();
    assert_int_equal(mrapi_node_id_get(&status), NODE);
    (void)node_down(state);
    exchange_begin(NODE);
    exchange_end();
    (void)mrapi_node_id_get(&status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT); /* as ever, where MRAPI was not begun */
    exchange_begin(NODE);
    (void)node_up(state);
    (void)node_down(state); /* takes MCAPI's with it */
    mcapi_finalize(&mcapi_status);
    assert_int_equal(mcapi_status, MCAPI_ERR_NODE_NOTINIT);
}

static void
node_attributes(void **state)
{
    mcapi_status_t status;
    mcapi_node_attributes_t record;
    mcapi_uint_t value = 5;
    (void)state;
    mcapi_node_init_attributes(NULL, &status);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    mcapi_node_init_attributes(&record, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    mcapi_node_set_attribute(&record, MCAPI_NODE_ATTR_TYPE, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_ERR_ATTR_VALUE);
    mcapi_node_set_attribute(&record, MCAPI_NODE_ATTR_TYPE, &value, 1, &status);
    assert_int_equal(status, MCAPI_ERR_ATTR_SIZE);
    mcapi_node_set_attribute(&record, 77, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_ERR_ATTR_NUM);
    mcapi_node_get_attribute(DOMAIN, NODE, MCAPI_NODE_ATTR_TYPE, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(value, MCAPI_NODE_ATTR_TYPE_REGULAR);
    mcapi_node_get_attribute(DOMAIN, 999, MCAPI_NODE_ATTR_TYPE, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_ERR_NODE_INVALID);
}

/* As an image leaves it. */
static void
an_expected_node_is_nobody(void **state)
{
    mcapi_status_t status;
    mcapi_uint_t value;
    med_system *system = med_self_get()->system;
    (void)state;
    assert_int_equal(med_node_expect(system, DOMAIN, NODE + 1), MEDLEY_OK);
    mcapi_node_get_attribute(DOMAIN, NODE + 1, MCAPI_NODE_ATTR_TYPE, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_ERR_NODE_INVALID);
    assert_true(expect_no_more(system, DOMAIN, NODE + 1));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes),
        cmocka_unit_test(one_node_of_both),
        cmocka_unit_test(one_node_in_the_other_order),
        cmocka_unit_test_setup_teardown(node_attributes, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(an_expected_node_is_nobody, exchange_up, exchange_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
