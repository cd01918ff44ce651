/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Programs started with 0, 1 or 2 closed: what is kept open does not lie where they print. */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "port/port.h"
#include "support/process.h"
#include "support/unit.h"

#define NAME "descriptor.test"
#define ALL_THREE (-1)
#define DESCRIPTORS 64

static bool
is_closed(int fd)
{
    return fcntl(fd, F_GETFD) < 0;
}

static bool
any_is(int which, bool (*what)(int fd))
{
    bool any = false;
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        any = any || ((which == fd || which == ALL_THREE) && what(fd));
    }
    return any;
}

static bool
is_open(int fd)
{
    return !is_closed(fd);
}

static bool
close_it(int fd)
{
    return close(fd) != 0;
}

static void
shared_stays_away(int closed)
{
    med_port_shared shared;
    for (int again = 0; again < 2; again++) { /* makes it, then finds it */
        child_expect(med_port_shared_open_until(NAME, MED_PORT_FOREVER, &shared) == MEDLEY_OK);
        child_expect(shared.handle > STDERR_FILENO && !any_is(closed, is_open));
        child_expect(fcntl((int)shared.handle, F_GETFD) == FD_CLOEXEC);
        if (again) {
            (void)med_port_shared_remove(&shared);
        }
        med_port_shared_close(&shared);
    }
}

static void
segment_stays_away(int closed)
{
    char beside[MED_PORT_PATH_BYTES];
    (void)snprintf(beside, sizeof beside, "%s/medley-0-" NAME, getenv("MEDLEY_SHM_DIR"));
    med_port_segment segment = {.beside = beside, .instance = 1, .number = 1, .size_bytes = 1};
    child_expect(med_port_segment_create(&segment) == MEDLEY_OK);
    child_expect(segment.handle > STDERR_FILENO && !any_is(closed, is_open));
    med_port_segment_close(&segment);
    child_expect(med_port_segment_open(&segment) == MEDLEY_OK);
    child_expect(segment.handle > STDERR_FILENO && !any_is(closed, is_open));
    med_port_segment_close(&segment);
    med_port_segment_remove(beside, 1, 1);
}

static void
others_stay_away(int closed)
{
    med_port_doorbell bell;
    med_port_counter counter = {.kind = MED_PORT_COUNTER_CYCLES,
                                .process_id = med_port_process_id(),
                                .thread_id = med_port_thread_id()};
    child_expect(med_port_doorbell_create(&bell) == MEDLEY_OK);
    child_expect(bell.handle > STDERR_FILENO && !any_is(closed, is_open));
    med_port_doorbell_destroy(&bell);
    if (med_port_counter_open(&counter) == MEDLEY_OK) { /* not every machine has one */
        child_expect(counter.handle > STDERR_FILENO && !any_is(closed, is_open));
        med_port_counter_close(&counter);
    }
}

static int
started_with_closed(test_process *parent, void *argument)
{
    const int *closed = argument;
    (void)parent;
    child_expect(!any_is(*closed, close_it));
    shared_stays_away(*closed);
    segment_stays_away(*closed);
    others_stay_away(*closed);
    return 0;
}

static void
prints_into_nothing(void **state)
{
    (void)state;
    for (int closed = ALL_THREE; closed <= STDERR_FILENO; closed++) {
        test_process child;
        process_start(&child, started_with_closed, &closed);
        assert_int_equal(process_join(&child), 0);
    }
}

/* One descriptor is free, and it is where the program prints: an error, and nothing is left. */
static int
nothing_else_is_free(test_process *parent, void *argument)
{
    med_port_shared shared;
    int fd;
    (void)parent;
    (void)argument;
    struct rlimit limit = {.rlim_cur = DESCRIPTORS, .rlim_max = DESCRIPTORS};
    child_expect(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    do {
        fd = dup(STDERR_FILENO);
    } while (fd >= 0);
    child_expect(close(STDOUT_FILENO) == 0);
    child_expect(med_port_shared_open_until(NAME, MED_PORT_FOREVER, &shared) == MEDLEY_ERR_SYSTEM);
    child_expect(is_closed(STDOUT_FILENO));
    child_expect(med_port_shared_open_existing_until(NAME, MED_PORT_FOREVER, &shared) ==
                 MEDLEY_ERR_NOT_FOUND);
    return 0;
}

static void
gives_up_when_there_is_no_other(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, nothing_else_is_free, NULL);
    assert_int_equal(process_join(&child), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_into_nothing),
        cmocka_unit_test(gives_up_when_there_is_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
