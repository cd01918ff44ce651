/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The holder of a mutex with priority inheritance is dead, and the system has given his thread's
 * number to a stranger, who lives. The kernel takes the stranger for the holder; whoever wants the
 * mutex must get it all the same, once, and one at a time.
 *
 * The number is planted in the word, so that it is a stranger's wherever this runs; and, where that
 * is permitted, a process is started with the number that the holder had.
 */
#include "support/unit.h"

#include <linux/sched.h>
#include <sys/syscall.h>

#include "kill/survivor.h"
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/mutex_pi.h"
#include "mrapi/system.h"
#include "support/system.h"

#define SHORT_US 100000u

/* ---- Strangers ------------------------------------------------------------------------------- */

/* Lives, and knows nothing of the system. */
static int
stranger_body(test_process *parent, void *argument)
{
    (void)argument;
    process_say(parent, 's');
    (void)process_hear(parent);
    return 0;
}

static void
stranger_start(test_process *stranger)
{
    process_start(stranger, stranger_body, NULL);
    assert_int_equal(process_hear(stranger), 's');
}

static void
ends_killed(test_process *process)
{
    process_kill(process);
    assert_int_equal(process_join(process), -SIGKILL);
}

static med_mutex_row *
row_of(mrapi_mutex_hndl_t mutex)
{
    return (med_mutex_row *)(void *)med_table_row(&med_self_get()->system->mutexes,
                                                  med_handle_index(mutex));
}

static med_node_row *
node_row_of(uint32_t ref)
{
    return (med_node_row *)(void *)med_table_row(&med_self_get()->system->nodes,
                                                 med_node_ref_index(ref));
}

/* The mutex as a dead holder leaves it whose number is `number`; named: he wrote down who he is.
 * What is planted is what he would have left if he had had that number. */
static void
holder_leaves(mrapi_mutex_hndl_t mutex, uint32_t number, bool named)
{
    test_process holder;
    med_mutex_row *row = row_of(mutex);
    holder_start(&holder);
    ends_killed(&holder);
    uint32_t owner = atomic32_load_relaxed(&row->pi_owner);
    atomic32_store_relaxed(&node_row_of(owner)->thread_id, number);
    if (!named) {
        atomic32_store_relaxed(&node_row_of(owner)->waiting_for, mutex);
        atomic32_store_relaxed(&row->pi_owner, 0);
    }
    atomic32_store_release(&row->pi_word, number);
}

static void
whole_again(mrapi_mutex_hndl_t mutex, char expected)
{
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), expected);
    mutex_delete(mutex);
    system_is_whole();
}

/* ---- Who comes ------------------------------------------------------------------------------- */

static void
who_waits_gets_it(bool named)
{
    test_process stranger;
    mrapi_mutex_hndl_t mutex = mutex_make(PI);
    stranger_start(&stranger);
    holder_leaves(mutex, (uint32_t)stranger.pid, named);
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), 'd');
    whole_again(mutex, 'o');
    ends_killed(&stranger);
}

static void
named_holder_is_found(void **state)
{
    (void)state;
    WITHOUT_PI_SKIP();
    who_waits_gets_it(true);
}

static void
nameless_holder_is_found(void **state)
{
    (void)state;
    WITHOUT_PI_SKIP();
    who_waits_gets_it(false);
}

static void
nobody_gets_it_with_fail(void **state)
{
    (void)state;
    WITHOUT_PI_SKIP();
    for (int named = 0; named < 2; named++) {
        test_process stranger;
        mrapi_mutex_hndl_t mutex = mutex_make(PI);
        stranger_start(&stranger);
        holder_leaves(mutex, (uint32_t)stranger.pid, named);
        assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), 'n');
        whole_again(mutex, 'n');
        ends_killed(&stranger);
    }
}

static void
who_tries_or_deletes_finds_it(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    test_process stranger;
    (void)state;
    WITHOUT_PI_SKIP();
    stranger_start(&stranger);
    for (int named = 0; named < 2; named++) {
        mrapi_mutex_hndl_t mutex = mutex_make(PI);
        holder_leaves(mutex, (uint32_t)stranger.pid, named);
        assert_int_equal(mrapi_mutex_trylock(mutex, &key, &status), MRAPI_TRUE);
        assert_int_equal(medley_lock_owner_died(), 1);
        mrapi_mutex_unlock(mutex, &key, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        holder_leaves(mutex, (uint32_t)stranger.pid, named);
        mutex_delete(mutex);
        system_is_whole();
    }
    ends_killed(&stranger);
}

/* The number was given to the caller himself. */
static void
own_number_is_no_lock(void **state)
{
    (void)state;
    WITHOUT_PI_SKIP();
    for (int named = 0; named < 2; named++) {
        mrapi_mutex_hndl_t mutex = mutex_make(PI);
        holder_leaves(mutex, med_port_thread_id(), named);
        assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), 'd');
        whole_again(mutex, 'o');
    }
}

