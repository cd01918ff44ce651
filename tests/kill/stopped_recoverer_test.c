/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A process that is stopped while it recovers dead ones, two at once: whoever waits for a mutex of
 * either takes over. And one that is stopped with the table of nodes locked, besides: who waits for
 * a dead one's mutex does not wait for that table.
 */
#include "support/unit.h"

#include <signal.h>

#include "kill/survivor.h"
#include "medley/mrapi_ext.h"
#include "mrapi/process_life.h"
#include "mrapi/system.h"
#include "support/system.h"

#define DEAD 2
#define SOON_US 10000u /* far from how long a recoverer must have been seen */

static mrapi_mutex_hndl_t mutexes[DEAD];
static test_process holders[DEAD];
static test_process recoverer;

/* ---- The dead, and who is at their recovery -------------------------------------------------- */

static int
holds(test_process *parent, void *argument)
{
    uint32_t number = *(const uint32_t *)argument;
    mrapi_status_t status;
    mrapi_key_t key;
    node_up(HOLDER + number);
    mrapi_mutex_lock(mutexes[number], &key, MRAPI_TIMEOUT_INFINITE, &status);
    child_expect(status == MRAPI_SUCCESS);
    process_say(parent, 'h');
    (void)process_hear(parent); /* until killed */
    return 1;
}

static medley_status_t
stops(void *context)
{
    (void)context;
    return raise(SIGSTOP) == 0 ? MEDLEY_OK : MEDLEY_ERR_SYSTEM;
}

static int
recovers(test_process *parent, void *argument)
{
    bool has_table = *(const bool *)argument;
    (void)parent;
    node_up(OTHER);
    const med_table_view *nodes = &med_self_get()->system->nodes;
    child_expect((has_table ? med_table_hold(nodes, stops, NULL) : stops(NULL)) == MEDLEY_OK);
    node_down();
    return 0;
}

static uint32_t
row_of(pid_t process_id)
{
    const med_system *system = med_self_get()->system;
    uint32_t index = 0;
    while (index < system->limits.processes &&
           atomic32_load_relaxed(&med_system_process(system, index)->process_id) !=
               (uint32_t)process_id) {
        index++;
    }
    assert_true(index < system->limits.processes);
    return index;
}

/* The recoverer's threads are stopped right behind their claims, one for each of the dead. */
static void
two_are_at_it(bool has_table)
{
    mrapi_status_t status;
    uint32_t numbers[DEAD];
    for (uint32_t i = 0; i < DEAD; i++) {
        numbers[i] = i;
        mutexes[i] = mrapi_mutex_create(MUTEX + i, NULL, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        process_start(&holders[i], holds, &numbers[i]);
        assert_int_equal(process_hear(&holders[i]), 'h');
    }
    process_start(&recoverer, recovers, &has_table);
    assert_true(process_await_stop(recoverer.pid));
    for (uint32_t i = 0; i < DEAD; i++) {
        uint32_t index = row_of(holders[i].pid);
        atomic32 *state = &med_system_process(med_self_get()->system, index)->state;
        uint32_t generation = med_process_generation_of(atomic32_load_acquire(state));
        process_kill(&holders[i]);
        atomic32_store_release(
            state, med_process_word(MED_PROCESS_RECOVERING, row_of(recoverer.pid), generation));
    }
}

static int
ended(test_process *child)
{
    int how = process_join(child);
    child->pid = 0;
    return how;
}

static void
it_goes_on(void)
{
    assert_int_equal(kill(recoverer.pid, SIGCONT), 0);
    assert_int_equal(ended(&recoverer), 0);
    for (uint32_t i = 0; i < DEAD; i++) {
        assert_int_equal(ended(&holders[i]), -SIGKILL);
        mutex_delete(mutexes[i]);
    }
    system_is_whole();
}

/* Whom a test that failed left behind. */
static int
down(void **state)
{
    test_process *all[] = {&recoverer, &holders[0], &holders[1]};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i]->pid) {
            process_kill(all[i]);
            (void)ended(all[i]);
        }
    }
    return survivor_down(state);
}

/* ---- Who waits for their mutexes ------------------------------------------------------------- */

/* Who has waited for one of them need not wait as long again for the other. */
static void
both_are_taken_over(void **state)
{
    (void)state;
    two_are_at_it(false);
    assert_int_equal(lock_once(mutexes[0], MRAPI_TIMEOUT_INFINITE), 'd');
    assert_int_equal(lock_once(mutexes[1], SOON_US), 'd');
    it_goes_on();
}

/* Who asked for one, and left it at that, has the other all the same. */
static void
one_is_taken_over_for_another(void **state)
{
    (void)state;
    two_are_at_it(false);
    assert_int_equal(lock_once(mutexes[0], SOON_US), 't');
    assert_int_equal(lock_once(mutexes[1], MRAPI_TIMEOUT_INFINITE), 'd');
    assert_int_equal(lock_once(mutexes[0], SOON_US), 'd');
    it_goes_on();
}

/* The mutexes come free, the rows when the table does; and nobody has waited for that. */
static void
its_table_is_not_waited_for(void **state)
{
    med_system *system = med_self_get()->system;
    (void)state;
    two_are_at_it(true);
    assert_int_equal(lock_once(mutexes[0], MRAPI_TIMEOUT_INFINITE), 'd');
    assert_int_equal(lock_once(mutexes[1], SOON_US), 'd');
    assert_int_equal(atomic32_load_relaxed(&system->tables_given_up[MED_KIND_NODE]), 0);
    for (uint32_t i = 0; i < DEAD; i++) {
        assert_true(med_node_is_there(system, DOMAIN, HOLDER + i));
    }
    it_goes_on();
}

int
main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, survivor_up, down)
    const struct CMUnitTest tests[] = {
        CASE(both_are_taken_over),
        CASE(one_is_taken_over_for_another),
        CASE(its_table_is_not_waited_for),
    };
    test_system_prepare();
    (void)alarm(STUCK_AFTER_S);
    return cmocka_run_group_tests_name("stopped recoverer", tests, NULL, NULL);
}
