/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Named shared memory, with real processes: names, contents, and what a child of fork has of it. */
#include <string.h>
#include <sys/stat.h>

#include "port/port.h"
#include "support/emulated.h"
#include "support/mounts.h"
#include "support/process.h"
#include "support/shared_name.h"
#include "support/unit.h"

#define PAGE 4096u

/* ---- Names ----------------------------------------------------------------------------------- */

static void
bad_names_are_refused(void **state)
{
    static const char *const bad[] = {"",    ".",        "..",   ".a",  "a/b",
                                      "a b", "\xc3\xa4", "/etc", "a\n", "%s%n"};
    char name_of_49[50];
    med_port_shared shared;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(med_port_shared_open_until(bad[i], MED_PORT_FOREVER, &shared),
                         MEDLEY_ERR_ARGUMENT);
        assert_int_equal(med_port_shared_open_existing_until(bad[i], MED_PORT_FOREVER, &shared),
                         MEDLEY_ERR_ARGUMENT);
    }
    memset(name_of_49, 'x', sizeof name_of_49);
    name_of_49[49] = '\0';
    assert_int_equal(med_port_shared_open_until(name_of_49, MED_PORT_FOREVER, &shared),
                     MEDLEY_ERR_ARGUMENT);
}

static void
longest_name_is_kept_whole(void **state)
{
    med_port_shared shared;
    (void)state;
    memset(name, 'x', MED_PORT_NAME_MAX);
    name[MED_PORT_NAME_MAX] = '\0';
    open_ok(&shared);
    assert_string_equal(shared.name, name);
    assert_int_equal(access(file_path(), F_OK), 0);
    med_port_shared_remove(&shared);
    med_port_shared_close(&shared);
}

static void
second_open_exists(void **state)
{
    med_port_shared first;
    med_port_shared second;
    (void)state;
    open_ok(&first);
    med_port_shared_unlock(&first);
    assert_int_equal(med_port_shared_open_until(name, MED_PORT_FOREVER, &second),
                     MEDLEY_ERR_EXISTS);
    assert_int_equal(med_port_shared_open_existing_until(name, MED_PORT_FOREVER, &second),
                     MEDLEY_ERR_EXISTS);
    med_port_shared_close(&first);
    open_ok(&second);
    med_port_shared_close(&second);
}

static void
too_many_names_are_a_limit(void **state)
{
    med_port_shared shared[64];
    int opened = 0;
    medley_status_t status = MEDLEY_OK;
    (void)state;
    while (status == MEDLEY_OK && opened < 64) {
        (void)snprintf(name, sizeof name, "shared_test.%d.%d", (int)getpid(), opened);
        status = med_port_shared_open_until(name, MED_PORT_FOREVER, &shared[opened]);
        if (status == MEDLEY_OK) {
            med_port_shared_remove(&shared[opened]);
            med_port_shared_unlock(&shared[opened]);
            opened++;
        }
    }
    assert_int_equal(status, MEDLEY_ERR_LIMIT);
    assert_int_equal(opened, 16);
    while (opened > 0) {
        med_port_shared_close(&shared[--opened]);
    }
}

typedef struct listing {
    int names;
    int mine;
    int stop_after;
} listing;

static bool
note_name(const char *found, void *context)
{
    listing *list = context;
    list->names++;
    list->mine += strcmp(found, name) == 0;
    return list->names != list->stop_after;
}

static void
list_shows_names(void **state)
{
    med_port_shared shared;
    listing list = {0};
    (void)state;
    open_ok(&shared);
    med_port_shared_unlock(&shared);
    assert_int_equal(med_port_shared_list(note_name, &list), MEDLEY_OK);
    assert_int_equal(list.mine, 1);
    list = (listing){.stop_after = 1};
    assert_int_equal(med_port_shared_list(note_name, &list), MEDLEY_OK);
    assert_int_equal(list.names, 1);
    assert_int_equal(med_port_shared_lock_until(&shared, MED_PORT_FOREVER), MEDLEY_OK);
    med_port_shared_remove(&shared);
    med_port_shared_close(&shared);
    list = (listing){0};
    assert_int_equal(med_port_shared_list(note_name, &list), MEDLEY_OK);
    assert_int_equal(list.mine, 0);
}

/* ---- Size and contents ----------------------------------------------------------------------- */

static int
reads_what_the_parent_wrote(test_process *parent, void *argument)
{
    med_port_shared shared;
    (void)parent;
    med_port_shared_forget(argument);
    child_expect(med_port_shared_open_existing_until(name, MED_PORT_FOREVER, &shared) == MEDLEY_OK);
    child_expect(shared.size_bytes == 3 * (size_t)PAGE);
    child_expect(med_port_shared_map(&shared) == MEDLEY_OK);
    unsigned char *bytes = shared.address;
    child_expect(bytes[0] == 1 && bytes[3 * PAGE - 1] == 2 && bytes[PAGE] == 0);
    bytes[PAGE] = 3;
    med_port_shared_close(&shared);
    return 0;
}

