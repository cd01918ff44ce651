/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Requests of MCAPI and several threads: any of them tests one, waits for it, or cancels it, and it
 * has one outcome. Who waits for one: api_request_wait_test.c. Run in a private system and in a
 * named one.
 */
#include <stdlib.h>

#include "mcapi/exchange.h"
#include "mrapi/request.h"
#include "support/cancel.h"
#include "support/channel.h"
#include "support/random.h"
#include "support/requests.h"

#define OTHER 8
#define FROM 1
#define TO 2
#define NOWHERE 77

/* ---- Canceled by another --------------------------------------------------------------------- */

static void
lookup(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_endpoint_t found = 0;
    (void)state;
    mcapi_endpoint_get_i(DOMAIN, NODE, NOWHERE, &found, &request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    canceled_by_another(request);
    mcapi_endpoint_t made = endpoint_make(NOWHERE);
    mcapi_endpoint_get_i(DOMAIN, NODE, NOWHERE, &made, &request, &status);
    (void)expect_end(request, MCAPI_SUCCESS);
    assert_int_equal(found, 0);
}

/* In front of others, in their middle, and behind them: what it would have had goes to the next. */
static void
message_to_receive(void **state)
{
    (void)state;
    mcapi_endpoint_t at = endpoint_make(FROM);
    for (unsigned canceled = 0; canceled < 3; canceled++) {
        mcapi_request_t requests[3];
        unsigned numbers[3];
        for (unsigned i = 0; i < 3; i++) {
            requests[i] = receive_message(at, &numbers[i]);
        }
        canceled_by_another(requests[canceled]);
        for (unsigned number = 1; number <= 3; number++) {
            assert_int_equal(send_number(at, at, number, 0), MCAPI_SUCCESS);
        }
        unsigned next = 1;
        for (unsigned i = 0; i < 3; i++) {
            if (i != canceled) {
                assert_int_equal(expect_end(requests[i], MCAPI_SUCCESS), sizeof(unsigned));
                assert_int_equal(numbers[i], next++);
            }
        }
        assert_int_equal(numbers[canceled], 0);
        expect_number(at, 3); /* as if it had never been asked for */
    }
}

/* Alone: who receives without a request, once or many at once, is not held up by it. */
static void
only_one_to_receive(void **state)
{
    mcapi_status_t status;
    size_t sizes[4];
    unsigned number, got[4] = {0};
    (void)state;
    mcapi_endpoint_t at = endpoint_make(FROM);
    canceled_by_another(receive_message(at, &number));
    assert_int_equal(send_number(at, at, 1, 0), MCAPI_SUCCESS);
    expect_number(at, 1);
    canceled_by_another(receive_message(at, &number));
    assert_int_equal(send_number(at, at, 2, 0), MCAPI_SUCCESS);
    assert_int_equal(medley_mcapi_msg_recv_many(at, got, sizeof got[0], 4, sizes, &status), 1);
    assert_int_equal(got[0], 2);
    assert_int_equal(number, 0);
}

static mcapi_request_t
send_until_full(mcapi_endpoint_t from, mcapi_endpoint_t to, unsigned *number, unsigned *count)
{
    mcapi_status_t status;
    mcapi_request_t request;
    size_t size;
    for (*count = 0;; ++*count) {
        number[*count] = *count;
        mcapi_msg_send_i(from, to, &number[*count], sizeof *number, 0, &request, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        if (!mcapi_test(&request, &size, &status)) {
            assert_int_equal(status, MCAPI_PENDING);
            return request;
        }
    }
}

static void
message_to_send(void **state)
{
    static unsigned numbers[1u << 16];
    mcapi_status_t status;
    unsigned count;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(FROM);
    canceled_by_another(send_until_full(at, at, numbers, &count));
    for (unsigned i = 0; i < count; i++) {
        expect_number(at, i);
    }
    assert_int_equal(mcapi_msg_available(at, &status), 0);
    assert_int_equal(send_number(at, at, 5, 0), MCAPI_SUCCESS);
    expect_number(at, 5);
}

static void *
deletes_its_endpoint(void *argument)
{
    (void)argument;
    exchange_begin(OTHER);
    mcapi_endpoint_t to = endpoint_make(TO);
    stage_reach(1);
    stage_await(2);
    endpoint_delete(to);
    stage_reach(3);
    exchange_end();
    return NULL;
}

/* The receiver's endpoint goes: all that are under way to it are told the same. */
static void
messages_to_nobody(void **state)
{
    static unsigned numbers[1u << 16];
    mcapi_status_t status;
    mcapi_request_t waiting[3];
    unsigned count;
    (void)state;
    stage_reach(0);
    start(OTHER, deletes_its_endpoint);
    stage_await(1);
    mcapi_endpoint_t from = endpoint_make(FROM);
    mcapi_endpoint_t to = endpoint_of(OTHER, TO);
    waiting[0] = send_until_full(from, to, numbers, &count);
    for (int i = 1; i < 3; i++) {
        mcapi_msg_send_i(from, to, numbers, sizeof numbers[0], 0, &waiting[i], &status);
        assert_int_equal(status, MCAPI_SUCCESS);
    }
    stage_reach(2);
    stage_await(3);
    for (int i = 0; i < 3; i++) {
        (void)expect_end(waiting[i], MCAPI_ERR_TRANSMISSION);
    }
    join(OTHER, 0);
}

static void
packet_to_receive(void **state)
{
    mcapi_status_t status;
    mcapi_request_t first, second;
    void *packet = NULL, *next;
    unsigned number = 3;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(FROM);
    channel c = channel_between(&of_packets, from, endpoint_make(TO));
    mcapi_pktchan_recv_i(c.receiver, &packet, &first, &status);
    mcapi_pktchan_recv_i(c.receiver, &next, &second, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    canceled_by_another(first);
    mcapi_pktchan_send(c.sender, &number, sizeof number, &status);
    assert_int_equal(expect_end(second, MCAPI_SUCCESS), sizeof number);
    assert_int_equal(*(const unsigned *)next, number);
    assert_null(packet);
    mcapi_pktchan_release(next, &status);
    channel_end(&of_packets, &c);
}

static void
packet_to_send(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    void *packet;
    size_t size;
    unsigned count, number = 0;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(FROM);
    channel c = channel_between(&of_packets, from, endpoint_make(TO));
    for (count = 0;; count++) {
        mcapi_pktchan_send_i(c.sender, &number, sizeof number, &request, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        if (!mcapi_test(&request, &size, &status)) {
            break;
        }
    }
    canceled_by_another(request);
    for (unsigned i = 0; i < count; i++) {
        mcapi_pktchan_recv(c.receiver, &packet, &size, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        mcapi_pktchan_release(packet, &status);
    }
    assert_int_equal(mcapi_pktchan_available(c.receiver, &status), 0);
    channel_end(&of_packets, &c);
}

/* And can be opened again, at once. */
static void
open(void **state)
{
    const channel_kind *const kinds[] = {&of_packets, &of_scalars};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const channel_kind *k = kinds[i];
        mcapi_status_t status;
        mcapi_request_t request;
        mcapi_uint_t flags = 0;
        unsigned sender = 0, receiver = 0;
        mcapi_endpoint_t from = endpoint_make(FROM);
        mcapi_endpoint_t to = endpoint_make(TO);
        k->open_sender(&sender, from, &request, &status);
        canceled_by_another(request);
        mcapi_endpoint_get_attribute(from, MCAPI_ENDP_ATTR_ENDP_STATUS, &flags, sizeof flags,
                                     &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        assert_int_equal(flags & MCAPI_ENDP_ATTR_STATUS_OPEN_PENDING, 0);
        k->open_receiver(&receiver, to, &request, &status);
        canceled_by_another(request);
        channel c = channel_between(k, from, to);
        assert_int_equal(sender + receiver, 0);
        channel_end(k, &c);
    }
}

/* What has ended when it is asked for, is over for who cancels it. */
static void *
comes_too_late(void *argument)
{
    (void)argument;
    exchange_begin(OTHER);
    assert_int_equal(cancel(of_another), MCAPI_ERR_REQUEST_INVALID);
    exchange_end();
    return NULL;
}

static void
connect_and_close(void **state)
{
    mcapi_status_t status;
    channel c = {.from = endpoint_make(FROM), .to = endpoint_make(TO)};
    (void)state;
    mcapi_pktchan_connect_i(c.from, c.to, &of_another, &status);
    start(OTHER, comes_too_late);
    join(OTHER, 0);
    (void)expect_end(of_another, MCAPI_SUCCESS);
    c.sender = sender_open(&of_packets, c.from);
    c.receiver = receiver_open(&of_packets, c.to);
    mcapi_pktchan_send_close_i(c.sender, &of_another, &status);
    start(OTHER, comes_too_late);
    join(OTHER, 0);
    (void)expect_end(of_another, MCAPI_SUCCESS);
    receiver_close(&of_packets, c.receiver);
}

/* ---- Places ---------------------------------------------------------------------------------- */

static void *
cancels_all_but_the_first(void *argument)
{
    (void)argument;
    exchange_begin(OTHER);
    for (size_t i = 1; i < asked_count; i++) {
        assert_int_equal(cancel(asked[i]), MCAPI_SUCCESS);
    }
    exchange_end();
    return NULL;
}

/* They stand behind one that goes on: all places but that are there again. */
static void
places_come_back(void **state)
{
    (void)state;
    mcapi_endpoint_t at = endpoint_make(FROM);
    requests_use_up(at);
    size_t all = asked_count;
    mcapi_request_t first = asked[0];
    for (int i = 0; i < 3; i++) {
        start(OTHER, cancels_all_but_the_first);
        join(OTHER, 0);
        requests_use_up(at);
        assert_int_equal(asked_count, all - 1);
        expect_no_end(first, MCAPI_PENDING);
        memmove(&asked[1], asked, asked_count * sizeof asked[0]);
        asked[0] = first;
        asked_count++;
    }
    requests_give_back();
}

/* When all others are in use and another cancels that one, its maker has its place. */
static void
place_comes_back(mcapi_request_t request, mcapi_endpoint_t at)
{
    mcapi_status_t status;
    mcapi_request_t next;
    unsigned number;
    requests_use_up(at);
    canceled_by_another(request);
    mcapi_msg_recv_i(at, &number, sizeof number, &next, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(cancel(next), MCAPI_SUCCESS);
    requests_give_back();
}

static void
places_come_back_of_each_kind(void **state)
{
    static unsigned numbers[1u << 16];
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_endpoint_t unfound;
    unsigned handle, count;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(FROM), full = endpoint_make(TO);
    mcapi_endpoint_get_i(DOMAIN, NODE, NOWHERE, &unfound, &request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    place_comes_back(request, at);
    mcapi_pktchan_send_open_i(&handle, endpoint_make(TO + 1), &request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    place_comes_back(request, at);
    place_comes_back(send_until_full(full, full, numbers, &count), at);
}

/* ---- All at once ----------------------------------------------------------------------------- */

#define CROWD 3u
#define MESSAGES 3000u
#define WINDOW 4u

typedef struct slot {
    atomic32 request; /* 0: none yet */
    atomic32 collected;
    atomic32 canceled;
    unsigned number;
} slot;

static slot slots[3 * MESSAGES];
static atomic32 posted; /* how many of them were asked for */
static atomic32 over;   /* nobody asks any more */
static atomic32 received;

static void
note(slot *s, mcapi_boolean_t ended, mcapi_status_t status)
{
    if (ended) {
        assert_int_equal(status, MCAPI_SUCCESS);
        (void)atomic32_fetch_add_acq_rel(&s->collected, 1);
        (void)atomic32_fetch_add_acq_rel(&received, 1);
    } else {
        assert_true(status == MCAPI_PENDING || status == MCAPI_TIMEOUT ||
                    status == MCAPI_ERR_REQUEST_INVALID || status == MCAPI_ERR_REQUEST_CANCELLED);
    }
}

enum {
    CANCEL,
    WAIT,
    TEST,
    WAYS = 8 /* the others test, too */
};

static void
ask_about(slot *s, uint32_t how)
{
    mcapi_status_t status;
    size_t size;
    mcapi_request_t request = atomic32_load_acquire(&s->request);
    if (how == CANCEL) {
        mcapi_cancel(&request, &status);
        assert_true(status == MCAPI_SUCCESS || status == MCAPI_ERR_REQUEST_INVALID ||
                    status == MCAPI_ERR_REQUEST_CANCELLED);
        (void)atomic32_fetch_add_acq_rel(&s->canceled, status == MCAPI_SUCCESS);
    } else {
        mcapi_boolean_t ended = how == WAIT ? mcapi_wait(&request, &size, 50, &status)
                                            : mcapi_test(&request, &size, &status);
        note(s, ended, status);
    }
}

/* By its maker: it is over, whoever knows how. */
static void
settle(slot *s)
{
    ask_about(s, CANCEL);
    ask_about(s, TEST);
}

static void *
asks_about_any(void *argument)
{
    mrapi_status_t status;
    mrapi_node_t self = mrapi_node_id_get(&status);
    test_random random = test_random_of(self);
    (void)argument;
    exchange_begin(self);
    while (!atomic32_load_acquire(&over)) {
        uint32_t last = atomic32_load_acquire(&posted);
        uint32_t back = random_below(&random, WINDOW + 2);
        if (back < last) {
            ask_about(&slots[last - 1 - back], random_below(&random, WAYS));
        }
    }
    exchange_end();
    return NULL;
}

/* Of every request one thing is told, once; and every message is had by one, in order. */
static void
one_outcome_each(void **state)
{
    mcapi_status_t status;
    uint32_t sent = 0, at_slot = 0, next = 1;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(FROM);
    memset(slots, 0, sizeof slots);
    (void)test_seed(); /* before several ask for it at once */
    atomic32_store_relaxed(&posted, 0);
    atomic32_store_relaxed(&over, 0);
    atomic32_store_relaxed(&received, 0);
    for (uint32_t i = 0; i < CROWD; i++) {
        start(OTHER + i, asks_about_any);
    }
    while (atomic32_load_acquire(&received) < MESSAGES && at_slot < 3 * MESSAGES) {
        slot *s = &slots[at_slot];
        mcapi_request_t request;
        mcapi_msg_recv_i(at, &s->number, sizeof s->number, &request, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        atomic32_store_release(&s->request, request);
        atomic32_store_release(&posted, ++at_slot);
        if (sent < MESSAGES && sent < atomic32_load_acquire(&received) + WINDOW) {
            assert_int_equal(send_number(at, at, ++sent, 0), MCAPI_SUCCESS);
        }
        for (uint32_t i = at_slot > WINDOW ? at_slot - WINDOW : 0; i < at_slot; i++) {
            ask_about(&slots[i], TEST);
        }
        if (at_slot >= WINDOW) {
            settle(&slots[at_slot - WINDOW]);
        }
    }
    for (uint32_t i = 0; i < at_slot; i++) {
        settle(&slots[i]);
    }
    atomic32_store_release(&over, 1);
    for (uint32_t i = 0; i < CROWD; i++) {
        join(OTHER + i, 0);
    }
    for (uint32_t i = 0; i < at_slot; i++) {
        uint32_t collected = atomic32_load_relaxed(&slots[i].collected);
        assert_int_equal(collected + atomic32_load_relaxed(&slots[i].canceled), 1);
        if (collected) {
            assert_int_equal(slots[i].number, next++);
        } else {
            assert_int_equal(slots[i].number, 0);
        }
    }
    assert_true(next > 1);
    for (; next <= sent; next++) {
        expect_number(at, next);
    }
}

#define LIVES 3

/* What was asked for in former lives of the process in the system: when its last node had left. */
static void
node_comes_again(void **state)
{
    mcapi_request_t asked_for[LIVES];
    unsigned number;
    for (int life = 0; life < LIVES; life++) {
        exchange_end();
        (void)node_up(state);
        system_anew(state);
        (void)node_down(state);
        exchange_begin(NODE);
        asked_for[life] = receive_message(endpoint_make(TO), &number);
        for (int former = 0; former < life; former++) {
            expect_no_end(asked_for[former], MCAPI_ERR_REQUEST_INVALID);
            assert_int_equal(cancel(asked_for[former]), MCAPI_ERR_REQUEST_INVALID);
        }
        expect_no_end(asked_for[life], MCAPI_PENDING);
    }
}

/* It stays a node of MRAPI: what it asked for here goes, in whatever state, and its other requests
 * stay. */
static void
node_leaves_and_stays(void **state)
{
    static unsigned char far[8], near[8];
    mrapi_status_t rmem_status;
    mcapi_status_t status;
    mcapi_request_t under_way, connected, canceled;
    mrapi_request_t others;
    size_t size;
    unsigned number;
    exchange_end();
    (void)node_up(state);
    mrapi_rmem_hndl_t rmem =
        mrapi_rmem_create(1, far, MRAPI_RMEM_DEFAULT, NULL, sizeof far, &rmem_status);
    mrapi_rmem_attach(rmem, MRAPI_RMEM_DEFAULT, &rmem_status);
    mrapi_rmem_read_i(rmem, 0, near, 0, 8, 1, 8, 8, &others, &rmem_status);
    assert_int_equal(rmem_status, MRAPI_SUCCESS);
    for (int life = 0; life < TEST_REQUESTS * 2; life++) {
        exchange_begin(NODE);
        mcapi_endpoint_t at = endpoint_make(FROM);
        under_way = receive_message(at, &number);
        canceled = receive_message(at, &number);
        assert_int_equal(cancel(canceled), MCAPI_SUCCESS);
        mcapi_pktchan_connect_i(at, endpoint_make(TO), &connected, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        exchange_end();
        exchange_begin(NODE);
        expect_no_end(under_way, MCAPI_ERR_REQUEST_INVALID);
        expect_no_end(connected, MCAPI_ERR_REQUEST_INVALID);
        exchange_end();
    }
    assert_int_equal(mrapi_test(&others, &size, &rmem_status), MRAPI_TRUE);
    assert_int_equal(rmem_status, MRAPI_SUCCESS);
    mrapi_rmem_detach(rmem, &rmem_status);
    mrapi_rmem_delete(rmem, &rmem_status);
    (void)node_down(state);
    exchange_begin(NODE);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lookup, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(message_to_receive, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(only_one_to_receive, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(message_to_send, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(messages_to_nobody, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(packet_to_receive, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(packet_to_send, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(open, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(connect_and_close, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(node_comes_again, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(node_leaves_and_stays, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(places_come_back, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(places_come_back_of_each_kind, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(one_outcome_each, exchange_up, exchange_down),
    };
    setenv("MEDLEY_MAX_NODES", "32", 1);
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("mcapi/api_request", tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
