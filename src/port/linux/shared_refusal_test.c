/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Named shared memory that is refused, and what is said of it: squatters, folders, descriptors. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "port/port.h"
#include "support/process.h"
#include "support/shared_name.h"
#include "support/unit.h"

/* ---- Squatters ------------------------------------------------------------------------------- */

static const char *
why_of_open(medley_status_t expected)
{
    static med_port_shared shared;
    assert_int_equal(med_port_shared_open_until(name, MED_PORT_FOREVER, &shared), expected);
    return shared.why;
}

static void
access_is_refused(void)
{
    static medley_status_t (*const opens[])(const char *, uint64_t, med_port_shared *) = {
        med_port_shared_open_until, med_port_shared_open_existing_until};
    med_port_shared shared;
    assert_int_equal(med_port_shared_open_aside(name, &shared), MEDLEY_ERR_ACCESS);
    for (int i = 0; i < 2; i++) {
        medley_status_t status = opens[i](name, MED_PORT_FOREVER, &shared);
        if (status == MEDLEY_OK) {
            med_port_shared_close(&shared); /* or the next case would hang in its section */
        }
        assert_int_equal(status, MEDLEY_ERR_ACCESS);
    }
}

static void
other_modes_are_refused(void **state)
{
    static const mode_t modes[] = {0644, 0660, 0602, 0700, 0601, 04600};
    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        file_make(modes[i]);
        access_is_refused();
        assert_int_equal(unlink(file_path()), 0);
    }
}

static void
symlink_is_refused(void **state)
{
    char target[300];
    (void)state;
    (void)snprintf(target, sizeof target, "%s.target", file_path());
    int fd = open(target, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(symlink(target, file_path()), 0);
    access_is_refused();
    assert_int_equal(unlink(target), 0);
    access_is_refused(); /* a dangling one as well: nothing is made behind it */
    assert_int_equal(access(target, F_OK), -1);
}

static void
hard_link_is_refused(void **state)
{
    char other[300];
    (void)state;
    file_make(0600);
    (void)snprintf(other, sizeof other, "%s.other", file_path());
    assert_int_equal(link(file_path(), other), 0);
    access_is_refused();
    assert_non_null(strstr(why_of_open(MEDLEY_ERR_ACCESS), "has another name besides"));
    assert_int_equal(unlink(other), 0);
    med_port_shared shared;
    open_ok(&shared);
    med_port_shared_close(&shared);
}

static void
folder_and_fifo_are_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir(file_path(), 0600), 0);
    access_is_refused();
    assert_int_equal(rmdir(file_path()), 0);
    assert_int_equal(mkfifo(file_path(), 0600), 0);
    access_is_refused();
}

static void
other_owner_is_refused(void **state)
{
    (void)state;
    file_make(0600);
    if (chown(file_path(), geteuid() + 1, (gid_t)-1) != 0) {
        not_possible_here("only root can give a file away");
    }
    access_is_refused();
    char words[40];
    (void)snprintf(words, sizeof words, "belongs to user %u", (unsigned)geteuid() + 1);
    assert_non_null(strstr(why_of_open(MEDLEY_ERR_ACCESS), words));
}

static void
failed_open_leaves_the_section(void **state)
{
    med_port_shared shared;
    (void)state;
    file_make(0644);
    access_is_refused();
    assert_int_equal(unlink(file_path()), 0);
    open_ok(&shared); /* would block if the refused ones had kept it */
    med_port_shared_close(&shared);
}

/* ---- Folders --------------------------------------------------------------------------------- */

