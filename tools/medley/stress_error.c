/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The library tells a reason on standard error before a call fails. Here a thread keeps the last of
 * them, each in one line, until it is told with the error that it was the reason of.
 */
#include "tools/medley/stress_error.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "tools/medley/command.h"

static _Thread_local char said[STRESS_ERROR_BYTES / 3 * 2]; /* the library's last lines */
static _Thread_local bool listens;

/* Who wants more than errors has each line as it comes. */
static bool
is_taken(void)
{
    return !med_log_level_reached(MED_LOG_INFO);
}

/* What does not fit behind the others goes in place of them, which are told. */
static bool
hear(const char *line)
{
    const char *words = command_library_words(line);
    if (!listens) {
        return false;
    }
    if (strlen(said) + strlen(words) + 2 >= sizeof said) {
        stress_hear_anew();
    }
    size_t length = strlen(said);
    (void)snprintf(said + length, sizeof said - length, "%s%s", length ? "; " : "", words);
    return is_taken();
}

void
stress_hear(void)
{
    med_log_hear(hear);
    listens = true;
}

void
stress_hear_anew(void)
{
    if (*said && is_taken()) {
        (void)fprintf(stderr, "medley: %s\n", said);
    }
    said[0] = '\0';
    listens = true;
}

void
stress_error_write(char *error, const char *text)
{
    (void)snprintf(error, STRESS_ERROR_BYTES, *said ? "%s (%s)" : "%s", text, said);
}

void
stress_reason_write(char *error, const char *text)
{
    (void)snprintf(error, STRESS_ERROR_BYTES, "%s", *said ? said : text);
}
