/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Scalars between processes, over one channel after another, all in the only lane there is: what
 * was sent on a channel is received on it, once, in order, whether one by one or many at once; the
 * receiver finds its end; and the lane is the next channel's, whoever dealt with its end.
 *
 * Actors: the sender, the receiver, who open, use and close their ends as often as there are
 * channels; and two who connect them whenever they can.
 */
#include <string.h>

#include "mcapi.h"
#include "mcapi_actor.h"
#include "medley/mcapi_ext.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define ACTORS 4u
#define RECEIVER 0u
#define SENDER 1u
#define PORT 5u
#define CHANNELS 4u
#define SCALARS 11u
#define MANY 4u
#define WIDTH 4u

typedef struct notes {
    mcapi_endpoint_t endpoint[2]; /* the handles, known to all without any order */
    uint32_t sent[CHANNELS];
    uint32_t received[CHANNELS];
} notes;

/* Eight scalars. */
static const sim_variable environment[] = {
    {"MEDLEY_MAX_ENDPOINTS", "2"}, {"MEDLEY_MAX_LANES", "1"},      {"MEDLEY_LANE_BYTES", "128"},
    {"MEDLEY_MAX_BUFFERS", "1"},   {"MEDLEY_BUFFER_BYTES", "128"}, MRAPI_VARIABLES};

static void
completed(mcapi_request_t request)
{
    mcapi_status_t status;
    size_t size;
    SIM_CHECK(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status));
    SIM_CHECK(status == MCAPI_SUCCESS);
}

static mcapi_uint64_t
scalar_of(uint32_t channel, uint32_t number)
{
    return channel << 16 | number;
}

/* ---- Sending --------------------------------------------------------------------------------- */

static void
send_some(notes *n, mcapi_sclchan_send_hndl_t handle, uint32_t channel)
{
    mcapi_status_t status;
    mcapi_uint64_t values[MANY];
    uint32_t first = n->sent[channel];
    uint32_t count = 1 + sim_random(MANY);
    count = count < SCALARS - first ? count : SCALARS - first;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = scalar_of(channel, first + i);
    }
    n->sent[channel] += count; /* now: the last may be received before this returns */
    if (count == 1) {
        mcapi_sclchan_send_uint32(handle, (mcapi_uint32_t)values[0], &status);
    } else {
        SIM_CHECK(medley_mcapi_sclchan_send_many(handle, values, count, WIDTH, &status) == count);
    }
    SIM_CHECK(status == MCAPI_SUCCESS);
}

/* Whoever sleeps for the last is woken by it, and not where the sender stops next. */
static void
await_received(const notes *n, uint32_t channel)
{
    while (n->received[channel] != n->sent[channel]) {
        med_port_yield();
    }
}

static void
send_all(const sim_actor *actor, mcapi_endpoint_t own)
{
    notes *n = actor->notes;
    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        mcapi_status_t status;
        mcapi_request_t request;
        mcapi_sclchan_send_hndl_t handle;
        mcapi_sclchan_send_open_i(&handle, own, &request, &status);
        SIM_CHECK(status == MCAPI_SUCCESS);
        completed(request);
        while (n->sent[channel] < SCALARS) {
            send_some(n, handle, channel);
            if (sim_random(4) == 0) {
                await_received(n, channel);
            }
        }
        mcapi_sclchan_send_close_i(handle, &request, &status);
        SIM_CHECK(status == MCAPI_SUCCESS);
        completed(request);
    }
}

/* ---- Receiving ------------------------------------------------------------------------------- */

/* How many; 0: the channel's end. */
static uint32_t
receive_some(mcapi_sclchan_recv_hndl_t handle, mcapi_uint64_t *values)
{
    mcapi_status_t status;
    uint32_t count = 1;
    if (sim_random(2) == 0) {
        values[0] = mcapi_sclchan_recv_uint32(handle, &status);
    } else {
        count = medley_mcapi_sclchan_recv_many(handle, values, MANY, WIDTH, &status);
    }
    SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_ERR_ENDP_DELETED);
    return status == MCAPI_SUCCESS ? count : 0;
}

static void
receive_all(const sim_actor *actor, mcapi_endpoint_t own)
{
    notes *n = actor->notes;
    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        mcapi_status_t status;
        mcapi_request_t request;
        mcapi_sclchan_recv_hndl_t handle;
        mcapi_uint64_t values[MANY];
        uint32_t next = 0, count;
        mcapi_sclchan_recv_open_i(&handle, own, &request, &status);
        SIM_CHECK(status == MCAPI_SUCCESS);
        completed(request);
        while ((count = receive_some(handle, values)) != 0) {
            for (uint32_t i = 0; i < count; i++) {
                SIM_CHECK(values[i] == scalar_of(channel, next));
                next++;
            }
            n->received[channel] = next;
        }
        SIM_CHECK(next == SCALARS);
        mcapi_sclchan_recv_close_i(handle, &request, &status);
        SIM_CHECK(status == MCAPI_SUCCESS);
        completed(request);
    }
}

/* ---- Connecting ------------------------------------------------------------------------------ */

static void
connect_all(const sim_actor *actor)
{
    const notes *n = actor->notes;
    while (!sim_has_ended(SENDER) && !sim_has_ended(RECEIVER)) {
        mcapi_status_t status;
        mcapi_request_t request;
        mcapi_sclchan_connect_i(n->endpoint[SENDER], n->endpoint[RECEIVER], &request, &status);
        if (status == MCAPI_SUCCESS) {
            completed(request);
        }
        SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_ERR_CHAN_CONNECTED ||
                  status == MCAPI_ERR_ENDP_INVALID || status == MCAPI_ERR_MEM_LIMIT);
        med_port_yield();
    }
}

static void
act(const sim_actor *actor)
{
    mcapi_status_t status;
    mcapi_come(actor);
    if (actor->index <= SENDER) {
        mcapi_endpoint_t own = mcapi_endpoint_create(PORT, &status);
        SIM_CHECK(status == MCAPI_SUCCESS);
        ((notes *)actor->notes)->endpoint[actor->index] = own;
        if (actor->index == SENDER) {
            send_all(actor, own);
        } else {
            receive_all(actor, own);
        }
    } else {
        connect_all(actor);
    }
    mcapi_finalize(&status);
    SIM_CHECK(status == MCAPI_SUCCESS);
}

const sim_scenario sim_mcapi_scalar = {
    .name = "mcapi_scalar",
    .covers = "scalar med_scalar_send() sweep_one() side_leaves() med_endpoint_channel()",
    .actors = ACTORS,
    .waits_forever = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
