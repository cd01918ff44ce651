/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Death by SIGKILL, by exit, and birth by fork: what those who stay see of it, and those who come
 * after. Everybody here is a process of its own; the tester is one of the survivors.
 */
#include "support/unit.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/mutex.h"
#include "mrapi/system.h"
#include "support/check.h"
#include "support/partition_file.h"
#include "support/process.h"
#include "support/system.h"

#define DOMAIN 1
#define SURVIVOR 1
#define HOLDER 2
#define SLEEPER_A 3
#define SLEEPER_B 4
#define OTHER 5
#define MUTEX 1
#define KERNEL_HAS_WAITERS 0x80000000u
#define STUCK_AFTER_S 60

static uint64_t slowest_ns; /* from a death to the last who learned of it; for showing */

/* ---- What everybody does --------------------------------------------------------------------- */

static void
node_up(mrapi_node_t node)
{
    mrapi_status_t status;
    mrapi_info_t info;
    mrapi_initialize(DOMAIN, node, 0, &info, &status);
    child_expect(status == MRAPI_SUCCESS);
}

static void
node_down(void)
{
    mrapi_status_t status;
    mrapi_finalize(&status);
    child_expect(status == MRAPI_SUCCESS);
}

static mrapi_mutex_hndl_t
mutex_get(void)
{
    mrapi_status_t status;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_get(MUTEX, &status);
    child_expect(status == MRAPI_SUCCESS);
    return mutex;
}

static mrapi_mutex_hndl_t
mutex_make(mrapi_uint_t attribute)
{
    mrapi_status_t status;
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t yes = MRAPI_TRUE;
    mrapi_mutex_init_attributes(&attributes, &status);
    if (attribute) {
        mrapi_mutex_set_attribute(&attributes, attribute, &yes, sizeof yes, &status);
    }
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(MUTEX, &attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return mutex;
}

static void
mutex_delete(mrapi_mutex_hndl_t mutex)
{
    mrapi_status_t status;
    mrapi_mutex_delete(mutex, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

/* Takes the mutex and gives it back: 'd' its holder had died, 'o' he had not, 'n' nobody gets it,
 * 't' not in time. */
static char
lock_once(mrapi_mutex_hndl_t mutex, mrapi_timeout_t timeout_us)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_lock(mutex, &key, timeout_us, &status);
    if (status != MRAPI_SUCCESS) {
        return status == MRAPI_ERR_MUTEX_NOTVALID ? 'n' : status == MRAPI_TIMEOUT ? 't' : '?';
    }
    char told = medley_lock_owner_died() ? 'd' : 'o';
    mrapi_mutex_unlock(mutex, &key, &status);
    child_expect(status == MRAPI_SUCCESS);
    return told;
}

static int
holder_body(test_process *parent, void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)argument;
    node_up(HOLDER);
    mrapi_mutex_lock(mutex_get(), &key, MRAPI_TIMEOUT_INFINITE, &status);
    child_expect(status == MRAPI_SUCCESS);
    process_say(parent, 'h');
    (void)process_hear(parent); /* until killed */
    return 1;
}

static int
sleeper_body(test_process *parent, void *argument)
{
    node_up(*(const mrapi_node_t *)argument);
    process_say(parent, 'r');
    process_say(parent, lock_once(mutex_get(), MRAPI_TIMEOUT_INFINITE));
    node_down();
    return 0;
}

static void
holder_start(test_process *holder)
{
    process_start(holder, holder_body, NULL);
    assert_int_equal(process_hear(holder), 'h');
}

static void
sleeper_start(test_process *sleeper, mrapi_node_t node)
{
    process_start(sleeper, sleeper_body, &node);
    assert_int_equal(process_hear(sleeper), 'r');
    while (!process_sleeps(sleeper->pid)) {
        med_port_yield();
    }
}

static void
system_is_whole(void)
{
    check_settle(med_self_get()->system);
    assert_int_equal(check_system(med_self_get()->system), 0);
}

static int
survivor_up_with(const char *on_death)
{
    (void)setenv("MEDLEY_MUTEX_ON_DEATH", on_death, 1);
    node_up(SURVIVOR);
    return 0;
}

static int
survivor_up(void **state)
{
    (void)state;
    return survivor_up_with("recover");
}

static int
survivor_up_fail(void **state)
{
    (void)state;
    return survivor_up_with("fail");
}

static int
survivor_down(void **state)
{
    (void)state;
    node_down();
    return partition_exists(test_system_name()); /* the last one removes it */
}

/* ---- The holder of a mutex is killed --------------------------------------------------------- */

/* The holder stays a zombie until the end: dead all the same. */
static void
holder_dies_before_sleepers(mrapi_uint_t attribute, const char *expected)
{
    test_process holder;
    test_process sleepers[2];
    mrapi_mutex_hndl_t mutex = mutex_make(attribute);
    holder_start(&holder);
    sleeper_start(&sleepers[0], SLEEPER_A);
    sleeper_start(&sleepers[1], SLEEPER_B);
    process_kill(&holder);
    uint64_t died_ns = med_port_clock_ns();
    char told[3] = {process_hear(&sleepers[0]), process_hear(&sleepers[1]), '\0'};
    uint64_t took_ns = med_port_clock_ns() - died_ns;
    slowest_ns = took_ns > slowest_ns ? took_ns : slowest_ns;
    if (told[0] > told[1]) {
        told[2] = told[0];
        told[0] = told[1];
        told[1] = told[2];
        told[2] = '\0';
    }
    assert_string_equal(told, expected); /* either may be first */
    assert_int_equal(process_join(&sleepers[0]), 0);
    assert_int_equal(process_join(&sleepers[1]), 0);
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), expected[1] == 'n' ? 'n' : 'o');
    mutex_delete(mutex);
    system_is_whole();
    assert_int_equal(process_join(&holder), -SIGKILL);
}

