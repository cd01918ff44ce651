/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A mutex with priority inheritance is deleted while others sleep for it, and its row is another's
 * before they have woken: the table has one row, or two. Who has the new mutex keeps it, who slept
 * for the former one never has it, and what becomes of him is none of its business.
 */
#include "support/unit.h"

#include <pthread.h>

#include "kill/survivor.h"
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/mutex_pi.h"
#include "mrapi/system.h"
#include "support/system.h"

#define ROUNDS 400
#define SLEEPERS 2
#define NONE_YET 1u /* no handle */
#define SLEEPS_IN_A_SLICE 6u

static med_mutex_row *
row_of(mrapi_mutex_hndl_t mutex)
{
    return (med_mutex_row *)(void *)med_table_row(&med_self_get()->system->mutexes,
                                                  med_handle_index(mutex));
}

static void
waits_somebody(const med_mutex_row *row)
{
    while (!(atomic32_load_relaxed(&row->pi_word) & WAITERS_BIT)) {
        med_port_yield();
    }
}

/* ---- Many rounds ----------------------------------------------------------------------------- */

typedef struct contest {
    atomic32 mutex; /* that the holder has; NONE_YET; 0: the end */
    atomic32 had;   /* how often a sleeper had one */
    atomic32 odd;   /* how often he was told anything but that it is gone */
} contest;

typedef struct contender {
    pthread_t thread;
    mrapi_node_t number;
    atomic32 waits_for; /* the mutex that he is about to lock */
} contender;

/* Not the test's: where it fails, they go on. */
static contest all;
static contender contenders[SLEEPERS];

static void *
contender_body(void *argument)
{
    contender *own = argument;
    uint32_t last = NONE_YET;
    node_up(own->number);
    for (;;) {
        mrapi_status_t status;
        mrapi_key_t key;
        uint32_t mutex = atomic32_load_acquire(&all.mutex);
        if (mutex == 0) {
            break;
        }
        if (mutex == last) {
            med_port_yield();
            continue;
        }
        last = mutex;
        atomic32_store_release(&own->waits_for, mutex);
        mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
        if (status == MRAPI_SUCCESS) {
            (void)atomic32_fetch_add_relaxed(&all.had, 1);
            mrapi_mutex_unlock(mutex, &key, &status);
        } else if (status != MRAPI_ERR_MUTEX_INVALID && status != MRAPI_ERR_MUTEX_DELETED) {
            (void)atomic32_fetch_add_relaxed(&all.odd, 1);
        }
    }
    node_down();
    return NULL;
}

/* The holder makes one, has it until both wait for it, and deletes it. */
static void
round_holds(void)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_hndl_t mutex = mutex_make(PI);
    /* One of those who slept for the last may come to its word only now, by his old handle. */
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(medley_lock_owner_died(), 0);
    atomic32_store_release(&all.mutex, mutex);
    for (int i = 0; i < SLEEPERS; i++) {
        while (atomic32_load_acquire(&contenders[i].waits_for) != mutex) {
            med_port_yield();
        }
    }
    waits_somebody(row_of(mutex));
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED); /* it is the holder's still */
    mutex_delete(mutex);
}

