/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * All process rows are taken, some by the dead. A newcomer takes a dead one's place, after it has
 * cleaned up behind it; and a newcomer that is killed at that leaves one dead, not two. One who
 * finds another cleaning up waits for that, as does who wants a dead one's row of the nodes.
 */
#include "support/unit.h"

#include <signal.h>

#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/process_life.h"
#include "mrapi/system.h"
#include "support/check.h"
#include "support/node.h"
#include "support/process.h"
#include "support/system.h"

#define SURVIVOR 1
#define HOLDER 2 /* and the next */
#define NEWCOMER 10
#define THREAD 11
#define HOUSE 3 /* processes that fit in */
#define ROUNDS 40

static int
holder_body(test_process *parent, void *argument)
{
    uint32_t number = *(const uint32_t *)argument;
    mrapi_status_t status;
    mrapi_key_t key;
    child_expect(initialize(HOLDER + number) == MRAPI_SUCCESS);
    mrapi_mutex_lock(mrapi_mutex_get(number, &status), &key, MRAPI_TIMEOUT_INFINITE, &status);
    child_expect(status == MRAPI_SUCCESS);
    process_say(parent, 'h');
    (void)process_hear(parent); /* until killed */
    return 1;
}

/* Attaches; what becomes of it is the caller's affair. */
static int
newcomer_body(test_process *parent, void *argument)
{
    mrapi_status_t status;
    (void)argument;
    child_expect(process_hear(parent) == 'g');
    child_expect(initialize(NEWCOMER) == MRAPI_SUCCESS);
    for (uint32_t number = 0; number < HOUSE - 1; number++) {
        mrapi_key_t key;
        mrapi_mutex_hndl_t mutex = mrapi_mutex_get(number, &status);
        mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
        child_expect(status == MRAPI_SUCCESS && medley_lock_owner_died());
        mrapi_mutex_unlock(mutex, &key, &status);
    }
    mrapi_finalize(&status);
    return 0;
}

/* The survivor sleeps meanwhile: nobody but the newcomer looks after the dead. */
static void
house_full_of_dead(void)
{
    test_process holders[HOUSE - 1];
    uint32_t numbers[HOUSE - 1];
    mrapi_status_t status;
    for (uint32_t i = 0; i < HOUSE - 1; i++) {
        numbers[i] = i;
        (void)mrapi_mutex_create(i, NULL, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        process_start(&holders[i], holder_body, &numbers[i]);
        assert_int_equal(process_hear(&holders[i]), 'h');
    }
    for (uint32_t i = 0; i < HOUSE - 1; i++) {
        process_kill(&holders[i]);
        assert_int_equal(process_join(&holders[i]), -SIGKILL);
    }
}

static void
house_empty(void)
{
    mrapi_status_t status;
    for (uint32_t i = 0; i < HOUSE - 1; i++) {
        mrapi_mutex_delete(mrapi_mutex_get(i, &status), &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    check_settle(med_self_get()->system);
    assert_int_equal(check_system(med_self_get()->system), 0);
}

static void
newcomer_takes_a_dead_ones_place(void **state)
{
    test_process newcomer;
    (void)state;
    house_full_of_dead();
    process_start(&newcomer, newcomer_body, NULL);
    process_say(&newcomer, 'g');
    assert_int_equal(process_join(&newcomer), 0);
    house_empty();
}

/* Killed a little later each round, from before it does anything to after all is done. */
static void
newcomer_is_killed_at_it(void **state)
{
    test_process newcomer;
    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        house_full_of_dead();
        process_start(&newcomer, newcomer_body, NULL);
        process_say(&newcomer, 'g');
        med_port_delay_ns((uint64_t)round * 10000u);
        process_kill(&newcomer);
        int ended = process_join(&newcomer);
        assert_true(ended == 0 || ended == -SIGKILL);
        house_empty();
    }
}

static void
living_keep_their_places(void **state)
{
    test_process holders[HOUSE - 1], newcomer;
    uint32_t numbers[HOUSE - 1];
    mrapi_status_t status;
    (void)state;
    for (uint32_t i = 0; i < HOUSE - 1; i++) {
        numbers[i] = i;
        (void)mrapi_mutex_create(i, NULL, &status);
        process_start(&holders[i], holder_body, &numbers[i]);
        assert_int_equal(process_hear(&holders[i]), 'h');
    }
    process_start(&newcomer, newcomer_body, NULL);
    process_say(&newcomer, 'g');
    assert_int_equal(process_join(&newcomer), 99); /* MRAPI_ERR_NODE_INITFAILED: no room */
    for (uint32_t i = 0; i < HOUSE - 1; i++) {
        process_kill(&holders[i]);
        assert_int_equal(process_join(&holders[i]), -SIGKILL);
    }
    check_settle(med_self_get()->system);
    house_empty();
}

/* ---- While another is at it ------------------------------------------------------------------ */

/* The rows of the dead processes, as a recoverer leaves them that is kept from the processor: the
 * tester, who lives. */
static void
recovery_begins(void)
{
    const med_system *system = med_self_get()->system;
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        atomic32 *state = &med_system_process(system, i)->state;
        uint32_t word = atomic32_load_acquire(state);
        if (med_process_state_of(word) == MED_PROCESS_LIVE && !med_process_slot_held(system, i)) {
            atomic32_store_release(state,
                                   med_process_word(MED_PROCESS_RECOVERING, system->process_index,
                                                    med_process_generation_of(word)));
        }
    }
}

static void
recovery_is_given_up(void)
{
    const med_system *system = med_self_get()->system;
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        atomic32 *state = &med_system_process(system, i)->state;
        uint32_t word = atomic32_load_acquire(state);
        if (med_process_state_of(word) == MED_PROCESS_RECOVERING) {
            atomic32_store_release(
                state, med_process_word(MED_PROCESS_DEAD, 0, med_process_generation_of(word)));
        }
    }
}

