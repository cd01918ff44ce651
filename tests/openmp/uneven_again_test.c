/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What was measured of a loop on unlike cores is measured again now and then, where one says so:
 * then no measurement that was disturbed splits a loop for ever. A loop that has become longer is
 * no short one any more. One that is short is split evenly. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdbool.h>
#include <string.h>

#include "openmp/uneven.h"
#include "support/unit.h"

#define COUNT 400
#define INVOCATIONS_MOST 600 /* in which what is measured each 64th time is measured again */

static volatile long spent;
static int first_ones; /* iterations of the first of two threads, in the last invocation */

/* Iterations of so many rounds on the first thread, and on the second. */
static void
loop(int first, int second)
{
    int own = 0;
#pragma omp parallel reduction(+ : own)
    {
        const int rounds = omp_get_thread_num() == 0 ? first : second;
#pragma omp for schedule(runtime)
        for (int i = 0; i < COUNT; i++) {
            own += omp_get_thread_num() == 0;
            for (int j = 0; j < rounds; j++) {
                (void)spent;
            }
        }
    }
    first_ones = own;
}

static bool
becomes(int first, int second, int least, int most)
{
    for (int i = 0; i < INVOCATIONS_MOST; i++) {
        loop(first, second);
        if (first_ones >= least && first_ones <= most) {
            return true;
        }
    }
    return false;
}

/* Nothing but its own lines is known of a loop that is short: its parts are equal. */
static bool
grows(void)
{
    for (int i = 0; i < 20; i++) {
        loop(0, 0);
    }
    return becomes(0, 0, COUNT / 2, COUNT / 2) && becomes(1000, 4000, COUNT * 6 / 10, COUNT);
}

static bool
shrinks(void)
{
    return becomes(1000, 8000, COUNT * 7 / 10, COUNT) && becomes(0, 0, COUNT / 2, COUNT / 2);
}

/* The only probe finds the second thread disturbed. */
static bool
was_disturbed(void)
{
    loop(1000, 20000);
    loop(1000, 1000);
    return first_ones > COUNT * 7 / 10 && becomes(1000, 1000, 0, COUNT * 65 / 100);
}

/* ---- The record ------------------------------------------------------------------------------ */

#define AGAIN 64 /* invocations between two measurements of a loop that was measured often enough */

typedef struct record {
    char why[32];
    int probes;
} record;

/* Of the only loop of a program that has run. */
static record
record_read(const char *path)
{
    static const char probes[] = ",\"probes\":", why[] = ",\"why\":\"";
    char line[8192];
    record found = {"", -1};
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        const char *at = strstr(line, probes);
        if (at) {
            (void)sscanf(at + sizeof probes - 1, "%d", &found.probes);
            at = strstr(at, why);
            (void)sscanf(at ? at + sizeof why - 1 : "", "%31[a-z-]", found.why);
        }
    }
    if (file) {
        (void)fclose(file);
    }
    return found;
}

/* What is recorded of the loops, which end their program; of which one probe is often enough. */
static record
record_of(bool (*loops)(void), const char *again)
{
    char path[] = "/tmp/medley-uneven-again.XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    (void)close(file);
    const variable v[] = {{"OMP_SCHEDULE", "hetprobe"},
                          {"OMP_NUM_THREADS", "2"},
                          {"MEDLEY_MAX_PROBES", "1"},
                          {"MEDLEY_PROBE_AGAIN", again},
                          {"MEDLEY_EXPLAIN", path}};
    (void)fflush(NULL);
    assert_true(WITH(v, loops));
    record found = record_read(path);
    (void)unlink(path);
    return found;
}

/* The record is written where a program ends. */
static bool
end_with(int count, int rounds)
{
    for (int i = 0; i < count; i++) {
        loop(rounds, rounds);
    }
    exit(0);
}

static bool
long_ones(void)
{
    return end_with(1 + 4 * AGAIN, 1000);
}

/* Unless one says so, what was measured often enough is measured no more. */
static void
long_ones_are_not_measured_any_more(void **state)
{
    (void)state;
    assert_int_equal(record_of(long_ones, "0").probes, 1);
}

/* Whoever else wants the processors makes them longer. */
static void
long_ones_are_measured_now_and_then(void **state)
{
    (void)state;
    assert_int_equal(record_of(long_ones, "64").probes, 1 + 4);
}

static bool
short_ones_then_long_ones(void)
{
    for (int i = 0; i < 20; i++) {
        loop(0, 0);
    }
    return end_with(5 * AGAIN, 1000);
}

/* What is short is no longer taken for that with the second measurement, and then counted. */
static void
short_ones_are_measured_now_and_then(void **state)
{
    (void)state;
    assert_true(record_of(short_ones_then_long_ones, "64").probes >= 4);
}

static bool
long_one_then_short_ones(void)
{
    loop(1000, 8000);
    return end_with(4 * AGAIN, 0);
}

/* One is found to be short; or it was disturbed each time, and counted. */
static void
long_ones_are_found_short(void **state)
{
    (void)state;
    record found = record_of(long_one_then_short_ones, "64");
    assert_true(found.probes > 1 || strcmp(found.why, "short") == 0);
}

/* ---- How it is split ------------------------------------------------------------------------- */

/* That it is measured, the record tells. Where others want the processors, too, a thread may be
 * gone just when it is: so the split is right once in some tries. Of what is never measured again
 * it is so in none. */
#define TRIES 20

static void
holds_once(const char *probes, bool (*holds)(void))
{
    const variable v[] = {{"OMP_SCHEDULE", "hetprobe"},
                          {"OMP_NUM_THREADS", "2"},
                          {"MEDLEY_MAX_PROBES", probes},
                          {"MEDLEY_PROBE_AGAIN", "64"}};
    bool has_held = false;
    for (int i = 0; i < TRIES && !has_held; i++) {
        has_held = WITH(v, holds);
    }
    assert_true(has_held);
}

static void
a_loop_that_becomes_longer(void **state)
{
    (void)state;
    holds_once("10", grows);
}

static void
a_loop_that_becomes_short(void **state)
{
    (void)state;
    holds_once("10", shrinks);
}

static void
a_probe_that_was_disturbed(void **state)
{
    (void)state;
    holds_once("1", was_disturbed);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_ones_are_not_measured_any_more),
        cmocka_unit_test(long_ones_are_measured_now_and_then),
        cmocka_unit_test(short_ones_are_measured_now_and_then),
        cmocka_unit_test(long_ones_are_found_short),
        cmocka_unit_test(a_loop_that_becomes_longer),
        cmocka_unit_test(a_loop_that_becomes_short),
        cmocka_unit_test(a_probe_that_was_disturbed),
    };
    if (!uneven_is_possible()) {
        return 0;
    }
    return cmocka_run_group_tests_name("loops on unlike cores, measured again", tests, NULL, NULL);
}
