/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shared memory between processes: seen by all, left by who dies or forks, gone with the system;
 * its files, and rows that somebody wrote over.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "medley/medley.h"
#include "mrapi/system.h"
#include "support/emulated.h"
#include "support/mounts.h"
#include "support/node.h"
#include "support/process.h"
#include "support/segments.h"
#include "support/system.h"
#include "support/unit.h"

#define NODE 1
#define OTHER 2
#define NUMBER 5u
#define SIZE 10000u
#define NOT_POSSIBLE 77

static int
up(void **state)
{
    (void)state;
    return initialize(NODE) == MRAPI_SUCCESS ? 0 : -1;
}

static int
down(void **state)
{
    (void)state;
    assert_int_equal(finalize(), MRAPI_SUCCESS);
    return segments_count(test_system_name()) == 0 ? 0 : -1; /* the last one has removed all */
}

static mrapi_shmem_hndl_t
made(mrapi_uint_t size)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t shmem = mrapi_shmem_create(NUMBER, size, NULL, 0, NULL, 0, &status);
    child_expect(status == MRAPI_SUCCESS);
    return shmem;
}

static unsigned char *
attached(mrapi_shmem_hndl_t shmem)
{
    mrapi_status_t status;
    unsigned char *bytes = mrapi_shmem_attach(shmem, &status);
    child_expect(status == MRAPI_SUCCESS);
    return bytes;
}

static mrapi_status_t
outcome_of_delete(mrapi_shmem_hndl_t shmem)
{
    mrapi_status_t status;
    mrapi_shmem_delete(shmem, &status);
    return status;
}

static mrapi_status_t
outcome_of_attach(mrapi_shmem_hndl_t shmem)
{
    mrapi_status_t status;
    (void)mrapi_shmem_attach(shmem, &status);
    return status;
}

/* ---- Others ---------------------------------------------------------------------------------- */

/* Finds it, writes to it, and keeps it attached until told to go. */
static int
attaches(test_process *parent, void *argument)
{
    mrapi_status_t status;
    (void)argument;
    child_expect(initialize(OTHER) == MRAPI_SUCCESS);
    unsigned char *bytes = attached(mrapi_shmem_get(NUMBER, &status));
    child_expect(bytes[0] == 1);
    bytes[SIZE - 1] = 2;
    process_say(parent, 'a');
    (void)process_hear(parent);
    mrapi_finalize(&status);
    return 0;
}

static void
seen_by_others(void **state)
{
    test_process child;
    mrapi_status_t status;
    (void)state;
    mrapi_shmem_hndl_t shmem = made(SIZE);
    unsigned char *bytes = attached(shmem);
    bytes[0] = 1;
    process_start(&child, attaches, NULL);
    assert_int_equal(process_hear(&child), 'a');
    assert_int_equal(bytes[SIZE - 1], 2);
    mrapi_shmem_detach(shmem, &status);
    assert_int_equal(outcome_of_delete(shmem), MRAPI_ERR_SHM_ATTCH);
    process_say(&child, 'g');
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(outcome_of_delete(shmem), MRAPI_SUCCESS);
    assert_int_equal(segments_count(test_system_name()), 0);
}

static void
a_death_detaches(void **state)
{
    test_process child;
    mrapi_status_t status;
    (void)state;
    mrapi_shmem_hndl_t shmem = made(SIZE);
    attached(shmem)[0] = 1;
    mrapi_shmem_detach(shmem, &status);
    process_start(&child, attaches, NULL);
    assert_int_equal(process_hear(&child), 'a');
    process_kill(&child);
    assert_int_equal(outcome_of_delete(shmem), MRAPI_SUCCESS); /* which finds the death */
    assert_int_equal(process_join(&child), -SIGKILL);
}

static int
makes(test_process *parent, void *argument)
{
    (void)argument;
    child_expect(initialize(OTHER) == MRAPI_SUCCESS);
    attached(made(SIZE))[0] = 3;
    process_say(parent, 'm');
    (void)process_hear(parent);
    return 0;
}

