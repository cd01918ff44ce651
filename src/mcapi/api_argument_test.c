/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a call says that cannot be: by a thread that is no node, without a place for the status
 * (then it does nothing), without another place that it needs, with numbers, attributes and sizes
 * that are none. Nothing is changed by it. Run in a private system and in a named one.
 */
#include "mcapi/exchange.h"
#include "medley/mcapi_ext.h"
#include "support/channel.h"

#define FROM 1
#define TO 2

/* ---- Every call ------------------------------------------------------------------------------ */

static void
nodes_say(mcapi_status_t expected, mcapi_status_t *status)
{
    mcapi_uint_t value;
    SAYS(expected, mcapi_finalize(status));
    SAYS(expected, mcapi_domain_id_get(status));
    SAYS(expected, mcapi_node_id_get(status));
    SAYS(expected, mcapi_node_get_attribute(DOMAIN, NODE, MCAPI_NODE_ATTR_TYPE, &value,
                                            sizeof value, status));
}

static void
endpoints_say(mcapi_endpoint_t at, mcapi_status_t expected, mcapi_status_t *status)
{
    mcapi_uint_t value = 1;
    mcapi_endpoint_t endpoint;
    mcapi_request_t request;
    size_t size;
    SAYS(expected, mcapi_endpoint_create(9, status));
    SAYS(expected, mcapi_endpoint_get_i(DOMAIN, NODE, FROM, &endpoint, &request, status));
    SAYS(expected, mcapi_endpoint_get(DOMAIN, NODE, FROM, 0, status));
    SAYS(expected, mcapi_endpoint_release(at, status));
    SAYS(expected, mcapi_endpoint_delete(at, status));
    SAYS(expected,
         mcapi_endpoint_get_attribute(at, MCAPI_ENDP_ATTR_TYPE, &value, sizeof value, status));
    SAYS(expected, mcapi_endpoint_set_attribute(at, MCAPI_ENDP_ATTR_NUM_PRIORITIES, &value,
                                                sizeof value, status));
    SAYS(expected, mcapi_msg_send(at, at, &value, sizeof value, 0, status));
    SAYS(expected, mcapi_msg_send_i(at, at, &value, sizeof value, 0, &request, status));
    SAYS(expected, mcapi_msg_recv(at, &value, sizeof value, &size, status));
    SAYS(expected, mcapi_msg_recv_i(at, &value, sizeof value, &request, status));
    SAYS(expected, mcapi_msg_available(at, status));
    SAYS(expected, medley_mcapi_msg_send_many(at, at, &value, sizeof value, 1, 0, status));
    SAYS(expected, medley_mcapi_msg_recv_many(at, &value, sizeof value, 1, &size, status));
    SAYS(expected, medley_mcapi_topic_subscribe(at, at, &endpoint, status));
    SAYS(expected, medley_mcapi_topic_publish(at, &value, sizeof value, status));
}

static void
requests_say(mcapi_request_t request, mcapi_status_t expected, mcapi_status_t *status)
{
    mcapi_request_t *one[] = {&request};
    size_t size;
    SAYS(expected, mcapi_test(&request, &size, status));
    SAYS(expected, mcapi_wait(&request, &size, 0, status));
    SAYS(expected, mcapi_wait_any(1, one, &size, 0, status));
    SAYS(expected, mcapi_cancel(&request, status));
}

static void
packets_say(const channel *c, mcapi_status_t expected, mcapi_status_t *status)
{
    medley_mcapi_state_counts_t counts;
    mcapi_request_t request;
    unsigned handle;
    void *packet = NULL;
    size_t size;
    SAYS(expected, mcapi_pktchan_connect_i(c->from, c->to, &request, status));
    SAYS(expected, mcapi_pktchan_send_open_i(&handle, c->from, &request, status));
    SAYS(expected, mcapi_pktchan_recv_open_i(&handle, c->to, &request, status));
    SAYS(expected, mcapi_pktchan_send(c->sender, "", 1, status));
    SAYS(expected, mcapi_pktchan_send_i(c->sender, "", 1, &request, status));
    SAYS(expected, mcapi_pktchan_recv(c->receiver, &packet, &size, status));
    SAYS(expected, mcapi_pktchan_recv_i(c->receiver, &packet, &request, status));
    SAYS(expected, mcapi_pktchan_available(c->receiver, status));
    SAYS(expected, mcapi_pktchan_release(&size, status));
    SAYS(expected, mcapi_pktchan_release_test(&size, status));
    SAYS(expected, medley_mcapi_pktchan_take(c->sender, status));
    SAYS(expected, medley_mcapi_pktchan_send_taken(c->sender, &size, 1, status));
    SAYS(expected, medley_mcapi_state_recv(c->receiver, &handle, sizeof handle, &size, status));
    SAYS(expected, medley_mcapi_state_wait(c->receiver, 0, status));
    SAYS(expected, medley_mcapi_state_counts_get(c->receiver, &counts, status));
    SAYS(expected, medley_mcapi_topic_lost(c->receiver, status));
    SAYS(expected, mcapi_pktchan_send_close_i(c->sender, &request, status));
    SAYS(expected, mcapi_pktchan_recv_close_i(c->receiver, &request, status));
}