/* True: it is at it, and asleep; false: it has ended. */
static bool
waits(const test_process *child,
      bool (*at_it)(const test_process *child, void *context),
      void *context)
{
    siginfo_t info = {.si_pid = 0};
    while (!at_it(child, context) || !process_sleeps(child->pid)) {
        (void)waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT);
        if (info.si_pid) {
            return false;
        }
    }
    return true;
}

static bool
is_in_section(const test_process *child, void *context)
{
    uint32_t process_id;
    uint64_t since_ns;
    (void)context;
    return med_port_shared_section_look(&med_self_get()->system->shared, &process_id, &since_ns) &&
           process_id == (uint32_t)child->pid;
}

static void
newcomer_waits_for_a_place(void **state)
{
    test_process newcomer;
    (void)state;
    house_full_of_dead();
    recovery_begins();
    process_start(&newcomer, newcomer_body, NULL);
    process_say(&newcomer, 'g');
    assert_true(waits(&newcomer, is_in_section, NULL));
    recovery_is_given_up();
    assert_int_equal(process_join(&newcomer), 0);
    house_empty();
}

/* A process that was there before, and has no node yet. */
static int
nodeless_body(test_process *parent, void *argument)
{
    atomic32 *comes = argument;
    mrapi_status_t status;
    child_expect(medley_system_open(test_system_name()) == MEDLEY_OK);
    process_say(parent, 'o');
    child_expect(process_hear(parent) == 'g');
    atomic32_store_release(comes, 1);
    child_expect(initialize(NEWCOMER) == MRAPI_SUCCESS);
    mrapi_finalize(&status);
    child_expect(medley_system_close() == MEDLEY_OK);
    return 0;
}

static bool
is_coming(const test_process *child, void *context)
{
    (void)child;
    return atomic32_load_acquire((atomic32 *)context) != 0;
}

static void *
ends_at_once(void *argument)
{
    return argument;
}

/* As many nodes as there may be: the tester's two, and the dead one's. */
static void
node_waits_for_a_place(void **state)
{
    static uint32_t number = 0;
    mrapi_thread_parameters_t parameters = {.start_routine = ends_at_once};
    atomic32 *comes = process_shared_memory(sizeof *comes);
    test_process holder, nodeless;
    mrapi_status_t status;
    (void)state;
    (void)mrapi_mutex_create(number, NULL, &status);
    process_start(&holder, holder_body, &number);
    assert_int_equal(process_hear(&holder), 'h');
    process_start(&nodeless, nodeless_body, comes);
    assert_int_equal(process_hear(&nodeless), 'o');
    /* Behind both forks: TSan takes the threads of who forked for the child's, who joins none. */
    mrapi_thread_create(DOMAIN, THREAD, &parameters, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    process_kill(&holder);
    recovery_begins();
    process_say(&nodeless, 'g');
    assert_true(waits(&nodeless, is_coming, comes));
    recovery_is_given_up();
    assert_int_equal(process_join(&nodeless), 0);
    (void)process_join(&holder);
    mrapi_thread_join(DOMAIN, THREAD, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_mutex_delete(mrapi_mutex_get(number, &status), &status);
    check_settle(med_self_get()->system);
    assert_int_equal(check_system(med_self_get()->system), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newcomer_takes_a_dead_ones_place),
        cmocka_unit_test(newcomer_is_killed_at_it),
        cmocka_unit_test(living_keep_their_places),
        cmocka_unit_test(newcomer_waits_for_a_place),
        cmocka_unit_test(node_waits_for_a_place),
    };
    test_system_prepare();
    (void)setenv("MEDLEY_MAX_PROCESSES", "3", 1);
    (void)setenv("MEDLEY_MAX_NODES", "3", 1);
    if (initialize(SURVIVOR) != MRAPI_SUCCESS) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mrapi_status_t status;
    mrapi_finalize(&status);
    return failed;
}
