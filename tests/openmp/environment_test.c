/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The variables of the environment: read as the standard says; what cannot be read is named with
 * its value, and the default stands. Each in a child, since they are read once. */
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"

typedef struct reading {
    const char *name;
    const char *value;
    bool (*holds)(void);
    bool warns;
} reading;

/* What it said on standard error. */
static char said[4096];

static bool
run(const reading *r)
{
    int pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)dup2(pipe_ends[1], STDERR_FILENO);
        (void)setenv(r->name, r->value, 1);
        _exit(r->holds() ? 0 : 1);
    }
    (void)close(pipe_ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(pipe_ends[0], said + length, sizeof said - 1 - length)) > 0;) {
        length += (size_t)got;
    }
    said[length] = 0;
    (void)close(pipe_ends[0]);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static bool
three_threads(void)
{
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads++;
    return threads == 3 && omp_get_max_threads() == 3;
}

static bool
three_then_two(void)
{
    int came = 0;
#pragma omp parallel reduction(+ : came)
    {
        int inner = 0;
#pragma omp parallel reduction(+ : inner)
        inner++;
        came += inner == 2;
    }
    return came == 3;
}

static bool
as_many_as_processors(void)
{
    return omp_get_max_threads() == omp_get_num_procs() && omp_get_num_procs() >= 1;
}

static bool
schedule_is(unsigned kind, int chunk)
{
    omp_sched_t got;
    int got_chunk;
    omp_get_schedule(&got, &got_chunk);
    return (unsigned)got == kind && got_chunk == chunk;
}

static bool
guided_5(void)
{
    return schedule_is(omp_sched_guided, 5);
}

static bool
guided_1(void)
{
    return schedule_is(omp_sched_guided, 1);
}

static bool
monotonic_dynamic_2(void)
{
    return schedule_is(omp_sched_dynamic | omp_sched_monotonic, 2);
}

static bool
dynamic_1(void)
{
    return schedule_is(omp_sched_dynamic, 1);
}

static bool
steal_3(void)
{
    return schedule_is(102, 3);
}

static bool
is_dynamic(void)
{
    return omp_get_dynamic() != 0;
}

static bool
is_not_dynamic(void)
{
    return omp_get_dynamic() == 0;
}

static bool
levels_7(void)
{
    return omp_get_max_active_levels() == 7;
}

static bool
level_1(void)
{
    return omp_get_max_active_levels() == 1;
}

static bool
limit_2(void)
{
    int threads = 0;
#pragma omp parallel num_threads(9) reduction(+ : threads)
    threads++;
    return threads == 2 && omp_get_thread_limit() == 2;
}

/* More than the machine's default stack is. */
static __attribute__((noinline)) int
dive(void)
{
    enum {
        DEEP = 24 << 20
    };
    volatile char deep[DEEP];
    deep[0] = 1;
    deep[DEEP - 1] = 1;
    return deep[0];
}

static bool
deep_stack(void)
{
    int good = 0;
#pragma omp parallel num_threads(3) reduction(+ : good)
    good += omp_get_thread_num() != 0 && dive();
    return good == 2;
}

static bool
teams_6(void)
{
    int most = 0;
#pragma omp teams shared(most)
    most = omp_get_num_teams();
    return omp_get_max_teams() == 6 && most == 6;
}

static bool
teams_unsaid(void)
{
    return omp_get_max_teams() == 0 && omp_get_teams_thread_limit() == 0;
}

static bool
teams_of_3(void)
{
    int threads = 0;
#pragma omp teams num_teams(1) shared(threads)
#pragma omp parallel num_threads(8)
    {
#pragma omp atomic
        threads++;
    }
    return omp_get_teams_thread_limit() == 3 && threads == 3;
}

static bool
cancels(void)
{
    return omp_get_cancellation() != 0;
}

static bool
does_not_cancel(void)
{
    return omp_get_cancellation() == 0;
}

static bool
device_2(void)
{
    return omp_get_default_device() == 2;
}

static bool
device_0(void)
{
    int there = 0;
#pragma omp target map(tofrom : there)
    there = 1;
    return omp_get_default_device() == 0 && there;
}

static bool
allocator_of_teams(void)
{
    return omp_get_default_allocator() == omp_pteam_mem_alloc;
}

