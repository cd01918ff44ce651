/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shared memory between processes: one of a number at a time, the same for all who attach it,
 * zeroed when it is made; nobody deletes it under one who has it attached, and who does delete it
 * sees what all did before they detached. Who dies has it attached no more.
 *
 * Actors: three of equal rank, of one number.
 */
#include "mrapi.h"
#include "mrapi_actor.h"
#include "scenarios.h"

#define ROUNDS 4u
#define NUMBER 7u
#define LIVES_MAX 32u

/* Plain: written while the memory is attached, read by who deletes it. */
typedef struct shared {
    uint32_t done[LIVES_MAX][MRAPI_ACTORS];
} shared;

typedef struct notes {
    mrapi_notes common;
    uint32_t lives;
    mrapi_shmem_hndl_t handle[LIVES_MAX];
    uint32_t attached[LIVES_MAX];              /* bit i: actor i has it attached */
    uint32_t written[LIVES_MAX][MRAPI_ACTORS]; /* what stands in the memory */
} notes;

static bool
life_have(const sim_actor *actor, uint32_t *life)
{
    notes *n = actor->notes;
    mrapi_status_t status;
    if (n->lives < LIVES_MAX) {
        mrapi_shmem_hndl_t made =
            mrapi_shmem_create(NUMBER, MRAPI_ACTORS * sizeof(uint32_t), NULL, 0, NULL, 0, &status);
        if (status == MRAPI_SUCCESS) {
            *life = n->lives++;
            n->handle[*life] = made;
            n->common.told[0] = *life + 1;
            return true;
        }
        SIM_CHECK(status == MRAPI_ERR_SHM_EXISTS || status == MRAPI_ERR_MEM_LIMIT);
    }
    *life = n->common.told[0] - 1;
    return n->common.told[0] != 0;
}

/* It stays the whole time: nobody can have deleted it. */
static void
use(const sim_actor *actor, uint32_t life, uint32_t *memory)
{
    shared *s = actor->memory;
    uint32_t *written = ((notes *)actor->notes)->written[life];
    SIM_CHECK(memory[actor->index] == written[actor->index]);
    written[actor->index]++;
    memory[actor->index]++;
    s->done[life][actor->index]++;
}

static void
attach_and_leave(const sim_actor *actor, uint32_t life)
{
    notes *n = actor->notes;
    mrapi_status_t status;
    uint32_t *memory = mrapi_shmem_attach(n->handle[life], &status);
    if (status != MRAPI_SUCCESS) {
        SIM_CHECK(status == MRAPI_ERR_SHM_INVALID);
        return;
    }
    n->attached[life] |= 1u << actor->index;
    use(actor, life, memory);
    n->attached[life] &= ~(1u << actor->index);
    mrapi_shmem_detach(n->handle[life], &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

static void
delete_life(const sim_actor *actor, uint32_t life)
{
    const shared *s = actor->memory;
    const notes *n = actor->notes;
    mrapi_status_t status;
    mrapi_shmem_delete(n->handle[life], &status);
    if (status != MRAPI_SUCCESS) {
        SIM_CHECK(status == MRAPI_ERR_SHM_INVALID || status == MRAPI_ERR_SHM_ATTCH);
        return;
    }
    for (uint32_t i = 0; i < MRAPI_ACTORS; i++) {
        SIM_CHECK(!(n->attached[life] >> i & 1) || sim_is_dead(i));
        SIM_CHECK(s->done[life][i] == n->written[life][i] || sim_is_dead(i));
    }
}

static void
act(const sim_actor *actor)
{
    mrapi_come(actor);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t life;
        if (!life_have(actor, &life)) {
            continue;
        }
        attach_and_leave(actor, life);
        if (sim_random(2) == 0) {
            delete_life(actor, life);
        }
    }
    mrapi_go(actor);
}

#define BY_THE_LOCK "the table's lock, under which this and the other end are, orders them"

static const sim_survivor survivors[] = {
    {"gone_node_detach", "", BY_THE_LOCK},
    {"bits_of_nobody_clear", "", BY_THE_LOCK},
    {"fill", "", "for who reads between two looks: the scenario mrapi_row is about it"},
    {"bury", "", "what it leads to looks again"},
    {"row_recover", "", "looked at again under the table's lock"},
    {"med_shmem_create", "", "for two who recover one node at once, which no seed meets"},
    {"med_shmem_recover_making", "", "as M1; and a death shows all that the dead one did"},
    {0},
};

const sim_scenario sim_mrapi_shmem = {
    .name = "mrapi_shmem",
    .covers = "shmem",
    .memory_bytes = sizeof(shared),
    .actors = MRAPI_ACTORS,
    .deaths = 2,
    .mortal = 7,
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
    .survivors = survivors,
};
