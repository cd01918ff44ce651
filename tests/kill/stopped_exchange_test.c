/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Stopped instead of killed, with a table of the registry locked, as nodes of MCAPI meet it:
 * whatever makes or deletes something gets a status when the caller's patience ends, and has
 * changed nothing; what is there goes on being used.
 */
#include "kill/stopped.h"

#include "support/channel.h"

#define LEAVER 21
#define STUCK_AFTER_S 120

static void
endpoints_neither_come_nor_go(void **state)
{
    mcapi_status_t status;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    assert_int_equal(send_number(at, at, 1, 0), MCAPI_SUCCESS);
    one_stops_with(MED_KIND_ENDPOINT);
    (void)mcapi_endpoint_create(2, &status);
    assert_int_equal(status, MCAPI_TIMEOUT);
    mcapi_endpoint_delete(at, &status);
    assert_int_equal(status, MCAPI_TIMEOUT);
    assert_int_equal(send_number(at, at, 2, 0), MCAPI_SUCCESS);
    expect_number(at, 1);
    expect_number(at, 2);
    it_goes_on();
    endpoint_delete(endpoint_make(2));
    endpoint_delete(at);
}

static void
lanes_do_not_come(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    channel c = channel_between(&of_scalars, endpoint_make(3), endpoint_make(4));
    one_stops_with(MED_KIND_LANE);
    assert_int_equal(send_number(from, to, 1, 0), MCAPI_TIMEOUT);
    mcapi_pktchan_connect_i(from, to, &request, &status);
    assert_int_equal(status, MCAPI_TIMEOUT);
    (void)subscribe(from, to, MCAPI_TIMEOUT);
    mcapi_sclchan_send_uint32(c.sender, 7, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(mcapi_sclchan_recv_uint32(c.receiver, &status), 7);
    it_goes_on();
    assert_int_equal(mcapi_msg_available(to, &status), 0);
    connect(&of_packets, from, to, MCAPI_SUCCESS); /* neither is connected */
    channel_end(&of_scalars, &c);
}

/* A process of its own, which is no other node of MCAPI's. */
static int
leaver_body(test_process *parent, void *argument)
{
    mcapi_status_t status;
    mcapi_info_t info;
    (void)argument;
    mcapi_initialize(DOMAIN, LEAVER, NULL, NULL, &info, &status);
    child_expect(status == MCAPI_SUCCESS);
    process_say(parent, 'u');
    child_expect(process_hear(parent) == 's');
    mcapi_finalize(&status);
    child_expect(status == MCAPI_ERR_NODE_FINALFAILED);
    mcapi_finalize(&status);
    child_expect(status == MCAPI_ERR_NODE_NOTINIT);
    mcapi_initialize(DOMAIN, LEAVER, NULL, NULL, &info, &status);
    child_expect(status == MCAPI_ERR_NODE_INITFAILED);
    return 0;
}

static void
nodes_neither_come_nor_quite_go(void **state)
{
    test_process leaver;
    (void)state;
    process_start(&leaver, leaver_body, NULL);
    assert_int_equal(process_hear(&leaver), 'u');
    one_stops_with(MED_KIND_NODE);
    process_say(&leaver, 's');
    assert_int_equal(process_join(&leaver), 0);
    it_goes_on();
    exchange_end(); /* the node table is whole */
    exchange_begin(NODE);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(endpoints_neither_come_nor_go, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(lanes_do_not_come, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(nodes_neither_come_nor_quite_go, exchange_up,
                                        exchange_down),
    };
    (void)alarm(STUCK_AFTER_S);
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("stopped exchange", tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
