/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How a tool is found, begins and ends: each in a program of its own (tool_program.c), which finds
 * tools in libraries (tool_module.c), and of which what it and the tool have said is compared. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"

#define MOST_ARGUMENTS 8

typedef struct run {
    const char *libraries;
    const char *does;
    const char *variable, *value; /* or NULL */
    const char *arguments[MOST_ARGUMENTS];
} run;

static char said[8192];

static void
become(const run *r)
{
    char *arguments[MOST_ARGUMENTS + 2] = {PROGRAM};
    for (int i = 0; i < MOST_ARGUMENTS && r->arguments[i]; i++) {
        arguments[i + 1] = (char *)(uintptr_t)r->arguments[i];
    }
    (void)setenv("OMP_TOOL_LIBRARIES", r->libraries, 1);
    (void)setenv("TOOL_DOES", r->does ? r->does : "", 1);
    if (r->variable) {
        (void)setenv(r->variable, r->value, 1);
    }
    (void)execv(PROGRAM, arguments);
    _exit(2);
}

/* Without what a sanitizer has to remark of a child of fork. */
static void
take_out_remarks(char *text)
{
    char *to = text;
    while (*text) {
        size_t length = strcspn(text, "\n");
        length += text[length] == '\n';
        if (strncmp(text, "==", 2) != 0) {
            (void)memmove(to, text, length);
            to += length;
        }
        text += length;
    }
    *to = '\0';
}

/* What it has said; it has succeeded. */
static const char *
said_by(run r)
{
    int ends[2];
    int status = 1;
    size_t length = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        become(&r);
    }
    (void)close(ends[1]);
    for (ssize_t got; (got = read(ends[0], said + length, sizeof said - 1 - length)) > 0;) {
        length += (size_t)got;
    }
    said[length] = '\0';
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    take_out_remarks(said);
    return said;
}

#define SAID_BY(...) said_by((run){__VA_ARGS__})
#define TWO_REGIONS .arguments = {"region", "region"}
#define COUNTED_ONCE "tool: threads 3, over 3, regions 1, over 1\n"
#define COUNTED "tool: threads 3, over 3, regions 2, over 2\n"

/* ---- Found ----------------------------------------------------------------------------------- */

static void
the_first_that_wants_to_is_it(void **state)
{
    (void)state;
    assert_string_equal(SAID_BY(COUNTS, TWO_REGIONS), COUNTED);
    assert_string_equal(SAID_BY(REFUSES ":" COUNTS, TWO_REGIONS), COUNTED);
    assert_string_equal(SAID_BY("/nowhere/tool.so::" REFUSES ":" COUNTS ":" COUNTS, TWO_REGIONS),
                        COUNTED);
    assert_string_equal(SAID_BY(REFUSES ":/nowhere/tool.so:", TWO_REGIONS), "");
    assert_string_equal(SAID_BY(":", TWO_REGIONS), "");
}

static void
there_is_none_where_it_is_disabled(void **state)
{
    (void)state;
    assert_string_equal(SAID_BY(COUNTS, .variable = "OMP_TOOL", .value = "disabled", TWO_REGIONS),
                        "");
    assert_string_equal(SAID_BY(COUNTS, .variable = "OMP_TOOL", .value = "enabled", TWO_REGIONS),
                        COUNTED);
}

static void
it_may_not_want_to_be_active(void **state)
{
    (void)state;
    assert_string_equal(SAID_BY(COUNTS, .does = "fails", TWO_REGIONS), "");
    assert_string_equal(
        SAID_BY(COUNTS, .does = "fails", .arguments = {"end", "region", "end_within"}),
        "program: -2\nprogram: -2\n");
}

/* The lines in their order, others between them or not. */
static void
has_lines(const char *text, const char *const *lines)
{
    for (; *lines; lines++) {
        const char *found = strstr(text, *lines);
        if (!found) {
            fail_msg("not there, or not in order: %s", *lines);
        }
        text = found + strlen(*lines);
    }
}

