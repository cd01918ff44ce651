/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A slow recoverer: of two who recover one node he is still at it when the other has done, and the
 * node's row is another's. What that one makes is left alone.
 *
 * Actors: 0 is a node, and may die. 1 recovers it then, and attaches what 2 makes, who has 0's row
 * by now. 3 is slow: he knows of 0's death, and goes on with what 0 was making. What each waits for
 * it is told without any order.
 */
#include "mrapi.h"
#include "mrapi/process.h"
#include "mrapi/shmem.h"
#include "mrapi/system.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define MORTAL 0u
#define RECOVERER 1u
#define HEIR 2u
#define SLOW 3u
#define ACTORS 4u
#define LOOKS 2000u /* at what it waits for */
#define LIVES 3u
#define NUMBER 7u
#define BYTES 64u
#define STEPS 48u /* of the slow one */

typedef struct notes {
    mrapi_notes common; /* told: a handle */
    uint32_t there;     /* of 1 and 3 */
    uint32_t node_ref;  /* of 0 */
    uint32_t recovered;
    uint32_t attached; /* so many of 2's lives */
} notes;

/* 2 finds no row but 0's. */
static const sim_variable environment[] = {{"MEDLEY_MAX_NODES", "3"}, MRAPI_VARIABLES};

/* Whether it was. */
static bool
awaited(const uint32_t *told, uint32_t wanted)
{
    for (uint32_t i = 0; i < LOOKS && *(const volatile uint32_t *)told < wanted; i++) {
        med_port_yield();
    }
    return *told >= wanted;
}

static void
be_there(const sim_actor *actor)
{
    notes *n = actor->notes;
    if (!awaited(&n->there, 2)) {
        return;
    }
    mrapi_come(actor);
    n->node_ref = med_self_get()->ref;
    for (uint32_t i = 0; i < LOOKS; i++) {
        med_port_yield(); /* and dies, if it does */
    }
    mrapi_go(actor);
}

/* Told too early, or too late, it may be none. */
static void
attach(mrapi_shmem_hndl_t shmem)
{
    mrapi_status_t status;
    (void)mrapi_shmem_attach(shmem, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_SHM_INVALID);
    if (status == MRAPI_SUCCESS) {
        mrapi_shmem_detach(shmem, &status);
        SIM_CHECK(status == MRAPI_SUCCESS);
    }
}

static void
recover_and_attach(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_come(actor);
    n->there++;
    if (sim_join(MORTAL)) {
        (void)med_process_recover_all(med_self_get()->system);
        n->recovered = 1;
        for (uint32_t life = 0; life < LIVES && awaited(&n->common.told[1], life + 1); life++) {
            attach(n->common.told[0]);
            n->attached = life + 1;
        }
    }
    mrapi_go(actor);
}

static void
make_in_its_place(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_status_t status;
    if (!awaited(&n->recovered, 1)) {
        return;
    }
    mrapi_come(actor);
    for (uint32_t life = 0; life < LIVES; life++) {
        mrapi_shmem_hndl_t shmem =
            mrapi_shmem_create(NUMBER + life, BYTES, NULL, 0, NULL, 0, &status);
        SIM_CHECK(status == MRAPI_SUCCESS);
        n->common.told[0] = shmem;
        n->common.told[1] = life + 1;
        (void)awaited(&n->attached, life + 1);
    }
    mrapi_go(actor);
}

static void
recover_slowly(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_come(actor);
    n->there++;
    if (sim_join(MORTAL) && n->node_ref && awaited(&n->recovered, 1)) {
        for (uint32_t i = 0; i < STEPS; i++) {
            med_shmem_recover_making(med_self_get()->system, n->node_ref);
            med_port_yield();
        }
    }
    mrapi_go(actor);
}

static void
act(const sim_actor *actor)
{
    static void (*const acts[ACTORS])(const sim_actor *) = {[MORTAL] = be_there,
                                                            [RECOVERER] = recover_and_attach,
                                                            [HEIR] = make_in_its_place,
                                                            [SLOW] = recover_slowly};
    acts[actor->index](actor);
}

const sim_scenario sim_mrapi_slow = {
    .name = "mrapi_slow",
    .covers = "med_shmem_recover_making() file_make()",
    .memory_bytes = sizeof(uint32_t),
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 1u << MORTAL,
    .sees_late = true,
    .long_lived = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
