/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads on Linux: attributes, and every way a thread can end. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "port/port.h"
#include "support/process.h"
#include "support/unit.h"

typedef struct seen {
    int processor;
    int policy;
    int priority;
    size_t stack_size_bytes;
    int detach_state;
    char name[32];
} seen;

static void *
looks_around(void *argument)
{
    seen *s = argument;
    struct sched_param parameter;
    pthread_attr_t attributes;
    s->processor = sched_getcpu();
    (void)pthread_getschedparam(pthread_self(), &s->policy, &parameter);
    s->priority = parameter.sched_priority;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        (void)pthread_attr_getstacksize(&attributes, &s->stack_size_bytes);
        (void)pthread_attr_destroy(&attributes);
    }
    med_port_thread_name("a name of more than 15");
    (void)pthread_getname_np(pthread_self(), s->name, sizeof s->name);
    return argument;
}

static seen
start_and_join(const med_port_thread_attributes *attributes)
{
    med_port_thread thread;
    seen s = {.processor = -1};
    void *result = NULL;
    assert_int_equal(med_port_thread_start(&thread, attributes, looks_around, &s), MEDLEY_OK);
    assert_int_equal(med_port_thread_join(thread, &result), MEDLEY_OK);
    assert_ptr_equal(result, &s);
    return s;
}

static void
affinity_is_kept(void **state)
{
    cpu_set_t mine;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    for (uint32_t processor = 0; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET(processor, &mine)) {
            const med_processor_set only = med_processor_set_of(processor);
            med_port_thread_attributes one = {.processors = &only};
            assert_int_equal(start_and_join(&one).processor, (int)processor);
        }
    }
}

static void
stack_size_is_kept(void **state)
{
    med_port_thread_attributes large = {.stack_size_bytes = (size_t)24 << 20};
    (void)state;
    assert_true(start_and_join(&large).stack_size_bytes >= large.stack_size_bytes);
}

static void
name_is_cut(void **state)
{
    (void)state;
    assert_string_equal(start_and_join(NULL).name, "a name of more ");
}

static void
priority_is_kept(void **state)
{
    med_port_thread_attributes urgent = {.priority = 3};
    med_port_thread thread;
    seen s = {0};
    (void)state;
    medley_status_t status = med_port_thread_start(&thread, &urgent, looks_around, &s);
    if (status == MEDLEY_ERR_ACCESS) {
        not_possible_here("no permission for SCHED_FIFO");
    }
    assert_int_equal(status, MEDLEY_OK);
    assert_int_equal(med_port_thread_join(thread, NULL), MEDLEY_OK);
    if (s.policy != SCHED_FIFO) {
        not_possible_here("the emulator does not pass scheduling on");
    }
    assert_int_equal(s.priority, 3);
}

static void
native_attributes_win(void **state)
{
    pthread_attr_t native;
    (void)state;
    assert_int_equal(pthread_attr_init(&native), 0);
    assert_int_equal(pthread_attr_setstacksize(&native, (size_t)48 << 20), 0);
    med_port_thread_attributes both = {.native = &native, .stack_size_bytes = 1, .priority = 1000};
    assert_true(start_and_join(&both).stack_size_bytes >= (size_t)48 << 20);
    (void)pthread_attr_destroy(&native);
}

static void
wrong_attributes_are_refused(void **state)
{
    const med_processor_set none = {{0}};
    const med_processor_set nowhere = med_processor_set_of(MED_PROCESSORS_MAX - 1);
    const med_port_thread_attributes wrong[] = {
        {.stack_size_bytes = 1}, {.priority = 1000},       {.priority = -1},
        {.processors = &none},   {.processors = &nowhere},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        med_port_thread thread = {.handle = 77};
        assert_int_equal(med_port_thread_start(&thread, &wrong[i], looks_around, NULL),
                         MEDLEY_ERR_ARGUMENT);
        assert_int_equal(thread.handle, 77);
    }
}

/* ---- The exit hook, whichever way the thread ends -------------------------------------------- */

static uint32_t hooks;

static void
count_hook(void *self)
{
    (void)__atomic_fetch_add((uint32_t *)self, 1, __ATOMIC_RELAXED);
    (void)__atomic_fetch_add(&hooks, 1, __ATOMIC_RELEASE);
    (void)med_port_wake(&hooks, 1, MED_PORT_SCOPE_PROCESS);
}

static void *
sets_self_and_pauses(void *argument)
{
    med_port_self_set(argument);
    while (pause() != 0) { /* for ever: it returns only by failing */
    }
    return NULL;
}

static void *
sets_self(void *argument)
{
    med_port_self_set(argument);
    return NULL;
}

