/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the port tells of the machine and of the process's surroundings, on Linux. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "port/port.h"
#include "support/mounts.h"
#include "support/process.h"
#include "support/unit.h"

/* ---- Processors ------------------------------------------------------------------------------ */

static int
runs_on_one_processor(test_process *parent, void *argument)
{
    cpu_set_t set;
    med_port_processors processors;
    med_port_scheduling scheduling;
    (void)parent;
    (void)argument;
    CPU_ZERO(&set);
    CPU_SET((size_t)sched_getcpu(), &set);
    child_expect(sched_setaffinity(0, sizeof set, &set) == 0);
    child_expect(med_port_processors_discover(&processors) == MEDLEY_OK);
    child_expect(processors.allowed == 1);
    med_port_scheduling_get(&scheduling);
    child_expect(scheduling.processors == 1 && !scheduling.real_time);
    return 0;
}

static void
affinity_limits_the_allowed(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, runs_on_one_processor, NULL);
    assert_int_equal(process_join(&child), 0);
}

/* As a sandbox does; none of those that follow knows whom it may run on. */
static bool
affinity_is_refused(void)
{
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_getaffinity, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {.len = sizeof lines / sizeof lines[0], .filter = lines};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static int
runs_where_nothing_is_told(test_process *parent, void *argument)
{
    med_port_processors processors;
    med_processor_set allowed;
    (void)parent;
    (void)argument;
    if (!affinity_is_refused()) {
        return 77;
    }
    child_expect(med_port_processors_discover(&processors) == MEDLEY_OK);
    child_expect(processors.allowed == processors.online);
    med_port_processors_allowed(&allowed);
    child_expect(med_processor_set_count(&allowed) == processors.online);
    return 0;
}

static void
all_are_allowed_where_nothing_is_told(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, runs_where_nothing_is_told, NULL);
    int status = process_join(&child);
    if (status == 77) {
        not_possible_here("the kernel has no filters of system calls");
    }
    assert_int_equal(status, 0);
}

static void
real_time_is_expected(void)
{
    med_port_scheduling scheduling;
    med_port_scheduling_get(&scheduling);
    child_expect(scheduling.real_time);
}

static int
runs_in_real_time(test_process *parent, void *argument)
{
    struct sched_param parameter = {.sched_priority = 1};
    (void)parent;
    (void)argument;
    if (sched_setscheduler(0, SCHED_FIFO, &parameter) != 0 || sched_getscheduler(0) != SCHED_FIFO) {
        return 77;
    }
    real_time_is_expected();
    return 0;
}

static void
real_time_is_noticed(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, runs_in_real_time, NULL);
    int status = process_join(&child);
    if (status == 77) {
        not_possible_here("no permission for SCHED_FIFO");
    }
    assert_int_equal(status, 0);
}

/* What the kernel asks for, which libc may not name: 20 ms in each 100 ms. */
typedef struct deadline_request {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
} deadline_request;

static bool
deadline_is_set(void)
{
#ifdef SYS_sched_setattr
    const deadline_request request = {.size = sizeof request,
                                      .policy = 6,
                                      .runtime_ns = 20000000,
                                      .deadline_ns = 100000000,
                                      .period_ns = 100000000};
    return syscall(SYS_sched_setattr, 0, &request, 0) == 0;
#else
    return false;
#endif
}

static long
sleeps_so_far(void)
{
    struct rusage usage;
    child_expect(getrusage(RUSAGE_THREAD, &usage) == 0);
    return usage.ru_nvcsw;
}

/* A yield is a sleep: it would be the end of its period otherwise, which the kernel does not count
 * as one. */
static int
runs_by_deadline(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    if (!deadline_is_set()) {
        return 77;
    }
    real_time_is_expected();
    long before = sleeps_so_far();
    for (int i = 0; i < 8; i++) {
        med_port_yield();
    }
    child_expect(sleeps_so_far() > before);
    return 0;
}

