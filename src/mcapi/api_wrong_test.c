/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a program may do wrong: wrong, foreign and stale handles at every call that takes one,
 * closing twice, closing while the other side sends, sizes 0 and too large, scalars of another
 * width, cancelled requests, finalizing with traffic under way. The documented code, nothing lost
 * that was accepted but what is told, nobody hangs.
 */
#include "mcapi/message_at_once.h"
#include "medley/mcapi_ext.h"
#include "mrapi/handle.h"
#include "support/channel.h"
#include "support/threads.h"

#define OTHER 8
#define FROM 1
#define TO 2

static channel
channel_make(const channel_kind *kind)
{
    mcapi_endpoint_t from = endpoint_make(FROM);
    return channel_between(kind, from, endpoint_make(TO));
}

/* ---- Handles --------------------------------------------------------------------------------- */

/* What closing an end of that kind says, when the handle is of none that is open. */
static mcapi_status_t
close_of(unsigned handle, med_handle_kind kind)
{
    const med_handle_kind is = med_handle_kind_of(handle);
    if (is == kind) {
        return MCAPI_ERR_CHAN_NOTOPEN;
    }
    return is == MED_HANDLE_SENDER || is == MED_HANDLE_RECEIVER ? MCAPI_ERR_CHAN_DIRECTION
                                                                : MCAPI_ERR_CHAN_INVALID;
}