static void
scalars_say(const channel *c, mcapi_status_t expected, mcapi_status_t *status)
{
    mcapi_request_t request;
    mcapi_uint64_t scalar = 1;
    unsigned handle;
    SAYS(expected, mcapi_sclchan_connect_i(c->from, c->to, &request, status));
    SAYS(expected, mcapi_sclchan_send_open_i(&handle, c->from, &request, status));
    SAYS(expected, mcapi_sclchan_recv_open_i(&handle, c->to, &request, status));
    SAYS(expected, mcapi_sclchan_send_uint64(c->sender, 1, status));
    SAYS(expected, mcapi_sclchan_send_uint32(c->sender, 1, status));
    SAYS(expected, mcapi_sclchan_send_uint16(c->sender, 1, status));
    SAYS(expected, mcapi_sclchan_send_uint8(c->sender, 1, status));
    SAYS(expected, mcapi_sclchan_recv_uint64(c->receiver, status));
    SAYS(expected, mcapi_sclchan_recv_uint32(c->receiver, status));
    SAYS(expected, mcapi_sclchan_recv_uint16(c->receiver, status));
    SAYS(expected, mcapi_sclchan_recv_uint8(c->receiver, status));
    SAYS(expected, mcapi_sclchan_available(c->receiver, status));
    SAYS(expected, medley_mcapi_sclchan_send_many(c->sender, &scalar, 1, 8, status));
    SAYS(expected, medley_mcapi_sclchan_recv_many(c->receiver, &scalar, 1, 8, status));
    SAYS(expected, mcapi_sclchan_send_close_i(c->sender, &request, status));
    SAYS(expected, mcapi_sclchan_recv_close_i(c->receiver, &request, status));
}

/* Of another thread, which is no node. */
static mcapi_endpoint_t theirs;
static channel their_packets, their_scalars;
static mcapi_request_t their_request;

static void
is_no_node(void)
{
    mcapi_status_t status;
    nodes_say(MCAPI_ERR_NODE_NOTINIT, &status);
    endpoints_say(theirs, MCAPI_ERR_NODE_NOTINIT, &status);
    requests_say(their_request, MCAPI_ERR_NODE_NOTINIT, &status);
    packets_say(&their_packets, MCAPI_ERR_NODE_NOTINIT, &status);
    scalars_say(&their_scalars, MCAPI_ERR_NODE_NOTINIT, &status);
}