static void
deadline_is_real_time(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, runs_by_deadline, NULL);
    int status = process_join(&child);
    if (status == 77) {
        not_possible_here("no permission for SCHED_DEADLINE");
    }
    assert_int_equal(status, 0);
}

/* ---- What the control group grants: recorded trees, laid over the machine's own -------------- */

typedef struct group_tree {
    const char *membership; /* /proc/self/cgroup */
    const char *files[4][2];
    uint32_t quota_permille;
    uint64_t memory_bytes;
} group_tree;

#define V1 "9:freezer:/\n4:cpu,cpuacct:/a/b\n3:memory:/a\n2:cpuset:/c\n0::/u\n"
#define TIMES_16(text) FOUR(FOUR(text))
#define FOUR(text) text text text text
/* More than is read at once, the line that counts cut in two. */
#define V1_LONG                                                                                    \
    TIMES_16(TIMES_16("7:pids:/fifteen\n"))                                                        \
    FOUR("8:x:/a/group/whose/name/takes/forty/five/cdx\n")                                         \
    "4:cpu,cpuacct:/a/b\n"
#define V1_NO_MEMORY_LIMIT "9223372036854771712\n"

static const group_tree trees[] = {
    {"0::/\n", {{0}}, 0, 0},
    {"0::/a/b\n", {{"a/b/cpu.max", "max 100000\n"}, {"a/b/memory.max", "max\n"}}, 0, 0},
    {"0::/a/b\n", {{"a/b/cpu.max", "150000 100000\n"}}, 1500, 0},
    {"0::/a/b\n", {{"a/b/cpu.max", "max 100000\n"}, {"a/cpu.max", "50000 100000\n"}}, 500, 0},
    {"0::/a/b\n", {{"a/b/cpu.max", "20000 10000\n"}, {"a/cpu.max", "70000 100000\n"}}, 700, 0},
    {"0::/a/b\n", {{"a/b/memory.max", "8192\n"}, {"a/memory.max", "4096\n"}}, 0, 4096},
    {"0::/\n", {{"cpu.max", "300000 100000\n"}, {"memory.max", "5000000000\n"}}, 3000, 5000000000},
    {"0::/a\n", {{"a/cpu.max", "what is this\n"}, {"a/memory.max", "\n"}}, 0, 0},
    {"0::/a\n", {{"a/cpu.max", "100001 100000\n"}}, 1001, 0},
    {"0::/a\n", {{"a/cpu.max", "17000000000000 1000\n"}}, UINT32_MAX, 0},
    {"0::/not/here\n", {{"cpu.max", "300000 100000\n"}}, 3000, 0},
    /* Groups in what is mounted, none there, and one of version 2 with a controller's name. */
    {"0::/not/here\n", {{"cpu.max", "300000 100000\n"}, {"a/memory.max", "1\n"}}, 3000, 0},
    {"4:cpu:/not/here\n",
     {{"cpu/cpu.cfs_quota_us", "1\n"}, {"cpu/cpu.cfs_period_us", "1\n"}},
     1000,
     0},
    {"0::/a\n", {{"cpu/cpu.max", "1 1\n"}, {"a/cpu.max", "7 1\n"}}, 7000, 0},
    {"4:cpu,cpuacct:/\n0::/\n",
     {{"cpu/cpu.cfs_quota_us", "250000\n"}, {"cpu/cpu.cfs_period_us", "100000\n"}},
     2500,
     0},
    {"4:cpu,cpuacct:/\n0::/\n",
     {{"cpu/cpu.cfs_quota_us", "-1\n"}, {"cpu/cpu.cfs_period_us", "100000\n"}},
     0,
     0},
    {V1,
     {{"cpu/a/b/cpu.cfs_quota_us", "50000\n"},
      {"cpu/a/b/cpu.cfs_period_us", "100000\n"},
      {"memory/a/memory.limit_in_bytes", V1_NO_MEMORY_LIMIT},
      {"memory/memory.limit_in_bytes", "65536\n"}},
     500,
     65536},
    {V1,
     {{"cpu/a/cpu.cfs_quota_us", "70000\n"},
      {"cpu/a/cpu.cfs_period_us", "100000\n"},
      {"memory/a/memory.limit_in_bytes", V1_NO_MEMORY_LIMIT},
      {"u/cpu.max", "10000 100000\n"}},
     700,
     0},
    {V1_LONG,
     {{"cpu/a/b/cpu.cfs_quota_us", "90000\n"}, {"cpu/a/b/cpu.cfs_period_us", "100000\n"}},
     900,
     0},
};
#define TREES (sizeof trees / sizeof trees[0])

