/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is the same in all scenarios: the system before the kill, who sleeps meanwhile, which deaths
 * are to be told, and the looks at mutexes, rows and nodes after it.
 */
#include "kill/scenario.h"

#include "support/unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/mutex.h"
#include "mrapi/system.h"
#include "support/check.h"
#include "support/process.h"
#include "support/system.h"

#define PATIENCE_US 60000000u

static const scenario *current;
static mrapi_mutex_hndl_t mutexes[MUTEXES];
static mrapi_key_t key;

void
must(mrapi_status_t status, const char *what)
{
    if (status != MRAPI_SUCCESS) {
        char text[MRAPI_MAX_STATUS_SIZE];
        (void)fprintf(stderr, "%s, killed after %u: %s: %s\n", current->name, step_kill_steps(),
                      what, mrapi_display_status(status, text, sizeof text));
        _exit(97);
    }
}

void
former_dies(int (*victim)(test_process *parent, void *argument))
{
    test_process process;
    process_start(&process, victim, NULL);
    if (process_join(&process) != -SIGKILL) {
        must(MRAPI_ERR_NODE_INVALID, "the victim");
    }
}

static void
go_on_until(step_child child,
            step_outcome (*go)(step_child child, uint32_t count, void (*asleep)(void)),
            bool (*there)(void))
{
    while (!there()) {
        if (go(child, 1, NULL).ended) {
            must(MRAPI_ERR_NODE_INVALID, "the victim comes to its end");
        }
    }
}

void
former_dies_in(const step_operation *operation, bool (*call)(void), bool (*there)(void))
{
    step_child child = step_start(operation);
    go_on_until(child, step_calls, call);
    go_on_until(child, step_run, there);
    step_kill(child);
}

/* ---- The tester holds a mutex ---------------------------------------------------------------- */

static bool tester_holds;

void
tester_locks(void)
{
    mrapi_status_t status;
    mrapi_mutex_lock(mutexes[0], &key, MRAPI_TIMEOUT_INFINITE, &status);
    must(status, "the tester's lock");
    tester_holds = true;
}

void
tester_unlocks(void)
{
    mrapi_status_t status;
    if (tester_holds) {
        mrapi_mutex_unlock(mutexes[0], &key, &status);
        must(status, "the tester's unlock");
        tester_holds = false;
    }
}

static bool
is_pi(void)
{
    return current->attribute == MEDLEY_MUTEX_PRIORITY_INHERITANCE;
}

/* ---- Which holders' deaths are to be told ---------------------------------------------------- */

static bool death_expected[MUTEXES]; /* of the mutex with that index: set before each kill */

static const med_mutex_row *
mutex_row(int i)
{
    return (const med_mutex_row *)(const void *)med_table_row(&med_self_get()->system->mutexes,
                                                              med_handle_index(mutexes[i]));
}

static test_process sleeper; /* who sleeps */

static char sleeper_expected; /* to say; set before each kill */

bool
is_node(uint32_t node_ref, mrapi_node_t number)
{
    const med_table_view *nodes = &med_self_get()->system->nodes;
    uint32_t index = med_node_ref_index(node_ref);
    return node_ref && index < nodes->row_count &&
           atomic32_load_relaxed(&med_table_row(nodes, index)->key_low) == number;
}

/* The same, of a thread number. */
static bool
is_held_pi(const med_mutex_row *row)
{
    uint32_t number = atomic32_load_acquire(&row->pi_word) & MED_PORT_PI_OWNER_MASK;
    return number != 0 && !(current->sleeper && number == (uint32_t)sleeper.pid);
}

/* Would whoever takes it next be told of a death? */
static bool
is_held(int i)
{
    const med_mutex_row *row = mutex_row(i);
    if (is_pi()) {
        return is_held_pi(row);
    }
    uint32_t word = atomic32_load_acquire(&row->lock.word);
    uint32_t holder = word & MED_LOCK_OWNER_MASK;
    /* The sleeper may have got it already, from a child that lives. */
    return (holder != 0 && !is_node(holder, SLEEPER)) || (word & MED_LOCK_DIED);
}

/* The child is stopped, and holds what it holds. */
static void
deaths_expect(void)
{
    tester_unlocks();
    for (int i = 0; i < MUTEXES; i++) {
        death_expected[i] = !current->alone && (current->holds_all || is_held(i));
    }
    if (current->sleeper) {
        sleeper_expected = current->sleeper->expect();
    }
}

/* ---- Who sleeps ------------------------------------------------------------------------------ */

