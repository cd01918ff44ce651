/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Endpoints, lanes and nodes that come and go, of few rows: a message reaches the endpoint that it
 * was sent to, or its sender is told that this one is gone, though all rows are others' by then; no
 * buffer is taken from under a living owner; and who looks on (view.h) sees no mixture of two lives
 * of a row.
 *
 * Actors: three of equal rank, of which one may die. Each has one endpoint at a time, sends to
 * those of the others by handles that are told without any order, and receives what has come.
 */
#include <string.h>

#include "mcapi.h"
#include "mcapi/exchange.h"
#include "mcapi/view.h"
#include "mrapi_actor.h"
#include "scenarios.h"

#define DOMAIN 1u
#define ACTORS 3u
#define ROUNDS 12u
#define PORTS 64u /* of an actor; its endpoints have one after another */
#define LONG_BYTES 100u
#define SHORT_BYTES 32u

typedef struct notes {
    uint32_t present; /* bit i: actor i is a node, and does not leave yet */
    mcapi_endpoint_t told[ACTORS];
    uint32_t ended[ACTORS]; /* how many endpoints of each are gone, or going */
} notes;

typedef struct content {
    mcapi_endpoint_t to;
    mcapi_endpoint_t from;
    unsigned char rest[LONG_BYTES - 8];
} content;

/* What an actor has. */
typedef struct actor_state {
    const sim_actor *actor;
    mcapi_endpoint_t own;
    uint32_t count; /* endpoints so far */
} actor_state;

static const sim_variable environment[] = {{"MEDLEY_MAX_NODES", "3"},
                                           {"MEDLEY_MAX_ENDPOINTS", "3"},
                                           {"MEDLEY_MAX_LANES", "3"},
                                           {"MEDLEY_LANE_BYTES", "256"},
                                           {"MEDLEY_MAX_BUFFERS", "2"},
                                           {"MEDLEY_BUFFER_BYTES", "128"},
                                           MRAPI_VARIABLES};

/* ---- Coming and going ------------------------------------------------------------------------ */

static bool
somebody_is_present(const notes *n)
{
    for (uint32_t i = 0; i < ACTORS; i++) {
        if ((n->present >> i & 1) && !sim_is_dead(i)) {
            return true;
        }
    }
    return false;
}

/* Of a system that nobody was in, no handle that was told is of any use. */
static void
come(const actor_state *a)
{
    notes *n = a->actor->notes;
    mcapi_status_t status;
    mcapi_info_t info;
    do {
        mcapi_initialize(DOMAIN, a->actor->index + 1, NULL, NULL, &info, &status);
        SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_ERR_NODE_INITFAILED);
    } while (status != MCAPI_SUCCESS);
    if (!somebody_is_present(n)) {
        memset(n->told, 0, sizeof n->told);
    }
    n->present |= 1u << a->actor->index;
}

static void
go(const actor_state *a)
{
    mcapi_status_t status;
    ((notes *)a->actor->notes)->present &= ~(1u << a->actor->index);
    mcapi_finalize(&status);
    SIM_CHECK(status == MCAPI_SUCCESS);
}

/* It never waits. */
static void
endpoint_make(actor_state *a)
{
    mcapi_status_t status;
    mcapi_timeout_t timeout = 0;
    notes *n = a->actor->notes;
    a->own = mcapi_endpoint_create(a->actor->index * PORTS + a->count, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    a->count++;
    mcapi_endpoint_set_attribute(a->own, MCAPI_ENDP_ATTR_TIMEOUT, &timeout, sizeof timeout,
                                 &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    n->told[a->actor->index] = a->own;
}

/* By itself, or with its node. */
static void
endpoint_end(actor_state *a)
{
    mcapi_status_t status;
    ((notes *)a->actor->notes)->ended[a->actor->index]++;
    if (sim_random(2) == 0) {
        mcapi_endpoint_delete(a->own, &status);
        SIM_CHECK(status == MCAPI_SUCCESS);
    } else {
        go(a);
        come(a);
    }
}

/* ---- Sending and receiving ------------------------------------------------------------------- */

static void
send(const actor_state *a)
{
    const notes *n = a->actor->notes;
    uint32_t other = (a->actor->index + 1 + sim_random(ACTORS - 1)) % ACTORS;
    mcapi_status_t status;
    content c = {.to = n->told[other], .from = a->own};
    size_t bytes = sim_random(3) == 0 ? SHORT_BYTES : LONG_BYTES;
    memset(c.rest, (int)a->count, sizeof c.rest);
    if (!c.to) {
        return;
    }
    mcapi_msg_send(a->own, c.to, &c, bytes, 0, &status);
    SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_ERR_MEM_LIMIT || status == MCAPI_TIMEOUT ||
              status == MCAPI_ERR_ENDP_INVALID || status == MCAPI_ERR_TRANSMISSION);
    if (status == MCAPI_ERR_TRANSMISSION) {
        SIM_CHECK(n->ended[other] > 0 || sim_is_dead(other));
    }
}

static void
receive(const actor_state *a)
{
    mcapi_status_t status;
    content c;
    size_t bytes;
    mcapi_msg_recv(a->own, &c, sizeof c, &bytes, &status);
    SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_TIMEOUT);
    if (status == MCAPI_SUCCESS) {
        SIM_CHECK(bytes == SHORT_BYTES || bytes == LONG_BYTES);
        SIM_CHECK(c.to == a->own && c.from != a->own);
        SIM_CHECK(c.rest[0] == c.rest[bytes - 9]);
    }
}

/* ---- Looking on ------------------------------------------------------------------------------ */

static void
expect_whole(const med_view_end *end)
{
    SIM_CHECK(!end->owner_known || end->node == end->port / PORTS + 1);
}

static void
look_on(void)
{
    const med_system *system = med_self_get()->system;
    med_view_endpoint endpoint;
    med_view_lane lane;
    if (med_view_endpoint_read(system, sim_random(system->limits.endpoints), &endpoint)) {
        expect_whole(&endpoint.name);
    }
    if (med_view_lane_read(system, sim_random(system->limits.lanes), &lane)) {
        expect_whole(&lane.side[MED_LANE_PRODUCER].name);
        expect_whole(&lane.side[MED_LANE_CONSUMER].name);
    }
}

static void
act(const sim_actor *actor)
{
    actor_state a = {.actor = actor};
    come(&a);
    endpoint_make(&a);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        switch (sim_random(8)) {
        case 0:
            endpoint_end(&a);
            endpoint_make(&a);
            break;
        case 1:
            (void)med_exchange_reclaim(med_self_get());
            break;
        case 2:
            look_on();
            break;
        case 3:
        case 4:
            receive(&a);
            break;
        default:
            send(&a);
        }
    }
    ((notes *)actor->notes)->ended[actor->index]++;
    go(&a);
}

const sim_scenario sim_mcapi_row = {
    .name = "mcapi_row",
    .covers = "seen()",
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 7,
    .long_lived = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
