/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Waiting on Linux beyond the conformance checks: between processes, counted, with priority
 * inheritance, and with owners that die. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "port/port.h"
#include "support/process.h"
#include "support/unit.h"

#define HANDOVERS 500u
#define SLEEPERS 4u
#define LOCKED_ADDS 20000u

/* ---- Between processes ----------------------------------------------------------------------- */

static void
turn_await(uint32_t *turn, uint32_t wanted)
{
    for (;;) {
        uint32_t seen = __atomic_load_n(turn, __ATOMIC_ACQUIRE);
        if (seen == wanted) {
            return;
        }
        (void)med_port_wait(turn, seen, MED_PORT_FOREVER, MED_PORT_SCOPE_SHARED);
    }
}

static void
turn_give(uint32_t *turn, uint32_t next)
{
    __atomic_store_n(turn, next, __ATOMIC_RELEASE);
    (void)med_port_wake(turn, 1, MED_PORT_SCOPE_SHARED);
}

static int
takes_odd_turns(test_process *parent, void *argument)
{
    (void)parent;
    for (uint32_t i = 1; i < 2 * HANDOVERS; i += 2) {
        turn_await(argument, i);
        turn_give(argument, i + 1);
    }
    return 0;
}

static void
wake_reaches_another_process(void **state)
{
    uint32_t *turn = process_shared_memory(sizeof *turn);
    test_process child;
    (void)state;
    process_start(&child, takes_odd_turns, turn);
    for (uint32_t i = 0; i < 2 * HANDOVERS; i += 2) {
        turn_give(turn, i + 1);
        turn_await(turn, i + 2);
    }
    assert_int_equal(process_join(&child), 0);
    (void)munmap(turn, sizeof *turn);
}

static int
sleeps_once(test_process *parent, void *argument)
{
    process_say(parent, 's');
    return med_port_wait(argument, 0, MED_PORT_FOREVER, MED_PORT_SCOPE_SHARED) == MEDLEY_OK ? 0 : 1;
}

/* Wakes of one each: together they wake every sleeper, and none wakes two. */
static void
wake_counts(void **state)
{
    uint32_t *word = process_shared_memory(sizeof *word);
    test_process children[SLEEPERS];
    (void)state;
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        process_start(&children[i], sleeps_once, word);
        assert_int_equal(process_hear(&children[i]), 's');
    }
    for (uint32_t woken = 0; woken < SLEEPERS;) {
        uint32_t now = med_port_wake(word, 1, MED_PORT_SCOPE_SHARED);
        assert_true(now <= 1);
        woken += now;
        med_port_yield();
    }
    assert_int_equal(med_port_wake(word, UINT32_MAX, MED_PORT_SCOPE_SHARED), 0);
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        assert_int_equal(process_join(&children[i]), 0);
    }
    (void)munmap(word, sizeof *word);
}

static void
deadline_is_not_early_between_processes(void **state)
{
    uint32_t *word = process_shared_memory(sizeof *word);
    uint64_t deadline_ns = med_port_clock_ns() + 3000000;
    (void)state;
    medley_status_t status;
    do {
        status = med_port_wait(word, 0, deadline_ns, MED_PORT_SCOPE_SHARED);
    } while (status == MEDLEY_OK);
    assert_int_equal(status, MEDLEY_TIMEOUT);
    assert_true(med_port_clock_ns() >= deadline_ns);
    (void)munmap(word, sizeof *word);
}

/* ---- Priority inheritance -------------------------------------------------------------------- */

typedef struct pi_counter {
    uint32_t word;
    uint32_t value; /* guarded by word */
    med_port_scope scope;
} pi_counter;

