/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who sends slowly is told of his receiver's death: what he sends once a look is due is not
 * accepted any more, whoever recovers the dead one; and that he died, not that he is gone, is what
 * is said as long as his endpoint's row is no other's. Or he sends nothing more and sleeps: then he
 * gives up his lane when another was refused one.
 *
 * Actors: 0 receives some, and dies. 1 sends to it, and then until he is told, or no more; then he
 * waits for what 2 makes when it has done. 2 sends to itself, as soon as it gets the only lane
 * there is.
 */
#include "base/atomic.h"
#include "mcapi.h"
#include "mcapi_actor.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define DOMAIN 1u
#define RECEIVER 0u
#define SENDER 1u
#define WANTER 2u
#define ACTORS 3u
#define RECEIVED_MAX 3u
#define APART_NS 120000000u /* a look is due, watch.c */
#define AGAIN_NS 2000000u   /* until who has to try again does */

enum {
    FROM,
    TO,
    DONE
};

typedef struct notes {
    bool here;      /* 1 is a node: nobody makes the system anew from now on */
    bool rests;     /* 1 sends once, and no more; decided by it */
    bool reuses;    /* 2 makes one more endpoint, in the dead one's row perhaps */
    uint32_t sent;  /* or being sent, by 1 */
    uint32_t taken; /* by 0 */
} notes;

typedef struct shared {
    atomic32 told; /* 0's endpoint */
} shared;

static const sim_variable environment[] = {{"MEDLEY_MAX_NODES", "3"},
                                           {"MEDLEY_MAX_ENDPOINTS", "5"},
                                           {"MEDLEY_MAX_LANES", "1"},
                                           {"MEDLEY_LANE_BYTES", "256"},
                                           {"MEDLEY_MAX_BUFFERS", "2"},
                                           {"MEDLEY_BUFFER_BYTES", "128"},
                                           MRAPI_VARIABLES};

/* ---- Who dies -------------------------------------------------------------------------------- */

/* Who receives at it looks, or waits. */
static mcapi_endpoint_t
endpoint_make(void)
{
    mcapi_status_t status;
    if (sim_random(2)) {
        return mcapi_endpoint_make(TO);
    }
    mcapi_endpoint_t made = mcapi_endpoint_create(TO, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    return made;
}

/* The next, if there is one. */
static void
receive(notes *n, mcapi_endpoint_t own)
{
    mcapi_status_t status;
    uint32_t number;
    size_t bytes;
    mcapi_msg_recv(own, &number, sizeof number, &bytes, &status);
    SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_TIMEOUT);
    if (status == MCAPI_SUCCESS) {
        SIM_CHECK(bytes == sizeof number && number == n->taken && number < n->sent);
        n->taken++;
    } else {
        med_port_yield();
    }
}

static void
receive_some(const sim_actor *actor)
{
    notes *n = actor->notes;
    while (!n->here) {
        med_port_yield();
    }
    mcapi_come(actor);
    mcapi_endpoint_t own = endpoint_make();
    atomic32_store_release(&((shared *)actor->memory)->told, own);
    uint32_t wanted = sim_random(RECEIVED_MAX + 1);
    while (n->taken < wanted && !(n->rests && n->taken == 1)) {
        receive(n, own);
    }
    sim_die();
}

/* ---- Who sends to it ------------------------------------------------------------------------- */

static mcapi_status_t
send_next(notes *n, mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    mcapi_status_t status;
    uint32_t number = n->sent++;
    mcapi_msg_send(from, to, &number, sizeof number, 0, &status);
    n->sent -= status != MCAPI_SUCCESS;
    return status;
}

/* It died: is that what he was told? */
static void
expect_told(const notes *n, mcapi_status_t status)
{
    SIM_CHECK(status == MCAPI_ERR_TRANSMISSION || (status == MCAPI_ERR_ENDP_INVALID && n->reuses));
}

/* Whether he was told. */
static bool
send_slowly(notes *n, mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    med_port_delay_ns(APART_NS);
    bool is_dead = sim_is_dead(RECEIVER);
    mcapi_status_t status = send_next(n, from, to);
    if (is_dead && status != MCAPI_ERR_MEM_LIMIT) { /* that: he has no lane, and got none */
        expect_told(n, status);
        return true;
    }
    if (status == MCAPI_ERR_TRANSMISSION) {
        SIM_CHECK(sim_is_dead(RECEIVER));
        return true;
    }
    SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_ERR_MEM_LIMIT || status == MCAPI_TIMEOUT);
    return false;
}

static void
send_until_told(notes *n, mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    while (!send_slowly(n, from, to)) {
    }
    expect_told(n, send_next(n, from, to));
}

static void
send_once(notes *n, mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    mcapi_status_t status;
    do {
        status = send_next(n, from, to);
        med_port_delay_ns(AGAIN_NS);
    } while (status == MCAPI_ERR_MEM_LIMIT && !sim_has_ended(WANTER));
}

static void
send_to_it(const sim_actor *actor)
{
    notes *n = actor->notes;
    const atomic32 *told = &((const shared *)actor->memory)->told;
    mcapi_status_t status;
    n->rests = sim_random(2);
    mcapi_come(actor);
    n->here = true;
    mcapi_endpoint_t from = mcapi_endpoint_make(FROM);
    mcapi_endpoint_t to;
    while ((to = atomic32_load_acquire(told)) == 0 && !sim_is_dead(RECEIVER)) {
        med_port_delay_ns(AGAIN_NS);
    }
    if (to) {
        (n->rests ? send_once : send_until_told)(n, from, to);
    }
    (void)mcapi_endpoint_get(DOMAIN, WANTER + 1, DONE, MCAPI_TIMEOUT_INFINITE, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    mcapi_endpoint_end(from);
    mcapi_go();
}

/* ---- Who wants the lane ---------------------------------------------------------------------- */

static void
want_a_lane(const sim_actor *actor)
{
    notes *n = actor->notes;
    mcapi_status_t status;
    uint32_t number = WANTER, got = 0;
    size_t bytes;
    mcapi_come(actor);
    mcapi_endpoint_t from = mcapi_endpoint_make(FROM);
    mcapi_endpoint_t to = mcapi_endpoint_make(TO);
    while (!mcapi_send_now(from, to, &number, sizeof number)) {
        med_port_delay_ns(AGAIN_NS);
    }
    mcapi_msg_recv(to, &got, sizeof got, &bytes, &status);
    SIM_CHECK(status == MCAPI_SUCCESS && bytes == sizeof got && got == number);
    mcapi_endpoint_end(from);
    mcapi_endpoint_end(to);
    n->reuses = true;
    mcapi_endpoint_t done = mcapi_endpoint_make(DONE);
    (void)sim_join(SENDER);
    mcapi_endpoint_end(done);
    mcapi_go();
}

static void
act(const sim_actor *actor)
{
    static void (*const acts[ACTORS])(const sim_actor *) = {
        [RECEIVER] = receive_some, [SENDER] = send_to_it, [WANTER] = want_a_lane};
    acts[actor->index](actor);
}

const sim_scenario sim_mcapi_told = {
    .name = "mcapi_told",
    .covers = "row_give_back() med_lane_is_gone()",
    .memory_bytes = sizeof(shared),
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 1u << RECEIVER,
    .sees_late = true,
    .long_lived = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
