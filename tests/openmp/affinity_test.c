/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Places, and who is bound to which: each in a child, since the environment is read once. A place
 * may stand in a list several times, so that any machine has eight. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"

static char said[8192]; /* on standard error, by the last child */

static bool
holds(const char *places, const char *bind, const char *more, bool (*condition)(void))
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        if (places) {
            (void)setenv("OMP_PLACES", places, 1);
        }
        if (bind) {
            (void)setenv("OMP_PROC_BIND", bind, 1);
        }
        if (more) {
            (void)setenv(more, "true", 1);
        }
        _exit(condition() ? 0 : 1);
    }
    (void)close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], said + length, sizeof said - 1 - length)) > 0;) {
        length += (size_t)got;
    }
    said[length] = 0;
    (void)close(ends[0]);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Wherever a thread began, it may run wherever its leader may. */
static bool
all_run_everywhere(void)
{
    cpu_set_t leader;
    bool same = sched_getaffinity(0, sizeof leader, &leader) == 0;
#pragma omp parallel num_threads(4) reduction(&& : same)
    {
        cpu_set_t own;
        same = sched_getaffinity(0, sizeof own, &own) == 0 && CPU_EQUAL(&own, &leader);
    }
    return same;
}

static void
threads_that_are_not_bound_run_everywhere(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) { /* where they begin is the system's */
        assert_true(holds(NULL, NULL, NULL, all_run_everywhere));
    }
}

static int
first_processor(void)
{
    cpu_set_t set;
    int first = 0;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    while (!CPU_ISSET(first, &set)) {
        first++;
    }
    return first;
}

/* So many places, of the first processor alone. */
static const char *
places_of(int count)
{
    static char text[256];
    char *at = text;
    for (int i = 0; i < count; i++) {
        at += sprintf(at, "%s{%d}", i ? "," : "", first_processor());
    }
    return text;
}

/* ---- Who is where ---------------------------------------------------------------------------- */

static bool
team_is_at(int members, const int *places)
{
    int wrong = 0;
#pragma omp parallel num_threads(members) reduction(+ : wrong)
    wrong += omp_get_place_num() != places[omp_get_thread_num()];
    return wrong == 0;
}

static bool
close_fills_from_the_leader(void)
{
    return team_is_at(4, (int[]){0, 1, 2, 3}) && team_is_at(3, (int[]){0, 1, 2}) &&
           team_is_at(10, (int[]){0, 0, 1, 1, 2, 3, 4, 5, 6, 7}) &&
           omp_get_proc_bind() == omp_proc_bind_close;
}

static bool
spread_shares_them_out(void)
{
    int wrong = 0;
#pragma omp parallel num_threads(3) reduction(+ : wrong)
    {
        static const int count[] = {3, 3, 2};
        static const int first[] = {0, 3, 6};
        int numbers[8] = {-1};
        int me = omp_get_thread_num();
        omp_get_partition_place_nums(numbers);
        wrong += omp_get_partition_num_places() != count[me] || numbers[0] != first[me] ||
                 numbers[count[me] - 1] != first[me] + count[me] - 1;
    }
    return wrong == 0 && team_is_at(3, (int[]){0, 3, 6}) &&
           team_is_at(8, (int[]){0, 1, 2, 3, 4, 5, 6, 7});
}

/* What Fortran calls where default integers have eight bytes; omp.h does not declare it. */
void omp_get_partition_place_nums_8_(int64_t *numbers);
void omp_get_place_proc_ids_8_(const int64_t *place, int64_t *numbers);

static bool
wide_numbers_are_the_same(void)
{
    int wrong = 0;
#pragma omp parallel num_threads(3) reduction(+ : wrong)
    {
        int numbers[8] = {0};
        int64_t wide[8] = {0};
        int processors[CPU_SETSIZE] = {0};
        int64_t wide_processors[CPU_SETSIZE] = {0};
        int64_t place = omp_get_place_num();
        omp_get_partition_place_nums(numbers);
        omp_get_partition_place_nums_8_(wide);
        omp_get_place_proc_ids((int)place, processors);
        omp_get_place_proc_ids_8_(&place, wide_processors);
        wrong += omp_get_partition_num_places() < 2 || omp_get_place_num_procs((int)place) < 1;
        for (int i = 0; i < omp_get_partition_num_places(); i++) {
            wrong += numbers[i] != wide[i];
        }
        for (int i = 0; i < omp_get_place_num_procs((int)place); i++) {
            wrong += processors[i] != wide_processors[i];
        }
    }
    return wrong == 0;
}

static bool
inner_teams_stay_in_their_part(void)
{
    int wrong = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    {
        int outer = omp_get_thread_num();
        wrong += omp_get_place_num() != 2 * outer || omp_get_proc_bind() != omp_proc_bind_close;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
        wrong += omp_get_place_num() != 2 * outer + omp_get_thread_num();
#pragma omp parallel num_threads(2) reduction(+ : wrong) proc_bind(primary)
        wrong += omp_get_place_num() != 2 * outer;
    }
    return wrong == 0;
}

static bool
nobody_is_bound(void)
{
    int wrong = 0;
#pragma omp parallel num_threads(3) proc_bind(spread) reduction(+ : wrong)
    wrong += omp_get_place_num() != -1 || omp_get_proc_bind() != omp_proc_bind_false;
    return wrong == 0;
}

