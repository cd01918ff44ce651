/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Files under our name that are not ours, or not ours alone: refused by whoever comes, and left as
 * they are.
 */
#include <string.h>

#include "hostile.h"
#include "mrapi/system.h"
#include "support/logged.h"
#include "support/partition_file.h"
#include "support/process.h"
#include "support/segments.h"

#define SOMEBODY_ELSE 65534
#define PRECIOUS "what somebody keeps in a file of his own"

static void
file_make(const char *path, mode_t mode)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, PRECIOUS, sizeof PRECIOUS), sizeof PRECIOUS);
    assert_int_equal(fchmod(fd, mode), 0);
    assert_int_equal(close(fd), 0);
}

static void
file_untouched(const char *path)
{
    char bytes[sizeof PRECIOUS + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, bytes, sizeof bytes), sizeof PRECIOUS);
    assert_memory_equal(bytes, PRECIOUS, sizeof PRECIOUS);
    assert_int_equal(close(fd), 0);
}

static void
refused(void)
{
    med_system system;
    char why[MED_PORT_WHY_BYTES];
    assert_int_equal(medley_system_open(test_system_name()), MEDLEY_ERR_ACCESS);
    assert_int_equal(initialize(1), MRAPI_ERR_NODE_INITFAILED);
    assert_int_equal(med_system_observe(test_system_name(), MED_PORT_FOREVER, &system),
                     MEDLEY_ERR_ACCESS);
    assert_int_equal(med_system_remove(test_system_name(), MED_PORT_FOREVER, why),
                     MEDLEY_ERR_ACCESS);
}

static void
open_to_others(void **state)
{
    static const mode_t modes[] = {0644, 0660, 0606, 0666, 0700, 04600};
    const char *path = partition_path(test_system_name());
    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        file_make(path, modes[i]);
        refused();
        file_untouched(path);
        assert_int_equal(unlink(path), 0);
    }
}

static void
under_other_names_too(void **state)
{
    const char *path = partition_path(test_system_name());
    char target[256];
    (void)state;
    (void)snprintf(target, sizeof target, "%s-target", path);
    file_make(target, 0600);
    assert_int_equal(symlink(target, path), 0);
    refused();
    assert_int_equal(unlink(path), 0);
    assert_int_equal(link(target, path), 0);
    refused();
    file_untouched(target);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(target), 0);
}

static void
no_plain_file(void **state)
{
    const char *path = partition_path(test_system_name());
    (void)state;
    assert_int_equal(mkdir(path, 0600), 0);
    refused();
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    refused();
    assert_int_equal(unlink(path), 0);
}

static int
as_somebody_else(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    child_expect(setuid(SOMEBODY_ELSE) == 0);
    child_expect(medley_system_open(test_system_name()) == MEDLEY_ERR_ACCESS);
    return 0;
}

static void
of_another_user(void **state)
{
    char path[256];
    test_process child;
    (void)state;
    if (geteuid() != 0) {
        not_possible_here("only root can give a file away");
    }
    (void)snprintf(path, sizeof path, "%s", partition_path(test_system_name()));
    file_make(path, 0600);
    assert_int_equal(chown(path, SOMEBODY_ELSE, (gid_t)-1), 0);
    refused();
    file_untouched(path);
    assert_int_equal(unlink(path), 0);

    /* The other way round: root's file, under the name of a user's system. */
    (void)snprintf(path, sizeof path, "%s", partition_path_of(SOMEBODY_ELSE, test_system_name()));
    file_make(path, 0600);
    process_start(&child, as_somebody_else, NULL);
    assert_int_equal(process_join(&child), 0);
    file_untouched(path);
    assert_int_equal(unlink(path), 0);
}

/* Anybody can see which number a segment's file has, and make the next ones. */
static void
segments_of_others(void **state)
{
    char path[300] = "";
    mrapi_status_t status;
    (void)state;
    assert_int_equal(initialize(1), MRAPI_SUCCESS);
    mrapi_shmem_hndl_t first = mrapi_shmem_create(1, 4096, NULL, 0, NULL, 0, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(segments_find(test_system_name(), path, sizeof path), 1);
    char *number = path + strlen(path) - 8;
    uint32_t taken = (uint32_t)strtoul(number, NULL, 16);
    for (uint32_t i = 1; i <= 8; i++) {
        (void)snprintf(number, 9, "%08x", taken + i);
        file_make(path, 0600);
    }
    mrapi_shmem_hndl_t second = mrapi_shmem_create(2, 4096, NULL, 0, NULL, 0, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    for (uint32_t i = 1; i <= 8; i++) {
        (void)snprintf(number, 9, "%08x", taken + i);
        file_untouched(path);
        assert_int_equal(unlink(path), 0);
    }
    mrapi_shmem_delete(first, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_shmem_delete(second, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_finalize(&status);
}

/* ---- Numbers that can be guessed, for once --------------------------------------------------- */

#define FIRST 0x1234567u
#define TAKEN 64u /* more than are tried */

uint32_t __real_med_port_random(void);
uint32_t __wrap_med_port_random(void);

static uint32_t chosen; /* 0: the port's own choice */

uint32_t
__wrap_med_port_random(void)
{
    return chosen ? chosen : __real_med_port_random();
}

static int
meets_files_of_others(void)
{
    char path[300] = "";
    mrapi_status_t status;
    chosen = FIRST;
    child_expect(initialize(1) == MRAPI_SUCCESS);
    (void)mrapi_shmem_create(1, 4096, NULL, 0, NULL, 0, &status);
    child_expect(status == MRAPI_SUCCESS);
    child_expect(segments_find(test_system_name(), path, sizeof path) == 1);
    char *number = path + strlen(path) - 8;
    child_expect(strtoul(number, NULL, 16) == FIRST);
    chosen = 1;
    for (uint32_t i = 1; i <= TAKEN; i++) {
        (void)snprintf(number, 9, "%08x", FIRST + i);
        file_make(path, 0600);
        child_expect(chown(path, SOMEBODY_ELSE, (gid_t)-1) == 0);
    }
    (void)mrapi_shmem_create(2, 4096, NULL, 0, NULL, 0, &status);
    child_expect(status == MRAPI_ERR_NOT_SUPPORTED);
    for (uint32_t i = 1; i <= TAKEN; i++) {
        (void)snprintf(number, 9, "%08x", FIRST + i);
        file_untouched(path);
        child_expect(unlink(path) == 0);
    }
    child_expect(finalize() == MRAPI_SUCCESS);
    return 0;
}

static void
segments_begin_anywhere(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        not_possible_here("only root can give a file away");
    }
    logged_run("error", meets_files_of_others);
    assert_true(logged_says_once("cannot make shared memory 2: '"));
    assert_true(logged_says("' belongs to user 65534\n"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_begin_anywhere), /* before the level of the log is settled */
        cmocka_unit_test(open_to_others),          cmocka_unit_test(under_other_names_too),
        cmocka_unit_test(no_plain_file),           cmocka_unit_test(of_another_user),
        cmocka_unit_test(segments_of_others),
    };
    hostile_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
