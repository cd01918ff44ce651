/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Looking on from outside: whoever observes a system that others make, leave and make anew, without
 * being one of its processes or waiting for them, finds it whole or not at all.
 *
 * Actors: 0 and 1 come and go, the others look on. What a system is made with is known, and in what
 * it shows every node is one of the actors'.
 */
#include "mrapi/system.h"
#include "mrapi/view.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define ACTORS 4u
#define RESIDENTS 2u
#define STAYS 3u
#define LOOKS 12u
#define PATIENCE_NS 1000000u
#define DOMAIN 1u /* of mrapi_node_come */

static void
come_and_go(const sim_actor *actor)
{
    for (uint32_t i = 0; i < STAYS; i++) {
        mrapi_node_come(actor);
        mrapi_node_go();
    }
}

static void
nodes_check(const med_system *system)
{
    for (uint32_t i = 0; i < system->limits.nodes; i++) {
        med_view_node node;
        if (med_view_node_read(system, i, &node)) {
            SIM_CHECK(node.domain == DOMAIN && node.number >= 1 && node.number <= RESIDENTS);
        }
    }
}

static void
look_on(void)
{
    med_system system;
    uint64_t deadline_ns = med_port_clock_ns() + PATIENCE_NS;
    medley_status_t status = med_system_observe("sim", deadline_ns, &system);
    /* There is none, or nobody lives in it. */
    SIM_CHECK(status == MEDLEY_OK || status == MEDLEY_ERR_NOT_FOUND || status == MEDLEY_TIMEOUT ||
              status == MEDLEY_EMPTY);
    if (status == MEDLEY_OK) {
        SIM_CHECK(system.limits.processes == 4 && system.limits.nodes == 6);
        nodes_check(&system);
        med_system_observe_end(&system);
    }
}

static void
act(const sim_actor *actor)
{
    if (actor->index < RESIDENTS) {
        come_and_go(actor);
        return;
    }
    for (uint32_t i = 0; i < LOOKS; i++) {
        look_on();
        med_port_yield();
    }
}

const sim_scenario sim_mrapi_observe = {
    .name = "mrapi_observe",
    .covers = "word()",
    .actors = ACTORS,
    .deaths = 0, /* of one who dies making it, half of it may be found */
    .sees_late = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};
