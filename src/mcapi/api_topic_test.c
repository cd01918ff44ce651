/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Conformance of topics, through the public calls. Run in a private system and in a named one. */
#include <stdlib.h>

#include "mcapi/endpoint.h"
#include "medley/mcapi_ext.h"
#include "mrapi/system.h"
#include "support/channel.h"
#include "support/threads.h"

#define OTHER 8
#define SUBSCRIBERS 3u
#define TOPIC 1
#define LANES 6u /* that there are */
#define MAX_LANES "6"

static mcapi_uint_t
publish(mcapi_endpoint_t topic, unsigned number, mcapi_status_t expected)
{
    mcapi_status_t status;
    mcapi_uint_t reached = medley_mcapi_topic_publish(topic, &number, sizeof number, &status);
    assert_int_equal(status, expected);
    return reached;
}

static mcapi_uint_t
lost(unsigned receiver)
{
    mcapi_status_t status;
    mcapi_uint_t count = medley_mcapi_topic_lost(receiver, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    return count;
}

/* The next number; or 0, and why there is none. */
static unsigned
receive(unsigned receiver, mcapi_status_t expected)
{
    mcapi_status_t status;
    void *buffer;
    size_t size;
    mcapi_pktchan_recv(receiver, &buffer, &size, &status);
    assert_int_equal(status, expected);
    if (status != MCAPI_SUCCESS) {
        return 0;
    }
    assert_int_equal(size, sizeof(unsigned));
    unsigned number = *(unsigned *)buffer;
    mcapi_pktchan_release(buffer, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    return number;
}

/* ---- One thread ------------------------------------------------------------------------------ */

static void
all_get_all(void **state)
{
    unsigned receivers[SUBSCRIBERS];
    (void)state;
    mcapi_endpoint_t topic = endpoint_make(TOPIC);
    assert_int_equal(publish(topic, 1, MCAPI_SUCCESS), 0);
    for (unsigned i = 0; i < SUBSCRIBERS; i++) {
        receivers[i] = subscribe(topic, endpoint_make(10 + i), MCAPI_SUCCESS);
        assert_int_equal(publish(topic, 100 + i, MCAPI_SUCCESS), i + 1);
    }
    for (unsigned i = 0; i < SUBSCRIBERS; i++) {
        for (unsigned k = i; k < SUBSCRIBERS; k++) {
            assert_int_equal(receive(receivers[i], MCAPI_SUCCESS), 100 + k);
        }
        assert_int_equal(lost(receivers[i]), 0);
    }
    receiver_close(&of_packets, receivers[1]);
    assert_int_equal(publish(topic, 7, MCAPI_SUCCESS), SUBSCRIBERS - 1);
    assert_int_equal(receive(receivers[0], MCAPI_SUCCESS), 7);
    endpoint_delete(topic);
    assert_int_equal(receive(receivers[2], MCAPI_SUCCESS), 7);
    assert_int_equal(receive(receivers[2], MCAPI_ERR_ENDP_DELETED), 0);
    assert_int_equal(receive(receivers[0], MCAPI_ERR_ENDP_DELETED), 0);
}

/* Subscribers come and go without end, though nothing is published for long; an endpoint that was
 * published to may be the same topic's again once that has published. */
static void
come_and_go(void **state)
{
    (void)state;
    mcapi_endpoint_t topic = endpoint_make(TOPIC), at = endpoint_make(10);
    for (unsigned i = 0; i < 1000; i++) {
        unsigned receiver = subscribe(topic, at, MCAPI_SUCCESS);
        bool publishes = i % (3 * LANES) == 0;
        if (publishes) {
            assert_int_equal(publish(topic, i, MCAPI_SUCCESS), 1);
        }
        receiver_close(&of_packets, receiver);
        if (publishes) {
            (void)subscribe(topic, at, MCAPI_ERR_CHAN_CONNECTED);
            assert_int_equal(publish(topic, i, MCAPI_SUCCESS), 0);
        }
        endpoint_delete(at);
        at = endpoint_make(10);
    }
    med_pool_statistics statistics;
    med_pool_statistics_get(&med_self_get()->exchange->exchange->pool, &statistics);
    assert_int_equal(statistics.in_use, 0);
}

/* Of a subscriber without room what comes then is lost to him, and to nobody else. */
static void
loss_is_counted(void **state)
{
    (void)state;
    mcapi_endpoint_t topic = endpoint_make(TOPIC), slow = endpoint_make(10),
                     fast = endpoint_make(11);
    const mcapi_endpoint_t all[] = {topic, slow, fast};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(
            attribute_set(all[i], MCAPI_ENDP_ATTR_MEMORY_TYPE, MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT),
            MCAPI_SUCCESS);
    }
    assert_int_equal(attribute_set(slow, MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, 4), MCAPI_SUCCESS);
    unsigned from_slow = subscribe(topic, slow, MCAPI_SUCCESS);
    unsigned from_fast = subscribe(topic, fast, MCAPI_SUCCESS);
    unsigned reached = 0;
    for (unsigned i = 1; i <= 100; i++) {
        reached += publish(topic, i, MCAPI_SUCCESS);
        assert_int_equal(receive(from_fast, MCAPI_SUCCESS), i);
    }
    assert_int_equal(reached, 104);
    for (unsigned i = 1; i <= 4; i++) {
        assert_int_equal(receive(from_slow, MCAPI_SUCCESS), i);
    }
    assert_int_equal(lost(from_slow), 96);
    assert_int_equal(lost(from_fast), 0);
    assert_int_equal(publish(topic, 101, MCAPI_SUCCESS), 2);
    assert_int_equal(receive(from_slow, MCAPI_SUCCESS), 101);
}

/* It waits; then it is lost to who had no room, and nobody gets it twice. */
static void
waits_for_room(void **state)
{
    (void)state;
    mcapi_endpoint_t topic = endpoint_make(TOPIC), slow = endpoint_make(10),
                     fast = endpoint_make(11);
    timeout_set(topic, 1000);
    assert_int_equal(attribute_set(slow, MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, 2), MCAPI_SUCCESS);
    unsigned from_slow = subscribe(topic, slow, MCAPI_SUCCESS);
    unsigned from_fast = subscribe(topic, fast, MCAPI_SUCCESS);
    for (unsigned i = 1; i <= 4; i++) {
        assert_int_equal(publish(topic, i, i <= 2 ? MCAPI_SUCCESS : MCAPI_TIMEOUT), i <= 2 ? 2 : 1);
    }
    assert_int_equal(lost(from_slow), 2);
    assert_int_equal(receive(from_slow, MCAPI_SUCCESS), 1);
    assert_int_equal(publish(topic, 5, MCAPI_SUCCESS), 2);
    assert_int_equal(receive(from_slow, MCAPI_SUCCESS), 2);
    assert_int_equal(receive(from_slow, MCAPI_SUCCESS), 5);
    for (unsigned i = 1; i <= 5; i++) {
        assert_int_equal(receive(from_fast, MCAPI_SUCCESS), i);
    }
}

static mcapi_endpoint_t
state_endpoint_make(mcapi_port_t port)
{
    mcapi_endpoint_t endpoint = endpoint_make(port);
    assert_int_equal(attribute_set(endpoint, MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, 64), MCAPI_SUCCESS);
    assert_int_equal(
        attribute_set(endpoint, MCAPI_ENDP_ATTR_BUFFER_TYPE, MCAPI_ENDP_ATTR_STATE_BUFFER),
        MCAPI_SUCCESS);
    return endpoint;
}

static void
states_have_many_readers(void **state)
{
    mcapi_status_t status;
    unsigned receivers[SUBSCRIBERS], value;
    size_t size;
    (void)state;
    mcapi_endpoint_t topic = state_endpoint_make(TOPIC);
    for (unsigned i = 0; i < SUBSCRIBERS; i++) {
        receivers[i] = subscribe(topic, state_endpoint_make(10 + i), MCAPI_SUCCESS);
    }
    for (unsigned i = 1; i <= 1000; i++) {
        assert_int_equal(publish(topic, i, MCAPI_SUCCESS), SUBSCRIBERS);
    }
    for (unsigned i = 0; i < SUBSCRIBERS; i++) {
        for (unsigned again = 0; again < 2; again++) {
            medley_mcapi_state_recv(receivers[i], &value, sizeof value, &size, &status);
            assert_int_equal(status, MCAPI_SUCCESS);
            assert_int_equal(value, 1000);
        }
        assert_int_equal(lost(receivers[i]), 0);
    }
}

static void
wrong_arguments(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned handle, number = 0;
    (void)state;
    mcapi_endpoint_t topic = endpoint_make(TOPIC), at = endpoint_make(10),
                     third = endpoint_make(11);
    medley_mcapi_topic_subscribe(topic, at, NULL, &status);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    medley_mcapi_topic_subscribe(topic, at, &handle, NULL);
    (void)subscribe(topic + 0x10000, at, MCAPI_ERR_ENDP_INVALID);
    (void)subscribe(0, at, MCAPI_ERR_ENDP_INVALID);
    (void)subscribe(topic, 0, MCAPI_ERR_ENDP_INVALID);
    assert_int_equal(attribute_set(third, MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, 8), MCAPI_SUCCESS);
    (void)subscribe(topic, third, MCAPI_ERR_ATTR_INCOMPATIBLE);
    mcapi_pktchan_recv_open_i(&handle, third, &request, &status);
    (void)subscribe(topic, third, MCAPI_ERR_CHAN_OPENPENDING);
    unsigned receiver = subscribe(topic, at, MCAPI_SUCCESS);
    (void)subscribe(topic, at, MCAPI_ERR_CHAN_CONNECTED);
    (void)subscribe(third, at, MCAPI_ERR_ATTR_INCOMPATIBLE);
    mcapi_pktchan_connect_i(topic, at, &request, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_CONNECTED);
    mcapi_endpoint_delete(at, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_CONNECTED);
    assert_int_equal(medley_mcapi_topic_publish(topic, NULL, 1, &status), 0);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    assert_int_equal(medley_mcapi_topic_publish(topic, &number, 4, NULL), 0);
    assert_int_equal(medley_mcapi_topic_publish(topic, &number, SIZE_MAX, &status), 0);
    assert_int_equal(status, MCAPI_ERR_PKT_SIZE);
    (void)publish(0, 1, MCAPI_ERR_ENDP_INVALID);
    (void)publish(receiver, 1, MCAPI_ERR_ENDP_INVALID);
    assert_int_equal(publish(at, 1, MCAPI_SUCCESS), 0);
    assert_int_equal(medley_mcapi_topic_publish(topic, NULL, 0, &status), 1);
    assert_int_equal(status, MCAPI_SUCCESS);
    (void)medley_mcapi_topic_lost(receiver, NULL);
    (void)medley_mcapi_topic_lost(topic, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    receiver_close(&of_packets, receiver);
    (void)medley_mcapi_topic_lost(receiver, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    /* A channel of two is no topic's. */
    mcapi_endpoint_t from = endpoint_make(12), to = endpoint_make(13);
    connect(&of_packets, from, to, MCAPI_SUCCESS);
    handle = receiver_open(&of_packets, to);
    (void)medley_mcapi_topic_lost(handle, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_TYPE);
}

/* No lane is left: nothing has changed by it, and when one is given back he may subscribe. */
static void
no_lane_left(void **state)
{
    unsigned receivers[LANES];
    (void)state;
    mcapi_endpoint_t topic = endpoint_make(TOPIC), late = endpoint_make(9);
    for (unsigned i = 0; i < LANES; i++) {
        receivers[i] = subscribe(topic, endpoint_make(10 + i), MCAPI_SUCCESS);
    }
    (void)subscribe(topic, late, MCAPI_ERR_MEM_LIMIT);
    assert_int_equal(publish(topic, 1, MCAPI_SUCCESS), LANES);
    receiver_close(&of_packets, receivers[3]);
    assert_int_equal(publish(topic, 2, MCAPI_SUCCESS), LANES - 1);
    unsigned receiver = subscribe(topic, late, MCAPI_SUCCESS);
    assert_int_equal(publish(topic, 3, MCAPI_SUCCESS), LANES);
    assert_int_equal(receive(receiver, MCAPI_SUCCESS), 3);
    /* One that was published to, and nothing since. */
    receiver_close(&of_packets, receivers[4]);
    receivers[4] = subscribe(topic, endpoint_make(8), MCAPI_SUCCESS);
    assert_int_equal(publish(topic, 4, MCAPI_SUCCESS), LANES);
    assert_int_equal(receive(receivers[4], MCAPI_SUCCESS), 4);
}

/* Whose topic it is was written over: there is nobody to wake, so nothing can come. */
static void
publisher_is_nobody(void **state)
{
    (void)state;
    mcapi_endpoint_t topic = endpoint_make(TOPIC), at = endpoint_make(10);
    const med_system *system = med_self_get()->system;
    atomic32 *owner = &med_endpoint_at(system, med_handle_index(topic))->row.key_high;
    uint32_t before = atomic32_load_relaxed(owner);
    atomic32_store_relaxed(owner, UINT32_MAX);
    (void)subscribe(topic, at, MCAPI_ERR_TRANSMISSION);
    atomic32_store_relaxed(owner, before);
    /* It is connected to nothing. */
    assert_int_equal(attribute_set(at, MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, 4), MCAPI_SUCCESS);
    assert_int_equal(publish(topic, 1, MCAPI_SUCCESS), 0); /* which leaves what was made of it */
    unsigned receiver = subscribe(topic, at, MCAPI_SUCCESS);
    assert_int_equal(publish(topic, 2, MCAPI_SUCCESS), 1);
    assert_int_equal(receive(receiver, MCAPI_SUCCESS), 2);
}

/* ---- Between threads ------------------------------------------------------------------------- */

#define MANY 20000u

static void *
publishes_many(void *argument)
{
    (void)argument;
    exchange_begin(OTHER);
    mcapi_endpoint_t topic = endpoint_make(TOPIC);
    expect_number(endpoint_make(2), SUBSCRIBERS);
    for (unsigned i = 1; i <= MANY; i++) {
        assert_int_equal(publish(topic, i, MCAPI_SUCCESS), SUBSCRIBERS);
    }
    exchange_end();
    return NULL;
}

/* Small queues, so that it waits for all of them in turn. */
static void
across(void **state)
{
    unsigned receivers[SUBSCRIBERS];
    (void)state;
    start(OTHER, publishes_many);
    mcapi_endpoint_t topic = endpoint_of(OTHER, TOPIC), tell = endpoint_make(1);
    for (unsigned i = 0; i < SUBSCRIBERS; i++) {
        mcapi_endpoint_t at = endpoint_make(10 + i);
        assert_int_equal(attribute_set(at, MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, 1u << i),
                         MCAPI_SUCCESS);
        receivers[i] = subscribe(topic, at, MCAPI_SUCCESS);
    }
    assert_int_equal(send_number(tell, endpoint_of(OTHER, 2), SUBSCRIBERS, 0), MCAPI_SUCCESS);
    for (unsigned number = 1; number <= MANY; number++) {
        for (unsigned i = 0; i < SUBSCRIBERS; i++) {
            assert_int_equal(receive(receivers[i], MCAPI_SUCCESS), number);
        }
    }
    for (unsigned i = 0; i < SUBSCRIBERS; i++) {
        assert_int_equal(receive(receivers[i], MCAPI_ERR_ENDP_DELETED), 0);
        assert_int_equal(lost(receivers[i]), 0);
    }
    join(OTHER, 0);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_get_all, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(come_and_go, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(loss_is_counted, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(waits_for_room, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(states_have_many_readers, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(wrong_arguments, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(no_lane_left, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(publisher_is_nobody, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(across, exchange_up, exchange_down),
    };
    setenv("MEDLEY_MAX_LANES", MAX_LANES, 1);
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