/* Every call that takes a handle of a packet channel, with one that is none. */
static void
expect_no_packet_end(unsigned handle)
{
    mcapi_status_t status;
    mcapi_request_t request;
    void *packet;
    size_t size;
    mcapi_pktchan_send(handle, "", 1, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    mcapi_pktchan_send_i(handle, "", 1, &request, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    mcapi_pktchan_recv(handle, &packet, &size, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    mcapi_pktchan_recv_i(handle, &packet, &request, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    (void)mcapi_pktchan_available(handle, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    mcapi_pktchan_send_close_i(handle, &request, &status);
    assert_int_equal(status, close_of(handle, MED_HANDLE_SENDER));
    mcapi_pktchan_recv_close_i(handle, &request, &status);
    assert_int_equal(status, close_of(handle, MED_HANDLE_RECEIVER));
    assert_null(medley_mcapi_pktchan_take(handle, &status));
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
}

static void
expect_no_scalar_end(unsigned handle)
{
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_uint64_t scalar = 0;
    mcapi_sclchan_send_uint64(handle, 1, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    mcapi_sclchan_send_uint8(handle, 1, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    (void)mcapi_sclchan_recv_uint64(handle, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    (void)mcapi_sclchan_recv_uint8(handle, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    (void)mcapi_sclchan_available(handle, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    assert_int_equal(medley_mcapi_sclchan_send_many(handle, &scalar, 1, 8, &status), 0);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    assert_int_equal(medley_mcapi_sclchan_recv_many(handle, &scalar, 1, 8, &status), 0);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    mcapi_sclchan_send_close_i(handle, &request, &status);
    assert_int_equal(status, close_of(handle, MED_HANDLE_SENDER));
    mcapi_sclchan_recv_close_i(handle, &request, &status);
    assert_int_equal(status, close_of(handle, MED_HANDLE_RECEIVER));
}

/* Every call that takes an endpoint, with one that is none. */
static void
expect_no_endpoint(mcapi_endpoint_t none, mcapi_endpoint_t own)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned number = 0, handle;
    size_t size;
    assert_int_equal(send_number(none, own, 1, 0), MCAPI_ERR_ENDP_INVALID);
    assert_int_equal(send_number(own, none, 1, 0), MCAPI_ERR_ENDP_INVALID);
    mcapi_msg_recv(none, &number, sizeof number, &size, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    mcapi_msg_recv_i(none, &number, sizeof number, &request, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    (void)mcapi_msg_available(none, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    mcapi_endpoint_get_attribute(none, MCAPI_ENDP_ATTR_PRIORITY, &number, sizeof number, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    mcapi_endpoint_set_attribute(none, MCAPI_ENDP_ATTR_PRIORITY, &number, sizeof number, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    mcapi_pktchan_connect_i(none, own, &request, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    mcapi_sclchan_connect_i(own, none, &request, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    mcapi_pktchan_recv_open_i(&handle, none, &request, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    mcapi_sclchan_send_open_i(&handle, none, &request, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    mcapi_endpoint_release(none, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    mcapi_endpoint_delete(none, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
}

static void
wrong_handles(void **state)
{
    mcapi_status_t status;
    (void)state;
    mcapi_endpoint_t own = endpoint_make(FROM);
    const unsigned wrong[] = {0, 1, ~0u, own ^ 1u, own + 1u, own << 1, own ^ 0x80000000u};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        expect_no_endpoint(wrong[i], own);
        expect_no_packet_end(wrong[i]);
        expect_no_scalar_end(wrong[i]);
    }
    expect_no_packet_end(own); /* an endpoint is no end */
    expect_no_scalar_end(own);
    mcapi_pktchan_release(&status, &status);
    assert_int_equal(status, MCAPI_ERR_BUF_INVALID);
}

/* They were right once; what has their place now is untouched. */
static void
stale_handles(void **state)
{
    (void)state;
    mcapi_endpoint_t own = endpoint_make(3);
    for (int i = 0; i < 2; i++) {
        const channel_kind *kind = i ? &of_packets : &of_scalars;
        channel old = channel_make(kind);
        channel_end(kind, &old);
        channel c = channel_make(kind);
        expect_no_endpoint(old.from, own);
        expect_no_packet_end(old.sender);
        expect_no_packet_end(old.receiver);
        expect_no_scalar_end(old.sender);
        expect_no_scalar_end(old.receiver);
        channel_end(kind, &c);
    }
}

static channel foreign; /* the first node's, used by the second */

static void *
uses_foreign(void *argument)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned number = 0, handle;
    size_t size;
    (void)argument;
    exchange_begin(OTHER);
    expect_no_packet_end(foreign.sender);
    expect_no_packet_end(foreign.receiver);
    expect_no_scalar_end(foreign.sender);
    expect_no_scalar_end(foreign.receiver);
    mcapi_endpoint_delete(foreign.from, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_NOTOWNER);
    mcapi_endpoint_set_attribute(foreign.from, MCAPI_ENDP_ATTR_PRIORITY, &number, sizeof number,
                                 &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_REMOTE);
    mcapi_msg_recv(foreign.to, &number, sizeof number, &size, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    mcapi_pktchan_recv_open_i(&handle, foreign.to, &request, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    exchange_end();
    return NULL;
}

static void
foreign_handles(void **state)
{
    mcapi_status_t status;
    (void)state;
    for (int i = 0; i < 2; i++) {
        const channel_kind *kind = i ? &of_packets : &of_scalars;
        foreign = channel_make(kind);
        start(OTHER, uses_foreign);
        join(OTHER, 0);
        if (kind == &of_scalars) {
            mcapi_sclchan_send_uint8(foreign.sender, 5, &status);
            assert_int_equal(mcapi_sclchan_recv_uint8(foreign.receiver, &status), 5);
        }
        channel_end(kind, &foreign);
    }
}

static void
one_passes(const channel *c, mcapi_uint8_t value)
{
    mcapi_status_t status;
    mcapi_sclchan_send_uint8(c->sender, value, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(mcapi_sclchan_recv_uint8(c->receiver, &status), value);
    assert_int_equal(status, MCAPI_SUCCESS);
}

/* A node keeps the end that it used last, and by which word scalars pass there (scalar.h): of no
 * handle is that the word of a width and nothing else, nor an earlier channel's. */
static void
handles_beside_the_last(void **state)
{
    static const unsigned widths[] = {1, 2, 4, 8};
    (void)state;
    for (int i = 0; i < 3; i++) {
        channel c = channel_make(&of_scalars);
        if (i > 0) {
            one_passes(&c, (mcapi_uint8_t)i);
        }
        for (size_t k = 0; k < sizeof widths / sizeof widths[0]; k++) {
            expect_no_scalar_end(((unsigned)MED_HANDLE_SENDER - widths[k]) << 28);
            expect_no_scalar_end(((unsigned)MED_HANDLE_RECEIVER - widths[k]) << 28);
        }
        one_passes(&c, 7);
        channel_end(&of_scalars, &c);
        expect_no_scalar_end(c.sender);
        expect_no_scalar_end(c.receiver);
    }
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static void
sizes(void **state)
{
    static unsigned char bytes[MCAPI_MAX_MESSAGE_SIZE + 1];
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_uint_t most = 0;
    void *packet;
    size_t size = 1;
    (void)state;
    channel c = channel_make(&of_packets);
    mcapi_endpoint_t at = endpoint_make(3);
    mcapi_endpoint_get_attribute(at, MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, &most, sizeof most, &status);
    const size_t too_large[] = {most + 1, sizeof bytes, SIZE_MAX, (size_t)1 << 31};
    for (size_t i = 0; i < sizeof too_large / sizeof too_large[0]; i++) {
        mcapi_msg_send(at, at, bytes, too_large[i], 0, &status);
        assert_int_equal(status, MCAPI_ERR_MSG_SIZE);
        mcapi_pktchan_send(c.sender, bytes, too_large[i], &status);
        assert_int_equal(status, MCAPI_ERR_PKT_SIZE);
        mcapi_pktchan_send_i(c.sender, bytes, too_large[i], &request, &status);
        assert_int_equal(status, MCAPI_ERR_PKT_SIZE);
    }
    mcapi_msg_send(at, at, bytes, most, 0, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    mcapi_msg_recv(at, bytes, sizeof bytes, &size, &status);
    assert_int_equal(size, most);
    mcapi_msg_send(at, at, NULL, 0, 0, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    mcapi_msg_recv(at, NULL, 0, &size, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(size, 0);
    mcapi_pktchan_send(c.sender, bytes, 0, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    mcapi_pktchan_recv(c.receiver, &packet, &size, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(size, 0);
    mcapi_pktchan_release(packet, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
}

/* ---- Widths ---------------------------------------------------------------------------------- */

typedef mcapi_uint64_t receive_call(unsigned handle, mcapi_status_t *status);

static mcapi_uint64_t
receive_8(unsigned handle, mcapi_status_t *status)
{
    return mcapi_sclchan_recv_uint64(handle, status);
}

static mcapi_uint64_t
receive_4(unsigned handle, mcapi_status_t *status)
{
    return mcapi_sclchan_recv_uint32(handle, status);
}

static mcapi_uint64_t
receive_2(unsigned handle, mcapi_status_t *status)
{
    return mcapi_sclchan_recv_uint16(handle, status);
}

static mcapi_uint64_t
receive_1(unsigned handle, mcapi_status_t *status)
{
    return mcapi_sclchan_recv_uint8(handle, status);
}

/* Each width at each other: refused, and the scalar stays. */
static void
other_widths(void **state)
{
    static receive_call *const calls[] = {receive_1, receive_2, receive_4, receive_8};
    mcapi_status_t status;
    (void)state;
    channel c = channel_make(&of_scalars);
    for (unsigned sent = 0; sent < 4; sent++) {
        mcapi_uint64_t scalar = 100 + sent;
        assert_int_equal(medley_mcapi_sclchan_send_many(c.sender, &scalar, 1, 1u << sent, &status),
                         1);
        for (unsigned wanted = 0; wanted < 4; wanted++) {
            if (wanted != sent) {
                (void)calls[wanted](c.receiver, &status);
                assert_int_equal(status, MCAPI_ERR_SCL_SIZE);
                assert_int_equal(
                    medley_mcapi_sclchan_recv_many(c.receiver, &scalar, 1, 1u << wanted, &status),
                    0);
                assert_int_equal(status, MCAPI_ERR_SCL_SIZE);
            }
        }
        assert_int_equal(calls[sent](c.receiver, &status), 100 + sent);
        assert_int_equal(status, MCAPI_SUCCESS);
    }
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* A cancelled one is over, for every call, and is nobody else's; what it would have had goes to the
 * next. */
static void
cancelled(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request, next;
    mcapi_request_t *only[1] = {&request};
    unsigned number = 0;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(FROM);
    mcapi_msg_recv_i(at, &number, sizeof number, &request, &status);
    mcapi_cancel(&request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    mcapi_cancel(&request, &status);
    assert_int_equal(status, MCAPI_ERR_REQUEST_CANCELLED);
    mcapi_msg_recv_i(at, &number, sizeof number, &next, &status);
    assert_int_equal(send_number(at, at, 7, 0), MCAPI_SUCCESS);
    assert_int_equal(mcapi_test(&request, &size, &status), MCAPI_FALSE);
    assert_true(status == MCAPI_ERR_REQUEST_CANCELLED || status == MCAPI_ERR_REQUEST_INVALID);
    assert_int_equal(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status), MCAPI_FALSE);
    assert_true(status == MCAPI_ERR_REQUEST_CANCELLED || status == MCAPI_ERR_REQUEST_INVALID);
    (void)mcapi_wait_any(1, only, &size, MCAPI_TIMEOUT_INFINITE, &status);
    assert_true(status == MCAPI_ERR_REQUEST_CANCELLED || status == MCAPI_ERR_REQUEST_INVALID);
    assert_int_equal(expect_end(next, MCAPI_SUCCESS), sizeof number);
    assert_int_equal(number, 7);
    mcapi_cancel(&next, &status);
    assert_int_equal(status, MCAPI_ERR_REQUEST_INVALID);
}

/* ---- The other side under way ---------------------------------------------------------------- */

/* Until it is told that the receiver is gone: in every way to go, no code but that one. */
static void *
sends_until_told(void *argument)
{
    mcapi_status_t status = MCAPI_SUCCESS;
    unsigned sender;
    (void)argument;
    exchange_begin(OTHER);
    mcapi_endpoint_t from = endpoint_make(FROM);
    connect(&of_scalars, from, endpoint_of(NODE, TO), MCAPI_SUCCESS);
    sender = sender_open(&of_scalars, from);
    for (uint32_t i = 0; status == MCAPI_SUCCESS; i++) {
        mcapi_sclchan_send_uint32(sender, i, &status);
    }
    assert_int_equal(status, MCAPI_ERR_TRANSMISSION);
    exchange_end();
    return NULL;
}

static void
receive_some(unsigned receiver)
{
    mcapi_status_t status;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(mcapi_sclchan_recv_uint32(receiver, &status), i);
        assert_int_equal(status, MCAPI_SUCCESS);
    }
}

static unsigned
receiver_begin(void)
{
    unsigned receiver;
    mcapi_endpoint_t to = endpoint_make(TO);
    start(OTHER, sends_until_told);
    receiver = receiver_open(&of_scalars, to);
    receive_some(receiver);
    return receiver;
}

static void
closed_while_sending(void **state)
{
    (void)state;
    unsigned receiver = receiver_begin();
    receiver_close(&of_scalars, receiver);
    join(OTHER, 0);
    expect_no_scalar_end(receiver);
}

/* The receiver finalizes in the middle; then there is nothing left of the channel. */
static void
finalized_while_sending(void **state)
{
    (void)state;
    unsigned receiver = receiver_begin();
    exchange_end();
    exchange_begin(NODE);
    expect_no_scalar_end(receiver);
    join(OTHER, 0);
}

static void *
sends_and_finalizes(void *argument)
{
    mcapi_request_t requests[8];
    (void)argument;
    exchange_begin(OTHER);
    mcapi_endpoint_t from = endpoint_make(FROM), to = endpoint_of(NODE, TO);
    for (unsigned i = 0; i < 8; i++) {
        mcapi_status_t status;
        mcapi_msg_send_i(from, to, &i, sizeof i, 0, &requests[i], &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        assert_int_equal(expect_end(requests[i], MCAPI_SUCCESS), sizeof i);
    }
    mcapi_status_t status;
    unsigned number;
    mcapi_msg_recv_i(from, &number, sizeof number, &requests[0], &status); /* never ends */
    exchange_end();
    return NULL;
}

/* What the sender had sent before it finalized comes, though it had more under way. */
static void
finalized_with_requests(void **state)
{
    mcapi_status_t status;
    unsigned number;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(TO);
    start(OTHER, sends_and_finalizes);
    join(OTHER, 0);
    for (unsigned i = 0; i < 8; i++) {
        expect_number(at, i);
    }
    timeout_set(at, 1000);
    mcapi_msg_recv(at, &number, sizeof number, &size, &status);
    assert_int_equal(status, MCAPI_TIMEOUT);
}

/* What was accepted and is lost, since what lay in the lane was no record: the next send there says
 * so, whatever was sent elsewhere meanwhile. */
static void
a_loss_is_told(void **state)
{
    (void)state;
    mcapi_status_t status;
    unsigned number;
    size_t size;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2), other = endpoint_make(3);
    timeout_set(to, 0);
    assert_int_equal(send_number(from, to, 1, 0), MCAPI_SUCCESS);
    const med_lane_own *lane = med_message_lane(med_self_get(), from, to, 0);
    med_record_header_set(med_record_at(&lane->producer.ring.view, 0), 77, sizeof number);
    mcapi_msg_recv(to, &number, sizeof number, &size, &status);
    assert_int_equal(status, MCAPI_TIMEOUT);
    assert_int_equal(send_number(from, other, 2, 0), MCAPI_SUCCESS);
    assert_int_equal(send_number(from, to, 3, 0), MCAPI_ERR_TRANSMISSION);
    assert_int_equal(send_number(from, to, 4, 0), MCAPI_SUCCESS);
    mcapi_msg_recv(to, &number, sizeof number, &size, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(number, 4);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(wrong_handles, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(stale_handles, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(foreign_handles, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(handles_beside_the_last, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(sizes, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(other_widths, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(cancelled, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(closed_while_sending, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(finalized_while_sending, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(finalized_with_requests, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(a_loss_is_told, exchange_up, exchange_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
