/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Conformance of packets that are filled in place, through the public calls. Run in a private
 * system and in a named one. */
#include "mcapi/exchange.h"
#include "medley/mcapi_ext.h"
#include "support/channel.h"
#include "support/threads.h"

#define OTHER 8
#define HELD_MAX 4096u

/* Both ends are the caller's. */
static channel
channel_make(mcapi_port_t port)
{
    return channel_between(&of_packets, endpoint_make(port), endpoint_make(port + 1));
}

static unsigned *
take(unsigned sender)
{
    mcapi_status_t status;
    unsigned *buffer = medley_mcapi_pktchan_take(sender, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal((uintptr_t)buffer % MCAPI_BUF_ALIGN, 0);
    return buffer;
}

static mcapi_status_t
send_taken(unsigned sender, void *buffer, size_t size)
{
    mcapi_status_t status;
    medley_mcapi_pktchan_send_taken(sender, buffer, size, &status);
    return status;
}

static unsigned *
receive(unsigned receiver)
{
    mcapi_status_t status;
    void *buffer;
    size_t size;
    mcapi_pktchan_recv(receiver, &buffer, &size, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(size, sizeof(unsigned));
    return buffer;
}

static void
release(void *buffer, mcapi_status_t expected)
{
    mcapi_status_t status;
    mcapi_pktchan_release(buffer, &status);
    assert_int_equal(status, expected);
}

static uint32_t
buffers_in_use(void)
{
    med_pool_statistics statistics;
    med_pool_statistics_get(&med_self_get()->exchange->exchange->pool, &statistics);
    return statistics.in_use;
}

/* ---- The tests ------------------------------------------------------------------------------- */

static void
expect_released(const void *buffer, bool expected)
{
    mcapi_status_t status;
    assert_int_equal(mcapi_pktchan_release_test((void *)(uintptr_t)buffer, &status),
                     expected ? MCAPI_TRUE : MCAPI_FALSE);
    assert_int_equal(status, expected ? MCAPI_SUCCESS : MCAPI_PENDING);
}

/* The very buffer arrives; and goes on as it came. */
static void
without_a_copy(void **state)
{
    (void)state;
    channel c = channel_make(1), onward = channel_make(3);
    for (unsigned i = 0; i < 1000; i++) {
        unsigned *filled = take(c.sender);
        *filled = i;
        expect_released(filled, true);
        assert_int_equal(send_taken(c.sender, filled, sizeof i), MCAPI_SUCCESS);
        expect_released(filled, false);
        assert_int_equal(send_taken(c.sender, filled, sizeof i), MCAPI_ERR_BUF_INVALID);
        release(filled, MCAPI_ERR_BUF_INVALID);
        assert_ptr_equal(receive(c.receiver), filled);
        expect_released(filled, false); /* the caller has it, but as its receiver */
        assert_int_equal(send_taken(onward.sender, filled, sizeof i), MCAPI_SUCCESS);
        assert_ptr_equal(receive(onward.receiver), filled);
        assert_int_equal(*filled, i);
        expect_released(filled, false);
        release(filled, MCAPI_SUCCESS);
        expect_released(filled, true);
        release(filled, MCAPI_ERR_BUF_INVALID);
    }
    assert_int_equal(buffers_in_use(), 0);
}

static void
given_back_unsent(void **state)
{
    (void)state;
    channel c = channel_make(1);
    for (unsigned i = 0; i < 1000; i++) {
        unsigned *buffer = take(c.sender);
        release(buffer, MCAPI_SUCCESS);
        assert_int_equal(send_taken(c.sender, buffer, sizeof i), MCAPI_ERR_BUF_INVALID);
    }
    assert_int_equal(buffers_in_use(), 0);
}

static void
wrong_arguments(void **state)
{
    mcapi_status_t status;
    (void)state;
    channel c = channel_make(1);
    unsigned *buffer = take(c.sender);
    unsigned none = 0;
    mcapi_uint_t most = 0;
    mcapi_endpoint_get_attribute(c.from, MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, &most, sizeof most,
                                 &status);
    assert_null(medley_mcapi_pktchan_take(c.receiver, &status));
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    assert_null(medley_mcapi_pktchan_take(c.sender, NULL));
    medley_mcapi_pktchan_send_taken(c.sender, buffer, 4, NULL);
    assert_int_equal(send_taken(c.sender, NULL, 4), MCAPI_ERR_PARAMETER);
    assert_int_equal(send_taken(c.sender, &none, 4), MCAPI_ERR_BUF_INVALID);
    assert_int_equal(send_taken(c.sender, buffer + 1, 4), MCAPI_ERR_BUF_INVALID);
    assert_int_equal(send_taken(c.receiver, buffer, 4), MCAPI_ERR_CHAN_INVALID);
    assert_int_equal(send_taken(c.sender, buffer, most + 1), MCAPI_ERR_PKT_SIZE);
    assert_int_equal(send_taken(c.sender, buffer, sizeof none), MCAPI_SUCCESS);
    release(receive(c.receiver), MCAPI_SUCCESS);
}

/* When all are taken a further one is waited for, in vain, or not at all. */
static void
all_taken(void **state)
{
    static void *held[HELD_MAX];
    mcapi_status_t status;
    (void)state;
    for (int may_wait = 0; may_wait < 2; may_wait++) {
        mcapi_uint_t type = may_wait ? 0 : MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT;
        mcapi_endpoint_t ends[] = {endpoint_make(1), endpoint_make(2)};
        for (int i = 0; i < 2; i++) {
            timeout_set(ends[i], 2000);
            mcapi_endpoint_set_attribute(ends[i], MCAPI_ENDP_ATTR_MEMORY_TYPE, &type, sizeof type,
                                         &status);
            assert_int_equal(status, MCAPI_SUCCESS);
        }
        connect(&of_packets, ends[0], ends[1], MCAPI_SUCCESS);
        unsigned sender = sender_open(&of_packets, ends[0]);
        unsigned receiver = receiver_open(&of_packets, ends[1]);
        uint32_t count = 0;
        while (count < HELD_MAX && (held[count] = medley_mcapi_pktchan_take(sender, &status))) {
            count++;
        }
        assert_int_equal(status, may_wait ? MCAPI_TIMEOUT : MCAPI_ERR_MEM_LIMIT);
        assert_int_equal(count, med_self_get()->system->limits.buffers);
        release(held[--count], MCAPI_SUCCESS);
        held[count] = take(sender);
        count++;
        while (count) {
            release(held[--count], MCAPI_SUCCESS);
        }
        sender_close(&of_packets, sender);
        receiver_close(&of_packets, receiver);
        mcapi_endpoint_delete(ends[0], &status);
        mcapi_endpoint_delete(ends[1], &status);
    }
    assert_int_equal(buffers_in_use(), 0);
}

/* Two places, and what finds none waits, in vain; it stays the sender's. */
static void
no_room(void **state)
{
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    timeout_set(from, 2000);
    assert_int_equal(attribute_set(to, MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, 2), MCAPI_SUCCESS);
    channel c = channel_between(&of_packets, from, to);
    unsigned *buffers[3];
    for (unsigned i = 0; i < 3; i++) {
        buffers[i] = take(c.sender);
        *buffers[i] = i;
        assert_int_equal(send_taken(c.sender, buffers[i], sizeof i),
                         i < 2 ? MCAPI_SUCCESS : MCAPI_TIMEOUT);
    }
    expect_released(buffers[2], true);
    release(receive(c.receiver), MCAPI_SUCCESS);
    assert_int_equal(send_taken(c.sender, buffers[2], sizeof *buffers[2]), MCAPI_SUCCESS);
    for (unsigned i = 1; i < 3; i++) {
        unsigned *packet = receive(c.receiver);
        assert_ptr_equal(packet, buffers[i]);
        assert_int_equal(*packet, i);
        release(packet, MCAPI_SUCCESS);
    }
    assert_int_equal(buffers_in_use(), 0);
}

/* It does not overtake what was to be sent before, and waits for a buffer. */
static void
behind_what_waits(void **state)
{
    static unsigned *held[HELD_MAX];
    const unsigned first = 1, second = 2;
    uint32_t count = med_self_get()->system->limits.buffers;
    mcapi_status_t status;
    mcapi_request_t request;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1);
    timeout_set(from, 2000);
    channel c = channel_between(&of_packets, from, endpoint_make(2));
    assert_in_range(count, 8, HELD_MAX);
    for (uint32_t i = 0; i < count; i++) {
        held[i] = take(c.sender);
    }
    mcapi_pktchan_send_i(c.sender, &first, sizeof first, &request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    *held[0] = second;
    assert_int_equal(send_taken(c.sender, held[0], sizeof second), MCAPI_TIMEOUT);
    assert_int_equal(mcapi_pktchan_available(c.receiver, &status), 0);
    for (uint32_t i = 1; i < count / 2; i++) {
        release(held[i], MCAPI_SUCCESS);
    }
    assert_int_equal(send_taken(c.sender, held[0], sizeof second), MCAPI_SUCCESS);
    assert_int_equal(expect_end(request, MCAPI_SUCCESS), sizeof first);
    for (unsigned i = first; i <= second; i++) {
        unsigned *packet = receive(c.receiver);
        assert_int_equal(*packet, i);
        release(packet, MCAPI_SUCCESS);
    }
    for (uint32_t i = count / 2; i < count; i++) {
        release(held[i], MCAPI_SUCCESS);
    }
    assert_int_equal(buffers_in_use(), 0);
}

/* What could not be sent stays the sender's. */
static void
receiver_gone(void **state)
{
    (void)state;
    channel c = channel_make(1);
    unsigned *buffer = take(c.sender);
    receiver_close(&of_packets, c.receiver);
    assert_int_equal(send_taken(c.sender, buffer, 4), MCAPI_ERR_TRANSMISSION);
    release(buffer, MCAPI_SUCCESS);
}

static void
as_a_state(void **state)
{
    mcapi_status_t status;
    mcapi_uint_t states = MCAPI_ENDP_ATTR_STATE_BUFFER;
    unsigned value;
    size_t size;
    (void)state;
    channel c = {.from = endpoint_make(1), .to = endpoint_make(2)};
    mcapi_endpoint_set_attribute(c.from, MCAPI_ENDP_ATTR_BUFFER_TYPE, &states, sizeof states,
                                 &status);
    mcapi_endpoint_set_attribute(c.to, MCAPI_ENDP_ATTR_BUFFER_TYPE, &states, sizeof states,
                                 &status);
    connect(&of_packets, c.from, c.to, MCAPI_SUCCESS);
    c.sender = sender_open(&of_packets, c.from);
    c.receiver = receiver_open(&of_packets, c.to);
    unsigned *buffer = take(c.sender);
    *buffer = 17;
    assert_int_equal(send_taken(c.sender, buffer, sizeof value), MCAPI_SUCCESS);
    assert_int_equal(send_taken(c.sender, buffer, sizeof value), MCAPI_ERR_BUF_INVALID);
    medley_mcapi_state_recv(c.receiver, &value, sizeof value, &size, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(value, 17);
    assert_int_equal(buffers_in_use(), 0);
}

/* ---- Another's use --------------------------------------------------------------------------- */

enum {
    IS_RECEIVED = 1,
    IS_TO_GO,
    IS_ANOTHERS,
    IS_LOOKED_AT,
    IS_SENT_ON,
    IS_OVER,
};

static void *
uses_it_again(void *argument)
{
    (void)argument;
    exchange_begin(OTHER);
    mcapi_endpoint_t to = endpoint_make(1);
    connect(&of_packets, endpoint_of(NODE, 1), to, MCAPI_SUCCESS);
    unsigned receiver = receiver_open(&of_packets, to);
    channel own = channel_make(2);
    unsigned *packet = receive(receiver);
    stage_reach(IS_RECEIVED);
    stage_await(IS_TO_GO);
    release(packet, MCAPI_SUCCESS);
    assert_ptr_equal(take(own.sender), packet);
    stage_reach(IS_ANOTHERS);
    stage_await(IS_LOOKED_AT);
    assert_int_equal(send_taken(own.sender, packet, sizeof *packet), MCAPI_SUCCESS);
    stage_reach(IS_SENT_ON);
    stage_await(IS_OVER);
    exchange_end();
    return NULL;
}

/* The receiver's next use of the buffer, or another's, is nothing to the sender. */
static void
used_again_by_another(void **state)
{
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1);
    start(OTHER, uses_it_again);
    unsigned sender = sender_open(&of_packets, from);
    unsigned *buffer = take(sender);
    assert_int_equal(send_taken(sender, buffer, sizeof *buffer), MCAPI_SUCCESS);
    stage_await(IS_RECEIVED);
    expect_released(buffer, false);
    stage_reach(IS_TO_GO);
    stage_await(IS_ANOTHERS);
    expect_released(buffer, true);
    stage_reach(IS_LOOKED_AT);
    stage_await(IS_SENT_ON);
    expect_released(buffer, true);
    stage_reach(IS_OVER);
    join(OTHER, 0);
}

/* ---- Between threads ------------------------------------------------------------------------- */

#define MANY 50000u

static void *
sends_many(void *argument)
{
    (void)argument;
    exchange_begin(OTHER);
    unsigned sender = sender_open(&of_packets, endpoint_make(1));
    for (unsigned i = 0; i < MANY; i++) {
        unsigned *buffer = take(sender);
        *buffer = i;
        assert_int_equal(send_taken(sender, buffer, sizeof i), MCAPI_SUCCESS);
    }
    exchange_end(); /* as if it had closed */
    return NULL;
}

static void
across_to(mcapi_endpoint_t to)
{
    mcapi_status_t status;
    void *buffer;
    size_t size;
    start(OTHER, sends_many);
    connect(&of_packets, endpoint_of(OTHER, 1), to, MCAPI_SUCCESS);
    unsigned receiver = receiver_open(&of_packets, to);
    for (unsigned i = 0; i < MANY; i++) {
        unsigned *packet = receive(receiver);
        assert_int_equal(*packet, i);
        release(packet, MCAPI_SUCCESS);
    }
    mcapi_pktchan_recv(receiver, &buffer, &size, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_DELETED);
    join(OTHER, 0);
    assert_int_equal(buffers_in_use(), 0);
}

static void
across(void **state)
{
    (void)state;
    across_to(endpoint_make(1));
}

/* The sender waits again and again, with a buffer that it has filled. */
static void
across_with_little_room(void **state)
{
    (void)state;
    mcapi_endpoint_t to = endpoint_make(1);
    assert_int_equal(attribute_set(to, MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, 1), MCAPI_SUCCESS);
    across_to(to);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_a_copy, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(given_back_unsent, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(wrong_arguments, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(all_taken, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(no_room, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(behind_what_waits, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(receiver_gone, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(as_a_state, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(used_again_by_another, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(across, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(across_with_little_room, exchange_up, exchange_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
