/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Rows that are read between two looks at their state: what a handle of a shared memory is told,
 * by whoever has it, is true of that memory, though it may be deleted meanwhile and its row be
 * another's.
 *
 * Actors: 0 makes and deletes; the others read, by handles that are told without any order. Each
 * life has a size of its own, known to all with its handle.
 */
#include "medley/medley.h"
#include "mrapi.h"
#include "mrapi_actor.h"
#include "scenarios.h"

#define LIVES_MAX 12u
#define READS 48u
#define BYTES 64u

typedef struct notes {
    mrapi_notes common; /* told: a life + 1 */
    uint32_t lives;
    mrapi_shmem_hndl_t handles[LIVES_MAX]; /* of BYTES * (life + 1) bytes */
} notes;

static void
make(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_status_t status;
    uint32_t life = n->lives++;
    n->handles[life] =
        mrapi_shmem_create(MRAPI_SHMEM_ID_ANY, BYTES * (life + 1), NULL, 0, NULL, 0, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_MEM_LIMIT);
    n->common.told[life % MRAPI_TOLD] = status == MRAPI_SUCCESS ? life + 1 : 0;
}

static void
read(const sim_actor *actor, uint32_t life)
{
    const notes *n = actor->notes;
    mrapi_uint_t size;
    mrapi_status_t status;
    mrapi_shmem_get_attribute(n->handles[life], MRAPI_SHMEM_SIZE, &size, sizeof size, &status);
    SIM_CHECK(status == MRAPI_ERR_SHM_INVALID ||
              (status == MRAPI_SUCCESS && size == BYTES * (life + 1)));
}

static void
end_one(const sim_actor *actor, uint32_t life)
{
    const notes *n = actor->notes;
    mrapi_status_t status;
    mrapi_shmem_delete(n->handles[life], &status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_SHM_INVALID);
}

static void
act(const sim_actor *actor)
{
    const notes *n = actor->notes;
    mrapi_come(actor);
    for (uint32_t i = 0; actor->index == 0 && i < LIVES_MAX; i++) {
        make(actor);
        if (i > 0) {
            end_one(actor, i - 1);
        }
    }
    for (uint32_t i = 0; actor->index != 0 && i < READS; i++) {
        uint32_t told = n->common.told[sim_random(MRAPI_TOLD)];
        if (told) {
            read(actor, told - 1);
        }
    }
    mrapi_go(actor);
}

const sim_scenario sim_mrapi_row = {
    .name = "mrapi_row",
    .covers = "shmem",
    .memory_bytes = sizeof(uint32_t),
    .actors = MRAPI_ACTORS,
    .deaths = 0,
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};
