/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Conformance of MCAPI's packet and scalar channels, through the public calls. Run in a private
 * system and in a named one.
 */
#include "mcapi/lane.h"
#include "mcapi/packet.h"
#include "mcapi/record.h"
#include "support/channel.h"
#include "support/requests.h"
#include "support/threads.h"

#define OTHER 8

/* ---- Both kinds ------------------------------------------------------------------------------ */

static channel
channel_make(const channel_kind *k)
{
    mcapi_endpoint_t from = endpoint_make(1);
    return channel_between(k, from, endpoint_make(2));
}

static mcapi_status_t
send_one(const channel_kind *k, const channel *c)
{
    mcapi_status_t status = MCAPI_SUCCESS;
    if (k == &of_packets) {
        mcapi_pktchan_send(c->sender, &status, sizeof status, &status);
    } else {
        mcapi_sclchan_send_uint8(c->sender, 1, &status);
    }
    return status;
}

static void
receive_one(const channel_kind *k, const channel *c)
{
    mcapi_status_t status;
    if (k == &of_packets) {
        void *packet;
        size_t size;
        mcapi_pktchan_recv(c->receiver, &packet, &size, &status);
        mcapi_pktchan_release(packet, &status);
    } else {
        (void)mcapi_sclchan_recv_uint8(c->receiver, &status);
    }
    assert_int_equal(status, MCAPI_SUCCESS);
}

static void
close_end(void (*close)(unsigned, mcapi_request_t *, mcapi_status_t *), unsigned handle)
{
    mcapi_status_t status;
    mcapi_request_t request;
    close(handle, &request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    (void)expect_end(request, MCAPI_SUCCESS);
    close(handle, &request, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_NOTOPEN);
}

static mcapi_uint_t
flags_of(mcapi_endpoint_t endpoint)
{
    mcapi_status_t status;
    mcapi_uint_t flags = 0;
    mcapi_endpoint_get_attribute(endpoint, MCAPI_ENDP_ATTR_ENDP_STATUS, &flags, sizeof flags,
                                 &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    return flags;
}

static void
life_of(const channel_kind *k)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned handle;
    for (int life = 0; life < 3; life++) {
        channel c = channel_make(k);
        mcapi_endpoint_t third = endpoint_make(3);
        connect(k, c.from, third, MCAPI_ERR_CHAN_CONNECTED);
        connect(k, third, c.to, MCAPI_ERR_CHAN_CONNECTED);
        k->open_sender(&handle, c.from, &request, &status);
        assert_int_equal(status, MCAPI_ERR_CHAN_OPEN);
        mcapi_endpoint_delete(c.from, &status);
        assert_int_equal(status, MCAPI_ERR_CHAN_CONNECTED);
        assert_int_equal(send_number(c.from, third, 1, 0), MCAPI_ERR_GENERAL);
        assert_int_equal(send_number(third, c.to, 1, 0), MCAPI_ERR_GENERAL);
        assert_true(flags_of(c.from) & MCAPI_ENDP_ATTR_STATUS_SEND);
        assert_true(flags_of(c.to) & MCAPI_ENDP_ATTR_STATUS_RECEIVE);
        assert_true(flags_of(c.to) & MCAPI_ENDP_ATTR_STATUS_OPEN);
        assert_int_equal(k->available(c.receiver, &status), 0);
        close_end(k->close_sender, c.sender);
        close_end(k->close_receiver, c.receiver);
        assert_int_equal(flags_of(c.from), 0);
        assert_int_equal(send_number(c.from, third, 1, 0), MCAPI_SUCCESS);
        endpoint_delete(c.from);
        mcapi_endpoint_delete(c.to, &status);
        mcapi_endpoint_delete(third, &status);
    }
}

static void
lives(void **state)
{
    (void)state;
    life_of(&of_packets);
    life_of(&of_scalars);
}

/* And nothing is left of it: it can be connected to another. */
static void
to_itself(void **state)
{
    const channel_kind *const kinds[] = {&of_packets, &of_scalars};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        mcapi_endpoint_t one = endpoint_make(1);
        connect(kinds[i], one, one, MCAPI_ERR_ENDP_INVALID);
        assert_int_equal(flags_of(one), 0);
        channel c = channel_between(kinds[i], one, endpoint_make(2));
        channel_end(kinds[i], &c);
    }
}