/* MEDLEY_OK, or what the slow path said. */
static medley_status_t
pi_acquire(uint32_t *word, med_port_scope scope)
{
    uint32_t free_word = 0;
    if (__atomic_compare_exchange_n(word, &free_word, med_port_thread_id(), false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
        return MEDLEY_OK;
    }
    return med_port_pi_lock(word, MED_PORT_FOREVER, scope);
}

static medley_status_t
pi_release(uint32_t *word, med_port_scope scope)
{
    uint32_t mine = med_port_thread_id();
    if (__atomic_compare_exchange_n(word, &mine, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
        return MEDLEY_OK;
    }
    return med_port_pi_unlock(word, scope);
}

/* The kernel writes the word; an emulator of the other byte order cannot put that right. A machine
 * of its own, with a kernel that has the call, must be able to. */
static bool
pi_is_possible(void)
{
#if !defined(MEDLEY_TEST_EMULATED)
    uint32_t word = 0;
    if (med_port_pi_lock(&word, MED_PORT_FOREVER, MED_PORT_SCOPE_PROCESS) ==
        MEDLEY_ERR_NOT_SUPPORTED) {
        return false;
    }
    assert_int_equal(word & MED_PORT_PI_OWNER_MASK, med_port_thread_id());
    assert_int_equal(med_port_pi_unlock(&word, MED_PORT_SCOPE_PROCESS), MEDLEY_OK);
    assert_int_equal(word, 0);
    assert_true(med_port_pi_supported());
#endif
    return med_port_pi_supported();
}

#define NO_PI "no priority-inheritance futex (old kernel, or an emulator of the other byte order)"

static bool
pi_adds(pi_counter *counter)
{
    for (uint32_t i = 0; i < LOCKED_ADDS; i++) {
        if (pi_acquire(&counter->word, counter->scope) != MEDLEY_OK) {
            return false;
        }
        counter->value++;
        if (pi_release(&counter->word, counter->scope) != MEDLEY_OK) {
            return false;
        }
    }
    return true;
}

static void *
pi_adds_as_thread(void *argument)
{
    return pi_adds(argument) ? argument : NULL;
}

static void
pi_lock_excludes_threads(void **state)
{
    pi_counter counter = {.scope = MED_PORT_SCOPE_PROCESS};
    med_port_thread thread;
    void *result = NULL;
    (void)state;
    if (!pi_is_possible()) {
        not_possible_here(NO_PI);
    }
    assert_int_equal(med_port_thread_start(&thread, NULL, pi_adds_as_thread, &counter), MEDLEY_OK);
    assert_true(pi_adds(&counter));
    assert_int_equal(med_port_thread_join(thread, &result), MEDLEY_OK);
    assert_ptr_equal(result, &counter);
    assert_int_equal(counter.value, 2 * LOCKED_ADDS);
    assert_int_equal(counter.word, 0);
}

static int
pi_adds_as_process(test_process *parent, void *argument)
{
    (void)parent;
    child_expect(pi_adds(argument));
    return 0;
}

static void
pi_lock_excludes_processes(void **state)
{
    (void)state;
    if (!pi_is_possible()) {
        not_possible_here(NO_PI);
    }
    pi_counter *counter = process_shared_memory(sizeof *counter);
    test_process child;
    counter->scope = MED_PORT_SCOPE_SHARED;
    process_start(&child, pi_adds_as_process, counter);
    assert_true(pi_adds(counter));
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(counter->value, 2 * LOCKED_ADDS);
    (void)munmap(counter, sizeof *counter);
}

/* Takes the lock on the fast path, of which the kernel knows nothing. */
static int
pi_holds(test_process *parent, void *argument)
{
    child_expect(pi_acquire(argument, MED_PORT_SCOPE_SHARED) == MEDLEY_OK);
    process_say(parent, 'h');
    (void)process_hear(parent);
    return 0;
}

static void
pi_lock_has_deadlines(void **state)
{
    (void)state;
    if (!pi_is_possible()) {
        not_possible_here(NO_PI);
    }
    uint32_t *word = process_shared_memory(sizeof *word);
    test_process child;
    process_start(&child, pi_holds, word);
    assert_int_equal(process_hear(&child), 'h');
    uint64_t deadline_ns = med_port_clock_ns() + 3000000;
    assert_int_equal(med_port_pi_lock(word, deadline_ns, MED_PORT_SCOPE_SHARED), MEDLEY_TIMEOUT);
    assert_true(med_port_clock_ns() >= deadline_ns);
    assert_int_equal(med_port_pi_unlock(word, MED_PORT_SCOPE_SHARED), MEDLEY_ERR_NOT_OWNER);
    process_kill(&child);
    assert_int_equal(process_join(&child), -SIGKILL);
    (void)munmap(word, sizeof *word);
}

static int
pi_waits_for_the_dead(test_process *parent, void *argument)
{
    process_say(parent, 'w');
    child_expect(med_port_pi_lock(argument, MED_PORT_FOREVER, MED_PORT_SCOPE_SHARED) ==
                 MEDLEY_ERR_OWNER_DIED);
    uint32_t *word = argument;
    child_expect((*word & MED_PORT_PI_OWNER_MASK) == med_port_thread_id());
    child_expect(pi_release(word, MED_PORT_SCOPE_SHARED) == MEDLEY_OK);
    return 0;
}

/* The kernel knows of an owner once somebody waits for him; then his death is told. */
static void
pi_owner_dies_with_a_waiter(void **state)
{
    (void)state;
    if (!pi_is_possible()) {
        not_possible_here(NO_PI);
    }
    uint32_t *word = process_shared_memory(sizeof *word);
    test_process owner;
    test_process waiter;
    process_start(&owner, pi_holds, word);
    assert_int_equal(process_hear(&owner), 'h');
    process_start(&waiter, pi_waits_for_the_dead, word);
    assert_int_equal(process_hear(&waiter), 'w');
    /* The kernel sets the topmost bit when the waiter is queued. */
    while ((__atomic_load_n(word, __ATOMIC_RELAXED) & 0x80000000u) == 0) {
        med_port_yield();
    }
    process_kill(&owner);
    assert_int_equal(process_join(&waiter), 0);
    assert_int_equal(process_join(&owner), -SIGKILL);
    assert_int_equal(*word, 0);
    (void)munmap(word, sizeof *word);
}

static void
pi_owner_dies_alone(void **state)
{
    (void)state;
    if (!pi_is_possible()) {
        not_possible_here(NO_PI);
    }
    uint32_t *word = process_shared_memory(sizeof *word);
    test_process owner;
    process_start(&owner, pi_holds, word);
    assert_int_equal(process_hear(&owner), 'h');
    process_kill(&owner);
    assert_int_equal(process_join(&owner), -SIGKILL);
    assert_int_equal(med_port_pi_lock(word, MED_PORT_FOREVER, MED_PORT_SCOPE_SHARED),
                     MEDLEY_ERR_PEER_DIED);
    (void)munmap(word, sizeof *word);
}

/* Is the machine's second process one of the kernel's own, as the first of those is where they are
 * seen? PF_KTHREAD of the flags that /proc tells. */
static bool
second_is_the_kernels(void)
{
    unsigned flags = 0;
    FILE *file = fopen("/proc/2/stat", "r");
    if (!file) {
        return false;
    }
    int got = fscanf(file, "2 (%*[^)]) %*c %*d %*d %*d %*d %*d %u", &flags);
    (void)fclose(file);
    return got == 1 && (flags & 0x00200000u);
}

/* A number that a peer scribbled: nobody would ever give that lock back. */
static void
pi_owner_is_the_kernels(void **state)
{
    (void)state;
    if (!pi_is_possible()) {
        not_possible_here(NO_PI);
    }
    if (!second_is_the_kernels()) {
        not_possible_here("the kernel's threads are not seen here");
    }
    uint32_t word = 2;
    assert_int_equal(med_port_pi_lock(&word, MED_PORT_FOREVER, MED_PORT_SCOPE_SHARED),
                     MEDLEY_ERR_PEER_DIED);
}

/* ---- Whose thread numbers -------------------------------------------------------------------- */

/* A program's own handler, placed before the port is asked anything. */
static uint32_t space_in_handler;

static void
asks_in_the_child(void)
{
    space_in_handler = med_port_pi_space();
}

static int
is_in_its_own_space(test_process *parent, void *argument)
{
    const uint32_t *parents = argument;
    struct stat st;
    (void)parent;
    child_expect(stat("/proc/self/ns/pid", &st) == 0);
    child_expect(med_port_pi_space() == (uint32_t)st.st_ino);
    child_expect(med_port_pi_space() != *parents);
    child_expect(med_port_pi_space() == space_in_handler);
    return 0;
}

static int
has_a_child_in_a_space_of_its_own(test_process *parent, void *argument)
{
    uint32_t mine = med_port_pi_space();
    test_process child;
    (void)parent;
    (void)argument;
    if (unshare(CLONE_NEWPID) != 0) {
        return 77;
    }
    child_expect(med_port_pi_space() == mine); /* it stays where it is */
    process_start(&child, is_in_its_own_space, &mine);
    return process_join(&child);
}

static void
child_in_another_space_knows_its_own(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, has_a_child_in_a_space_of_its_own, NULL);
    int status = process_join(&child);
    if (status == 77) {
        not_possible_here("no PID namespace of one's own");
    }
    assert_int_equal(status, 0);
}

static int
does_not_know_its_own(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    child_expect(med_port_pi_space() == 0);
    return 0;
}

static int
has_a_child_without_proc(test_process *parent, void *argument)
{
    test_process child;
    (void)parent;
    (void)argument;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/proc", "tmpfs", 0, NULL) != 0) {
        return 77;
    }
    process_start(&child, does_not_know_its_own, NULL);
    return process_join(&child);
}

