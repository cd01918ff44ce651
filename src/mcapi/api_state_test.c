/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Conformance of MCAPI's channels of states, through the public calls. Run in a private system and
 * in a named one. */
#include "mcapi/lane.h"
#include "medley/mcapi_ext.h"
#include "support/channel.h"
#include "support/threads.h"

#define OTHER 8
#define WORDS 16u

static mcapi_uint_t
get(mcapi_endpoint_t endpoint, mcapi_uint_t attribute)
{
    mcapi_status_t status;
    mcapi_uint_t value = 0;
    mcapi_endpoint_get_attribute(endpoint, attribute, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    return value;
}

static mcapi_endpoint_t
state_endpoint_make(mcapi_port_t port, mcapi_uint_t bytes, mcapi_uint_t buffers)
{
    mcapi_endpoint_t endpoint = endpoint_make(port);
    /* What the ends need not agree on comes first: the last of the others may be followed by the
     * other node's connect. */
    assert_int_equal(attribute_set(endpoint, MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, buffers),
                     MCAPI_SUCCESS);
    assert_int_equal(
        attribute_set(endpoint, MCAPI_ENDP_ATTR_BUFFER_TYPE, MCAPI_ENDP_ATTR_STATE_BUFFER),
        MCAPI_SUCCESS);
    assert_int_equal(attribute_set(endpoint, MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, bytes),
                     MCAPI_SUCCESS);
    return endpoint;
}

/* Both ends are the caller's. */
static channel
channel_make(mcapi_uint_t bytes, mcapi_uint_t buffers)
{
    return channel_between(&of_packets, state_endpoint_make(1, bytes, buffers),
                           state_endpoint_make(2, bytes, buffers));
}

static void
send_value(unsigned sender, unsigned value)
{
    mcapi_status_t status;
    mcapi_pktchan_send(sender, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
}

static mcapi_status_t
receive_value(unsigned receiver, unsigned *value)
{
    mcapi_status_t status;
    size_t size = 0;
    medley_mcapi_state_recv(receiver, value, sizeof *value, &size, &status);
    assert_int_equal(size, status == MCAPI_SUCCESS ? sizeof *value : 0);
    return status;
}

static void
expect_packet(unsigned receiver, unsigned expected)
{
    mcapi_status_t status;
    void *buffer;
    size_t size;
    mcapi_pktchan_recv(receiver, &buffer, &size, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(size, sizeof expected);
    assert_int_equal(*(unsigned *)buffer, expected);
    mcapi_pktchan_release(buffer, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
}

/* ---- The tests ------------------------------------------------------------------------------- */

static void
newest_of_all(void **state)
{
    mcapi_status_t status;
    unsigned value;
    (void)state;
    for (mcapi_uint_t buffers = 1; buffers < 6; buffers++) {
        channel c = {.from = state_endpoint_make(1, 40, buffers),
                     .to = state_endpoint_make(2, 40, buffers)};
        timeout_set(c.to, 1000);
        connect(&of_packets, c.from, c.to, MCAPI_SUCCESS);
        c.sender = sender_open(&of_packets, c.from);
        c.receiver = receiver_open(&of_packets, c.to);
        assert_int_equal(mcapi_pktchan_available(c.receiver, &status), 0);
        assert_int_equal(receive_value(c.receiver, &value), MCAPI_TIMEOUT);
        medley_mcapi_state_wait(c.receiver, 1000, &status);
        assert_int_equal(status, MCAPI_TIMEOUT);
        for (unsigned i = 1; i < 10; i++) {
            send_value(c.sender, i - 1);
            send_value(c.sender, i);
            medley_mcapi_state_wait(c.receiver, MCAPI_TIMEOUT_INFINITE, &status);
            assert_int_equal(status, MCAPI_SUCCESS);
            for (int again = 0; again < 2; again++) {
                assert_int_equal(mcapi_pktchan_available(c.receiver, &status), 1);
                assert_int_equal(receive_value(c.receiver, &value), MCAPI_SUCCESS);
                assert_int_equal(value, i);
                expect_packet(c.receiver, i);
            }
            medley_mcapi_state_wait(c.receiver, 0, &status);
            assert_int_equal(status, MCAPI_TIMEOUT);
        }
        assert_int_equal(get(c.from, MCAPI_ENDP_ATTR_TYPE), MCAPI_ENDP_ATTR_TYPE_PKTCHAN);
        channel_end(&of_packets, &c);
    }
}

/* A new channel in the place of an old one does not begin with its value. */
static void
begins_empty(void **state)
{
    mcapi_status_t status;
    (void)state;
    for (int life = 0; life < 3; life++) {
        channel c = channel_make(24, 2);
        assert_int_equal(mcapi_pktchan_available(c.receiver, &status), 0);
        send_value(c.sender, 5);
        channel_end(&of_packets, &c);
    }
}

static void
lengths(void **state)
{
    mcapi_status_t status;
    unsigned char in[100], out[101];
    size_t size;
    (void)state;
    channel c = channel_make(sizeof in, 3);
    for (size_t i = 0; i < sizeof in; i++) {
        in[i] = (unsigned char)(i + 1);
    }
    for (size_t length = 0; length <= sizeof in; length++) {
        mcapi_pktchan_send(c.sender, in, length, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        memset(out, 0, sizeof out);
        medley_mcapi_state_recv(c.receiver, out, sizeof out, &size, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        assert_int_equal(size, length);
        assert_memory_equal(in, out, length);
        assert_int_equal(out[length], 0);
    }
    mcapi_pktchan_send(c.sender, in, sizeof in + 1, &status);
    assert_int_equal(status, MCAPI_ERR_PKT_SIZE);
    memset(out, 0, sizeof out);
    medley_mcapi_state_recv(c.receiver, out, 10, &size, &status);
    assert_int_equal(status, MCAPI_ERR_MSG_TRUNCATED);
    assert_int_equal(size, 10);
    assert_memory_equal(in, out, 10);
    assert_int_equal(out[10], 0);
    channel_end(&of_packets, &c);
}

static void
must_agree(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    assert_int_equal(attribute_set(from, MCAPI_ENDP_ATTR_BUFFER_TYPE, MCAPI_ENDP_ATTR_STATE_BUFFER),
                     MCAPI_SUCCESS);
    connect(&of_packets, from, to, MCAPI_ERR_ATTR_INCOMPATIBLE);
    assert_int_equal(attribute_set(to, MCAPI_ENDP_ATTR_BUFFER_TYPE, MCAPI_ENDP_ATTR_STATE_BUFFER),
                     MCAPI_SUCCESS);
    mcapi_sclchan_connect_i(from, to, &request, &status);
    assert_int_equal(status, MCAPI_ERR_ATTR_INCOMPATIBLE);
    /* However long they may be by default, it is no longer than there is room for. */
    mcapi_uint_t most = get(to, MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE);
    assert_int_equal(attribute_set(to, MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, most + 1),
                     MCAPI_ERR_ATTR_VALUE);
    connect(&of_packets, from, to, MCAPI_SUCCESS);
    channel c = {from, to, sender_open(&of_packets, from), receiver_open(&of_packets, to)};
    void *longest = calloc(1, most + 1);
    assert_non_null(longest);
    mcapi_pktchan_send(c.sender, longest, most, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    mcapi_pktchan_send(c.sender, longest, most + 1, &status);
    assert_int_equal(status, MCAPI_ERR_PKT_SIZE);
    free(longest);
    channel_end(&of_packets, &c);
}

static void
wrong_arguments(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    medley_mcapi_state_counts_t counts;
    unsigned value, handle;
    size_t size;
    (void)state;
    channel c = channel_make(24, 2);
    medley_mcapi_state_recv(c.receiver, NULL, 4, &size, &status);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    medley_mcapi_state_recv(c.receiver, &value, 4, NULL, &status);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    medley_mcapi_state_recv(c.receiver, &value, 4, &size, NULL);
    medley_mcapi_state_recv(c.sender, &value, 4, &size, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    medley_mcapi_state_wait(c.sender, 0, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    medley_mcapi_state_wait(c.receiver, 0, NULL);
    medley_mcapi_state_counts_get(c.receiver, NULL, &status);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    medley_mcapi_state_counts_get(c.receiver, &counts, NULL);
    medley_mcapi_state_counts_get(0, &counts, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    mcapi_sclchan_send_uint8(c.sender, 1, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_TYPE);
    mcapi_sclchan_recv_close_i(c.receiver, &request, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_TYPE);
    channel_end(&of_packets, &c);
    medley_mcapi_state_recv(c.receiver, &value, 4, &size, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    /* Of packets in a queue, it is no state. */
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    connect(&of_packets, from, to, MCAPI_SUCCESS);
    handle = receiver_open(&of_packets, to);
    medley_mcapi_state_recv(handle, &value, 4, &size, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_TYPE);
    medley_mcapi_state_wait(handle, 0, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_TYPE);
    medley_mcapi_state_counts_get(handle, &counts, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_TYPE);
}

/* A length that no value has was written over that of the newest. */
static void
no_value(void **state)
{
    unsigned value = 5;
    (void)state;
    channel c = channel_make(24, 2);
    send_value(c.sender, 1);
    const med_exchange *exchange = med_self_get()->exchange->exchange;
    const med_state_cell *cell = &exchange->lane_ends[med_handle_index(c.sender)].producer.cell;
    atomic32 *length = &med_state_cell_head_after(cell, 0)->length;
    assert_int_equal(atomic32_load_relaxed(length), sizeof value);
    atomic32_store_relaxed(length, 25);
    assert_int_equal(receive_value(c.receiver, &value), MCAPI_ERR_TRANSMISSION);
    assert_int_equal(value, 5);
    send_value(c.sender, 2);
    assert_int_equal(receive_value(c.receiver, &value), MCAPI_SUCCESS);
    assert_int_equal(value, 2);
    channel_end(&of_packets, &c);
}

static void
asked_for(void **state)
{
    mcapi_status_t status;
    mcapi_request_t receive, send;
    size_t size;
    void *buffer = NULL;
    unsigned value = 7;
    (void)state;
    channel c = channel_make(24, 2);
    mcapi_pktchan_recv_i(c.receiver, &buffer, &receive, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(mcapi_test(&receive, &size, &status), MCAPI_FALSE);
    mcapi_pktchan_send_i(c.sender, &value, sizeof value, &send, &status);
    (void)expect_end(send, MCAPI_SUCCESS);
    assert_int_equal(expect_end(receive, MCAPI_SUCCESS), sizeof value);
    assert_int_equal(*(unsigned *)buffer, 7);
    mcapi_pktchan_release(buffer, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    channel_end(&of_packets, &c);
}

static void
buffers_come_back(void **state)
{
    mcapi_status_t status;
    void *buffer;
    size_t size;
    (void)state;
    channel c = channel_make(24, 2);
    for (unsigned i = 0; i < 1000; i++) {
        send_value(c.sender, i);
        mcapi_pktchan_recv(c.receiver, &buffer, &size, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        mcapi_pktchan_release(buffer, &status);
    }
    channel_end(&of_packets, &c);
    med_pool_statistics statistics;
    med_pool_statistics_get(&med_self_get()->exchange->exchange->pool, &statistics);
    assert_int_equal(statistics.in_use, 0);
}

/* The last value is told once; then, that the sender is gone. And the sender is told likewise. */
static void
other_end_closed(void **state)
{
    mcapi_status_t status;
    unsigned value;
    (void)state;
    channel c = channel_make(24, 2);
    send_value(c.sender, 1);
    assert_int_equal(receive_value(c.receiver, &value), MCAPI_SUCCESS);
    send_value(c.sender, 2);
    sender_close(&of_packets, c.sender);
    medley_mcapi_state_wait(c.receiver, MCAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(receive_value(c.receiver, &value), MCAPI_SUCCESS);
    assert_int_equal(value, 2);
    assert_int_equal(receive_value(c.receiver, &value), MCAPI_ERR_ENDP_DELETED);
    medley_mcapi_state_wait(c.receiver, MCAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_DELETED);
    receiver_close(&of_packets, c.receiver);
    mcapi_endpoint_delete(c.from, &status);
    mcapi_endpoint_delete(c.to, &status);
    c = channel_make(24, 2);
    receiver_close(&of_packets, c.receiver);
    mcapi_pktchan_send(c.sender, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_ERR_TRANSMISSION);
}

/* ---- Between threads ------------------------------------------------------------------------- */

#define MANY 100000u

/* Never waits, though nobody may be looking. */
static void *
sends_many(void *argument)
{
    mcapi_status_t status;
    unsigned value[WORDS];
    (void)argument;
    exchange_begin(OTHER);
    unsigned sender = sender_open(&of_packets, state_endpoint_make(1, sizeof value, 2));
    for (unsigned i = 1; i <= MANY; i++) {
        for (unsigned k = 0; k < WORDS; k++) {
            value[k] = i + k;
        }
        mcapi_pktchan_send(sender, value, sizeof value, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
    }
    exchange_end(); /* as if it had closed */
    return NULL;
}

static void
across(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    medley_mcapi_state_counts_t counts;
    unsigned value[WORDS], last = 0;
    size_t size;
    (void)state;
    mcapi_endpoint_t to = state_endpoint_make(1, sizeof value, 2);
    start(OTHER, sends_many);
    mcapi_endpoint_t from = endpoint_of(OTHER, 1);
    /* Its attributes are set one by one. */
    do {
        mcapi_pktchan_connect_i(from, to, &request, &status);
    } while (status == MCAPI_ERR_ATTR_INCOMPATIBLE);
    (void)expect_end(request, MCAPI_SUCCESS);
    unsigned receiver = receiver_open(&of_packets, to);
    for (;;) {
        if (last % 2) {
            medley_mcapi_state_wait(receiver, MCAPI_TIMEOUT_INFINITE, &status);
        }
        medley_mcapi_state_recv(receiver, value, sizeof value, &size, &status);
        if (status != MCAPI_SUCCESS) {
            break;
        }
        assert_int_equal(size, sizeof value);
        assert_true(value[0] >= last);
        for (unsigned k = 0; k < WORDS; k++) {
            assert_int_equal(value[k], value[0] + k);
        }
        last = value[0];
    }
    assert_int_equal(status, MCAPI_ERR_ENDP_DELETED);
    assert_int_equal(last, MANY);
    medley_mcapi_state_counts_get(receiver, &counts, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_true(counts.retries_worst <= counts.retries);
    join(OTHER, 0);
    receiver_close(&of_packets, receiver);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(newest_of_all, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(begins_empty, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(lengths, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(must_agree, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(wrong_arguments, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(no_value, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(asked_for, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(buffers_come_back, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(other_end_closed, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(across, exchange_up, exchange_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
