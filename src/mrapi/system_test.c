/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Choosing, opening and closing systems: what the program gets, and what the user is told. Each
 * case is a process of its own, whose log is read afterwards.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/log.h"
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/system.h"
#include "port/port.h"
#include "support/logged.h"
#include "support/node.h"
#include "support/partition_file.h"
#include "support/segments.h"
#include "support/system.h"
#include "support/unit.h"

#define NODE 7
#define NOT_POSSIBLE 77

/* ---- The choice ------------------------------------------------------------------------------ */

static const char *
other_name(void)
{
    static char name[48];
    (void)snprintf(name, sizeof name, "%s-other", test_system_name());
    return name;
}

static bool
node_joins(const char *name)
{
    if (initialize(NODE) != MRAPI_SUCCESS) {
        return false;
    }
    bool joined = partition_exists(name);
    return finalize() == MRAPI_SUCCESS && joined && !partition_exists(name);
}

static int
chooses_and_closes(void)
{
    child_expect(medley_system_open(other_name()) == MEDLEY_OK);
    child_expect(medley_system_open(other_name()) == MEDLEY_OK);
    child_expect(medley_system_close() == MEDLEY_OK);
    child_expect(initialize(NODE) == MRAPI_SUCCESS);
    child_expect(!partition_exists(test_system_name()));
    child_expect(finalize() == MRAPI_SUCCESS);
    child_expect(medley_system_close() == MEDLEY_OK);
    child_expect(node_joins(test_system_name()));
    child_expect(medley_system_open(NULL) == MEDLEY_OK);
    child_expect(medley_system_close() == MEDLEY_OK);
    child_expect(node_joins(test_system_name()));
    return 0;
}

static void
choice_goes_with_the_last_close(void **state)
{
    (void)state;
    logged_run("error", chooses_and_closes);
}

static int
chooses_two_and_closes_one(void)
{
    child_expect(medley_system_open(other_name()) == MEDLEY_OK);
    child_expect(medley_system_open(NULL) == MEDLEY_OK);
    child_expect(medley_system_close() == MEDLEY_OK);
    child_expect(initialize(NODE) == MRAPI_SUCCESS);
    child_expect(med_self_get()->scope == MED_PORT_SCOPE_SHARED);
    child_expect(finalize() == MRAPI_SUCCESS);
    child_expect(medley_system_close() == MEDLEY_OK);
    return 0;
}

static void
choice_goes_to_the_other_that_is_open(void **state)
{
    (void)state;
    logged_run("error", chooses_two_and_closes_one);
}

/* Each close takes back one open, whichever systems they were of. */
static int
opens_and_closes(void)
{
    const char *name = test_system_name();
    child_expect(medley_system_open(name) == MEDLEY_OK);
    child_expect(medley_system_open(NULL) == MEDLEY_OK);
    child_expect(partition_exists(name));
    child_expect(medley_system_close() == MEDLEY_OK);
    child_expect(medley_system_close() == MEDLEY_OK);
    child_expect(medley_system_close() == MEDLEY_ERR_NOT_FOUND);
    child_expect(!partition_exists(name));
    return 0;
}

static void
opens_and_closes_match(void **state)
{
    (void)state;
    logged_run("error", opens_and_closes);
}

/* ---- What cannot be opened ------------------------------------------------------------------- */

static void *
initializes_too(void *argument)
{
    *(mrapi_status_t *)argument = initialize(NODE + 1);
    return NULL;
}

static int
is_in_another_system(void)
{
    mrapi_status_t status = MRAPI_SUCCESS;
    med_port_thread thread;
    child_expect(medley_system_open(other_name()) == MEDLEY_OK);
    child_expect(medley_system_open(test_system_name()) == MEDLEY_BUSY);
    child_expect(medley_system_open("a/b") == MEDLEY_ERR_ARGUMENT);
    child_expect(initialize(NODE) == MRAPI_SUCCESS);
    child_expect(medley_system_close() == MEDLEY_OK);
    child_expect(med_port_thread_start(&thread, NULL, initializes_too, &status) == MEDLEY_OK);
    child_expect(med_port_thread_join(thread, NULL) == MEDLEY_OK);
    child_expect(status == MRAPI_ERR_NODE_INITFAILED);
    child_expect(finalize() == MRAPI_SUCCESS);
    return 0;
}

static void
another_system_is_open(void **state)
{
    (void)state;
    logged_run("error", is_in_another_system);
    assert_true(logged_says_once("cannot open system 'a/b': wrong argument; a name has"));
    assert_true(logged_says("this process is in system '"));
}

