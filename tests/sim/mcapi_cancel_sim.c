/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Requests of MCAPI that another thread cancels, or waits for: of each either somebody gets what
 * came of it, or somebody canceled it, and then its buffer is his; the messages that the canceled
 * ones would have had go to the next, in order; and nobody sleeps on.
 *
 * Actors, threads of one process: 0 and 1 ask for messages, some of which they send themselves, and
 * wait until each request is over, or leave, and ask about any. 2 cancels what it is told of,
 * sooner or later; 3 waits for it, or asks. Places are few, so that each is had by both makers.
 */
#include "mcapi.h"
#include "mcapi_actor.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define ACTORS 4u
#define MAKERS 2u
#define CANCELER 2u
#define WAITER 3u
#define ROUNDS 4u
#define CANCELED_MARK 99u

typedef struct made {
    mcapi_request_t request; /* told to all without any order */
    uint32_t number;         /* what it brought; 0: nothing */
    bool canceled;
    bool left;
} made;

typedef struct notes {
    uint32_t there;
    made made[MAKERS][ROUNDS];
    uint32_t asked[MAKERS];
    uint32_t sent[MAKERS];
    uint32_t rest[MAKERS]; /* how many were received without a request, in the end, */
    uint32_t rest_first[MAKERS];
} notes;

static const sim_variable environment[] = {{"MEDLEY_MAX_ENDPOINTS", "2"},
                                           {"MEDLEY_MAX_LANES", "2"},
                                           {"MEDLEY_LANE_BYTES", "256"},
                                           {"MEDLEY_MAX_BUFFERS", "2"},
                                           {"MEDLEY_BUFFER_BYTES", "128"},
                                           {"MEDLEY_MAX_REQUESTS", "3"},
                                           MRAPI_VARIABLES};

/* What it brings goes there, plain. */
static uint32_t *
buffer_of(const sim_actor *actor, uint32_t maker, uint32_t index)
{
    return (uint32_t *)actor->memory + maker * ROUNDS + index;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static void
note_end(made *m, const uint32_t *buffer, mcapi_boolean_t ended, mcapi_status_t status)
{
    if (!ended) {
        SIM_CHECK(status == MCAPI_PENDING || status == MCAPI_ERR_REQUEST_INVALID ||
                  status == MCAPI_ERR_REQUEST_CANCELLED);
    } else if (status == MCAPI_ERR_ENDP_DELETED) {
        m->left = true;
    } else {
        SIM_CHECK(status == MCAPI_SUCCESS && !m->canceled && m->number == 0);
        m->number = *buffer;
    }
}

static void
wait_for(made *m, const uint32_t *buffer)
{
    mcapi_status_t status;
    size_t size;
    mcapi_boolean_t ended = mcapi_wait(&m->request, &size, MCAPI_TIMEOUT_INFINITE, &status);
    SIM_CHECK(ended || status != MCAPI_PENDING);
    note_end(m, buffer, ended, status);
}

static void
ask(made *m, const uint32_t *buffer)
{
    mcapi_status_t status;
    size_t size;
    mcapi_boolean_t ended = mcapi_test(&m->request, &size, &status);
    note_end(m, buffer, ended, status);
}

static void
cancel(made *m, uint32_t *buffer)
{
    mcapi_status_t status;
    mcapi_cancel(&m->request, &status);
    SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_ERR_REQUEST_INVALID ||
              status == MCAPI_ERR_REQUEST_CANCELLED);
    if (status == MCAPI_SUCCESS) {
        SIM_CHECK(!m->canceled && m->number == 0);
        m->canceled = true;
        *buffer = CANCELED_MARK;
    }
}

/* ---- Makers ---------------------------------------------------------------------------------- */

static void
settle(const sim_actor *actor)
{
    notes *n = actor->notes;
    uint32_t maker = actor->index;
    for (uint32_t i = 0; i < n->asked[maker]; i++) {
        wait_for(&n->made[maker][i], buffer_of(actor, maker, i));
    }
}

static void
make(const sim_actor *actor, mcapi_endpoint_t at)
{
    notes *n = actor->notes;
    uint32_t maker = actor->index;
    mcapi_status_t status;
    mcapi_request_t request;
    uint32_t index = n->asked[maker];
    uint32_t *buffer = buffer_of(actor, maker, index);
    mcapi_msg_recv_i(at, buffer, sizeof *buffer, &request, &status);
    if (status == MCAPI_ERR_REQUEST_LIMIT) {
        return;
    }
    SIM_CHECK(status == MCAPI_SUCCESS);
    n->made[maker][index].request = request;
    n->asked[maker]++;
}

