/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A channel whose ends are closed at the same time: one of the two removes its lane, which is free
 * then for who comes next, and nothing in it is used any more.
 *
 * Actors: 0 sends, 1 receives, over one channel after another between their two endpoints, and they
 * close their ends together, whatever was received by then. 2 connects two endpoints of its own
 * whenever it can, and sends over that channel to itself; at last it can. There is one lane.
 */
#include "mcapi.h"
#include "mcapi_actor.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define CHANNELS 4u
#define SCALARS 3u
#define PORT 5u /* and the next */

enum {
    SENDER,
    RECEIVER,
    NEXT,
    ACTORS
};

typedef struct notes {
    mcapi_endpoint_t endpoint[2]; /* the handles, told without any order, as all here */
    volatile uint32_t connected;  /* so many channels; */
    volatile uint32_t sent;       /* so many have all that they will, */
    volatile uint32_t received;   /* and of so many the receiver has had enough: */
    volatile uint32_t closed[2];  /* so many of their ends are closed */
} notes;

/* Eight scalars. */
static const sim_variable environment[] = {
    {"MEDLEY_MAX_ENDPOINTS", "4"}, {"MEDLEY_MAX_LANES", "1"},      {"MEDLEY_LANE_BYTES", "128"},
    {"MEDLEY_MAX_BUFFERS", "1"},   {"MEDLEY_BUFFER_BYTES", "128"}, MRAPI_VARIABLES};

static void
completed(mcapi_request_t request)
{
    mcapi_status_t status;
    size_t size;
    SIM_CHECK(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status));
    SIM_CHECK(status == MCAPI_SUCCESS);
}

/* Whether it did: not while the other endpoint is not seen yet, or the lane is another's. */
static bool
connect(mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_sclchan_connect_i(from, to, &request, &status);
    SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_ERR_MEM_LIMIT ||
              status == MCAPI_ERR_ENDP_INVALID);
    if (status == MCAPI_SUCCESS) {
        completed(request);
    }
    return status == MCAPI_SUCCESS;
}

static mcapi_sclchan_send_hndl_t
open_sender(mcapi_endpoint_t own)
{
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_sclchan_send_hndl_t handle;
    mcapi_sclchan_send_open_i(&handle, own, &request, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    completed(request);
    return handle;
}

static mcapi_sclchan_recv_hndl_t
open_receiver(mcapi_endpoint_t own)
{
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_sclchan_recv_hndl_t handle;
    mcapi_sclchan_recv_open_i(&handle, own, &request, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    completed(request);
    return handle;
}

static void
close_sender(mcapi_sclchan_send_hndl_t handle)
{
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_sclchan_send_close_i(handle, &request, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    completed(request);
}

static void
close_receiver(mcapi_sclchan_recv_hndl_t handle)
{
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_sclchan_recv_close_i(handle, &request, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    completed(request);
}

static void
send(mcapi_sclchan_send_hndl_t handle, uint32_t value)
{
    mcapi_status_t status;
    mcapi_sclchan_send_uint32(handle, value, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
}

static void
expect(mcapi_sclchan_recv_hndl_t handle, uint32_t value)
{
    mcapi_status_t status;
    uint32_t got = mcapi_sclchan_recv_uint32(handle, &status);
    SIM_CHECK(status == MCAPI_SUCCESS && got == value);
}

static void
await(const volatile uint32_t *count, uint32_t enough)
{
    while (*count < enough) {
        med_port_yield();
    }
}

/* ---- Channel after channel ------------------------------------------------------------------- */

static void
send_and_close(const sim_actor *actor, mcapi_endpoint_t own)
{
    notes *n = actor->notes;
    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        await(&n->closed[RECEIVER], channel);
        while (!connect(own, n->endpoint[RECEIVER])) {
            med_port_yield();
        }
        n->connected++;
        mcapi_sclchan_send_hndl_t handle = open_sender(own);
        for (uint32_t i = 0; i < SCALARS; i++) {
            send(handle, channel * SCALARS + i);
        }
        n->sent++;
        await(&n->received, channel + 1);
        close_sender(handle);
        n->closed[SENDER]++;
    }
}

static void
receive_and_close(const sim_actor *actor, mcapi_endpoint_t own)
{
    notes *n = actor->notes;
    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        await(&n->connected, channel + 1);
        mcapi_sclchan_recv_hndl_t handle = open_receiver(own);
        await(&n->sent, channel + 1);
        uint32_t count = sim_random(SCALARS + 1);
        for (uint32_t i = 0; i < count; i++) {
            expect(handle, channel * SCALARS + i);
        }
        n->received++;
        close_receiver(handle);
        n->closed[RECEIVER]++;
    }
}

/* ---- Who comes next -------------------------------------------------------------------------- */

static void
use_alone(mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    mcapi_sclchan_send_hndl_t sender = open_sender(from);
    mcapi_sclchan_recv_hndl_t receiver = open_receiver(to);
    for (uint32_t i = 0; i < SCALARS; i++) {
        send(sender, i);
    }
    expect(receiver, 0);
    close_sender(sender);
    close_receiver(receiver);
}

static void
use_when_free(const sim_actor *actor, mcapi_endpoint_t from)
{
    const notes *n = actor->notes;
    mcapi_endpoint_t to = mcapi_endpoint_make(PORT + 1);
    for (bool last = false; !last;) {
        last = n->closed[SENDER] == CHANNELS && n->closed[RECEIVER] == CHANNELS;
        bool had = connect(from, to);
        SIM_CHECK(had || !last);
        if (had) {
            use_alone(from, to);
        }
        med_port_yield();
    }
}

static void
act(const sim_actor *actor)
{
    notes *n = actor->notes;
    mcapi_status_t status;
    mcapi_come(actor);
    mcapi_endpoint_t own = mcapi_endpoint_create(PORT, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    if (actor->index == NEXT) {
        use_when_free(actor, own);
    } else {
        n->endpoint[actor->index] = own;
        while (!n->endpoint[SENDER] || !n->endpoint[RECEIVER]) {
            med_port_yield();
        }
        (actor->index == SENDER ? send_and_close : receive_and_close)(actor, own);
        (void)sim_join(NEXT); /* with its endpoints all their lanes would be left again */
    }
    mcapi_go();
}

const sim_scenario sim_mcapi_close = {
    .name = "mcapi_close",
    .covers = "side_leaves()",
    .actors = ACTORS,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
