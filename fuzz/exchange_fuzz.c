/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* MCAPI's calls, with any handles, lengths and widths, while a hostile peer writes over what it
 * sees: the rows of endpoints and lanes, and the exchange's memory with its rings, records and
 * pool of buffers. Calls come back; nobody is asked to wait for longer than an instant. */
#include <mcapi.h>

#include "fuzz.h"
#include "mcapi/endpoint.h"
#include "medley/medley.h"
#include "mrapi/system.h"
#include "rows.h"

#define DOMAIN 1
#define OPERATIONS 96
#define KEPT 4u
#define BYTES 96u /* more than a buffer holds */

typedef struct hand {
    mcapi_endpoint_t endpoints[KEPT];
    mcapi_endpoint_t got[KEPT]; /* by requests */
    unsigned channels[KEPT];
    mcapi_request_t requests[KEPT];
    void *packets[KEPT];
    unsigned char bytes[KEPT][BYTES];
} hand;

static med_self *
begin(void)
{
    mcapi_status_t status;
    mcapi_info_t info;
    (void)setenv("MEDLEY_LOG", "quiet", 1);
    (void)setenv("MEDLEY_MAX_NODES", "4", 1);
    (void)setenv("MEDLEY_MAX_PROCESSES", "4", 1);
    (void)setenv("MEDLEY_MAX_SHMEMS", "4", 1);
    (void)setenv("MEDLEY_MAX_REQUESTS", "4", 1);
    (void)setenv("MEDLEY_MAX_ENDPOINTS", "4", 1);
    (void)setenv("MEDLEY_MAX_LANES", "6", 1);
    (void)setenv("MEDLEY_LANE_BYTES", "512", 1);
    (void)setenv("MEDLEY_MAX_BUFFERS", "8", 1);
    (void)setenv("MEDLEY_BUFFER_BYTES", "64", 1);
    if (medley_system_open(NULL) != MEDLEY_OK) {
        abort();
    }
    mcapi_initialize(DOMAIN, 1, NULL, NULL, &info, &status);
    if (status != MCAPI_SUCCESS) {
        abort();
    }
    return med_self_get();
}

/* ---- The peer -------------------------------------------------------------------------------- */

static void
peer_scribbles(fuzz_input *input, const med_self *self)
{
    const med_system *system = self->system;
    const med_exchange *exchange = self->exchange->exchange;
    unsigned char *memory = (unsigned char *)exchange->head;
    size_t lane_bytes = exchange->lane_stride;
    switch (fuzz_below(input, 4)) {
    case 0:
        rows_scribble(input, &system->endpoints);
        break;
    case 1:
        rows_scribble(input, &system->lanes);
        break;
    case 2:
        fuzz_scribble(input, memory, (size_t)(exchange->lanes - memory));
        break;
    default:
        fuzz_scribble(input, exchange->lanes + lane_bytes * fuzz_below(input, 6), lane_bytes);
        break;
    }
}

/* ---- The calls ------------------------------------------------------------------------------- */

/* One at which calls come back at once, or none: what is written over may not let itself be set. */
static mcapi_endpoint_t
impatient(mcapi_endpoint_t endpoint)
{
    mcapi_status_t status;
    mcapi_timeout_t at_once = 0;
    mcapi_endpoint_set_attribute(endpoint, MCAPI_ENDP_ATTR_TIMEOUT, &at_once, sizeof at_once,
                                 &status);
    return status == MCAPI_SUCCESS ? endpoint : MCAPI_RETURN_VALUE_INVALID;
}

