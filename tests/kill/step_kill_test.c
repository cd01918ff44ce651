/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Killed at any instruction. For each operation that changes shared state: a child does it step by
 * step and is killed after its n-th instruction; then whoever is left, or comes next, must find the
 * system whole.
 *
 *   step_kill_test [operation]
 *   MEDLEY_TEST_EXHAUSTIVE=1   every n; otherwise every k-th, from an offset that the seed gives
 *   MEDLEY_TEST_SEED=n         repeats a run
 *
 * The tester itself is the survivor, node 1. Where the operation is about being the first or the
 * last in a system, it stays outside until the child is dead. Mutexes 1 to 3 are there before each
 * kill and made anew after it.
 */
#include "support/unit.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/mutex.h"
#include "mrapi/system.h"
#include "support/check.h"
#include "support/process.h"
#include "support/random.h"
#include "support/step.h"
#include "support/system.h"

#define DOMAIN 1
#define SURVIVOR 1
#define CHILD 2
#define SLEEPER 3
#define VICTIM 4
#define MUTEXES 3
#define TIMEOUT_SHORT_US 1000
#define STUCK_AFTER_S 60
#define US_PER_S 1000000u

/* How much is done without MEDLEY_TEST_EXHAUSTIVE, per operation. */
#define STEPS_BUDGET 200000u
#define KILLS_BUDGET 150u

typedef struct scenario {
    const char *name;
    step_operation operation;
    bool alone;               /* the tester is outside until the child is dead */
    mrapi_uint_t attribute;   /* of the mutexes; 0: none */
    void (*before)(void);     /* the tester, with the child at its marker */
    void (*asleep)(void);     /* the tester, when the child sleeps */
    void (*after_kill)(void); /* the tester, before anything else */
} scenario;

/* The tester's state. */
static const scenario *current;
static uint32_t killed_after; /* steps; for the message */
static mrapi_mutex_hndl_t mutexes[MUTEXES];
static test_process sleeper;

/* Of the child, and of whoever else does the test's work. */
static mrapi_mutex_hndl_t mine;
static mrapi_key_t key, key_inner;

static void
must(mrapi_status_t status, const char *what)
{
    if (status != MRAPI_SUCCESS) {
        char text[MRAPI_MAX_STATUS_SIZE];
        (void)fprintf(stderr, "%s, killed after %u: %s: %s\n", current->name, killed_after, what,
                      mrapi_display_status(status, text, sizeof text));
        _exit(97);
    }
}

static void
stuck(int signal)
{
    (void)signal;
    (void)fprintf(stderr, "%s, killed after %u: stuck\n", current->name, killed_after);
    _exit(96);
}

/* ---- What children do ------------------------------------------------------------------------ */

static void
node_up(mrapi_node_t node)
{
    mrapi_status_t status;
    mrapi_info_t info;
    mrapi_initialize(DOMAIN, node, 0, &info, &status);
    must(status, "initialize");
}

static void
node_down(void)
{
    mrapi_status_t status;
    mrapi_finalize(&status);
    must(status, "finalize");
}

static void
child_up(void)
{
    node_up(CHILD);
}

static void
child_attached(void)
{
    if (medley_system_open(test_system_name()) != MEDLEY_OK) {
        must(MRAPI_ERR_NODE_INITFAILED, "system_open");
    }
}

static void
child_attached_up(void)
{
    child_attached();
    child_up();
}

static void
child_up_first(void)
{
    mrapi_status_t status;
    child_up();
    mine = mrapi_mutex_get(1, &status);
    must(status, "get");
}

static void
op_lock(void)
{
    mrapi_status_t status;
    mrapi_mutex_lock(mine, &key, MRAPI_TIMEOUT_INFINITE, &status);
    must(status, "lock");
}

static void
op_unlock(void)
{
    mrapi_status_t status;
    mrapi_mutex_unlock(mine, &key, &status);
    must(status, "unlock");
}

static void
child_locks_first(void)
{
    child_up_first();
    op_lock();
}

static void
op_lock_in_vain(void)
{
    mrapi_status_t status;
    mrapi_mutex_lock(mine, &key, TIMEOUT_SHORT_US, &status);
    if (status != MRAPI_TIMEOUT) {
        must(status == MRAPI_SUCCESS ? MRAPI_ERR_MUTEX_LOCKED : status, "lock in vain");
    }
}