static int
has_no_folder(void)
{
    (void)setenv("MEDLEY_SHM_DIR", "/nowhere-at-all", 1);
    child_expect(initialize(NODE) == MRAPI_ERR_NODE_INITFAILED);
    (void)setenv("MEDLEY_SHM_DIR", "/dev/null", 1);
    child_expect(initialize(NODE) == MRAPI_ERR_NODE_INITFAILED);
    return 0;
}

static void
missing_folder_is_named(void **state)
{
    (void)state;
    logged_run("error", has_no_folder);
    assert_true(
        logged_says_once("folder '/nowhere-at-all' (MEDLEY_SHM_DIR): No such file or directory"));
    assert_true(logged_says_once("folder '/dev/null' (MEDLEY_SHM_DIR): Not a directory"));
}

static int
has_a_relative_folder(void)
{
    (void)setenv("MEDLEY_SHM_DIR", "nowhere/at/all", 1);
    child_expect(initialize(NODE) == MRAPI_SUCCESS && finalize() == MRAPI_SUCCESS);
    child_expect(initialize(NODE) == MRAPI_SUCCESS && finalize() == MRAPI_SUCCESS);
    return 0;
}

static void
relative_folder_is_ignored(void **state)
{
    (void)state;
    logged_run("error", has_a_relative_folder);
    assert_true(logged_says_once(
        "MEDLEY_SHM_DIR ignored: it is 'nowhere/at/all'; want a path from the root"));
}

static int
has_no_descriptor_left(void)
{
    struct rlimit none = {.rlim_cur = 3, .rlim_max = 3};
    child_expect(setrlimit(RLIMIT_NOFILE, &none) == 0);
    return initialize(NODE) == MRAPI_ERR_NODE_INITFAILED ? 0 : 1;
}

static void
who_has_no_descriptor_left_is_advised(void **state)
{
    (void)state;
    logged_run("error", has_no_descriptor_left);
    assert_true(logged_says("Too many open files; raise the limit of files (ulimit -n)"));
}

static int
wants_an_image_of_its_own(void)
{
    (void)setenv("MEDLEY_SYSTEM_IMAGE", "/nowhere", 1);
    child_expect(medley_system_open(NULL) == MEDLEY_OK);
    child_expect(initialize(NODE) == MRAPI_SUCCESS && finalize() == MRAPI_SUCCESS);
    child_expect(medley_system_close() == MEDLEY_OK);
    return 0;
}

static void
private_systems_have_no_image(void **state)
{
    (void)state;
    logged_run("error", wants_an_image_of_its_own);
    assert_true(logged_says_once("MEDLEY_SYSTEM_IMAGE ignored: a private system is not made of"));
}

/* The program changes what decided where the system lies, or who it is, and leaves. */
static int
leaves_after(bool (*change)(const char *folder))
{
    char folder[160];
    const char *chosen = getenv("MEDLEY_SHM_DIR");
    mrapi_status_t status;
    child_expect(chosen && snprintf(folder, sizeof folder, "%s", chosen) < (int)sizeof folder);
    child_expect(initialize(NODE) == MRAPI_SUCCESS);
    (void)mrapi_shmem_create(1, 64, NULL, 0, NULL, 0, &status);
    mrapi_shmem_hndl_t deleted = mrapi_shmem_create(2, 64, NULL, 0, NULL, 0, &status);
    child_expect(status == MRAPI_SUCCESS);
    child_expect(partition_exists(test_system_name()) && segments_count(test_system_name()) == 2);
    if (!change(folder)) {
        return NOT_POSSIBLE;
    }
    mrapi_shmem_delete(deleted, &status);
    child_expect(status == MRAPI_SUCCESS);
    child_expect(finalize() == MRAPI_SUCCESS);
    child_expect(setenv("MEDLEY_SHM_DIR", folder, 1) == 0 && (getuid() != 0 || seteuid(0) == 0));
    child_expect(!partition_exists(test_system_name()) && segments_count(test_system_name()) == 0);
    return 0;
}

static bool
another_folder(const char *folder)
{
    char other[200];
    (void)snprintf(other, sizeof other, "%s/other", folder);
    return (mkdir(other, 0700) == 0 || errno == EEXIST) && setenv("MEDLEY_SHM_DIR", other, 1) == 0;
}

static bool
another_user(const char *folder)
{
    return geteuid() == 0 && chmod(folder, 0777) == 0 && seteuid(65534) == 0;
}

static int
moves_on(void)
{
    return leaves_after(another_folder);
}