static void
hook_runs_on_cancel(void **state)
{
    med_port_thread thread;
    uint32_t own = 0;
    (void)state;
    assert_int_equal(med_port_self_on_exit(count_hook), MEDLEY_OK);
    assert_int_equal(med_port_thread_start(&thread, NULL, sets_self_and_pauses, &own), MEDLEY_OK);
    assert_int_equal(pthread_cancel((pthread_t)thread.handle), 0);
    assert_int_equal(med_port_thread_join(thread, NULL), MEDLEY_OK);
    /* Cancelled before it set the pointer, it owes nothing. */
    assert_true(own <= 1);
}

static void
hook_runs_for_foreign_threads(void **state)
{
    pthread_t thread;
    uint32_t own = 0;
    (void)state;
    assert_int_equal(med_port_self_on_exit(count_hook), MEDLEY_OK);
    assert_int_equal(pthread_create(&thread, NULL, sets_self, &own), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(own, 1);
}

static void
hook_runs_for_detached_threads(void **state)
{
    static uint32_t own;
    med_port_thread thread;
    (void)state;
    own = 0;
    hooks = 0;
    assert_int_equal(med_port_self_on_exit(count_hook), MEDLEY_OK);
    assert_int_equal(med_port_thread_start(&thread, NULL, sets_self, &own), MEDLEY_OK);
    assert_int_equal(med_port_thread_detach(thread), MEDLEY_OK);
    while (__atomic_load_n(&hooks, __ATOMIC_ACQUIRE) == 0) {
        (void)med_port_wait(&hooks, 0, MED_PORT_FOREVER, MED_PORT_SCOPE_PROCESS);
    }
    assert_int_equal(own, 1);
}

/* In a process of its own, where no hook is registered yet. */
static int
hook_comes_after_self(test_process *parent, void *argument)
{
    uint32_t own = 0;
    (void)parent;
    (void)argument;
    med_port_self_set(&own);
    child_expect(med_port_self_on_exit(count_hook) == MEDLEY_OK);
    child_expect(med_port_self_get() == &own);
    med_port_self_set(NULL);
    child_expect(own == 0);
    return 0;
}

static void
self_may_be_set_before_the_hook(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, hook_comes_after_self, NULL);
    assert_int_equal(process_join(&child), 0);
}

/* ---- Process-wide handlers ------------------------------------------------------------------- */

static uint32_t *handled;

static void
note_before(void)
{
    *handled += 1000;
}

static void
note_parent(void)
{
    *handled += 10;
}

static void
note_child(void)
{
    *handled += 1;
}

static void
note_exit(void)
{
    *handled += 100;
}

static int
forks_and_exits(test_process *parent, void *argument)
{
    (void)parent;
    handled = argument;
    child_expect(med_port_on_fork(note_before, note_parent, note_child) == MEDLEY_OK);
    child_expect(med_port_on_exit(note_exit) == MEDLEY_OK);
    pid_t pid = fork();
    child_expect(pid >= 0);
    if (pid == 0) {
        _exit(*handled % 10 == 1 && *handled >= 1000 ? 0 : 1); /* by _exit, no handler runs */
    }
    int status = 0;
    child_expect(waitpid(pid, &status, 0) == pid && status == 0);
    exit(0);
}

static void
fork_and_exit_are_handled(void **state)
{
    test_process child;
    uint32_t *count = process_shared_memory(sizeof *count);
    (void)state;
    process_start(&child, forks_and_exits, count);
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(*count, 1111);
    (void)munmap(count, sizeof *count);
}

static int
has_other_ids(test_process *parent, void *argument)
{
    const uint32_t *ids = argument;
    child_expect(med_port_process_id() != ids[0] && med_port_thread_id() != ids[1]);
    child_expect(med_port_process_id() == (uint32_t)getpid() && (uint32_t)parent->pid == ids[0]);
    return 0;
}

static void
ids_are_each_processes_own(void **state)
{
    uint32_t ids[2] = {med_port_process_id(), med_port_thread_id()};
    test_process child;
    (void)state;
    process_start(&child, has_other_ids, ids);
    assert_int_equal(process_join(&child), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_may_be_set_before_the_hook), /* first: it wants no hook yet */
        cmocka_unit_test(affinity_is_kept),
        cmocka_unit_test(stack_size_is_kept),
        cmocka_unit_test(name_is_cut),
        cmocka_unit_test(priority_is_kept),
        cmocka_unit_test(native_attributes_win),
        cmocka_unit_test(wrong_attributes_are_refused),
        cmocka_unit_test(hook_runs_on_cancel),
        cmocka_unit_test(hook_runs_for_foreign_threads),
        cmocka_unit_test(hook_runs_for_detached_threads),
        cmocka_unit_test(fork_and_exit_are_handled),
        cmocka_unit_test(ids_are_each_processes_own),
    };
    return cmocka_run_group_tests_name("port/linux/thread", tests, NULL, NULL);
}
