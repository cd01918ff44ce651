/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Conformance of MCAPI's endpoints and their attributes, through the public calls. */
#include "mrapi/system.h"
#include "support/exchange.h"
#include "support/threads.h"

#define OTHER 8

/* Those that MCAPI_PORT_ANY gives, of which `count` are in use; then none that could ever be. */
static void
ports_above_all(uint32_t count)
{
    mcapi_status_t status;
    mcapi_port_t port = MCAPI_MAX_PORT;
    mcapi_endpoint_t endpoint;
    mcapi_request_t request;
    uint32_t found = 0;
    (void)mcapi_endpoint_get(DOMAIN, NODE, port, 0, &status);
    assert_int_equal(status, MCAPI_TIMEOUT);
    for (uint32_t i = 0; i < med_self_get()->system->limits.endpoints; i++) {
        (void)mcapi_endpoint_get(DOMAIN, NODE, ++port, 0, &status);
        assert_true(status == MCAPI_SUCCESS || status == MCAPI_TIMEOUT);
        found += status == MCAPI_SUCCESS;
    }
    assert_int_equal(found, count);
    mcapi_endpoint_get_i(DOMAIN, NODE, port + 1, &endpoint, &request, &status);
    assert_int_equal(status, MCAPI_ERR_PORT_INVALID);
    const mcapi_port_t none[] = {port + 1, 0x7fffffff, 0x80000000, MCAPI_PORT_ANY};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        (void)mcapi_endpoint_get(DOMAIN, NODE, none[i], 1000, &status);
        assert_int_equal(status, MCAPI_ERR_PORT_INVALID);
    }
}

static void
endpoints(void **state)
{
    mcapi_status_t status;
    (void)state;
    mcapi_endpoint_t one = endpoint_make(1);
    assert_int_equal(endpoint_of(NODE, 1), one);
    (void)mcapi_endpoint_create(1, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_EXISTS);
    (void)mcapi_endpoint_create(MCAPI_MAX_PORT + 1, &status);
    assert_int_equal(status, MCAPI_ERR_PORT_INVALID);
    mcapi_endpoint_t any = endpoint_make(MCAPI_PORT_ANY);
    assert_int_not_equal(any, endpoint_make(MCAPI_PORT_ANY));
    (void)mcapi_endpoint_get(DOMAIN, NODE, 2, 1000, &status);
    assert_int_equal(status, MCAPI_TIMEOUT);
    ports_above_all(2);
    mcapi_endpoint_release(one, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    endpoint_delete(one);
    mcapi_endpoint_delete(one, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    mcapi_endpoint_release(one, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    assert_int_not_equal(endpoint_make(1), one);
}

static void
endpoint_attributes(void **state)
{
    mcapi_status_t status;
    mcapi_uint_t value;
    mcapi_endp_attr_get_source_t source;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    (void)endpoint_of(NODE, 1);
    mcapi_endpoint_get_attribute(at, MCAPI_ENDP_ATTR_GET_COUNT, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(value, 1);
    mcapi_endpoint_get_attribute(at, MCAPI_ENDP_ATTR_GET_SOURCE, &source, sizeof source, &status);
    assert_int_equal(source.node_id, NODE);
    value = 0;
    mcapi_endpoint_set_attribute(at, MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, &value, sizeof value,
                                 &status);
    assert_int_equal(status, MCAPI_ERR_ATTR_VALUE);
    value = 8;
    mcapi_endpoint_set_attribute(at, MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, &value, sizeof value,
                                 &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    unsigned char bytes[9] = "";
    mcapi_msg_send(at, at, bytes, sizeof bytes, 0, &status);
    assert_int_equal(status, MCAPI_ERR_MSG_SIZE);
    mcapi_endpoint_set_attribute(at, MCAPI_ENDP_ATTR_TYPE, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_ERR_ATTR_READONLY);
    mcapi_endpoint_set_attribute(at, 99, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_ERR_ATTR_NUM);
    mcapi_endpoint_set_attribute(at, MCAPI_ENDP_ATTR_PRIORITY, &value, 1, &status);
    assert_int_equal(status, MCAPI_ERR_ATTR_SIZE);
    mcapi_endpoint_get_attribute(at, 99, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_ERR_ATTR_NUM);
    mcapi_endpoint_get_attribute(at + 1, MCAPI_ENDP_ATTR_TYPE, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
}

static void *
gets_and_leaves(void *argument)
{
    (void)argument;
    exchange_begin(OTHER);
    (void)endpoint_of(NODE, 1);
    exchange_end();
    return NULL;
}

static void *
comes_and_stays(void *argument)
{
    (void)argument;
    exchange_begin(OTHER + 1);
    stage_reach(1);
    stage_await(2);
    exchange_end();
    return NULL;
}

static void
expect_got_by(mcapi_endpoint_t at, mcapi_domain_t domain, mcapi_node_t node)
{
    mcapi_status_t status;
    mcapi_endp_attr_get_source_t source;
    mcapi_endpoint_get_attribute(at, MCAPI_ENDP_ATTR_GET_SOURCE, &source, sizeof source, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(source.domain_id, domain);
    assert_int_equal(source.node_id, node);
}

/* Who got it and left is not told, nor who has his row since. */
static void
got_by_one_who_left(void **state)
{
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    expect_got_by(at, MCAPI_DOMAIN_INVALID, MCAPI_NODE_INVALID);
    start(OTHER, gets_and_leaves);
    join(OTHER, 0);
    for (uint32_t life = 0; life < med_self_get()->system->limits.nodes; life++) {
        stage_reach(0);
        start(OTHER + 1, comes_and_stays);
        stage_await(1);
        expect_got_by(at, MCAPI_DOMAIN_INVALID, MCAPI_NODE_INVALID);
        stage_reach(2);
        join(OTHER + 1, 0);
    }
    (void)endpoint_of(NODE, 1);
    expect_got_by(at, DOMAIN, NODE);
}

static void
gets_asked_for(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_endpoint_t got = 0;
    size_t size;
    (void)state;
    mcapi_endpoint_get_i(DOMAIN, NODE, 9, &got, &request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(mcapi_test(&request, &size, &status), MCAPI_FALSE);
    mcapi_endpoint_t at = endpoint_make(9);
    (void)expect_end(request, MCAPI_SUCCESS);
    assert_int_equal(got, at);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(endpoints, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(endpoint_attributes, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(got_by_one_who_left, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(gets_asked_for, exchange_up, exchange_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
