/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For conformance tests of what goes over MCAPI's packet channels: both ends, connected
 * and opened. */
#ifndef MEDLEY_TESTS_SUPPORT_PACKET_CHANNEL_H
#define MEDLEY_TESTS_SUPPORT_PACKET_CHANNEL_H

#include "support/exchange.h"

typedef struct channel {
    mcapi_endpoint_t from;
    mcapi_endpoint_t to;
    unsigned sender;
    unsigned receiver;
} channel;

/* Whether they may be is the test's question. */
static inline mcapi_status_t
connect(mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_pktchan_connect_i(from, to, &request, &status);
    if (status == MCAPI_SUCCESS) {
        (void)expect_end(request, MCAPI_SUCCESS);
    }
    return status;
}

static inline unsigned
sender_open(mcapi_endpoint_t from)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned sender;
    mcapi_pktchan_send_open_i(&sender, from, &request, &status);
    (void)expect_end(request, MCAPI_SUCCESS);
    return sender;
}

static inline unsigned
receiver_open(mcapi_endpoint_t to)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned receiver;
    mcapi_pktchan_recv_open_i(&receiver, to, &request, &status);
    (void)expect_end(request, MCAPI_SUCCESS);
    return receiver;
}

/* Of two endpoints of the caller's. */
static inline channel
channel_between(mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    channel c = {.from = from, .to = to};
    assert_int_equal(connect(from, to), MCAPI_SUCCESS);
    c.sender = sender_open(from);
    c.receiver = receiver_open(to);
    return c;
}

#endif