static void
refusals_say_why(void **state)
{
    char chosen[256];
    char missing[300];
    (void)state;
    (void)snprintf(chosen, sizeof chosen, "%s", folder());
    file_make(0644);
    assert_non_null(strstr(why_of_open(MEDLEY_ERR_ACCESS), "has mode 0644, not 0600"));
    assert_non_null(strstr(why_of_open(MEDLEY_ERR_ACCESS), file_path()));
    assert_int_equal(unlink(file_path()), 0);
    assert_int_equal(mkdir(file_path(), 0600), 0);
    assert_non_null(strstr(why_of_open(MEDLEY_ERR_ACCESS), "is not a plain file"));
    assert_int_equal(rmdir(file_path()), 0);
    assert_int_equal(mkfifo(file_path(), 0600), 0);
    assert_non_null(strstr(why_of_open(MEDLEY_ERR_ACCESS), "is not a plain file"));
    assert_int_equal(unlink(file_path()), 0);
    assert_int_equal(symlink("nowhere", file_path()), 0);
    assert_non_null(strstr(why_of_open(MEDLEY_ERR_ACCESS), "is not a plain file"));
    assert_int_equal(unlink(file_path()), 0);

    bool was_set = getenv("MEDLEY_SHM_DIR") != NULL;
    (void)snprintf(missing, sizeof missing, "%s/nowhere.%d", chosen, (int)getpid());
    (void)setenv("MEDLEY_SHM_DIR", missing, 1);
    const char *why = why_of_open(MEDLEY_ERR_NOT_FOUND);
    assert_non_null(strstr(why, missing));
    assert_non_null(strstr(why, "MEDLEY_SHM_DIR"));
    assert_non_null(strstr(why, strerror(ENOENT)));
    (void)setenv("MEDLEY_SHM_DIR", "/dev/null", 1);
    assert_non_null(strstr(why_of_open(MEDLEY_ERR_NOT_FOUND), strerror(ENOTDIR)));
    if (was_set) {
        (void)setenv("MEDLEY_SHM_DIR", chosen, 1);
    } else {
        (void)unsetenv("MEDLEY_SHM_DIR");
    }
}

/* Of a folder that is not there, whose path has so many bytes. */
static medley_status_t
open_in_folder_of(size_t bytes)
{
    char path[MED_PORT_PATH_BYTES];
    char chosen[MED_PORT_PATH_BYTES];
    (void)snprintf(chosen, sizeof chosen, "%s", folder());
    memset(path, 'a', bytes);
    path[0] = '/';
    path[bytes] = '\0';
    bool was_set = getenv("MEDLEY_SHM_DIR") != NULL;
    (void)setenv("MEDLEY_SHM_DIR", path, 1);
    med_port_shared shared;
    medley_status_t status = med_port_shared_open_until(name, MED_PORT_FOREVER, &shared);
    char beside[2 * MED_PORT_PATH_BYTES];
    (void)snprintf(beside, sizeof beside, "%s/medley-%u-%s", path, (unsigned)geteuid(), name);
    med_port_segment segment = {.beside = beside, .number = UINT32_MAX, .size_bytes = 1};
    if (status != MEDLEY_ERR_ARGUMENT) {
        assert_int_equal(med_port_segment_create(&segment), status);
    }
    if (was_set) {
        (void)setenv("MEDLEY_SHM_DIR", chosen, 1);
    } else {
        (void)unsetenv("MEDLEY_SHM_DIR");
    }
    return status;
}

/* Where the shared memory has room for its path, its segments have it for theirs. */
static void
long_folders_are_refused(void **state)
{
    size_t bytes = 100;
    (void)state;
    while (open_in_folder_of(bytes) == MEDLEY_ERR_NOT_FOUND) {
        bytes++;
    }
    assert_true(bytes > 100);
    for (; bytes < MED_PORT_PATH_BYTES; bytes++) {
        assert_int_equal(open_in_folder_of(bytes), MEDLEY_ERR_ARGUMENT);
    }
}

static void
no_descriptor_is_not_full_memory(void **state)
{
    struct rlimit before;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    med_port_shared shared;
    medley_status_t status = med_port_shared_open_until(name, MED_PORT_FOREVER, &shared);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(status, MEDLEY_ERR_SYSTEM);
    assert_memory_equal(shared.why, strerror(EMFILE), strlen(strerror(EMFILE))); /* and advice */
}

static void
limit_of_file_size_is_full_memory(void **state)
{
    struct rlimit before;
    (void)state;
    med_port_shared shared;
    assert_int_equal(med_port_shared_open_until(name, MED_PORT_FOREVER, &shared), MEDLEY_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit little = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    medley_status_t status = med_port_shared_resize(&shared, 65536);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, MEDLEY_ERR_NO_MEMORY);
    assert_int_equal(med_port_shared_resize(&shared, 65536), MEDLEY_OK);
    assert_int_equal(med_port_shared_remove(&shared), MEDLEY_OK);
    med_port_shared_close(&shared);
}

/* By the call: sanitizers lock nothing. And an emulator maps where it has mapped before. */
static bool
memory_to_come_is_locked(size_t more_bytes)
{
    if (syscall(SYS_mlockall, MCL_FUTURE) != 0) {
        return false;
    }
    void *p = mmap(NULL, more_bytes, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED) {
        (void)munmap(p, more_bytes);
        return false;
    }
    return errno == EAGAIN;
}