/* By no node, and without a place for the status: all is as if nobody had called. */
static void
nothing_is_done(void **state)
{
    mcapi_status_t status;
    unsigned number = 0;
    (void)state;
    theirs = endpoint_make(5);
    their_packets = channel_between(&of_packets, endpoint_make(FROM), endpoint_make(TO));
    their_scalars = channel_between(&of_scalars, endpoint_make(3), endpoint_make(4));
    mcapi_msg_recv_i(theirs, &number, sizeof number, &their_request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    on_other_thread(is_no_node);
    nodes_say(MCAPI_SUCCESS, NULL);
    endpoints_say(theirs, MCAPI_SUCCESS, NULL);
    requests_say(their_request, MCAPI_SUCCESS, NULL);
    packets_say(&their_packets, MCAPI_SUCCESS, NULL);
    scalars_say(&their_scalars, MCAPI_SUCCESS, NULL);
    assert_int_equal(of_packets.available(their_packets.receiver, &status), 0);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(of_scalars.available(their_scalars.receiver, &status), 0);
    assert_int_equal(status, MCAPI_SUCCESS);
    (void)endpoint_make(9); /* nobody has it */
    assert_int_equal(send_number(theirs, theirs, 17, 0), MCAPI_SUCCESS);
    assert_int_equal(expect_end(their_request, MCAPI_SUCCESS), sizeof number);
    assert_int_equal(number, 17);
    channel_end(&of_packets, &their_packets);
    channel_end(&of_scalars, &their_scalars);
    endpoint_delete(theirs);
}

/* ---- What a call needs ----------------------------------------------------------------------- */

static void
places_of_requests(void **state)
{
    mcapi_status_t place;
    mcapi_status_t *status = &place;
    mcapi_request_t request = 0;
    mcapi_request_t *requests[] = {&request, NULL}, *many[65];
    size_t size;
    (void)state;
    SAYS(MCAPI_ERR_PARAMETER, mcapi_test(NULL, &size, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_test(&request, NULL, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_wait(NULL, &size, 0, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_wait(&request, NULL, 0, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_wait_any(1, NULL, &size, 0, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_wait_any(1, requests, NULL, 0, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_wait_any(2, requests, &size, 0, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_wait_any(0, requests, &size, 0, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_wait_any(~(size_t)0, requests, &size, 0, status));
    for (size_t i = 0; i < 65; i++) {
        many[i] = &request;
    }
    SAYS(MCAPI_ERR_PARAMETER, mcapi_wait_any(65, many, &size, 0, status));
    SAYS(MCAPI_ERR_REQUEST_INVALID, mcapi_wait_any(64, many, &size, 0, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_cancel(NULL, status));
    SAYS(MCAPI_ERR_REQUEST_INVALID, mcapi_test(&request, &size, status));
    SAYS(MCAPI_ERR_REQUEST_INVALID, mcapi_wait(&request, &size, 0, status));
    SAYS(MCAPI_ERR_REQUEST_INVALID, mcapi_wait_any(1, requests, &size, 0, status));
    SAYS(MCAPI_ERR_REQUEST_INVALID, mcapi_cancel(&request, status));
}

/* As with messages: where none of its bytes are, does not matter. */
static void
packets_of_nothing(unsigned sender, unsigned receiver)
{
    mcapi_status_t place;
    mcapi_status_t *status = &place;
    mcapi_request_t request;
    void *packet;
    size_t size = 1;
    SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_send(sender, NULL, 1, status));
    SAYS(MCAPI_SUCCESS, mcapi_pktchan_send(sender, NULL, 0, status));
    SAYS(MCAPI_SUCCESS, mcapi_pktchan_send_i(sender, NULL, 0, &request, status));
    expect_end(request, MCAPI_SUCCESS);
    for (int i = 0; i < 2; i++) {
        SAYS(MCAPI_SUCCESS, mcapi_pktchan_recv(receiver, &packet, &size, status));
        assert_int_equal(size, 0);
        SAYS(MCAPI_SUCCESS, mcapi_pktchan_release(packet, status));
    }
}

static void
places_of_channels(void **state)
{
    mcapi_status_t place;
    mcapi_status_t *status = &place;
    mcapi_request_t request;
    unsigned handle;
    void *packet;
    size_t size;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(FROM), to = endpoint_make(TO);
    SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_connect_i(from, to, NULL, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_sclchan_connect_i(from, to, NULL, status));
    connect(&of_packets, from, to, MCAPI_SUCCESS); /* neither had connected them */
    SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_send_open_i(NULL, from, &request, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_send_open_i(&handle, from, NULL, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_recv_open_i(NULL, to, &request, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_recv_open_i(&handle, to, NULL, status));
    unsigned sender = sender_open(&of_packets, from), receiver = receiver_open(&of_packets, to);
    SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_send_i(sender, "", 1, NULL, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_send_i(sender, NULL, 1, &request, status));
    packets_of_nothing(sender, receiver);
    SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_recv(receiver, NULL, &size, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_recv(receiver, &packet, NULL, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_recv_i(receiver, NULL, &request, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_recv_i(receiver, &packet, NULL, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_send_close_i(sender, NULL, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_recv_close_i(receiver, NULL, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_release_test(NULL, status));
    SAYS(MCAPI_ERR_BUF_INVALID, mcapi_pktchan_release(NULL, status));
    assert_int_equal(mcapi_pktchan_available(receiver, status), 0);
    sender_close(&of_packets, sender);
    receiver_close(&of_packets, receiver);
}

/* ---- Nodes and endpoints --------------------------------------------------------------------- */

static void
of_nodes(void **state)
{
    mcapi_status_t place;
    mcapi_status_t *status = &place;
    mcapi_node_attributes_t record, never_begun = {.set = 0};
    mcapi_uint_t value = 0;
    unsigned char anywhere[sizeof value + 1] = {0};
    mcapi_info_t info;
    (void)state;
    mcapi_node_init_attributes(&record, NULL);
    mcapi_node_init_attributes(&record, status);
    SAYS(MCAPI_ERR_PARAMETER, mcapi_initialize(DOMAIN, NODE, &never_begun, NULL, &info, status));
    mcapi_initialize(DOMAIN, NODE, &record, NULL, &info, NULL);
    mcapi_node_set_attribute(&record, MCAPI_NODE_ATTR_TYPE, &value, sizeof value, NULL);
    SAYS(MCAPI_SUCCESS, mcapi_node_set_attribute(&record, MCAPI_NODE_ATTR_TYPE, anywhere + 1,
                                                 sizeof value, status));
    SAYS(MCAPI_SUCCESS, mcapi_node_get_attribute(DOMAIN, NODE, MCAPI_NODE_ATTR_TYPE, anywhere + 1,
                                                 sizeof value, status));
    SAYS(MCAPI_ERR_PARAMETER,
         mcapi_node_set_attribute(NULL, MCAPI_NODE_ATTR_TYPE, &value, sizeof value, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_node_set_attribute(&never_begun, MCAPI_NODE_ATTR_TYPE, &value,
                                                       sizeof value, status));
    SAYS(MCAPI_ERR_PARAMETER,
         mcapi_node_set_attribute(&record, MCAPI_NODE_ATTR_TYPE, NULL, sizeof value, status));
    SAYS(MCAPI_ERR_PARAMETER,
         mcapi_node_get_attribute(DOMAIN, NODE, MCAPI_NODE_ATTR_TYPE, NULL, sizeof value, status));
    SAYS(MCAPI_ERR_DOMAIN_INVALID,
         mcapi_node_get_attribute(MCAPI_DOMAIN_INVALID, NODE, MCAPI_NODE_ATTR_TYPE, &value,
                                  sizeof value, status));
}

static void
of_endpoints(void **state)
{
    mcapi_status_t place;
    mcapi_status_t *status = &place;
    mcapi_endp_attr_get_source_t source;
    mcapi_uint_t value = 7;
    mcapi_endpoint_t endpoint;
    mcapi_request_t request;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(FROM);
    SAYS(MCAPI_ERR_DOMAIN_INVALID, mcapi_endpoint_get(MCAPI_DOMAIN_INVALID, NODE, FROM, 0, status));
    SAYS(MCAPI_ERR_NODE_INVALID, mcapi_endpoint_get(DOMAIN, MCAPI_NODE_INVALID, FROM, 0, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_endpoint_get_i(DOMAIN, NODE, FROM, NULL, &request, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_endpoint_get_i(DOMAIN, NODE, FROM, &endpoint, NULL, status));
    SAYS(MCAPI_ERR_PARAMETER,
         mcapi_endpoint_get_attribute(at, MCAPI_ENDP_ATTR_TYPE, NULL, sizeof value, status));
    SAYS(MCAPI_ERR_PARAMETER,
         mcapi_endpoint_set_attribute(at, MCAPI_ENDP_ATTR_PRIORITY, NULL, sizeof value, status));
    SAYS(MCAPI_ERR_ATTR_SIZE, mcapi_endpoint_get_attribute(at, MCAPI_ENDP_ATTR_GET_SOURCE, &source,
                                                           sizeof source - 1, status));
    SAYS(MCAPI_ERR_ATTR_SIZE,
         mcapi_endpoint_get_attribute(at, MCAPI_ENDP_ATTR_TYPE, &value, sizeof value - 1, status));
    assert_int_equal(value, 7);
    SAYS(MCAPI_SUCCESS,
         mcapi_endpoint_get_attribute(at, MCAPI_ENDP_ATTR_TYPE, &value, sizeof value, status));
    assert_int_equal(value, MCAPI_ENDP_ATTR_TYPE_MESSAGE);
    SAYS(MCAPI_SUCCESS, mcapi_endpoint_get_attribute(at, MCAPI_ENDP_ATTR_NUM_SEND_BUFFERS, &value,
                                                     sizeof value, status));
    assert_int_equal(value, med_self_get()->system->limits.buffers);
    endpoint_delete(at); /* no get had counted */
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_done, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(places_of_requests, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(places_of_channels, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(of_nodes, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(of_endpoints, exchange_up, exchange_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
