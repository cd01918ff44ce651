/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The asymmetric fence on Linux: the store-buffering litmus between threads and between processes,
 * while the machine stops them for each other's heavy halves (prepared), while it does not yet, and
 * across the change. Both missing the other's store is never allowed.
 */
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>

#include "port/litmus.h"
#include "port/port.h"
#include "support/process.h"
#include "support/unit.h"

#define ROUNDS 5000u
#define ROUNDS_OF_FENCES 200u /* fewer than the fences after which a process prepares itself */

static bool
machine_has_membarrier(void)
{
    long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    return commands > 0 && commands & MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
}

/* False where the machine cannot (an emulator without membarrier). */
static bool
prepare_and_await(med_port_scope scope)
{
    uint64_t deadline_ns = med_port_clock_ns() + 2000000000u;
    med_port_barrier_prepare(scope);
    while (!__atomic_load_n(&med_port_barrier_ready[scope], __ATOMIC_ACQUIRE)) {
        if (med_port_clock_ns() > deadline_ns) {
            return false;
        }
        med_port_yield();
    }
    return true;
}

static int
light_process(test_process *parent, void *argument)
{
    litmus *l = argument;
    bool prepared = l->prepare && prepare_and_await(l->scope);
    process_say(parent, prepared || !l->prepare ? 'p' : 'n');
    litmus_light(l);
    return 0;
}

static void *
light_thread(void *argument)
{
    litmus_light(argument);
    return NULL;
}

/* A child on the light side. False when it could not prepare itself. */
static bool
run_processes(uint32_t rounds, bool prepare)
{
    litmus *l = process_shared_memory(sizeof *l);
    test_process child;
    l->scope = MED_PORT_SCOPE_SHARED;
    l->rounds = rounds;
    l->prepare = prepare;
    process_start(&child, light_process, l);
    bool prepared = process_hear(&child) == 'p';
    assert_int_equal(litmus_heavy(l), 0);
    assert_int_equal(process_join(&child), 0);
    (void)munmap(l, sizeof *l);
    return prepared;
}

