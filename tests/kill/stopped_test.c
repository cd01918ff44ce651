/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Stopped instead of killed: a process that gets SIGSTOP while it is alone at opening a system. It
 * lives, so nobody takes its place; but nobody waits for it without end either, and whoever waited
 * is told whom to continue or to kill. Such a process is stepped to its first instruction in the
 * section and stopped there.
 */
#include "support/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "medley/medley.h"
#include "mrapi/system.h"
#include "mrapi/view.h"
#include "support/logged.h"
#include "support/node.h"
#include "support/partition_file.h"
#include "support/process.h"
#include "support/step.h"
#include "support/system.h"

#define SECTION_BYTE ((off_t)1 << 30) /* the file's lock of the section: src/port/linux/shared.h */

static step_child stopped;

/* ---- Who is stopped -------------------------------------------------------------------------- */

static void
opens(void)
{
    child_expect(medley_system_open(test_system_name()) == MEDLEY_OK);
}

/* For one who is not in the system: closing the file drops all locks on it. */
static bool
is_in_the_section(pid_t pid)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = SECTION_BYTE, .l_len = 1};
    int fd = open(partition_path(test_system_name()), O_RDWR | O_CLOEXEC);
    bool found = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (fd >= 0) {
        (void)close(fd);
    }
    return found && lock.l_pid == pid;
}

static void
stop_one_in_the_section(void)
{
    static const step_operation operation = {.operate = opens};
    const char *impossible = step_impossible();
    if (impossible) {
        not_possible_here(impossible);
    }
    stopped = step_start(&operation);
    while (!is_in_the_section(stopped.process)) {
        assert_false(step_run(stopped, 1, NULL).ended);
    }
    step_stop(stopped);
}

/* On return it has opened the system, and stays in it. */
static void
let_it_go_on(void)
{
    assert_int_equal(kill(stopped.process, SIGCONT), 0);
    assert_true(process_await_stop(stopped.process));
}

static bool
names_the_stopped(const char *text)
{
    char words[64];
    (void)snprintf(words, sizeof words, "process %d has it locked", (int)stopped.process);
    bool who = strstr(text, words) != NULL;
    (void)snprintf(words, sizeof words, "'kill -CONT %d'", (int)stopped.process);
    return who && strstr(text, words);
}

static int
ends(void **state)
{
    (void)state;
    if (stopped.process) {
        step_kill(stopped);
        stopped = (step_child){0};
    }
    (void)unlink(partition_path(test_system_name()));
    return 0;
}

/* ---- Nobody lives in the system -------------------------------------------------------------- */

static int
initializes_in_vain(void)
{
    child_expect(initialize(1) == MRAPI_ERR_NODE_INITFAILED);
    child_expect(initialize(MRAPI_NODE_INVALID) == MRAPI_ERR_NODE_INVALID);
    return 0;
}

static void
nobody_creates_it_meanwhile(void **state)
{
    med_system system;
    char why[MED_PORT_WHY_BYTES];
    (void)state;
    stop_one_in_the_section();
    logged_run("error", initializes_in_vain);
    assert_true(logged_says_once("cannot open system '"));
    assert_true(names_the_stopped(log_text));
    assert_int_equal(med_system_observe(test_system_name(), 0, &system), MEDLEY_TIMEOUT);
    assert_true(names_the_stopped(system.shared.why));
    assert_int_equal(med_system_remove(test_system_name(), 0, why), MEDLEY_TIMEOUT);
    assert_true(names_the_stopped(why));
    let_it_go_on();
    assert_int_equal(initialize(1), MRAPI_SUCCESS);
    assert_int_equal(finalize(), MRAPI_SUCCESS);
    assert_true(partition_exists(test_system_name())); /* the other lives in it */
}

static void
killed_instead_it_is_no_hindrance(void **state)
{
    (void)state;
    stop_one_in_the_section();
    step_kill(stopped);
    stopped = (step_child){0};
    assert_int_equal(initialize(1), MRAPI_SUCCESS);
    assert_int_equal(finalize(), MRAPI_SUCCESS);
    assert_false(partition_exists(test_system_name()));
}

/* ---- Somebody lives in it -------------------------------------------------------------------- */

static int
lives(test_process *parent, void *argument)
{
    child_expect(dup2(fileno(argument), STDERR_FILENO) == STDERR_FILENO);
    child_expect(medley_node_adopt(DOMAIN, MEDLEY_NODE_ANY, NULL) == MEDLEY_OK);
    process_say(parent, 'l');
    (void)process_hear(parent);
    child_expect(finalize() == MRAPI_SUCCESS);
    process_say(parent, 'f');
    (void)process_hear(parent);
    return 0;
}

static uint32_t
processes_seen(void)
{
    med_system system;
    med_view_process process;
    uint32_t seen = 0;
    assert_int_equal(med_system_observe(test_system_name(), 0, &system), MEDLEY_OK);
    for (uint32_t i = 0; i < system.limits.processes; i++) {
        seen += med_view_process_read(&system, i, &process);
    }
    med_system_observe_end(&system);
    return seen;
}

/* It is seen, it can leave, and gives back all but the file's name. */
static void
who_lives_in_it_is_free_to_go(void **state)
{
    test_process residents[2];
    FILE *file = tmpfile();
    (void)state;
    assert_non_null(file);
    for (int i = 0; i < 2; i++) {
        process_start(&residents[i], lives, file);
        assert_int_equal(process_hear(&residents[i]), 'l');
    }
    stop_one_in_the_section();
    assert_int_equal(processes_seen(), 2);
    process_say(&residents[0], 'g');
    assert_int_equal(process_hear(&residents[0]), 'f');
    assert_int_equal(processes_seen(), 1);
    process_kill(&residents[1]);
    let_it_go_on();
    assert_int_equal(processes_seen(), 1); /* the one that was stopped */
    process_say(&residents[0], 'e');
    assert_int_equal(process_join(&residents[0]), 0);
    assert_int_equal(process_join(&residents[1]), -SIGKILL);
    logged_read(file);
    assert_true(logged_says_once("left system '"));
    assert_true(names_the_stopped(log_text));
    step_kill(stopped);
    stopped = (step_child){0};
    assert_true(partition_exists(test_system_name()));
    assert_int_equal(initialize(1), MRAPI_SUCCESS);
    assert_int_equal(finalize(), MRAPI_SUCCESS);
    assert_false(partition_exists(test_system_name()));
}

int
main(void)
{
#define CASE(test) cmocka_unit_test_teardown(test, ends)
    const struct CMUnitTest tests[] = {
        CASE(nobody_creates_it_meanwhile),
        CASE(killed_instead_it_is_no_hindrance),
        CASE(who_lives_in_it_is_free_to_go),
    };
    test_system_prepare();
    (void)setenv("MEDLEY_LOG", "error", 1);
    return cmocka_run_group_tests_name("stopped", tests, NULL, NULL);
}