/* No thread has the number, nor ever had: scribbled over. */
static void
number_of_nobody_is_no_lock(void **state)
{
    (void)state;
    WITHOUT_PI_SKIP();
    static const uint32_t numbers[] = {1, 0x1fffffffu, MED_PORT_PI_DIED | 0x1ffffffeu,
                                       WAITERS_BIT | 2};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        mrapi_mutex_hndl_t mutex = mutex_make(PI);
        atomic32_store_relaxed(&row_of(mutex)->pi_word, numbers[i]);
        assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), 'd');
        whole_again(mutex, 'o');
    }
}

/* ---- Who sleeps ------------------------------------------------------------------------------ */

/* They go to sleep for a holder that lives, as far as anybody can see; then he is a stranger. */
static void
who_sleeps_learns(void **state)
{
    test_process stranger;
    test_process sleepers[2];
    (void)state;
    WITHOUT_PI_SKIP();
    mrapi_mutex_hndl_t mutex = mutex_make(PI);
    med_mutex_row *row = row_of(mutex);
    med_node_row *mine = med_self_get()->row;
    stranger_start(&stranger);
    /* The survivor is said to hold it, under the stranger's number. */
    uint32_t number = atomic32_load_relaxed(&mine->thread_id);
    atomic32_store_relaxed(&mine->thread_id, (uint32_t)stranger.pid);
    atomic32_store_relaxed(&row->pi_owner, med_self_get()->ref);
    atomic32_store_release(&row->pi_word, (uint32_t)stranger.pid);
    sleeper_start(&sleepers[0], SLEEPER_A);
    sleeper_start(&sleepers[1], SLEEPER_B);
    while (!(atomic32_load_relaxed(&row->pi_word) & WAITERS_BIT)) {
        med_port_yield(); /* one of them at least waits for the stranger */
    }
    atomic32_store_relaxed(&row->pi_owner, 0);
    atomic32_store_release(&mine->thread_id, number);
    int deaths = (process_hear(&sleepers[0]) == 'd') + (process_hear(&sleepers[1]) == 'd');
    assert_int_equal(deaths, 1);
    assert_int_equal(process_join(&sleepers[0]), 0);
    assert_int_equal(process_join(&sleepers[1]), 0);
    whole_again(mutex, 'o');
    ends_killed(&stranger);
}

/* In the middle of a slice that does not end. */
static int
waits_for_the_stranger(test_process *parent, void *argument)
{
    (void)argument;
    node_up(OTHER);
    med_mutex_row *row = row_of(mutex_get());
    uint32_t *word = &row->pi_word.value;
    process_say(parent, 'r');
    child_expect(process_hear(parent) == 'w');
    child_expect(med_port_pi_lock(word, MED_PORT_FOREVER, MED_PORT_SCOPE_SHARED) ==
                 MEDLEY_ERR_OWNER_DIED);
    child_expect(med_mutex_pi_thread(row) == med_port_thread_id());
    process_say(parent, 'd');
    child_expect(process_hear(parent) == 'u');
    child_expect(med_port_pi_unlock(word, MED_PORT_SCOPE_SHARED) == MEDLEY_OK);
    node_down();
    return 0;
}

/* As long as anybody waits for the stranger nobody has it, since that one gets it when the stranger
 * goes. */
static void
stranger_goes(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    test_process stranger;
    test_process waiter;
    (void)state;
    WITHOUT_PI_SKIP();
    mrapi_mutex_hndl_t mutex = mutex_make(PI);
    med_mutex_row *row = row_of(mutex);
    stranger_start(&stranger);
    process_start(&waiter, waits_for_the_stranger, NULL); /* who comes later finds the death */
    assert_int_equal(process_hear(&waiter), 'r');
    holder_leaves(mutex, (uint32_t)stranger.pid, true);
    process_say(&waiter, 'w');
    while (!(atomic32_load_relaxed(&row->pi_word) & WAITERS_BIT)) {
        med_port_yield();
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(mrapi_mutex_trylock(mutex, &key, &status), MRAPI_FALSE);
        assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED);
        assert_int_equal(lock_once(mutex, SHORT_US), 't');
    }
    ends_killed(&stranger);
    assert_int_equal(process_hear(&waiter), 'd');
    process_say(&waiter, 'u');
    assert_int_equal(process_join(&waiter), 0);
    whole_again(mutex, 'o');
}

