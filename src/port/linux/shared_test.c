/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Named shared memory, with real processes. MEDLEY_SHM_DIR moves all of it to another folder (a
 * file system of another kind, a full one).
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "port/port.h"
#include "support/mounts.h"
#include "support/process.h"
#include "support/unit.h"

#define PAGE 4096u
#define ROUNDS 200
#define CHILDREN 3

static char name[MED_PORT_NAME_MAX + 1];

static const char *
folder(void)
{
    const char *chosen = getenv("MEDLEY_SHM_DIR");
    return chosen ? chosen : "/dev/shm";
}

/* The file of the name; valid until the next call. */
static const char *
file_path(void)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/medley-%u-%s", folder(), (unsigned)geteuid(), name);
    return path;
}

static int
set_up(void **state)
{
    (void)state;
    (void)snprintf(name, sizeof name, "shared_test.%d", (int)getpid());
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    (void)unlink(file_path());
    return 0;
}

static void
open_ok(med_port_shared *shared)
{
    assert_int_equal(med_port_shared_open_until(name, MED_PORT_FOREVER, shared), MEDLEY_OK);
}

static void
file_make(mode_t mode)
{
    int fd = open(file_path(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0);
    (void)close(fd);
}

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

/* ---- The section ----------------------------------------------------------------------------- */

/* Everybody who is inside sets a flag that lies outside of the memory in question, and finds it
 * unset. */

typedef struct arena {
    uint32_t inside;
    uint32_t overlaps;
    uint32_t entered;
} arena;

static void
arena_visit(arena *a)
{
    a->overlaps += __atomic_exchange_n(&a->inside, 1, __ATOMIC_ACQUIRE) != 0;
    med_port_yield();
    a->entered++;
    __atomic_store_n(&a->inside, 0, __ATOMIC_RELEASE);
}

static int
locks_and_unlocks(test_process *parent, void *argument)
{
    arena *a = argument;
    med_port_shared shared;
    child_expect(med_port_shared_open_until(name, MED_PORT_FOREVER, &shared) == MEDLEY_OK);
    arena_visit(a);
    med_port_shared_unlock(&shared);
    child_expect(process_hear(parent) == 'g');
    for (int i = 0; i < ROUNDS; i++) {
        child_expect(med_port_shared_lock_until(&shared, MED_PORT_FOREVER) == MEDLEY_OK);
        arena_visit(a);
        med_port_shared_unlock(&shared);
    }
    med_port_shared_close(&shared);
    return 0;
}

/* Opens, and leaves by removing: so the others' files go away under their hands. */
static int
opens_and_removes(test_process *parent, void *argument)
{
    arena *a = argument;
    child_expect(process_hear(parent) == 'g');
    for (int i = 0; i < ROUNDS; i++) {
        med_port_shared shared;
        struct stat held;
        struct stat named;
        child_expect(med_port_shared_open_until(name, MED_PORT_FOREVER, &shared) == MEDLEY_OK);
        arena_visit(a);
        child_expect(fstat((int)shared.handle, &held) == 0 && stat(file_path(), &named) == 0);
        child_expect(held.st_ino == named.st_ino);
        if (i % 3 != 0) {
            med_port_shared_remove(&shared);
        }
        med_port_shared_close(&shared);
    }
    return 0;
}

static void
children_are_alone(int (*body)(test_process *, void *), uint32_t visits)
{
    test_process children[CHILDREN];
    arena *a = process_shared_memory(sizeof *a);
    for (int i = 0; i < CHILDREN; i++) {
        process_start(&children[i], body, a);
    }
    for (int i = 0; i < CHILDREN; i++) {
        process_say(&children[i], 'g');
    }
    for (int i = 0; i < CHILDREN; i++) {
        assert_int_equal(process_join(&children[i]), 0);
    }
    assert_int_equal(a->overlaps, 0);
    assert_int_equal(a->entered, CHILDREN * visits);
    (void)munmap(a, sizeof *a);
}

static void
section_excludes_processes(void **state)
{
    (void)state;
    children_are_alone(locks_and_unlocks, ROUNDS + 1);
}

static void
section_holds_through_removal(void **state)
{
    (void)state;
    children_are_alone(opens_and_removes, ROUNDS);
}

typedef struct visitor {
    med_port_shared shared;
    arena *where;
    bool failed;
} visitor;

static void *
visits_as_thread(void *argument)
{
    visitor *v = argument;
    for (int i = 0; i < ROUNDS; i++) {
        v->failed |= med_port_shared_lock_until(&v->shared, MED_PORT_FOREVER) != MEDLEY_OK;
        arena_visit(v->where);
        med_port_shared_unlock(&v->shared);
    }
    return NULL;
}

static void
section_excludes_threads_of_any_name(void **state)
{
    visitor visitors[2] = {{.failed = false}, {.failed = false}};
    med_port_thread threads[2];
    arena a = {0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        (void)snprintf(name, sizeof name, "shared_test.%d.%d", (int)getpid(), i);
        open_ok(&visitors[i].shared);
        med_port_shared_remove(&visitors[i].shared);
        med_port_shared_unlock(&visitors[i].shared);
        visitors[i].where = &a;
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(med_port_thread_start(&threads[i], NULL, visits_as_thread, &visitors[i]),
                         MEDLEY_OK);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(med_port_thread_join(threads[i], NULL), MEDLEY_OK);
        assert_false(visitors[i].failed);
        med_port_shared_close(&visitors[i].shared);
    }
    assert_int_equal(a.overlaps, 0);
    assert_int_equal(a.entered, 2 * ROUNDS);
}

static int
enters_and_waits(test_process *parent, void *argument)
{
    med_port_shared shared;
    med_port_shared_forget(argument);
    child_expect(med_port_shared_open_until(name, MED_PORT_FOREVER, &shared) == MEDLEY_OK);
    process_say(parent, 'i');
    (void)process_hear(parent);
    return 0;
}

static void
dead_process_leaves_the_section(void **state)
{
    test_process child;
    med_port_shared shared;
    (void)state;
    process_start(&child, enters_and_waits, NULL);
    assert_int_equal(process_hear(&child), 'i');
    process_kill(&child);
    open_ok(&shared); /* while the dead one is still a zombie */
    med_port_shared_close(&shared);
    assert_int_equal(process_join(&child), -SIGKILL);
}

/* Waits for a lock of the program's own that the parent holds, by another thread than the one in
 * the section: the kernel sees a circle when the parent waits for the section. */
typedef struct circle {
    int fd; /* of a file that has nothing to do with Medley */
    med_port_shared *inherited;
    uint32_t about_to_lock;
} circle;

static uint32_t waiter_id;

static void *
waits_for_a_lock_of_the_program(void *argument)
{
    const circle *c = argument;
    __atomic_store_n(&waiter_id, med_port_thread_id(), __ATOMIC_RELEASE);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    (void)fcntl(c->fd, F_SETLKW, &lock);
    return NULL;
}

static void
thread_sleeps_await(const uint32_t *id)
{
    uint32_t known;
    do {
        med_port_yield();
        known = __atomic_load_n(id, __ATOMIC_ACQUIRE);
    } while (known == 0 || !process_sleeps((pid_t)known));
}

static int
closes_the_circle(test_process *parent, void *argument)
{
    circle *c = argument;
    med_port_shared shared;
    med_port_thread thread;
    med_port_shared_forget(c->inherited);
    child_expect(med_port_shared_open_until(name, MED_PORT_FOREVER, &shared) == MEDLEY_OK);
    child_expect(med_port_thread_start(&thread, NULL, waits_for_a_lock_of_the_program, c) ==
                 MEDLEY_OK);
    thread_sleeps_await(&waiter_id);
    process_say(parent, 'w');
    while (!__atomic_load_n(&c->about_to_lock, __ATOMIC_ACQUIRE)) {
        med_port_yield();
    }
    for (int i = 0; i < 10000; i++) { /* gives the parent time to be refused, often */
        med_port_yield();
    }
    med_port_shared_unlock(&shared);
    (void)process_hear(parent);
    return 0;
}

static void
false_deadlock_is_waited_out(void **state)
{
    circle *c = process_shared_memory(sizeof *c);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    med_port_shared shared;
    test_process child;
    FILE *file = tmpfile();
    (void)state;
    assert_non_null(file);
    c->fd = fileno(file);
    assert_int_equal(fcntl(c->fd, F_SETLK, &lock), 0);
    open_ok(&shared);
    med_port_shared_unlock(&shared);
    c->inherited = &shared;
    process_start(&child, closes_the_circle, c);
    assert_int_equal(process_hear(&child), 'w');
    __atomic_store_n(&c->about_to_lock, 1, __ATOMIC_RELEASE);
    assert_int_equal(med_port_shared_lock_until(&shared, MED_PORT_FOREVER), MEDLEY_OK);
    med_port_shared_close(&shared);
    process_say(&child, 'g');
    assert_int_equal(process_join(&child), 0);
    (void)fclose(file);
    (void)munmap(c, sizeof *c);
}

static void
try_does_not_wait(void **state)
{
    test_process child;
    med_port_shared shared;
    (void)state;
    open_ok(&shared);
    med_port_shared_unlock(&shared);
    assert_int_equal(med_port_shared_lock_until(&shared, 0), MEDLEY_OK);
    med_port_shared_unlock(&shared);
    process_start(&child, enters_and_waits, &shared);
    assert_int_equal(process_hear(&child), 'i');
    assert_int_equal(med_port_shared_lock_until(&shared, 0), MEDLEY_TIMEOUT);
    process_say(&child, 'g');
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(med_port_shared_lock_until(&shared, 0), MEDLEY_OK);
    med_port_shared_close(&shared);
}

/* ---- Somebody stays in the section ----------------------------------------------------------- */

static int
enters_and_stops(test_process *parent, void *argument)
{
    med_port_shared shared;
    (void)parent;
    med_port_shared_forget(argument);
    child_expect(med_port_shared_open_until(name, MED_PORT_FOREVER, &shared) == MEDLEY_OK);
    child_expect(med_port_slot_claim(&shared, 3) == MEDLEY_OK);
    child_expect(raise(SIGSTOP) == 0);
    med_port_shared_unlock(&shared);
    (void)process_hear(parent);
    return 0;
}

static void
process_is_named(const char *why, pid_t pid)
{
    static const char *const forms[] = {"process %d has it locked", "'kill -CONT %d'",
                                        "'kill -9 %d'"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char words[64];
        (void)snprintf(words, sizeof words, forms[i], (int)pid);
        assert_non_null(strstr(why, words));
    }
}

static void
stopped_process_is_named(void **state)
{
    test_process child;
    med_port_shared shared;
    (void)state;
    process_start(&child, enters_and_stops, NULL);
    assert_true(process_await_stop(child.pid));
    assert_int_equal(med_port_shared_open_until(name, 0, &shared), MEDLEY_TIMEOUT);
    process_is_named(shared.why, child.pid);
    uint64_t soon_ns = med_port_clock_ns() + 10000000;
    assert_int_equal(med_port_shared_open_existing_until(name, soon_ns, &shared), MEDLEY_TIMEOUT);
    assert_true(med_port_clock_ns() >= soon_ns);
    process_is_named(shared.why, child.pid);
    assert_int_equal(kill(child.pid, SIGCONT), 0);
    open_ok(&shared);
    assert_true(med_port_slot_held(&shared, 3));
    med_port_shared_close(&shared);
    process_say(&child, 'g');
    assert_int_equal(process_join(&child), 0);
}

static void
stopped_process_is_named_to_who_comes_again(void **state)
{
    test_process child;
    med_port_shared shared;
    (void)state;
    open_ok(&shared);
    med_port_shared_unlock(&shared);
    process_start(&child, enters_and_stops, &shared);
    assert_true(process_await_stop(child.pid));
    assert_int_equal(med_port_shared_lock_until(&shared, 0), MEDLEY_TIMEOUT);
    process_is_named(shared.why, child.pid);
    process_kill(&child);
    assert_int_equal(med_port_shared_lock_until(&shared, 0), MEDLEY_OK);
    med_port_shared_close(&shared);
    assert_int_equal(process_join(&child), -SIGKILL);
}

/* One who has no number for the holder. */
static int
looks_from_another_namespace(test_process *parent, void *argument)
{
    med_port_shared shared;
    (void)parent;
    med_port_shared_forget(argument);
    child_expect(med_port_shared_open_until(name, 0, &shared) == MEDLEY_TIMEOUT);
    child_expect(strstr(shared.why, "cannot be seen from here (of another container"));
    return 0;
}

/* The first child after it is in the new namespace. 77: not permitted. */
static int
makes_a_namespace(test_process *parent, void *argument)
{
    test_process child;
    (void)parent;
    if (!namespace_of_ones_own(CLONE_NEWPID)) {
        return 77;
    }
    process_start(&child, looks_from_another_namespace, argument);
    return process_join(&child);
}

static void
process_of_another_namespace_is_described(void **state)
{
    test_process child;
    med_port_shared shared;
    (void)state;
    open_ok(&shared);
    process_start(&child, makes_a_namespace, &shared);
    int status = process_join(&child);
    med_port_shared_close(&shared);
    if (status == 77) {
        not_possible_here("no PID namespace of one's own");
    }
    assert_int_equal(status, 0);
}

static void *
enters_others(void *argument)
{
    med_port_shared *others = argument;
    char third[sizeof name + 8];
    (void)snprintf(third, sizeof third, "%s.third", name);
    bool both = med_port_shared_lock_until(&others[0], 0) == MEDLEY_TIMEOUT &&
                med_port_shared_open_until(third, 0, &others[1]) == MEDLEY_TIMEOUT;
    return (void *)(uintptr_t)both;
}

static void
thread_in_the_section_is_described(void **state)
{
    med_port_shared shared;
    med_port_shared others[2];
    med_port_thread thread;
    void *both;
    (void)state;
    (void)snprintf(name, sizeof name, "shared_test.%d.other", (int)getpid());
    open_ok(&others[0]);
    med_port_shared_remove(&others[0]);
    med_port_shared_unlock(&others[0]);
    (void)set_up(state);
    open_ok(&shared);
    assert_int_equal(med_port_thread_start(&thread, NULL, enters_others, others), MEDLEY_OK);
    assert_int_equal(med_port_thread_join(thread, &both), MEDLEY_OK);
    med_port_shared_close(&shared);
    med_port_shared_close(&others[0]);
    assert_true(both);
    assert_non_null(strstr(others[0].why, "another thread of this process"));
    assert_non_null(strstr(others[1].why, "another thread of this process"));
}

static void
aside_waits_for_nobody(void **state)
{
    test_process child;
    med_port_shared shared;
    (void)state;
    assert_int_equal(med_port_shared_open_aside(name, &shared), MEDLEY_ERR_NOT_FOUND);
    process_start(&child, enters_and_stops, NULL);
    assert_true(process_await_stop(child.pid));
    assert_int_equal(truncate(file_path(), PAGE), 0);
    assert_int_equal(med_port_shared_open_aside(name, &shared), MEDLEY_OK);
    assert_false(shared.in_section);
    assert_int_equal(shared.size_bytes, PAGE);
    assert_string_equal(shared.name, name);
    assert_int_equal(med_port_shared_lock_until(&shared, 0), MEDLEY_TIMEOUT);
    assert_int_equal(med_port_shared_map(&shared), MEDLEY_OK);
    assert_true(med_port_slot_held(&shared, 3));
    process_kill(&child);
    assert_false(med_port_slot_held(&shared, 3));
    med_port_shared_close(&shared);
    assert_int_equal(process_join(&child), -SIGKILL);
    assert_int_equal(med_port_shared_open_aside(name, &shared), MEDLEY_EMPTY);
    open_ok(&shared); /* nothing of it is left open, or locked */
    med_port_shared_close(&shared);
}

/* ---- Cancellation ---------------------------------------------------------------------------- */

static uint32_t canceled_id;

static void *
enters_and_leaves(void *argument)
{
    __atomic_store_n(&canceled_id, med_port_thread_id(), __ATOMIC_RELEASE);
    if (med_port_shared_lock_until(argument, MED_PORT_FOREVER) == MEDLEY_OK) {
        med_port_shared_unlock(argument);
    }
    pthread_testcancel();
    return NULL;
}

static void
canceled_thread_leaves_the_section(void **state)
{
    test_process child;
    med_port_shared shared;
    pthread_t thread;
    void *result;
    (void)state;
    open_ok(&shared);
    med_port_shared_unlock(&shared);
    process_start(&child, enters_and_waits, &shared);
    assert_int_equal(process_hear(&child), 'i');
    assert_int_equal(pthread_create(&thread, NULL, enters_and_leaves, &shared), 0);
    thread_sleeps_await(&canceled_id);
    assert_int_equal(pthread_cancel(thread), 0);
    process_say(&child, 'g');
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(med_port_shared_lock_until(&shared, 0), MEDLEY_OK);
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
    assert_string_equal(shared.why, strerror(EMFILE));
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

/* ---- Fork ------------------------------------------------------------------------------------ */

static int
is_mapped(test_process *parent, void *argument)
{
    (void)parent;
    return msync(argument, PAGE, MS_ASYNC) == 0 ? 1 : 0; /* ENOMEM: nothing is mapped there */
}

/* Some emulators take no notice of MADV_DONTFORK. */
static bool
machine_can_withhold_mappings(void)
{
    test_process child;
    void *p = process_shared_memory(PAGE);
    assert_int_equal(madvise(p, PAGE, MADV_DONTFORK), 0);
    process_start(&child, is_mapped, p);
    int status = process_join(&child);
    (void)munmap(p, PAGE);
    return status == 0;
}

static int
forgets(test_process *parent, void *argument)
{
    med_port_shared *shared = argument;
    int inherited = is_mapped(parent, shared->address);
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
    if (!machine_can_withhold_mappings()) {
        not_possible_here("the emulator lets children inherit every mapping");
    }
    assert_int_equal(first, 0);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(bad_names_are_refused),
        CASE(longest_name_is_kept_whole),
        CASE(second_open_exists),
        CASE(too_many_names_are_a_limit),
        CASE(list_shows_names),
        CASE(contents_are_shared),
        CASE(resize_gives_zeros),
        CASE(full_file_system_is_no_memory),
        CASE(other_modes_are_refused),
        CASE(symlink_is_refused),
        CASE(hard_link_is_refused),
        CASE(folder_and_fifo_are_refused),
        CASE(other_owner_is_refused),
        CASE(failed_open_leaves_the_section),
        CASE(section_excludes_processes),
        CASE(section_holds_through_removal),
        CASE(section_excludes_threads_of_any_name),
        CASE(dead_process_leaves_the_section),
        CASE(false_deadlock_is_waited_out),
        CASE(try_does_not_wait),
        CASE(stopped_process_is_named),
        CASE(stopped_process_is_named_to_who_comes_again),
        CASE(process_of_another_namespace_is_described),
        CASE(thread_in_the_section_is_described),
        CASE(aside_waits_for_nobody),
        CASE(canceled_thread_leaves_the_section),
        CASE(refusals_say_why),
        CASE(no_descriptor_is_not_full_memory),
        CASE(failing_removal_is_told),
        CASE(child_of_fork_forgets),
    };
    return cmocka_run_group_tests_name("port/linux/shared", tests, NULL, NULL);
}
