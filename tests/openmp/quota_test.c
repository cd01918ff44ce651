/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* As many threads as can run: by the processors that a program may use, and by what its control
 * group is granted, when it begins; and what a later change of either does. In control groups of
 * this machine's that are made for it; each in a child, since the library looks once.
 *
 * What is to be seen some time after a change is waited for, however long that takes here; only a
 * test that would fail runs into its alarm. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "omp/quota.h"
#include "support/unit.h"
#include "waiter.h"

#define PERIOD_US 100000
#define NO_QUOTA 0
#define ALARM_S 100

/* ---- A control group ------------------------------------------------------------------------- */

static char folder[128];
static bool is_v1;

static bool
file_write(const char *leaf, const char *text)
{
    char path[192];
    (void)snprintf(path, sizeof path, "%s/%s", folder, leaf);
    FILE *file = fopen(path, "w");
    bool is_written = file && fputs(text, file) >= 0;
    return file && fclose(file) == 0 && is_written;
}

static bool
quota_set(int permille)
{
    char text[64];
    long quota_us = (long)permille * PERIOD_US / 1000;
    if (is_v1) {
        (void)snprintf(text, sizeof text, "%ld", quota_us ? quota_us : -1);
        return file_write("cpu.cfs_quota_us", text);
    }
    (void)snprintf(text, sizeof text, quota_us ? "%2$ld %1$d" : "max %1$d", PERIOD_US, quota_us);
    return file_write("cpu.max", text);
}

static int
group_leave(void **state)
{
    (void)state;
    return folder[0] && rmdir(folder) != 0 ? -1 : 0;
}

/* In the hierarchy that has processors, of version 1 or 2. */
static int
group_make(void **state)
{
    static const char *const roots[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct",
                                        "/sys/fs/cgroup"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        (void)snprintf(folder, sizeof folder, "%s/medley-test-%d", roots[i], (int)getpid());
        is_v1 = i < 2;
        if (mkdir(folder, 0755) == 0) {
            char procs[192];
            (void)snprintf(procs, sizeof procs, "%s/cgroup.procs", folder);
            if (access(procs, W_OK) == 0 && quota_set(1000)) {
                return 0;
            }
            (void)rmdir(folder);
        }
    }
    folder[0] = '\0';
    return 0;
}

static void
needs_group(void)
{
    if (!folder[0]) {
        not_possible_here("no control group with a quota may be made");
    }
}

static int
processors(void)
{
    cpu_set_t all;
    return sched_getaffinity(0, sizeof all, &all) == 0 ? CPU_COUNT(&all) : 0;
}

static void
needs_processors(int count)
{
    if (processors() < count) {
        not_possible_here("too few processors");
    }
}

/* ---- In a child ------------------------------------------------------------------------------ */

/* What it returns: 0 to 255. */
static int
in_child(int (*body)(int argument), int argument)
{
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(ALARM_S);
        _exit(body(argument));
    }
    int status = -1;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

#define OUTSIDE 200

static int
group_enter(int permille)
{
    char pid[16];
    (void)snprintf(pid, sizeof pid, "%d", (int)getpid());
    return quota_set(permille) && file_write("cgroup.procs", pid) ? 0 : OUTSIDE;
}

static int
team(int wanted)
{
    int came = 0;
    if (wanted) {
#pragma omp parallel num_threads(wanted) reduction(+ : came)
        came++;
    } else {
#pragma omp parallel reduction(+ : came)
        came++;
    }
    return came;
}

/* ---- How many -------------------------------------------------------------------------------- */

static void
a_part_of_a_processor_is_a_thread(void **state)
{
    static const uint32_t cases[][3] = {/* processors, thousandths, threads */
                                        {8, 0, 8},          {8, 1, 1},    {8, 999, 1},
                                        {8, 1000, 1},       {8, 1001, 2}, {8, 7000, 7},
                                        {8, 7001, 8},       {8, 8000, 8}, {8, 90000, 8},
                                        {8, UINT32_MAX, 8}, {1, 500, 1},  {4096, 4095001, 4096}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(med_quota_of(cases[i][0], cases[i][1]), cases[i][2]);
    }
}

static int
team_under(int permille)
{
    int error = group_enter(permille);
    return error ? error : team(0) * 10 + omp_get_num_procs();
}

static void
a_team_is_as_large_as_the_quota(void **state)
{
    static const int permille[] = {NO_QUOTA, 300, 1000, 1010, 1500, 2000, 6500};
    (void)state;
    needs_group();
    for (size_t i = 0; i < sizeof permille / sizeof permille[0]; i++) {
        int granted = (permille[i] + 999) / 1000;
        int wanted = granted && granted < processors() ? granted : processors();
        if (wanted < 20) {
            assert_int_equal(in_child(team_under, permille[i]), wanted * 11);
        }
    }
}

static int
team_of_later(int unused)
{
    (void)unused;
    int error = group_enter(NO_QUOTA);
    int before = team(0);
    error = error ? error : !quota_set(1000);
    /* Longer than anybody leaves it unread. */
    for (int i = 0; i < 30 && !error; i++) {
        (void)usleep(50000);
        error = team(0) == before && omp_get_num_procs() == before ? 0 : 1;
    }
    return error;
}

static void
a_later_quota_changes_no_team(void **state)
{
    (void)state;
    needs_group();
    needs_processors(2);
    assert_int_equal(in_child(team_of_later, 0), 0);
}

/* Until teams are so large. */
static void
team_becomes(int wanted)
{
    while (team(2) != wanted) {
        (void)usleep(1000);
    }
}

