/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A lane that its receiver left first, since what lay there was no record: its sender then removes
 * it, and its row is the next one's. Who left it does not take it up again, in any life of the row.
 *
 * Actors: 0 receives, at one endpoint. 1 sends to it, and then spoils the lane, from endpoints that
 * come and go. 2 sends to itself. There is one lane.
 */
#include "mcapi.h"
#include "mcapi/exchange.h"
#include "mcapi/lane.h"
#include "mcapi/record.h"
#include "mcapi_actor.h"
#include "mrapi/node.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define RECEIVER 0u
#define SPOILER 1u
#define ACTORS 3u
#define TURNS 6u

enum {
    FROM,
    TO
};

typedef struct notes {
    mcapi_endpoint_t told;
    uint32_t accepted; /* bit i: in turn i */
} notes;

typedef struct content {
    uint32_t from;
    uint32_t number;
} content;

static const sim_variable environment[] = {{"MEDLEY_MAX_NODES", "3"},
                                           {"MEDLEY_MAX_ENDPOINTS", "4"},
                                           {"MEDLEY_MAX_LANES", "1"},
                                           {"MEDLEY_LANE_BYTES", "256"},
                                           {"MEDLEY_MAX_BUFFERS", "2"},
                                           {"MEDLEY_BUFFER_BYTES", "128"},
                                           MRAPI_VARIABLES};

/* Whether anything came. */
static bool
receive(mcapi_endpoint_t own, content *c)
{
    mcapi_status_t status;
    size_t bytes;
    mcapi_msg_recv(own, c, sizeof *c, &bytes, &status);
    SIM_CHECK(status == MCAPI_TIMEOUT || (status == MCAPI_SUCCESS && bytes == sizeof *c));
    return status == MCAPI_SUCCESS;
}

/* Two skips in a row: no sender leaves that. */
static void
lane_spoil(void)
{
    med_lane_own *lane = &med_self_get()->exchange->exchange->lane_ends[0];
    (void)med_record_skip(&lane->producer.ring, 1);
    (void)med_record_skip(&lane->producer.ring, 1);
}

static void
send_and_spoil(const sim_actor *actor)
{
    notes *n = actor->notes;
    content c = {.from = SPOILER};
    mcapi_come(actor);
    while (!n->told) {
        med_port_yield();
    }
    for (c.number = 0; c.number < TURNS; c.number++) {
        mcapi_endpoint_t from = mcapi_endpoint_make(FROM);
        if (mcapi_send_now(from, n->told, &c, sizeof c)) {
            n->accepted |= 1u << c.number;
            lane_spoil();
        }
        med_port_yield();
        mcapi_endpoint_end(from);
    }
    mcapi_go();
}

static void
send_to_oneself(const sim_actor *actor)
{
    content c = {.from = actor->index}, got;
    mcapi_come(actor);
    for (c.number = 0; c.number < TURNS; c.number++) {
        mcapi_endpoint_t from = mcapi_endpoint_make(FROM);
        mcapi_endpoint_t to = mcapi_endpoint_make(TO);
        if (mcapi_send_now(from, to, &c, sizeof c)) {
            SIM_CHECK(receive(to, &got) && got.from == c.from && got.number == c.number);
        }
        mcapi_endpoint_end(from);
        mcapi_endpoint_end(to);
    }
    mcapi_go();
}

static void
receive_all(const sim_actor *actor)
{
    notes *n = actor->notes;
    content c;
    uint32_t got = 0;
    mcapi_come(actor);
    mcapi_endpoint_t own = mcapi_endpoint_make(TO);
    n->told = own;
    for (bool over = false; !over;) {
        over = sim_has_ended(1) && sim_has_ended(2);
        while (receive(own, &c)) {
            SIM_CHECK(c.from == SPOILER && c.number < TURNS && !(got >> c.number & 1));
            got |= 1u << c.number;
        }
        med_port_yield();
    }
    SIM_CHECK(got == n->accepted);
    mcapi_endpoint_end(own);
    mcapi_go();
}

static void
act(const sim_actor *actor)
{
    static void (*const acts[ACTORS])(const sim_actor *) = {receive_all, send_and_spoil,
                                                            send_to_oneself};
    acts[actor->index](actor);
}

const sim_scenario sim_mcapi_left = {
    .name = "mcapi_left",
    .covers = "lane_fill() side_is_there()",
    .actors = ACTORS,
    .sees_late = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