static void
what_was_looked_at_is_said(void **state)
{
    static const char *const found[] = {"START LOGGING",
                                        "program and its libraries",
                                        "There is no ompt_start_tool",
                                        "OMP_TOOL_LIBRARIES = /nowhere/tool.so:",
                                        "Opening /nowhere/tool.so",
                                        "Failed: ",
                                        "Opening " REFUSES,
                                        "it does not want to be active",
                                        "Opening " COUNTS,
                                        "there is a tool",
                                        "The tool is active",
                                        "END LOGGING",
                                        COUNTED,
                                        NULL};
    static const char *const failed[] = {"Opening " COUNTS, "there is a tool",
                                         "The tool does not want to be active", "END LOGGING",
                                         NULL};
    (void)state;
    has_lines(SAID_BY("/nowhere/tool.so:" REFUSES ":" COUNTS, .variable = "OMP_TOOL_VERBOSE_INIT",
                      .value = "stderr", TWO_REGIONS),
              found);
    has_lines(SAID_BY(COUNTS, .does = "fails", .variable = "OMP_TOOL_VERBOSE_INIT",
                      .value = "stderr", TWO_REGIONS),
              failed);
    assert_string_equal(
        SAID_BY(COUNTS, .variable = "OMP_TOOL_VERBOSE_INIT", .value = "disabled", TWO_REGIONS),
        COUNTED);
}

/* ---- Told ------------------------------------------------------------------------------------ */

static void
it_is_told_what_it_has_asked_for(void **state)
{
    (void)state;
    assert_string_equal(SAID_BY(COUNTS, .does = "few", TWO_REGIONS),
                        "tool: threads 0, over 0, regions 2, over 0\n");
    assert_string_equal(SAID_BY(COUNTS, .does = "unregisters",
                                .arguments = {"region", "region", "region", "region"}),
                        "tool: threads 3, over 3, regions 2, over 4\n");
    assert_string_equal(SAID_BY(COUNTS, .does = "few", .arguments = {"end", "region"}),
                        "program: -1\ntool: threads 0, over 0, regions 1, over 0\n");
}

/* ---- Ends ------------------------------------------------------------------------------------ */

static void
it_may_end_before_the_program(void **state)
{
    (void)state;
    assert_string_equal(SAID_BY(COUNTS, .arguments = {"region", "end", "region", "end", "region"}),
                        COUNTED_ONCE "program: 7\nprogram: -2\n");
    assert_string_equal(SAID_BY(COUNTS, .arguments = {"end", "region"}),
                        "tool: threads 1, over 1, regions 0, over 0\nprogram: 7\n");
}

static void
it_may_end_within_a_region(void **state)
{
    static const char *const lines[] = {"regions 2, over 1\n", "program: 7\n", "program: -2\n",
                                        NULL};
    (void)state;
    has_lines(SAID_BY(COUNTS, .arguments = {"region", "end_within", "region", "end", "region"}),
              lines);
}

/* The child has a tool of its own from there on, with what was counted so far. */
static void
a_child_of_fork_is_told_of_too(void **state)
{
    (void)state;
#ifdef MEDLEY_TEST_EMULATED
    not_possible_here("the emulator ends at times where a child of several threads starts its own");
#endif
    assert_string_equal(SAID_BY(COUNTS, .arguments = {"region", "end", "fork"}),
                        COUNTED_ONCE "program: 7\n");
    assert_string_equal(SAID_BY(COUNTS, .arguments = {"region", "fork"}),
                        "tool: threads 5, over 3, regions 2, over 2\n"
                        "tool: threads 3, over 3, regions 1, over 1\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_that_wants_to_is_it),
                                       cmocka_unit_test(there_is_none_where_it_is_disabled),
                                       cmocka_unit_test(it_may_not_want_to_be_active),
                                       cmocka_unit_test(what_was_looked_at_is_said),
                                       cmocka_unit_test(it_is_told_what_it_has_asked_for),
                                       cmocka_unit_test(it_may_end_before_the_program),
                                       cmocka_unit_test(it_may_end_within_a_region),
                                       cmocka_unit_test(a_child_of_fork_is_told_of_too)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
