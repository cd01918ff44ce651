/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who waits for a buffer, in whatever way, and somebody dies meanwhile: gets one that the dead one
 * had, or that was on its way to him; and is told, where the dead one is whom he sends to. Nobody
 * else looks whether they live.
 */
#include "exchange_victim.h"
#include "medley/mcapi_ext.h"

#define BUFFERS 8u
#define LONG_BYTES 3000u /* by a buffer */
#define FILLER (PEER + 1)

/* ---- The others ------------------------------------------------------------------------------ */

/* Receives nothing, at either of its endpoints. */
static int
lies_idle(test_process *parent, void *argument)
{
    mcapi_status_t status;
    (void)argument;
    victim_begin();
    (void)victim_endpoint_make();
    (void)mcapi_endpoint_create(2, &status);
    child_expect(status == MCAPI_SUCCESS);
    return victim_rests(parent);
}

/* Has every buffer in hand. */
static int
hoards(test_process *parent, void *argument)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned sender;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t from = victim_endpoint_make();
    mcapi_endpoint_t to = mcapi_endpoint_create(2, &status);
    mcapi_pktchan_connect_i(from, to, &request, &status);
    victim_expect_end(&request);
    mcapi_pktchan_send_open_i(&sender, from, &request, &status);
    victim_expect_end(&request);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        child_expect(medley_mcapi_pktchan_take(sender, &status) != NULL);
    }
    return victim_rests(parent);
}

/* Sends to the idle one until no buffer is left, by as many lanes as that takes; then does nothing,
 * but lives. */
static int
fills_up(test_process *parent, void *argument)
{
    static const unsigned char message[LONG_BYTES];
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_timeout_t at_once = 0;
    (void)argument;
    mcapi_initialize(DOMAIN, FILLER, NULL, NULL, &info, &status);
    child_expect(status == MCAPI_SUCCESS);
    mcapi_endpoint_t from = mcapi_endpoint_create(1, &status);
    mcapi_endpoint_set_attribute(from, MCAPI_ENDP_ATTR_TIMEOUT, &at_once, sizeof at_once, &status);
    mcapi_endpoint_t to = mcapi_endpoint_get(DOMAIN, PEER, 1, MCAPI_TIMEOUT_INFINITE, &status);
    child_expect(status == MCAPI_SUCCESS);
    uint32_t sent = 0;
    for (mcapi_priority_t priority = 0; priority < 4; priority++) {
        do {
            mcapi_msg_send(from, to, message, sizeof message, priority, &status);
            sent += status == MCAPI_SUCCESS;
        } while (status == MCAPI_SUCCESS);
        child_expect(status == MCAPI_TIMEOUT);
    }
    child_expect(sent == BUFFERS);
    process_say(parent, 'r');
    (void)process_hear(parent);
    mcapi_finalize(&status);
    return 0;
}

/* ---- Ways to wait for a buffer --------------------------------------------------------------- */

static const unsigned char message[LONG_BYTES];

typedef struct wanted {
    mcapi_endpoint_t from; /* by a message from here, */
    mcapi_endpoint_t to;   /* to there, */
    unsigned sender;       /* or by this channel */
} wanted;

static mcapi_status_t
sends(const wanted *w)
{
    mcapi_status_t status;
    mcapi_msg_send(w->from, w->to, message, sizeof message, 0, &status);
    return status;
}

