/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shared memory between processes: one of a number at a time, the same for all who attach it,
 * zeroed when it is made; nobody deletes it under one who has it attached, and who does delete it
 * sees what all did before they detached. Who dies has it attached no more; nor has who leaves.
 *
 * Actors: three of equal rank, of one number. Each is a process, of which one may die; or all are
 * threads of one process, which maps a memory once, and the only row is each memory's in turn: what
 * is done late for one who has left meets the next.
 */

#include "mrapi.h"
#include "mrapi_actor.h"
#include "scenarios.h"

#define ROUNDS 4u
#define ROUNDS_OF_THREADS 6u
#define USES_OF_THREADS 4u
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

static void
look(const sim_actor *actor, uint32_t life)
{
    const notes *n = actor->notes;
    mrapi_uint_t size;
    mrapi_status_t status;
    mrapi_shmem_get_attribute(n->handle[life], MRAPI_SHMEM_SIZE, &size, sizeof size, &status);
    SIM_CHECK(status == MRAPI_SUCCESS && size == MRAPI_ACTORS * sizeof(uint32_t));
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

/* NULL: somebody has deleted it. */
static uint32_t *
attach(const sim_actor *actor, uint32_t life)
{
    notes *n = actor->notes;
    mrapi_status_t status;
    uint32_t *memory = mrapi_shmem_attach(n->handle[life], &status);
    if (status != MRAPI_SUCCESS) {
        SIM_CHECK(status == MRAPI_ERR_SHM_INVALID);
        return NULL;
    }
    n->attached[life] |= 1u << actor->index;
    return memory;
}

static void
detach(const sim_actor *actor, uint32_t life)
{
    notes *n = actor->notes;
    mrapi_status_t status;
    n->attached[life] &= ~(1u << actor->index);
    mrapi_shmem_detach(n->handle[life], &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

static void
go_attached(const sim_actor *actor, uint32_t life)
{
    ((notes *)actor->notes)->attached[life] &= ~(1u << actor->index);
    mrapi_go(actor);
    mrapi_come(actor);
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
        uint32_t *memory = attach(actor, life);
        if (memory) {
            use(actor, life, memory);
            detach(actor, life);
        }
        if (sim_random(2) == 0) {
            delete_life(actor, life);
        }
    }
    mrapi_go(actor);
}

/* They detach, or leave it to their end. */
static void
act_as_thread(const sim_actor *actor)
{
    mrapi_come(actor);
    for (uint32_t round = 0; round < ROUNDS_OF_THREADS; round++) {
        uint32_t life;
        if (!life_have(actor, &life)) {
            continue;
        }
        uint32_t *memory = attach(actor, life);
        for (uint32_t i = 0; memory && i < USES_OF_THREADS; i++) {
            use(actor, life, memory);
            look(actor, life);
        }
        if (memory) {
            (sim_random(3) == 0 ? detach : go_attached)(actor, life);
        }
        if (sim_random(3) != 0) {
            delete_life(actor, life);
        }
    }
    mrapi_go(actor);
}

const sim_scenario sim_mrapi_shmem = {
    .name = "mrapi_shmem",
    .covers = "shmem",
    .memory_bytes = sizeof(shared),
    .actors = MRAPI_ACTORS,
    .deaths = 2,
    .mortal = 7,
    .long_lived = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};

static const sim_variable one_row[] = {{"MEDLEY_MAX_SHMEMS", "1"}, MRAPI_VARIABLES};

const sim_scenario sim_mrapi_shmem_threads = {
    .name = "mrapi_shmem_threads",
    .covers = "shmem shmem_mapping",
    .memory_bytes = sizeof(shared),
    .actors = MRAPI_ACTORS,
    .one_process = true,
    .begin = mrapi_begin,
    .act = act_as_thread,
    .environment = one_row,
};
