/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A recovery reads what the dead one wrote, and nothing of the newcomer who has his row next: not
 * even by loads that return what is stored later.
 *
 * Actors: 0 recovers 1, who has a node and dies. Then 2 comes, into 1's row. What each waits for it
 * is told without any order.
 */
#include "mrapi/node.h"
#include "mrapi/process.h"
#include "mrapi/system.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

enum {
    RECOVERER,
    MORTAL,
    NEWCOMER,
    ACTORS
};

typedef struct notes {
    uint32_t process; /* row of the dead one */
    uint32_t node;    /* his; 0: he died before he had one */
    volatile bool opened;
    volatile bool recovered;
    volatile bool come; /* the newcomer is */
} notes;

static void
await(const volatile bool *told)
{
    while (!*told) {
        med_port_yield();
    }
}

static bool
is_there(const med_system *system, uint32_t node_ref)
{
    uint32_t word =
        atomic32_load_acquire(&med_system_node(system, med_node_ref_index(node_ref))->row.state);
    return word == med_row_word(MED_ROW_LIVE, med_node_ref_generation(node_ref));
}

static void
recover(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_node_come(actor);
    n->opened = true;
    SIM_CHECK(sim_join(MORTAL));
    med_system *system = med_self_get()->system;
    while (n->node && !med_process_recover(system, n->process)) {
        med_port_yield();
    }
    n->recovered = true;
    await(&n->come);
    SIM_CHECK(!n->node || !is_there(system, n->node));
    mrapi_node_go();
}

static void
live_and_die(const sim_actor *actor)
{
    notes *n = actor->notes;
    await(&n->opened);
    mrapi_node_come(actor);
    n->process = med_self_get()->system->process_index;
    n->node = med_self_get()->ref;
    sim_die();
}

static void
come(const sim_actor *actor)
{
    notes *n = actor->notes;
    await(&n->recovered);
    mrapi_node_come(actor);
    n->come = true;
    mrapi_node_go();
}

static void
act(const sim_actor *actor)
{
    static void (*const acts[ACTORS])(const sim_actor *) = {recover, live_and_die, come};
    acts[actor->index](actor);
}

const sim_scenario sim_mrapi_early = {
    .name = "mrapi_early",
    .covers = "med_process_recover() claim_free()",
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 1u << MORTAL,
    .loads_early = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};
