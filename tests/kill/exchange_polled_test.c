/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who only polls is told of his sender's death: by his next poll but one, if he polls slowly; and
 * if he polls another channel in turn, whose sender lives. Nobody else looks whether they live.
 */
#include "exchange_victim.h"

#define APART_NS 2000000u /* of slow polls; more than exchange.c calls fast */
#define SLOW_POLLS 4u     /* before the death */
#define OWN_PORTS 2       /* and the next, of a channel from the tester to himself */

/* ---- Ways to poll ---------------------------------------------------------------------------- */

typedef struct end {
    unsigned receiver;
    mcapi_request_t request; /* 0: none */
} end;

/* How it ended; MCAPI_PENDING: not yet. */
static mcapi_status_t
packet_receive(end *e)
{
    mcapi_status_t status;
    void *packet;
    size_t size;
    mcapi_pktchan_recv(e->receiver, &packet, &size, &status);
    return status == MCAPI_TIMEOUT ? MCAPI_PENDING : status;
}

static mcapi_status_t
packet_test(end *e)
{
    mcapi_status_t status = MCAPI_SUCCESS;
    static void *packet;
    size_t size;
    if (!e->request) {
        mcapi_pktchan_recv_i(e->receiver, &packet, &e->request, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
    }
    if (mcapi_test(&e->request, &size, &status)) {
        e->request = 0;
    }
    return status;
}

static mcapi_status_t
scalar_receive(end *e)
{
    mcapi_status_t status;
    (void)mcapi_sclchan_recv_uint32(e->receiver, &status);
    return status == MCAPI_TIMEOUT ? MCAPI_PENDING : status;
}

static mcapi_status_t
state_receive(end *e)
{
    mcapi_status_t status;
    unsigned char value[8];
    size_t size;
    medley_mcapi_state_recv(e->receiver, value, sizeof value, &size, &status);
    return status == MCAPI_TIMEOUT ? MCAPI_PENDING : status;
}

static mcapi_status_t
count(const channel_kind *kind, const end *e)
{
    mcapi_status_t status;
    assert_int_equal(kind->available(e->receiver, &status), 0);
    return status == MCAPI_SUCCESS ? MCAPI_PENDING : status;
}

static mcapi_status_t
packet_count(end *e)
{
    return count(&of_packets, e);
}

static mcapi_status_t
scalar_count(end *e)
{
    return count(&of_scalars, e);
}

typedef struct way {
    const char *name;
    const channel_kind *channel;
    mcapi_status_t (*poll)(end *e);
    bool states;
} way;

static const way ways[] = {
    {"packets", &of_packets, packet_receive, false},
    {"packets, asked for", &of_packets, packet_test, false},
    {"scalars", &of_scalars, scalar_receive, false},
    {"states", &of_packets, state_receive, true},
    {"packets, counted", &of_packets, packet_count, false},
    {"scalars, counted", &of_scalars, scalar_count, false},
};
#define WAYS (sizeof ways / sizeof ways[0])

/* ---- The sender ------------------------------------------------------------------------------ */

static const way *how; /* by the next that is started */

static mcapi_status_t
endpoint_prepare(mcapi_endpoint_t endpoint)
{
    const mcapi_uint_t type = MCAPI_ENDP_ATTR_STATE_BUFFER;
    mcapi_status_t status = MCAPI_SUCCESS;
    if (how->states) {
        mcapi_endpoint_set_attribute(endpoint, MCAPI_ENDP_ATTR_BUFFER_TYPE, &type, sizeof type,
                                     &status);
    }
    return status;
}

static int
opens_only(test_process *parent, void *argument)
{
    (void)argument;
    victim_begin();
    mcapi_endpoint_t from = victim_endpoint_make();
    child_expect(endpoint_prepare(from) == MCAPI_SUCCESS);
    (void)victim_sender_open(how->channel, from);
    return victim_rests(parent);
}

static mcapi_endpoint_t
receiving_endpoint(mcapi_port_t port)
{
    mcapi_endpoint_t at = endpoint_make(port);
    assert_int_equal(endpoint_prepare(at), MCAPI_SUCCESS);
    timeout_set(at, 0);
    return at;
}

/* ---- The tests ------------------------------------------------------------------------------- */

static void
slowly(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        victim v;
        how = &ways[i];
        mcapi_endpoint_t at = receiving_endpoint(1);
        victim_start(&v, opens_only);
        end e = {.receiver = receiver_open(how->channel, at)};
        for (uint32_t poll = 0; poll < SLOW_POLLS; poll++) {
            assert_int_equal(how->poll(&e), MCAPI_PENDING);
            nap(APART_NS);
        }
        victim_kill(&v);
        (void)victim_end(&v);
        mcapi_status_t first = how->poll(&e);
        assert_true(first == MCAPI_PENDING || first == MCAPI_ERR_ENDP_DELETED);
        mcapi_status_t second = first == MCAPI_PENDING ? how->poll(&e) : first;
        if (second != MCAPI_ERR_ENDP_DELETED) {
            fail_msg("%s: not told", how->name);
        }
        receiver_close(how->channel, e.receiver);
        endpoint_delete(at);
        expect_all_back();
    }
}

/* As often as it likes: the look that is due comes at one of both always, if both are asked by the
 * same count. */
static void
poll_in_turn(end *dead, end *living, bool living_first)
{
    uint64_t stuck_ns = med_port_clock_ns() + STUCK_AFTER_US * UINT64_C(1000);
    mcapi_status_t status = MCAPI_PENDING;
    while (status == MCAPI_PENDING) {
        if (living_first) {
            assert_int_equal(how->poll(living), MCAPI_PENDING);
        }
        status = how->poll(dead);
        if (!living_first) {
            assert_int_equal(how->poll(living), MCAPI_PENDING);
        }
        if (med_port_clock_ns() > stuck_ns) {
            fail_msg("%s: never told, the living %s", how->name, living_first ? "first" : "second");
        }
    }
    assert_int_equal(status, MCAPI_ERR_ENDP_DELETED);
}

static void
in_turn(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * WAYS; i++) {
        victim v;
        how = &ways[i / 2];
        mcapi_endpoint_t at = receiving_endpoint(1);
        mcapi_endpoint_t own_from = receiving_endpoint(OWN_PORTS);
        mcapi_endpoint_t own_at = receiving_endpoint(OWN_PORTS + 1);
        victim_start(&v, opens_only);
        end dead = {.receiver = receiver_open(how->channel, at)};
        channel own = channel_between(how->channel, own_from, own_at);
        end living = {.receiver = own.receiver};
        victim_kill(&v);
        (void)victim_end(&v);
        poll_in_turn(&dead, &living, i % 2 != 0);
        receiver_close(how->channel, dead.receiver);
        endpoint_delete(at);
        channel_end(how->channel, &own);
        expect_all_back();
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(slowly, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(in_turn, exchange_up, exchange_down),
    };
    return victims_run(argc, argv, tests);
}