/* ---- Who lives is not robbed ----------------------------------------------------------------- */

static void
living_holder_keeps_it(void **state)
{
    test_process holder;
    (void)state;
    WITHOUT_PI_SKIP();
    mrapi_mutex_hndl_t mutex = mutex_make(PI);
    med_mutex_row *row = row_of(mutex);
    holder_start(&holder);
    uint32_t owner = atomic32_load_relaxed(&row->pi_owner);
    uint32_t number = (uint32_t)holder.pid;
    for (int named = 1; named >= 0; named--) {
        /* Not named: as if he had not written down yet who he is. */
        atomic32_store_relaxed(&node_row_of(owner)->waiting_for, named ? 0 : mutex);
        atomic32_store_release(&row->pi_owner, named ? owner : 0);
        assert_int_equal(lock_once(mutex, 0), 't');
        assert_int_equal(lock_once(mutex, SHORT_US), 't');
        /* As if another node, of the same number, had died. */
        assert_int_equal(med_mutex_pi_bury(med_self_get()->system, 0, 64, number), MEDLEY_OK);
        assert_int_equal(atomic32_load_relaxed(&row->pi_word) & MED_PORT_PI_OWNER_MASK, number);
    }
    /* A node that has the number, and says that it has nothing to do with this mutex. */
    atomic32_store_release(&node_row_of(owner)->waiting_for, 0);
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), 'd');
    ends_killed(&holder);
    whole_again(mutex, 'o');
}

/* ---- It really happens ----------------------------------------------------------------------- */

/* A child with that number; -1 and errno. */
static pid_t
child_with_number(pid_t number)
{
    pid_t wanted[1] = {number};
    struct clone_args arguments = {
        .exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)wanted, .set_tid_size = 1};
    long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (pid == 0) {
        for (;;) {
            (void)syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0); /* what every processor has */
        }
    }
    return (pid_t)pid;
}

static void
number_is_given_again(void **state)
{
    test_process holder;
    test_process sleepers[2];
    (void)state;
    WITHOUT_PI_SKIP();
    mrapi_mutex_hndl_t mutex = mutex_make(PI);
    pid_t stranger;
    do {
        holder_start(&holder);
        ends_killed(&holder);
        stranger = child_with_number(holder.pid);
    } while (stranger < 0 && errno == EEXIST); /* another process was given it meanwhile */
    if (stranger < 0) {
        assert_true(errno == EPERM || errno == ENOSYS);
        mutex_delete(mutex);
        not_possible_here("no right to choose a process's number (CAP_CHECKPOINT_RESTORE)");
    }
    assert_int_equal(stranger, holder.pid);
    for (mrapi_node_t i = 0; i < 2; i++) {
        sleeper_begin(&sleepers[i], SLEEPER_A + i);
    }
    int deaths = (process_hear(&sleepers[0]) == 'd') + (process_hear(&sleepers[1]) == 'd');
    assert_int_equal(deaths, 1);
    assert_int_equal(process_join(&sleepers[0]), 0);
    assert_int_equal(process_join(&sleepers[1]), 0);
    assert_int_equal(kill(stranger, 0), 0); /* it is there all the time */
    (void)kill(stranger, SIGKILL);
    assert_int_equal(waitpid(stranger, NULL, 0), stranger);
    whole_again(mutex, 'o');
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SURVIVOR(named_holder_is_found),
        WITH_SURVIVOR(nameless_holder_is_found),
        WITH_SURVIVOR_FAIL(nobody_gets_it_with_fail),
        WITH_SURVIVOR(who_tries_or_deletes_finds_it),
        WITH_SURVIVOR(own_number_is_no_lock),
        WITH_SURVIVOR(number_of_nobody_is_no_lock),
        WITH_SURVIVOR(who_sleeps_learns),
        WITH_SURVIVOR(stranger_goes),
        WITH_SURVIVOR(living_holder_keeps_it),
        WITH_SURVIVOR(number_is_given_again),
    };
    test_system_prepare();
    (void)alarm(STUCK_AFTER_S);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
