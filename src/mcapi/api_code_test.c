/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The codes that mcapi.h names, each from the call that it is named for: those that no test of what
 * the calls are for comes to. Run in a private system and in a named one.
 */
#include "medley/mcapi_ext.h"
#include "mrapi/system.h"
#include "support/channel.h"
#include "support/requests.h"

#define FROM 1
#define TO 2
#define NONE 0u /* no endpoint, and no end of a channel */

typedef struct pair {
    mcapi_endpoint_t from;
    mcapi_endpoint_t to;
} pair;

static pair
pair_make(mcapi_port_t port)
{
    pair p = {.from = endpoint_make(port)};
    p.to = endpoint_make(port + 1);
    return p;
}

/* Who sends from there is not to wait. */
static void
never_waits(mcapi_endpoint_t from)
{
    assert_int_equal(
        attribute_set(from, MCAPI_ENDP_ATTR_MEMORY_TYPE, MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT),
        MCAPI_SUCCESS);
}

/* How what was asked for ends, at once or later. */
static mcapi_status_t
end_of(mcapi_request_t *request, mcapi_status_t status)
{
    size_t size;
    if (status == MCAPI_SUCCESS || status == MCAPI_PENDING) {
        (void)mcapi_wait(request, &size, MCAPI_TIMEOUT_INFINITE, &status);
    }
    return status;
}

/* ---- Nodes and endpoints --------------------------------------------------------------------- */

static void
numbers_and_attributes(void **state)
{
    mcapi_status_t place;
    mcapi_status_t *status = &place;
    mcapi_request_t request;
    mcapi_endpoint_t endpoint;
    mcapi_uint_t value;
    (void)state;
    SAYS(MCAPI_ERR_ATTR_NUM,
         mcapi_node_get_attribute(DOMAIN, NODE, MCAPI_NODE_ATTR_END, &value, sizeof value, status));
    SAYS(MCAPI_ERR_ATTR_SIZE,
         mcapi_node_get_attribute(DOMAIN, NODE, MCAPI_NODE_ATTR_TYPE, &value, 1, status));
    SAYS(MCAPI_ERR_DOMAIN_INVALID,
         mcapi_endpoint_get_i(MCAPI_DOMAIN_INVALID, NODE, FROM, &endpoint, &request, status));
    SAYS(MCAPI_ERR_NODE_INVALID,
         mcapi_endpoint_get_i(DOMAIN, MCAPI_NODE_INVALID, FROM, &endpoint, &request, status));
    SAYS(MCAPI_ERR_PORT_INVALID,
         mcapi_endpoint_get_i(DOMAIN, NODE, MCAPI_PORT_ANY, &endpoint, &request, status));
}

/* As many as the system has; and again, when one has gone. */
static void
no_endpoint_left(void **state)
{
    mcapi_status_t status = MCAPI_SUCCESS;
    mcapi_endpoint_t last = 0, next = 0;
    uint32_t count = 0;
    (void)state;
    while (status == MCAPI_SUCCESS) {
        last = next;
        next = mcapi_endpoint_create(MCAPI_PORT_ANY, &status);
        count += status == MCAPI_SUCCESS;
    }
    assert_int_equal(status, MCAPI_ERR_ENDP_LIMIT);
    assert_int_equal(count, med_self_get()->system->limits.endpoints);
    endpoint_delete(last);
    (void)endpoint_make(FROM);
}

