/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every test process uses a system of its own name, with small limits and a quiet log. */
#ifndef MEDLEY_TESTS_SUPPORT_SYSTEM_H
#define MEDLEY_TESTS_SUPPORT_SYSTEM_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEST_MUTEXES 16
#define TEST_RMEMS 8
#define TEST_REQUESTS 16

/* One of the program, though each file that is compiled with this has it. */
__attribute__((weak)) char test_system_own_name[40];

/* The same in a child of fork: named after the process that asked first. */
static inline const char *
test_system_name(void)
{
    if (!test_system_own_name[0]) {
        (void)snprintf(test_system_own_name, sizeof test_system_own_name, "test-%ld",
                       (long)getpid());
    }
    return test_system_own_name;
}

static inline void
test_system_prepare(void)
{
    (void)setenv("MEDLEY_SYSTEM", test_system_name(), 1);
    (void)setenv("MEDLEY_MAX_MUTEXES", "16", 1);
    (void)setenv("MEDLEY_MAX_RMEMS", "8", 1);
    (void)setenv("MEDLEY_MAX_RMEM_ATTACHMENTS", "16", 1);
    (void)setenv("MEDLEY_MAX_REQUESTS", "16", 0);
    (void)setenv("MEDLEY_LOG", "quiet", 0);
}

#endif
