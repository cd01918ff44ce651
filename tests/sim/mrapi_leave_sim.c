/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Nodes that cannot remove their row when they leave, since others have the table for too long: who
 * comes next removes it, so each number can be had again; and nobody's row goes who is there. Where
 * they are expected, nobody else gets their places, come they or go.
 *
 * Actors: threads of one process. The first stays until the others have ended, so that the system
 * stays open, and lets time go on: whoever waits for a lock then waits in vain. At times it has the
 * table of nodes meanwhile: then all do who come or leave; or it tries to have one more node. Each
 * of the others comes and goes, always under the same number, which in half the runs is expected.
 * There are as many rows as actors.
 */

#include "mrapi.h"
#include "mrapi/system.h"
#include "mrapi/table_lock.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define DOMAIN 1u
#define ACTORS 4u
#define STAYS 0u
#define ROUNDS 4u
#define LONG_NS (2 * MED_SYSTEM_PATIENCE_NS)
#define PAUSE_MAX 64u

typedef struct notes {
    bool begun;
    bool expected; /* all who come and go are */
} notes;

static const sim_variable environment[] = {{"MEDLEY_MAX_NODES", "4"}, MRAPI_VARIABLES};

/* Again, when others were too long at it, or are about to remove the row that it had. */
static void
come(const sim_actor *actor)
{
    mrapi_info_t info;
    mrapi_parameters_t parameters = {0};
    mrapi_status_t status;
    for (;;) {
        mrapi_initialize(DOMAIN, actor->index + 1, parameters, &info, &status);
        SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_NODE_INITFAILED ||
                  status == MRAPI_ERR_NODE_INITIALIZED);
        if (status == MRAPI_SUCCESS) {
            return;
        }
        med_port_yield(); /* to who removes it */
    }
}

static void
go(const sim_actor *actor)
{
    mrapi_status_t status;
    SIM_CHECK(med_node_is_there(med_self_get()->system, DOMAIN, actor->index + 1));
    mrapi_finalize(&status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_NODE_FINALFAILED);
}

static void
begin_others(const sim_actor *actor)
{
    notes *n = actor->notes;
    n->expected = sim_random(2);
    for (uint32_t i = STAYS + 1; n->expected && i < ACTORS; i++) {
        SIM_CHECK(med_node_expect(med_self_get()->system, DOMAIN, i + 1) == MEDLEY_OK);
    }
    n->begun = true;
}

/* Their places are kept. */
static void
no_other_comes(void)
{
    const med_node_request request = {.domain = DOMAIN, .node = MED_NODE_ANY, .quiet = true};
    med_self *other;
    medley_status_t status = med_node_register(med_self_get()->system, &request, &other);
    SIM_CHECK(status == MEDLEY_ERR_LIMIT || status == MEDLEY_TIMEOUT);
}

static bool
others_have_ended(void)
{
    for (uint32_t i = STAYS + 1; i < ACTORS; i++) {
        if (!sim_has_ended(i)) {
            return false;
        }
    }
    return true;
}

static void
time_goes_on(const sim_actor *actor)
{
    const med_table_view *nodes = &med_self_get()->system->tables[MED_KIND_NODE];
    while (!others_have_ended()) {
        for (uint32_t i = sim_random(PAUSE_MAX); i != 0; i--) {
            med_port_yield();
        }
        if (((const notes *)actor->notes)->expected && sim_random(2)) {
            no_other_comes();
        }
        bool keeps = sim_random(2) && med_table_lock(nodes) == MEDLEY_OK;
        med_port_delay_ns(LONG_NS);
        if (keeps) {
            med_table_unlock(nodes);
        }
    }
}

static void
act(const sim_actor *actor)
{
    if (actor->index == STAYS) {
        come(actor);
        begin_others(actor);
        time_goes_on(actor);
        go(actor);
        return;
    }
    while (!((const notes *)actor->notes)->begun) {
        med_port_yield();
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        come(actor);
        go(actor);
    }
}

const sim_scenario sim_mrapi_leave = {
    .name = "mrapi_leave",
    .covers = "node_leave node_expected",
    .actors = ACTORS,
    .one_process = true,
    .sees_late = true,
    .times_out = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
