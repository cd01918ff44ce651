/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Over the rows of endpoints and lanes, the rings and their records, and the pool of buffers, while
 * others exchange messages, packets and scalars. Everybody gets errors, or what was never sent;
 * nobody waits for longer than he asked to. See scribble.h.
 */
#include <mcapi.h>

#include "mcapi/endpoint.h"
#include "mrapi/system.h"
#include "scribble.h"

#define TIMEOUT_US 200
#define BYTES 3000u /* the longer ones go by a buffer */

typedef struct worker {
    mcapi_node_t node;
    mcapi_endpoint_t own[2]; /* for messages; for channels */
    unsigned sender;
    unsigned receiver;
    bool scalars; /* on its channels */
} worker;

/* ---- Those who exchange ---------------------------------------------------------------------- */

static void
endpoints_make(worker *w)
{
    mcapi_status_t status;
    mcapi_timeout_t timeout = TIMEOUT_US;
    for (mcapi_port_t port = 0; port < 2; port++) {
        w->own[port] = mcapi_endpoint_create(port, &status);
        mcapi_endpoint_set_attribute(w->own[port], MCAPI_ENDP_ATTR_TIMEOUT, &timeout,
                                     sizeof timeout, &status);
        if (status != MCAPI_SUCCESS) {
            w->own[port] = MCAPI_RETURN_VALUE_INVALID; /* one that may wait for ever is not used */
        }
    }
}

static void
node_make(worker *w)
{
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_initialize(DOMAIN, w->node, NULL, NULL, &info, &status);
    endpoints_make(w);
}

/* What was begun is canceled, so that no request is left without an end. */
static void
settle(mcapi_request_t request, mcapi_status_t begun)
{
    mcapi_status_t status;
    size_t size;
    if (begun == MCAPI_SUCCESS && !mcapi_wait(&request, &size, TIMEOUT_US, &status)) {
        mcapi_cancel(&request, &status);
    }
}

static void
channel_change(worker *w, test_random *random, mcapi_endpoint_t others)
{
    static unsigned handle; /* stays, should the request outlive the call */
    mcapi_status_t status = MCAPI_ERR_GENERAL;
    mcapi_request_t request = 0;
    switch (random_below(random, 5)) {
    case 0:
        (w->scalars ? mcapi_sclchan_send_close_i : mcapi_pktchan_send_close_i)(w->sender, &request,
                                                                               &status);
        break;
    case 1:
        (w->scalars ? mcapi_sclchan_recv_close_i : mcapi_pktchan_recv_close_i)(w->receiver,
                                                                               &request, &status);
        break;
    case 2:
        w->scalars = random_below(random, 2);
        (w->scalars ? mcapi_sclchan_connect_i : mcapi_pktchan_connect_i)(w->own[1], others,
                                                                         &request, &status);
        break;
    case 3:
        (w->scalars ? mcapi_sclchan_send_open_i : mcapi_pktchan_send_open_i)(&handle, w->own[1],
                                                                             &request, &status);
        settle(request, status);
        w->sender = handle;
        return;
    default:
        (w->scalars ? mcapi_sclchan_recv_open_i : mcapi_pktchan_recv_open_i)(&handle, w->own[1],
                                                                             &request, &status);
        settle(request, status);
        w->receiver = handle;
        return;
    }
    settle(request, status);
}

static void
channel_use(const worker *w, test_random *random)
{
    static const unsigned char bytes[BYTES];
    mcapi_status_t status;
    void *packet;
    size_t size;
    mcapi_sclchan_send_uint32(w->sender, 1, &status);
    (void)mcapi_sclchan_recv_uint32(w->receiver, &status);
    mcapi_pktchan_send(w->sender, bytes, random_below(random, BYTES), &status);
    mcapi_pktchan_recv(w->receiver, &packet, &size, &status);
    if (status == MCAPI_SUCCESS) {
        mcapi_pktchan_release(packet, &status);
    }
}

static void
messages_use(const worker *w, test_random *random, mcapi_endpoint_t others)
{
    static unsigned char bytes[BYTES];
    mcapi_status_t status;
    size_t size;
    for (uint32_t i = random_below(random, 6); i; i--) {
        mcapi_msg_send(w->own[0], others, bytes, random_below(random, i % 2 ? 100 : BYTES), i % 4,
                       &status);
    }
    (void)mcapi_msg_available(w->own[0], &status);
    do {
        mcapi_msg_recv(w->own[0], bytes, sizeof bytes, &size, &status);
    } while (status == MCAPI_SUCCESS && random_below(random, 8));
}

/* Whatever comes back is right, if only something comes back. */
static void
exchange_once(worker *w, test_random *random)
{
    mcapi_status_t status;
    mcapi_node_t other = 2 + random_below(random, SCRIBBLE_WORKERS);
    mcapi_port_t port = random_below(random, 2);
    mcapi_endpoint_t others = mcapi_endpoint_get(DOMAIN, other, port, 0, &status);
    switch (random_below(random, 40)) {
    case 0:
        mcapi_finalize(&status);
        node_make(w);
        break;
    case 1:
        mcapi_endpoint_delete(w->own[port], &status);
        endpoints_make(w);
        break;
    default:
        if (port == 0) {
            messages_use(w, random, others);
        } else if (random_below(random, 4)) {
            channel_use(w, random);
        } else {
            channel_change(w, random, others);
        }
        break;
    }
}

/* ---- A round --------------------------------------------------------------------------------- */

static worker own; /* of the process that works */

static void
come(uint32_t number)
{
    own = (worker){.node = 2 + number};
    node_make(&own);
}

static void
work(test_random *random)
{
    exchange_once(&own, random);
}

static void
leave(void)
{
    mcapi_status_t status;
    mcapi_finalize(&status);
}

/* ---- The one who scribbles ------------------------------------------------------------------- */

typedef struct region {
    atomic32 *words;
    uint32_t count;
} region;

static region
region_of(void *memory, size_t bytes)
{
    return (region){.words = memory, .count = (uint32_t)(bytes / 4)};
}

/* The rings' heads are few among many words: half of what hits the lanes hits one of them. */
static void
scribble(test_random *random)
{
    const med_self *self = med_self_get();
    const med_system *system = self->system;
    const med_exchange *exchange = self->exchange->exchange;
    unsigned char *memory = (unsigned char *)exchange->head;
    unsigned char *lane = exchange->lanes + (size_t)exchange->lane_stride * random_below(random, 8);
    const region regions[] = {
        region_of(system->endpoints.rows, (size_t)8 * system->endpoints.row_bytes),
        region_of(system->lanes.rows, (size_t)8 * system->lanes.row_bytes),
        region_of(memory, (size_t)(exchange->lanes - memory)),
        region_of(lane, exchange->lane_stride),
        region_of(lane, sizeof(med_ring)),
    };
    region at = regions[random_below(random, sizeof regions / sizeof regions[0])];
    scribble_word(at.words, at.count, random);
}

/* The tester takes part, to find its way. */
static void
begin(uint32_t round)
{
    mcapi_status_t status;
    mcapi_info_t info;
    (void)round;
    mcapi_initialize(DOMAIN, 1, NULL, NULL, &info, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
}

static void
exchange_scribbled_over(void **state)
{
    static const scribble_test test = {.rounds = 12,
                                       .operations = 1500,
                                       .come = come,
                                       .work = work,
                                       .leave = leave,
                                       .begin = begin,
                                       .scribble = scribble,
                                       .end = leave};
    (void)state;
    scribble_run(&test);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchange_scribbled_over),
    };
    hostile_prepare();
    (void)test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
