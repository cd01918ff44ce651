/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Somebody stays in the section of a name: who waits for it is told who that is, and who only looks
 * does not wait. */
#include <signal.h>
#include <string.h>

#include "port/port.h"
#include "support/mounts.h"
#include "support/process.h"
#include "support/shared_name.h"
#include "support/unit.h"

#define PAGE 4096u

static int
enters_and_stops(test_process *parent, void *argument)
{
    med_port_shared shared;
    (void)parent;
    med_port_shared_forget(argument);
    child_expect(med_port_shared_open_until(name, MED_PORT_FOREVER, &shared) == MEDLEY_OK);
    child_expect(med_port_slot_claim(&shared, 3) == MEDLEY_OK);
    child_expect(raise(SIGSTOP) == 0);
    med_port_shared_unlock(&shared);
    (void)process_hear(parent);
    return 0;
}

static void
process_is_named(const char *why, pid_t pid)
{
    static const char *const forms[] = {"process %d has it locked", "'kill -CONT %d'",
                                        "'kill -9 %d'"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char words[64];
        (void)snprintf(words, sizeof words, forms[i], (int)pid);
        assert_non_null(strstr(why, words));
    }
}

static void
stopped_process_is_named(void **state)
{
    test_process child;
    med_port_shared shared;
    (void)state;
    process_start(&child, enters_and_stops, NULL);
    assert_true(process_await_stop(child.pid));
    assert_int_equal(med_port_shared_open_until(name, 0, &shared), MEDLEY_TIMEOUT);
    process_is_named(shared.why, child.pid);
    uint64_t soon_ns = med_port_clock_ns() + 10000000;
    assert_int_equal(med_port_shared_open_existing_until(name, soon_ns, &shared), MEDLEY_TIMEOUT);
    assert_true(med_port_clock_ns() >= soon_ns);
    process_is_named(shared.why, child.pid);
    assert_int_equal(kill(child.pid, SIGCONT), 0);
    open_ok(&shared);
    assert_true(med_port_slot_held(&shared, 3));
    med_port_shared_close(&shared);
    process_say(&child, 'g');
    assert_int_equal(process_join(&child), 0);
}

static void
stopped_process_is_named_to_who_comes_again(void **state)
{
    test_process child;
    med_port_shared shared;
    (void)state;
    open_ok(&shared);
    med_port_shared_unlock(&shared);
    process_start(&child, enters_and_stops, &shared);
    assert_true(process_await_stop(child.pid));
    assert_int_equal(med_port_shared_lock_until(&shared, 0), MEDLEY_TIMEOUT);
    process_is_named(shared.why, child.pid);
    process_kill(&child);
    assert_int_equal(med_port_shared_lock_until(&shared, 0), MEDLEY_OK);
    med_port_shared_close(&shared);
    assert_int_equal(process_join(&child), -SIGKILL);
}

/* One who has no number for the holder. */
static int
looks_from_another_namespace(test_process *parent, void *argument)
{
    med_port_shared shared;
    (void)parent;
    med_port_shared_forget(argument);
    child_expect(med_port_shared_open_until(name, 0, &shared) == MEDLEY_TIMEOUT);
    child_expect(strstr(shared.why, "cannot be seen from here (of another container"));
    return 0;
}

/* The first child after it is in the new namespace. 77: not permitted. */
static int
makes_a_namespace(test_process *parent, void *argument)
{
    test_process child;
    (void)parent;
    if (!namespace_of_ones_own(CLONE_NEWPID)) {
        return 77;
    }
    process_start(&child, looks_from_another_namespace, argument);
    return process_join(&child);
}

static void
process_of_another_namespace_is_described(void **state)
{
    test_process child;
    med_port_shared shared;
    (void)state;
    open_ok(&shared);
    process_start(&child, makes_a_namespace, &shared);
    int status = process_join(&child);
    med_port_shared_close(&shared);
    if (status == 77) {
        not_possible_here("no PID namespace of one's own");
    }
    assert_int_equal(status, 0);
}

static void *
enters_others(void *argument)
{
    med_port_shared *others = argument;
    char third[sizeof name + 8];
    (void)snprintf(third, sizeof third, "%s.third", name);
    bool both = med_port_shared_lock_until(&others[0], 0) == MEDLEY_TIMEOUT &&
                med_port_shared_open_until(third, 0, &others[1]) == MEDLEY_TIMEOUT;
    return (void *)(uintptr_t)both;
}

static void
thread_in_the_section_is_described(void **state)
{
    med_port_shared shared;
    med_port_shared others[2];
    med_port_thread thread;
    void *both;
    (void)state;
    (void)snprintf(name, sizeof name, "shared_test.%d.other", (int)getpid());
    open_ok(&others[0]);
    med_port_shared_remove(&others[0]);
    med_port_shared_unlock(&others[0]);
    (void)set_up(state);
    open_ok(&shared);
    assert_int_equal(med_port_thread_start(&thread, NULL, enters_others, others), MEDLEY_OK);
    assert_int_equal(med_port_thread_join(thread, &both), MEDLEY_OK);
    med_port_shared_close(&shared);
    med_port_shared_close(&others[0]);
    assert_true(both);
    assert_non_null(strstr(others[0].why, "another thread of this process"));
    assert_non_null(strstr(others[1].why, "another thread of this process"));
}

static void
aside_waits_for_nobody(void **state)
{
    test_process child;
    med_port_shared shared;
    (void)state;
    assert_int_equal(med_port_shared_open_aside(name, &shared), MEDLEY_ERR_NOT_FOUND);
    process_start(&child, enters_and_stops, NULL);
    assert_true(process_await_stop(child.pid));
    assert_int_equal(truncate(file_path(), PAGE), 0);
    assert_int_equal(med_port_shared_open_aside(name, &shared), MEDLEY_OK);
    assert_false(shared.in_section);
    assert_int_equal(shared.size_bytes, PAGE);
    assert_string_equal(shared.name, name);
    assert_int_equal(med_port_shared_lock_until(&shared, 0), MEDLEY_TIMEOUT);
    assert_int_equal(med_port_shared_map(&shared), MEDLEY_OK);
    assert_true(med_port_slot_held(&shared, 3));
    process_kill(&child);
    assert_false(med_port_slot_held(&shared, 3));
    med_port_shared_close(&shared);
    assert_int_equal(process_join(&child), -SIGKILL);
    assert_int_equal(med_port_shared_open_aside(name, &shared), MEDLEY_EMPTY);
    open_ok(&shared); /* nothing of it is left open, or locked */
    med_port_shared_close(&shared);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(stopped_process_is_named),
        CASE(stopped_process_is_named_to_who_comes_again),
        CASE(process_of_another_namespace_is_described),
        CASE(thread_in_the_section_is_described),
        CASE(aside_waits_for_nobody),
    };
    return cmocka_run_group_tests_name("port/linux/section_patience", tests, NULL, NULL);
}
