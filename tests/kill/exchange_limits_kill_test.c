/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who finds no endpoint, or no lane, gets those that the dead had, and lanes to them, whose senders
 * live and sleep. Nobody else looks whether they live.
 */
#include "exchange_victim.h"

#define ENDPOINTS_MAX 16u
#define LANES_MAX 16u
#define PRIORITIES 4u
#define RECEIVERS (LANES_MAX / PRIORITIES)
#define SENDER (PEER + 1)

/* ---- The others ------------------------------------------------------------------------------ */

/* Has all the endpoints. */
static int
takes_endpoints(test_process *parent, void *argument)
{
    mcapi_status_t status;
    (void)argument;
    victim_begin();
    for (uint32_t port = 1; port <= ENDPOINTS_MAX + 1; port++) {
        (void)mcapi_endpoint_create(port, &status);
    }
    child_expect(status == MCAPI_ERR_ENDP_LIMIT);
    return victim_rests(parent);
}

/* Has all the lanes, to itself. */
static int
takes_lanes(test_process *parent, void *argument)
{
    mcapi_status_t status = MCAPI_SUCCESS;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t from = victim_endpoint_make();
    for (uint32_t port = 2; status == MCAPI_SUCCESS; port++) {
        mcapi_endpoint_t to = mcapi_endpoint_create(port, &status);
        child_expect(status == MCAPI_SUCCESS);
        for (mcapi_priority_t priority = 0; priority < PRIORITIES; priority++) {
            mcapi_msg_send(from, to, "x", 1, priority, &status);
        }
    }
    child_expect(status == MCAPI_ERR_MEM_LIMIT);
    return victim_rests(parent);
}

/* Receives, some day, what the tester publishes. */
static int
subscribes(test_process *parent, void *argument)
{
    mcapi_status_t status;
    unsigned receiver;
    (void)argument;
    victim_begin();
    medley_mcapi_topic_subscribe(victim_other_endpoint(), victim_endpoint_make(), &receiver,
                                 &status);
    child_expect(status == MCAPI_SUCCESS);
    return victim_rests(parent);
}

/* Has endpoints, at which it receives nothing. */
static int
lies_idle(test_process *parent, void *argument)
{
    mcapi_status_t status;
    (void)argument;
    victim_begin();
    for (uint32_t port = 1; port <= RECEIVERS; port++) {
        (void)mcapi_endpoint_create(port, &status);
        child_expect(status == MCAPI_SUCCESS);
    }
    return victim_rests(parent);
}

/* Sends to it by all the lanes, then waits for a message. */
static int
sends_and_sleeps(test_process *parent, void *argument)
{
    mcapi_status_t status;
    mcapi_info_t info;
    size_t size;
    char message;
    (void)argument;
    mcapi_initialize(DOMAIN, SENDER, NULL, NULL, &info, &status);
    child_expect(status == MCAPI_SUCCESS);
    mcapi_endpoint_t own = victim_endpoint_make();
    for (uint32_t i = 0; i < LANES_MAX; i++) {
        mcapi_endpoint_t to =
            mcapi_endpoint_get(DOMAIN, PEER, 1 + i / PRIORITIES, MCAPI_TIMEOUT_INFINITE, &status);
        mcapi_msg_send(own, to, "x", 1, i % PRIORITIES, &status);
        child_expect(status == MCAPI_SUCCESS);
    }
    process_say(parent, 'r');
    mcapi_msg_recv(own, &message, sizeof message, &size, &status);
    child_expect(status == MCAPI_SUCCESS && message == 'x');
    mcapi_finalize(&status);
    return status != MCAPI_SUCCESS;
}

/* ---- The tests ------------------------------------------------------------------------------- */

/* Again, as long as there is none: lives are not looked at in each call. */
static mcapi_status_t
create_again(mcapi_endpoint_t *endpoint)
{
    mcapi_status_t status;
    uint64_t stuck_ns = med_port_clock_ns() + STUCK_AFTER_US * UINT64_C(1000);
    do {
        *endpoint = mcapi_endpoint_create(MCAPI_PORT_ANY, &status);
    } while (status == MCAPI_ERR_ENDP_LIMIT && med_port_clock_ns() < stuck_ns);
    return status;
}