static void
sleepers_learn(void **state)
{
    (void)state;
    holder_dies_before_sleepers(0, "do");
}

static void
sleepers_learn_pi(void **state)
{
    (void)state;
    holder_dies_before_sleepers(MEDLEY_MUTEX_PRIORITY_INHERITANCE, "do");
}

static void
sleepers_learn_fail(void **state)
{
    (void)state;
    holder_dies_before_sleepers(0, "nn");
}

static void
sleepers_learn_fail_pi(void **state)
{
    (void)state;
    holder_dies_before_sleepers(MEDLEY_MUTEX_PRIORITY_INHERITANCE, "nn");
}

/* Nobody waits when it dies; the first who comes is told. `meanwhile_us`: somebody waits that long,
 * and gives up, before the holder dies. */
static void
holder_dies_alone(mrapi_uint_t attribute, mrapi_timeout_t meanwhile_us, char expected)
{
    test_process holder;
    mrapi_mutex_hndl_t mutex = mutex_make(attribute);
    holder_start(&holder);
    assert_int_equal(lock_once(mutex, meanwhile_us), 't');
    process_kill(&holder);
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), expected);
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), expected == 'n' ? 'n' : 'o');
    mutex_delete(mutex);
    system_is_whole();
    assert_int_equal(process_join(&holder), -SIGKILL);
}

static void
next_learns(void **state)
{
    (void)state;
    holder_dies_alone(0, 0, 'd');
    holder_dies_alone(0, 1000, 'd');
    holder_dies_alone(MEDLEY_MUTEX_PRIORITY_INHERITANCE, 0, 'd');
    holder_dies_alone(MEDLEY_MUTEX_PRIORITY_INHERITANCE, 1000, 'd');
}

static void
next_learns_fail(void **state)
{
    (void)state;
    holder_dies_alone(0, 0, 'n');
    holder_dies_alone(0, 1000, 'n');
    holder_dies_alone(MEDLEY_MUTEX_PRIORITY_INHERITANCE, 0, 'n');
    holder_dies_alone(MEDLEY_MUTEX_PRIORITY_INHERITANCE, 1000, 'n');
}

