/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Heap memory: a block is one node's at a time; who has its handle, or finds it by its key, finds
 * it as its maker made it; of several who delete it, one does.
 *
 * Actors: three nodes of one process, of equal rank.
 */
#include "medley/mrapi_ext.h"
#include "mrapi.h"
#include "mrapi_actor.h"
#include "scenarios.h"

#define ROUNDS 4u
#define MADE_MAX (MRAPI_ACTORS * ROUNDS)
#define KEY 7u /* and the next */

typedef struct made {
    mrapi_shmem_hndl_t handle;
    void *address;
    uint32_t size;
    uint32_t maker;
    uint32_t key;
    bool contested; /* anybody deletes it; else one who has claimed it uses it before */
    bool claimed;
    bool deleted;
} made;

typedef struct notes {
    mrapi_notes common;
    uint32_t count;
    made made[MADE_MAX];
} notes;

/* Sizes of one class, more often, and of two more. */
static uint32_t
any_size(void)
{
    static const uint32_t sizes[] = {16, 40, 16, 40, 64, 100, 3000};
    return sizes[sim_random(sizeof sizes / sizeof sizes[0])];
}

static void
make(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_shmem_attributes_t attributes;
    mrapi_status_t status;
    mrapi_shmem_init_attributes(&attributes, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    attributes.use_malloc = MRAPI_TRUE;
    uint32_t size = any_size();
    uint32_t key = KEY + sim_random(2);
    mrapi_shmem_hndl_t handle = mrapi_shmem_create_malloc(key, size, &attributes, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    for (uint32_t i = 0; i < n->count; i++) {
        SIM_CHECK(n->made[i].deleted || n->made[i].address != attributes.mem_addr);
        SIM_CHECK(n->made[i].deleted || n->made[i].handle != handle);
    }
    n->made[n->count++] = (made){.handle = handle,
                                 .address = attributes.mem_addr,
                                 .size = size,
                                 .maker = actor->index,
                                 .key = key,
                                 .contested = sim_random(2) == 0};
}

/* By one who has claimed it. False: he was told without any order, and does not see it yet. */
static bool
use(const sim_actor *actor, const made *m)
{
    mrapi_status_t status;
    uint32_t *memory = mrapi_shmem_attach(m->handle, &status);
    if (status == MRAPI_ERR_SHM_INVALID && m->maker != actor->index) {
        return false;
    }
    SIM_CHECK(status == MRAPI_SUCCESS && memory == m->address);
    mrapi_uint_t size;
    mrapi_shmem_get_attribute(m->handle, MRAPI_SHMEM_SIZE, &size, sizeof size, &status);
    SIM_CHECK(status == MRAPI_SUCCESS && size == m->size);
    memory[0] = 1;
    memory[m->size / sizeof *memory - 1] = 2;
    return true;
}

static void
end_of(made *m)
{
    mrapi_status_t status;
    mrapi_shmem_delete(m->handle, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || (m->contested && status == MRAPI_ERR_SHM_INVALID));
    if (status == MRAPI_SUCCESS) {
        SIM_CHECK(!m->deleted);
        m->deleted = true;
    }
}

/* What is found by a key has it; it may be gone by the time. */
static void
find(const notes *n)
{
    uint32_t key = KEY + sim_random(2);
    mrapi_status_t status;
    mrapi_shmem_hndl_t handle = mrapi_shmem_get(key, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_SHM_ID_INVALID);
    for (uint32_t i = 0; status == MRAPI_SUCCESS && i < n->count; i++) {
        SIM_CHECK(n->made[i].handle != handle || n->made[i].key == key);
    }
}

/* By anybody, of what anybody may delete meanwhile: its own address and size, or nothing. */
static void
look(const made *m)
{
    mrapi_status_t status;
    mrapi_uint_t size;
    void *memory = mrapi_shmem_attach(m->handle, &status);
    SIM_CHECK(status == MRAPI_SUCCESS ? memory == m->address : status == MRAPI_ERR_SHM_INVALID);
    mrapi_shmem_get_attribute(m->handle, MRAPI_SHMEM_SIZE, &size, sizeof size, &status);
    SIM_CHECK(status == MRAPI_SUCCESS ? size == m->size : status == MRAPI_ERR_SHM_INVALID);
}

static void
act(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_come(actor);
    if (n->common.told[0] == 0) { /* the heap of a new system */
        n->common.told[0] = 1;
        n->count = 0;
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (sim_random(3) != 0) {
            make(actor);
        }
        if (sim_random(4) == 0) {
            find(n);
        }
        if (n->count == 0) {
            continue;
        }
        made *m = &n->made[sim_random(n->count)];
        if (m->contested && sim_random(3) != 0) {
            look(m);
        } else if (m->contested) {
            end_of(m);
        } else if (!m->claimed) {
            m->claimed = true;
            m->claimed = use(actor, m);
            if (m->claimed) {
                end_of(m);
            }
        }
    }
    mrapi_go(actor);
}

const sim_scenario sim_mrapi_heap = {
    .name = "mrapi_heap",
    .covers = "heap",
    .actors = MRAPI_ACTORS,
    .one_process = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};
