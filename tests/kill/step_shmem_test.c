/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Killed while it makes, attaches, detaches or deletes a shared memory, or ends with one attached,
 * or recovers one who was killed at any of these.
 * A memory is there, whole and with its segment, or it is not, and nor is its segment; and nobody
 * dead has it attached: it can be deleted.
 */
#include "kill/scenario.h"

#include <signal.h>
#include <string.h>

#include "medley/mrapi_ext.h"
#include "mrapi/system.h"
#include "support/check.h"
#include "support/process.h"
#include "support/segments.h"
#include "support/system.h"

#define STAYING 1u
#define PASSING 2u
#define BYTES 5000u
#define LARGE_BYTES ((1u << 20) + 1) /* not kept mapped until the first attach */

/* Of the child. */
static mrapi_shmem_hndl_t mine;

static mrapi_shmem_hndl_t
made(mrapi_shmem_id_t number, mrapi_uint_t size)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t shmem = mrapi_shmem_create(number, size, NULL, 0, NULL, 0, &status);
    must(status, "create of a memory");
    return shmem;
}

static void
attach(mrapi_shmem_hndl_t shmem)
{
    mrapi_status_t status;
    unsigned char *bytes = mrapi_shmem_attach(shmem, &status);
    must(status, "attach");
    bytes[BYTES - 1] = 1;
}

/* ---- What the child does --------------------------------------------------------------------- */

static void
child_makes(void)
{
    child_up();
    mine = made(STAYING, BYTES);
}

static void
op_shmem_create(void)
{
    (void)made(PASSING, BYTES);
}

static void
op_shmem_create_any(void)
{
    (void)made(MRAPI_SHMEM_ID_ANY, LARGE_BYTES);
}

static void
op_shmem_create_taken(void)
{
    mrapi_status_t status;
    (void)mrapi_shmem_create(STAYING, BYTES, NULL, 0, NULL, 0, &status);
    must(status == MRAPI_ERR_SHM_EXISTS ? MRAPI_SUCCESS : status, "create of a taken one");
}

static void
op_shmem_attach(void)
{
    attach(mine);
}

static void
op_shmem_detach(void)
{
    mrapi_status_t status;
    mrapi_shmem_detach(mine, &status);
    must(status, "detach");
}

static void
op_shmem_delete(void)
{
    mrapi_status_t status;
    mrapi_shmem_delete(mine, &status);
    must(status, "delete of a memory");
}

static void
child_attaches(void)
{
    child_makes();
    attach(mine);
}

/* The first in a system, with a memory of its own. */
static void
child_up_with_memory(void)
{
    child_up();
    mine = made(PASSING, BYTES);
    attach(mine);
}

static void
op_shmem_life(void)
{
    child_up();
    mine = made(PASSING, BYTES);
    attach(mine);
    op_shmem_detach();
    op_shmem_delete();
    node_down();
}

static void
op_shmem_create_attached(void)
{
    mine = made(PASSING, BYTES);
    attach(mine);
}

/* Made and attached in one call. */
static void
op_shmem_create_malloc(void)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_FALSE};
    (void)mrapi_shmem_create_malloc(PASSING, BYTES, &attributes, &status);
    must(status, "create of an attached memory");
    ((unsigned char *)attributes.mem_addr)[BYTES - 1] = 1;
}

/* ---- What the tester does -------------------------------------------------------------------- */

static void
tester_makes(void)
{
    (void)made(STAYING, BYTES);
}

/* Has the tester's attached, and one of its own. */
static int
shmem_victim(test_process *parent, void *argument)
{
    mrapi_status_t status;
    (void)parent;
    (void)argument;
    node_up(VICTIM);
    attach(mrapi_shmem_get(STAYING, &status));
    attach(made(PASSING, BYTES));
    (void)raise(SIGKILL);
    return 1;
}

static void
tester_makes_and_one_dies(void)
{
    tester_makes();
    former_dies(shmem_victim);
}

/* ---- Who dies while it makes one ------------------------------------------------------------- */

static void
victim_up(void)
{
    node_up(VICTIM);
}

static const step_operation makes_one = {.prepare = victim_up, .operate = op_shmem_create};

/* Does a node say that it makes one? */
static bool
is_announced(void)
{
    const med_system *system = med_self_get()->system;
    for (uint32_t i = 0; i < system->limits.nodes; i++) {
        const med_node_row *node = med_system_node(system, i);
        uint32_t word = atomic32_load_acquire(&node->row.state);
        if (med_row_state_of(word) == MED_ROW_LIVE && atomic32_load_acquire(&node->making)) {
            return true;
        }
    }
    return false;
}

static bool
row_is(med_row_state wanted)
{
    const med_table_view *view = &med_self_get()->system->shmems;
    for (uint32_t i = 0; i < view->row_count; i++) {
        uint32_t word = atomic32_load_acquire(&med_table_row(view, i)->state);
        if (med_row_state_of(word) == wanted) {
            return true;
        }
    }
    return false;
}

static bool
has_a_file(void)
{
    return segments_count(test_system_name()) != 0;
}

static bool
is_begun(void)
{
    return true;
}

static bool
has_half_a_row(void)
{
    return row_is(MED_ROW_CREATING);
}