static void
holder_keeps_the_next_one(void **state)
{
    (void)state;
    WITHOUT_PI_SKIP();
    atomic32_store_release(&all.mutex, NONE_YET);
    for (mrapi_node_t i = 0; i < SLEEPERS; i++) {
        contenders[i].number = SLEEPER_A + i;
        assert_int_equal(
            pthread_create(&contenders[i].thread, NULL, contender_body, &contenders[i]), 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        round_holds();
    }
    atomic32_store_release(&all.mutex, 0);
    for (int i = 0; i < SLEEPERS; i++) {
        assert_int_equal(pthread_join(contenders[i].thread, NULL), 0);
    }
    assert_int_equal(atomic32_load_relaxed(&all.had), 0);
    assert_int_equal(atomic32_load_relaxed(&all.odd), 0);
    system_is_whole();
}

/* ---- One who is handed it -------------------------------------------------------------------- */

static uint32_t survivor_index;

/* Sleeps for the mutex, and has its word when it is deleted. */
static med_mutex_row *
handed(test_process *parent, uint32_t *life)
{
    node_up(OTHER);
    mrapi_mutex_hndl_t mutex = mutex_get();
    med_mutex_row *row = row_of(mutex);
    *life = med_row_generation_of(atomic32_load_acquire(&row->object.row.state));
    process_say(parent, 'r');
    med_object_touch(&med_self_get()->tables[MED_KIND_MUTEX], med_handle_index(mutex));
    atomic32_store_release(&med_self_get()->row->waiting_for, mutex);
    child_expect(med_port_pi_lock(&row->pi_word.value, MED_PORT_FOREVER, MED_PORT_SCOPE_SHARED) ==
                 MEDLEY_OK);
    return row;
}

/* Or was. */
static bool
is_the_next_ones(const med_mutex_row *row, uint32_t life)
{
    uint32_t word = atomic32_load_acquire(&row->object.row.state);
    uint32_t lives = med_row_generation_of(word) - life;
    return lives > 1 || (lives == 1 && med_row_state_of(word) == MED_ROW_LIVE);
}

/* Passes it on when the row is the next one's. */
static int
wakes_late(test_process *parent, void *argument)
{
    (void)argument;
    uint32_t life;
    med_mutex_row *row = handed(parent, &life);
    while (!is_the_next_ones(row, life)) {
        med_port_yield();
    }
    child_expect(med_mutex_pi_thread(row) == med_port_thread_id());
    child_expect(med_port_pi_unlock(&row->pi_word.value, MED_PORT_SCOPE_SHARED) == MEDLEY_OK);
    atomic32_store_release(&med_self_get()->row->waiting_for, 0);
    node_down();
    return 0;
}

/* How often the survivor has slept. */
static uint32_t
survivor_slept(void)
{
    const med_system *system = med_self_get()->system;
    return atomic32_load_relaxed(&med_system_node(system, survivor_index)->sleeps);
}

/* Has the next one, as who took it by a good handle, until its maker has made it: who slept for it
 * no longer than a slice more, which is a few sleeps. */
static int
keeps_the_next_one(test_process *parent, void *argument)
{
    (void)argument;
    uint32_t life;
    med_mutex_row *row = handed(parent, &life);
    while (!is_the_next_ones(row, life)) {
        med_port_yield();
    }
    atomic32_store_relaxed(&row->pi_owner, med_self_get()->ref);
    atomic32_store_release(&row->pi_death, MED_MUTEX_SOUND);
    uint32_t slept = survivor_slept();
    child_expect(process_hear(parent) == 'm');
    child_expect(survivor_slept() - slept <= SLEEPS_IN_A_SLICE);
    child_expect(med_port_pi_unlock(&row->pi_word.value, MED_PORT_SCOPE_SHARED) == MEDLEY_OK);
    atomic32_store_release(&med_self_get()->row->waiting_for, 0);
    node_down();
    return 0;
}

static int
dies_with_it(test_process *parent, void *argument)
{
    (void)argument;
    uint32_t life;
    (void)handed(parent, &life);
    (void)raise(SIGKILL);
    return 1;
}

/* The survivor holds the first mutex of the only row until the sleeper sleeps for it. */
static void
former_one_is_deleted(test_process *sleeper, int (*body)(test_process *, void *))
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_hndl_t mutex = mutex_make(PI);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    survivor_index = med_self_get()->index;
    process_start(sleeper, body, NULL);
    assert_int_equal(process_hear(sleeper), 'r');
    waits_somebody(row_of(mutex));
    mutex_delete(mutex);
}

static void
free_and_sound(mrapi_mutex_hndl_t mutex)
{
    mrapi_status_t status;
    mrapi_key_t key;
    assert_int_equal(mrapi_mutex_trylock(mutex, &key, &status), MRAPI_TRUE);
    assert_int_equal(medley_lock_owner_died(), 0);
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mutex_delete(mutex);
}

static void
sleeper_passes_it_on(void **state)
{
    test_process sleeper;
    (void)state;
    WITHOUT_PI_SKIP();
    former_one_is_deleted(&sleeper, wakes_late);
    free_and_sound(mutex_make(PI));
    assert_int_equal(process_join(&sleeper), 0);
    system_is_whole();
}

