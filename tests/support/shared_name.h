/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For tests of named shared memory: a name for each test, and its file. MEDLEY_SHM_DIR moves all of
 * it to another folder (a file system of another kind, a full one).
 */
#ifndef MEDLEY_TESTS_SUPPORT_SHARED_NAME_H
#define MEDLEY_TESTS_SUPPORT_SHARED_NAME_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "port/port.h"
#include "support/partition_file.h"
#include "support/unit.h"

static char name[MED_PORT_NAME_MAX + 1];

static inline const char *
folder(void)
{
    const char *chosen = getenv("MEDLEY_SHM_DIR");
    return chosen ? chosen : "/dev/shm";
}

/* Valid until the next call. */
static inline const char *
file_path(void)
{
    return partition_path(name);
}

static inline int
set_up(void **state)
{
    (void)state;
    (void)snprintf(name, sizeof name, "shared_test.%d", (int)getpid());
    return 0;
}

static inline int
tear_down(void **state)
{
    (void)state;
    (void)unlink(file_path());
    return 0;
}

static inline void
open_ok(med_port_shared *shared)
{
    assert_int_equal(med_port_shared_open_until(name, MED_PORT_FOREVER, shared), MEDLEY_OK);
}

static inline void
file_make(mode_t mode)
{
    int fd = open(file_path(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0);
    (void)close(fd);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

#endif
