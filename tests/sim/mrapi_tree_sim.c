/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What resource trees tell of rows is of the life that they tell of: who deleted a mutex finds no
 * other under its number, and the memory that he deleted is in use no more.
 *
 * Actors: 0 makes mutexes and small memories, and deletes them. 1 does so under a number, and of a
 * size, of his own; and looks. Of each kind there is one row, so it is theirs in turn.
 */
#include <string.h>

#include "mrapi.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define ACTORS 2u
#define LOOKER 1u
#define ROUNDS 6u
#define LOOKS 3u
#define OF_LOOKER "mutex 2"
#define SMALL_BYTES 64u
#define LARGE_BYTES 65536u /* all other rows, and what they describe, are less */

static const sim_variable environment[] = {{"MEDLEY_MAX_SHMEMS", "1"}, MRAPI_VARIABLES};

/* ---- Coming and going ------------------------------------------------------------------------ */

/* Unless the other has the row just now. */
static void
mutex_come_and_go(const sim_actor *actor)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(actor->index + 1, NULL, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_MUTEX_LIMIT);
    if (status != MRAPI_SUCCESS) {
        return;
    }
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    mrapi_mutex_delete(mutex, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

static void
memory_come_and_go(const sim_actor *actor)
{
    mrapi_status_t status;
    mrapi_uint_t size = actor->index == LOOKER ? LARGE_BYTES : SMALL_BYTES;
    mrapi_shmem_hndl_t memory =
        mrapi_shmem_create(actor->index + 1, size, NULL, 0, NULL, 0, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_MEM_LIMIT);
    if (status == MRAPI_SUCCESS) {
        mrapi_shmem_delete(memory, &status);
        SIM_CHECK(status == MRAPI_SUCCESS);
    }
}

/* ---- Looking --------------------------------------------------------------------------------- */

static void
expect_none_named(const mrapi_resource_t *resource, const char *name)
{
    SIM_CHECK(strcmp(resource->name, name) != 0);
    for (mrapi_uint_t i = 0; i < resource->number_of_children; i++) {
        expect_none_named(resource->children[i], name);
    }
}

static void
look(void)
{
    mrapi_status_t status;
    mrapi_uint64_t bytes;
    mrapi_resource_t *root = mrapi_resources_get(MEDLEY_RSRC_SYSTEM, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    expect_none_named(root, OF_LOOKER);
    mrapi_dynamic_attribute_start(root, MEDLEY_RSRC_USED_BYTES, NULL, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    mrapi_resource_get_attribute(root, MEDLEY_RSRC_USED_BYTES, &bytes, sizeof bytes, &status);
    SIM_CHECK(status == MRAPI_SUCCESS && bytes < LARGE_BYTES);
    mrapi_resource_tree_free(&root, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

static void
act(const sim_actor *actor)
{
    mrapi_node_come(actor);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        mutex_come_and_go(actor);
        memory_come_and_go(actor);
        for (uint32_t i = 0; actor->index == LOOKER && i < LOOKS; i++) {
            look();
        }
    }
    mrapi_node_go();
}

const sim_scenario sim_mrapi_tree = {
    .name = "mrapi_tree",
    .covers = "rows_read() segments_bytes() row_living()",
    .actors = ACTORS,
    .sees_late = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
