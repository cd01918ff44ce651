/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which lines are said: a limit that was just said is not, whoever meets it again. */
#include <string.h>

#include "base/log.h"
#include "port/port.h"
#include "support/unit.h"

#define SECOND_NS UINT64_C(1000000000)

static char last[MED_TEXT_BYTES]; /* said */
static uint32_t count;
static uint64_t now_ns = 5 * SECOND_NS;

uint64_t __wrap_med_port_clock_ns(void);
uint64_t
__wrap_med_port_clock_ns(void)
{
    return now_ns;
}

static bool
hear(const char *line)
{
    med_text_copy(last, sizeof last, line);
    count++;
    return true;
}

static void
expect_said(uint32_t more, const char *line)
{
    static uint32_t before;
    assert_int_equal(count - before, more);
    assert_string_equal(last, line);
    before = count;
}

static void
a_limit_once(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        med_log_limit("nodes", 64, "MEDLEY_MAX_NODES", "there");
    }
    expect_said(1, "medley: limit reached: 64 nodes; MEDLEY_MAX_NODES raises it, set there");
    now_ns += 50 * SECOND_NS;
    med_log_limit("nodes", 64, "MEDLEY_MAX_NODES", "there");
    expect_said(0, "medley: limit reached: 64 nodes; MEDLEY_MAX_NODES raises it, set there");
}

static void
again_after_a_while(void **state)
{
    (void)state;
    now_ns += 70 * SECOND_NS;
    for (int i = 0; i < 1000; i++) {
        med_log_limit("nodes", 64, "MEDLEY_MAX_NODES", "there");
    }
    expect_said(1, "medley: limit reached: 64 nodes; MEDLEY_MAX_NODES raises it, set there");
}

static void
another_is_news(void **state)
{
    (void)state;
    med_log_limit("nodes", 65, "MEDLEY_MAX_NODES", "there");
    expect_said(1, "medley: limit reached: 65 nodes; MEDLEY_MAX_NODES raises it, set there");
    med_log_limit("levels", 65, NULL, NULL);
    expect_said(1, "medley: limit reached: 65 levels");
}

/* What was kept and never said was not said. */
static void
kept_is_not_said(void **state)
{
    med_log_kept kept;
    (void)state;
    med_log_keep(&kept);
    med_log_limit("lanes", 8, NULL, NULL);
    med_log_keep_end();
    expect_said(0, "medley: limit reached: 65 levels");
    med_log_limit("lanes", 8, NULL, NULL);
    expect_said(1, "medley: limit reached: 8 lanes");
    med_log_say(&kept);
    expect_said(0, "medley: limit reached: 8 lanes");
}

/* Also what reads like a limit; and what is kept, each as what it is. */
static void
all_else_each_time(void **state)
{
    med_log_kept kept;
    (void)state;
    for (int i = 0; i < 10; i++) {
        med_log_error("a file", "is none");
    }
    expect_said(10, "medley: a file: is none");
    for (int i = 0; i < 10; i++) {
        med_log_error("limit reached", "9 files");
    }
    expect_said(10, "medley: limit reached: 9 files");
    med_log_keep(&kept);
    for (int i = 0; i < 3; i++) {
        med_log_error("limit reached", "9 files");
        med_log_limit("ports", 2, NULL, NULL);
    }
    med_log_keep_end();
    med_log_say(&kept);
    expect_said(4, "medley: limit reached: 9 files");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_once),       cmocka_unit_test(again_after_a_while),
        cmocka_unit_test(another_is_news),    cmocka_unit_test(kept_is_not_said),
        cmocka_unit_test(all_else_each_time),
    };
    med_log_hear(hear);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