static char
mutex_take(void)
{
    mrapi_status_t status;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_get(1, &status);
    must(status, "the sleeper's get");
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    if (status == MRAPI_ERR_MUTEX_NOTVALID) {
        return 'n';
    }
    must(status, "the sleeper's lock");
    char told = medley_lock_owner_died() ? 'd' : 'o';
    mrapi_mutex_unlock(mutex, &key, &status);
    must(status, "the sleeper's unlock");
    return told;
}

/* With priority inheritance the machine says it, in the bits of the word that are its own. */
static bool
mutex_is_wanted(void)
{
    const med_mutex_row *row = mutex_row(0);
    return is_pi() ? (atomic32_load_acquire(&row->pi_word) & ~MED_PORT_PI_OWNER_MASK) != 0
                   : atomic32_load_acquire(&row->sleepers.flag) != 0;
}

static char
mutex_expect(void)
{
    return !death_expected[0] ? 'o' : current->fail ? 'n' : 'd';
}

static void
mutex_had(void)
{
    death_expected[0] = death_expected[0] && current->fail;
}

const scenario_sleeper sleeps_for_mutex = {
    .take = mutex_take, .is_wanted = mutex_is_wanted, .expect = mutex_expect, .had = mutex_had};

/* Whenever told to. */
static int
sleeper_body(test_process *parent, void *argument)
{
    (void)argument;
    (void)prctl(PR_SET_PDEATHSIG,
                SIGKILL); /* who sleeps for ever does so no longer than the test */
    node_up(SLEEPER);
    process_say(parent, 'r');
    while (process_hear(parent) == 'l') {
        process_say(parent, current->sleeper->take());
    }
    node_down();
    return 0;
}

static void
sleeper_starts(void)
{
    process_start(&sleeper, sleeper_body, NULL);
    assert_int_equal(process_hear(&sleeper), 'r');
}

static void
sleeper_sleeps(void)
{
    process_say(&sleeper, 'l');
    while (!current->sleeper->is_wanted() || !process_sleeps(sleeper.pid)) {
        med_port_yield();
    }
}

static void
sleeper_is_told(void)
{
    char heard = process_hear(&sleeper);
    if (heard != sleeper_expected) {
        (void)fprintf(stderr, "the sleeper heard '%c', not '%c'\n", heard, sleeper_expected);
        must(MRAPI_ERR_MUTEX_LOCKED, "the sleeper");
    }
    if (current->sleeper->had) {
        current->sleeper->had();
    }
}

/* ---- Mutexes must be whole, and are made anew ------------------------------------------------ */

static mrapi_mutex_hndl_t
mutex_make(mrapi_mutex_id_t number)
{
    mrapi_status_t status;
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t yes = MRAPI_TRUE;
    mrapi_mutex_init_attributes(&attributes, &status);
    if (current->attribute) {
        mrapi_mutex_set_attribute(&attributes, current->attribute, &yes, sizeof yes, &status);
    }
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(number, &attributes, &status);
    must(status, "create anew");
    return mutex;
}

static void
mutex_is_had(mrapi_mutex_hndl_t mutex, bool death)
{
    mrapi_status_t status;
    mrapi_mutex_lock(mutex, &key, PATIENCE_US, &status);
    must(status, "lock after the kill");
    if (!current->alone && medley_lock_owner_died() != death) {
        (void)fprintf(stderr, "owner_died is %d\n", medley_lock_owner_died());
        must(MRAPI_ERR_MUTEX_NOTVALID, "owner_died");
    }
    mrapi_mutex_unlock(mutex, &key, &status);
    must(status, "unlock after the kill");
}

/* Nobody may have it, whoever tries, and however often. */
static void
mutex_is_closed(mrapi_mutex_hndl_t mutex)
{
    for (int i = 0; i < 2; i++) {
        mrapi_status_t status;
        mrapi_mutex_lock(mutex, &key, PATIENCE_US, &status);
        if (status != MRAPI_ERR_MUTEX_NOTVALID) {
            must(status == MRAPI_SUCCESS ? MRAPI_ERR_MUTEX_LOCKED : status, "lock of a closed one");
        }
    }
}

/* A mutex that is there can be had, or not, and tells what it must, and goes; then its number is
 * free. */
static mrapi_mutex_hndl_t
mutex_renew(mrapi_mutex_id_t number, bool death)
{
    mrapi_status_t status;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_get(number, &status);
    if (status == MRAPI_SUCCESS) {
        if (death && current->fail) {
            mutex_is_closed(mutex);
        } else {
            mutex_is_had(mutex, death);
        }
        mrapi_mutex_delete(mutex, &status);
        must(status, "delete after the kill");
    }
    return mutex_make(number);
}

static void
mutexes_renew(void)
{
    mrapi_status_t status;
    for (unsigned i = 0; i < MUTEXES; i++) {
        mutexes[i] = mutex_renew(i + 1, death_expected[i]);
    }
    /* One that was perhaps being made; nobody had it. */
    mrapi_mutex_delete(mutex_renew(MUTEXES + 1, false), &status);
    must(status, "delete of the new one");
}

