/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A process that is stopped while it recovers dead ones, two at once: whoever waits for a mutex of
 * either takes over. And one that is stopped with the table of nodes locked, besides: who waits for
 * what a dead one had does not wait for that table, unless it is a mutex with priority inheritance.
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

static mrapi_mutex_hndl_t mutexes[DEAD], inheriting[DEAD];
static test_process holders[DEAD];
static test_process recoverer;

/* ---- The dead, and who is at their recovery -------------------------------------------------- */

/* What each of them has besides its mutex. */
typedef enum possession {
    NOTHING,
    A_UNIT,
    READING,
    WRITING,
    INHERITING
} possession;

static want
want_of(possession what)
{
    return what == A_UNIT ? UNIT : what == READING ? READ : WRITE;
}

static void
lock(mrapi_mutex_hndl_t mutex)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    child_expect(status == MRAPI_SUCCESS);
}

typedef struct holding {
    uint32_t number;
    possession what;
} holding;

static int
holds(test_process *parent, void *argument)
{
    const holding *own = argument;
    node_up(HOLDER + own->number);
    lock(mutexes[own->number]);
    if (own->what == INHERITING) {
        lock(inheriting[own->number]);
    } else if (own->what != NOTHING) {
        child_expect(sharing_take(want_of(own->what), own->number, MRAPI_TIMEOUT_INFINITE) ==
                     MRAPI_SUCCESS);
    }
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

static void
things_make(uint32_t number, possession what)
{
    mutexes[number] = mutex_make_numbered(MUTEX + number, 0);
    if (what == INHERITING) {
        inheriting[number] = mutex_make_numbered(MUTEX + DEAD + number, PI);
    } else if (what != NOTHING) {
        sharing_make(number);
    }
}

static void
things_delete(uint32_t number, possession what)
{
    mutex_delete(mutexes[number]);
    if (what == INHERITING) {
        mutex_delete(inheriting[number]);
    } else if (what != NOTHING) {
        sharing_delete(number);
    }
}

/* The recoverer's threads are stopped right behind their claims, one for each of the dead. */
static void
two_are_at_it(bool has_table, possession what)
{
    for (uint32_t i = 0; i < DEAD; i++) {
        holding own = {.number = i, .what = what};
        things_make(i, what);
        process_start(&holders[i], holds, &own);
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
all_go(possession what)
{
    for (uint32_t i = 0; i < DEAD; i++) {
        assert_int_equal(ended(&holders[i]), -SIGKILL);
        things_delete(i, what);
    }
    system_is_whole();
}

static void
it_goes_on(void)
{
    assert_int_equal(kill(recoverer.pid, SIGCONT), 0);
    assert_int_equal(ended(&recoverer), 0);
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

/* ---- Who waits for what they had ------------------------------------------------------------- */

/* Who has waited for one of them need not wait as long again for the other. */
static void
both_are_taken_over(void **state)
{
    (void)state;
    two_are_at_it(false, NOTHING);
    assert_int_equal(lock_once(mutexes[0], MRAPI_TIMEOUT_INFINITE), 'd');
    assert_int_equal(lock_once(mutexes[1], SOON_US), 'd');
    it_goes_on();
    all_go(NOTHING);
}

/* Who asked for one, and left it at that, has the other all the same. */
static void
one_is_taken_over_for_another(void **state)
{
    (void)state;
    two_are_at_it(false, NOTHING);
    assert_int_equal(lock_once(mutexes[0], SOON_US), 't');
    assert_int_equal(lock_once(mutexes[1], MRAPI_TIMEOUT_INFINITE), 'd');
    assert_int_equal(lock_once(mutexes[0], SOON_US), 'd');
    it_goes_on();
    all_go(NOTHING);
}

static char
wait_for(uint32_t number, possession what, mrapi_timeout_t timeout_us)
{
    if (what == NOTHING || what == INHERITING) {
        return lock_once(mutexes[number], timeout_us);
    }
    return sharing_once(what == READING ? WRITE : want_of(what), number, timeout_us);
}

/* What they had comes free, the rows when the table does; and nobody has waited for that. A mutex
 * with priority inheritance keeps nobody from the others, and is had then. */
static void
its_table_is_not_waited_for(void **state)
{
    const possession what = *(const possession *)*state;
    const char told = what == READING ? 'o' : 'd'; /* nobody is told of a reader's death */
    med_system *system = med_self_get()->system;
    if (what == INHERITING) {
        WITHOUT_PI_SKIP();
    }
    two_are_at_it(true, what);
    assert_int_equal(wait_for(0, what, MRAPI_TIMEOUT_INFINITE), told);
    assert_int_equal(wait_for(1, what, SOON_US), told);
    assert_int_equal(atomic32_load_relaxed(&system->tables_given_up[MED_KIND_NODE]), 0);
    for (uint32_t i = 0; i < DEAD; i++) {
        assert_true(med_node_is_there(system, DOMAIN, HOLDER + i));
    }
    it_goes_on();
    for (uint32_t i = 0; what == INHERITING && i < DEAD; i++) {
        assert_int_equal(lock_once(inheriting[i], MRAPI_TIMEOUT_INFINITE), 'd');
    }
    all_go(what);
}

/* Who died with a table locked keeps it from nobody: the rows go with the first recovery. */
static void
a_dead_ones_table_is_had(void **state)
{
    const med_system *system = med_self_get()->system;
    (void)state;
    two_are_at_it(true, NOTHING);
    process_kill(&recoverer);
    for (uint32_t i = 0; i < DEAD; i++) {
        assert_int_equal(lock_once(mutexes[i], MRAPI_TIMEOUT_INFINITE), 'd');
        assert_false(med_node_is_there(system, DOMAIN, HOLDER + i));
    }
    assert_int_equal(ended(&recoverer), -SIGKILL);
    all_go(NOTHING);
}

int
main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, survivor_up, down)
#define TABLE(what)                                                                                \
    {                                                                                              \
        "its_table_is_not_waited_for: " #what, its_table_is_not_waited_for, survivor_up, down,     \
            &(possession)                                                                          \
        {                                                                                          \
            what                                                                                   \
        }                                                                                          \
    }
    const struct CMUnitTest tests[] = {
        CASE(both_are_taken_over),
        CASE(one_is_taken_over_for_another),
        TABLE(NOTHING),
        TABLE(A_UNIT),
        TABLE(READING),
        TABLE(WRITING),
        TABLE(INHERITING),
        CASE(a_dead_ones_table_is_had),
    };
    test_system_prepare();
    (void)alarm(STUCK_AFTER_S);
    return cmocka_run_group_tests_name("stopped recoverer", tests, NULL, NULL);
}