static int
becomes_another(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    return leaves_after(another_user);
}

static void
removes_what_it_made(void **state)
{
    test_process child;
    (void)state;
    logged_run("error", moves_on);
    process_start(&child, becomes_another, NULL);
    int status = process_join(&child);
    if (status == NOT_POSSIBLE) {
        not_possible_here("only root becomes another user");
    }
    assert_int_equal(status, 0);
}

static int
may_write_little(void)
{
    struct rlimit little = {.rlim_cur = 4096, .rlim_max = 4096};
    child_expect(setrlimit(RLIMIT_FSIZE, &little) == 0);
    child_expect(medley_system_open(test_system_name()) == MEDLEY_ERR_NO_MEMORY);
    child_expect(!partition_exists(test_system_name()));
    return 0;
}

static void
limit_of_file_size_is_told(void **state)
{
    (void)state;
    logged_run("error", may_write_little);
    assert_true(logged_says_once("more than this process may write to a file"));
    assert_true(logged_says("(ulimit -f), or lower the limits (MEDLEY_MAX_...)\n"));
    assert_false(logged_says("is full"));
}

/* ---- No room --------------------------------------------------------------------------------- */

void *__real_mmap(void *address, size_t bytes, int access, int flags, int fd, off_t start);
void *__wrap_mmap(void *address, size_t bytes, int access, int flags, int fd, off_t start);
int __real_posix_fallocate(int fd, off_t start, off_t length);
int __wrap_posix_fallocate(int fd, off_t start, off_t length);

static bool address_space_is_full;
static bool shared_memory_is_full;

void *
__wrap_mmap(void *address, size_t bytes, int access, int flags, int fd, off_t start)
{
    if (address_space_is_full) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(address, bytes, access, flags, fd, start);
}

int
__wrap_posix_fallocate(int fd, off_t start, off_t length)
{
    return shared_memory_is_full ? ENOSPC : __real_posix_fallocate(fd, start, length);
}

static int
has_no_addresses(void)
{
    address_space_is_full = true;
    child_expect(medley_system_open(test_system_name()) == MEDLEY_ERR_NO_MEMORY);
    child_expect(!partition_exists(test_system_name()));
    child_expect(medley_system_open(NULL) == MEDLEY_ERR_NO_MEMORY);
    return 0;
}

static int
finds_no_storage(void)
{
    shared_memory_is_full = true;
    child_expect(medley_system_open(test_system_name()) == MEDLEY_ERR_NO_MEMORY);
    child_expect(!partition_exists(test_system_name()));
    return 0;
}

static void
missing_room_is_told(void **state)
{
    (void)state;
    logged_run("error", has_no_addresses);
    assert_true(logged_says("no room for it (ulimit -v, ulimit -l); lower limits"));
    assert_true(logged_says("cannot open the private system: "));
    assert_false(logged_says("shared memory"));
    logged_run("error", finds_no_storage);
    assert_true(logged_says_once("': shared memory has no room for "));
    assert_true(logged_says("'medley system list' shows what takes it"));
    assert_false(logged_says("this process"));
}

/* ---- Not ours -------------------------------------------------------------------------------- */

static int
finds_a_folder(void)
{
    child_expect(mkdir(partition_path(test_system_name()), 0700) == 0);
    medley_status_t status = medley_system_open(test_system_name());
    child_expect(rmdir(partition_path(test_system_name())) == 0);
    child_expect(status == MEDLEY_ERR_ACCESS);
    return 0;
}

static void
squatter_is_described(void **state)
{
    (void)state;
    logged_run("error", finds_a_folder);
    assert_true(logged_says(partition_path(test_system_name())));
    assert_true(logged_says("' is not a plain file; see who made it"));
}

/* A leftover of a user who may not write the folder. */
static int
cannot_remove_the_leftover(void)
{
    char folder[256];
    uid_t before = geteuid();
    uid_t user = before == 0 ? 65534 : before;
    (void)snprintf(folder, sizeof folder, "%s.folder", partition_path(test_system_name()));
    (void)setenv("MEDLEY_SHM_DIR", folder, 1);
    child_expect(mkdir(folder, 0711) == 0);
    child_expect(before == user || chown(folder, user, (gid_t)-1) == 0);
    child_expect(before == user || seteuid(user) == 0);
    child_expect(partition_write(test_system_name(), "left", 4, 0) && chmod(folder, 0500) == 0);
    medley_status_t status = medley_system_open(test_system_name());
    child_expect(chmod(folder, 0700) == 0 && unlink(partition_path(test_system_name())) == 0);
    child_expect(seteuid(before) == 0 && rmdir(folder) == 0);
    child_expect(status == MEDLEY_ERR_ACCESS);
    return 0;
}