static void
threads_are_where_the_policy_says(void **state)
{
    (void)state;
    assert_true(holds(places_of(8), "close", NULL, close_fills_from_the_leader));
    assert_true(holds(places_of(8), "spread", NULL, spread_shares_them_out));
    assert_true(holds(places_of(8), "spread", NULL, wide_numbers_are_the_same));
    assert_true(holds(places_of(8), "spread,close", NULL, inner_teams_stay_in_their_part));
    assert_true(holds(NULL, "false", NULL, nobody_is_bound));
    assert_true(holds(places_of(8), "false", NULL, nobody_is_bound));
}

/* The threads' masks are the places'. */
static bool
masks_are_the_places(void)
{
    int wrong = 0;
    int count = omp_get_num_places();
#pragma omp parallel num_threads(2 * count) proc_bind(close) reduction(+ : wrong)
    {
        cpu_set_t set;
        int numbers[CPU_SETSIZE];
        int place = omp_get_place_num();
        int processors = omp_get_place_num_procs(place);
        omp_get_place_proc_ids(place, numbers);
        wrong += sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != processors;
        for (int i = 0; i < processors; i++) {
            wrong += !CPU_ISSET(numbers[i], &set);
        }
    }
    return wrong == 0 && count > 0;
}

static bool
there_are_none(void)
{
    return omp_get_num_places() == 0 && omp_get_place_num() == -1;
}

static void
threads_run_where_they_are_told(void **state)
{
    static const char *const names[] = {"threads",      "cores",   "ll_caches",
                                        "numa_domains", "sockets", "threads(1)"};
    (void)state;
    for (int i = 0; i < 6; i++) {
        assert_true(holds(names[i], NULL, NULL, masks_are_the_places));
        assert_int_equal(said[0], 0);
    }
    assert_true(holds(NULL, "true", NULL, masks_are_the_places));
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static int wanted_places;

static bool
there_are_as_many(void)
{
    return omp_get_num_places() == wanted_places;
}

static void
lists_are_read(void **state)
{
    int first = first_processor();
    char text[128];
    (void)state;
    const struct {
        const char *format;
        int places;
    } good[] = {{"{%d}", 1},
                {"%d", 1},
                {"{%d}:3:0", 3},
                {"{%d,4000}", 1},
                {"%d:1,%d,!%d", 1},
                {"{%d,4000,!4000}", 1},
                {" { %d : 1 : 1 } ", 1}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        (void)snprintf(text, sizeof text, good[i].format, first, first, first);
        wanted_places = good[i].places;
        assert_true(holds(text, NULL, NULL, there_are_as_many));
        assert_int_equal(said[0], 0);
    }
    (void)snprintf(text, sizeof text, "{4000}:2,%d", first);
    wanted_places = 1;
    assert_true(holds(text, NULL, NULL, there_are_as_many));
    assert_non_null(strstr(said, "OMP_PLACES: 2 of 3 places left out"));
    static const char *const bad[] = {"nowhere",  "{0",      "{}",    "{0}:0",  "{0,1},!{0}",
                                      "{0}:2:-1", "{99999}", "{0},",  "cores(", "cores(0)",
                                      "!",        "{0}}",    "{4000}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_true(holds(bad[i], NULL, NULL, there_are_none));
        assert_non_null(strstr(said, "OMP_PLACES"));
        assert_non_null(strstr(said, bad[i]));
    }
    assert_true(holds(NULL, "close,true", NULL, there_are_none));
    assert_non_null(strstr(said, "OMP_PROC_BIND"));
}

/* ---- Shown ----------------------------------------------------------------------------------- */

static bool
shows(void)
{
    char text[64];
    omp_set_affinity_format("%n of %{num_threads} at %L, %0.4a|%4n|%.4n|%%|%A");
    size_t length = omp_capture_affinity(text, 10, NULL);
    bool right = strcmp(text, "0 of 1 at") == 0 && length > 30;
    int came = 0;
#pragma omp parallel num_threads(2) reduction(+ : came)
    came++;
    return right && came == 2 && omp_capture_affinity(text, sizeof text, "%z%4{what}%") == 19 &&
           strcmp(text, "undefinedundefined%") == 0;
}

static bool
shows_the_environment(void)
{
    return omp_get_max_threads() > 0;
}

static void
what_is_asked_for_is_shown(void **state)
{
    char line[64];
    (void)state;
    assert_true(holds(places_of(2), "close", "OMP_DISPLAY_AFFINITY", shows));
    for (int i = 0; i < 2; i++) {
        (void)snprintf(line, sizeof line, "%d of 2 at 1, 0000|%d   |   %d|%%|%d\n", i, i, i,
                       first_processor());
        assert_non_null(strstr(said, line));
    }
    assert_true(holds(places_of(2), "spread,close", "OMP_DISPLAY_ENV", shows_the_environment));
    assert_non_null(strstr(said, "OMP_PROC_BIND = 'SPREAD,CLOSE'"));
    assert_non_null(strstr(said, "OPENMP DISPLAY ENVIRONMENT END"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_where_the_policy_says),
        cmocka_unit_test(threads_that_are_not_bound_run_everywhere),
        cmocka_unit_test(threads_run_where_they_are_told),
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(what_is_asked_for_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