static void
op_recursive(void)
{
    mrapi_status_t status;
    op_lock();
    mrapi_mutex_lock(mine, &key_inner, MRAPI_TIMEOUT_INFINITE, &status);
    must(status, "lock again");
    mrapi_mutex_unlock(mine, &key_inner, &status);
    must(status, "unlock once");
    op_unlock();
}

static void
op_create(void)
{
    mrapi_status_t status;
    (void)mrapi_mutex_create(MUTEXES + 1, NULL, &status);
    must(status, "create");
}

static void
op_create_any(void)
{
    mrapi_status_t status;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(MRAPI_MUTEX_ID_ANY, NULL, &status);
    must(status, "create any");
    mrapi_mutex_delete(mutex, &status);
    must(status, "delete any");
}

static void
op_delete(void)
{
    mrapi_status_t status;
    mrapi_mutex_delete(mine, &status);
    must(status, "delete");
}

static void *
returns_at_once(void *argument)
{
    return argument;
}

static void
op_thread(void)
{
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = returns_at_once};
    mrapi_thread_create(DOMAIN, CHILD + 100, &parameters, &status);
    must(status, "thread_create");
    mrapi_thread_join(DOMAIN, CHILD + 100, NULL, &status);
    must(status, "thread_join");
}

static void
op_close(void)
{
    (void)medley_system_close();
}

static void
op_recover(void)
{
    (void)med_process_recover_all(med_self_get()->system);
}

/* ---- Who sleeps, who has died ---------------------------------------------------------------- */

/* Locks and unlocks mutex 1 whenever told to; says whether its former holder had died. */
static int
sleeper_body(test_process *parent, void *argument)
{
    (void)argument;
    node_up(SLEEPER);
    process_say(parent, 'r');
    while (process_hear(parent) == 'l') {
        mrapi_status_t status;
        mine = mrapi_mutex_get(1, &status);
        must(status, "the sleeper's get");
        op_lock();
        process_say(parent, medley_lock_owner_died() ? 'd' : 'o');
        op_unlock();
        process_say(parent, 'u');
    }
    node_down();
    return 0;
}

static const med_mutex_row *
mutex_row(int i)
{
    return (const med_mutex_row *)(const void *)med_table_row(&med_self_get()->system->mutexes,
                                                              med_handle_index(mutexes[i]));
}

static bool
has_waiters(void)
{
    return atomic32_load_acquire(&mutex_row(0)->sleepers.flag) != 0;
}

static void
sleeper_sleeps(void)
{
    process_say(&sleeper, 'l');
    while (!has_waiters()) {
        med_port_yield();
    }
}

static bool sleeper_expects_death;

static void
sleeper_wakes(void)
{
    char heard = process_hear(&sleeper);
    if (heard != (sleeper_expects_death ? 'd' : 'o') || process_hear(&sleeper) != 'u') {
        (void)fprintf(stderr, "the sleeper heard '%c'\n", heard);
        must(MRAPI_ERR_MUTEX_LOCKED, "the sleeper");
    }
}

static void
tester_locks(void)
{
    mrapi_status_t status;
    mrapi_mutex_lock(mutexes[0], &key, MRAPI_TIMEOUT_INFINITE, &status);
    must(status, "the tester's lock");
}

static bool tester_holds;

static void
tester_locks_first(void)
{
    tester_locks();
    tester_holds = true;
}

static void
tester_unlocks(void)
{
    mrapi_status_t status;
    if (tester_holds) {
        mrapi_mutex_unlock(mutexes[0], &key, &status);
        must(status, "the tester's unlock");
        tester_holds = false;
    }
}

static void
dies_here(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    (void)row;
    (void)index;
    (void)generation;
    (void)context;
    (void)raise(SIGKILL);
}

/* Holds all there is to hold: the mutexes, the tables, and a row half made. */
static int
victim_body(test_process *parent, void *argument)
{
    mrapi_status_t status;
    (void)parent;
    (void)argument;
    node_up(VICTIM);
    for (unsigned i = 1; i <= MUTEXES; i++) {
        mrapi_mutex_lock(mrapi_mutex_get(i, &status), &key, MRAPI_TIMEOUT_INFINITE, &status);
        must(status, "the victim's lock");
    }
    med_system *system = med_self_get()->system;
    (void)med_lock_try(&system->domains.table->lock, system->process_ref);
    (void)med_lock_try(&system->nodes.table->lock, system->process_ref);
    uint32_t index, generation;
    (void)med_table_insert(&system->mutexes, (med_key){.low = MUTEXES + 1}, dies_here, NULL, &index,
                           &generation);
    return 1;
}

