/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* MCAPI's calls on channels, between harts, and what each says of wrong arguments: packets, scalars
 * of each width, states and topics. */
#include "riscv_mcapi.h"

#define RECEIVER 0
#define SENDER 1
#define PORT 6
#define COUNT 200u

/* ---- Both ends ------------------------------------------------------------------------------- */

typedef struct end {
    mcapi_endpoint_t own;
    mcapi_endpoint_t another;
    unsigned handle;
} end;

/* The sender's hart connects. */
static bool
opens_sender(end *e, connect_call *connect, open_call *open)
{
    return finds(RECEIVER, PORT, &e->another) && connects(connect, e->own, e->another) &&
           opens(open, e->own, &e->handle);
}

/* ---- Packets --------------------------------------------------------------------------------- */

static bool
wrong_senders_say_so(const end *e)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned handle;
    char byte = 0;
    return SAYS(MCAPI_ERR_CHAN_CONNECTED,
                mcapi_pktchan_connect_i(e->own, e->another, &request, &status)) &&
           SAYS(MCAPI_ERR_CHAN_OPEN,
                mcapi_pktchan_send_open_i(&handle, e->own, &request, &status)) &&
           SAYS(MCAPI_ERR_ENDP_INVALID,
                mcapi_pktchan_recv_open_i(&handle, e->another, &request, &status)) &&
           SAYS(MCAPI_ERR_CHAN_INVALID,
                mcapi_pktchan_send_i(e->own, &byte, 1, &request, &status)) &&
           SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_send(e->handle, NULL, 1, &status)) &&
           SAYS(MCAPI_ERR_PKT_SIZE,
                mcapi_pktchan_send(e->handle, &byte, MCAPI_MAX_PACKET_SIZE + 1, &status)) &&
           SAYS(MCAPI_ERR_CHAN_TYPE, mcapi_sclchan_send_uint8(e->handle, 1, &status)) &&
           SAYS(MCAPI_ERR_CHAN_INVALID, mcapi_pktchan_available(e->handle, &status)) &&
           SAYS(MCAPI_ERR_CHAN_INVALID, medley_mcapi_pktchan_take(e->own, &status)) &&
           SAYS(MCAPI_ERR_BUF_INVALID,
                medley_mcapi_pktchan_send_taken(e->handle, &byte, 1, &status)) &&
           SAYS(MCAPI_ERR_BUF_INVALID, mcapi_pktchan_release(&byte, &status)) &&
           SAYS(MCAPI_ERR_CHAN_DIRECTION,
                mcapi_pktchan_recv_close_i(e->handle, &request, &status)) &&
           SAYS(MCAPI_ERR_CHAN_TYPE, mcapi_sclchan_send_close_i(e->handle, &request, &status));
}

static bool
sends_in_place(const end *e)
{
    mcapi_status_t status;
    uint32_t *packet = medley_mcapi_pktchan_take(e->handle, &status);
    if (!packet || status != MCAPI_SUCCESS) {
        return false;
    }
    *packet = 3;
    medley_mcapi_pktchan_send_taken(e->handle, packet, sizeof *packet, &status);
    bool sent = status == MCAPI_SUCCESS;
    meet();
    /* Till the next meeting the receiver keeps it. */
    sent = sent && SAYS(MCAPI_PENDING, mcapi_pktchan_release_test(packet, &status));
    meet();
    meet();
    return sent && mcapi_pktchan_release_test(packet, &status) && status == MCAPI_SUCCESS;
}

static const char *
sends_packets(end *e)
{
    mcapi_status_t status;
    mcapi_request_t request;
    uint32_t number = 1;
    if (!opens_sender(e, mcapi_pktchan_connect_i, mcapi_pktchan_send_open_i) ||
        !wrong_senders_say_so(e)) {
        return "the sender opens its end, and is told what is wrong";
    }
    meet();
    mcapi_pktchan_send_i(e->handle, &number, sizeof number, &request, &status);
    if (status != MCAPI_SUCCESS || !ends_well(request)) {
        return "a packet is sent that was not waited for";
    }
    number++;
    if (!SAYS(MCAPI_SUCCESS, mcapi_pktchan_send(e->handle, &number, sizeof number, &status)) ||
        !sends_in_place(e)) {
        return "a packet is filled in place, and comes back";
    }
    meet();
    if (!SAYS(MCAPI_ERR_TRANSMISSION,
              mcapi_pktchan_send(e->handle, &number, sizeof number, &status))) {
        return "the sender is told that the receiver is gone";
    }
    return closes(mcapi_pktchan_send_close_i, e->handle) &&
                   SAYS(MCAPI_ERR_CHAN_NOTOPEN,
                        mcapi_pktchan_send_close_i(e->handle, &request, &status))
               ? NULL
               : "an end is closed once";
}

