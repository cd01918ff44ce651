/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Two recover one dead process, the one after the other, or as one who finds the other too long at
 * it. Neither does anything to the newcomer who has its row by then: he is alive to all until he
 * goes.
 *
 * Actors: 0 and 1 recover 2, who has a node and dies. 3 comes, into 2's row, when the dead one is
 * known to be dead, or recovered. 4 may keep the table of nodes for longer than others wait for it:
 * then a recoverer gives back what it claimed. What each waits for it is told without any order.
 */
#include "mrapi.h"
#include "mrapi/node.h"
#include "mrapi/process.h"
#include "mrapi/system.h"
#include "mrapi/table_lock.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define LOOKS 64u /* of the newcomer, at himself */
#define LIVING 3u /* before the one who dies comes */

enum {
    FIRST,
    SECOND,
    MORTAL,
    NEWCOMER,
    KEEPER,
    ACTORS
};

typedef struct notes {
    uint32_t row;            /* of the dead one, + 1; 0: he died before he had it */
    volatile uint32_t there; /* recoverers, and who keeps the table */
    volatile bool dead;
    volatile bool recovered;
} notes;

/* No row but the dead one's is left for the newcomer. */
static const sim_variable environment[] = {{"MEDLEY_MAX_PROCESSES", "4"}, MRAPI_VARIABLES};

/* Nobody has taken this process for dead; but the table may be kept from it. */
static void
go(void)
{
    const med_system *system = med_self_get()->system;
    mrapi_status_t status;
    SIM_CHECK(med_process_alive(system, system->process_ref));
    mrapi_finalize(&status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_NODE_FINALFAILED);
}

/* Until either has done it; the other is given the time that a recovery may take. */
static void
recover(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_node_come(actor);
    n->there++;
    SIM_CHECK(sim_join(MORTAL));
    n->dead = true;
    med_system *system = med_self_get()->system;
    while (n->row && !n->recovered && !sim_has_ended(NEWCOMER)) {
        if (med_process_recover(system, n->row - 1)) {
            n->recovered = true;
        } else {
            med_port_delay_ns(MED_PROCESS_TAKE_OVER_NS);
        }
    }
    (void)sim_join(NEWCOMER);
    go();
}

static void
live_and_die(const sim_actor *actor)
{
    notes *n = actor->notes;
    while (n->there < LIVING) {
        med_port_yield();
    }
    mrapi_node_come(actor);
    n->row = med_self_get()->system->process_index + 1;
    sim_die();
}

static void
come(const sim_actor *actor)
{
    const notes *n = actor->notes;
    bool early = sim_random(4) == 0;
    while (!n->recovered && !(n->dead && (early || !n->row))) {
        med_port_yield();
    }
    mrapi_node_come(actor);
    const med_system *system = med_self_get()->system;
    SIM_CHECK(!n->row || system->process_index == n->row - 1);
    for (uint32_t i = 0; i < LOOKS; i++) {
        SIM_CHECK(med_process_alive(system, system->process_ref));
        med_port_yield();
    }
    go();
}

static void
keep(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_node_come(actor);
    n->there++;
    SIM_CHECK(sim_join(MORTAL));
    const med_table_view *nodes = &med_self_get()->system->tables[MED_KIND_NODE];
    if (n->row && sim_random(2) && med_table_lock(nodes) == MEDLEY_OK) {
        /* Who came first waits in vain, who comes behind him may not. */
        med_port_delay_ns(MED_SYSTEM_PATIENCE_NS + sim_random(4) * MED_PROCESS_TAKE_OVER_NS);
        med_table_unlock(nodes);
    }
    (void)sim_join(NEWCOMER);
    go();
}

static void
act(const sim_actor *actor)
{
    static void (*const acts[ACTORS])(const sim_actor *) = {[FIRST] = recover,
                                                            [SECOND] = recover,
                                                            [MORTAL] = live_and_die,
                                                            [NEWCOMER] = come,
                                                            [KEEPER] = keep};
    acts[actor->index](actor);
}

const sim_scenario sim_mrapi_succeed = {
    .name = "mrapi_succeed",
    .covers = "recovery_claim() med_process_recover()",
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 1u << MORTAL,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
