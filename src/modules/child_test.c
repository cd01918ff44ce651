/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How a process apart ended: by itself, of a signal, in time or not, or taken by somebody else. */
#include <signal.h>
#include <unistd.h>

#include "modules/child.h"
#include "support/unit.h"

#define PATIENCE_S 1u
#define LONG_S 60u /* for what is not to run out */

static void
ends_itself(void)
{
    _exit(3);
}

static void
dies(void)
{
    (void)raise(SIGSEGV);
}

static void
stays(void)
{
    while (pause() != 0) { /* it never is */
    }
}

/* After it has said a byte. */
static int
end_of(void (*body)(void), unsigned patience_s)
{
    int fd;
    char said = 0;
    pid_t pid = child_begin(&fd, patience_s);
    if (pid == 0) {
        if (write(fd, "x", 1) == 1) {
            body();
        }
        _exit(1);
    }
    assert_true(pid > 0);
    assert_int_equal(read(fd, &said, 1), 1);
    assert_int_equal(said, 'x');
    assert_int_equal(read(fd, &said, 1), 0); /* it is over */
    return child_end(pid, fd);
}

static void
told(void **state)
{
    (void)state;
    assert_int_equal(end_of(ends_itself, LONG_S), 3);
    assert_int_equal(end_of(dies, LONG_S), -SIGSEGV);
    assert_int_equal(end_of(stays, PATIENCE_S), -SIGALRM);
}

/* A program that ignores SIGCHLD leaves nothing to wait for: neither an end by itself, which is no
 * number below 0, nor any signal's. */
static void
lost(void **state)
{
    (void)state;
    (void)signal(SIGCHLD, SIG_IGN);
    int end = end_of(ends_itself, LONG_S);
    (void)signal(SIGCHLD, SIG_DFL);
    assert_int_equal(end, CHILD_LOST);
    assert_true(end < -SIGRTMAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(told),
        cmocka_unit_test(lost),
    };
    return cmocka_run_group_tests_name("modules/child", tests, NULL, NULL);
}
