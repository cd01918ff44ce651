/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For tests of the kill kind: a process that is stopped while it has a table of the registry
 * locked. */
#ifndef MEDLEY_TESTS_KILL_STOPPED_H
#define MEDLEY_TESTS_KILL_STOPPED_H

#include "support/unit.h"

#include <signal.h>

#include "mrapi/system.h"
#include "support/logged.h"
#include "support/node.h"
#include "support/process.h"

#define STOPPED 20

static test_process stopped;

static inline medley_status_t
stops(void *context)
{
    (void)context;
    return raise(SIGSTOP) == 0 ? MEDLEY_OK : MEDLEY_ERR_SYSTEM;
}

static inline int
stopped_body(test_process *parent, void *argument)
{
    med_kind kind = *(const med_kind *)argument;
    child_expect(initialize(STOPPED) == MRAPI_SUCCESS);
    child_expect(med_table_hold(&med_self_get()->system->tables[kind], stops, NULL) == MEDLEY_OK);
    process_say(parent, 'c');
    (void)process_hear(parent); /* until told to go, or killed */
    child_expect(finalize() == MRAPI_SUCCESS);
    return 0;
}

/* On return that kind's table is locked, by a process that does not go on. */
static inline void
one_stops_with(med_kind kind)
{
    process_start(&stopped, stopped_body, &kind);
    assert_true(process_await_stop(stopped.pid));
}

static inline void
it_goes_on(void)
{
    assert_int_equal(kill(stopped.pid, SIGCONT), 0);
    assert_int_equal(process_hear(&stopped), 'c');
    assert_int_equal(process_join(&stopped), 0);
}

static inline bool
log_names_the_stopped(const char *table)
{
    char words[96];
    (void)snprintf(words, sizeof words, "the table of %s: process %d has it locked", table,
                   (int)stopped.pid);
    bool who = logged_says_once(words); /* however often it was in the way */
    (void)snprintf(words, sizeof words, "'kill -CONT %d'", (int)stopped.pid);
    bool how = strstr(log_text, words) != NULL;
    (void)snprintf(words, sizeof words, "'kill -9 %d'", (int)stopped.pid);
    return who && how && strstr(log_text, words);
}

#endif
