/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Orphans: buffers in a lane that both sides have left, removed by one who has no exchange to give
 * them back. They come back to who searches for buffers, with all that was done to them.
 *
 * Actors: 0 sends, and may die; 1 has the endpoint that is sent to, deletes it with the message in
 * its lane, and sends to itself from then on, without any lock; 2 becomes 0's node when 0 is dead,
 * as a node of MRAPI alone, and so removes the lane. What each waits for it is told without any
 * order.
 */
#include <string.h>

#include "mcapi.h"
#include "mcapi/exchange.h"
#include "mcapi_actor.h"
#include "mrapi.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define DOMAIN 1u
#define SENDER 0u
#define RECEIVER 1u
#define HEIR 2u
#define ACTORS 3u
#define LOOKS 400u /* at what it waits for */
#define ROUNDS 24u
#define BYTES 100u

enum {
    FROM,
    TO,
    DELETED,
    PORTS
};

typedef struct notes {
    mcapi_endpoint_t told;
    bool sent;
    bool left;
} notes;

static const sim_variable environment[] = {{"MEDLEY_MAX_NODES", "3"},
                                           {"MEDLEY_MAX_ENDPOINTS", "4"},
                                           {"MEDLEY_MAX_LANES", "3"},
                                           {"MEDLEY_LANE_BYTES", "256"},
                                           {"MEDLEY_MAX_BUFFERS", "2"},
                                           {"MEDLEY_BUFFER_BYTES", "128"},
                                           MRAPI_VARIABLES};

static bool
send(mcapi_endpoint_t from, mcapi_endpoint_t to, size_t bytes)
{
    unsigned char content[BYTES];
    mcapi_status_t status;
    memset(content, (int)from, sizeof content);
    mcapi_msg_send(from, to, content, bytes, 0, &status);
    return status == MCAPI_SUCCESS;
}

static void
send_to_the_other(const sim_actor *actor)
{
    notes *n = actor->notes;
    mcapi_come(actor);
    mcapi_endpoint_t own = mcapi_endpoint_make(FROM);
    for (uint32_t i = 0; i < LOOKS && !n->told; i++) {
        med_port_yield();
    }
    n->sent = n->told && send(own, n->told, BYTES);
    for (uint32_t i = 0; i < LOOKS && n->sent; i++) {
        med_port_yield();
    }
    mcapi_go();
}

static void
receive_own(mcapi_endpoint_t own, mcapi_endpoint_t from, size_t wanted)
{
    mcapi_status_t status;
    unsigned char content[BYTES];
    size_t bytes;
    mcapi_msg_recv(own, content, sizeof content, &bytes, &status);
    SIM_CHECK(status == MCAPI_SUCCESS && bytes == wanted);
    SIM_CHECK(content[0] == (unsigned char)from && content[bytes - 1] == content[0]);
}

static void
receive_nothing(const sim_actor *actor)
{
    notes *n = actor->notes;
    mcapi_status_t status;
    mcapi_come(actor);
    mcapi_endpoint_t from = mcapi_endpoint_make(FROM);
    mcapi_endpoint_t to = mcapi_endpoint_make(TO);
    mcapi_endpoint_t deleted = mcapi_endpoint_make(DELETED);
    SIM_CHECK(send(from, to, 1)); /* makes the lane */
    receive_own(to, from, 1);
    n->told = deleted;
    for (uint32_t i = 0; i < LOOKS && !n->sent; i++) {
        med_port_yield();
    }
    mcapi_endpoint_delete(deleted, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    n->left = true;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        (void)med_exchange_reclaim(med_self_get());
        if (send(from, to, BYTES)) {
            receive_own(to, from, BYTES);
        }
    }
    mcapi_go();
}

static void
inherit(const sim_actor *actor)
{
    const notes *n = actor->notes;
    mrapi_info_t info;
    mrapi_parameters_t parameters = {0};
    mrapi_status_t status;
    if (sim_await_death() != SENDER) {
        return;
    }
    for (uint32_t i = 0; i < LOOKS && n->sent && !n->left; i++) {
        med_port_yield();
    }
    do {
        mrapi_initialize(DOMAIN, SENDER + 1, parameters, &info, &status);
        SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_NODE_INITFAILED);
    } while (status != MRAPI_SUCCESS);
    mrapi_finalize(&status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

static void
act(const sim_actor *actor)
{
    static void (*const acts[ACTORS])(const sim_actor *) = {
        [SENDER] = send_to_the_other, [RECEIVER] = receive_nothing, [HEIR] = inherit};
    acts[actor->index](actor);
}

const sim_scenario sim_mcapi_orphan = {
    .name = "mcapi_orphan",
    .covers = "med_bit_set_hand_over_alone()",
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 1u << SENDER,
    .long_lived = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