static void
run_threads(uint32_t rounds, med_port_scope scope)
{
    static litmus l;
    pthread_t thread; /* the library's: the port's start would prepare the process */
    l = (litmus){.scope = scope, .rounds = rounds};
    assert_int_equal(pthread_create(&thread, NULL, light_thread, &l), 0);
    assert_int_equal(litmus_heavy(&l), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Order matters: this process becomes prepared on the way, its children inherit what it is. */

static void
processes_unprepared(void **state)
{
    (void)state;
    assert_int_equal(med_port_barrier_ready[MED_PORT_SCOPE_SHARED], 0);
    (void)run_processes(ROUNDS_OF_FENCES, false);
}

static void
processes_across_the_change(void **state)
{
    (void)state;
    (void)run_processes(ROUNDS, false);
}

static void
processes_prepared(void **state)
{
    (void)state;
    if (!run_processes(ROUNDS, true)) {
        not_possible_here("no membarrier: the light half stays a fence");
    }
}

static void
threads_unprepared(void **state)
{
    (void)state;
    assert_int_equal(med_port_barrier_ready[MED_PORT_SCOPE_PROCESS], 0);
    run_threads(ROUNDS_OF_FENCES, MED_PORT_SCOPE_PROCESS);
}

static void
threads_across_the_change(void **state)
{
    (void)state;
    run_threads(ROUNDS, MED_PORT_SCOPE_PROCESS);
}

static void
threads_prepared(void **state)
{
    (void)state;
    if (!prepare_and_await(MED_PORT_SCOPE_PROCESS) || !prepare_and_await(MED_PORT_SCOPE_SHARED)) {
        not_possible_here("no membarrier: the light half stays a fence");
    }
    run_threads(ROUNDS, MED_PORT_SCOPE_PROCESS);
    run_threads(ROUNDS, MED_PORT_SCOPE_SHARED);
}

/* The child of a prepared process is stopped as its parent is, or makes fences: either will do. */
static void
child_of_a_prepared_process(void **state)
{
    (void)state;
    (void)run_processes(ROUNDS, false);
}

static bool
process_is_ready(void)
{
    return __atomic_load_n(&med_port_barrier_ready[MED_PORT_SCOPE_PROCESS], __ATOMIC_RELAXED);
}

static int
prepares_alone(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    if (!__libc_single_threaded) {
        return 78;
    }
    for (int i = 0; i < 3; i++) {
        med_port_barrier_prepare(MED_PORT_SCOPE_PROCESS);
    }
    return process_is_ready() ? 0 : 77;
}

static void *
thread_of_nothing(void *argument)
{
    return argument;
}

static int
starts_its_first_thread(test_process *parent, void *argument)
{
    med_port_thread thread;
    (void)parent;
    (void)argument;
    if (!__libc_single_threaded) {
        return 78;
    }
    child_expect(med_port_thread_start(&thread, NULL, thread_of_nothing, NULL) == MEDLEY_OK);
    bool ready = process_is_ready();
    child_expect(med_port_thread_join(thread, NULL) == MEDLEY_OK);
    return ready ? 0 : 77;
}

static void
expect_ready_at_once(int (*body)(test_process *parent, void *argument))
{
    test_process child;
    process_start(&child, body, NULL);
    int status = process_join(&child);
    if (status == 78) {
        not_possible_here("the sanitizer has a thread of its own");
    }
    if (status == 77) {
        not_possible_here("no membarrier: the light half stays a fence");
    }
    assert_int_equal(status, 0);
}

/* Registering is cheap while there is one thread, so it is done at once. */
static void
single_thread_prepares_at_once(void **state)
{
    (void)state;
    expect_ready_at_once(prepares_alone);
}

static void
first_thread_finds_the_process_prepared(void **state)
{
    (void)state;
    expect_ready_at_once(starts_its_first_thread);
}

/* ---- The change ------------------------------------------------------------------------------ */

/* By scope, what the kernel has done. */
static uint32_t registered[2];
static uint32_t stopped_since[2]; /* while nobody went without fences yet */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static void
note_membarrier(med_port_scope scope, bool registers)
{
    if (registers) {
        __atomic_store_n(&registered[scope], 1, __ATOMIC_RELAXED);
    } else if (__atomic_load_n(&registered[scope], __ATOMIC_RELAXED) &&
               !__atomic_load_n(&med_port_barrier_ready[scope], __ATOMIC_RELAXED)) {
        __atomic_store_n(&stopped_since[scope], 1, __ATOMIC_RELAXED);
    }
}

static void
note_command(long command)
{
    switch (command) {
    case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED:
    case MEMBARRIER_CMD_PRIVATE_EXPEDITED:
        note_membarrier(MED_PORT_SCOPE_PROCESS, command != MEMBARRIER_CMD_PRIVATE_EXPEDITED);
        break;
    case MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED:
    case MEMBARRIER_CMD_GLOBAL_EXPEDITED:
        note_membarrier(MED_PORT_SCOPE_SHARED, command != MEMBARRIER_CMD_GLOBAL_EXPEDITED);
        break;
    default:
        break;
    }
}

/* The linker puts it in the place of the library's. */
long
__wrap_syscall(long number, ...)
{
    long arguments[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) {
        arguments[i] = va_arg(list, long);
    }
    va_end(list);
    long rc = __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
                             arguments[4], arguments[5]);
    if (number == SYS_membarrier && rc == 0) {
        note_command(arguments[0]);
    }
    return rc;
}

static int
changes(test_process *parent, void *argument)
{
    med_port_scope scope = *(med_port_scope *)argument;
    (void)parent;
    child_expect(prepare_and_await(scope));
    return __atomic_load_n(&stopped_since[scope], __ATOMIC_RELAXED) ? 0 : 1;
}

/* What a processor has loaded ahead of its turn, it has before that. */
static void
everybody_is_stopped_before_the_change(void **state)
{
    med_port_scope scopes[] = {MED_PORT_SCOPE_PROCESS, MED_PORT_SCOPE_SHARED};
    (void)state;
    if (!machine_has_membarrier()) {
        not_possible_here("no membarrier: the light half stays a fence");
    }
    for (int i = 0; i < 2; i++) {
        test_process child;
        process_start(&child, changes, &scopes[i]);
        assert_int_equal(process_join(&child), 0);
    }
}

/* ---- Registering that does not come about ---------------------------------------------------- */

static bool threads_are_refused;
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* The linker puts it in the place of the library's. */
int
__wrap_pthread_create(pthread_t *thread,
                      const pthread_attr_t *attributes,
                      void *(*entry)(void *),
                      void *argument)
{
    return threads_are_refused ? EAGAIN
                               : __real_pthread_create(thread, attributes, entry, argument);
}

static int
is_refused_a_thread(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    threads_are_refused = true;
    med_port_barrier_prepare(MED_PORT_SCOPE_SHARED);
    threads_are_refused = false;
    return prepare_and_await(MED_PORT_SCOPE_SHARED) ? 0 : 77;
}

static void
refused_thread_is_asked_for_again(void **state)
{
    test_process child;
    (void)state;
    if (!machine_has_membarrier()) {
        not_possible_here("no membarrier: the light half stays a fence");
    }
    process_start(&child, is_refused_a_thread, NULL);
    assert_int_equal(process_join(&child), 0);
}

/* NULL, or why a child of threads cannot start one. */
static const char *
thread_after_fork_impossible(void)
{
#if defined(__SANITIZE_THREAD__)
    return "the thread sanitizer ends a child of threads that starts one";
#elif defined(__SANITIZE_ADDRESS__)
    return "the address sanitizer's memory may be locked by a thread that the child has not";
#elif defined(MEDLEY_TEST_EMULATED)
    return "qemu-user ends a child of threads that starts one";
#else
    return NULL;
#endif
}

/* 78: born too late, its parent was ready. */
static int
is_born_unready(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    if (__atomic_load_n(&med_port_barrier_ready[MED_PORT_SCOPE_SHARED], __ATOMIC_RELAXED)) {
        return 78;
    }
    return prepare_and_await(MED_PORT_SCOPE_SHARED) ? 0 : 77;
}

static int
forks_while_it_registers(test_process *parent, void *argument)
{
    test_process child;
    (void)parent;
    med_port_barrier_prepare(MED_PORT_SCOPE_SHARED);
    process_start(&child, is_born_unready, argument);
    return process_join(&child);
}

static void
fork_while_registering(void **state)
{
    int status = 78;
    (void)state;
    if (thread_after_fork_impossible()) {
        not_possible_here(thread_after_fork_impossible());
    }
    if (!machine_has_membarrier()) {
        not_possible_here("no membarrier: the light half stays a fence");
    }
    for (int tries = 0; status == 78 && tries < 50; tries++) {
        test_process child;
        process_start(&child, forks_while_it_registers, NULL);
        status = process_join(&child);
    }
    if (status == 78) {
        not_possible_here("registering takes no time");
    }
    assert_int_equal(status, 0);
}

static bool changes_in_forks;

/* As a thread that has registered just now. */
static void
change_in_the_fork(void)
{
    if (changes_in_forks) {
        __atomic_store_n(&med_port_barrier_ready[MED_PORT_SCOPE_PROCESS], 1, __ATOMIC_RELEASE);
    }
}

/* Placed before the port's own handler, as this file is linked before it: so it runs after it. */
__attribute__((constructor(101))) static void
handler_place(void)
{
    if (pthread_atfork(change_in_the_fork, NULL, NULL) != 0) {
        abort();
    }
}

static int
is_born_in_the_change(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    return (int)__atomic_load_n(&med_port_barrier_ready[MED_PORT_SCOPE_PROCESS], __ATOMIC_RELAXED);
}

static int
changes_while_it_forks(test_process *parent, void *argument)
{
    test_process child;
    (void)parent;
    changes_in_forks = true;
    process_start(&child, is_born_in_the_change, argument);
    return process_join(&child);
}

/* Such a child would have neither fence nor registration. */
static void
change_in_a_fork_is_the_parents(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, changes_while_it_forks, NULL);
    assert_int_equal(process_join(&child), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_thread_prepares_at_once),
        cmocka_unit_test(first_thread_finds_the_process_prepared),
        cmocka_unit_test(refused_thread_is_asked_for_again),
        cmocka_unit_test(fork_while_registering),
        cmocka_unit_test(everybody_is_stopped_before_the_change),
        cmocka_unit_test(change_in_a_fork_is_the_parents),
        cmocka_unit_test(processes_unprepared),
        cmocka_unit_test(processes_across_the_change),
        cmocka_unit_test(processes_prepared),
        cmocka_unit_test(threads_unprepared),
        cmocka_unit_test(threads_across_the_change),
        cmocka_unit_test(threads_prepared),
        cmocka_unit_test(child_of_a_prepared_process),
    };
    return cmocka_run_group_tests_name("port/linux/barrier", tests, NULL, NULL);
}
