/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A lane that is everybody's in turn: who leaves it, or finds no other, removes it, while the next
 * makes his; nobody's lane or buffer goes who has not left it.
 *
 * Actors: three of equal rank. Each has two endpoints at a time, and sends from one to the other
 * what it then receives, if it got the only lane; then both endpoints go, and others come. Or one
 * such alone, and another who looks all the time for buffers that nobody will receive: he takes
 * back none that is under way.
 */
#include <string.h>

#include "mcapi.h"
#include "mcapi/exchange.h"
#include "mcapi_actor.h"
#include "mrapi/node.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define ACTORS 3u
#define TURNS 6u
#define BYTES 100u /* by a buffer */

static const sim_variable environment[] = {{"MEDLEY_MAX_NODES", "3"},
                                           {"MEDLEY_MAX_ENDPOINTS", "6"},
                                           {"MEDLEY_MAX_LANES", "1"},
                                           {"MEDLEY_LANE_BYTES", "256"},
                                           {"MEDLEY_MAX_BUFFERS", "2"},
                                           {"MEDLEY_BUFFER_BYTES", "128"},
                                           MRAPI_VARIABLES};

/* False: the lane, or what it needs, is another's now. */
static bool
send(mcapi_endpoint_t from, mcapi_endpoint_t to, uint32_t turn)
{
    unsigned char content[BYTES];
    memset(content, (int)turn, sizeof content);
    return mcapi_send_now(from, to, content, sizeof content);
}

static void
receive(mcapi_endpoint_t to, uint32_t turn)
{
    unsigned char content[BYTES];
    mcapi_status_t status;
    size_t bytes;
    mcapi_msg_recv(to, content, sizeof content, &bytes, &status);
    SIM_CHECK(status == MCAPI_SUCCESS && bytes == sizeof content);
    SIM_CHECK(content[0] == (unsigned char)turn && content[BYTES - 1] == (unsigned char)turn);
}

static void
take_turns(const sim_actor *actor)
{
    mcapi_come(actor);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        mcapi_endpoint_t from = mcapi_endpoint_make(2 * turn);
        mcapi_endpoint_t to = mcapi_endpoint_make(2 * turn + 1);
        if (send(from, to, turn)) {
            receive(to, turn);
        }
        mcapi_endpoint_end(from);
        mcapi_endpoint_end(to);
    }
    mcapi_go();
}

const sim_scenario sim_mcapi_turn = {
    .name = "mcapi_turn",
    .covers = "sweep()",
    .actors = ACTORS,
    .begin = mrapi_begin,
    .act = take_turns,
    .environment = environment,
};

static void
take_turns_or_reclaim(const sim_actor *actor)
{
    if (actor->index == 0) {
        take_turns(actor);
        return;
    }
    mcapi_come(actor);
    while (!sim_has_ended(0)) {
        (void)med_exchange_reclaim(med_self_get());
        med_port_yield();
    }
    mcapi_go();
}

const sim_scenario sim_mcapi_reclaim = {
    .name = "mcapi_reclaim",
    .covers = "lane_is_over() med_node_alive()",
    .actors = 2,
    .sees_late = true,
    .begin = mrapi_begin,
    .act = take_turns_or_reclaim,
    .environment = environment,
};