/* As a user whose limit counts. */
static int
may_lock_little(test_process *parent, void *argument)
{
    med_port_shared shared;
    struct rlimit little = {.rlim_cur = 65536, .rlim_max = 65536};
    uid_t before = geteuid();
    (void)parent;
    (void)argument;
    child_expect(med_port_shared_open_until(name, MED_PORT_FOREVER, &shared) == MEDLEY_OK);
    child_expect(med_port_shared_resize(&shared, 1048576) == MEDLEY_OK);
    child_expect(setrlimit(RLIMIT_MEMLOCK, &little) == 0);
    child_expect(before != 0 || seteuid(65534) == 0);
    bool locks = memory_to_come_is_locked(1048576);
    medley_status_t status = med_port_shared_map(&shared);
    (void)syscall(SYS_munlockall);
    child_expect(before != 0 || seteuid(0) == 0);
    child_expect(med_port_shared_remove(&shared) == MEDLEY_OK);
    med_port_shared_close(&shared);
    if (!locks) {
        return 77;
    }
    child_expect(status == MEDLEY_ERR_NO_MEMORY && strstr(shared.why, "(ulimit -l)"));
    return 0;
}

static void
limit_of_locked_memory_is_told(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, may_lock_little, NULL);
    int status = process_join(&child);
    if (status == 77) {
        not_possible_here("no limit of locked memory");
    }
    assert_int_equal(status, 0);
}

/* Who starts next must be able to open it. */
static void
mask_of_the_program_does_not_count(void **state)
{
    (void)state;
    med_port_shared shared;
    struct stat st;
    mode_t before = umask(0777);
    medley_status_t status = med_port_shared_open_until(name, MED_PORT_FOREVER, &shared);
    (void)umask(before);
    assert_int_equal(status, MEDLEY_OK);
    assert_int_equal(stat(file_path(), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(med_port_shared_remove(&shared), MEDLEY_OK);
    med_port_shared_close(&shared);
}

/* As a user who may write the file, but not its folder. */
static int
cannot_remove(test_process *parent, void *argument)
{
    char chosen[256];
    char path[400];
    med_port_shared shared;
    uid_t user = geteuid() == 0 ? 65534 : geteuid();
    (void)parent;
    (void)argument;
    (void)snprintf(chosen, sizeof chosen, "%s/shared_test.ro.%d", folder(), (int)getpid());
    (void)snprintf(path, sizeof path, "%s/medley-%u-%s", chosen, (unsigned)user, name);
    child_expect(mkdir(chosen, 0700) == 0);
    (void)setenv("MEDLEY_SHM_DIR", chosen, 1);
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    child_expect(fd >= 0 && close(fd) == 0);
    child_expect(geteuid() == user || chown(path, user, (gid_t)-1) == 0);
    child_expect(chmod(chosen, 0555) == 0);
    uid_t before = geteuid();
    child_expect(before == user || seteuid(user) == 0);
    medley_status_t opened = med_port_shared_open_until(name, MED_PORT_FOREVER, &shared);
    medley_status_t removed = MEDLEY_OK;
    if (opened == MEDLEY_OK) {
        removed = med_port_shared_remove(&shared);
        med_port_shared_close(&shared);
    }
    child_expect(before == user || seteuid(before) == 0);
    child_expect(chmod(chosen, 0700) == 0 && unlink(path) == 0 && rmdir(chosen) == 0);
    child_expect(opened == MEDLEY_OK && removed == MEDLEY_ERR_ACCESS);
    child_expect(strstr(shared.why, path) && strstr(shared.why, strerror(EACCES)));
    return 0;
}

static void
failing_removal_is_told(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, cannot_remove, NULL);
    assert_int_equal(process_join(&child), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(other_modes_are_refused),
        CASE(symlink_is_refused),
        CASE(hard_link_is_refused),
        CASE(folder_and_fifo_are_refused),
        CASE(other_owner_is_refused),
        CASE(failed_open_leaves_the_section),
        CASE(refusals_say_why),
        CASE(long_folders_are_refused),
        CASE(no_descriptor_is_not_full_memory),
        CASE(limit_of_file_size_is_full_memory),
        CASE(limit_of_locked_memory_is_told),
        CASE(mask_of_the_program_does_not_count),
        CASE(failing_removal_is_told),
    };
    return cmocka_run_group_tests_name("port/linux/shared_refusal", tests, NULL, NULL);
}
