/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For conformance tests of MCAPI's channels, of packets and of scalars: both ends, connected,
 * opened and closed; and of topics. */
#ifndef MEDLEY_TESTS_SUPPORT_CHANNEL_H
#define MEDLEY_TESTS_SUPPORT_CHANNEL_H

#include "medley/mcapi_ext.h"
#include "support/exchange.h"

typedef struct channel_kind {
    void (*connect)(mcapi_endpoint_t, mcapi_endpoint_t, mcapi_request_t *, mcapi_status_t *);
    void (*open_sender)(unsigned *, mcapi_endpoint_t, mcapi_request_t *, mcapi_status_t *);
    void (*open_receiver)(unsigned *, mcapi_endpoint_t, mcapi_request_t *, mcapi_status_t *);
    void (*close_sender)(unsigned, mcapi_request_t *, mcapi_status_t *);
    void (*close_receiver)(unsigned, mcapi_request_t *, mcapi_status_t *);
    unsigned (*available)(unsigned, mcapi_status_t *);
} channel_kind;

static const channel_kind of_packets = {mcapi_pktchan_connect_i,    mcapi_pktchan_send_open_i,
                                        mcapi_pktchan_recv_open_i,  mcapi_pktchan_send_close_i,
                                        mcapi_pktchan_recv_close_i, mcapi_pktchan_available};
static const channel_kind of_scalars = {mcapi_sclchan_connect_i,    mcapi_sclchan_send_open_i,
                                        mcapi_sclchan_recv_open_i,  mcapi_sclchan_send_close_i,
                                        mcapi_sclchan_recv_close_i, mcapi_sclchan_available};

typedef struct channel {
    mcapi_endpoint_t from;
    mcapi_endpoint_t to;
    unsigned sender;
    unsigned receiver;
} channel;

static inline void
connect(const channel_kind *kind,
        mcapi_endpoint_t from,
        mcapi_endpoint_t to,
        mcapi_status_t expected)
{
    mcapi_status_t status;
    mcapi_request_t request;
    kind->connect(from, to, &request, &status);
    assert_int_equal(status, expected);
    if (status == MCAPI_SUCCESS) {
        (void)expect_end(request, MCAPI_SUCCESS);
    }
}

static inline unsigned
sender_open(const channel_kind *kind, mcapi_endpoint_t from)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned sender;
    kind->open_sender(&sender, from, &request, &status);
    (void)expect_end(request, MCAPI_SUCCESS);
    return sender;
}

static inline unsigned
receiver_open(const channel_kind *kind, mcapi_endpoint_t to)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned receiver;
    kind->open_receiver(&receiver, to, &request, &status);
    (void)expect_end(request, MCAPI_SUCCESS);
    return receiver;
}

static inline void
sender_close(const channel_kind *kind, unsigned sender)
{
    mcapi_status_t status;
    mcapi_request_t request;
    kind->close_sender(sender, &request, &status);
    (void)expect_end(request, MCAPI_SUCCESS);
}

static inline void
receiver_close(const channel_kind *kind, unsigned receiver)
{
    mcapi_status_t status;
    mcapi_request_t request;
    kind->close_receiver(receiver, &request, &status);
    (void)expect_end(request, MCAPI_SUCCESS);
}

/* Of two endpoints of the caller's. */
static inline channel
channel_between(const channel_kind *kind, mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    channel c = {.from = from, .to = to};
    connect(kind, from, to, MCAPI_SUCCESS);
    c.sender = sender_open(kind, from);
    c.receiver = receiver_open(kind, to);
    return c;
}

/* The receiving end of what that endpoint publishes. */
static inline unsigned
subscribe(mcapi_endpoint_t topic, mcapi_endpoint_t to, mcapi_status_t expected)
{
    mcapi_status_t status;
    unsigned receiver = 0;
    medley_mcapi_topic_subscribe(topic, to, &receiver, &status);
    assert_int_equal(status, expected);
    return receiver;
}

/* With its endpoints. */
static inline void
channel_end(const channel_kind *kind, const channel *c)
{
    sender_close(kind, c->sender);
    receiver_close(kind, c->receiver);
    endpoint_delete(c->from);
    endpoint_delete(c->to);
}

#endif
