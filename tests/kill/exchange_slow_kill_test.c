/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who sends slowly is told of his receiver's death, though there is room: by each kind of lane,
 * whether the receiver slept when it died or not; and from then on, whatever he sends there.
 * Nobody else looks whether they live.
 */
#include <time.h>

#include "exchange_victim.h"
#include "mcapi/endpoint.h"

#define BEFORE 8u            /* slow ones that the receiver takes */
#define APART_NS 2000000u    /* between them */
#define ASLEEP_NS 60000000u  /* until who waits sleeps, and has slept for more than a slice */
#define MISSED_NS 12000000u  /* a look is due after a wake that reached nobody, watch.c */
#define LOOKED_NS 105000000u /* a look is due in any case, watch.c */
#define RUN_MAX 64u          /* watch.c */
#define LONG_BYTES 4096u

/* ---- Ways to send ---------------------------------------------------------------------------- */

typedef struct sending {
    mcapi_endpoint_t from;
    mcapi_endpoint_t to; /* of messages */
    unsigned sender;     /* of the others */
} sending;

typedef struct way {
    const char *name;
    const channel_kind *channel; /* NULL: messages */
    mcapi_status_t (*send)(const sending *s);
    mcapi_status_t (*receive)(mcapi_endpoint_t at, unsigned receiver); /* waits */
    uint32_t more; /* so many are accepted before it asks: of two at once, the second was fast */
    bool states;   /* of which not each is received, where they come fast */
} way;

/* By the next receiver that is started. */
static struct {
    const way *by;
    bool sleeps;
} how;

static mcapi_status_t
message_send(const sending *s)
{
    return send_number(s->from, s->to, 1, 0);
}

static mcapi_status_t
message_request(const sending *s)
{
    mcapi_status_t status;
    mcapi_request_t request;
    size_t size;
    mcapi_msg_send_i(s->from, s->to, s, 1, 0, &request, &status);
    if (status == MCAPI_SUCCESS) {
        (void)mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status);
    }
    return status;
}

static mcapi_status_t
message_many(const sending *s)
{
    unsigned char both[2] = {0};
    mcapi_status_t status;
    (void)medley_mcapi_msg_send_many(s->from, s->to, both, 1, 2, 0, &status);
    return status;
}

/* By a buffer: longer than a quarter of its lane. */
static mcapi_status_t
message_long(const sending *s)
{
    static const unsigned char content[LONG_BYTES];
    mcapi_status_t status;
    mcapi_msg_send(s->from, s->to, content, sizeof content, 0, &status);
    return status;
}

static mcapi_status_t
message_receive(mcapi_endpoint_t at, unsigned receiver)
{
    mcapi_status_t status;
    unsigned char content[LONG_BYTES];
    size_t size;
    (void)receiver;
    mcapi_msg_recv(at, content, sizeof content, &size, &status);
    return status;
}

static mcapi_status_t
packet_send(const sending *s)
{
    mcapi_status_t status;
    unsigned char content[8] = {0};
    mcapi_pktchan_send(s->sender, content, sizeof content, &status);
    return status;
}

static mcapi_status_t
packet_place(const sending *s)
{
    mcapi_status_t status;
    void *buffer = medley_mcapi_pktchan_take(s->sender, &status);
    if (status == MCAPI_SUCCESS) {
        medley_mcapi_pktchan_send_taken(s->sender, buffer, 8, &status);
        if (status != MCAPI_SUCCESS) {
            mcapi_status_t released;
            mcapi_pktchan_release(buffer, &released);
            assert_int_equal(released, MCAPI_SUCCESS);
        }
    }
    return status;
}

static mcapi_status_t
packet_receive(mcapi_endpoint_t at, unsigned receiver)
{
    mcapi_status_t status, released;
    void *packet;
    size_t size;
    (void)at;
    mcapi_pktchan_recv(receiver, &packet, &size, &status);
    if (status == MCAPI_SUCCESS) {
        mcapi_pktchan_release(packet, &released);
    }
    return status;
}

static mcapi_status_t
scalar_send(const sending *s)
{
    mcapi_status_t status;
    mcapi_sclchan_send_uint32(s->sender, 1, &status);
    return status;
}

static mcapi_status_t
scalar_many(const sending *s)
{
    mcapi_uint64_t both[2] = {0};
    mcapi_status_t status;
    (void)medley_mcapi_sclchan_send_many(s->sender, both, 2, 4, &status);
    return status;
}