static mcapi_status_t
send_again(mcapi_endpoint_t from, mcapi_endpoint_t to, mcapi_priority_t priority)
{
    mcapi_status_t status;
    uint64_t stuck_ns = med_port_clock_ns() + STUCK_AFTER_US * UINT64_C(1000);
    do {
        mcapi_msg_send(from, to, "x", 1, priority, &status);
    } while (status == MCAPI_ERR_MEM_LIMIT && med_port_clock_ns() < stuck_ns);
    return status;
}

static void
endpoints_of_the_dead(void **state)
{
    mcapi_endpoint_t own[ENDPOINTS_MAX];
    mcapi_status_t status;
    victim v;
    (void)state;
    victim_start(&v, takes_endpoints);
    (void)mcapi_endpoint_create(1, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_LIMIT);
    victim_kill(&v);
    (void)victim_end(&v);
    for (uint32_t i = 0; i < ENDPOINTS_MAX; i++) {
        assert_int_equal(create_again(&own[i]), MCAPI_SUCCESS);
    }
    (void)mcapi_endpoint_create(1, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_LIMIT);
    for (uint32_t i = 0; i < ENDPOINTS_MAX; i++) {
        endpoint_delete(own[i]);
    }
    expect_all_back();
}

/* As many as all the lanes are for. */
static void
receivers_make(mcapi_endpoint_t to[RECEIVERS])
{
    for (uint32_t i = 0; i < RECEIVERS; i++) {
        to[i] = endpoint_make(2 + i);
    }
}

/* Sends to them by all the lanes; and leaves, with them. */
static void
all_lanes_come(mcapi_endpoint_t from, mcapi_endpoint_t to[RECEIVERS])
{
    for (uint32_t i = 0; i < LANES_MAX; i++) {
        assert_int_equal(send_again(from, to[i / PRIORITIES], i % PRIORITIES), MCAPI_SUCCESS);
    }
    endpoint_delete(from);
    for (uint32_t i = 0; i < RECEIVERS; i++) {
        endpoint_delete(to[i]);
    }
    expect_all_back();
}

static void
lanes_of_the_dead(void **state)
{
    mcapi_endpoint_t from = endpoint_make(1), to[RECEIVERS];
    mcapi_status_t status;
    victim v;
    (void)state;
    receivers_make(to);
    victim_start(&v, takes_lanes);
    mcapi_msg_send(from, to[0], "x", 1, 0, &status);
    assert_int_equal(status, MCAPI_ERR_MEM_LIMIT);
    victim_kill(&v);
    (void)victim_end(&v);
    all_lanes_come(from, to);
}

/* One after the other, more than there are lanes; nothing is published. */
static void
lanes_of_dead_subscribers(void **state)
{
    mcapi_endpoint_t topic = endpoint_make(1), to[RECEIVERS];
    (void)state;
    for (uint32_t i = 0; i < LANES_MAX + 1; i++) {
        victim v;
        victim_start(&v, subscribes);
        victim_kill(&v);
        (void)victim_end(&v);
    }
    receivers_make(to);
    all_lanes_come(topic, to);
}

/* From one who lives, and waits for something else. */
static void
lanes_to_the_dead(void **state)
{
    mcapi_endpoint_t own = endpoint_make(1);
    test_process sender;
    victim v;
    (void)state;
    victim_start(&v, lies_idle);
    process_start(&sender, sends_and_sleeps, NULL);
    assert_int_equal(process_hear(&sender), 'r');
    victim_kill(&v);
    (void)victim_end(&v);
    assert_int_equal(send_again(own, endpoint_of(SENDER, 1), 0), MCAPI_SUCCESS);
    assert_int_equal(process_join(&sender), 0);
    endpoint_delete(own);
    expect_all_back();
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(endpoints_of_the_dead, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(lanes_of_the_dead, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(lanes_of_dead_subscribers, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(lanes_to_the_dead, exchange_up, exchange_down),
    };
    (void)setenv("MEDLEY_MAX_ENDPOINTS", "16", 1);
    (void)setenv("MEDLEY_MAX_LANES", "16", 1);
    return victims_run(argc, argv, tests);
}