static bool
allocator_is_default(void)
{
    return omp_get_default_allocator() == omp_default_mem_alloc;
}

static bool
allocator_is_made(void)
{
    void *memory = omp_alloc(10, omp_null_allocator);
    omp_free(memory, omp_null_allocator);
    return memory && omp_get_default_allocator() > omp_thread_mem_alloc;
}

static bool
aligned(void)
{
    bool all = true;
    for (int i = 0; i < 20; i++) {
        char *memory = omp_alloc(10, omp_null_allocator);
        all = all && memory && (uintptr_t)memory % 64 == 0;
        omp_free(memory, omp_null_allocator);
    }
    return all;
}

static bool
of_a_pool(void)
{
    void *all = omp_alloc(900, omp_null_allocator);
    void *more = omp_alloc(900, omp_null_allocator);
    omp_free(all, omp_null_allocator);
    return all && !more;
}

static const reading readings[] = {
    {"OMP_NUM_THREADS", "3", three_threads, false},
    {"OMP_NUM_THREADS", " +3 ", three_threads, false},
    {"OMP_NUM_THREADS", "3, 2", three_then_two, false},
    {"OMP_NUM_THREADS", "0", as_many_as_processors, true},
    {"OMP_NUM_THREADS", "-3", as_many_as_processors, true},
    {"OMP_NUM_THREADS", "3,", as_many_as_processors, true},
    {"OMP_NUM_THREADS", "99999999999999999999", as_many_as_processors, true},
    {"OMP_NUM_THREADS", "many", as_many_as_processors, true},
    {"OMP_NUM_THREADS", "", as_many_as_processors, true},
    {"OMP_SCHEDULE", "guided,5", guided_5, false},
    {"OMP_SCHEDULE", " GUIDED , 5 ", guided_5, false},
    {"OMP_SCHEDULE", "nonmonotonic: guided, 5", guided_5, false},
    {"OMP_SCHEDULE", "monotonic:dynamic,2", monotonic_dynamic_2, false},
    {"OMP_SCHEDULE", "steal,3", steal_3, false},
    {"OMP_SCHEDULE", "guided", guided_1, false},
    {"OMP_SCHEDULE", "dynamic", dynamic_1, false},
    {"OMP_SCHEDULE_ALL", "guided,5", guided_5, false},
    {"OMP_NUM_THREADS_ALL", "3,2", three_then_two, false},
    {"OMP_THREAD_LIMIT_ALL", "2", limit_2, false},
    {"OMP_THREAD_LIMIT_ALL", "none", dynamic_1, true},
    {"OMP_DEBUG", "disabled", dynamic_1, false},
    {"OMP_DEBUG", "enabled", dynamic_1, true},
    {"MEDLEY_PROBE_AGAIN", "64", dynamic_1, false},
    {"MEDLEY_PROBE_AGAIN", "often", dynamic_1, true},
    {"OMP_SCHEDULE", "steals", dynamic_1, true},
    {"OMP_SCHEDULE", "monotonic dynamic", dynamic_1, true},
    {"OMP_SCHEDULE", "guided,0", dynamic_1, true},
    {"OMP_SCHEDULE", "guided,2147483648", dynamic_1, true},
    {"OMP_SCHEDULE", "guided 5", dynamic_1, true},
    {"OMP_SCHEDULE", "guidedly", dynamic_1, true},
    {"MEDLEY_SCHEDULE", "steal,3", steal_3, false},
    {"MEDLEY_SCHEDULE", "fastest", dynamic_1, true},
    {"MEDLEY_CSR", "8:7:6:5:4:3:2:1", dynamic_1, true}, /* no machine has so many classes */
    {"MEDLEY_CSR", "3:0", dynamic_1, true},
    {"MEDLEY_CSR", "3;1", dynamic_1, true},
    {"MEDLEY_CORE_CLASSES", "{0}", dynamic_1, false},
    {"MEDLEY_CORE_CLASSES", "{0", dynamic_1, true},
    {"MEDLEY_CORE_CLASSES", "{0},{0}", dynamic_1, true},
    {"MEDLEY_PROBE_PERCENT", "100", dynamic_1, false},
    {"MEDLEY_PROBE_PERCENT", "101", dynamic_1, true},
    {"MEDLEY_MAX_PROBES", "0", dynamic_1, false},
    {"MEDLEY_MAX_PROBES", "-1", dynamic_1, true},
    {"OMP_HET_PTG", "7", dynamic_1, false},
    {"OMP_HET_PTG", "0", dynamic_1, true},
    {"OMP_DYNAMIC", "True", is_dynamic, false},
    {"OMP_DYNAMIC", "yes", is_not_dynamic, true},
    {"OMP_MAX_ACTIVE_LEVELS", "7", levels_7, false},
    {"OMP_MAX_ACTIVE_LEVELS", "7x", level_1, true},
    {"OMP_THREAD_LIMIT", "2", limit_2, false},
    {"OMP_STACKSIZE", "32M", deep_stack, false},
    {"OMP_STACKSIZE", "32768", deep_stack, false},
    {"OMP_STACKSIZE", "32 m", deep_stack, false},
    {"GOMP_STACKSIZE", "32768", deep_stack, false},
    {"GOMP_STACKSIZE", "12 Q", as_many_as_processors, true},
    {"KMP_STACKSIZE", "33554432", deep_stack, false},
    {"KMP_STACKSIZE", "32m", deep_stack, false},
    {"KMP_STACKSIZE", "12 Q", as_many_as_processors, true},
    {"OMP_STACKSIZE", "99999999999G", as_many_as_processors, true},
    {"OMP_STACKSIZE", "12 Q", as_many_as_processors, true},
    {"OMP_NUM_TEAMS", "6", teams_6, false},
    {"OMP_NUM_TEAMS", "0", teams_unsaid, true},
    {"OMP_TEAMS_THREAD_LIMIT", "3", teams_of_3, false},
    {"OMP_TEAMS_THREAD_LIMIT", "3.5", teams_unsaid, true},
    {"OMP_CANCELLATION", "TRUE", cancels, false},
    {"OMP_CANCELLATION", "perhaps", does_not_cancel, true},
    {"OMP_DEFAULT_DEVICE", "2", device_2, false},
    {"OMP_DEFAULT_DEVICE", "-2", device_0, true},
    {"OMP_TARGET_OFFLOAD", "mandatory", device_0, false},
    {"OMP_TARGET_OFFLOAD", "never", device_0, true},
    {"OMP_ALLOCATOR", "omp_pteam_mem_alloc", allocator_of_teams, false},
    {"OMP_ALLOCATOR", "omp_my_mem_alloc", allocator_is_default, true},
    {"OMP_ALLOCATOR", " omp_default_mem_space : alignment = 64 , pinned=false", aligned, false},
    {"OMP_ALLOCATOR", "omp_large_cap_mem_space:pool_size=1000,fallback=null_fb", of_a_pool, false},
    {"OMP_ALLOCATOR", "OMP_LOW_LAT_MEM_SPACE", allocator_is_made, false},
    {"OMP_ALLOCATOR", "omp_default_mem_space:", allocator_is_default, true},
    {"OMP_ALLOCATOR", "omp_default_mem_space:size=3", allocator_is_default, true},
    {"OMP_ALLOCATOR", "omp_const_mem_space:pinned=maybe", allocator_is_default, true},
    {"OMP_ALLOCATOR", "omp_const_mem_space:alignment=3", allocator_is_default, true},
    {"OMP_WAIT_POLICY", "active", as_many_as_processors, false},
    {"OMP_WAIT_POLICY", "busily", as_many_as_processors, true},
    {"GOMP_SPINCOUNT", " 30 k ", as_many_as_processors, false},
    {"GOMP_SPINCOUNT", "99999999T", as_many_as_processors, false},
    {"GOMP_SPINCOUNT", "30kb", as_many_as_processors, true},
    {"GOMP_SPINCOUNT", "infinitely", as_many_as_processors, true},
    {"KMP_BLOCKTIME", "200ms", as_many_as_processors, false},
    {"KMP_BLOCKTIME", "-1", as_many_as_processors, true},
    {"OMP_DISPLAY_ENV", "7", as_many_as_processors, true},
};