static void
file_write(const char *path, const char *text)
{
    char folder[256];
    (void)snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(folder, 0700);
        *slash = '/';
    }
    child_expect(mounts_file_write(path, text));
}

static void
tree_lay(const group_tree *tree)
{
    for (int i = 0; i < 4 && tree->files[i][0]; i++) {
        char path[256];
        (void)snprintf(path, sizeof path, "/sys/fs/cgroup/%s", tree->files[i][0]);
        file_write(path, tree->files[i][1]);
    }
    file_write("/sys/fs/cgroup/membership", tree->membership);
}

static int
reads_its_grants(test_process *parent, void *argument)
{
    const group_tree *tree = argument;
    med_port_grants grants;
    uint32_t permille;
    (void)parent;
    if (!mounts_of_ones_own() || mount("tmpfs", "/sys/fs/cgroup", "tmpfs", 0, "size=1m") != 0) {
        return 77;
    }
    tree_lay(tree);
    if (mount("/sys/fs/cgroup/membership", "/proc/self/cgroup", NULL, MS_BIND, NULL) != 0) {
        return 77;
    }
    med_port_grants_get(&grants);
    child_expect(grants.processors_known && grants.memory_known);
    child_expect(grants.quota_permille == tree->quota_permille);
    child_expect(grants.memory_bytes == tree->memory_bytes);
    child_expect(med_port_quota_get(&permille) && permille == tree->quota_permille);
    return 0;
}

static int
has_no_proc(test_process *parent, void *argument)
{
    med_port_grants grants;
    uint32_t permille;
    (void)parent;
    (void)argument;
    if (!mounts_of_ones_own() || mount("tmpfs", "/sys/fs/cgroup", "tmpfs", 0, "size=1m") != 0 ||
        mount("tmpfs", "/proc", "tmpfs", 0, "size=4k") != 0) {
        return 77;
    }
    tree_lay(&(group_tree){"", {{"cpu.max", "1 1\n"}}, 0, 0});
    child_expect(med_port_quota_get(&permille) && permille == 1000); /* there is no other group */
    tree_lay(&(group_tree){"", {{"a/cpu.max", "1 1\n"}}, 0, 0});
    med_port_grants_get(&grants);
    child_expect(!grants.processors_known && !grants.memory_known);
    child_expect(grants.quota_permille == 0 && grants.memory_bytes == 0);
    child_expect(!med_port_quota_get(&permille) && permille == 0);
    return 0;
}

static void
runs_in_mounts_of_its_own(int (*body)(test_process *parent, void *argument), const void *argument)
{
    test_process child;
    process_start(&child, body, (void *)(uintptr_t)argument);
    int status = process_join(&child);
    if (status == 77) {
        not_possible_here("no mount namespace of one's own");
    }
    assert_int_equal(status, 0);
}

static void
grants_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < TREES; i++) {
        runs_in_mounts_of_its_own(reads_its_grants, &trees[i]);
    }
}

static void
grants_cannot_be_told(void **state)
{
    (void)state;
    runs_in_mounts_of_its_own(has_no_proc, NULL);
}

/* ---- Memory, time, surroundings -------------------------------------------------------------- */

static int
writes_its_copy(test_process *parent, void *argument)
{
    uint32_t *word = argument;
    (void)parent;
    child_expect(*word == 1);
    *word = 2;
    return 0;
}