static mcapi_status_t
scalar_receive(mcapi_endpoint_t at, unsigned receiver)
{
    mcapi_status_t status;
    (void)at;
    (void)mcapi_sclchan_recv_uint32(receiver, &status);
    return status;
}

static mcapi_status_t
state_send(const sending *s)
{
    mcapi_status_t status;
    const unsigned char value[8] = {0};
    mcapi_pktchan_send(s->sender, value, sizeof value, &status);
    return status;
}

/* Not by whole words. */
static mcapi_status_t
state_odd(const sending *s)
{
    mcapi_status_t status;
    const unsigned char value[9] = {0};
    mcapi_pktchan_send(s->sender, value, sizeof value, &status);
    return status;
}

/* The next one. */
static mcapi_status_t
state_receive(mcapi_endpoint_t at, unsigned receiver)
{
    mcapi_status_t status;
    unsigned char value[16];
    size_t size;
    (void)at;
    medley_mcapi_state_wait(receiver, how.sleeps ? MCAPI_TIMEOUT_INFINITE : 0, &status);
    if (status == MCAPI_SUCCESS) {
        medley_mcapi_state_recv(receiver, value, sizeof value, &size, &status);
    }
    return status;
}

static const way ways[] = {
    {"messages", NULL, message_send, message_receive, 0, false},
    {"messages, asked for", NULL, message_request, message_receive, 0, false},
    {"messages, many", NULL, message_many, message_receive, 1, false},
    {"messages, long", NULL, message_long, message_receive, 0, false},
    {"packets", &of_packets, packet_send, packet_receive, 0, false},
    {"packets, in place", &of_packets, packet_place, packet_receive, 0, false},
    {"scalars", &of_scalars, scalar_send, scalar_receive, 0, false},
    {"scalars, many", &of_scalars, scalar_many, scalar_receive, 1, false},
    {"states", &of_packets, state_send, state_receive, 0, true},
    {"states, otherwise", &of_packets, state_odd, state_receive, 0, true},
};
#define WAYS (sizeof ways / sizeof ways[0])

/* ---- The receiver ---------------------------------------------------------------------------- */

static mcapi_status_t
endpoint_prepare(mcapi_endpoint_t endpoint)
{
    const mcapi_uint_t type = MCAPI_ENDP_ATTR_STATE_BUFFER;
    mcapi_status_t status = MCAPI_SUCCESS;
    if (how.by->states) {
        mcapi_endpoint_set_attribute(endpoint, MCAPI_ENDP_ATTR_BUFFER_TYPE, &type, sizeof type,
                                     &status);
    }
    return status;
}

static int
receives(test_process *parent, void *argument)
{
    unsigned receiver = 0;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t at = victim_endpoint_make();
    child_expect(endpoint_prepare(at) == MCAPI_SUCCESS);
    if (!how.sleeps) { /* it looks again and again, and never sleeps */
        mcapi_status_t status;
        mcapi_timeout_t at_once = 0;
        mcapi_endpoint_set_attribute(at, MCAPI_ENDP_ATTR_TIMEOUT, &at_once, sizeof at_once,
                                     &status);
        child_expect(status == MCAPI_SUCCESS);
    }
    if (how.by->channel) {
        receiver = victim_receiver_open(how.by->channel, at);
    }
    process_say(parent, 'r');
    for (uint32_t count = 0;;) {
        mcapi_status_t status = how.by->receive(at, receiver);
        child_expect(status == MCAPI_SUCCESS || (status == MCAPI_TIMEOUT && !how.sleeps));
        count += status == MCAPI_SUCCESS;
        victim_note(count);
    }
}

static void
start(victim *v, sending *s, const way *by, bool sleeps)
{
    how.by = by;
    how.sleeps = sleeps;
    s->from = endpoint_make(1);
    assert_int_equal(endpoint_prepare(s->from), MCAPI_SUCCESS);
    victim_start(v, receives);
    if (by->channel) {
        s->sender = sender_open(by->channel, s->from);
    } else {
        s->to = endpoint_of(PEER, 1);
    }
}

/* It has taken so many. */
static void
await_taken(uint32_t count)
{
    uint64_t stuck_ns = med_port_clock_ns() + STUCK_AFTER_US * UINT64_C(1000);
    while (atomic32_load_relaxed(&log_of_victim->accepted) < count) {
        assert_true(med_port_clock_ns() < stuck_ns);
    }
}

static void
send_slowly(const sending *s, const way *by, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(by->send(s), MCAPI_SUCCESS);
        await_taken(i + 1);
        nap(APART_NS);
    }
}

static void
send_fast(const sending *s, const way *by, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(by->send(s), MCAPI_SUCCESS);
    }
    await_taken(count);
}

