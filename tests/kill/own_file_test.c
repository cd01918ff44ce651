/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program that opens the system's own file and closes it again, by which the kernel drops the
 * lock that shows that its process lives (fcntl(2)). The process is buried by nobody, what it holds
 * stays its own, and the next node that comes or waits takes the lock again and says so. And its
 * death is noticed as any other's, also when a child without fork's handlers has a copy of its
 * descriptors.
 */
#include "support/unit.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>

#include "kill/survivor.h"
#include "medley/medley.h"
#include "mrapi/system.h"
#include "support/logged.h"
#include "support/partition_file.h"
#include "support/system.h"

#define STRANGER 6

/* All that the mistake takes. */
static void
open_and_close(void)
{
    int fd = open(partition_path(test_system_name()), O_RDONLY | O_CLOEXEC);
    child_expect(fd >= 0);
    child_expect(close(fd) == 0);
}

static mrapi_mutex_hndl_t
hold_mutex(mrapi_node_t node)
{
    mrapi_status_t status;
    mrapi_key_t key;
    node_up(node);
    mrapi_mutex_hndl_t mutex = mutex_get();
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    child_expect(status == MRAPI_SUCCESS);
    return mutex;
}

/* A child that no handler of fork knows of, and that ends when nobody is left to tell it. For who
 * waits for it, it is its parent's brother. */
static void
leave_a_copy(const test_process *parent)
{
    if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0) {
        while (process_hear(parent)) {
        }
        _exit(0);
    }
}

static int
careless_body(test_process *parent, void *argument)
{
    (void)hold_mutex(HOLDER);
    if (argument) {
        leave_a_copy(parent);
    }
    open_and_close();
    process_say(parent, 'o');
    while (process_hear(parent) == 'k') {
        med_process_keep(med_self_get()->system);
        process_say(parent, 'k');
    }
    return 0;
}

static void
careless_start(test_process *careless, bool with_copy)
{
    process_start(careless, careless_body, with_copy ? careless : NULL);
    assert_int_equal(process_hear(careless), 'o');
}

static const med_system *
system_here(void)
{
    return med_self_get()->system;
}

/* The row of a process of that number. */
static uint32_t
row_of(pid_t pid)
{
    const med_system *system = system_here();
    uint32_t i = 0;
    while (i < system->limits.processes &&
           atomic32_load_relaxed(&med_system_process(system, i)->process_id) != (uint32_t)pid) {
        i++;
    }
    assert_true(i < system->limits.processes);
    return i;
}

static int
newcomer_body(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    node_up(STRANGER); /* looks at all processes */
    node_down();
    return 0;
}

static void
newcomer_comes_and_goes(void)
{
    test_process newcomer;
    process_start(&newcomer, newcomer_body, NULL);
    assert_int_equal(process_join(&newcomer), 0);
}

/* ---- Not buried ------------------------------------------------------------------------------ */

static void
nobody_buries_it(void **state)
{
    test_process careless;
    (void)state;
    mrapi_mutex_hndl_t mutex = mutex_make(0);
    careless_start(&careless, false);
    uint32_t row = row_of(careless.pid);
    assert_false(med_port_slot_held(&system_here()->shared, row)); /* it is really lost */
    assert_int_equal(med_process_recover_all(med_self_get()->system), 0);
    newcomer_comes_and_goes();
    assert_int_equal(lock_once(mutex, 200000), 't');
    process_say(&careless, 'k');
    assert_int_equal(process_hear(&careless), 'k');
    assert_true(med_port_slot_held(&system_here()->shared, row));
    process_kill(&careless);
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), 'd');
    (void)process_join(&careless);
    mutex_delete(mutex);
    system_is_whole();
}

static void
it_dies_as_any_other(void **state)
{
    (void)state;
    for (int with_copy = 0; with_copy < 2; with_copy++) {
        test_process careless;
        mrapi_mutex_hndl_t mutex = mutex_make(0);
        careless_start(&careless, with_copy);
        assert_int_equal(med_process_recover_all(med_self_get()->system), 0);
        process_kill(&careless); /* a zombie */
        assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), 'd');
        (void)process_join(&careless);
        assert_true(wait(NULL) > 0 || !with_copy);
        mutex_delete(mutex);
        system_is_whole();
    }
}