static void
memory_is_copied_by_fork(void **state)
{
    void *p = NULL;
    test_process child;
    (void)state;
    assert_int_equal(med_port_memory_map(sizeof(uint32_t), &p), MEDLEY_OK);
    assert_int_equal((uintptr_t)p % 4096, 0);
    uint32_t *word = p;
    *word = 1;
    process_start(&child, writes_its_copy, word);
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(*word, 1);
    med_port_memory_unmap(p, sizeof(uint32_t));
}

static int
reads_the_clock(test_process *parent, void *argument)
{
    uint64_t *clock_ns = argument;
    (void)parent;
    clock_ns[1] = med_port_clock_ns();
    return 0;
}

static void
clock_is_the_same_in_all_processes(void **state)
{
    uint64_t *clock_ns = process_shared_memory(3 * sizeof *clock_ns);
    test_process child;
    (void)state;
    clock_ns[0] = med_port_clock_ns();
    process_start(&child, reads_the_clock, clock_ns);
    assert_int_equal(process_join(&child), 0);
    clock_ns[2] = med_port_clock_ns();
    assert_true(clock_ns[0] <= clock_ns[1] && clock_ns[1] <= clock_ns[2]);
    (void)munmap(clock_ns, 3 * sizeof *clock_ns);
}

static void
environment_is_read(void **state)
{
    (void)state;
    assert_int_equal(setenv("MEDLEY_TEST_VARIABLE", "a value", 1), 0);
    assert_string_equal(med_port_environment("MEDLEY_TEST_VARIABLE"), "a value");
    assert_int_equal(unsetenv("MEDLEY_TEST_VARIABLE"), 0);
    assert_null(med_port_environment("MEDLEY_TEST_VARIABLE"));
}

static int
logs_a_line(test_process *parent, void *argument)
{
    (void)argument;
    child_expect(dup2(parent->out, STDERR_FILENO) == STDERR_FILENO);
    med_port_log("one line");
    return 0;
}

static void
log_goes_to_standard_error(void **state)
{
    static const char wanted[] = "one line\n";
    test_process child;
    (void)state;
    process_start(&child, logs_a_line, NULL);
    for (size_t i = 0; i < sizeof wanted - 1; i++) {
        assert_int_equal(process_hear(&child), wanted[i]);
    }
    assert_int_equal(process_hear(&child), 0);
    assert_int_equal(process_join(&child), 0);
}

static int
logs_to_nobody(test_process *parent, void *argument)
{
    int ends[2];
    sigset_t pending, blocked;
    (void)parent;
    (void)argument;
    child_expect(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    child_expect(pipe(ends) == 0 && close(ends[0]) == 0);
    child_expect(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    med_port_log("one line");
    child_expect(sigpending(&pending) == 0 && !sigismember(&pending, SIGPIPE));
    child_expect(pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 &&
                 !sigismember(&blocked, SIGPIPE));
    /* What was the program's stays. */
    (void)sigaddset(&blocked, SIGPIPE);
    child_expect(pthread_sigmask(SIG_BLOCK, &blocked, NULL) == 0 && raise(SIGPIPE) == 0);
    med_port_log("one line");
    child_expect(sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE));
    return 0;
}

static void
log_to_a_broken_pipe_harms_nobody(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, logs_to_nobody, NULL);
    assert_int_equal(process_join(&child), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affinity_limits_the_allowed),
        cmocka_unit_test(all_are_allowed_where_nothing_is_told),
        cmocka_unit_test(real_time_is_noticed),
        cmocka_unit_test(deadline_is_real_time),
        cmocka_unit_test(grants_are_read),
        cmocka_unit_test(grants_cannot_be_told),
        cmocka_unit_test(memory_is_copied_by_fork),
        cmocka_unit_test(clock_is_the_same_in_all_processes),
        cmocka_unit_test(environment_is_read),
        cmocka_unit_test(log_goes_to_standard_error),
        cmocka_unit_test(log_to_a_broken_pipe_harms_nobody),
    };
    return cmocka_run_group_tests_name("port/linux/machine", tests, NULL, NULL);
}
