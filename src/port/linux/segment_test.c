/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Segments: made, found and mapped by two processes; and all that can be wrong with what lies under
 * their names. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "port/linux/segment_test.h"
#include "port/port.h"
#include "support/mounts.h"
#include "support/process.h"
#include "support/unit.h"

#define SMALL_FOLDER_BYTES "65536"
#define NOBODY 65534

/* ---- Made and found -------------------------------------------------------------------------- */

static int
finds(test_process *parent, void *argument)
{
    med_port_segment segment = segment_of(1);
    (void)argument;
    child_expect(med_port_segment_open(&segment) == MEDLEY_OK);
    child_expect(med_port_segment_map(&segment) == MEDLEY_OK);
    med_port_segment_close(&segment);
    unsigned char *bytes = segment.address;
    child_expect(bytes[0] == 1 && bytes[SIZE - 1] == 2);
    bytes[SIZE / 2] = 3;
    process_say(parent, 'w');
    return 0;
}

static void
shared_between_processes(void **state)
{
    test_process child;
    (void)state;
    med_port_segment segment = made(1);
    unsigned char *bytes = segment.address;
    assert_int_equal(bytes[0] | bytes[SIZE / 2] | bytes[SIZE - 1], 0);
    bytes[0] = 1;
    bytes[SIZE - 1] = 2;
    process_start(&child, finds, NULL);
    assert_int_equal(process_hear(&child), 'w');
    assert_int_equal(bytes[SIZE / 2], 3);
    assert_int_equal(process_join(&child), 0);
    /* The memory stays when the name goes. */
    med_port_segment_remove(shared_path(), INSTANCE, 1);
    assert_false(is_there(1));
    assert_int_equal(bytes[SIZE / 2], 3);
    med_port_segment_unmap(segment.address, SIZE, MED_PORT_PLACE_ANY);
    med_port_segment_remove(shared_path(), INSTANCE, 1);
}

static void
numbers_and_instances(void **state)
{
    med_port_segment again = segment_of(1);
    (void)state;
    med_port_segment first = made(1);
    assert_int_equal(med_port_segment_create(&again), MEDLEY_ERR_EXISTS);
    again.instance = INSTANCE + 1;
    assert_int_equal(med_port_segment_open(&again), MEDLEY_ERR_NOT_FOUND);
    assert_int_equal(med_port_segment_create(&again), MEDLEY_OK);
    med_port_segment_close(&again);
    /* Those of a name whose beginning is another's stay. */
    med_port_segments_remove("segments", 0);
    med_port_segments_remove("segments.test2", 0);
    assert_true(is_there(1));
    /* As do those of another instance, while one is meant. */
    med_port_segments_remove(shared_path(), INSTANCE + 1);
    assert_true(is_there(1));
    assert_int_equal(med_port_segment_open(&again), MEDLEY_ERR_NOT_FOUND);
    assert_int_equal(med_port_segment_create(&again), MEDLEY_OK);
    med_port_segment_close(&again);
    med_port_segments_remove(shared_path(), INSTANCE);
    assert_false(is_there(1));
    assert_int_equal(med_port_segment_open(&again), MEDLEY_OK);
    med_port_segment_close(&again);
    med_port_segment_unmap(first.address, SIZE, MED_PORT_PLACE_ANY);
    first = made(1);
    med_port_segments_remove(shared_path(), 0);
    assert_false(is_there(1));
    assert_int_equal(med_port_segment_open(&again), MEDLEY_ERR_NOT_FOUND);
    med_port_segment_unmap(first.address, SIZE, MED_PORT_PLACE_ANY);
}

static bool
sees_a_system(const char *name, void *context)
{
    (void)name;
    *(bool *)context = true;
    return true;
}

static void
no_shared_memory(void **state)
{
    bool seen = false;
    (void)state;
    med_port_segment segment = made(1);
    assert_int_equal(med_port_shared_list(sees_a_system, &seen), MEDLEY_OK);
    assert_false(seen);
    med_port_segment_unmap(segment.address, SIZE, MED_PORT_PLACE_ANY);
}