/* Who only ever tries, or deletes, finds the death as well. */
static void
trying_finds_the_death(mrapi_uint_t attribute)
{
    mrapi_status_t status;
    mrapi_key_t key;
    test_process holder;
    mrapi_mutex_hndl_t mutex = mutex_make(attribute);
    holder_start(&holder);
    assert_int_equal(mrapi_mutex_trylock(mutex, &key, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED);
    process_kill(&holder);
    uint64_t deadline_ns = medley_clock_ns() + STUCK_AFTER_S * 1000000000ull;
    while (!mrapi_mutex_trylock(mutex, &key, &status)) {
        assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED);
        assert_true(medley_clock_ns() < deadline_ns); /* not every try looks */
    }
    assert_int_equal(medley_lock_owner_died(), 1);
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(process_join(&holder), -SIGKILL);

    holder_start(&holder);
    mrapi_mutex_delete(mutex, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED);
    process_kill(&holder);
    mutex_delete(mutex);
    system_is_whole();
    assert_int_equal(process_join(&holder), -SIGKILL);
}

static void
trying_is_enough(void **state)
{
    (void)state;
    trying_finds_the_death(0);
    trying_finds_the_death(MEDLEY_MUTEX_PRIORITY_INHERITANCE);
}

static void
number_is_free_at_once(void **state)
{
    test_process holder;
    (void)state;
    mrapi_mutex_hndl_t mutex = mutex_make(0);
    for (int i = 0; i < 3; i++) {
        test_process next;
        holder_start(&holder);
        process_kill(&holder);
        holder_start(&next); /* the same number, while the dead one is a zombie */
        process_kill(&next);
        assert_int_equal(process_join(&next), -SIGKILL);
        assert_int_equal(process_join(&holder), -SIGKILL);
    }
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), 'd');
    mutex_delete(mutex);
    system_is_whole();
}

/* ---- Stale files ----------------------------------------------------------------------------- */

static void
next_start_works(void)
{
    node_up(SURVIVOR);
    mutex_delete(mutex_make(0));
    system_is_whole();
    node_down();
    assert_false(partition_exists(test_system_name()));
}

static int
creator_body(test_process *parent, void *argument)
{
    mrapi_status_t status;
    (void)argument;
    node_up(HOLDER);
    (void)mrapi_mutex_create(MUTEX, NULL, &status);
    process_say(parent, 'c');
    (void)process_hear(parent); /* until killed, or told to go */
    node_down();
    return 0;
}

static void
creator_start(test_process *creator)
{
    process_start(creator, creator_body, NULL);
    assert_int_equal(process_hear(creator), 'c');
}

static void
creator_is_killed(void **state)
{
    test_process creator;
    (void)state;
    creator_start(&creator);
    process_kill(&creator);
    assert_true(partition_exists(test_system_name()));
    next_start_works();
    assert_int_equal(process_join(&creator), -SIGKILL);
}

static void
leftovers(void **state)
{
    static const char garbage[100000] = "there was never any sense in this";
    const char *name = test_system_name();
    uint32_t version = MED_PARTITION_VERSION + 1;
    test_process creator;
    (void)state;
    assert_true(partition_write(name, "", 0, 0));
    next_start_works();
    assert_true(partition_write(name, garbage, 1, 0));
    next_start_works();
    assert_true(partition_write(name, garbage, sizeof garbage, 0));
    next_start_works();
    creator_start(&creator);
    process_kill(&creator);
    assert_true(
        partition_write(name, &version, sizeof version, offsetof(med_partition_header, version)));
    next_start_works();
    assert_int_equal(process_join(&creator), -SIGKILL);
}