/* A mutex without a number that anybody knows outlives its maker: it is there, or it is not. */
static void
nameless_mutexes_delete(void)
{
    const med_table_view *view = &med_self_get()->system->mutexes;
    for (uint32_t i = 0; i < view->row_count; i++) {
        const med_row *row = med_table_row(view, i);
        uint32_t word = atomic32_load_acquire(&row->state);
        if (med_row_state_of(word) == MED_ROW_LIVE &&
            atomic32_load_relaxed(&row->key_low) > MRAPI_MAX_USER_MUTEX_ID) {
            mrapi_status_t status;
            mrapi_mutex_delete(med_handle_make(MED_HANDLE_MUTEX, i, med_row_generation_of(word)),
                               &status);
            must(status, "delete of a nameless one");
        }
    }
}

/* ---- All must be whole ----------------------------------------------------------------------- */

/* The dead node's number is free, at once and again. */
static void
number_reused(mrapi_node_t node)
{
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = returns_at_once};
    mrapi_thread_create(DOMAIN, node, &parameters, &status);
    must(status, "reuse of the number");
    mrapi_thread_join(DOMAIN, node, NULL, &status);
    must(status, "join of its new bearer");
}

static void
system_checked(void)
{
    check_settle(med_self_get()->system);
    if (check_system(med_self_get()->system) != 0) {
        must(MRAPI_ERR_PARAMETER, "the checker");
    }
}

/* By turns the death is found by one who wants one of the dead node's locks, by one who wants its
 * number, and by one who looks whether anybody died: then all must be whole before it is used. */
static void
verify(void)
{
    uint32_t turn = step_kill_steps() % 3;
    if (turn == 0) {
        mutexes_renew();
    } else if (turn == 1) {
        system_checked();
    }
    number_reused(current->alone ? SURVIVOR : CHILD);
    number_reused(THREAD);
    if (turn != 0) {
        mutexes_renew();
    }
    nameless_mutexes_delete();
    system_checked();
}

static void
check(void)
{
    if (current->alone) {
        node_up(CHILD);
    }
    if (current->sleeper) {
        sleeper_is_told();
    }
    if (current->after) {
        current->after();
    }
    verify();
    if (current->alone) {
        node_down();
        med_system system;
        if (med_system_observe(test_system_name(), MED_PORT_FOREVER, &system) !=
            MEDLEY_ERR_NOT_FOUND) {
            must(MRAPI_ERR_NODE_FINALFAILED, "the last one removes the name");
        }
    }
}

/* ---- A scenario, and all --------------------------------------------------------------------- */

static void
ready(void)
{
    if (current->sleeper) {
        sleeper_sleeps();
    }
    if (current->before) {
        current->before();
    }
}

static void
begin(void)
{
    (void)setenv("MEDLEY_MUTEX_ON_DEATH", current->fail ? "fail" : "recover", 1);
    if (!current->alone) {
        node_up(SURVIVOR);
        for (unsigned i = 1; i <= MUTEXES; i++) {
            mutexes[i - 1] = mutex_make(i);
        }
    }
    if (current->sleeper) {
        sleeper_starts();
    }
}

static void
end(void)
{
    if (current->sleeper) {
        assert_int_equal(process_join(&sleeper), 0);
    }
    if (!current->alone) {
        node_down();
    }
}

static void
killed_at_any_instruction(void **state)
{
    current = *state;
    const step_plan plan = {.name = current->name,
                            .operation = current->operation,
                            .ready = ready,
                            .asleep = current->asleep,
                            .stopped = deaths_expect,
                            .check = check};
    const char *reason = step_impossible();
    if (reason) {
        not_possible_here(reason);
    }
    begin();
    step_kill_run(&plan);
    end();
}

int
scenarios_main(int argc, char **argv, const char *family, const scenario *scenarios, uint32_t count)
{
    int failed = 0;
    uint32_t ran = 0;
    step_kill_prepare();
    for (uint32_t i = 0; i < count; i++) {
        if (argc > 1 && strcmp(argv[1], scenarios[i].name) != 0) {
            continue;
        }
        const struct CMUnitTest tests[] = {{.name = scenarios[i].name,
                                            .test_func = killed_at_any_instruction,
                                            .initial_state = (void *)(uintptr_t)&scenarios[i]}};
        failed += _cmocka_run_group_tests(family, tests, 1, NULL, NULL);
        ran++;
    }
    if (ran == 0) {
        (void)fprintf(stderr, "%s: no scenario '%s'\n", family, argv[1]);
        return 2;
    }
    return failed;
}
