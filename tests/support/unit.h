/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cmocka with the headers it wants before it, and what a test does where a machine cannot. */
#ifndef MEDLEY_TESTS_SUPPORT_UNIT_H
#define MEDLEY_TESTS_SUPPORT_UNIT_H

/* cmocka.h needs the others first. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
/* clang-format on */

/* Ends the test: this machine (or emulator) cannot do what it tests. Said, and counted by the
 * scripts that run the tests; never for what merely fails. */
#define not_possible_here(reason)                                                                  \
    do {                                                                                           \
        (void)fprintf(stderr, "not possible here: %s (%s)\n", reason, __func__);                   \
        skip();                                                                                    \
    } while (0)

#endif