static void
outlives_its_maker(void **state)
{
    test_process child;
    mrapi_status_t status;
    (void)state;
    process_start(&child, makes, NULL);
    assert_int_equal(process_hear(&child), 'm');
    process_kill(&child);
    assert_int_equal(process_join(&child), -SIGKILL);
    mrapi_shmem_hndl_t shmem = mrapi_shmem_get(NUMBER, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(attached(shmem)[0], 3);
    mrapi_shmem_detach(shmem, &status);
    assert_int_equal(outcome_of_delete(shmem), MRAPI_SUCCESS);
}

/* ---- fork, and the end ----------------------------------------------------------------------- */

static int
looks_at(test_process *parent, void *argument)
{
    unsigned char seen;
    (void)parent;
    child_expect(mincore((void *)((uintptr_t)argument & ~(uintptr_t)4095), 1, &seen) != 0 &&
                 errno == ENOMEM);
    return 0;
}

static void
a_child_does_not_inherit(void **state)
{
    test_process child;
    mrapi_status_t status;
    (void)state;
    WITHOUT_WITHHOLDING_SKIP();
    mrapi_shmem_hndl_t shmem = made(SIZE);
    process_start(&child, looks_at, attached(shmem));
    assert_int_equal(process_join(&child), 0);
    mrapi_shmem_detach(shmem, &status);
    assert_int_equal(outcome_of_delete(shmem), MRAPI_SUCCESS);
}

/* Of one that nobody deleted; `down` looks. */
static void
the_last_removes_all(void **state)
{
    (void)state;
    (void)attached(made(SIZE));
    assert_int_equal(segments_count(test_system_name()), 1);
}

static void
leftover_make(void)
{
    test_process child;
    process_start(&child, makes, NULL);
    assert_int_equal(process_hear(&child), 'm');
    process_kill(&child);
    assert_int_equal(process_join(&child), -SIGKILL);
    assert_int_equal(segments_count(test_system_name()), 1);
}

static void
leftovers_go_with_the_next_start(void **state)
{
    mrapi_status_t status;
    leftover_make();
    (void)up(state);
    assert_int_equal(segments_count(test_system_name()), 0);
    (void)mrapi_shmem_get(NUMBER, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_ID_INVALID);
    assert_int_equal(down(state), 0);
}

static void
leftovers_are_removed(void **state)
{
    char why[MED_PORT_WHY_BYTES];
    (void)state;
    leftover_make();
    assert_int_equal(med_system_remove(test_system_name(), MED_PORT_FOREVER, why), MEDLEY_OK);
    assert_int_equal(segments_count(test_system_name()), 0);
}

static int
exits(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    child_expect(initialize(OTHER) == MRAPI_SUCCESS);
    (void)attached(made(SIZE));
    exit(0); /* without finalize */
}

static void
an_exit_removes_all(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, exits, NULL);
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(segments_count(test_system_name()), 0);
}

/* ---- No room --------------------------------------------------------------------------------- */

static int
fills_a_small_folder(test_process *parent, void *argument)
{
    mrapi_status_t status;
    (void)parent;
    (void)argument;
    if (!mounts_of_ones_own() ||
        mount("none", getenv("MEDLEY_SHM_DIR"), "tmpfs", 0, "size=1m") != 0) {
        return NOT_POSSIBLE;
    }
    child_expect(initialize(OTHER) == MRAPI_SUCCESS);
    (void)mrapi_shmem_create(NUMBER, 2 << 20, NULL, 0, NULL, 0, &status);
    child_expect(status == MRAPI_ERR_MEM_LIMIT);
    child_expect(segments_count(test_system_name()) == 0);
    (void)mrapi_shmem_get(NUMBER, &status);
    child_expect(status == MRAPI_ERR_SHM_ID_INVALID);
    memset(attached(made(SIZE)), 1, SIZE);
    mrapi_finalize(&status);
    return 0;
}