static void
leftover_that_stays_is_an_error(void **state)
{
    (void)state;
    logged_run("error", cannot_remove_the_leftover);
    assert_true(logged_says_once("cannot remove '"));
    assert_true(logged_says(strerror(EACCES)));
}

/* ---- What others live in, and made otherwise ------------------------------------------------- */

static int
opens_in_vain(void)
{
    child_expect(medley_system_open(test_system_name()) != MEDLEY_OK);
    return 0;
}

/* A child of fork is a stranger, who finds what this process has made. */
static void
header_word_is_described(uint32_t *word, uint32_t flip, const char *words)
{
    char line[256];
    (void)snprintf(line, sizeof line, "medley: cannot open system '%s': %s\n", test_system_name(),
                   words);
    *word ^= flip;
    logged_run("error", opens_in_vain);
    *word ^= flip;
    assert_string_equal(log_text, line);
}

static void
other_makers_are_described(void **state)
{
    static const char another[] = "made by another version of Medley; processes of another Medley "
                                  "live in it: choose another name with MEDLEY_SYSTEM";
    (void)state;
    assert_int_equal(initialize(NODE), MRAPI_SUCCESS);
    med_partition_header *header = med_self_get()->system->header;
    uint32_t *magic = (uint32_t *)(void *)&header->magic;
    header_word_is_described(&header->version, 3, another);
    header_word_is_described(&header->layout_hash, 1, another);
    header_word_is_described(magic, MED_PARTITION_MAGIC ^ __builtin_bswap32(MED_PARTITION_MAGIC),
                             "made by a machine of the other byte order; processes of another "
                             "Medley live in it: choose another name with MEDLEY_SYSTEM");
    header_word_is_described(&header->limits.nodes, 1,
                             "corrupt contents; end the processes in it ('medley ps' names them) "
                             "and start again");
    assert_int_equal(finalize(), MRAPI_SUCCESS);
}

/* ---- The log --------------------------------------------------------------------------------- */

static int
comes_and_goes(void)
{
    child_expect(initialize(NODE) == MRAPI_SUCCESS && finalize() == MRAPI_SUCCESS);
    return 0;
}

static void
comings_and_goings_are_told(void **state)
{
    (void)state;
    logged_run("error", comes_and_goes);
    assert_string_equal(log_text, "");
    logged_run("info", comes_and_goes);
    assert_true(logged_says_once("created system '"));
    assert_true(logged_says(test_system_name()));
    assert_true(logged_says("16 mutexes"));
    assert_true(logged_says_once("left system '"));
    assert_false(logged_says("node 7"));
    logged_run("debug", comes_and_goes);
    assert_true(logged_says_once("node 7 of domain 1 comes"));
    assert_true(logged_says_once("node 7 of domain 1 goes"));
}

static void
unknown_level_is_told(void **state)
{
    (void)state;
    logged_run("loud", comes_and_goes);
    assert_true(logged_says_once("MEDLEY_LOG ignored: it is 'loud'; want 'quiet', 'error'"));
}

static int
joins_with_other_wishes(void)
{
    med_log_level_set(MED_LOG_INFO); /* the variable was read before the fork */
    (void)setenv("MEDLEY_MUTEX_ON_DEATH", "fail", 1);
    return comes_and_goes();
}

static void
other_wishes_are_told(void **state)
{
    (void)state;
    (void)setenv("MEDLEY_MUTEX_ON_DEATH", "recover", 1);
    assert_int_equal(medley_system_open(test_system_name()), MEDLEY_OK);
    logged_run("error", joins_with_other_wishes);
    assert_true(logged_says_once("joined system '"));
    assert_true(logged_says_once("MEDLEY_MUTEX_ON_DEATH has no effect"));
    assert_true(logged_says("was created with 'recover'"));
    logged_run("error", comes_and_goes);
    assert_string_equal(log_text, "");
    assert_int_equal(medley_system_close(), MEDLEY_OK);
    (void)unsetenv("MEDLEY_MUTEX_ON_DEATH");
}

/* ---- Cancellation ---------------------------------------------------------------------------- */

static void *
opens_nonsense(void *argument)
{
    (void)argument;
    (void)pthread_cancel(pthread_self());
    (void)medley_system_open("a b"); /* logs, inside the gate */
    pthread_testcancel();
    return NULL;
}

