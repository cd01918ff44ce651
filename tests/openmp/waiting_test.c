/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How threads wait: as OMP_WAIT_POLICY, GOMP_SPINCOUNT and KMP_BLOCKTIME say, at whatever they wait
 * for; and that a program which sleeps between regions uses no processor. Each in a child, since
 * the environment is read once. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/unit.h"

#define ROUNDS 10
#define LONG_NS 1000000 /* many times what anybody spins by himself */

static long
now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
compute(void)
{
    long end_ns = now_ns() + LONG_NS;
    while (now_ns() < end_ns) {
    }
}

/* So often the calling thread went to sleep; to give way is none. */
static long
sleeps(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

/* ---- What one of two threads waits for ------------------------------------------------------- */

/* His waits that were long, and those of them in which he slept. */
static long waits;
static long slept;
static long begin_ns;
static long begin_sleeps;

static void
wait_begins(void)
{
    begin_ns = now_ns();
    begin_sleeps = sleeps();
}

static void
wait_ends(void)
{
    if (now_ns() - begin_ns > LONG_NS / 2) {
        waits++;
        slept += sleeps() > begin_sleeps;
    }
}

static void
at_the_gate(void)
{
    for (int i = 0; i <= ROUNDS; i++) {
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 1) {
            if (i > 0) {
                wait_ends();
            }
            wait_begins();
        }
        compute();
    }
}

static void
at_a_barrier(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            compute();
        } else {
            wait_begins();
        }
#pragma omp barrier
        if (omp_get_thread_num() == 1) {
            wait_ends();
        }
    }
}

static void
for_a_lock(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    for (int i = 0; i < ROUNDS; i++) {
        if (omp_get_thread_num() == 0) {
            omp_set_lock(&lock);
        }
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            compute();
        } else {
            wait_begins();
            omp_set_lock(&lock);
            wait_ends();
        }
        omp_unset_lock(&lock);
#pragma omp barrier
    }
}

static void
for_a_turn(void)
{
#pragma omp parallel for ordered schedule(static, 1) num_threads(2)
    for (int i = 0; i < 2 * ROUNDS; i++) {
        if (i % 2) {
            wait_begins();
        }
#pragma omp ordered
        if (i % 2) {
            wait_ends();
        } else {
            compute();
        }
    }
}

static void
for_a_task(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < ROUNDS; i++) {
        bool begun = false;
#pragma omp task shared(begun)
        {
#pragma omp atomic write
            begun = true;
            compute();
        }
        for (bool seen = false; !seen;) {
#pragma omp atomic read
            seen = begun;
        }
        wait_begins();
#pragma omp taskwait
        wait_ends();
    }
}

/* ---- As the environment says ----------------------------------------------------------------- */

typedef struct place {
    const char *name;
    void (*wait)(void);
} place;

static const place places[] = {{"gate", at_the_gate},
                               {"barrier", at_a_barrier},
                               {"lock", for_a_lock},
                               {"turn", for_a_turn},
                               {"task", for_a_task}};

/* On a loaded machine it happens that what is waited for is over before one looks. */
static bool
is_as_said(const place *p, bool sleep)
{
    for (int tries = 0; tries < 100 && waits < ROUNDS / 4; tries++) {
        p->wait();
    }
    return waits > 0 && (sleep ? slept * 2 >= waits : slept * 2 < waits);
}

static void
in_child(const char *name, const char *value, const place *p, bool sleep)
{
    pid_t child = fork();
    if (child == 0) {
        (void)setenv(name, value, 1);
        _exit(is_as_said(p, sleep) ? 0 : 1);
    }
    int status = 1;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail_msg("%s=%s, %s: it %s", name, value, p->name, sleep ? "does not sleep" : "sleeps");
    }
}

typedef struct saying {
    const char *name;
    const char *value;
    bool sleep;
} saying;

static void
waits_are_as_said(void **state)
{
    static const saying sayings[] = {
        {"OMP_WAIT_POLICY", "Passive", true},  {"OMP_WAIT_POLICY", "ACTIVE", false},
        {"GOMP_SPINCOUNT", "0", true},         {"GOMP_SPINCOUNT", "1 g", false},
        {"GOMP_SPINCOUNT", "INFINITE", false}, {"KMP_BLOCKTIME", "0", true},
        {"KMP_BLOCKTIME", "0 ms", true},       {"KMP_BLOCKTIME", "2000", false},
        {"KMP_BLOCKTIME", "infinite", false}};
    cpu_set_t processors; /* not by the library, which would read its environment here */
    (void)state;
    if (sched_getaffinity(0, sizeof processors, &processors) != 0 || CPU_COUNT(&processors) < 2) {
        print_message("not possible here: to wait on another processor\n");
        skip();
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        for (size_t j = 0; j < sizeof sayings / sizeof sayings[0]; j++) {
            in_child(sayings[j].name, sayings[j].value, &places[i], sayings[j].sleep);
        }
    }
}

/* ---- Between regions ------------------------------------------------------------------------- */

static long
used_ns(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static void
who_sleeps_between_regions_uses_nothing(void **state)
{
    const struct timespec pause = {.tv_nsec = 20 * LONG_NS};
    (void)state;
    long before_ns = now_ns();
    long used_before_ns = used_ns();
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel num_threads(4)
        __asm__ volatile("");
        (void)nanosleep(&pause, NULL);
    }
    assert_true(used_ns() - used_before_ns < (now_ns() - before_ns) / 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_are_as_said),
                                       cmocka_unit_test(who_sleeps_between_regions_uses_nothing)};
    (void)unsetenv("OMP_WAIT_POLICY");
    (void)unsetenv("GOMP_SPINCOUNT");
    (void)unsetenv("KMP_BLOCKTIME");
    return cmocka_run_group_tests_name("waiting", tests, NULL, NULL);
}