static void
receive_rest(notes *n, uint32_t maker, mcapi_endpoint_t at)
{
    mcapi_status_t status;
    while (mcapi_msg_available(at, &status) != 0) {
        uint32_t number;
        size_t size;
        mcapi_msg_recv(at, &number, sizeof number, &size, &status);
        if (status == MCAPI_TIMEOUT) {
            continue; /* a request had it */
        }
        SIM_CHECK(status == MCAPI_SUCCESS);
        if (n->rest[maker]++ == 0) {
            n->rest_first[maker] = number;
        }
        SIM_CHECK(number == n->rest_first[maker] + n->rest[maker] - 1);
    }
}

/* Any, of whomever. */
static void
ask_about_one(const sim_actor *actor, bool cancels)
{
    notes *n = actor->notes;
    uint32_t maker = sim_random(MAKERS);
    if (n->asked[maker]) {
        uint32_t index = sim_random(n->asked[maker]);
        if (cancels) {
            cancel(&n->made[maker][index], buffer_of(actor, maker, index));
        } else {
            ask(&n->made[maker][index], buffer_of(actor, maker, index));
        }
    }
}

static void
act_maker(const sim_actor *actor, mcapi_endpoint_t at)
{
    notes *n = actor->notes;
    uint32_t maker = actor->index;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        make(actor, at);
        if (sim_random(2) == 0) {
            uint32_t number = n->sent[maker] + 1;
            n->sent[maker] += mcapi_send_now(at, at, &number, sizeof number);
        }
        ask_about_one(actor, sim_random(2) == 0);
        if (sim_random(2) == 0) {
            settle(actor);
        }
    }
    if (sim_random(4) != 0) {
        settle(actor);
    }
    receive_rest(n, maker, at);
}

/* ---- The others ------------------------------------------------------------------------------ */

static void
wait_for_one(const sim_actor *actor)
{
    notes *n = actor->notes;
    uint32_t maker = sim_random(MAKERS);
    if (n->asked[maker]) {
        uint32_t index = sim_random(n->asked[maker]);
        wait_for(&n->made[maker][index], buffer_of(actor, maker, index));
    }
}

static void
act_other(const sim_actor *actor)
{
    while (!sim_has_ended(0) || !sim_has_ended(1)) {
        if (actor->index == WAITER && sim_random(2) == 0) {
            wait_for_one(actor);
        } else {
            ask_about_one(actor, actor->index == CANCELER);
        }
        med_port_yield();
    }
}

static void
act(const sim_actor *actor)
{
    notes *n = actor->notes;
    mcapi_come(actor);
    n->there++;
    while (n->there != ACTORS) {
        med_port_yield(); /* else it is another system, whose handles begin anew */
    }
    if (actor->index < MAKERS) {
        act_maker(actor, mcapi_endpoint_make(actor->index));
    } else {
        act_other(actor);
    }
    mcapi_go();
}

/* Of a maker who left with some under way, a message may have gone to one that nobody asked for
 * any more. */
static void
end(const sim_actor *director)
{
    const notes *n = director->notes;
    for (uint32_t maker = 0; maker < MAKERS; maker++) {
        uint32_t next = 1;
        bool unknown = false;
        for (uint32_t i = 0; i < n->asked[maker]; i++) {
            const made *m = &n->made[maker][i];
            SIM_CHECK(!m->canceled ||
                      (m->number == 0 && *buffer_of(director, maker, i) == CANCELED_MARK));
            uint32_t had = m->canceled ? 0 : *buffer_of(director, maker, i);
            unknown = unknown || (had && !m->number);
            SIM_CHECK(!m->number || m->number == had);
            SIM_CHECK(!had || had == next++);
        }
        SIM_CHECK(unknown || n->rest[maker] == 0 || n->rest_first[maker] == next);
        SIM_CHECK(next + n->rest[maker] == n->sent[maker] + 1);
    }
}

const sim_scenario sim_mcapi_cancel = {
    .name = "mcapi_cancel",
    .covers = "request request_table",
    .memory_bytes = MAKERS * ROUNDS * sizeof(uint32_t),
    .actors = ACTORS,
    .one_process = true,
    .sees_late = true,
    .waits_forever = true,
    .begin = mrapi_begin,
    .act = act,
    .end = end,
    .environment = environment,
};
