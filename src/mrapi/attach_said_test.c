/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is said to who does not read it, while a system is opened, keeps nobody else from it. */
#include <fcntl.h>

#include "base/log.h"
#include "medley/medley.h"
#include "support/process.h"
#include "support/system.h"
#include "support/unit.h"

static int unread[2]; /* a pipe that is full */

static void
pipe_fill(void)
{
    static const char bytes[4096];
    assert_int_equal(pipe(unread), 0);
    assert_int_equal(fcntl(unread[1], F_SETFL, O_NONBLOCK), 0);
    while (write(unread[1], bytes, sizeof bytes) > 0) {
    }
    while (write(unread[1], bytes, 1) > 0) {
    }
    assert_int_equal(fcntl(unread[1], F_SETFL, 0), 0);
}

/* To the end of all who may write: the lines without what the pipe was filled with. */
static void
pipe_read(char *lines, size_t size)
{
    size_t length = 0;
    char byte;
    assert_int_equal(close(unread[1]), 0);
    while (read(unread[0], &byte, 1) == 1) {
        if (byte && length + 1 < size) {
            lines[length++] = byte;
        }
    }
    lines[length] = '\0';
    (void)close(unread[0]);
}

static int
speaks_to_nobody(test_process *parent, void *variable)
{
    (void)parent;
    (void)setenv("MEDLEY_LOG", "error", 1); /* either: the program has begun, or it has not */
    med_log_level_set(MED_LOG_ERROR);
    (void)setenv(variable, "3", 1);
    (void)alarm(60);
    child_expect(dup2(unread[1], STDERR_FILENO) == STDERR_FILENO && close(unread[1]) == 0);
    medley_status_t status = medley_system_open(test_system_name());
    return status == MEDLEY_OK ? medley_system_close() != MEDLEY_OK : 2;
}

static int
opens_and_closes(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    (void)alarm(60);
    child_expect(medley_system_open(test_system_name()) == MEDLEY_OK);
    child_expect(medley_system_close() == MEDLEY_OK);
    return 0;
}

/* Others open it while he waits to be read, and then he says it all. */
static void
others_open_beside(char *variable, int expected, const char *said)
{
    static char lines[4096];
    test_process speaker, other;
    pipe_fill();
    process_start(&speaker, speaks_to_nobody, variable);
    while (!process_sleeps(speaker.pid)) {
    }
    process_start(&other, opens_and_closes, NULL);
    assert_int_equal(process_join(&other), 0);
    pipe_read(lines, sizeof lines);
    assert_int_equal(process_join(&speaker), expected);
    const char *found = strstr(lines, said);
    assert_non_null(found);
    assert_null(strstr(found + 1, said));
}

static void
difference_is_said_outside(void **state)
{
    static char nodes[] = "MEDLEY_MAX_NODES";
    (void)state;
    assert_int_equal(medley_system_open(test_system_name()), MEDLEY_OK);
    others_open_beside(nodes, 0, "MEDLEY_MAX_NODES has no effect: system '");
    assert_int_equal(medley_system_close(), MEDLEY_OK);
}

static void
what_a_creator_ignores_is_said_outside(void **state)
{
    static char on_death[] = "MEDLEY_MUTEX_ON_DEATH";
    (void)state;
    others_open_beside(on_death, 0, "MEDLEY_MUTEX_ON_DEATH ignored: it is '3'");
}

static void
refusal_is_said_outside(void **state)
{
    static char image[] = "MEDLEY_SYSTEM_IMAGE";
    (void)state;
    others_open_beside(image, 2, "its image was refused");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(difference_is_said_outside),
        cmocka_unit_test(what_a_creator_ignores_is_said_outside),
        cmocka_unit_test(refusal_is_said_outside),
    };
    test_system_prepare();
    (void)alarm(60);
    return cmocka_run_group_tests_name("mrapi/what is said", tests, NULL, NULL);
}
