/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Conformance of MCAPI's messages, to oneself and to another node, through the public calls. */
#include "mcapi/message.h"
#include "support/exchange.h"
#include "support/threads.h"

#define OTHER 8

/* ---- Messages of one node to itself ---------------------------------------------------------- */

static void
by_priority(void **state)
{
    mcapi_status_t status;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    for (unsigned i = 0; i < 12; i++) {
        assert_int_equal(send_number(from, to, i, 3 - i % 4), MCAPI_SUCCESS);
    }
    assert_int_equal(mcapi_msg_available(to, &status), 12);
    for (unsigned priority = 0; priority < 4; priority++) {
        for (unsigned i = 0; i < 3; i++) {
            expect_number(to, i * 4 + 3 - priority);
        }
    }
    assert_int_equal(mcapi_msg_available(to, &status), 0);
    assert_int_equal(send_number(from, to, 1, 4), MCAPI_ERR_PRIORITY);
}

/* Every length, through the end of the ring again and again. */
static void
all_lengths_at(mcapi_endpoint_t at)
{
    static unsigned char sent[4096], received[4096];
    mcapi_status_t status;
    size_t size;
    for (size_t length = 0; length <= sizeof sent; length += length < 200 ? 1 : 61) {
        memset(sent, (int)length, length);
        memset(received, 0xee, sizeof received);
        mcapi_msg_send(at, at, sent, length, 0, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        mcapi_msg_recv(at, received, sizeof received, &size, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        assert_int_equal(size, length);
        assert_memory_equal(sent, received, length);
        assert_true(length == sizeof received || received[length] == 0xee);
    }
    mcapi_msg_send(at, at, sent, MCAPI_MAX_MESSAGE_SIZE + 1, 0, &status);
    assert_int_equal(status, MCAPI_ERR_MSG_SIZE);
}

static void
all_lengths(void **state)
{
    const mcapi_uint_t rooms[] = {1, 2, 4, 16, 128};
    mcapi_status_t status;
    (void)state;
    for (mcapi_port_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        mcapi_endpoint_t at = endpoint_make(i);
        mcapi_endpoint_set_attribute(at, MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, &rooms[i],
                                     sizeof rooms[i], &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        all_lengths_at(at);
    }
}

/* The status is written behind the copy, whichever way the message goes. */
static void
status_is_in_the_payload(void **state)
{
    static mcapi_status_t sent[1000], received[1000];
    const size_t lengths[] = {sizeof sent[0], 24, 600, sizeof sent};
    mcapi_status_t status;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    for (size_t i = 0; i < 3 * sizeof lengths / sizeof lengths[0]; i++) {
        sent[0] = 0x5a5a5a5a;
        mcapi_msg_send(at, at, sent, lengths[i % 4], 0, &sent[0]);
        assert_int_equal(sent[0], MCAPI_SUCCESS);
        mcapi_msg_recv(at, received, sizeof received, &size, &status);
        assert_int_equal(size, lengths[i % 4]);
        assert_int_equal(received[0], 0x5a5a5a5a);
    }
}

static void
truncated(void **state)
{
    unsigned char sent[100], received[100];
    mcapi_status_t status;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    memset(sent, 7, sizeof sent);
    memset(received, 0, sizeof received);
    mcapi_msg_send(at, at, sent, sizeof sent, 0, &status);
    mcapi_msg_recv(at, received, 10, &size, &status);
    assert_int_equal(status, MCAPI_ERR_MSG_TRUNCATED);
    assert_int_equal(size, 10);
    assert_int_equal(received[9], 7);
    assert_int_equal(received[10], 0);
    assert_int_equal(mcapi_msg_available(at, &status), 0);
}

/* Back-pressure, never loss: by waiting until the timeout, or at once where waiting is unwanted. */
static void
full(void **state)
{
    mcapi_status_t status;
    mcapi_uint_t fail = MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    timeout_set(from, 2000);
    unsigned sent = 0;
    while ((status = send_number(from, to, sent, 0)) == MCAPI_SUCCESS) {
        sent++;
    }
    assert_int_equal(status, MCAPI_TIMEOUT);
    assert_true(sent >= 64);
    mcapi_endpoint_set_attribute(from, MCAPI_ENDP_ATTR_MEMORY_TYPE, &fail, sizeof fail, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(send_number(from, to, sent, 0), MCAPI_ERR_MEM_LIMIT);
    for (unsigned i = 0; i < sent; i++) {
        expect_number(to, i);
    }
    assert_int_equal(mcapi_msg_available(to, &status), 0);
}

/* As many as were wanted of each sender, when they are that small or go by buffers. */
static void
room_wanted(void **state)
{
    static unsigned char bytes[2000];
    const size_t lengths[] = {0, 24, 25, sizeof bytes};
    mcapi_uint_t wanted = 4;
    mcapi_status_t status;
    size_t size;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    mcapi_endpoint_set_attribute(to, MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, &wanted, sizeof wanted,
                                 &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    timeout_set(from, 0);
    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (unsigned n = 0; n < wanted; n++) {
            mcapi_msg_send(from, to, bytes, lengths[i], 0, &status);
            assert_int_equal(status, MCAPI_SUCCESS);
        }
        mcapi_msg_send(from, to, bytes, lengths[i], 0, &status);
        assert_int_equal(status, MCAPI_TIMEOUT);
        for (unsigned n = 0; n < wanted; n++) {
            mcapi_msg_recv(to, bytes, sizeof bytes, &size, &status);
            assert_int_equal(status, MCAPI_SUCCESS);
        }
    }
}

static void
wrong_endpoints(void **state)
{
    mcapi_status_t status;
    unsigned number;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    assert_int_equal(send_number(at, at + 1, 1, 0), MCAPI_ERR_ENDP_INVALID);
    assert_int_equal(send_number(0, at, 1, 0), MCAPI_ERR_ENDP_INVALID);
    assert_int_equal(send_number(~0u, ~0u, 1, 0), MCAPI_ERR_ENDP_INVALID);
    mcapi_msg_recv(at + 1, &number, sizeof number, &size, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    mcapi_msg_recv(at, NULL, sizeof number, &size, &status);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    mcapi_msg_recv(at, &number, sizeof number, NULL, &status);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    mcapi_msg_send(at, at, NULL, 4, 0, &status);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    timeout_set(at, 1000);
    mcapi_msg_recv(at, &number, sizeof number, &size, &status);
    assert_int_equal(status, MCAPI_TIMEOUT);
}

#define RECEIVERS 40u
#define EACH 3u /* priorities */

typedef struct star {
    mcapi_endpoint_t from;
    mcapi_endpoint_t to[RECEIVERS];
} star;

static medley_status_t
send_to_all(void *context)
{
    const star *s = context;
    for (unsigned i = 0; i < RECEIVERS * EACH; i++) {
        assert_int_equal(send_number(s->from, s->to[i % RECEIVERS], i, i / RECEIVERS),
                         MCAPI_SUCCESS);
    }
    return MEDLEY_OK;
}

static void
receive_from_all(const star *s)
{
    for (unsigned i = 0; i < RECEIVERS * EACH; i++) {
        expect_number(s->to[i % RECEIVERS], i);
    }
}

/* To many in turn, each lane is found; from the second time on without the lanes' lock, which the
 * test has then. Who went and came again is another. */
static void
many_receivers(void **state)
{
    mcapi_status_t status;
    star s;
    (void)state;
    s.from = endpoint_make(0);
    for (unsigned i = 0; i < RECEIVERS; i++) {
        s.to[i] = endpoint_make(i + 1);
    }
    for (unsigned round = 0; round < 3; round++) {
        (void)send_to_all(&s);
        receive_from_all(&s);
        assert_int_equal(med_table_hold(&med_self_get()->system->lanes, send_to_all, &s),
                         MEDLEY_OK);
        receive_from_all(&s);
        for (unsigned i = round; i < RECEIVERS; i += 3) {
            mcapi_endpoint_delete(s.to[i], &status);
            assert_int_equal(status, MCAPI_SUCCESS);
            s.to[i] = endpoint_make(i + 1);
        }
    }
}

/* ---- Two nodes ------------------------------------------------------------------------------- */

#define MANY 20000u

static void *
sends_many(void *argument)
{
    (void)argument;
    exchange_begin(OTHER);
    mcapi_endpoint_t from = endpoint_make(1);
    mcapi_endpoint_t to = endpoint_of(NODE, 1);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(send_number(from, to, i, 0), MCAPI_SUCCESS);
    }
    exchange_end();
    return NULL;
}

/* In order, all of it, also after the sender has gone. */
static void
across(void **state)
{
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    start(OTHER, sends_many);
    for (unsigned i = 0; i < MANY; i++) {
        expect_number(at, i);
    }
    join(OTHER, 0);
}

static void *
receives_one(void *argument)
{
    (void)argument;
    exchange_begin(OTHER);
    mcapi_endpoint_t at = endpoint_make(1);
    expect_number(at, 1);
    exchange_end();
    return NULL;
}

/* The receiver goes: the sender is told, and a new one under its number is another. */
static void
receiver_goes(void **state)
{
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1);
    for (int life = 0; life < 3; life++) {
        start(OTHER, receives_one);
        mcapi_endpoint_t to = endpoint_of(OTHER, 1);
        assert_int_equal(send_number(from, to, 1, 0), MCAPI_SUCCESS);
        join(OTHER, 0);
        assert_int_equal(send_number(from, to, 2, 0), MCAPI_ERR_ENDP_INVALID);
    }
}

static unsigned
receive_any(mcapi_endpoint_t at)
{
    mcapi_status_t status;
    unsigned number;
    size_t size;
    mcapi_msg_recv(at, &number, sizeof number, &size, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    return number;
}

/* A sender goes whose lane is the one that is looked at first: the others are looked at once. */
static void
sender_goes(void **state)
{
    mcapi_status_t status;
    (void)state;
    mcapi_endpoint_t to = endpoint_make(9);
    for (mcapi_port_t senders = 1; senders <= 3; senders++) {
        mcapi_endpoint_t from[3];
        for (mcapi_port_t port = 0; port < senders; port++) {
            from[port] = endpoint_make(port);
            assert_int_equal(send_number(from[port], to, port, 0), MCAPI_SUCCESS);
        }
        for (mcapi_port_t port = 0; port < senders; port++) {
            (void)receive_any(to);
        }
        for (mcapi_port_t port = 0; port < senders; port++) {
            assert_int_equal(mcapi_msg_available(to, &status), 0);
            mcapi_endpoint_delete(from[port], &status);
            assert_int_equal(status, MCAPI_SUCCESS);
            assert_int_equal(mcapi_msg_available(to, &status), 0);
        }
    }
}

/* More receivers than there can be lanes, one after the other: none of a gone one is kept. */
static void
receivers_come_and_go(void **state)
{
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1);
    for (uint32_t life = 0; life < 3 * med_self_get()->system->limits.lanes; life++) {
        mcapi_endpoint_t to = endpoint_make(2);
        assert_int_equal(send_number(from, to, life, 0), MCAPI_SUCCESS);
        expect_number(to, life);
        endpoint_delete(to);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(by_priority, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(all_lengths, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(status_is_in_the_payload, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(truncated, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(full, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(room_wanted, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(wrong_endpoints, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(many_receivers, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(across, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(receiver_goes, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(sender_goes, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(receivers_come_and_go, exchange_up, exchange_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
