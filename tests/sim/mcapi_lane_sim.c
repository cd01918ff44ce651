/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lanes of few rows, each soon another's: who looks for those that are to him takes up none that is
 * gone, or another's, though all that he sees of its row may be old. What was accepted he receives,
 * and once.
 *
 * Actors: 0 receives, at one endpoint; the others send to it, and to themselves, from endpoints
 * that come and go, and their lanes with them.
 */
#include <string.h>

#include "mcapi.h"
#include "mcapi_actor.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define RECEIVER 0u
#define ACTORS 3u
#define TURNS 8u
#define BYTES 100u /* by a buffer, which says whose lane it is in */

enum {
    FROM,
    TO
};

typedef struct notes {
    mcapi_endpoint_t told;
    uint32_t accepted[ACTORS]; /* bit i: in turn i */
} notes;

typedef struct content {
    uint32_t from;
    uint32_t number;
    unsigned char rest[BYTES - 8];
} content;

static const sim_variable environment[] = {{"MEDLEY_MAX_NODES", "3"},
                                           {"MEDLEY_MAX_ENDPOINTS", "5"},
                                           {"MEDLEY_MAX_LANES", "2"},
                                           {"MEDLEY_LANE_BYTES", "256"},
                                           {"MEDLEY_MAX_BUFFERS", "4"},
                                           {"MEDLEY_BUFFER_BYTES", "128"},
                                           MRAPI_VARIABLES};

static void
send_to_oneself(mcapi_endpoint_t from, const content *c)
{
    mcapi_endpoint_t to = mcapi_endpoint_make(TO);
    (void)mcapi_send_now(from, to, c, sizeof *c);
    mcapi_endpoint_end(to);
}

static void
send_in_turns(const sim_actor *actor)
{
    notes *n = actor->notes;
    content c = {.from = actor->index};
    mcapi_come(actor);
    while (!n->told) {
        med_port_yield();
    }
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        mcapi_endpoint_t from = mcapi_endpoint_make(FROM);
        c.number = turn;
        if (sim_random(2) == 0) {
            send_to_oneself(from, &c);
        } else if (mcapi_send_now(from, n->told, &c, sizeof c)) {
            n->accepted[actor->index] |= 1u << turn;
        }
        mcapi_endpoint_end(from);
    }
    mcapi_go();
}

/* Whether anything came. */
static bool
receive(mcapi_endpoint_t own, uint32_t got[ACTORS])
{
    mcapi_status_t status;
    content c;
    size_t bytes;
    mcapi_msg_recv(own, &c, sizeof c, &bytes, &status);
    SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_TIMEOUT);
    if (status != MCAPI_SUCCESS) {
        return false;
    }
    SIM_CHECK(bytes == sizeof c && c.from != RECEIVER && c.from < ACTORS);
    SIM_CHECK(c.number < TURNS && !(got[c.from] >> c.number & 1));
    got[c.from] |= 1u << c.number;
    return true;
}

static void
receive_all(const sim_actor *actor)
{
    notes *n = actor->notes;
    uint32_t got[ACTORS] = {0};
    mcapi_come(actor);
    mcapi_endpoint_t own = mcapi_endpoint_make(TO);
    n->told = own;
    while (!sim_has_ended(1) || !sim_has_ended(2)) {
        if (!receive(own, got)) {
            med_port_yield();
        }
    }
    while (receive(own, got)) {
    }
    for (uint32_t i = 0; i < ACTORS; i++) {
        SIM_CHECK(got[i] == n->accepted[i]);
    }
    mcapi_endpoint_end(own);
    mcapi_go();
}

static void
act(const sim_actor *actor)
{
    (actor->index == RECEIVER ? receive_all : send_in_turns)(actor);
}

const sim_scenario sim_mcapi_lane = {
    .name = "mcapi_lane",
    .covers = "lanes_look()",
    .actors = ACTORS,
    .sees_late = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