static void
check(const reading *r)
{
    bool held = run(r);
    bool named = strstr(said, r->name) && strstr(said, r->value);
    if (!held || named != r->warns || (!r->warns && said[0])) {
        fail_msg("%s=%s: %s; it said '%s'", r->name, r->value, held ? "read" : "read wrong", said);
    }
}

static void
read_or_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
        check(&readings[i]);
    }
}

static void
a_ratio_for_each_class(void **state)
{
    static const reading of_one_class[] = {{"MEDLEY_CSR", "3", dynamic_1, false},
                                           {"MEDLEY_CSR", "3:1", dynamic_1, true}};
    (void)state;
    (void)setenv("MEDLEY_CORE_CLASSES", "{0}", 1);
    check(&of_one_class[0]);
    check(&of_one_class[1]);
    (void)unsetenv("MEDLEY_CORE_CLASSES");
}

static bool
is_shown(void)
{
    omp_display_env(1);
    return true;
}

/* Lists, whole, and what other libraries and this one read beyond OpenMP. */
static void
all_is_shown(void **state)
{
    const reading deep = {"OMP_NUM_THREADS", "2,1,1,1,1,1,1,1,1,3", is_shown, true};
    const reading passive = {"GOMP_SPINCOUNT", "12", is_shown, true};
    (void)state;
    assert_true(run(&deep));
    assert_non_null(strstr(said, "OMP_NUM_THREADS = '2,1,1,1,1,1,1,1,1,3'"));
    assert_non_null(strstr(said, "OMP_TOOL = 'ENABLED'"));
    assert_null(strstr(said, "GOMP_SPINCOUNT"));
    assert_true(run(&passive));
    assert_non_null(strstr(said, "GOMP_SPINCOUNT = '12'"));
}