static void
endpoint_operate(fuzz_input *input, hand *h, unsigned which)
{
    mcapi_status_t status;
    mcapi_uint_t value = fuzz_word(input), number = fuzz_below(input, 14);
    mcapi_endpoint_t *endpoint = &h->endpoints[which];
    switch (fuzz_below(input, 7)) {
    case 0:
        mcapi_endpoint_delete(*endpoint, &status);
        break;
    case 1:
        *endpoint = impatient(fuzz_take(input, 1) & 1 ? h->got[which] : fuzz_word(input));
        break;
    case 2:
        *endpoint = impatient(mcapi_endpoint_get(DOMAIN, 1, fuzz_below(input, 4), 0, &status));
        break;
    case 3:
        mcapi_endpoint_get_i(DOMAIN, 1, fuzz_below(input, 8), &h->got[which], &h->requests[which],
                             &status);
        break;
    case 4:
        if (number != MCAPI_ENDP_ATTR_TIMEOUT) {
            mcapi_endpoint_set_attribute(*endpoint, number, &value, sizeof value, &status);
        }
        break;
    case 5:
        mcapi_endpoint_get_attribute(*endpoint, number, &value, sizeof value, &status);
        break;
    default:
        *endpoint = impatient(mcapi_endpoint_create(fuzz_below(input, 4), &status));
        break;
    }
}

static void
message_operate(fuzz_input *input, hand *h, unsigned which)
{
    mcapi_status_t status;
    mcapi_endpoint_t from = h->endpoints[fuzz_below(input, KEPT)];
    mcapi_endpoint_t to = h->endpoints[fuzz_below(input, KEPT)];
    size_t size = fuzz_below(input, BYTES + 1);
    unsigned char *bytes = h->bytes[which];
    switch (fuzz_below(input, 5)) {
    case 0:
        mcapi_msg_send_i(from, to, bytes, size, fuzz_below(input, 5), &h->requests[which], &status);
        break;
    case 1:
        mcapi_msg_recv(to, bytes, size, &size, &status);
        break;
    case 2:
        mcapi_msg_recv_i(to, bytes, size, &h->requests[which], &status);
        break;
    case 3:
        (void)mcapi_msg_available(to, &status);
        break;
    default:
        mcapi_msg_send(from, to, bytes, size, fuzz_below(input, 5), &status);
        break;
    }
}

/* A channel's life, each end at any time. */
static void
channel_operate(fuzz_input *input, hand *h, unsigned which)
{
    mcapi_status_t status;
    mcapi_request_t *request = &h->requests[which];
    mcapi_endpoint_t one = h->endpoints[fuzz_below(input, KEPT)];
    mcapi_endpoint_t other = h->endpoints[fuzz_below(input, KEPT)];
    unsigned *channel = &h->channels[which];
    switch (fuzz_below(input, 11)) {
    case 0:
        mcapi_pktchan_send_open_i(channel, one, request, &status);
        break;
    case 1:
        mcapi_pktchan_recv_open_i(channel, one, request, &status);
        break;
    case 2:
        mcapi_sclchan_send_open_i(channel, one, request, &status);
        break;
    case 3:
        mcapi_sclchan_recv_open_i(channel, one, request, &status);
        break;
    case 4:
        mcapi_pktchan_send_close_i(*channel, request, &status);
        break;
    case 5:
        mcapi_pktchan_recv_close_i(*channel, request, &status);
        break;
    case 6:
        mcapi_sclchan_send_close_i(*channel, request, &status);
        break;
    case 7:
        mcapi_sclchan_recv_close_i(*channel, request, &status);
        break;
    case 8:
        *channel = fuzz_word(input);
        break;
    case 9:
        mcapi_sclchan_connect_i(one, other, request, &status);
        break;
    default:
        mcapi_pktchan_connect_i(one, other, request, &status);
        break;
    }
}

static void
packet_operate(fuzz_input *input, hand *h, unsigned which)
{
    mcapi_status_t status;
    unsigned channel = h->channels[fuzz_below(input, KEPT)];
    size_t size = fuzz_below(input, BYTES + 1);
    switch (fuzz_below(input, 6)) {
    case 0:
        mcapi_pktchan_send_i(channel, h->bytes[which], size, &h->requests[which], &status);
        break;
    case 1:
        mcapi_pktchan_recv(channel, &h->packets[which], &size, &status);
        break;
    case 2:
        mcapi_pktchan_recv_i(channel, &h->packets[which], &h->requests[which], &status);
        break;
    case 3:
        (void)mcapi_pktchan_available(channel, &status);
        break;
    case 4:
        mcapi_pktchan_release(h->packets[which], &status);
        break;
    default:
        mcapi_pktchan_send(channel, h->bytes[which], size, &status);
        break;
    }
}