static bool
is_packet(const void *packet, size_t size, uint32_t number)
{
    return size == sizeof number && *(const uint32_t *)packet == number;
}

static bool
receives_packets_kept(const end *e)
{
    mcapi_status_t status;
    void *second, *third;
    size_t sizes[2];
    meet();
    if (mcapi_pktchan_available(e->handle, &status) != 2 || status != MCAPI_SUCCESS) {
        return false;
    }
    mcapi_pktchan_recv(e->handle, &second, &sizes[0], &status);
    bool good = status == MCAPI_SUCCESS && is_packet(second, sizes[0], 2);
    mcapi_pktchan_recv(e->handle, &third, &sizes[1], &status);
    good = good && status == MCAPI_SUCCESS && is_packet(third, sizes[1], 3);
    meet();
    good = good && SAYS(MCAPI_SUCCESS, mcapi_pktchan_release(third, &status)) &&
           SAYS(MCAPI_ERR_BUF_INVALID, mcapi_pktchan_release(third, &status)) &&
           SAYS(MCAPI_SUCCESS, mcapi_pktchan_release(second, &status));
    meet();
    return good && mcapi_pktchan_available(e->handle, &status) == 0;
}

static const char *
receives_packets(end *e)
{
    mcapi_status_t status;
    mcapi_request_t request;
    void *packet = NULL;
    size_t size = 0;
    if (!opens(mcapi_pktchan_recv_open_i, e->own, &e->handle)) {
        return "the receiver opens its end";
    }
    mcapi_pktchan_recv_i(e->handle, &packet, &request, &status);
    if (status != MCAPI_SUCCESS || !SAYS(MCAPI_PENDING, mcapi_test(&request, &size, &status)) ||
        !SAYS(MCAPI_ERR_PARAMETER, mcapi_pktchan_recv_i(e->handle, NULL, &request, &status)) ||
        !SAYS(MCAPI_ERR_CHAN_INVALID, mcapi_pktchan_recv(e->own, &packet, &size, &status))) {
        return "a packet is asked for before it is sent";
    }
    meet();
    if (!mcapi_wait(&request, &size, LONG_US, &status) || status != MCAPI_SUCCESS ||
        !is_packet(packet, size, 1) ||
        !SAYS(MCAPI_SUCCESS, mcapi_pktchan_release(packet, &status))) {
        return "it comes";
    }
    if (!receives_packets_kept(e)) {
        return "packets are kept as long as one likes";
    }
    bool closed = closes(mcapi_pktchan_recv_close_i, e->handle);
    meet();
    return closed ? NULL : "the receiver closes its end";
}

static const char *
carries_packets(mcapi_node_t self)
{
    end e;
    if (!makes(PORT, &e.own)) {
        return "an endpoint is made";
    }
    return self == RECEIVER ? receives_packets(&e) : sends_packets(&e);
}

static const char *
packets_belong_to_one_hart(void)
{
    return nodes_exchange(2, carries_packets);
}

/* ---- Scalars --------------------------------------------------------------------------------- */

static bool
sends_each_width(const end *e, uint32_t i)
{
    mcapi_status_t statuses[4];
    mcapi_sclchan_send_uint8(e->handle, (uint8_t)i, &statuses[0]);
    mcapi_sclchan_send_uint16(e->handle, (uint16_t)(i * 257), &statuses[1]);
    mcapi_sclchan_send_uint32(e->handle, i * 0x1010101u, &statuses[2]);
    mcapi_sclchan_send_uint64(e->handle, (uint64_t)i << 40 | i, &statuses[3]);
    for (uint32_t k = 0; k < 4; k++) {
        if (statuses[k] != MCAPI_SUCCESS) {
            return false;
        }
    }
    return true;
}

static bool
receives_each_width(const end *e, uint32_t i)
{
    mcapi_status_t statuses[4];
    bool good = mcapi_sclchan_recv_uint8(e->handle, &statuses[0]) == (uint8_t)i;
    good = mcapi_sclchan_recv_uint16(e->handle, &statuses[1]) == (uint16_t)(i * 257) && good;
    good = mcapi_sclchan_recv_uint32(e->handle, &statuses[2]) == i * 0x1010101u && good;
    good = mcapi_sclchan_recv_uint64(e->handle, &statuses[3]) == ((uint64_t)i << 40 | i) && good;
    for (uint32_t k = 0; k < 4; k++) {
        good = good && statuses[k] == MCAPI_SUCCESS;
    }
    return good;
}