static void
death_of_a_sleeper_is_not_told(void **state)
{
    test_process sleeper;
    (void)state;
    WITHOUT_PI_SKIP();
    former_one_is_deleted(&sleeper, dies_with_it);
    free_and_sound(mutex_make(PI));
    assert_int_equal(process_join(&sleeper), -SIGKILL);
    system_is_whole();
}

static void
maker_waits_for_nobody_who_has_it(void **state)
{
    test_process keeper;
    (void)state;
    WITHOUT_PI_SKIP();
    former_one_is_deleted(&keeper, keeps_the_next_one);
    mrapi_mutex_hndl_t mutex = mutex_make(PI);
    process_say(&keeper, 'm');
    assert_int_equal(process_join(&keeper), 0);
    free_and_sound(mutex);
    system_is_whole();
}

static void
plain_one_comes_between(void **state)
{
    test_process sleeper;
    (void)state;
    WITHOUT_PI_SKIP();
    former_one_is_deleted(&sleeper, dies_with_it);
    mrapi_mutex_hndl_t plain = mutex_make(0);
    assert_int_equal(process_join(&sleeper), -SIGKILL);
    system_is_whole();
    free_and_sound(plain);
    free_and_sound(mutex_make(PI));
    system_is_whole();
}

/* ---- One who comes by an old handle ---------------------------------------------------------- */

static void
old_handle_reads_no_news(char expected)
{
    test_process holder;
    med_self *self = med_self_get();
    mrapi_mutex_hndl_t former = mutex_make(PI);
    mutex_delete(former);
    mrapi_mutex_hndl_t mutex = mutex_make(PI);
    med_mutex_row *row = row_of(mutex);
    assert_ptr_equal(row, row_of(former));
    holder_start(&holder);
    process_kill(&holder);
    assert_int_equal(process_join(&holder), -SIGKILL);
    /* He looked at it before the former one was deleted. */
    assert_int_equal(med_mutex_pi_take(self, row, former, 0), MEDLEY_ERR_STALE);
    assert_false(med_mutex_pi_is_mine(self, row));
    assert_int_equal(med_mutex_pi_thread(row), 0);
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), expected);
    mutex_delete(mutex);
    system_is_whole();
}

static void
death_is_told_to_a_good_handle(void **state)
{
    (void)state;
    WITHOUT_PI_SKIP();
    old_handle_reads_no_news('d');
}

static void
death_closes_it_for_a_good_handle(void **state)
{
    (void)state;
    WITHOUT_PI_SKIP();
    old_handle_reads_no_news('n');
}

/* ---- Tables of one row, and of two ----------------------------------------------------------- */

static int
two_rows(void **state)
{
    (void)setenv("MEDLEY_MAX_MUTEXES", "2", 1);
    return survivor_up(state);
}

static int
one_row(void **state)
{
    (void)setenv("MEDLEY_MAX_MUTEXES", "1", 1);
    return survivor_up(state);
}

static int
one_row_fail(void **state)
{
    (void)setenv("MEDLEY_MAX_MUTEXES", "1", 1);
    return survivor_up_fail(state);
}

#define WITH_ONE_ROW(test) cmocka_unit_test_setup_teardown(test, one_row, survivor_down)
#define WITH_ONE_ROW_FAIL(test) cmocka_unit_test_setup_teardown(test, one_row_fail, survivor_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ONE_ROW(holder_keeps_the_next_one),
        cmocka_unit_test_setup_teardown(holder_keeps_the_next_one, two_rows, survivor_down),
        WITH_ONE_ROW(sleeper_passes_it_on),
        WITH_ONE_ROW(death_of_a_sleeper_is_not_told),
        WITH_ONE_ROW_FAIL(death_of_a_sleeper_is_not_told),
        WITH_ONE_ROW(maker_waits_for_nobody_who_has_it),
        WITH_ONE_ROW(plain_one_comes_between),
        WITH_ONE_ROW(death_is_told_to_a_good_handle),
        WITH_ONE_ROW_FAIL(death_closes_it_for_a_good_handle),
    };
    test_system_prepare();
    (void)alarm(STUCK_AFTER_S);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