static void
child_without_proc_knows_of_no_space(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, has_a_child_without_proc, NULL);
    int status = process_join(&child);
    if (status == 77) {
        not_possible_here("no mounts of one's own");
    }
    assert_int_equal(status, 0);
}

/* ---- Doorbells ------------------------------------------------------------------------------- */

static int
rings_five_times(test_process *parent, void *argument)
{
    const med_port_doorbell *bell = argument;
    (void)parent;
    for (int i = 0; i < 5; i++) {
        child_expect(med_port_doorbell_ring(*bell) == MEDLEY_OK);
    }
    return 0;
}

static void
doorbell_is_heard_from_a_child_and_by_poll(void **state)
{
    med_port_doorbell bell;
    test_process child;
    (void)state;
    assert_int_equal(med_port_doorbell_create(&bell), MEDLEY_OK);
    process_start(&child, rings_five_times, &bell);
    struct pollfd ready = {.fd = (int)bell.handle, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, -1), 1);
    assert_int_equal(process_join(&child), 0);
    uint64_t count = 0;
    assert_int_equal(med_port_doorbell_wait(bell, MED_PORT_FOREVER, &count), MEDLEY_OK);
    assert_int_equal(count, 5);
    med_port_doorbell_destroy(&bell);
    assert_int_equal(med_port_doorbell_wait(bell, 1, NULL), MEDLEY_ERR_ARGUMENT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wake_reaches_another_process),
        cmocka_unit_test(wake_counts),
        cmocka_unit_test(deadline_is_not_early_between_processes),
        cmocka_unit_test(pi_lock_excludes_threads),
        cmocka_unit_test(pi_lock_excludes_processes),
        cmocka_unit_test(pi_lock_has_deadlines),
        cmocka_unit_test(pi_owner_dies_with_a_waiter),
        cmocka_unit_test(pi_owner_dies_alone),
        cmocka_unit_test(pi_owner_is_the_kernels),
        cmocka_unit_test(child_in_another_space_knows_its_own),
        cmocka_unit_test(child_without_proc_knows_of_no_space),
        cmocka_unit_test(doorbell_is_heard_from_a_child_and_by_poll),
    };
    (void)pthread_atfork(NULL, NULL, asks_in_the_child);
    return cmocka_run_group_tests_name("port/linux/wait", tests, NULL, NULL);
}
