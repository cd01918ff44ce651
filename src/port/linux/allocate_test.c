/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Storage for files while signals come, from a kernel that gives none then: posix_fallocate is
 * wrapped, and does what Linux before 6.10 does in memory. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "port/linux/linux.h"
#include "support/process.h"
#include "support/unit.h"

#define BYTES ((size_t)64 << 10)
#define CALLS_MAX 100000

int __real_posix_fallocate(int fd, off_t start, off_t length);
int __wrap_posix_fallocate(int fd, off_t start, off_t length);

static bool always;    /* interrupted, whatever is blocked */
static unsigned calls; /* of posix_fallocate, since the last case began */
static volatile sig_atomic_t heard;

static void
hear(int number)
{
    (void)number;
    heard++;
}

/* A signal comes in the middle: who does not have it blocked gets nothing. */
int
__wrap_posix_fallocate(int fd, off_t start, off_t length)
{
    sig_atomic_t before = heard;
    child_expect(++calls < CALLS_MAX);
    (void)raise(SIGUSR1);
    return always || heard != before ? EINTR : __real_posix_fallocate(fd, start, length);
}

static int fd = -1;

static int
set_up(void **state)
{
    char path[MED_PORT_PATH_BYTES];
    (void)state;
    (void)snprintf(path, sizeof path, "%s/allocate.XXXXXX", med_linux_folder());
    fd = mkstemp(path);
    calls = 0;
    heard = 0;
    return fd >= 0 && unlink(path) == 0 && signal(SIGUSR1, hear) != SIG_ERR ? 0 : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    return close(fd);
}

static void
signals_wait(void **state)
{
    struct stat st;
    (void)state;
    always = false;
    assert_int_equal(med_linux_file_allocate(fd, BYTES), 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, BYTES);
    assert_int_equal(calls, 2);     /* with signals, then without */
    assert_int_equal(heard, calls); /* none is lost */
}

static void
gives_up_in_the_end(void **state)
{
    (void)state;
    always = true;
    assert_int_equal(med_linux_file_allocate(fd, BYTES), EINTR);
    assert_true(calls > 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(signals_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gives_up_in_the_end, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("port/linux/allocate", tests, NULL, NULL);
}