/* And is still said to be in the making. */
static bool
has_a_row(void)
{
    return row_is(MED_ROW_LIVE) && is_announced();
}

static void
one_dies_before_the_file(void)
{
    former_dies_in(&makes_one, is_begun, is_announced);
    if (has_a_file()) {
        must(MRAPI_ERR_MEM_LIMIT, "a segment is there already");
    }
}

static void
one_dies_with_a_file(void)
{
    former_dies_in(&makes_one, has_a_file, is_begun);
    if (!is_announced() || has_half_a_row() || row_is(MED_ROW_LIVE)) {
        must(MRAPI_ERR_SHM_INVALID, "a segment that no row names");
    }
}

static void
one_dies_with_half_a_row(void)
{
    former_dies_in(&makes_one, has_a_file, has_half_a_row);
}

static void
one_dies_with_a_row(void)
{
    former_dies_in(&makes_one, has_a_file, has_a_row);
}

/* ---- Afterwards ------------------------------------------------------------------------------ */

/* Those without a number as well. */
static void
all_deleted(void)
{
    const med_table_view *view = &med_self_get()->system->shmems;
    mrapi_status_t status;
    for (uint32_t i = 0; i < view->row_count; i++) {
        uint32_t word = atomic32_load_acquire(&med_table_row(view, i)->state);
        if (med_row_state_of(word) == MED_ROW_LIVE) {
            mrapi_shmem_hndl_t shmem =
                med_handle_make(MED_HANDLE_SHMEM, i, med_row_generation_of(word));
            attach(shmem);
            mrapi_shmem_detach(shmem, &status);
            must(status, "detach after the kill");
            mrapi_shmem_delete(shmem, &status);
            must(status, "delete after the kill");
        }
    }
}

/* As many as there may be. */
static void
all_made(void)
{
    for (uint32_t i = 0; i < med_self_get()->system->limits.shmems; i++) {
        (void)made(PASSING + i, BYTES);
    }
}

/* By turns the delete finds the death, or comes when it was found. What no row names must be gone
 * when the dead are recovered. */
static void
memories_whole(void)
{
    if (step_kill_steps() % 2) {
        check_settle(med_self_get()->system);
        if (check_system(med_self_get()->system) != 0) {
            must(MRAPI_ERR_PARAMETER, "the checker");
        }
    }
    all_deleted();
    all_made();
    all_deleted();
    op_recover();
    if (segments_count(test_system_name()) != 0) {
        must(MRAPI_ERR_MEM_LIMIT, "a segment is left");
    }
}

static const scenario scenarios[] = {
    {.name = "shmem_create",
     .operation = {.prepare = child_up, .operate = op_shmem_create},
     .after = memories_whole},
    {.name = "shmem_create_any",
     .operation = {.prepare = child_up, .operate = op_shmem_create_any},
     .after = memories_whole},
    {.name = "shmem_create_taken",
     .operation = {.prepare = child_up, .operate = op_shmem_create_taken},
     .before = tester_makes,
     .after = memories_whole},
    {.name = "shmem_create_attached",
     .operation = {.prepare = child_up, .operate = op_shmem_create_attached},
     .after = memories_whole},
    {.name = "shmem_create_malloc",
     .operation = {.prepare = child_up, .operate = op_shmem_create_malloc},
     .after = memories_whole},
    {.name = "shmem_attach",
     .operation = {.prepare = child_makes, .operate = op_shmem_attach},
     .after = memories_whole},
    {.name = "shmem_detach",
     .operation = {.prepare = child_attaches, .operate = op_shmem_detach},
     .after = memories_whole},
    {.name = "shmem_delete",
     .operation = {.prepare = child_makes, .operate = op_shmem_delete},
     .after = memories_whole},
    {.name = "shmem_finalize",
     .operation = {.prepare = child_attaches, .operate = node_down},
     .after = memories_whole},
    {.name = "shmem_recover",
     .operation = {.prepare = child_up, .operate = op_recover},
     .before = tester_makes_and_one_dies,
     .after = memories_whole},
    {.name = "shmem_recover_number",
     .operation = {.prepare = child_up, .operate = op_recover},
     .before = one_dies_before_the_file,
     .after = memories_whole},
    {.name = "shmem_recover_file",
     .operation = {.prepare = child_up, .operate = op_recover},
     .before = one_dies_with_a_file,
     .after = memories_whole},
    {.name = "shmem_recover_half",
     .operation = {.prepare = child_up, .operate = op_recover},
     .before = one_dies_with_half_a_row,
     .after = memories_whole},
    {.name = "shmem_recover_made",
     .operation = {.prepare = child_up, .operate = op_recover},
     .before = one_dies_with_a_row,
     .after = memories_whole},
    {.name = "fail_shmem_attach",
     .operation = {.prepare = child_makes, .operate = op_shmem_attach},
     .fail = true,
     .after = memories_whole},
    {.name = "shmem_life",
     .operation = {.operate = op_shmem_life},
     .alone = true,
     .after = memories_whole},
    {.name = "shmem_end",
     .operation = {.prepare = child_up_with_memory, .operate = node_down},
     .alone = true,
     .after = memories_whole},
};

int
main(int argc, char **argv)
{
    return scenarios_main(argc, argv, "shmem", scenarios, sizeof scenarios / sizeof scenarios[0]);
}