static void
scalar_operate(fuzz_input *input, hand *h)
{
    mcapi_status_t status;
    unsigned channel = h->channels[fuzz_below(input, KEPT)];
    switch (fuzz_below(input, 5)) {
    case 0:
        mcapi_sclchan_send_uint8(channel, 1, &status);
        break;
    case 1:
        (void)mcapi_sclchan_recv_uint8(channel, &status);
        break;
    case 2:
        (void)mcapi_sclchan_recv_uint64(channel, &status);
        break;
    case 3:
        (void)mcapi_sclchan_available(channel, &status);
        break;
    default:
        mcapi_sclchan_send_uint64(channel, 1, &status);
        break;
    }
}

static void
request_operate(fuzz_input *input, hand *h, unsigned which)
{
    mcapi_status_t status;
    size_t size;
    mcapi_request_t *all[KEPT];
    for (unsigned i = 0; i < KEPT; i++) {
        all[i] = &h->requests[i];
    }
    switch (fuzz_below(input, 4)) {
    case 0:
        (void)mcapi_wait(&h->requests[which], &size, 0, &status);
        break;
    case 1:
        (void)mcapi_wait_any(KEPT, all, &size, 0, &status);
        break;
    case 2:
        mcapi_cancel(&h->requests[which], &status);
        break;
    default:
        (void)mcapi_test(&h->requests[which], &size, &status);
        break;
    }
}

static void
operate(fuzz_input *input, hand *h)
{
    unsigned which = fuzz_below(input, KEPT);
    switch (fuzz_below(input, 8)) {
    case 0:
    case 1:
        endpoint_operate(input, h, which);
        break;
    case 2:
    case 3:
        message_operate(input, h, which);
        break;
    case 4:
        channel_operate(input, h, which);
        break;
    case 5:
        packet_operate(input, h, which);
        break;
    case 6:
        scalar_operate(input, h);
        break;
    default:
        request_operate(input, h, which);
        break;
    }
}

/* So that short inputs reach something: two endpoints, and a channel between two more. */
static void
hand_begin(fuzz_input *input, hand *h)
{
    mcapi_status_t status;
    mcapi_request_t request;
    uint32_t kind = fuzz_take(input, 1);
    mcapi_uint_t type = kind & 4 ? MCAPI_ENDP_ATTR_STATE_BUFFER : MCAPI_ENDP_ATTR_FIFO_BUFFER;
    for (unsigned i = 0; i < KEPT; i++) {
        h->endpoints[i] = impatient(mcapi_endpoint_create(i, &status));
        mcapi_endpoint_set_attribute(h->endpoints[i], MCAPI_ENDP_ATTR_BUFFER_TYPE, &type,
                                     sizeof type, &status);
    }
    if (kind & 1) {
        mcapi_pktchan_connect_i(h->endpoints[2], h->endpoints[3], &request, &status);
        mcapi_pktchan_send_open_i(&h->channels[0], h->endpoints[2], &request, &status);
        mcapi_pktchan_recv_open_i(&h->channels[1], h->endpoints[3], &request, &status);
    } else if (kind & 2) {
        mcapi_sclchan_connect_i(h->endpoints[2], h->endpoints[3], &request, &status);
        mcapi_sclchan_send_open_i(&h->channels[0], h->endpoints[2], &request, &status);
        mcapi_sclchan_recv_open_i(&h->channels[1], h->endpoints[3], &request, &status);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static hand h;
    fuzz_input input = {.bytes = bytes, .left = size};
    const med_self *self = begin();
    mcapi_status_t status;
    bool sound = fuzz_take(&input, 1) & 1;
    memset(&h, 0, sizeof h);
    hand_begin(&input, &h);
    for (int i = 0; i < OPERATIONS && input.left; i++) {
        if (!sound && (fuzz_take(&input, 1) & 3) == 0) {
            peer_scribbles(&input, self);
        }
        operate(&input, &h);
    }
    mcapi_finalize(&status);
    (void)medley_system_close();
    return 0;
}
