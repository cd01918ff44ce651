/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Conformance of MCAPI's nodes, endpoints, messages and requests, through the public calls. Run in
 * a private system and in a named one.
 */
#include "mcapi/message.h"
#include "support/exchange.h"
#include "support/threads.h"

#define OTHER 8

/* ---- Nodes ----------------------------------------------------------------------------------- */

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
    med_self *expected;
    const med_node_request request = {.domain = DOMAIN, .node = NODE + 1, .expected = true};
    (void)state;
    assert_int_equal(med_node_place(med_self_get()->system, &request, &expected), MEDLEY_OK);
    mcapi_node_get_attribute(DOMAIN, NODE + 1, MCAPI_NODE_ATTR_TYPE, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_ERR_NODE_INVALID);
    (void)med_node_recover(expected->system, expected->index, expected->generation);
}

/* ---- Endpoints ------------------------------------------------------------------------------- */

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

/* By a request, whoever asks after it: what fits is there. */
static void
truncated_by_request(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_request_t *one[] = {&request};
    unsigned char first;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    for (unsigned i = 0; i < 3; i++) {
        mcapi_msg_recv_i(at, &first, sizeof first, &request, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        assert_int_equal(send_number(at, at, 0x01010101u * i, 0), MCAPI_SUCCESS);
        switch (i) {
        case 0:
            assert_int_equal(mcapi_test(&request, &size, &status), MCAPI_TRUE);
            break;
        case 1:
            assert_int_equal(mcapi_wait(&request, &size, 0, &status), MCAPI_TRUE);
            break;
        default:
            assert_int_equal(mcapi_wait_any(1, one, &size, 0, &status), 0);
            break;
        }
        assert_int_equal(status, MCAPI_ERR_MSG_TRUNCATED);
        assert_int_equal(size, sizeof first);
        assert_int_equal(first, i);
    }
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

/* ---- Requests -------------------------------------------------------------------------------- */

/* In the order they were asked for, whichever is tested first. */
static void
receives_asked_for(void **state)
{
    mcapi_status_t status;
    mcapi_request_t requests[3];
    unsigned numbers[3];
    size_t size;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    for (unsigned i = 0; i < 3; i++) {
        mcapi_msg_recv_i(to, &numbers[i], sizeof numbers[i], &requests[i], &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        assert_int_equal(mcapi_test(&requests[i], &size, &status), MCAPI_FALSE);
        assert_int_equal(status, MCAPI_PENDING);
    }
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(send_number(from, to, 10 + i, 0), MCAPI_SUCCESS);
    }
    mcapi_cancel(&requests[1], &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(expect_end(requests[2], MCAPI_SUCCESS), sizeof(unsigned));
    assert_int_equal(expect_end(requests[0], MCAPI_SUCCESS), sizeof(unsigned));
    assert_int_equal(numbers[0], 10);
    assert_int_equal(numbers[2], 11);
    assert_int_equal(mcapi_test(&requests[1], &size, &status), MCAPI_FALSE);
    assert_int_equal(status, MCAPI_ERR_REQUEST_CANCELLED);
    assert_int_equal(mcapi_test(&requests[0], &size, &status), MCAPI_FALSE);
    assert_int_equal(status, MCAPI_ERR_REQUEST_INVALID);
    expect_number(to, 12);
}

/* What waits for room is not overtaken, and goes when there is some. */
static void
sends_asked_for(void **state)
{
    mcapi_status_t status;
    mcapi_request_t last;
    size_t size;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    unsigned numbers[300];
    unsigned asked = 0;
    do {
        numbers[asked] = asked;
        mcapi_msg_send_i(from, to, &numbers[asked], sizeof numbers[0], 0, &last, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        asked++;
    } while (mcapi_test(&last, &size, &status) == MCAPI_TRUE);
    assert_int_equal(status, MCAPI_PENDING);
    timeout_set(from, 1000);
    assert_int_equal(send_number(from, to, 999, 0), MCAPI_TIMEOUT);
    expect_number(to, 0);
    assert_int_equal(expect_end(last, MCAPI_SUCCESS), sizeof numbers[0]);
    for (unsigned i = 1; i < asked; i++) {
        expect_number(to, i);
    }
    assert_int_equal(mcapi_msg_available(to, &status), 0);
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

static mcapi_request_t of_another;

/* Not yet; then, whatever its maker did meanwhile, its end. */
static void *
asks_for_another(void *argument)
{
    mcapi_status_t status;
    size_t size = 0;
    (void)argument;
    exchange_begin(OTHER);
    assert_int_equal(mcapi_test(&of_another, &size, &status), MCAPI_FALSE);
    assert_int_equal(status, MCAPI_PENDING);
    assert_int_equal(mcapi_wait(&of_another, &size, 1000, &status), MCAPI_FALSE);
    assert_int_equal(status, MCAPI_TIMEOUT);
    stage_reach(1);
    assert_int_equal(expect_end(of_another, MCAPI_SUCCESS), sizeof(unsigned));
    exchange_end();
    return NULL;
}

/* Its maker receives what comes next, and by that brings forward what it asked for before. */
static void
asked_for_by_another(void **state)
{
    mcapi_status_t status;
    unsigned number = 0;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    mcapi_msg_recv_i(at, &number, sizeof number, &of_another, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    stage_reach(0);
    start(OTHER, asks_for_another);
    stage_await(1);
    assert_int_equal(send_number(at, at, 5, 0), MCAPI_SUCCESS);
    assert_int_equal(send_number(at, at, 6, 0), MCAPI_SUCCESS);
    expect_number(at, 6);
    join(OTHER, 0);
    assert_int_equal(number, 5);
    assert_int_equal(mcapi_test(&of_another, &size, &status), MCAPI_FALSE);
    assert_int_equal(status, MCAPI_ERR_REQUEST_INVALID);
}

static void
any_of_them(void **state)
{
    mcapi_status_t status;
    mcapi_request_t requests[2];
    mcapi_request_t *list[] = {&requests[0], &requests[1]};
    unsigned numbers[2];
    size_t size;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1);
    mcapi_endpoint_t to[] = {endpoint_make(2), endpoint_make(3)};
    for (unsigned i = 0; i < 2; i++) {
        mcapi_msg_recv_i(to[i], &numbers[i], sizeof numbers[i], &requests[i], &status);
    }
    assert_int_equal(mcapi_wait_any(2, list, &size, 1000, &status), MCAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, MCAPI_TIMEOUT);
    assert_int_equal(send_number(from, to[1], 5, 0), MCAPI_SUCCESS);
    assert_int_equal(mcapi_wait_any(2, list, &size, MCAPI_TIMEOUT_INFINITE, &status), 1);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(numbers[1], 5);
    (void)mcapi_wait_any(0, list, &size, 0, &status);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    mcapi_endpoint_delete(to[0], &status);
    (void)expect_end(requests[0], MCAPI_ERR_ENDP_DELETED);
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
        cmocka_unit_test(nodes),
        cmocka_unit_test(one_node_of_both),
        cmocka_unit_test(one_node_in_the_other_order),
        cmocka_unit_test_setup_teardown(node_attributes, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(an_expected_node_is_nobody, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(endpoints, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(endpoint_attributes, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(by_priority, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(all_lengths, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(status_is_in_the_payload, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(truncated, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(truncated_by_request, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(full, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(room_wanted, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(many_receivers, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(wrong_endpoints, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(receives_asked_for, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(sends_asked_for, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(gets_asked_for, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(asked_for_by_another, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(any_of_them, exchange_up, exchange_down),
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