static mcapi_status_t
waits_for_request(const wanted *w)
{
    mcapi_status_t status;
    mcapi_request_t request;
    size_t size;
    mcapi_msg_send_i(w->from, w->to, message, sizeof message, 0, &request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    (void)mcapi_wait(&request, &size, STUCK_AFTER_US, &status);
    return status;
}

static mcapi_status_t
tests_request(const wanted *w)
{
    mcapi_status_t status;
    mcapi_request_t request;
    size_t size;
    uint64_t stuck_ns = med_port_clock_ns() + STUCK_AFTER_US * UINT64_C(1000);
    mcapi_msg_send_i(w->from, w->to, message, sizeof message, 0, &request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    while (!mcapi_test(&request, &size, &status) && med_port_clock_ns() < stuck_ns) {
    }
    return status;
}

static mcapi_status_t
sends_again(const wanted *w)
{
    mcapi_status_t status;
    uint64_t stuck_ns = med_port_clock_ns() + STUCK_AFTER_US * UINT64_C(1000);
    timeout_set(w->from, 0);
    while ((status = sends(w)) == MCAPI_TIMEOUT && med_port_clock_ns() < stuck_ns) {
    }
    timeout_set(w->from, STUCK_AFTER_US);
    return status;
}

static mcapi_status_t
takes(const wanted *w)
{
    mcapi_status_t status;
    const void *place = medley_mcapi_pktchan_take(w->sender, &status);
    if (place) {
        mcapi_status_t given;
        mcapi_pktchan_release((void *)(uintptr_t)place, &given);
        assert_int_equal(given, MCAPI_SUCCESS);
    }
    return status;
}

static mcapi_status_t
sends_packet(const wanted *w)
{
    mcapi_status_t status;
    mcapi_pktchan_send(w->sender, message, sizeof message, &status);
    return status;
}

static mcapi_status_t (*const ways[])(const wanted *) = {
    sends, waits_for_request, tests_request, sends_again, takes, sends_packet};
#define WAYS (sizeof ways / sizeof ways[0])

/* ---- The tests ------------------------------------------------------------------------------- */

/* Ends of the tester's own, to send from and to. */
static channel
own_channel(wanted *w)
{
    w->from = endpoint_make(1);
    w->to = endpoint_make(2);
    channel c = channel_between(&of_packets, endpoint_make(3), endpoint_make(4));
    w->sender = c.sender;
    timeout_set(w->from, STUCK_AFTER_US);
    return c;
}

/* Whatever came is received and given back. */
static void
own_channel_end(const wanted *w, const channel *c)
{
    static unsigned char buffer[LONG_BYTES];
    mcapi_status_t status;
    void *packet;
    size_t size;
    while (mcapi_msg_available(w->to, &status)) {
        mcapi_msg_recv(w->to, buffer, sizeof buffer, &size, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
    }
    while (mcapi_pktchan_available(c->receiver, &status)) {
        mcapi_pktchan_recv(c->receiver, &packet, &size, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        mcapi_pktchan_release(packet, &status);
    }
    channel_end(&of_packets, c);
    endpoint_delete(w->from);
    endpoint_delete(w->to);
}

/* All buffers are in a lane to one who dies, from one who lives and does nothing. */
static void
on_their_way_to_the_dead(void **state)
{
    (void)state;
    for (unsigned way = 0; way < WAYS; way++) {
        wanted w;
        victim idle;
        test_process filler;
        const channel c = own_channel(&w);
        victim_start(&idle, lies_idle);
        process_start(&filler, fills_up, NULL);
        assert_int_equal(process_hear(&filler), 'r');
        victim_kill(&idle);
        (void)victim_end(&idle);
        assert_int_equal(ways[way](&w), MCAPI_SUCCESS);
        process_say(&filler, 'e');
        assert_int_equal(process_join(&filler), 0);
        own_channel_end(&w, &c);
        expect_all_back();
    }
}

static void
in_the_hands_of_the_dead(void **state)
{
    (void)state;
    for (unsigned way = 0; way < WAYS; way++) {
        wanted w;
        victim v;
        const channel c = own_channel(&w);
        victim_start(&v, hoards);
        victim_kill(&v);
        (void)victim_end(&v);
        assert_int_equal(ways[way](&w), MCAPI_SUCCESS);
        own_channel_end(&w, &c);
        expect_all_back();
    }
}

/* The tester has all the buffers himself, and sends to one who dies. */
static void
to_the_dead_without_a_buffer(void **state)
{
    (void)state;
    for (unsigned way = 0; way < WAYS; way++) {
        mcapi_status_t status;
        wanted w;
        victim v;
        void *places[BUFFERS];
        const channel c = own_channel(&w);
        mcapi_endpoint_t own = w.to, from = endpoint_make(5);
        victim_start(&v, lies_idle);
        w.to = endpoint_of(PEER, 1);
        connect(&of_packets, from, endpoint_of(PEER, 2), MCAPI_SUCCESS);
        w.sender = sender_open(&of_packets, from);
        for (unsigned i = 0; i < BUFFERS; i++) {
            places[i] = medley_mcapi_pktchan_take(c.sender, &status);
            assert_int_equal(status, MCAPI_SUCCESS);
        }
        victim_kill(&v);
        (void)victim_end(&v);
        expect_told(ways[way](&w));
        for (unsigned i = 0; i < BUFFERS; i++) {
            mcapi_pktchan_release(places[i], &status);
            assert_int_equal(status, MCAPI_SUCCESS);
        }
        sender_close(&of_packets, w.sender);
        endpoint_delete(from);
        w.to = own;
        own_channel_end(&w, &c);
        expect_all_back();
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(on_their_way_to_the_dead, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(in_the_hands_of_the_dead, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(to_the_dead_without_a_buffer, exchange_up, exchange_down),
    };
    (void)setenv("MEDLEY_MAX_BUFFERS", "8", 1);
    return victims_run(argc, argv, tests);
}