/* The record of one was written over: the caller's pointer is not. */
static void
packet_of_no_buffer(void **state)
{
    const uint32_t none = UINT32_MAX;
    mcapi_status_t status;
    void *packet = &status;
    size_t size;
    (void)state;
    channel c = channel_make(&of_packets);
    const med_self *self = med_self_get();
    med_lane_own *lane = &self->exchange->exchange->lane_ends[med_handle_index(c.receiver)];
    send_one(&of_packets, &c);
    memcpy(med_record_at(&lane->consumer.ring.view, lane->consumer.ring.head) +
               sizeof(med_record_header),
           &none, sizeof none);
    mcapi_pktchan_recv(c.receiver, &packet, &size, &status);
    assert_int_equal(status, MCAPI_ERR_TRANSMISSION);
    assert_ptr_equal(packet, &status);
    channel_end(&of_packets, &c);
}

/* Opened before it is connected; as the wrong end; as the wrong kind. */
static void
opened_first(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request, again;
    unsigned handle = 0;
    size_t size;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    mcapi_pktchan_send_open_i(&handle, from, &request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(mcapi_test(&request, &size, &status), MCAPI_FALSE);
    assert_true(flags_of(from) & MCAPI_ENDP_ATTR_STATUS_OPEN_PENDING);
    mcapi_pktchan_send_open_i(&handle, from, &again, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_OPENPENDING);
    connect(&of_packets, from, to, MCAPI_SUCCESS);
    (void)expect_end(request, MCAPI_SUCCESS);
    assert_int_not_equal(handle, 0);
    mcapi_pktchan_send_open_i(&handle, to, &request, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_DIRECTION);
    mcapi_sclchan_recv_open_i(&handle, to, &request, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_TYPE);
    handle = receiver_open(&of_packets, to);
    mcapi_sclchan_recv_close_i(handle, &request, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_TYPE);
    mcapi_pktchan_send_close_i(handle, &request, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_DIRECTION);
    (void)mcapi_sclchan_recv_uint64(handle, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_TYPE);
    close_end(mcapi_pktchan_recv_close_i, handle);
}

/* It turns out when it is connected. */
static void
opened_first_wrongly(void **state)
{
    mcapi_status_t status;
    mcapi_request_t requests[2];
    unsigned handle;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    mcapi_pktchan_send_open_i(&handle, to, &requests[0], &status);
    mcapi_sclchan_send_open_i(&handle, from, &requests[1], &status);
    connect(&of_packets, from, to, MCAPI_SUCCESS);
    (void)expect_end(requests[0], MCAPI_ERR_CHAN_DIRECTION);
    (void)expect_end(requests[1], MCAPI_ERR_CHAN_TYPE);
}

static void
must_agree(void **state)
{
    mcapi_status_t status;
    mcapi_uint_t value = 1;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    mcapi_endpoint_set_attribute(from, MCAPI_ENDP_ATTR_PRIORITY, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    connect(&of_packets, from, to, MCAPI_ERR_ATTR_INCOMPATIBLE);
    mcapi_endpoint_set_attribute(to, MCAPI_ENDP_ATTR_PRIORITY, &value, sizeof value, &status);
    connect(&of_packets, from, to, MCAPI_SUCCESS);
    mcapi_endpoint_set_attribute(to, MCAPI_ENDP_ATTR_PRIORITY, &value, sizeof value, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_CONNECTED);
    connect(&of_packets, from, to + 7, MCAPI_ERR_ENDP_INVALID);
}

/* Who can have no request has changed nothing. */
static void
no_request_left(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned handle;
    (void)state;
    channel c = channel_make(&of_packets);
    mcapi_endpoint_t from = endpoint_make(3), to = endpoint_make(4);
    requests_use_up(from);
    of_packets.connect(from, to, &request, &status);
    assert_int_equal(status, MCAPI_ERR_REQUEST_LIMIT);
    of_packets.open_sender(&handle, from, &request, &status);
    assert_int_equal(status, MCAPI_ERR_REQUEST_LIMIT);
    of_packets.close_sender(c.sender, &request, &status);
    assert_int_equal(status, MCAPI_ERR_REQUEST_LIMIT);
    of_packets.close_receiver(c.receiver, &request, &status);
    assert_int_equal(status, MCAPI_ERR_REQUEST_LIMIT);
    assert_int_equal(flags_of(from), 0);
    assert_true(flags_of(c.from) & MCAPI_ENDP_ATTR_STATUS_OPEN);
    requests_give_back();
    connect(&of_packets, from, to, MCAPI_SUCCESS);
    close_end(of_packets.close_sender, c.sender);
    close_end(of_packets.close_receiver, c.receiver);
}

/* ---- Agreeing while it is set ---------------------------------------------------------------- */

#define CONNECTS 2000
/* On one processor a connect takes slices: fewer do there. */
#define CONNECTS_NS 5000000000u

static atomic32 connects_over;

static void
open_and_close(mcapi_endpoint_t endpoint, const channel_kind *k, bool sends)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned handle;
    (sends ? k->open_sender : k->open_receiver)(&handle, endpoint, &request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    (void)expect_end(request, MCAPI_SUCCESS);
    close_end(sends ? k->close_sender : k->close_receiver, handle);
}

/* Sets the priority of its endpoint to and fro. When it is connected, it is what the other's is. */
static void *
sets_priority(void *argument)
{
    mcapi_status_t status;
    mcapi_uint_t value = 0;
    (void)argument;
    exchange_begin(OTHER);
    mcapi_endpoint_t to = endpoint_make(1);
    while (!atomic32_load_acquire(&connects_over)) {
        value = 1 - value;
        mcapi_endpoint_set_attribute(to, MCAPI_ENDP_ATTR_PRIORITY, &value, sizeof value, &status);
        if (status == MCAPI_ERR_CHAN_CONNECTED) {
            mcapi_endpoint_get_attribute(to, MCAPI_ENDP_ATTR_PRIORITY, &value, sizeof value,
                                         &status);
            assert_int_equal(value, 0);
            open_and_close(to, &of_packets, false);
        }
        assert_int_equal(status, MCAPI_SUCCESS);
    }
    exchange_end();
    return NULL;
}

static void
agree_while_set(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    (void)state;
    atomic32_store_relaxed(&connects_over, 0);
    start(OTHER, sets_priority);
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_of(OTHER, 1);
    uint64_t end_ns = med_port_clock_ns() + CONNECTS_NS;
    int connects = 0;
    while (connects < CONNECTS && (connects == 0 || med_port_clock_ns() < end_ns)) {
        of_packets.connect(from, to, &request, &status);
        if (status == MCAPI_SUCCESS) {
            connects++;
            (void)expect_end(request, MCAPI_SUCCESS);
            open_and_close(from, &of_packets, true);
        } else {
            assert_true(status == MCAPI_ERR_ATTR_INCOMPATIBLE ||
                        status == MCAPI_ERR_CHAN_CONNECTED);
            med_port_yield(); /* nothing changes before the other runs */
        }
    }
    atomic32_store_release(&connects_over, 1);
    join(OTHER, 0);
}

/* ---- Scalars --------------------------------------------------------------------------------- */

static void
widths(void **state)
{
    mcapi_status_t status;
    (void)state;
    channel c = channel_make(&of_scalars);
    mcapi_sclchan_send_uint64(c.sender, 0x1122334455667788u, &status);
    mcapi_sclchan_send_uint32(c.sender, 0x99aabbccu, &status);
    mcapi_sclchan_send_uint16(c.sender, 0xddeeu, &status);
    mcapi_sclchan_send_uint8(c.sender, 0xffu, &status);
    assert_int_equal(mcapi_sclchan_available(c.receiver, &status), 4);
    (void)mcapi_sclchan_recv_uint32(c.receiver, &status);
    assert_int_equal(status, MCAPI_ERR_SCL_SIZE);
    assert_true(mcapi_sclchan_recv_uint64(c.receiver, &status) == 0x1122334455667788u);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(mcapi_sclchan_recv_uint32(c.receiver, &status), 0x99aabbccu);
    assert_int_equal(mcapi_sclchan_recv_uint16(c.receiver, &status), 0xddeeu);
    assert_int_equal(mcapi_sclchan_recv_uint8(c.receiver, &status), 0xffu);
    assert_int_equal(status, MCAPI_SUCCESS);
    (void)mcapi_sclchan_recv_uint8(c.sender, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    mcapi_sclchan_send_uint8(c.receiver, 1, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
}

/* What was sent stays receivable; then the receiver is told; and the sender, of the receiver. */
static void
other_end_closed(void **state)
{
    mcapi_status_t status;
    (void)state;
    channel c = channel_make(&of_scalars);
    mcapi_sclchan_send_uint64(c.sender, 5, &status);
    close_end(mcapi_sclchan_send_close_i, c.sender);
    assert_int_equal(mcapi_sclchan_available(c.receiver, &status), 1);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_true(mcapi_sclchan_recv_uint64(c.receiver, &status) == 5);
    assert_int_equal(mcapi_sclchan_available(c.receiver, &status), 0);
    assert_int_equal(status, MCAPI_ERR_ENDP_DELETED);
    (void)mcapi_sclchan_recv_uint64(c.receiver, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_DELETED);
    close_end(mcapi_sclchan_recv_close_i, c.receiver);
    mcapi_endpoint_delete(c.from, &status);
    mcapi_endpoint_delete(c.to, &status);
    c = channel_make(&of_scalars);
    close_end(mcapi_sclchan_recv_close_i, c.receiver);
    mcapi_sclchan_send_uint64(c.sender, 5, &status);
    assert_int_equal(status, MCAPI_ERR_TRANSMISSION);
    close_end(mcapi_sclchan_send_close_i, c.sender);
}

static void
full(void **state)
{
    mcapi_status_t status;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(11);
    mcapi_status_t ignored;
    mcapi_endpoint_delete(from, &ignored);
    channel c = {.from = endpoint_make(1), .to = endpoint_make(2)};
    timeout_set(c.from, 2000);
    timeout_set(c.to, 2000);
    connect(&of_scalars, c.from, c.to, MCAPI_SUCCESS);
    c.sender = sender_open(&of_scalars, c.from);
    c.receiver = receiver_open(&of_scalars, c.to);
    uint64_t sent = 0;
    for (;;) {
        mcapi_sclchan_send_uint64(c.sender, sent, &status);
        if (status != MCAPI_SUCCESS) {
            break;
        }
        sent++;
    }
    assert_int_equal(status, MCAPI_TIMEOUT);
    assert_true(sent >= 64);
    for (uint64_t i = 0; i < sent; i++) {
        assert_true(mcapi_sclchan_recv_uint64(c.receiver, &status) == i);
    }
    (void)mcapi_sclchan_recv_uint64(c.receiver, &status);
    assert_int_equal(status, MCAPI_TIMEOUT);
}

/* As much as was asked for, and no more than the next powers of two. */
static void
room_wanted(void **state)
{
    const struct {
        const channel_kind *kind;
        mcapi_uint_t wanted;
        uint32_t room;
    } cases[] = {
        {&of_packets, 1, 1}, {&of_packets, 3, 4}, {&of_scalars, 1, 2}, {&of_scalars, 3, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mcapi_status_t status;
        mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
        mcapi_endpoint_set_attribute(to, MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, &cases[i].wanted,
                                     sizeof cases[i].wanted, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        timeout_set(from, 0);
        channel c = channel_between(cases[i].kind, from, to);
        for (int round = 0; round < 3; round++) {
            for (uint32_t n = 0; n < cases[i].room; n++) {
                assert_int_equal(send_one(cases[i].kind, &c), MCAPI_SUCCESS);
            }
            assert_int_equal(send_one(cases[i].kind, &c), MCAPI_TIMEOUT);
            assert_int_equal(cases[i].kind->available(c.receiver, &status), cases[i].room);
            for (uint32_t n = 0; n < cases[i].room; n++) {
                receive_one(cases[i].kind, &c);
            }
        }
        close_end(cases[i].kind->close_sender, c.sender);
        close_end(cases[i].kind->close_receiver, c.receiver);
        mcapi_endpoint_delete(from, &status);
        endpoint_delete(to);
    }
}

#define MANY 50000u

static void *
sends_scalars(void *argument)
{
    mcapi_status_t status;
    unsigned sender;
    (void)argument;
    exchange_begin(OTHER);
    mcapi_endpoint_t from = endpoint_make(1);
    sender = sender_open(&of_scalars, from);
    for (unsigned i = 0; i < MANY; i++) {
        mcapi_sclchan_send_uint32(sender, i, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
    }
    exchange_end(); /* as if it had closed */
    return NULL;
}

static void
scalars_across(void **state)
{
    mcapi_status_t status;
    unsigned receiver;
    (void)state;
    mcapi_endpoint_t to = endpoint_make(1);
    start(OTHER, sends_scalars);
    connect(&of_scalars, endpoint_of(OTHER, 1), to, MCAPI_SUCCESS);
    receiver = receiver_open(&of_scalars, to);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(mcapi_sclchan_recv_uint32(receiver, &status), i);
        assert_int_equal(status, MCAPI_SUCCESS);
    }
    (void)mcapi_sclchan_recv_uint32(receiver, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_DELETED);
    join(OTHER, 0);
    close_end(mcapi_sclchan_recv_close_i, receiver);
}

/* ---- Packets --------------------------------------------------------------------------------- */

static void
packets_kept(void **state)
{
    mcapi_status_t status;
    void *kept[8];
    size_t size;
    (void)state;
    channel c = channel_make(&of_packets);
    for (unsigned i = 0; i < 8; i++) {
        mcapi_pktchan_send(c.sender, &i, sizeof i, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
    }
    assert_int_equal(mcapi_pktchan_available(c.receiver, &status), 8);
    for (unsigned i = 0; i < 8; i++) {
        mcapi_pktchan_recv(c.receiver, &kept[i], &size, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        assert_int_equal(size, sizeof i);
        assert_int_equal((uintptr_t)kept[i] % MCAPI_BUF_ALIGN, 0);
    }
    for (unsigned i = 0; i < 8; i++) {
        unsigned odd = i * 3 % 8; /* in another order */
        assert_int_equal(*(unsigned *)kept[odd], odd);
        mcapi_pktchan_release(kept[odd], &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        mcapi_pktchan_release(kept[odd], &status);
        assert_int_equal(status, MCAPI_ERR_BUF_INVALID);
    }
    mcapi_pktchan_release(&size, &status);
    assert_int_equal(status, MCAPI_ERR_BUF_INVALID);
    mcapi_pktchan_release((char *)kept[0] + 1, &status);
    assert_int_equal(status, MCAPI_ERR_BUF_INVALID);
}

/* Every buffer comes back, whatever was under way when the channel ended. */
static void
buffers_come_back(void **state)
{
    mcapi_status_t status;
    (void)state;
    for (int life = 0; life < 40; life++) {
        channel c = channel_make(&of_packets);
        for (unsigned i = 0; i < 20; i++) {
            mcapi_pktchan_send(c.sender, &i, sizeof i, &status);
            assert_int_equal(status, MCAPI_SUCCESS);
        }
        close_end(life & 1 ? mcapi_pktchan_send_close_i : mcapi_pktchan_recv_close_i,
                  life & 1 ? c.sender : c.receiver);
        close_end(life & 1 ? mcapi_pktchan_recv_close_i : mcapi_pktchan_send_close_i,
                  life & 1 ? c.receiver : c.sender);
        mcapi_endpoint_delete(c.from, &status);
        mcapi_endpoint_delete(c.to, &status);
    }
    const med_self *self = med_self_get();
    med_pool_statistics statistics;
    med_pool_statistics_get(&self->exchange->exchange->pool, &statistics);
    assert_int_equal(statistics.in_use, 0);
}

static void
packets_asked_for(void **state)
{
    mcapi_status_t status;
    mcapi_request_t receives[2], send;
    void *buffers[2];
    unsigned number = 5;
    (void)state;
    channel c = channel_make(&of_packets);
    for (int i = 0; i < 2; i++) {
        mcapi_pktchan_recv_i(c.receiver, &buffers[i], &receives[i], &status);
        assert_int_equal(status, MCAPI_SUCCESS);
    }
    mcapi_pktchan_send_i(c.sender, &number, sizeof number, &send, &status);
    assert_int_equal(expect_end(send, MCAPI_SUCCESS), sizeof number);
    assert_int_equal(expect_end(receives[0], MCAPI_SUCCESS), sizeof number);
    assert_int_equal(*(unsigned *)buffers[0], 5);
    mcapi_pktchan_release(buffers[0], &status);
    close_end(mcapi_pktchan_send_close_i, c.sender);
    (void)expect_end(receives[1], MCAPI_ERR_ENDP_DELETED);
    assert_int_equal(mcapi_pktchan_available(c.receiver, &status), 0);
    assert_int_equal(status, MCAPI_ERR_ENDP_DELETED);
    mcapi_pktchan_send(c.sender, &number, sizeof number, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
}

static void
packets_too_long(void **state)
{
    static const unsigned char bytes[8192];
    mcapi_status_t status;
    (void)state;
    channel c = channel_make(&of_packets);
    mcapi_pktchan_send(c.sender, bytes, sizeof bytes, &status);
    assert_int_equal(status, MCAPI_ERR_PKT_SIZE);
    mcapi_pktchan_send(c.sender, NULL, 1, &status);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    assert_int_equal(mcapi_pktchan_available(c.receiver, &status), 0);
}

/* Keeps the process's part in the exchange there. */
static void *
takes_part(void *argument)
{
    (void)argument;
    exchange_begin(OTHER);
    stage_reach(1);
    stage_await(2);
    exchange_end();
    return NULL;
}

/* A node that finalized with a channel open, and is there again, has none of its ends. */
static void
finalized_open(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    exchange_end();
    (void)node_up(state); /* a node of both, that stays the same one */
    stage_reach(0);
    start(OTHER, takes_part);
    stage_await(1);
    exchange_begin(NODE);
    channel c = channel_make(&of_scalars);
    exchange_end();
    exchange_begin(NODE);
    mcapi_sclchan_send_uint8(c.sender, 1, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    (void)mcapi_sclchan_available(c.receiver, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    mcapi_sclchan_send_close_i(c.sender, &request, &status);
    assert_int_equal(status, MCAPI_ERR_CHAN_NOTOPEN);
    exchange_end();
    stage_reach(2);
    join(OTHER, 0);
    (void)node_down(state);
    exchange_begin(NODE);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lives, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(to_itself, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(packet_of_no_buffer, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(opened_first, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(opened_first_wrongly, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(must_agree, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(no_request_left, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(agree_while_set, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(widths, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(other_end_closed, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(full, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(room_wanted, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(scalars_across, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(packets_kept, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(buffers_come_back, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(packets_asked_for, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(packets_too_long, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(finalized_open, exchange_up, exchange_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