static void
contents_are_shared(void **state)
{
    med_port_shared shared;
    test_process child;
    (void)state;
    assert_int_equal(med_port_shared_open_existing_until(name, MED_PORT_FOREVER, &shared),
                     MEDLEY_ERR_NOT_FOUND);
    open_ok(&shared);
    assert_int_equal(shared.size_bytes, 0);
    assert_int_equal(med_port_shared_resize(&shared, 3 * (size_t)PAGE), MEDLEY_OK);
    assert_int_equal(med_port_shared_map(&shared), MEDLEY_OK);
    unsigned char *bytes = shared.address;
    for (size_t i = 0; i < 3 * (size_t)PAGE; i++) {
        assert_int_equal(bytes[i], 0);
    }
    bytes[0] = 1;
    bytes[3 * PAGE - 1] = 2;
    med_port_shared_unlock(&shared);
    process_start(&child, reads_what_the_parent_wrote, &shared);
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(bytes[PAGE], 3);
    assert_int_equal(med_port_shared_lock_until(&shared, MED_PORT_FOREVER), MEDLEY_OK);
    med_port_shared_remove(&shared);
    assert_int_equal(bytes[PAGE], 3); /* the memory stays while somebody has it */
    med_port_shared_close(&shared);
    assert_int_equal(med_port_shared_open_existing_until(name, MED_PORT_FOREVER, &shared),
                     MEDLEY_ERR_NOT_FOUND);
}

static void
resize_gives_zeros(void **state)
{
    med_port_shared shared;
    (void)state;
    open_ok(&shared);
    assert_int_equal(med_port_shared_resize(&shared, PAGE), MEDLEY_OK);
    assert_int_equal(med_port_shared_map(&shared), MEDLEY_OK);
    memset(shared.address, 0xff, PAGE);
    med_port_shared_close(&shared);
    open_ok(&shared);
    assert_int_equal(shared.size_bytes, PAGE);
    assert_int_equal(med_port_shared_resize(&shared, 2 * (size_t)PAGE), MEDLEY_OK);
    assert_int_equal(med_port_shared_map(&shared), MEDLEY_OK);
    const unsigned char *bytes = shared.address;
    for (size_t i = 0; i < 2 * (size_t)PAGE; i++) {
        assert_int_equal(bytes[i], 0);
    }
    med_port_shared_remove(&shared);
    med_port_shared_close(&shared);
}

/* In a mount namespace of its own, on a file system of 64 KiB. 77: not permitted. */
static int
fills_a_file_system(test_process *parent, void *argument)
{
    char mount_point[256];
    med_port_shared shared;
    (void)parent;
    (void)argument;
    (void)snprintf(mount_point, sizeof mount_point, "%s/shared_test.%d", folder(), (int)getpid());
    if (!mounts_of_ones_own() || mkdir(mount_point, 0700) != 0 ||
        mount("tmpfs", mount_point, "tmpfs", 0, "size=65536") != 0) {
        (void)rmdir(mount_point);
        return 77;
    }
    (void)setenv("MEDLEY_SHM_DIR", mount_point, 1);
    child_expect(med_port_shared_open_until(name, MED_PORT_FOREVER, &shared) == MEDLEY_OK);
    child_expect(med_port_shared_resize(&shared, (size_t)1 << 20) == MEDLEY_ERR_NO_MEMORY);
    child_expect(shared.size_bytes == 0);
    child_expect(med_port_shared_resize(&shared, 8 * (size_t)PAGE) == MEDLEY_OK);
    child_expect(med_port_shared_map(&shared) == MEDLEY_OK);
    memset(shared.address, 1, 8 * (size_t)PAGE);
    med_port_shared_remove(&shared);
    med_port_shared_close(&shared);
    (void)umount(mount_point);
    (void)rmdir(mount_point);
    return 0;
}

static void
full_file_system_is_no_memory(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, fills_a_file_system, NULL);
    int status = process_join(&child);
    if (status == 77) {
        not_possible_here("no mount namespace of one's own");
    }
    assert_int_equal(status, 0);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static int
forgets(test_process *parent, void *argument)
{
    med_port_shared *shared = argument;
    int inherited = emulated_is_mapped(parent, shared->address);
    med_port_shared_forget(shared);
    med_port_shared again;
    child_expect(med_port_shared_open_until(name, MED_PORT_FOREVER, &again) == MEDLEY_OK);
    child_expect(again.size_bytes == PAGE);
    med_port_shared_close(&again);
    return inherited;
}

static int
parent_still_holds(test_process *parent, void *argument)
{
    med_port_shared *shared = argument;
    (void)parent;
    med_port_shared_forget(shared);
    med_port_shared again;
    child_expect(med_port_shared_open_until(name, MED_PORT_FOREVER, &again) == MEDLEY_OK);
    child_expect(med_port_slot_held(&again, 7));
    med_port_shared_close(&again);
    return 0;
}

static void
child_of_fork_forgets(void **state)
{
    med_port_shared shared;
    test_process child;
    (void)state;
    open_ok(&shared);
    assert_int_equal(med_port_shared_resize(&shared, PAGE), MEDLEY_OK);
    assert_int_equal(med_port_shared_map(&shared), MEDLEY_OK);
    assert_int_equal(med_port_slot_claim(&shared, 7), MEDLEY_OK);
    med_port_shared_unlock(&shared);
    process_start(&child, forgets, &shared);
    int first = process_join(&child);
    process_start(&child, parent_still_holds, &shared);
    assert_int_equal(process_join(&child), 0);
    med_port_shared_close(&shared);
    WITHOUT_WITHHOLDING_SKIP();
    assert_int_equal(first, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(bad_names_are_refused), CASE(longest_name_is_kept_whole),
        CASE(second_open_exists),    CASE(too_many_names_are_a_limit),
        CASE(list_shows_names),      CASE(contents_are_shared),
        CASE(resize_gives_zeros),    CASE(full_file_system_is_no_memory),
        CASE(child_of_fork_forgets),
    };
    return cmocka_run_group_tests_name("port/linux/shared", tests, NULL, NULL);
}