/* ---- Of a wrong kind ------------------------------------------------------------------------- */

static void
of_another_size(void **state)
{
    med_port_segment segment = made(1);
    (void)state;
    med_port_segment_unmap(segment.address, SIZE, MED_PORT_PLACE_ANY);
    const uint32_t wrong[] = {1, 4096, 2 * SIZE, UINT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        segment.size_bytes = wrong[i];
        assert_int_equal(med_port_segment_open(&segment), MEDLEY_ERR_CORRUPT);
        assert_non_null(strstr(segment.why, path_of(1)));
    }
    segment.size_bytes = SIZE;
    assert_int_equal(truncate(path_of(1), 4096), 0);
    assert_int_equal(med_port_segment_open(&segment), MEDLEY_ERR_CORRUPT);
}

static void
not_ours(void **state)
{
    med_port_segment segment = made(1);
    (void)state;
    med_port_segment_unmap(segment.address, SIZE, MED_PORT_PLACE_ANY);
    assert_int_equal(chmod(path_of(1), 0666), 0);
    assert_int_equal(med_port_segment_open(&segment), MEDLEY_ERR_ACCESS);
    med_port_segment_remove(shared_path(), INSTANCE, 1);
    assert_int_equal(symlink("/dev/zero", path_of(1)), 0);
    assert_int_equal(med_port_segment_open(&segment), MEDLEY_ERR_ACCESS);
    assert_int_equal(med_port_segment_create(&segment), MEDLEY_ERR_EXISTS);
    med_port_segment_remove(shared_path(), INSTANCE, 1);
    assert_int_equal(mkfifo(path_of(1), 0600), 0);
    assert_int_equal(med_port_segment_open(&segment), MEDLEY_ERR_ACCESS);
}

/* As a user who may not even open it. */
static int
may_not_open(test_process *parent, void *argument)
{
    med_port_segment segment = segment_of(1);
    bool is_root = geteuid() == 0;
    (void)parent;
    (void)argument;
    child_expect(chmod(path_of(1), 0066) == 0);
    child_expect(!is_root || seteuid(NOBODY) == 0);
    child_expect(med_port_segment_open(&segment) == MEDLEY_ERR_ACCESS);
    child_expect(strstr(segment.why, is_root ? "belongs to user 0" : "has mode 0066"));
    return 0;
}

static void
not_to_be_opened(void **state)
{
    test_process child;
    (void)state;
    med_port_segment segment = made(1);
    med_port_segment_unmap(segment.address, SIZE, MED_PORT_PLACE_ANY);
    process_start(&child, may_not_open, NULL);
    assert_int_equal(process_join(&child), 0);
}

/* ---- What a mask takes from the mode --------------------------------------------------------- */

static mode_t
mode_of(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 ? st.st_mode & 07777 : (mode_t)-1;
}

/* Who has the administrator's rights could open anything: so once with, once without. */
static int
masks_all_modes(test_process *parent, void *argument)
{
    const uid_t *user = argument;
    (void)parent;
    child_expect(*user == geteuid() || chmod(getenv("MEDLEY_SHM_DIR"), 0777) == 0);
    child_expect(seteuid(*user) == 0);
    med_port_segment segment = segment_of(1);
    mode_t before = umask(0777);
    medley_status_t status = med_port_segment_create(&segment);
    (void)umask(before);
    child_expect(status == MEDLEY_OK && mode_of(path_of(1)) == 0);
    med_port_segment_close(&segment);
    child_expect(med_port_segment_open(&segment) == MEDLEY_OK && !segment.why[0]);
    med_port_segment_close(&segment);
    child_expect(mode_of(path_of(1)) == 0600);
    med_port_segments_remove(shared_path(), 0);
    return 0;
}

static void
mask_of_the_program_does_not_count(void **state)
{
    uid_t users[] = {geteuid(), geteuid() == 0 ? NOBODY : geteuid()};
    mode_t folder_mode = mode_of(getenv("MEDLEY_SHM_DIR"));
    (void)state;
    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++) {
        test_process child;
        process_start(&child, masks_all_modes, &users[i]);
        int result = process_join(&child);
        assert_int_equal(chmod(getenv("MEDLEY_SHM_DIR"), folder_mode), 0);
        assert_int_equal(result, 0);
    }
}

