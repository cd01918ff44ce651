/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Killed while it publishes or while it receives what was published, at any moment. Each subscriber
 * gets what was published, in order and all of it; the death of one is nobody else's affair; and
 * all lanes and buffers come back.
 */
#include "exchange_victim.h"
#include "medley/mcapi_ext.h"

#define TOPIC_PORT 1
#define SUBSCRIBERS 2u
#define ROOM 4u

/* ---- Who is killed --------------------------------------------------------------------------- */

/* Begins when the tester has subscribed. */
static int
publishes(test_process *parent, void *argument)
{
    mcapi_status_t status;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t topic = victim_endpoint_make();
    process_say(parent, 'r');
    child_expect(process_hear(parent) == 's');
    for (uint32_t i = 1;; i++) {
        mcapi_uint_t reached = medley_mcapi_topic_publish(topic, &i, sizeof i, &status);
        child_expect(status == MCAPI_SUCCESS && reached == SUBSCRIBERS);
        victim_note(i);
    }
}

/* Subscribes again and again, and receives some each time. */
static int
receives_published(test_process *parent, void *argument)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned receiver;
    size_t size;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t topic = victim_other_endpoint();
    process_say(parent, 'r');
    for (mcapi_port_t port = 0;; port++) {
        mcapi_endpoint_t at = mcapi_endpoint_create(port, &status);
        child_expect(status == MCAPI_SUCCESS);
        medley_mcapi_topic_subscribe(topic, at, &receiver, &status);
        child_expect(status == MCAPI_SUCCESS);
        for (uint32_t i = 0, last = 0; i < 10; i++) {
            void *packet;
            mcapi_pktchan_recv(receiver, &packet, &size, &status);
            child_expect(status == MCAPI_SUCCESS && *(uint32_t *)packet > last);
            last = *(uint32_t *)packet;
            mcapi_pktchan_release(packet, &status);
        }
        mcapi_pktchan_recv_close_i(receiver, &request, &status);
        victim_expect_end(&request);
        mcapi_endpoint_delete(at, &status);
        child_expect(status == MCAPI_SUCCESS);
    }
}

/* The same, but does not wait for who has no room. */
static int
publishes_and_loses(test_process *parent, void *argument)
{
    mcapi_status_t status;
    mcapi_uint_t fail = MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t topic = victim_endpoint_make();
    mcapi_endpoint_set_attribute(topic, MCAPI_ENDP_ATTR_MEMORY_TYPE, &fail, sizeof fail, &status);
    child_expect(status == MCAPI_SUCCESS);
    process_say(parent, 'r');
    child_expect(process_hear(parent) == 's');
    for (uint32_t i = 1;; i++) {
        (void)medley_mcapi_topic_publish(topic, &i, sizeof i, &status);
        child_expect(status == MCAPI_SUCCESS);
        victim_note(i);
    }
}

/* Receives nothing, and dies when it has no room left. */
static int
dies_when_full(test_process *parent, void *argument)
{
    mcapi_status_t status;
    mcapi_uint_t room = ROOM;
    unsigned receiver;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t at = victim_endpoint_make();
    mcapi_endpoint_set_attribute(at, MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, &room, sizeof room, &status);
    medley_mcapi_topic_subscribe(victim_other_endpoint(), at, &receiver, &status);
    child_expect(status == MCAPI_SUCCESS);
    process_say(parent, 'r');
    while (mcapi_pktchan_available(receiver, &status) < ROOM) {
        child_expect(status == MCAPI_SUCCESS);
    }
    (void)raise(SIGKILL);
    return 0;
}

/* ---- The tests ------------------------------------------------------------------------------- */

/* The next number, or 0: there will be none. */
static uint32_t
next_of(unsigned receiver)
{
    mcapi_status_t status;
    void *packet;
    size_t size;
    mcapi_pktchan_recv(receiver, &packet, &size, &status);
    if (status != MCAPI_SUCCESS) {
        assert_int_equal(status, MCAPI_ERR_ENDP_DELETED);
        return 0;
    }
    uint32_t number = *(uint32_t *)packet;
    mcapi_pktchan_release(packet, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    return number;
}

/* Each gets all that was accepted, and at most one more that was not noted. */
static void
publishers_die(void **state)
{
    mcapi_endpoint_t at[SUBSCRIBERS];
    (void)state;
    for (unsigned s = 0; s < SUBSCRIBERS; s++) {
        at[s] = endpoint_make(2 + s);
    }
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        victim v;
        unsigned receivers[SUBSCRIBERS];
        uint32_t last[SUBSCRIBERS] = {0};
        victim_start(&v, publishes);
        for (unsigned s = 0; s < SUBSCRIBERS; s++) {
            receivers[s] = subscribe(endpoint_of(PEER, TOPIC_PORT), at[s], MCAPI_SUCCESS);
        }
        process_say(&v.process, 's');
        victim_doom(&v);
        for (unsigned over = 0; over != (1u << SUBSCRIBERS) - 1;) {
            (void)victim_is_dead(&v);
            for (unsigned s = 0; s < SUBSCRIBERS; s++) {
                uint32_t number = over & 1u << s ? 0 : next_of(receivers[s]);
                over |= number ? 0 : 1u << s;
                assert_true(!number || number == last[s] + 1);
                last[s] = number ? number : last[s];
            }
        }
        uint32_t accepted = victim_end(&v);
        for (unsigned s = 0; s < SUBSCRIBERS; s++) {
            assert_in_range(last[s], accepted, accepted + 1);
            receiver_close(&of_packets, receivers[s]);
        }
    }
    expect_all_back();
}