static void
victim_dies(void)
{
    test_process victim;
    process_start(&victim, victim_body, NULL);
    if (process_join(&victim) != -SIGKILL) {
        must(MRAPI_ERR_NODE_INVALID, "the victim");
    }
}

/* ---- Before and after ------------------------------------------------------------------------ */

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

/* Would whoever takes it next be told of a death? */
static bool
death_expected(int i)
{
    const med_mutex_row *row = mutex_row(i);
    uint32_t word = atomic32_load_acquire(&row->lock.word);
    if (current->attribute == MEDLEY_MUTEX_PRIORITY_INHERITANCE) {
        return (atomic32_load_acquire(&row->pi_word) & MED_PORT_PI_OWNER_MASK) != 0;
    }
    return (word & MED_LOCK_OWNER_MASK) != 0 || (word & MED_LOCK_DIED);
}

/* A mutex that is there can be had, tells what it must, and goes; then its number is free. */
static void
mutex_renew(mrapi_mutex_id_t number, bool expect_death, bool check_death)
{
    mrapi_status_t status;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_get(number, &status);
    if (status == MRAPI_SUCCESS) {
        mrapi_mutex_lock(mutex, &key, STUCK_AFTER_S * US_PER_S, &status);
        must(status, "lock after the kill");
        if (check_death && medley_lock_owner_died() != expect_death) {
            (void)fprintf(stderr, "mutex %u: owner_died is %d\n", number, medley_lock_owner_died());
            must(MRAPI_ERR_MUTEX_NOTVALID, "owner_died");
        }
        mrapi_mutex_unlock(mutex, &key, &status);
        must(status, "unlock after the kill");
        mrapi_mutex_delete(mutex, &status);
        must(status, "delete after the kill");
    }
    mutex = mutex_make(number);
    if (number <= MUTEXES) {
        mutexes[number - 1] = mutex;
    } else {
        mrapi_mutex_delete(mutex, &status);
        must(status, "delete of the new one");
    }
}

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