static void
others_live_in_another_version(void **state)
{
    static const struct {
        size_t offset;
        uint32_t flip;
        medley_status_t code;
    } cases[] = {
        {offsetof(med_partition_header, version), 3, MEDLEY_ERR_VERSION},
        {offsetof(med_partition_header, layout_hash), 1, MEDLEY_ERR_VERSION},
        {offsetof(med_partition_header, magic), MED_PARTITION_MAGIC ^ 0x4c44454du,
         MEDLEY_ERR_BYTE_ORDER},
        {offsetof(med_partition_header, magic), 1, MEDLEY_ERR_CORRUPT},
        {offsetof(med_partition_header, byte_order), 1, MEDLEY_ERR_CORRUPT},
        {offsetof(med_partition_header, size_bytes), 1, MEDLEY_ERR_CORRUPT},
    };
    const char *name = test_system_name();
    test_process creator;
    (void)state;
    creator_start(&creator);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t word;
        int fd = open(partition_path(name), O_RDONLY | O_CLOEXEC);
        assert_int_equal(pread(fd, &word, sizeof word, (off_t)cases[i].offset), sizeof word);
        (void)close(fd);
        uint32_t changed = word ^ cases[i].flip;
        assert_true(partition_write(name, &changed, sizeof changed, (off_t)cases[i].offset));
        assert_int_equal(medley_system_open(name), cases[i].code);
        assert_true(partition_write(name, &word, sizeof word, (off_t)cases[i].offset));
    }
    assert_int_equal(medley_system_open(name), MEDLEY_OK);
    assert_int_equal(medley_system_close(), MEDLEY_OK);
    process_say(&creator, 'g');
    assert_int_equal(process_join(&creator), 0);
    assert_false(partition_exists(name));
}

/* ---- fork ------------------------------------------------------------------------------------ */

static int
born_by_fork(test_process *parent, void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    const mrapi_mutex_hndl_t *mutex = argument;
    (void)mrapi_node_id_get(&status);
    child_expect(status == MRAPI_ERR_NODE_NOTINIT);
    mrapi_mutex_unlock(*mutex, &key, &status);
    child_expect(status == MRAPI_ERR_NODE_NOTINIT);
    child_expect(medley_system_close() == MEDLEY_ERR_NOT_FOUND); /* its parent's open */
    node_up(OTHER);
    (void)mrapi_mutex_trylock(*mutex, &key, &status);
    child_expect(status == MRAPI_ERR_MUTEX_LOCKED);
    process_say(parent, 'u');
    char how = process_hear(parent);
    if (how == 'f') {
        node_down();
    } else if (how == 'e') {
        exit(0);
    }
    return 0; /* by _exit */
}

static void
fork_gives_a_stranger(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    assert_int_equal(medley_system_open(test_system_name()), MEDLEY_OK);
    mrapi_mutex_hndl_t mutex = mutex_make(0);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    for (const char *how = "fe_"; *how; how++) {
        test_process child;
        process_start(&child, born_by_fork, &mutex);
        assert_int_equal(process_hear(&child), 'u');
        process_say(&child, *how);
        assert_int_equal(process_join(&child), 0);
        assert_int_equal(mrapi_node_id_get(&status), SURVIVOR);
        assert_true(partition_exists(test_system_name()));
        system_is_whole();
    }
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mutex_delete(mutex);
    assert_int_equal(medley_system_close(), MEDLEY_OK);
}

static int
only_listens(test_process *parent, void *argument)
{
    (void)argument;
    process_say(parent, 'l');
    (void)process_hear(parent);
    return 0;
}

static void
fork_inherits_no_life(void **state)
{
    test_process child;
    (void)state;
    node_up(SURVIVOR);
    process_start(&child, only_listens, NULL);
    assert_int_equal(process_hear(&child), 'l');
    node_down();
    assert_false(partition_exists(test_system_name())); /* nobody lives in it, says everybody */
    process_say(&child, 'g');
    assert_int_equal(process_join(&child), 0);
}

/* Stays in the section of the name, where everybody who opens it must pass. */
static int
section_keeper(test_process *parent, void *argument)
{
    med_port_shared shared;
    (void)argument;
    child_expect(med_port_shared_open_until(test_system_name(), MED_PORT_FOREVER, &shared) ==
                 MEDLEY_OK);
    process_say(parent, 's');
    (void)process_hear(parent);
    med_port_shared_close(&shared);
    return 0;
}

static atomic32 opener_thread;

static void *
opens(void *argument)
{
    (void)argument;
    atomic32_store_release(&opener_thread, med_port_thread_id());
    child_expect(medley_system_open(test_system_name()) == MEDLEY_OK);
    return NULL;
}

