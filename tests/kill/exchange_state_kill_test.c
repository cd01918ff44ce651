/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Killed while it sends states or receives them, at any moment. Each that is received is whole, and
 * the last one comes; nobody hangs, and all lanes and buffers come back.
 */
#include "exchange_victim.h"
#include "medley/mcapi_ext.h"

#define STATE_BYTES 256u

/* ---- Who is killed --------------------------------------------------------------------------- */

static mcapi_endpoint_t
state_endpoint_make_by(mcapi_port_t port, mcapi_status_t *status)
{
    const mcapi_uint_t settings[][2] = {
        {MCAPI_ENDP_ATTR_BUFFER_TYPE, MCAPI_ENDP_ATTR_STATE_BUFFER},
        {MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, STATE_BYTES},
        {MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, 2},
    };
    mcapi_endpoint_t endpoint = mcapi_endpoint_create(port, status);
    for (size_t i = 0; i < 3 && *status == MCAPI_SUCCESS; i++) {
        mcapi_endpoint_set_attribute(endpoint, settings[i][0], &settings[i][1],
                                     sizeof settings[i][1], status);
    }
    return endpoint;
}

static int
sends_states(test_process *parent, void *argument)
{
    mcapi_status_t status;
    unsigned value[STATE_BYTES / sizeof(unsigned)];
    (void)argument;
    victim_begin();
    mcapi_endpoint_t from = state_endpoint_make_by(1, &status);
    child_expect(status == MCAPI_SUCCESS);
    unsigned sender = victim_sender_open(&of_packets, from);
    process_say(parent, 'r');
    for (uint32_t i = 1;; i++) {
        for (size_t k = 0; k < sizeof value / sizeof value[0]; k++) {
            value[k] = i;
        }
        mcapi_pktchan_send(sender, value, sizeof value, &status);
        child_expect(status == MCAPI_SUCCESS);
        victim_note(i);
    }
}

static int
receives_states(test_process *parent, void *argument)
{
    mcapi_status_t status;
    size_t size;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t at = state_endpoint_make_by(1, &status);
    child_expect(status == MCAPI_SUCCESS);
    unsigned receiver = victim_receiver_open(&of_packets, at);
    process_say(parent, 'r');
    for (uint32_t last = 0;;) {
        void *value;
        mcapi_pktchan_recv(receiver, &value, &size, &status);
        child_expect(status == MCAPI_SUCCESS && *(unsigned *)value >= last);
        last = *(unsigned *)value;
        mcapi_pktchan_release(value, &status);
        child_expect(status == MCAPI_SUCCESS);
    }
}

/* ---- The tests ------------------------------------------------------------------------------- */

static mcapi_endpoint_t
state_endpoint_make(mcapi_port_t port)
{
    mcapi_status_t status;
    mcapi_endpoint_t endpoint = state_endpoint_make_by(port, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    return endpoint;
}

/* Each value is whole; the last that was accepted, or one that was not noted any more, comes. */
static void
state_senders_die(void **state)
{
    mcapi_status_t status;
    unsigned value[STATE_BYTES / sizeof(unsigned)], receiver, last;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = state_endpoint_make(1);
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        victim v;
        victim_start(&v, sends_states);
        receiver = receiver_open(&of_packets, at);
        victim_doom(&v);
        for (last = 0;;) {
            (void)victim_is_dead(&v);
            medley_mcapi_state_recv(receiver, value, sizeof value, &size, &status);
            if (status == MCAPI_ERR_ENDP_DELETED) {
                break;
            }
            assert_int_equal(status, MCAPI_SUCCESS);
            assert_int_equal(size, sizeof value);
            assert_true(value[0] >= last);
            last = value[0];
            for (size_t k = 0; k < sizeof value / sizeof value[0]; k++) {
                assert_int_equal(value[k], last);
            }
        }
        uint32_t accepted = victim_end(&v);
        assert_in_range(last, accepted, accepted + 1);
        receiver_close(&of_packets, receiver);
    }
    expect_all_back();
}

static void
state_receivers_die(void **state)
{
    mcapi_status_t status;
    unsigned sender;
    (void)state;
    mcapi_endpoint_t from = state_endpoint_make(1);
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        victim v;
        victim_start(&v, receives_states);
        sender = sender_open(&of_packets, from);
        victim_doom(&v);
        for (unsigned i = 0;; i++) {
            (void)victim_is_dead(&v);
            mcapi_pktchan_send(sender, &i, sizeof i, &status);
            if (status != MCAPI_SUCCESS) {
                break;
            }
        }
        assert_int_equal(status, MCAPI_ERR_TRANSMISSION);
        (void)victim_end(&v);
        sender_close(&of_packets, sender);
    }
    endpoint_delete(from);
    expect_all_back();
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(state_senders_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(state_receivers_die, exchange_up, exchange_down),
    };
    return victims_run(argc, argv, tests);
}
