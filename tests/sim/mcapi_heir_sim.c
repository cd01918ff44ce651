/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Heirs: a row that a process gave back before it died is another's, who lives. Whoever recovers
 * the dead one takes nothing from him, though he knows of him from the row alone.
 *
 * Actors: 0 has a row, of nodes or of endpoints, gives it back and takes another; and may die. 1
 * has the former one then, and looks in the end whether it is still his. 2 came before him, and
 * recovers 0 when it is dead. What each waits for it is told without any order.
 */
#include "mcapi.h"
#include "mcapi_actor.h"
#include "mrapi.h"
#include "mrapi/node.h"
#include "mrapi/process.h"
#include "mrapi/system.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define DOMAIN 1u
#define MORTAL 0u
#define HEIR 1u
#define WATCHER 2u
#define ACTORS 3u
#define LOOKS 2000u /* at what it waits for */

enum {
    FORMER,
    KEPT
};

typedef struct notes {
    uint32_t kind;  /* of rows; decided by 2, */
    bool watches;   /* who is there */
    bool left;      /* 0 has given a row back, */
    bool inherited; /* and 1 has it */
    bool recovered;
} notes;

/* No row is to be had but the one that was given back. */
static const sim_variable environment[] = {{"MEDLEY_MAX_NODES", "3"},
                                           {"MEDLEY_MAX_ENDPOINTS", "2"},
                                           {"MEDLEY_MAX_LANES", "1"},
                                           {"MEDLEY_LANE_BYTES", "256"},
                                           {"MEDLEY_MAX_BUFFERS", "2"},
                                           {"MEDLEY_BUFFER_BYTES", "128"},
                                           MRAPI_VARIABLES};

/* Whether it was. */
static bool
awaited(const bool *told)
{
    for (uint32_t i = 0; i < LOOKS && !*(const volatile bool *)told; i++) {
        med_port_yield();
    }
    return *told;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static void
node_leave_row(const sim_actor *actor)
{
    mrapi_node_come(actor);
    mrapi_node_go();
    mrapi_node_come(actor);
}

static void
node_end(void)
{
    SIM_CHECK(med_node_alive(med_self_get()->system, med_self_get()->ref));
    mrapi_node_go();
}

/* ---- Endpoints ------------------------------------------------------------------------------- */

static void
endpoint_delete(mcapi_endpoint_t endpoint)
{
    mcapi_status_t status;
    mcapi_endpoint_delete(endpoint, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
}

static void
endpoint_leave_row(const sim_actor *actor)
{
    mcapi_come(actor);
    mcapi_endpoint_t former = mcapi_endpoint_make(FORMER);
    endpoint_delete(former);
    (void)mcapi_endpoint_make(KEPT);
}

static void
endpoint_have(const sim_actor *actor)
{
    mcapi_come(actor);
    (void)mcapi_endpoint_make(FORMER);
}

static void
endpoint_end(void)
{
    mcapi_status_t status;
    mcapi_endpoint_t own = mcapi_endpoint_get(DOMAIN, HEIR + 1, FORMER, 0, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    endpoint_delete(own);
    mcapi_go();
}

/* ---- Either ---------------------------------------------------------------------------------- */

typedef struct row_kind {
    void (*leave_row)(const sim_actor *actor);
    void (*go)(void);
    void (*have)(const sim_actor *actor);
    void (*end)(void); /* it is still there */
} row_kind;

static const row_kind kinds[] = {
    {node_leave_row, mrapi_node_go, mrapi_node_come, node_end},
    {endpoint_leave_row, mcapi_go, endpoint_have, endpoint_end},
};

static void
leave_a_row(const sim_actor *actor)
{
    notes *n = actor->notes;
    if (!awaited(&n->watches)) {
        return;
    }
    kinds[n->kind].leave_row(actor);
    n->left = true;
    for (uint32_t i = 0; i < LOOKS && awaited(&n->inherited); i++) {
        med_port_yield(); /* and dies, if it does */
    }
    kinds[n->kind].go();
}

static void
inherit(const sim_actor *actor)
{
    notes *n = actor->notes;
    if (!awaited(&n->left)) {
        return;
    }
    kinds[n->kind].have(actor);
    n->inherited = true;
    (void)awaited(&n->recovered);
    kinds[n->kind].end();
}

static void
watch(const sim_actor *actor)
{
    notes *n = actor->notes;
    n->kind = sim_random(sizeof kinds / sizeof kinds[0]);
    mrapi_node_come(actor);
    n->watches = true;
    (void)sim_join(MORTAL);
    (void)med_process_recover_all(med_self_get()->system);
    n->recovered = true;
    mrapi_node_go();
}

static void
act(const sim_actor *actor)
{
    static void (*const acts[ACTORS])(const sim_actor *) = {
        [MORTAL] = leave_a_row, [HEIR] = inherit, [WATCHER] = watch};
    acts[actor->index](actor);
}

const sim_scenario sim_mcapi_heir = {
    .name = "mcapi_heir",
    .covers = "recover_node_row() med_endpoint_recover_rows()",
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 1u << MORTAL,
    .long_lived = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