static int
opens_too(test_process *parent, void *argument)
{
    (void)argument;
    (void)alarm(STUCK_AFTER_S / 2);
    process_say(parent, 'o');
    child_expect(medley_system_open(test_system_name()) == MEDLEY_OK);
    child_expect(medley_system_close() == MEDLEY_OK);
    return 0;
}

static void
fork_while_another_thread_opens(void **state)
{
    test_process keeper;
    test_process child;
    med_port_thread thread;
    uint32_t id;
    (void)state;
    process_start(&keeper, section_keeper, NULL);
    assert_int_equal(process_hear(&keeper), 's');
    assert_int_equal(med_port_thread_start(&thread, NULL, opens, NULL), MEDLEY_OK);
    do {
        id = atomic32_load_acquire(&opener_thread);
    } while (id == 0 || !process_sleeps((pid_t)id));
    process_start(&child, opens_too, NULL);
    assert_int_equal(process_hear(&child), 'o');
    process_say(&keeper, 'g');
    assert_int_equal(process_join(&keeper), 0);
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(med_port_thread_join(thread, NULL), MEDLEY_OK);
    assert_int_equal(medley_system_close(), MEDLEY_OK);
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
    (void)argument;
    node_up(HOLDER);
    process_say(parent, 'u');
    (void)process_hear(parent);
    exit(0);
}

/* Somebody is in the section, and stays: an exit does not wait for that. */
static void
exit_waits_for_nobody(void **state)
{
    test_process child;
    test_process keeper;
    (void)state;
    process_start(&child, exits_when_told, NULL);
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

/* ---- Two systems in one process -------------------------------------------------------------- */

/* Each close takes back one open, whichever systems they were of. */
static void
opens_and_closes_match(void **state)
{
    const char *name = test_system_name();
    (void)state;
    assert_int_equal(medley_system_open(name), MEDLEY_OK);
    assert_int_equal(medley_system_open(NULL), MEDLEY_OK);
    assert_true(partition_exists(name));
    assert_int_equal(medley_system_close(), MEDLEY_OK);
    assert_int_equal(medley_system_close(), MEDLEY_OK);
    assert_int_equal(medley_system_close(), MEDLEY_ERR_NOT_FOUND);
    assert_false(partition_exists(name));
    assert_int_equal(medley_system_open(name), MEDLEY_OK); /* what the other tests use */
    assert_int_equal(medley_system_close(), MEDLEY_OK);
}

int
main(void)
{
#define WITH_SURVIVOR(test) cmocka_unit_test_setup_teardown(test, survivor_up, survivor_down)
#define WITH_SURVIVOR_FAIL(test)                                                                   \
    cmocka_unit_test_setup_teardown(test, survivor_up_fail, survivor_down)
    const struct CMUnitTest tests[] = {
        WITH_SURVIVOR(sleepers_learn),
        WITH_SURVIVOR(sleepers_learn_pi),
        WITH_SURVIVOR_FAIL(sleepers_learn_fail),
        WITH_SURVIVOR_FAIL(sleepers_learn_fail_pi),
        WITH_SURVIVOR(next_learns),
        WITH_SURVIVOR_FAIL(next_learns_fail),
        WITH_SURVIVOR(trying_is_enough),
        WITH_SURVIVOR(number_is_free_at_once),
        cmocka_unit_test(creator_is_killed),
        cmocka_unit_test(leftovers),
        cmocka_unit_test(others_live_in_another_version),
        WITH_SURVIVOR(fork_gives_a_stranger),
        cmocka_unit_test(fork_inherits_no_life),
        cmocka_unit_test(fork_while_another_thread_opens),
        WITH_SURVIVOR(exit_while_others_live),
        cmocka_unit_test(exit_of_the_last),
        cmocka_unit_test(exit_waits_for_nobody),
        WITH_SURVIVOR(blind_process_buries_nobody),
        cmocka_unit_test(opens_and_closes_match),
    };
    test_system_prepare();
    (void)alarm(STUCK_AFTER_S);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    print_message("a death was known to all sleepers after at most %u us\n",
                  (unsigned)(slowest_ns / 1000));
    return failed;
}