/* So many are accepted at most. */
static void
expect_told_after(const sending *s, const way *by, uint32_t most)
{
    uint32_t more = 0;
    mcapi_status_t status;
    while ((status = by->send(s)) == MCAPI_SUCCESS) {
        more++;
    }
    assert_int_equal(status, MCAPI_ERR_TRANSMISSION);
    if (more > most) {
        fail_msg("%s: %u more", by->name, (unsigned)more);
    }
}

static void
end(victim *v, const sending *s, const way *by)
{
    (void)victim_end(v);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(by->send(s), MCAPI_ERR_TRANSMISSION);
    }
    if (by->channel) {
        sender_close(by->channel, s->sender);
    }
    endpoint_delete(s->from);
    expect_all_back();
}

/* ---- The tests ------------------------------------------------------------------------------- */

/* The first that is sent so long after its death is not accepted any more. */
static void
told_after_a_while(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * WAYS; i++) {
        const way *by = &ways[i / 2];
        victim v;
        sending s;
        start(&v, &s, by, i % 2);
        send_slowly(&s, by, BEFORE - i % 2);
        victim_kill(&v);
        (void)process_join(&v.process);
        nap(LOOKED_NS);
        expect_told_after(&s, by, by->more);
        end(&v, &s, by);
    }
}

/* Where it slept, the second, and sooner: the first wakes nobody. Whether who sends was slow or
 * fast before. */
static void
told_by_a_wake(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * WAYS; i++) {
        const way *by = &ways[i / 2];
        victim v;
        sending s;
        start(&v, &s, by, true);
        if (i % 2 && !by->states) {
            send_fast(&s, by, 2 * RUN_MAX);
        } else {
            send_slowly(&s, by, BEFORE);
        }
        nap(LOOKED_NS);
        assert_int_equal(by->send(&s), MCAPI_SUCCESS); /* looks */
        nap(ASLEEP_NS);
        victim_kill(&v);
        (void)process_join(&v.process);
        mcapi_status_t first = by->send(&s);
        assert_true(first == MCAPI_SUCCESS || first == MCAPI_ERR_TRANSMISSION);
        nap(MISSED_NS);
        expect_told_after(&s, by, 0);
        end(&v, &s, by);
    }
}

/* Who was fast before sends so many more. */
static void
told_after_so_many(void **state)
{
    const way *by = &ways[0];
    victim v;
    sending s;
    (void)state;
    start(&v, &s, by, false);
    send_fast(&s, by, 20 * RUN_MAX);
    victim_kill(&v);
    (void)process_join(&v.process);
    nap(LOOKED_NS);
    expect_told_after(&s, by, RUN_MAX - 1);
    end(&v, &s, by);
}

/* Who has never sent to it, too; and no longer than the endpoint's row is no other's. */
static void
told_until_the_row_is_used(void **state)
{
    victim v;
    sending s;
    (void)state;
    start(&v, &s, &ways[0], true);
    assert_int_equal(message_send(&s), MCAPI_SUCCESS);
    victim_kill(&v);
    (void)process_join(&v.process);
    (void)med_process_recover_all(med_self_get()->system);
    mcapi_endpoint_t other = endpoint_make(2), new = 0;
    assert_int_equal(send_number(other, s.to, 1, 3), MCAPI_ERR_TRANSMISSION);
    assert_int_equal(message_send(&s), MCAPI_ERR_TRANSMISSION);
    assert_int_equal(send_number(other, s.to ^ 0x00010000u, 1, 3), MCAPI_ERR_ENDP_INVALID);
    for (uint32_t i = 0; i < med_self_get()->system->limits.endpoints; i++) {
        assert_int_equal(message_send(&s), MCAPI_ERR_TRANSMISSION);
        new = endpoint_make(3);
        if (med_handle_index(new) == med_handle_index(s.to)) {
            break;
        }
        endpoint_delete(new);
    }
    assert_int_equal(med_handle_index(new), med_handle_index(s.to));
    assert_int_equal(message_send(&s), MCAPI_ERR_ENDP_INVALID);
    endpoint_delete(new);
    assert_int_equal(message_send(&s), MCAPI_ERR_ENDP_INVALID);
    endpoint_delete(other);
    endpoint_delete(s.from);
    (void)victim_end(&v);
    expect_all_back();
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(told_after_a_while, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(told_by_a_wake, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(told_after_so_many, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(told_until_the_row_is_used, exchange_up, exchange_down),
    };
    return victims_run(argc, argv, tests);
}