static const char *
sends_scalars(end *e)
{
    static mcapi_uint64_t many[COUNT];
    mcapi_status_t status;
    if (!opens_sender(e, mcapi_sclchan_connect_i, mcapi_sclchan_send_open_i)) {
        return "the sender opens its end";
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        many[i] = i;
        if (!sends_each_width(e, i)) {
            return "scalars of each width are sent";
        }
    }
    if (!SAYS(MCAPI_ERR_SCL_SIZE, medley_mcapi_sclchan_send_many(e->handle, many, 1, 3, &status)) ||
        !SAYS(MCAPI_ERR_CHAN_INVALID, mcapi_sclchan_send_uint16(e->own, 1, &status)) ||
        !SAYS(MCAPI_ERR_CHAN_TYPE, mcapi_pktchan_send(e->handle, many, 1, &status)) ||
        medley_mcapi_sclchan_send_many(e->handle, many, COUNT, 4, &status) != COUNT) {
        return "many are sent, of a width that there is";
    }
    meet(); /* the receiver has left */
    if (!SAYS(MCAPI_ERR_TRANSMISSION, mcapi_sclchan_send_uint32(e->handle, 1, &status))) {
        return "the sender is told that the receiver is gone";
    }
    return closes(mcapi_sclchan_send_close_i, e->handle) ? NULL : "the sender closes its end";
}

static const char *
receives_scalars(end *e)
{
    mcapi_status_t status;
    mcapi_uint64_t some[8];
    if (!opens(mcapi_sclchan_recv_open_i, e->own, &e->handle)) {
        return "the receiver opens its end";
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        if (!receives_each_width(e, i)) {
            return "scalars of each width come once and in order";
        }
    }
    if (!SAYS(MCAPI_ERR_SCL_SIZE, mcapi_sclchan_recv_uint8(e->handle, &status)) ||
        !SAYS(MCAPI_ERR_CHAN_INVALID, mcapi_sclchan_recv_uint16(e->own, &status)) ||
        !SAYS(MCAPI_ERR_CHAN_INVALID, mcapi_sclchan_available(e->own, &status)) ||
        mcapi_sclchan_available(e->handle, &status) == 0) {
        return "one of another width stays there";
    }
    for (uint32_t next = 0; next < COUNT;) {
        uint32_t got = medley_mcapi_sclchan_recv_many(e->handle, some, 8, 4, &status);
        for (uint32_t k = 0; k < got; k++) {
            if (some[k] != next++) {
                return "many come, in order";
            }
        }
        if (got == 0 || status != MCAPI_SUCCESS) {
            return "those are received that are there";
        }
    }
    bool closed = closes(mcapi_sclchan_recv_close_i, e->handle);
    meet();
    return closed ? NULL : "the receiver closes its end";
}

static const char *
carries_scalars(mcapi_node_t self)
{
    end e;
    if (!makes(PORT, &e.own)) {
        return "an endpoint is made";
    }
    return self == RECEIVER ? receives_scalars(&e) : sends_scalars(&e);
}

static const char *
scalars_have_their_width(void)
{
    return nodes_exchange(2, carries_scalars);
}

/* ---- States and topics ----------------------------------------------------------------------- */

#define PUBLISHER 0
#define SUBSCRIBERS 3u

static bool
makes_of_states(mcapi_endpoint_t *endpoint)
{
    mcapi_status_t status;
    mcapi_uint_t state = MCAPI_ENDP_ATTR_STATE_BUFFER;
    return makes(PORT, endpoint) &&
           SAYS(MCAPI_SUCCESS, mcapi_endpoint_set_attribute(*endpoint, MCAPI_ENDP_ATTR_BUFFER_TYPE,
                                                            &state, sizeof state, &status));
}

/* To all, though some may be slow. */
static const char *
publishes(mcapi_endpoint_t topic, bool states)
{
    mcapi_status_t status;
    unsigned none;
    meet(); /* it is there */
    meet(); /* all have subscribed */
    if (!SAYS(MCAPI_ERR_ENDP_INVALID, medley_mcapi_topic_publish(0, &none, 4, &status)) ||
        !SAYS(MCAPI_ERR_PARAMETER, medley_mcapi_topic_publish(topic, NULL, 4, &status)) ||
        !SAYS(MCAPI_ERR_PKT_SIZE,
              medley_mcapi_topic_publish(topic, &none, MCAPI_MAX_PACKET_SIZE + 1, &status)) ||
        !SAYS(MCAPI_ERR_CHAN_INVALID, medley_mcapi_topic_lost(topic, &status))) {
        return "what cannot be published says so";
    }
    for (uint32_t number = 1; number <= COUNT; number++) {
        if (medley_mcapi_topic_publish(topic, &number, sizeof number, &status) != SUBSCRIBERS ||
            status != MCAPI_SUCCESS) {
            return states ? "a state reaches all" : "what is published reaches all";
        }
    }
    meet(); /* all have received it */
    return NULL;
}

