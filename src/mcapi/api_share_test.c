/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Receivers that do not receive: what they have waiting for them leaves others their share of the
 * buffers. Run in a private system and in a named one. */
#include "mcapi/channel.h"
#include "support/channel.h"

#define STUCK_MAX 16u
#define LANES_MOST 10000u
#define LONG_BYTES 4000u
#define SHORT_BYTES 200u

static uint32_t
buffers(void)
{
    return med_self_get()->exchange->exchange->pool.slots.capacity;
}

static channel
channel_make(mcapi_port_t port)
{
    mcapi_endpoint_t from = endpoint_make(port);
    timeout_set(from, 0);
    return channel_between(&of_packets, from, endpoint_make(port + 1));
}

static med_lane_own *
lane_of(const channel *c)
{
    return med_channel_sender(med_self_get(), c->sender);
}

static mcapi_status_t
send_packet(const channel *c)
{
    mcapi_status_t status;
    mcapi_pktchan_send(c->sender, "", 1, &status);
    return status;
}

/* In a buffer that is the caller's already, and stays his if it cannot be sent. */
static mcapi_status_t
send_taken(const channel *c)
{
    mcapi_status_t status, released;
    void *buffer = medley_mcapi_pktchan_take(c->sender, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    medley_mcapi_pktchan_send_taken(c->sender, buffer, 1, &status);
    if (status != MCAPI_SUCCESS) {
        mcapi_pktchan_release(buffer, &released);
        assert_int_equal(released, MCAPI_SUCCESS);
    }
    return status;
}

/* Until there is no room for more. How many. */
static uint32_t
fill_by(const channel *c, mcapi_status_t (*send)(const channel *))
{
    uint32_t count = 0;
    mcapi_status_t status;
    while ((status = send(c)) == MCAPI_SUCCESS) {
        count++;
    }
    assert_int_equal(status, MCAPI_TIMEOUT);
    return count;
}

static uint32_t
fill(const channel *c)
{
    return fill_by(c, send_packet);
}

static void
drain(const channel *c, uint32_t count)
{
    mcapi_status_t status;
    void *packet;
    size_t size;
    for (uint32_t i = 0; i < count; i++) {
        mcapi_pktchan_recv(c->receiver, &packet, &size, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        mcapi_pktchan_release(packet, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
    }
}

static mcapi_status_t
send_long(mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    static const char text[LONG_BYTES];
    mcapi_status_t status;
    mcapi_msg_send(from, to, text, sizeof text, 0, &status);
    return status;
}

static void
receive_long(mcapi_endpoint_t at)
{
    static char text[LONG_BYTES];
    mcapi_status_t status;
    size_t size;
    mcapi_msg_recv(at, text, sizeof text, &size, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(size, sizeof text);
}

/* A large part is one channel's, if it is alone, and again, when it was received; the rest is the
 * others', and long messages'. */
static void
one_is_stuck(void **state)
{
    (void)state;
    channel stuck = channel_make(1), other = channel_make(3);
    mcapi_endpoint_t from = endpoint_make(5), to = endpoint_make(6);
    timeout_set(from, 0);
    for (unsigned round = 0; round < 3; round++) {
        uint32_t many = fill(&stuck);
        assert_in_range(many, 7 * buffers() / 16 - 4, 7 * buffers() / 16 + 4);
        for (unsigned i = 0; i < 1000; i++) {
            assert_int_equal(send_packet(&other), MCAPI_SUCCESS);
            assert_int_equal(send_long(from, to), MCAPI_SUCCESS);
            drain(&other, 1);
            receive_long(to);
        }
        uint32_t more = fill(&other);
        assert_in_range(more, buffers() / 6, buffers() / 3);
        drain(&other, more);
        drain(&stuck, many);
    }
    channel_end(&of_packets, &stuck);
    channel_end(&of_packets, &other);
}

/* Each has fewer than those before; another still gets some. */
static void
many_are_stuck(void **state)
{
    channel stuck[STUCK_MAX];
    uint32_t all = 0;
    (void)state;
    for (unsigned i = 0; i < STUCK_MAX; i++) {
        stuck[i] = channel_make(10 + 2 * i);
    }
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < STUCK_MAX; i++) {
            all += fill(&stuck[i]);
        }
    }
    assert_true(all < buffers());
    channel other = channel_make(1);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(send_packet(&other), MCAPI_SUCCESS);
        drain(&other, 1);
    }
}

/* What is sent in place keeps to it, too. */
static void
taken_buffers_are_stuck(void **state)
{
    (void)state;
    channel stuck = channel_make(1), other = channel_make(3);
    uint32_t many = fill_by(&stuck, send_taken);
    assert_in_range(many, 7 * buffers() / 16 - 4, 7 * buffers() / 16 + 4);
    assert_in_range(fill_by(&other, send_taken), buffers() / 6, buffers() / 3);
}

/* What an earlier channel was promised, in whose place it is, is not another's. */
static void
a_new_lane_has_no_share_yet(void **state)
{
    (void)state;
    channel first = channel_make(1);
    const med_lane_own *place = lane_of(&first);
    uint32_t many = fill(&first);
    drain(&first, many);
    channel_end(&of_packets, &first);
    channel again = channel_make(1);
    for (unsigned i = 0; i < LANES_MOST && lane_of(&again) != place; i++) {
        channel_end(&of_packets, &again);
        again = channel_make(1);
    }
    assert_ptr_equal(lane_of(&again), place);
    channel stuck[STUCK_MAX];
    for (unsigned i = 0; i < STUCK_MAX; i++) {
        stuck[i] = channel_make(10 + 2 * i);
        (void)fill(&stuck[i]);
    }
    assert_in_range(fill(&again), 1, 2);
}

/* Messages that go by buffers keep to it, too; short ones are none of its. */
static void
long_messages_are_stuck(void **state)
{
    (void)state;
    channel other = channel_make(1);
    mcapi_endpoint_t from = endpoint_make(3), to = endpoint_make(4);
    uint32_t many = 0;
    timeout_set(from, 0);
    while (send_long(from, to) == MCAPI_SUCCESS) {
        many++;
    }
    assert_in_range(many, 7 * buffers() / 16 - 4, 7 * buffers() / 16 + 4);
    assert_int_equal(send_number(from, to, 1, 0), MCAPI_SUCCESS);
    uint32_t more = fill(&other);
    assert_in_range(more, buffers() / 6, buffers() / 3);
    drain(&other, more);
    for (uint32_t i = 0; i < many; i++) {
        receive_long(to);
    }
    assert_int_equal(send_long(from, to), MCAPI_SUCCESS);
}

static mcapi_status_t
send_short(mcapi_endpoint_t from, mcapi_endpoint_t to, size_t bytes)
{
    static const char text[SHORT_BYTES];
    mcapi_status_t status;
    mcapi_msg_send(from, to, text, bytes, 0, &status);
    return status;
}

static void
receive_short(mcapi_endpoint_t at, size_t bytes)
{
    static char text[SHORT_BYTES];
    mcapi_status_t status;
    size_t size;
    mcapi_msg_recv(at, text, sizeof text, &size, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(size, bytes);
}

/* Short messages have no buffers: however many wait, long ones go, as long as the ring has room;
 * with none of these waiting, and where there always are some. */
static void
short_messages_are_waiting(void **state)
{
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    timeout_set(from, 0);
    for (unsigned i = 0; i < 17; i++) {
        assert_int_equal(send_short(from, to, SHORT_BYTES), MCAPI_SUCCESS);
    }
    assert_int_equal(send_long(from, to), MCAPI_SUCCESS);
    for (unsigned round = 0; round < 1000; round++) {
        for (unsigned i = 0; i < 17; i++) {
            receive_short(to, SHORT_BYTES);
            assert_int_equal(send_short(from, to, SHORT_BYTES), MCAPI_SUCCESS);
        }
        assert_int_equal(send_long(from, to), MCAPI_SUCCESS);
        receive_long(to);
    }
}

/* Long ones behind short ones have a share as they have alone. */
static void
long_messages_are_stuck_behind_short_ones(void **state)
{
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    channel other = channel_make(3);
    uint32_t many = 0;
    timeout_set(from, 0);
    for (unsigned i = 0; i < 60; i++) {
        assert_int_equal(send_short(from, to, 1), MCAPI_SUCCESS);
    }
    while (send_long(from, to) == MCAPI_SUCCESS) {
        many++;
    }
    assert_in_range(many, 7 * buffers() / 16 - 4, 7 * buffers() / 16 + 4);
    assert_in_range(fill(&other), buffers() / 6, buffers() / 3);
}

#define SOME_TIME_US 5000000u

/* What waits for receivers that are gone comes back, and is another's share. */
static void
receivers_are_gone(void **state)
{
    mcapi_status_t status;
    (void)state;
    for (mcapi_port_t i = 0; i < 8; i++) {
        mcapi_endpoint_t from = endpoint_make(10 + i), to = endpoint_make(1);
        timeout_set(from, SOME_TIME_US);
        for (uint32_t sent = 0; sent < 3 * buffers() / 8; sent++) {
            assert_int_equal(send_long(from, to), MCAPI_SUCCESS);
        }
        mcapi_endpoint_delete(to, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
    }
}

/* ---- A lane that is full before its share is ------------------------------------------------- */

#define MANY_BUFFERS 512u
#define LANE_GRANULES (4096u / MED_LANE_GRANULE_BYTES)

/* As if its receiver were at the next one, whatever it is at. */
static void
pretend_reading(const channel *c)
{
    med_ring *ring = lane_of(c)->producer.ring.view.ring;
    atomic32_store_relaxed(&ring->consumer.reading,
                           atomic32_load_relaxed(&ring->consumer.head) + 1);
}

/* What the gone have is looked for now, however lately it was. */
static void
let_gone_be_due(void)
{
    med_self_get()->exchange->next_search_ns = 0;
}

/* It stays full when others' buffers come back. */
static void
it_is_full_though_buffers_come_back(void **state)
{
    (void)state;
    assert_int_equal(buffers(), MANY_BUFFERS);
    channel full = channel_make(1);
    channel left[4];
    const uint32_t many = LANE_GRANULES;
    uint32_t all = many;
    for (uint32_t i = 0; i < many; i++) {
        assert_int_equal(send_packet(&full), MCAPI_SUCCESS);
    }
    for (unsigned i = 0; i < 4; i++) {
        left[i] = channel_make(3 + 2 * i);
        all += fill(&left[i]);
    }
    assert_true(buffers() - all < buffers() / 8 + many); /* so it is refused for its share, too */
    pretend_reading(&full);
    for (unsigned i = 0; i < 4; i++) {
        receiver_close(&of_packets, left[i].receiver);
        endpoint_delete(left[i].to);
    }
    let_gone_be_due();
    assert_int_equal(send_packet(&full), MCAPI_TIMEOUT);
    drain(&full, many);
    let_gone_be_due();
    assert_int_equal(fill(&full), many);
}

static int
failed_with_many_buffers(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_full_though_buffers_come_back, exchange_up,
                                        exchange_down),
    };
    (void)setenv("MEDLEY_MAX_BUFFERS", "512", 1);
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_is_stuck, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(many_are_stuck, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(taken_buffers_are_stuck, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(a_new_lane_has_no_share_yet, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(long_messages_are_stuck, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(short_messages_are_waiting, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(long_messages_are_stuck_behind_short_ones, exchange_up,
                                        exchange_down),
        cmocka_unit_test_setup_teardown(receivers_are_gone, exchange_up, exchange_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    failed += medley_system_close() != MEDLEY_OK;
    return failed + failed_with_many_buffers(argc, argv);
}