static int
team_that_changes(int unused)
{
    (void)unused;
    int error = group_enter(NO_QUOTA);
    omp_set_dynamic(1);
    if (error || team(2) != 2) {
        return error ? error : 1;
    }
    for (int i = 0; i < 2; i++) {
        error |= !quota_set(700);
        team_becomes(1);
        error |= !quota_set(i ? NO_QUOTA : 1100);
        team_becomes(2);
    }
    return error;
}

static void
a_later_quota_changes_dynamic_teams(void **state)
{
    (void)state;
    needs_group();
    needs_processors(2);
    assert_int_equal(in_child(team_that_changes, 0), 0);
}

/* ---- How they wait --------------------------------------------------------------------------- */

static waiter other;
static atomic32 is_over;

/* Then it sleeps, and looks what the quota is. */
#define SPIN_MS "2000"
#define FALLS_ASLEEP_US 2100000

static bool
works_at_gate(void)
{
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
        wait_begins(&other);
    }
    return works(&other);
}

/* A region that lasts until the other one waits so at its barriers. */
static void
in_one_region(bool wanted)
{
    atomic32_store_relaxed(&is_over, 0);
#pragma omp parallel num_threads(2)
    while (!atomic32_load_acquire(&is_over)) {
        if (omp_get_thread_num() == 1) {
            wait_begins(&other);
        } else if (works(&other) == wanted) {
            atomic32_store_release(&is_over, 1);
        } else {
            (void)usleep(FALLS_ASLEEP_US);
        }
#pragma omp barrier
    }
}

static int
waits_change(int at_barrier)
{
    int error = group_enter(NO_QUOTA);
    if (error || !works_at_gate()) {
        return error ? error : 1;
    }
    error |= !quota_set(1000);
    if (at_barrier) {
        in_one_region(false);
    }
    while (works_at_gate()) {
        (void)usleep(FALLS_ASLEEP_US);
    }
    error |= !quota_set(NO_QUOTA);
    while (!works_at_gate()) {
    }
    return error;
}

static void
a_later_quota_changes_waits(void **state)
{
    (void)state;
    needs_group();
    needs_processors(2);
    (void)setenv("KMP_BLOCKTIME", SPIN_MS, 1);
    assert_int_equal(in_child(waits_change, 0), 0);
    assert_int_equal(in_child(waits_change, 1), 0);
    (void)unsetenv("KMP_BLOCKTIME");
}

/* ---- By processors --------------------------------------------------------------------------- */

static void
bind_to_first(int count)
{
    cpu_set_t all, some;
    CPU_ZERO(&some);
    (void)sched_getaffinity(0, sizeof all, &all);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&some) < count; i++) {
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &some);
        }
    }
    (void)sched_setaffinity(0, sizeof some, &some);
}

static int
team_bound(int count)
{
    bind_to_first(count);
    return team(0) == count && omp_get_num_procs() == count ? 0 : 1;
}

/* Its leader may run on one of them only, behind the first region; and on more, behind a first
 * region on that one. */
static int
team_bound_later(int first)
{
    cpu_set_t all;
    (void)sched_getaffinity(0, sizeof all, &all);
    bind_to_first(first);
    for (int i = 0; i < 200; i++) {
        int sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
        for (int j = 0; j < 100; j++) {
            sum += j;
        }
        if (sum != 4950 || team(0) != first) {
            return 1;
        }
        if (i == 50) {
            (void)sched_setaffinity(0, sizeof all, &all);
            bind_to_first(3 - first);
        }
    }
    return 0;
}

static void
a_team_is_as_large_as_its_processors(void **state)
{
    (void)state;
    needs_processors(2);
    for (int count = 1; count <= 2; count++) {
        assert_int_equal(in_child(team_bound, count), 0);
        assert_int_equal(in_child(team_bound_later, count), 0);
    }
}

/* Each process is bound to a core by who starts it. */
static void
a_launched_team_is_as_large_as_its_processors(void **state)
{
    char line[64] = "";
    int processes = 0;
    (void)state;
    needs_processors(2);
    if (system("command -v mpirun >/dev/null") != 0) {
        not_possible_here("no mpirun");
    }
    FILE *out = popen("mpirun --allow-run-as-root --oversubscribe -n 2 --bind-to core " TELLS_TEAM
                      " 2>/dev/null",
                      "r");
    assert_non_null(out);
    while (fgets(line, sizeof line, out)) {
        int wanted = 0, got = 0;
        assert_int_equal(sscanf(line, "%d %d", &wanted, &got), 2);
        assert_int_equal(got, wanted);
        processes++;
    }
    assert_int_equal(pclose(out), 0);
    assert_int_equal(processes, 2);
}

int
main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_a_processor_is_a_thread),
        cmocka_unit_test(a_team_is_as_large_as_the_quota),
        cmocka_unit_test(a_later_quota_changes_no_team),
        cmocka_unit_test(a_later_quota_changes_dynamic_teams),
        cmocka_unit_test(a_later_quota_changes_waits),
        cmocka_unit_test(a_team_is_as_large_as_its_processors),
        cmocka_unit_test(a_launched_team_is_as_large_as_its_processors)};
    (void)words;
    if (count > 1) { /* launched */
        return printf("%d %d\n", processors(), team(0)) < 0;
    }
    (void)unsetenv("OMP_NUM_THREADS");
    (void)unsetenv("OMP_DYNAMIC");
    return cmocka_run_group_tests_name("quota", tests, group_make, group_leave);
}