/* The house is full, so that a newcomer has to take a dead one's place. */
static void
its_place_is_not_taken(void **state)
{
    test_process careless;
    (void)state;
    (void)setenv("MEDLEY_MAX_PROCESSES", "2", 1);
    assert_int_equal(survivor_up(NULL), 0);
    mrapi_mutex_hndl_t mutex = mutex_make(0);
    careless_start(&careless, false);
    pid_t newcomer = fork();
    if (newcomer == 0) {
        _exit(medley_system_open(test_system_name()) == MEDLEY_ERR_LIMIT ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(newcomer, &status, 0), newcomer);
    assert_int_equal(status, 0);
    assert_int_equal(lock_once(mutex, 0), 't');
    process_kill(&careless);
    newcomer_comes_and_goes();
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), 'd');
    (void)process_join(&careless);
    mutex_delete(mutex);
    assert_int_equal(survivor_down(NULL), 0);
    (void)unsetenv("MEDLEY_MAX_PROCESSES");
}

/* ---- Alone ----------------------------------------------------------------------------------- */

static int
alone_body(test_process *parent, void *argument)
{
    (void)argument;
    node_up(HOLDER);
    (void)mutex_make(0);
    open_and_close();
    process_say(parent, 'o');
    (void)process_hear(parent);
    node_down();
    return 0;
}

/* The next start joins it, and does not make the system anew under its feet. */
static void
alone_it_is_joined(void **state)
{
    test_process alone;
    char why[MED_PORT_WHY_BYTES];
    (void)state;
    process_start(&alone, alone_body, NULL);
    assert_int_equal(process_hear(&alone), 'o');
    assert_int_equal(med_system_remove(test_system_name(), 0, why), MEDLEY_BUSY);
    node_up(SURVIVOR);
    (void)mutex_get(); /* its mutex is there */
    process_say(&alone, 'g');
    assert_int_equal(process_join(&alone), 0);
    mutex_delete(mutex_get());
    node_down();
    assert_false(partition_exists(test_system_name()));
}

/* ---- Told ------------------------------------------------------------------------------------ */

static int
taken_for_dead_body(void)
{
    node_up(HOLDER);
    med_system *system = med_self_get()->system;
    atomic32 *state = &med_system_process(system, system->process_index)->state;
    uint32_t mine = atomic32_load_relaxed(state);
    open_and_close();
    /* As others leave it who took it for dead. */
    atomic32_store_relaxed(state,
                           med_process_word(MED_PROCESS_FREE, 0, med_process_generation_of(mine)));
    med_process_keep(system);
    med_process_keep(system);
    child_expect(med_port_slot_keep(&system->shared, system->process_index) == MEDLEY_ERR_STALE);
    return 0;
}

static int
told_body(void)
{
    node_up(HOLDER);
    med_process_keep(med_self_get()->system);
    open_and_close();
    med_process_keep(med_self_get()->system);
    med_process_keep(med_self_get()->system);
    node_down();
    return 0;
}

static void
what_happened_is_said(void **state)
{
    (void)state;
    logged_run("error", told_body);
    assert_true(logged_says_once("this process had lost the lock that shows that it lives"));
    assert_true(logged_says("and has it again"));
    assert_true(logged_says(test_system_name()));
    logged_run("error", taken_for_dead_body);
    assert_true(logged_says_once("this process was taken for dead"));
    node_up(SURVIVOR); /* what it left behind is no obstacle */
    node_down();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SURVIVOR(nobody_buries_it),          WITH_SURVIVOR(it_dies_as_any_other),
        cmocka_unit_test(its_place_is_not_taken), cmocka_unit_test(alone_it_is_joined),
        cmocka_unit_test(what_happened_is_said),
    };
    test_system_prepare();
    (void)setenv("MEDLEY_LOG", "error", 1);
    (void)alarm(STUCK_AFTER_S);
    return cmocka_run_group_tests_name("own file", tests, NULL, NULL);
}
