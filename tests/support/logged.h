/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A case in a process of its own, whose log is read afterwards. For tests with cmocka. */
#ifndef MEDLEY_TESTS_SUPPORT_LOGGED_H
#define MEDLEY_TESTS_SUPPORT_LOGGED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/process.h"
#include "support/unit.h"

#define LOGGED_STUCK_AFTER_S 20

static char log_text[8192]; /* of the last run */

typedef struct logged {
    int (*body)(void);
    int error_fd;
} logged;

static inline int
logged_body(test_process *parent, void *argument)
{
    const logged *l = argument;
    (void)parent;
    (void)alarm(LOGGED_STUCK_AFTER_S);
    child_expect(dup2(l->error_fd, STDERR_FILENO) == STDERR_FILENO);
    return l->body();
}

static inline void
logged_read(FILE *file)
{
    ssize_t n = pread(fileno(file), log_text, sizeof log_text - 1, 0);
    log_text[n > 0 ? n : 0] = '\0';
    (void)fclose(file);
}

/* Runs it in a child; what that wrote is in log_text. */
static inline void
logged_run(const char *level, int (*body)(void))
{
    FILE *file = tmpfile();
    test_process child;
    assert_non_null(file);
    logged l = {.body = body, .error_fd = fileno(file)};
    (void)setenv("MEDLEY_LOG", level, 1);
    process_start(&child, logged_body, &l);
    int status = process_join(&child);
    logged_read(file);
    if (status != 0) {
        print_error("%s", log_text);
    }
    assert_int_equal(status, 0);
}

static inline bool
logged_says(const char *words)
{
    return strstr(log_text, words) != NULL;
}

static inline bool
logged_says_once(const char *words)
{
    const char *found = strstr(log_text, words);
    return found && !strstr(found + 1, words);
}

#endif