/* As much as there is room for; and what is cut off is not taken for all of it. */
static void
long_values_are_told_in_part(void **state)
{
    const reading wrong = {"OMP_NUM_THREADS", "2,3,4,5,6,7,8,9,10,11,12,13,14,15,x", is_shown,
                           true};
    char digits[400] = "";
    const reading longer = {"OMP_NUM_THREADS", memset(digits, '9', sizeof digits - 1), is_shown,
                            true};
    (void)state;
    assert_true(run(&wrong));
    assert_non_null(strstr(said, "'2,3,4,5,6,7,8,9,10,11,12,13,14,15,x'; "));
    assert_true(run(&longer));
    assert_non_null(strstr(said, "99999...'; "));
}

static bool
regions_of_one(void)
{
    int threads = 0;
    for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(4) reduction(+ : threads)
        threads++;
    }
    return threads == 5;
}

/* No machine has memory for such a stack. */
static void
fewer_threads_are_told_once(void **state)
{
    const reading stacks = {"OMP_STACKSIZE", "100000G", regions_of_one, true};
    (void)state;
    assert_true(run(&stacks));
    const char *first = strstr(said, "in a team");
    assert_non_null(first);
    assert_null(strstr(first + 1, "in a team"));
}

int
main(void)
{
    static const char *const others[] = {"OMP_NUM_THREADS",
                                         "OMP_SCHEDULE",
                                         "OMP_DYNAMIC",
                                         "OMP_MAX_ACTIVE_LEVELS",
                                         "OMP_NESTED",
                                         "OMP_THREAD_LIMIT",
                                         "KMP_STACKSIZE",
                                         "GOMP_STACKSIZE",
                                         "OMP_STACKSIZE",
                                         "OMP_NUM_TEAMS",
                                         "OMP_TEAMS_THREAD_LIMIT",
                                         "OMP_CANCELLATION",
                                         "OMP_DEFAULT_DEVICE",
                                         "OMP_TARGET_OFFLOAD",
                                         "OMP_ALLOCATOR",
                                         "OMP_DISPLAY_ENV",
                                         "OMP_WAIT_POLICY",
                                         "GOMP_SPINCOUNT",
                                         "KMP_BLOCKTIME"};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_or_named), cmocka_unit_test(a_ratio_for_each_class),
        cmocka_unit_test(all_is_shown), cmocka_unit_test(long_values_are_told_in_part),
        cmocka_unit_test(fewer_threads_are_told_once)};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        (void)unsetenv(others[i]);
    }
    return cmocka_run_group_tests_name("environment", tests, NULL, NULL);
}