static void
mutexes_renew(const bool expect_death[MUTEXES])
{
    for (unsigned i = 0; i < MUTEXES; i++) {
        /* Where somebody slept for it, he was told. */
        bool told = current->after_kill == sleeper_wakes && i == 0;
        mutex_renew(i + 1, expect_death[i], !current->alone && !told);
    }
    mutex_renew(MUTEXES + 1, false, false);
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

/* By turns the death is found by one who wants one of the dead node's locks, by one who wants its
 * number, and by one who looks whether anybody died: then all must be whole before it is used. */
static void
verify(const bool expect_death[MUTEXES])
{
    if (current->alone) {
        node_up(CHILD);
    }
    bool locks_first = killed_after % 3 == 0;
    if (locks_first) {
        mutexes_renew(expect_death);
    } else if (killed_after % 3 == 1) {
        system_checked();
    }
    number_reused(current->alone ? SURVIVOR : CHILD);
    number_reused(CHILD + 100);
    if (!locks_first) {
        mutexes_renew(expect_death);
    }
    nameless_mutexes_delete();
    system_checked();
    if (current->alone) {
        node_down();
        med_system system;
        if (med_system_observe(test_system_name(), MED_PORT_FOREVER, &system) !=
            MEDLEY_ERR_NOT_FOUND) {
            must(MRAPI_ERR_NODE_FINALFAILED, "the last one removes the name");
        }
    }
}

/* ---- One kill, and all ----------------------------------------------------------------------- */

static step_outcome
kill_after(uint32_t steps)
{
    bool expect_death[MUTEXES] = {false};
    killed_after = steps;
    (void)alarm(STUCK_AFTER_S);
    pid_t child = step_start(&current->operation);
    if (current->before) {
        current->before();
    }
    step_outcome outcome = step_run(child, steps, current->asleep);
    tester_unlocks();
    for (int i = 0; i < MUTEXES && !current->alone; i++) {
        expect_death[i] = death_expected(i);
    }
    sleeper_expects_death = expect_death[0];
    step_kill(child);
    if (current->after_kill) {
        current->after_kill();
    }
    verify(expect_death);
    return outcome;
}

static uint32_t
stride_for(uint32_t steps)
{
    const char *exhaustive = getenv("MEDLEY_TEST_EXHAUSTIVE");
    if (exhaustive && *exhaustive == '1') {
        return 1;
    }
    uint32_t by_steps = (uint32_t)((uint64_t)steps * steps / 2 / STEPS_BUDGET);
    uint32_t by_kills = steps / KILLS_BUDGET;
    return 1 + (by_steps > by_kills ? by_steps : by_kills);
}

static void
scenario_run(const scenario *wanted)
{
    current = wanted;
    if (!current->alone) {
        node_up(SURVIVOR);
        for (unsigned i = 1; i <= MUTEXES; i++) {
            mutexes[i - 1] = mutex_make(i);
        }
    }
    if (current->after_kill == sleeper_wakes) {
        process_start(&sleeper, sleeper_body, NULL);
        assert_int_equal(process_hear(&sleeper), 'r');
    }
    uint32_t length = kill_after(UINT32_MAX).steps;
    uint32_t stride = stride_for(length);
    uint32_t kills = 1;
    test_random random = test_random_of(0);
    for (uint32_t n = random_below(&random, stride); !kill_after(n).ended; n += stride) {
        kills++;
    }
    (void)alarm(0);
    if (current->after_kill == sleeper_wakes) {
        assert_int_equal(process_join(&sleeper), 0);
    }
    if (!current->alone) {
        node_down();
    }
    print_message("%-16s %6u instructions, killed at %u of them\n", current->name, length, kills);
}

static const scenario scenarios[] = {
    {.name = "attach_first", .operation = {NULL, child_up}, .alone = true},
    {.name = "attach_second", .operation = {NULL, child_up}},
    {.name = "detach_last", .operation = {child_up, node_down}, .alone = true},
    {.name = "detach", .operation = {child_up, node_down}},
    {.name = "open", .operation = {NULL, child_attached}},
    {.name = "close", .operation = {child_attached, op_close}},
    {.name = "register", .operation = {child_attached, child_up}},
    {.name = "leave", .operation = {child_attached_up, node_down}},
    {.name = "thread", .operation = {child_up, op_thread}},
    {.name = "create", .operation = {child_up, op_create}},
    {.name = "create_any", .operation = {child_up, op_create_any}},
    {.name = "delete", .operation = {child_up_first, op_delete}},
    {.name = "delete_held", .operation = {child_locks_first, op_delete}},
    {.name = "lock", .operation = {child_up_first, op_lock}},
    {.name = "lock_in_vain",
     .operation = {child_up_first, op_lock_in_vain},
     .before = tester_locks_first},
    {.name = "lock_handed",
     .operation = {child_up_first, op_lock},
     .before = tester_locks_first,
     .asleep = tester_unlocks},
    {.name = "unlock", .operation = {child_locks_first, op_unlock}},
    {.name = "unlock_sleeper",
     .operation = {child_locks_first, op_unlock},
     .before = sleeper_sleeps,
     .after_kill = sleeper_wakes},
    {.name = "recursive",
     .operation = {child_up_first, op_recursive},
     .attribute = MRAPI_MUTEX_RECURSIVE},
    {.name = "recover", .operation = {child_up, op_recover}, .before = victim_dies},
    {.name = "pi_lock",
     .operation = {child_up_first, op_lock},
     .attribute = MEDLEY_MUTEX_PRIORITY_INHERITANCE},
    {.name = "pi_unlock",
     .operation = {child_locks_first, op_unlock},
     .attribute = MEDLEY_MUTEX_PRIORITY_INHERITANCE},
    {.name = "pi_lock_in_vain",
     .operation = {child_up_first, op_lock_in_vain},
     .attribute = MEDLEY_MUTEX_PRIORITY_INHERITANCE,
     .before = tester_locks_first},
    {.name = "pi_lock_handed",
     .operation = {child_up_first, op_lock},
     .attribute = MEDLEY_MUTEX_PRIORITY_INHERITANCE,
     .before = tester_locks_first,
     .asleep = tester_unlocks},
};

static void
killed_at_any_instruction(void **state)
{
    const char *reason = step_impossible();
    if (reason) {
        not_possible_here(reason);
    }
    (void)signal(SIGALRM, stuck);
    scenario_run(*state);
}

/* The tester and the stepped child take turns; on one processor that costs a third of it on two. */
static void
stay_on_one_processor(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)sched_getcpu(), &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

int
main(int argc, char **argv)
{
    int failed = 0;
    test_system_prepare();
    stay_on_one_processor();
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        if (argc < 2 || strcmp(argv[1], scenarios[i].name) == 0) {
            const struct CMUnitTest tests[] = {{.name = scenarios[i].name,
                                                .test_func = killed_at_any_instruction,
                                                .initial_state = (void *)(uintptr_t)&scenarios[i]}};
            failed += cmocka_run_group_tests_name(scenarios[i].name, tests, NULL, NULL);
        }
    }
    return failed;
}
