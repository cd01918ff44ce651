/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the dead leave under the name of a system stops nobody's start; what the living have there,
 * in another version of Medley, is not touched. */
#include "support/unit.h"

#include <signal.h>
#include <sys/stat.h>

#include "kill/survivor.h"
#include "medley/medley.h"
#include "mrapi/partition.h"
#include "support/partition_file.h"
#include "support/segments.h"
#include "support/step.h"
#include "support/system.h"

static int
creator_body(test_process *parent, void *argument)
{
    mrapi_status_t status;
    (void)argument;
    node_up(HOLDER);
    (void)mrapi_mutex_create(MUTEX, NULL, &status);
    process_say(parent, 'c');
    (void)process_hear(parent); /* until killed, or told to go */
    node_down();
    return 0;
}

static void
creator_start(test_process *creator)
{
    process_start(creator, creator_body, NULL);
    assert_int_equal(process_hear(creator), 'c');
}

static void
creator_is_killed(void **state)
{
    test_process creator;
    (void)state;
    creator_start(&creator);
    process_kill(&creator);
    assert_true(partition_exists(test_system_name()));
    next_start_works();
    assert_int_equal(process_join(&creator), -SIGKILL);
}

static void
leftovers(void **state)
{
    static const char garbage[100000] = "there was never any sense in this";
    const char *name = test_system_name();
    uint32_t version = MED_PARTITION_VERSION + 1;
    test_process creator;
    (void)state;
    assert_true(partition_write(name, "", 0, 0));
    next_start_works();
    assert_true(partition_write(name, garbage, 1, 0));
    next_start_works();
    assert_true(partition_write(name, garbage, sizeof garbage, 0));
    next_start_works();
    creator_start(&creator);
    process_kill(&creator);
    assert_true(
        partition_write(name, &version, sizeof version, offsetof(med_partition_header, version)));
    next_start_works();
    assert_int_equal(process_join(&creator), -SIGKILL);
}

static void
others_live_in_another_version(void **state)
{
    static const struct {
        size_t offset;
        uint32_t flip;
        medley_status_t code;
    } cases[] = {
        {offsetof(med_partition_header, version), 3, MEDLEY_ERR_VERSION},
        {offsetof(med_partition_header, layout_hash), 1, MEDLEY_ERR_VERSION},
        {offsetof(med_partition_header, magic), MED_PARTITION_MAGIC ^ 0x4c44454du,
         MEDLEY_ERR_BYTE_ORDER},
        {offsetof(med_partition_header, magic), 1, MEDLEY_ERR_CORRUPT},
        {offsetof(med_partition_header, byte_order), 1, MEDLEY_ERR_CORRUPT},
        {offsetof(med_partition_header, size_bytes), 1, MEDLEY_ERR_CORRUPT},
    };
    const char *name = test_system_name();
    test_process creator;
    (void)state;
    creator_start(&creator);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t word;
        int fd = open(partition_path(name), O_RDONLY | O_CLOEXEC);
        assert_int_equal(pread(fd, &word, sizeof word, (off_t)cases[i].offset), sizeof word);
        (void)close(fd);
        uint32_t changed = word ^ cases[i].flip;
        assert_true(partition_write(name, &changed, sizeof changed, (off_t)cases[i].offset));
        assert_int_equal(medley_system_open(name), cases[i].code);
        assert_true(partition_write(name, &word, sizeof word, (off_t)cases[i].offset));
    }
    assert_int_equal(medley_system_open(name), MEDLEY_OK);
    assert_int_equal(medley_system_close(), MEDLEY_OK);
    process_say(&creator, 'g');
    assert_int_equal(process_join(&creator), 0);
    assert_false(partition_exists(name));
}

/* ---- A mask of modes ------------------------------------------------------------------------- */

static void
mask_all(void)
{
    (void)umask(0777);
}

static void
comes(void)
{
    node_up(HOLDER);
}

/* Killed after each of its system calls. */
static void
creator_masks_all_modes(void **state)
{
    static const step_operation operation = {.prepare = mask_all, .operate = comes};
    const char *impossible = step_impossible();
    (void)state;
    if (impossible) {
        not_possible_here(impossible);
    }
    step_outcome outcome = {.ended = false};
    for (uint32_t calls = 1; !outcome.ended; calls++) {
        step_child child = step_start(&operation);
        outcome = step_calls(child, calls, NULL);
        step_kill(child);
        next_start_works();
    }
}

/* ---- A name that is taken away --------------------------------------------------------------- */

static int
maker_body(test_process *parent, void *argument)
{
    mrapi_status_t status;
    (void)argument;
    node_up(HOLDER);
    (void)mrapi_shmem_create(1, 64, NULL, 0, NULL, 0, &status);
    child_expect(status == MRAPI_SUCCESS);
    process_say(parent, 'm');
    (void)process_hear(parent);
    node_down();
    return 0;
}

/* Somebody removes the file of a system that is lived in (rm, a cleaner of folders): the next start
 * makes another of that name, and the end of the first takes nothing from it. */
static void
another_system_under_the_name(void **state)
{
    test_process maker;
    mrapi_status_t status;
    (void)state;
    process_start(&maker, maker_body, NULL);
    assert_int_equal(process_hear(&maker), 'm');
    assert_int_equal(unlink(partition_path(test_system_name())), 0);
    node_up(SURVIVOR);
    (void)mrapi_shmem_create(1, 64, NULL, 0, NULL, 0, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(segments_count(test_system_name()), 2);
    process_say(&maker, 'g');
    assert_int_equal(process_join(&maker), 0);
    assert_int_equal(segments_count(test_system_name()), 1); /* what was the first one's is gone */
    assert_true(partition_exists(test_system_name()));
    mrapi_shmem_hndl_t shmem = mrapi_shmem_get(1, &status);
    assert_non_null(mrapi_shmem_attach(shmem, &status));
    node_down();
    assert_int_equal(segments_count(test_system_name()), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creator_is_killed),
        cmocka_unit_test(leftovers),
        cmocka_unit_test(others_live_in_another_version),
        cmocka_unit_test(creator_masks_all_modes),
        cmocka_unit_test(another_system_under_the_name),
    };
    test_system_prepare();
    (void)alarm(STUCK_AFTER_S);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
