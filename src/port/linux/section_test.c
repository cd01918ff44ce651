/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The section of a name: who is in it is alone, and leaves it, however he ends. */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "port/port.h"
#include "support/process.h"
#include "support/shared_name.h"
#include "support/unit.h"

#define ROUNDS 200
#define CHILDREN 3

/* ---- Alone ----------------------------------------------------------------------------------- */

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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(section_excludes_processes),           CASE(section_holds_through_removal),
        CASE(section_excludes_threads_of_any_name), CASE(dead_process_leaves_the_section),
        CASE(false_deadlock_is_waited_out),         CASE(try_does_not_wait),
        CASE(canceled_thread_leaves_the_section),
    };
    return cmocka_run_group_tests_name("port/linux/section", tests, NULL, NULL);
}