/* Nothing is given to what lacks its mode and is not ours for another reason besides. */
static void
modes_of_others_stay(void **state)
{
    med_port_segment segment = made(1);
    const char *folder = getenv("MEDLEY_SHM_DIR");
    char target[256];
    (void)state;
    (void)snprintf(target, sizeof target, "%s/target", folder);
    med_port_segment_unmap(segment.address, SIZE, MED_PORT_PLACE_ANY);
    assert_int_equal(chmod(path_of(1), 0066), 0);
    assert_int_equal(med_port_segment_open(&segment), MEDLEY_ERR_ACCESS);
    assert_int_equal(mode_of(path_of(1)), 0066);

    assert_int_equal(chmod(path_of(1), 0), 0);
    assert_int_equal(link(path_of(1), target), 0);
    assert_int_equal(med_port_segment_open(&segment), MEDLEY_ERR_ACCESS);
    assert_int_equal(mode_of(target), 0);

    med_port_segment_remove(shared_path(), INSTANCE, 1);
    assert_int_equal(symlink(target, path_of(1)), 0);
    assert_int_equal(med_port_segment_open(&segment), MEDLEY_ERR_ACCESS);
    assert_int_equal(mode_of(target), 0);
    assert_int_equal(unlink(target), 0);
}

static int
fills_a_small_folder(test_process *parent, void *argument)
{
    med_port_segment segment = segment_of(1);
    (void)parent;
    (void)argument;
    if (!mounts_of_ones_own() ||
        mount("none", getenv("MEDLEY_SHM_DIR"), "tmpfs", 0, "size=" SMALL_FOLDER_BYTES) != 0) {
        return 77;
    }
    segment.size_bytes = 1 << 20;
    child_expect(med_port_segment_create(&segment) == MEDLEY_ERR_NO_MEMORY);
    child_expect(segment.why[0] && !is_there(1));
    segment.place = MED_PORT_PLACE_NUMA;
    medley_status_t status = med_port_segment_create(&segment);
    child_expect(status == MEDLEY_ERR_NOT_SUPPORTED ||
                 (status == MEDLEY_ERR_NO_MEMORY && strstr(segment.why, strerror(ENOSPC))));
    child_expect(!is_there(1));
    segment.place = MED_PORT_PLACE_ANY;
    segment.size_bytes = SIZE;
    child_expect(med_port_segment_create(&segment) == MEDLEY_OK);
    return 0;
}

static void
a_full_folder(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, fills_a_small_folder, NULL);
    int result = process_join(&child);
    if (result == 77) {
        not_possible_here("no mounts of one's own");
    }
    assert_int_equal(result, 0);
}

/* Beyond it the kernel would send a signal that ends the program. */
static void
limit_of_file_size(void **state)
{
    static const med_port_place places[] = {MED_PORT_PLACE_ANY, MED_PORT_PLACE_NUMA};
    struct rlimit before;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit little = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        med_port_segment segment = segment_of(1);
        segment.place = places[i];
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
        medley_status_t status = med_port_segment_create(&segment);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, MEDLEY_ERR_NO_MEMORY);
        assert_string_equal(segment.why, "storage: File too large");
        assert_false(is_there(1));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(shared_between_processes, none_left),
        cmocka_unit_test_teardown(numbers_and_instances, none_left),
        cmocka_unit_test_teardown(no_shared_memory, none_left),
        cmocka_unit_test_teardown(of_another_size, none_left),
        cmocka_unit_test_teardown(not_ours, none_left),
        cmocka_unit_test_teardown(not_to_be_opened, none_left),
        cmocka_unit_test_teardown(mask_of_the_program_does_not_count, none_left),
        cmocka_unit_test_teardown(modes_of_others_stay, none_left),
        cmocka_unit_test_teardown(a_full_folder, none_left),
        cmocka_unit_test_teardown(limit_of_file_size, none_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