static void
a_full_folder_is_told_at_create(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, fills_a_small_folder, NULL);
    int result = process_join(&child);
    if (result == NOT_POSSIBLE) {
        not_possible_here("no mounts of one's own");
    }
    assert_int_equal(result, 0);
}

/* ---- Written over ---------------------------------------------------------------------------- */

static med_shmem_row *
row_of(mrapi_shmem_hndl_t shmem)
{
    return (med_shmem_row *)(void *)med_table_row(&med_self_get()->system->shmems,
                                                  med_handle_index(shmem));
}

/* What a row says is compared with the file, and never believed. Large ones are mapped at the
 * attach, not before. */
static void
rows_that_lie(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_shmem_hndl_t shmem = made((1u << 20) + 1);
    med_shmem_row *row = row_of(shmem);
    atomic32 *const words[] = {&row->size_bytes, &row->file};
    static const uint32_t lies[] = {0, 1, 0x7fffffff, UINT32_MAX};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        uint32_t truth = atomic32_load_relaxed(words[w]);
        for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
            atomic32_store_relaxed(words[w], lies[i]);
            if (lies[i] != truth) {
                assert_int_not_equal(outcome_of_attach(shmem), MRAPI_SUCCESS);
            }
        }
        atomic32_store_relaxed(words[w], truth);
    }
    atomic32_store_relaxed(&row->place, MED_PORT_PLACE_HUGE_PAGES);
    assert_int_equal(outcome_of_attach(shmem), MRAPI_ERR_SHM_INVALID);
    atomic32_store_relaxed(&row->place, MED_PORT_PLACE_ANY);
    atomic32_store_relaxed(&row->node_count, UINT32_MAX);
    assert_int_equal(outcome_of_attach(shmem), MRAPI_ERR_SHM_NODE_NOTSHARED);
    atomic32_store_relaxed(&row->node_count, 0);
    attached(shmem)[1 << 20] = 1;
    mrapi_shmem_detach(shmem, &status);
    assert_int_equal(outcome_of_delete(shmem), MRAPI_SUCCESS);
}

/* Bits of nodes that there are not keep nobody from deleting it. */
static void
bits_of_nobody(void **state)
{
    (void)state;
    mrapi_shmem_hndl_t shmem = made(SIZE);
    atomic32 *bits = (atomic32 *)(void *)(row_of(shmem) + 1);
    uint32_t own = 1u << med_self_get()->index;
    atomic32_store_relaxed(bits, UINT32_MAX & ~own);
    assert_int_equal(outcome_of_delete(shmem), MRAPI_SUCCESS);
}

static void
files_that_are_gone_or_cut(void **state)
{
    char path[512] = "";
    (void)state;
    mrapi_shmem_hndl_t shmem = made((1u << 20) + 1);
    assert_int_equal(segments_find(test_system_name(), path, sizeof path), 1);
    assert_int_equal(truncate(path, 4096), 0);
    assert_int_equal(outcome_of_attach(shmem), MRAPI_ERR_SHM_INVALID);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(outcome_of_attach(shmem), MRAPI_ERR_MEM_LIMIT);
    assert_int_equal(outcome_of_delete(shmem), MRAPI_SUCCESS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(seen_by_others, up, down),
        cmocka_unit_test_setup_teardown(a_death_detaches, up, down),
        cmocka_unit_test_setup_teardown(outlives_its_maker, up, down),
        cmocka_unit_test_setup_teardown(a_child_does_not_inherit, up, down),
        cmocka_unit_test_setup_teardown(the_last_removes_all, up, down),
        cmocka_unit_test(leftovers_go_with_the_next_start),
        cmocka_unit_test(leftovers_are_removed),
        cmocka_unit_test(an_exit_removes_all),
        cmocka_unit_test(a_full_folder_is_told_at_create),
        cmocka_unit_test_setup_teardown(rows_that_lie, up, down),
        cmocka_unit_test_setup_teardown(bits_of_nobody, up, down),
        cmocka_unit_test_setup_teardown(files_that_are_gone_or_cut, up, down),
    };
    test_system_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