static int
is_canceled_while_it_logs(void)
{
    pthread_t thread;
    void *result;
    child_expect(pthread_create(&thread, NULL, opens_nonsense, NULL) == 0);
    child_expect(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    return comes_and_goes();
}

static void
canceled_thread_leaves_the_gate(void **state)
{
    (void)state;
    logged_run("error", is_canceled_while_it_logs);
    assert_true(logged_says_once("cannot open system 'a b'"));
}

/* ---- Limits and numbers ---------------------------------------------------------------------- */

static int
reaches_limits(void)
{
    mrapi_status_t status;
    (void)setenv("MEDLEY_MAX_MUTEXES", "1", 1);
    (void)setenv("MEDLEY_MAX_NODES", "1", 1);
    child_expect(initialize(NODE) == MRAPI_SUCCESS);
    (void)mrapi_mutex_create(1, NULL, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_thread_parameters_t parameters = {.start_routine = (void *(*)(void *))abort};
    for (int i = 0; i < 100; i++) { /* a program that tries again fills no log */
        (void)mrapi_mutex_create(2, NULL, &status);
        child_expect(status == MRAPI_ERR_MUTEX_LIMIT);
        mrapi_thread_create(DOMAIN, NODE + 1, &parameters, &status);
        child_expect(status == MRAPI_ERR_NODE_INITFAILED);
    }
    child_expect(finalize() == MRAPI_SUCCESS);
    return 0;
}

static void
limits_say_what_raises_them(void **state)
{
    (void)state;
    logged_run("error", reaches_limits);
    assert_true(logged_says_once("limit reached: 1 mutex; MEDLEY_MAX_MUTEXES raises it"));
    assert_true(logged_says_once("limit reached: 1 node; MEDLEY_MAX_NODES raises it"));
}

/* Another process of the system: it wants the same number, and other limits. */
static int
wants_what_is_taken(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    (void)setenv("MEDLEY_MAX_MUTEXES", "9", 1);
    child_expect(initialize(NODE) == MRAPI_ERR_NODE_INITIALIZED);
    return 0;
}

static int
has_what_another_wants(void)
{
    test_process other;
    (void)setenv("MEDLEY_MAX_MUTEXES", "5", 1);
    child_expect(initialize(NODE) == MRAPI_SUCCESS);
    (void)fprintf(stderr, "here is process %d\n", (int)getpid());
    process_start(&other, wants_what_is_taken, NULL);
    child_expect(process_join(&other) == 0);
    child_expect(finalize() == MRAPI_SUCCESS);
    return 0;
}

static void
who_comes_later_is_told_what_is_settled(void **state)
{
    char words[64];
    int holder = 0;
    (void)state;
    logged_run("error", has_what_another_wants);
    const char *said = strstr(log_text, "here is process ");
    assert_non_null(said);
    assert_int_equal(sscanf(said, "here is process %d", &holder), 1);
    (void)snprintf(words, sizeof words, "node 7 of domain 1 is taken by process %d;", holder);
    assert_true(logged_says_once(words));
    assert_true(logged_says_once("MEDLEY_MAX_MUTEXES has no effect"));
    assert_true(logged_says_once("was created with 5 mutexes"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_say_what_raises_them),
        cmocka_unit_test(who_comes_later_is_told_what_is_settled),
        cmocka_unit_test(choice_goes_with_the_last_close),
        cmocka_unit_test(choice_goes_to_the_other_that_is_open),
        cmocka_unit_test(opens_and_closes_match),
        cmocka_unit_test(another_system_is_open),
        cmocka_unit_test(missing_folder_is_named),
        cmocka_unit_test(relative_folder_is_ignored),
        cmocka_unit_test(who_has_no_descriptor_left_is_advised),
        cmocka_unit_test(private_systems_have_no_image),
        cmocka_unit_test(removes_what_it_made),
        cmocka_unit_test(limit_of_file_size_is_told),
        cmocka_unit_test(missing_room_is_told),
        cmocka_unit_test(squatter_is_described),
        cmocka_unit_test(leftover_that_stays_is_an_error),
        cmocka_unit_test(comings_and_goings_are_told),
        cmocka_unit_test(unknown_level_is_told),
        cmocka_unit_test(canceled_thread_leaves_the_gate),
        /* These two read the level of the log in this process. */
        cmocka_unit_test(other_wishes_are_told),
        cmocka_unit_test(other_makers_are_described),
    };
    test_system_prepare();
    return cmocka_run_group_tests_name("mrapi/system", tests, NULL, NULL);
}
