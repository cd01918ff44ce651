/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Death without a kill: a process exits in the middle of it all, or closes descriptors that are not
 * its own. */
#include "support/unit.h"

#include <signal.h>

#include "kill/survivor.h"
#include "medley/mrapi_ext.h"
#include "mrapi/system.h"
#include "port/port.h"
#include "support/partition_file.h"
#include "support/segments.h"
#include "support/system.h"

/* ---- exit with a handler that finalizes ------------------------------------------------------ */

#define SHMEM 1
static test_process *who_hears;

static void
finalizes_when_told(void)
{
    process_say(who_hears, 'x');
    (void)process_hear(who_hears);
    node_down();
}

static int
leaves_by_a_handler(test_process *parent, void *argument)
{
    mrapi_status_t status;
    (void)argument;
    who_hears = parent;
    child_expect(atexit(finalizes_when_told) == 0);
    node_up(HOLDER);
    (void)mrapi_shmem_create(SHMEM, 64, NULL, 0, NULL, 0, &status);
    child_expect(status == MRAPI_SUCCESS);
    exit(0);
}

/* Who comes while handlers run that the program placed before it ever called us joins the system,
 * and what is in it stays. (The first test: a child of one who has called us inherits that our
 * handler, which stands there from the start, has something to do.)
 */
static void
handlers_of_the_program_come_first(void **state)
{
    test_process child;
    mrapi_status_t status;
    (void)state;
    process_start(&child, leaves_by_a_handler, NULL);
    assert_int_equal(process_hear(&child), 'x');
    assert_true(partition_exists(test_system_name()));
    node_up(SURVIVOR);
    mrapi_shmem_hndl_t shmem = mrapi_shmem_get(SHMEM, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    process_say(&child, 'g');
    assert_int_equal(process_join(&child), 0);
    assert_non_null(mrapi_shmem_attach(shmem, &status));
    mrapi_shmem_detach(shmem, &status);
    node_down();
    assert_false(partition_exists(test_system_name()));
    assert_int_equal(segments_count(test_system_name()), 0);
}

/* ---- exit without finalize ------------------------------------------------------------------- */

static int
leaves_by_exit(test_process *parent, void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)parent;
    node_up(HOLDER);
    if (argument) {
        mrapi_mutex_lock(mutex_get(), &key, MRAPI_TIMEOUT_INFINITE, &status);
        child_expect(status == MRAPI_SUCCESS);
    }
    exit(0);
}

static void
exit_while_others_live(void **state)
{
    test_process child;
    (void)state;
    mrapi_mutex_hndl_t mutex = mutex_make(0);
    process_start(&child, leaves_by_exit, &mutex);
    assert_int_equal(process_join(&child), 0);
    assert_true(partition_exists(test_system_name()));
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), 'd');
    mutex_delete(mutex);
    system_is_whole();
}

static void
exit_of_the_last(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, leaves_by_exit, NULL);
    assert_int_equal(process_join(&child), 0);
    assert_false(partition_exists(test_system_name()));
}

static int
exits_when_told(test_process *parent, void *argument)
{
    node_up((mrapi_node_t)(uintptr_t)argument);
    process_say(parent, 'u');
    (void)process_hear(parent);
    exit(0);
}

/* All at one time: each is still there for the others, and all are about to go. */
static void
exit_of_the_last_of_several(void **state)
{
    (void)state;
    for (int round = 0; round < 30; round++) {
        test_process children[3];
        for (int i = 0; i < 3; i++) {
            process_start(&children[i], exits_when_told, (void *)(uintptr_t)(HOLDER + i));
            assert_int_equal(process_hear(&children[i]), 'u');
        }
        for (int i = 0; i < 3; i++) {
            process_say(&children[i], 'g');
        }
        for (int i = 0; i < 3; i++) {
            assert_int_equal(process_join(&children[i]), 0);
        }
        assert_false(partition_exists(test_system_name()));
    }
}

/* Somebody is in the section, and stays: an exit does not wait for that. */
static void
exit_waits_for_nobody(void **state)
{
    test_process child;
    test_process keeper;
    (void)state;
    process_start(&child, exits_when_told, (void *)HOLDER);
    assert_int_equal(process_hear(&child), 'u');
    process_start(&keeper, section_keeper, NULL);
    assert_int_equal(process_hear(&keeper), 's');
    assert_int_equal(kill(keeper.pid, SIGSTOP), 0);
    process_say(&child, 'g');
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(kill(keeper.pid, SIGCONT), 0);
    process_say(&keeper, 'g');
    assert_int_equal(process_join(&keeper), 0);
    next_start_works();
}

/* ---- Descriptors that the program closes ----------------------------------------------------- */

static void *
wants_the_holders_number(void *argument)
{
    mrapi_info_t info;
    mrapi_initialize(DOMAIN, HOLDER, 0, &info, argument);
    return NULL;
}

#define DEAD_ROW 5u

/* A row that somebody else has begun to bury: a newcomer may hold its slot by now, which a process
 * that sees no slots cannot tell. */
static void
claims_no_dead_row(void)
{
    med_system *system = med_self_get()->system;
    atomic32 *state = &med_system_process(system, DEAD_ROW)->state;
    uint32_t free_word = atomic32_load_relaxed(state);
    uint32_t dead = med_process_word(MED_PROCESS_DEAD, 0, 3);
    child_expect(med_process_state_of(free_word) == MED_PROCESS_FREE);
    atomic32_store_relaxed(state, dead); /* relaxed: nobody else looks at this row */
    child_expect(!med_process_recover(system, DEAD_ROW));
    child_expect(atomic32_load_relaxed(state) == dead);
    atomic32_store_relaxed(state, free_word);
}

static int
closes_every_descriptor(test_process *parent, void *argument)
{
    mrapi_status_t status = MRAPI_SUCCESS;
    med_port_thread thread;
    node_up(OTHER);
    mrapi_mutex_hndl_t mutex = mutex_get();
    (void)argument;
    for (int fd = 0; fd < 256; fd++) {
        if (fd != parent->in && fd != parent->out && fd != STDERR_FILENO) {
            (void)close(fd);
        }
    }
    child_expect(med_port_thread_start(&thread, NULL, wants_the_holders_number, &status) ==
                 MEDLEY_OK);
    child_expect(med_port_thread_join(thread, NULL) == MEDLEY_OK);
    child_expect(status == MRAPI_ERR_NODE_INITIALIZED);
    process_say(parent, lock_once(mutex, 1000));
    claims_no_dead_row();
    node_down();
    return 0;
}

static void
blind_process_buries_nobody(void **state)
{
    test_process holder;
    test_process blind;
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    mrapi_mutex_hndl_t mutex = mutex_make(0);
    holder_start(&holder);
    process_start(&blind, closes_every_descriptor, NULL);
    assert_int_equal(process_hear(&blind), 't');
    assert_int_equal(process_join(&blind), 0);
    assert_int_equal(mrapi_mutex_trylock(mutex, &key, &status), MRAPI_FALSE);
    process_kill(&holder);
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), 'd');
    mutex_delete(mutex);
    system_is_whole();
    assert_int_equal(process_join(&holder), -SIGKILL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_of_the_program_come_first),
        WITH_SURVIVOR(exit_while_others_live),
        cmocka_unit_test(exit_of_the_last),
        cmocka_unit_test(exit_of_the_last_of_several),
        cmocka_unit_test(exit_waits_for_nobody),
        WITH_SURVIVOR(blind_process_buries_nobody),
    };
    test_system_prepare();
    (void)alarm(STUCK_AFTER_S);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
