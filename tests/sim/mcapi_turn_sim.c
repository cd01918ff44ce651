/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A lane that is everybody's in turn: who leaves it, or finds no other, removes it, while the next
 * makes his; nobody's lane or buffer goes who has not left it.
 *
 * Actors: three of equal rank. Each has two endpoints at a time, and sends from one to the other
 * what it then receives, if it got the only lane; then both endpoints go, and others come.
 */
#include <string.h>

#include "mcapi.h"
#include "mcapi_actor.h"
#include "mrapi_actor.h"
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
    mcapi_status_t status;
    memset(content, (int)turn, sizeof content);
    mcapi_msg_send(from, to, content, sizeof content, 0, &status);
    SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_ERR_MEM_LIMIT || status == MCAPI_TIMEOUT);
    return status == MCAPI_SUCCESS;
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
act(const sim_actor *actor)
{
    mcapi_status_t status;
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
    mcapi_finalize(&status);
    SIM_CHECK(status == MCAPI_SUCCESS);
}

const sim_scenario sim_mcapi_turn = {
    .name = "mcapi_turn",
    .covers = "sweep()",
    .actors = ACTORS,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