/* What each got and what he lost is all that was accepted, and at most one more. */
static void
losing_publishers_die(void **state)
{
    mcapi_status_t status;
    mcapi_endpoint_t at[SUBSCRIBERS];
    (void)state;
    for (unsigned s = 0; s < SUBSCRIBERS; s++) {
        at[s] = endpoint_make(2 + s);
        assert_int_equal(
            attribute_set(at[s], MCAPI_ENDP_ATTR_MEMORY_TYPE, MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT),
            MCAPI_SUCCESS);
        assert_int_equal(attribute_set(at[s], MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, ROOM << s),
                         MCAPI_SUCCESS);
    }
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        victim v;
        unsigned receivers[SUBSCRIBERS];
        uint32_t received[SUBSCRIBERS] = {0};
        victim_start(&v, publishes_and_loses);
        for (unsigned s = 0; s < SUBSCRIBERS; s++) {
            receivers[s] = subscribe(endpoint_of(PEER, TOPIC_PORT), at[s], MCAPI_SUCCESS);
        }
        process_say(&v.process, 's');
        victim_doom(&v);
        for (unsigned s = 0; s < SUBSCRIBERS; s++) {
            for (uint32_t last = 0, number; (number = next_of(receivers[s])) != 0; last = number) {
                (void)victim_is_dead(&v);
                assert_true(number > last);
                received[s]++;
            }
        }
        uint32_t accepted = victim_end(&v);
        for (unsigned s = 0; s < SUBSCRIBERS; s++) {
            uint32_t lost = medley_mcapi_topic_lost(receivers[s], &status);
            assert_int_equal(status, MCAPI_SUCCESS);
            assert_in_range(received[s] + lost, accepted, accepted + 1);
            receiver_close(&of_packets, receivers[s]);
        }
    }
    expect_all_back();
}

/* Who publishes waits for room of one who dies; then nobody but him has missed anything. */
static void
full_subscribers_die(void **state)
{
    mcapi_status_t status;
    (void)state;
    mcapi_endpoint_t topic = endpoint_make(TOPIC_PORT), at = endpoint_make(2);
    unsigned receiver = subscribe(topic, at, MCAPI_SUCCESS);
    uint32_t number = 0;
    timeout_set(topic, STUCK_AFTER_US);
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        victim v;
        victim_start(&v, dies_when_full);
        for (uint32_t i = 0; i < ROOM + 2; i++) {
            number++;
            mcapi_uint_t reached =
                medley_mcapi_topic_publish(topic, &number, sizeof number, &status);
            assert_int_equal(status, MCAPI_SUCCESS);
            assert_int_equal(reached, i < ROOM ? 2 : 1);
            assert_int_equal(next_of(receiver), number);
        }
        victim_kill(&v);
        (void)victim_end(&v);
    }
    receiver_close(&of_packets, receiver);
    (void)medley_mcapi_topic_publish(topic, &number, sizeof number, &status);
    endpoint_delete(topic);
    expect_all_back();
}

/* Who lives gets all. */
static void
subscribers_die(void **state)
{
    mcapi_status_t status;
    (void)state;
    mcapi_endpoint_t topic = endpoint_make(TOPIC_PORT), at = endpoint_make(2);
    unsigned receiver = subscribe(topic, at, MCAPI_SUCCESS);
    uint32_t number = 0;
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        victim v;
        victim_start(&v, receives_published);
        victim_doom(&v);
        for (mcapi_uint_t reached = 0; !v.dead || reached != 1;) {
            (void)victim_is_dead(&v);
            number++;
            reached = medley_mcapi_topic_publish(topic, &number, sizeof number, &status);
            assert_int_equal(status, MCAPI_SUCCESS);
            assert_int_equal(next_of(receiver), number);
        }
        (void)victim_end(&v);
    }
    receiver_close(&of_packets, receiver);
    (void)medley_mcapi_topic_publish(topic, &number, sizeof number, &status);
    endpoint_delete(topic);
    expect_all_back();
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(publishers_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(losing_publishers_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(subscribers_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(full_subscribers_die, exchange_up, exchange_down),
    };
    return victims_run(argc, argv, tests);
}