static bool
subscribes(end *e)
{
    mcapi_status_t status;
    meet();
    bool good = finds(PUBLISHER, PORT, &e->another) &&
                SAYS(MCAPI_ERR_PARAMETER,
                     medley_mcapi_topic_subscribe(e->another, e->own, NULL, &status)) &&
                SAYS(MCAPI_ERR_ENDP_INVALID,
                     medley_mcapi_topic_subscribe(e->another, e->another, &e->handle, &status)) &&
                SAYS(MCAPI_SUCCESS,
                     medley_mcapi_topic_subscribe(e->another, e->own, &e->handle, &status)) &&
                SAYS(MCAPI_ERR_CHAN_CONNECTED,
                     medley_mcapi_topic_subscribe(e->another, e->own, &e->handle, &status));
    meet();
    return good;
}

static const char *
receives_all(const end *e)
{
    mcapi_status_t status;
    for (uint32_t number = 1; number <= COUNT; number++) {
        void *packet;
        size_t size;
        mcapi_pktchan_recv(e->handle, &packet, &size, &status);
        if (status != MCAPI_SUCCESS || !is_packet(packet, size, number) ||
            !SAYS(MCAPI_SUCCESS, mcapi_pktchan_release(packet, &status))) {
            return "a subscriber has all that is published";
        }
    }
    return medley_mcapi_topic_lost(e->handle, &status) == 0 && status == MCAPI_SUCCESS
               ? NULL
               : "nothing is lost to him";
}

static const char *
receives_newest(const end *e)
{
    mcapi_status_t status;
    medley_mcapi_state_counts_t counts;
    uint32_t newest = 0;
    while (newest != COUNT) {
        uint32_t value = 0;
        size_t size;
        medley_mcapi_state_wait(e->handle, LONG_US, &status);
        if (status != MCAPI_SUCCESS) {
            return "a subscriber waits for a newer state";
        }
        medley_mcapi_state_recv(e->handle, &value, sizeof value, &size, &status);
        if (status != MCAPI_SUCCESS || size != sizeof value || value <= newest) {
            return "and has it";
        }
        newest = value;
    }
    bool good =
        SAYS(MCAPI_TIMEOUT, medley_mcapi_state_wait(e->handle, 500, &status)) &&
        SAYS(MCAPI_ERR_PARAMETER, medley_mcapi_state_counts_get(e->handle, NULL, &status)) &&
        SAYS(MCAPI_ERR_CHAN_INVALID, medley_mcapi_state_wait(e->own, 0, &status)) &&
        SAYS(MCAPI_ERR_CHAN_INVALID, medley_mcapi_state_counts_get(e->own, &counts, &status)) &&
        SAYS(MCAPI_SUCCESS, medley_mcapi_state_counts_get(e->handle, &counts, &status));
    return good && counts.retries_worst <= counts.retries ? NULL : "what it cost is counted";
}

static const char *
takes_part_in_topic(mcapi_node_t self, bool states)
{
    end e;
    if (!(states ? makes_of_states(&e.own) : makes(PORT, &e.own))) {
        return "an endpoint is made";
    }
    if (self == PUBLISHER) {
        return publishes(e.own, states);
    }
    if (!subscribes(&e)) {
        return "a hart subscribes, once";
    }
    const char *broken = states ? receives_newest(&e) : receives_all(&e);
    if (broken) {
        return broken;
    }
    meet();
    return closes(mcapi_pktchan_recv_close_i, e.handle) ? NULL : "a subscriber closes its end";
}

static const char *
has_to_do_with_packets(mcapi_node_t self)
{
    return takes_part_in_topic(self, false);
}

static const char *
has_to_do_with_states(mcapi_node_t self)
{
    return takes_part_in_topic(self, true);
}

static const char *
topics_reach_all_harts(void)
{
    return nodes_exchange(1 + SUBSCRIBERS, has_to_do_with_packets);
}

static const char *
states_have_many_readers(void)
{
    return nodes_exchange(1 + SUBSCRIBERS, has_to_do_with_states);
}

const med_port_check channel_checks[] = {
    {"packets belong to one hart", packets_belong_to_one_hart},
    {"scalars have their width", scalars_have_their_width},
    {"topics reach all harts", topics_reach_all_harts},
    {"states have many readers", states_have_many_readers},
};
const uint32_t channel_check_count = sizeof channel_checks / sizeof channel_checks[0];