/* What each of its two parts says, and nothing else. */
static void
memory_types(void **state)
{
    const mcapi_uint_t good[] = {MCAPI_ENDP_ATTR_LOCAL_MEMORY, MCAPI_ENDP_ATTR_SHARED_MEMORY,
                                 MCAPI_ENDP_ATTR_REMOTE_MEMORY,
                                 MCAPI_ENDP_ATTR_REMOTE_MEMORY | MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT};
    const mcapi_uint_t bad[] = {3, 77, 2 * MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT,
                                3 | MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT, UINT32_MAX};
    mcapi_status_t status;
    mcapi_uint_t value;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(FROM);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(attribute_set(at, MCAPI_ENDP_ATTR_MEMORY_TYPE, good[i]), MCAPI_SUCCESS);
        for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
            assert_int_equal(attribute_set(at, MCAPI_ENDP_ATTR_MEMORY_TYPE, bad[k]),
                             MCAPI_ERR_ATTR_VALUE);
        }
        mcapi_endpoint_get_attribute(at, MCAPI_ENDP_ATTR_MEMORY_TYPE, &value, sizeof value,
                                     &status);
        assert_int_equal(value, good[i]);
    }
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void
messages_asked_wrongly(void **state)
{
    static unsigned char bytes[MCAPI_MAX_MESSAGE_SIZE + 1];
    mcapi_status_t place;
    mcapi_status_t *status = &place;
    mcapi_request_t request;
    (void)state;
    const pair p = pair_make(FROM);
    SAYS(MCAPI_ERR_ENDP_INVALID, mcapi_msg_send_i(NONE, p.to, bytes, 1, 0, &request, status));
    SAYS(MCAPI_ERR_ENDP_INVALID, mcapi_msg_send_i(p.from, NONE, bytes, 1, 0, &request, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_msg_send_i(p.from, p.to, NULL, 1, 0, &request, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_msg_send_i(p.from, p.to, bytes, 1, 0, NULL, status));
    SAYS(MCAPI_ERR_PRIORITY,
         mcapi_msg_send_i(p.from, p.to, bytes, 1, MCAPI_MIN_PRIORITY + 1, &request, status));
    SAYS(MCAPI_ERR_MSG_SIZE,
         mcapi_msg_send_i(p.from, p.to, bytes, sizeof bytes, 0, &request, status));
    assert_int_equal(attribute_set(p.to, MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, 8), MCAPI_SUCCESS);
    SAYS(MCAPI_ERR_MSG_SIZE, mcapi_msg_send_i(p.from, p.to, bytes, 9, 0, &request, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_msg_recv_i(p.to, NULL, 1, &request, status));
    SAYS(MCAPI_ERR_PARAMETER, mcapi_msg_recv_i(p.to, bytes, 1, NULL, status));
    assert_int_equal(mcapi_msg_available(p.to, status), 0);
}

static void
messages_at_a_channel(void **state)
{
    mcapi_status_t place;
    mcapi_status_t *status = &place;
    mcapi_request_t request;
    unsigned number = 1;
    size_t size;
    (void)state;
    const pair p = pair_make(FROM), free_ones = pair_make(3);
    connect(&of_scalars, p.from, p.to, MCAPI_SUCCESS);
    SAYS(MCAPI_ERR_GENERAL,
         mcapi_msg_send_i(p.from, free_ones.to, &number, sizeof number, 0, &request, status));
    SAYS(MCAPI_ERR_GENERAL,
         mcapi_msg_send_i(free_ones.from, p.to, &number, sizeof number, 0, &request, status));
    SAYS(MCAPI_ERR_GENERAL, mcapi_msg_recv(p.to, &number, sizeof number, &size, status));
    SAYS(MCAPI_ERR_GENERAL, mcapi_msg_recv_i(p.to, &number, sizeof number, &request, status));
    SAYS(MCAPI_ERR_GENERAL,
         medley_mcapi_msg_send_many(p.from, free_ones.to, &number, sizeof number, 1, 0, status));
}

static void
messages_without_room(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned number = 0;
    (void)state;
    const pair waits = pair_make(FROM), fails = pair_make(3);
    do {
        mcapi_msg_send_i(waits.from, waits.to, &number, sizeof number, 0, &request, &status);
        if (status == MCAPI_SUCCESS && !mcapi_test(&request, &(size_t){0}, &status)) {
            break;
        }
    } while (status == MCAPI_SUCCESS);
    assert_int_equal(status, MCAPI_PENDING);
    mcapi_cancel(&request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    never_waits(fails.from);
    do {
        mcapi_msg_send_i(fails.from, fails.to, &number, sizeof number, 0, &request, &status);
        status = end_of(&request, status);
    } while (status == MCAPI_SUCCESS);
    assert_int_equal(status, MCAPI_ERR_MEM_LIMIT);
    assert_int_equal(
        medley_mcapi_msg_send_many(fails.from, fails.to, &number, sizeof number, 1, 0, &status), 0);
    assert_int_equal(status, MCAPI_ERR_MEM_LIMIT);
}

/* ---- Channels -------------------------------------------------------------------------------- */

/* Every call that makes a request, when all are in use: nothing has changed by it. */
static void
no_request_left(void **state)
{
    mcapi_status_t place;
    mcapi_status_t *status = &place;
    mcapi_request_t request;
    mcapi_endpoint_t endpoint;
    unsigned handle, number = 0;
    void *packet;
    (void)state;
    const pair p = pair_make(FROM), more = pair_make(3);
    const pair of_p = pair_make(5), of_s = pair_make(7);
    channel packets = channel_between(&of_packets, of_p.from, of_p.to);
    channel scalars = channel_between(&of_scalars, of_s.from, of_s.to);
    requests_use_up(more.to);
    SAYS(MCAPI_ERR_REQUEST_LIMIT,
         mcapi_endpoint_get_i(DOMAIN, NODE, FROM, &endpoint, &request, status));
    SAYS(MCAPI_ERR_REQUEST_LIMIT,
         mcapi_msg_send_i(p.from, p.to, &number, sizeof number, 0, &request, status));
    SAYS(MCAPI_ERR_REQUEST_LIMIT, mcapi_sclchan_connect_i(p.from, p.to, &request, status));
    SAYS(MCAPI_ERR_REQUEST_LIMIT, mcapi_pktchan_recv_open_i(&handle, p.to, &request, status));
    SAYS(MCAPI_ERR_REQUEST_LIMIT, mcapi_sclchan_recv_open_i(&handle, p.to, &request, status));
    SAYS(MCAPI_ERR_REQUEST_LIMIT, mcapi_sclchan_send_open_i(&handle, p.from, &request, status));
    SAYS(MCAPI_ERR_REQUEST_LIMIT, mcapi_pktchan_send_i(packets.sender, "", 1, &request, status));
    SAYS(MCAPI_ERR_REQUEST_LIMIT,
         mcapi_pktchan_recv_i(packets.receiver, &packet, &request, status));
    SAYS(MCAPI_ERR_REQUEST_LIMIT, mcapi_sclchan_send_close_i(scalars.sender, &request, status));
    SAYS(MCAPI_ERR_REQUEST_LIMIT, mcapi_sclchan_recv_close_i(scalars.receiver, &request, status));
    requests_give_back();
    assert_int_equal(mcapi_msg_available(p.to, status), 0);
    assert_int_equal(mcapi_pktchan_available(packets.receiver, status), 0);
    connect(&of_packets, p.from, p.to, MCAPI_SUCCESS);
    channel_end(&of_packets, &packets);
    channel_end(&of_scalars, &scalars);
}

static void
opens_asked_wrongly(void **state)
{
    static const channel_kind *const kinds[] = {&of_packets, &of_scalars};
    mcapi_status_t place;
    mcapi_status_t *status = &place;
    mcapi_request_t request, again;
    unsigned handle;
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const channel_kind *k = kinds[i];
        const pair p = pair_make(FROM + 2 * i);
        SAYS(MCAPI_ERR_PARAMETER, k->connect(p.from, p.to, NULL, status));
        SAYS(MCAPI_ERR_PARAMETER, k->open_sender(NULL, p.from, &request, status));
        SAYS(MCAPI_ERR_PARAMETER, k->open_receiver(NULL, p.to, &request, status));
        SAYS(MCAPI_ERR_PARAMETER, k->open_sender(&handle, p.from, NULL, status));
        SAYS(MCAPI_ERR_PARAMETER, k->open_receiver(&handle, p.to, NULL, status));
        k->open_sender(&handle, p.from, &request, status);
        SAYS(MCAPI_ERR_CHAN_OPENPENDING, k->open_sender(&handle, p.from, &again, status));
        mcapi_cancel(&request, status);
        assert_int_equal(*status, MCAPI_SUCCESS);
        k->open_receiver(&handle, p.to, &request, status);
        SAYS(MCAPI_ERR_CHAN_OPENPENDING, k->open_receiver(&handle, p.to, &again, status));
        mcapi_cancel(&request, status);
        assert_int_equal(*status, MCAPI_SUCCESS);
        channel c = channel_between(k, p.from, p.to);
        SAYS(MCAPI_ERR_PARAMETER, k->close_sender(c.sender, NULL, status));
        SAYS(MCAPI_ERR_PARAMETER, k->close_receiver(c.receiver, NULL, status));
        channel_end(k, &c);
    }
}

static void
packets_asked_wrongly(void **state)
{
    mcapi_status_t place;
    mcapi_status_t *status = &place;
    mcapi_request_t request;
    void *packet;
    (void)state;
    const pair p = pair_make(FROM);
    channel c = channel_between(&of_scalars, p.from, p.to);
    SAYS(MCAPI_ERR_CHAN_TYPE, mcapi_pktchan_send_i(c.sender, "", 1, &request, status));
    SAYS(MCAPI_ERR_CHAN_TYPE, mcapi_pktchan_recv_i(c.receiver, &packet, &request, status));
    SAYS(MCAPI_ERR_CHAN_TYPE, medley_mcapi_pktchan_take(c.sender, status));
    channel_end(&of_scalars, &c);
}

static void
packets_without_room(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    (void)state;
    const pair p = pair_make(FROM);
    never_waits(p.from);
    never_waits(p.to);
    assert_int_equal(attribute_set(p.to, MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, 2), MCAPI_SUCCESS);
    channel c = channel_between(&of_packets, p.from, p.to);
    void *taken = medley_mcapi_pktchan_take(c.sender, &status);
    assert_non_null(taken);
    do {
        mcapi_pktchan_send(c.sender, "", 1, &status);
    } while (status == MCAPI_SUCCESS);
    assert_int_equal(status, MCAPI_ERR_MEM_LIMIT);
    mcapi_pktchan_send_i(c.sender, "", 1, &request, &status);
    assert_int_equal(end_of(&request, status), MCAPI_ERR_MEM_LIMIT);
    medley_mcapi_pktchan_send_taken(c.sender, taken, 1, &status);
    assert_int_equal(status, MCAPI_ERR_MEM_LIMIT);
    mcapi_pktchan_release(taken, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    channel_end(&of_packets, &c);
}

/* The other end is closed: who sends is told by a request, too, and who receives. */
static void
packets_for_nobody(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    void *packet;
    (void)state;
    const pair p = pair_make(FROM);
    channel c = channel_between(&of_packets, p.from, p.to);
    receiver_close(&of_packets, c.receiver);
    mcapi_pktchan_send_i(c.sender, "", 1, &request, &status);
    assert_int_equal(end_of(&request, status), MCAPI_ERR_TRANSMISSION);
    sender_close(&of_packets, c.sender);
    c = channel_between(&of_packets, p.from, p.to);
    sender_close(&of_packets, c.sender);
    mcapi_pktchan_recv_i(c.receiver, &packet, &request, &status);
    assert_int_equal(end_of(&request, status), MCAPI_ERR_ENDP_DELETED);
    receiver_close(&of_packets, c.receiver);
}

/* ---- Scalars, of each width ------------------------------------------------------------------ */

#define OF_WIDTH(bits)                                                                             \
    static void send_##bits(unsigned sender, mcapi_status_t *status)                               \
    {                                                                                              \
        mcapi_sclchan_send_uint##bits(sender, 1, status);                                          \
    }                                                                                              \
    static void receive_##bits(unsigned receiver, mcapi_status_t *status)                          \
    {                                                                                              \
        (void)mcapi_sclchan_recv_uint##bits(receiver, status);                                     \
    }

OF_WIDTH(8)
OF_WIDTH(16)
OF_WIDTH(32)
OF_WIDTH(64)

static const struct width {
    void (*send)(unsigned sender, mcapi_status_t *status);
    void (*receive)(unsigned receiver, mcapi_status_t *status);
} widths[] = {
    {send_8, receive_8}, {send_16, receive_16}, {send_32, receive_32}, {send_64, receive_64}};

#define WIDTHS (sizeof widths / sizeof widths[0])

static void
width_with_wrong_handles(const struct width *w, const channel *packets)
{
    mcapi_status_t place;
    mcapi_status_t *status = &place;
    SAYS(MCAPI_ERR_CHAN_INVALID, w->send(NONE, status));
    SAYS(MCAPI_ERR_CHAN_INVALID, w->receive(NONE, status));
    SAYS(MCAPI_ERR_CHAN_TYPE, w->send(packets->sender, status));
    SAYS(MCAPI_ERR_CHAN_TYPE, w->receive(packets->receiver, status));
}

/* Without room, and without a value. */
static void
width_in_vain(const struct width *w, const struct width *other, pair p, bool waits)
{
    mcapi_status_t place;
    mcapi_status_t *status = &place;
    timeout_set(p.from, 0);
    timeout_set(p.to, 0);
    channel c = channel_between(&of_scalars, p.from, p.to);
    SAYS(MCAPI_TIMEOUT, w->receive(c.receiver, status));
    do {
        w->send(c.sender, status);
    } while (*status == MCAPI_SUCCESS);
    assert_int_equal(*status, waits ? MCAPI_TIMEOUT : MCAPI_ERR_MEM_LIMIT);
    SAYS(MCAPI_ERR_SCL_SIZE, other->receive(c.receiver, status));
    SAYS(MCAPI_SUCCESS, w->receive(c.receiver, status)); /* it stayed */
    sender_close(&of_scalars, c.sender);
    do {
        w->receive(c.receiver, status);
    } while (*status == MCAPI_SUCCESS);
    assert_int_equal(*status, MCAPI_ERR_ENDP_DELETED);
    receiver_close(&of_scalars, c.receiver);
}

static void
width_for_nobody(const struct width *w, pair p)
{
    mcapi_status_t place;
    mcapi_status_t *status = &place;
    channel c = channel_between(&of_scalars, p.from, p.to);
    receiver_close(&of_scalars, c.receiver);
    SAYS(MCAPI_ERR_TRANSMISSION, w->send(c.sender, status));
    sender_close(&of_scalars, c.sender);
}

static void
scalars_of_each_width(void **state)
{
    (void)state;
    const pair of_p = pair_make(FROM), waits = pair_make(3), fails = pair_make(5);
    channel packets = channel_between(&of_packets, of_p.from, of_p.to);
    never_waits(fails.from);
    never_waits(fails.to);
    for (size_t i = 0; i < WIDTHS; i++) {
        const struct width *other = &widths[(i + 1) % WIDTHS];
        width_with_wrong_handles(&widths[i], &packets);
        width_in_vain(&widths[i], other, waits, true);
        width_in_vain(&widths[i], other, fails, false);
        width_for_nobody(&widths[i], waits);
    }
    channel_end(&of_packets, &packets);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_and_attributes, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(no_endpoint_left, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(memory_types, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(messages_asked_wrongly, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(messages_at_a_channel, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(messages_without_room, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(no_request_left, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(opens_asked_wrongly, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(packets_asked_wrongly, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(packets_without_room, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(packets_for_nobody, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(scalars_of_each_width, exchange_up, exchange_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("mcapi/codes", tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
