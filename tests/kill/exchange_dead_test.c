/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who waits for the dead is told, in whatever way he waits; nobody else looks whether they live. */
#include "exchange_victim.h"

/* ---- Who is killed --------------------------------------------------------------------------- */

static int
opens_only(test_process *parent, void *argument)
{
    (void)argument;
    victim_begin();
    mcapi_endpoint_t from = victim_endpoint_make();
    (void)victim_sender_open(&of_packets, from);
    return victim_rests(parent);
}

/* Receives nothing: of messages, the first endpoint, of scalars, the second. */
static int
fills_up(test_process *parent, void *argument)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned receiver;
    (void)argument;
    victim_begin();
    (void)mcapi_endpoint_create(1, &status);
    mcapi_endpoint_t to = mcapi_endpoint_create(2, &status);
    mcapi_endpoint_t from = mcapi_endpoint_get(DOMAIN, NODE, 2, MCAPI_TIMEOUT_INFINITE, &status);
    mcapi_sclchan_connect_i(from, to, &request, &status);
    victim_expect_end(&request);
    mcapi_sclchan_recv_open_i(&receiver, to, &request, &status);
    victim_expect_end(&request);
    return victim_rests(parent);
}

/* ---- The tests ------------------------------------------------------------------------------- */

/* Who waits for a request is told, though nobody else looks whether the sender lives. */
static void
asked_for_of_the_dead(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    void *packet;
    unsigned receiver;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    victim v;
    victim_start(&v, opens_only);
    receiver = receiver_open(&of_packets, at);
    mcapi_pktchan_recv_i(receiver, &packet, &request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    victim_kill(&v);
    (void)victim_end(&v);
    (void)expect_end(request, MCAPI_ERR_ENDP_DELETED);
    receiver_close(&of_packets, receiver);
    expect_all_back();
}

/* Who only tests is told as well. */
static void
polled_of_the_dead(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    void *packet;
    unsigned receiver;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    victim v;
    victim_start(&v, opens_only);
    receiver = receiver_open(&of_packets, at);
    mcapi_pktchan_recv_i(receiver, &packet, &request, &status);
    assert_int_equal(mcapi_test(&request, &size, &status), MCAPI_FALSE);
    victim_kill(&v);
    (void)victim_end(&v);
    while (!mcapi_test(&request, &size, &status)) {
        assert_int_equal(status, MCAPI_PENDING);
    }
    assert_int_equal(status, MCAPI_ERR_ENDP_DELETED);
    receiver_close(&of_packets, receiver);
    expect_all_back();
}

static mcapi_status_t
send_scalar(unsigned sender)
{
    mcapi_status_t status;
    mcapi_sclchan_send_uint8(sender, 0, &status);
    return status;
}

/* And who sends without waiting for room, by either way not to wait. */
static void
sent_to_the_dead(void **state)
{
    mcapi_status_t status;
    unsigned sender;
    mcapi_uint_t fail = MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT;
    (void)state;
    mcapi_endpoint_t messages = endpoint_make(1), scalars = endpoint_make(2);
    mcapi_endpoint_set_attribute(messages, MCAPI_ENDP_ATTR_MEMORY_TYPE, &fail, sizeof fail,
                                 &status);
    timeout_set(scalars, 0);
    for (int only_scalars = 0; only_scalars < 2; only_scalars++) {
        victim v;
        victim_start(&v, fills_up);
        mcapi_endpoint_t to = endpoint_of(PEER, 1);
        sender = sender_open(&of_scalars, scalars);
        while (send_number(messages, to, 0, 0) == MCAPI_SUCCESS) {
        }
        while ((status = send_scalar(sender)) == MCAPI_SUCCESS) {
        }
        assert_int_equal(status, MCAPI_TIMEOUT);
        victim_kill(&v);
        (void)victim_end(&v);
        while (!only_scalars && (status = send_number(messages, to, 0, 0)) == MCAPI_ERR_MEM_LIMIT) {
        }
        assert_true(only_scalars || status == MCAPI_ERR_TRANSMISSION);
        while ((status = send_scalar(sender)) == MCAPI_TIMEOUT) {
        }
        assert_int_equal(status, MCAPI_ERR_TRANSMISSION);
        sender_close(&of_scalars, sender);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(asked_for_of_the_dead, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(polled_of_the_dead, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(sent_to_the_dead, exchange_up, exchange_down),
    };
    return victims_run(argc, argv, tests);
}
