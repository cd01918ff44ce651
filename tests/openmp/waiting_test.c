/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How threads wait: as OMP_WAIT_POLICY, GOMP_SPINCOUNT and KMP_BLOCKTIME say, at whatever they wait
 * for; and that between regions they sleep. Each in a child, since the environment is read once.
 *
 * Whoever holds a thread up lets it go when it has seen how that waits: asleep, or at work for
 * longer than anybody is by himself. Both come, however little of the machine is the test's. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"
#include "waiter.h"

#define ROUNDS 2

/* ---- How they wait --------------------------------------------------------------------------- */

static long slept;
static long worked;

static void
look_at(waiter *w)
{
    bool does_work = works(w);
    worked += does_work;
    slept += !does_work;
}

/* ---- What one of two threads waits for ------------------------------------------------------- */

static void
at_the_gate(void)
{
    waiter w = {.thread = 0};
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 1) {
            wait_begins(&w);
        }
        look_at(&w);
    }
}

static void
at_a_barrier(void)
{
    waiter w = {.thread = 0};
#pragma omp parallel num_threads(2)
    for (int i = 0; i < ROUNDS; i++) {
        if (omp_get_thread_num() == 0) {
            look_at(&w);
        } else {
            wait_begins(&w);
        }
#pragma omp barrier
    }
}

static void
for_a_lock(void)
{
    waiter w = {.thread = 0};
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    for (int i = 0; i < ROUNDS; i++) {
        if (omp_get_thread_num() == 0) {
            omp_set_lock(&lock);
        }
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            look_at(&w);
        } else {
            wait_begins(&w);
            omp_set_lock(&lock);
        }
        omp_unset_lock(&lock);
#pragma omp barrier
    }
}

static void
for_a_turn(void)
{
    waiter w = {.thread = 0};
#pragma omp parallel for ordered schedule(static, 1) num_threads(2)
    for (int i = 0; i < 2 * ROUNDS; i++) {
        if (i % 2) {
            wait_begins(&w);
        }
#pragma omp ordered
        if (i % 2 == 0) {
            look_at(&w);
        }
    }
}

static void
for_a_task(void)
{
    waiter w = {.thread = 0};
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < ROUNDS; i++) {
        atomic32 begun = {0};
#pragma omp task shared(begun, w)
        {
            atomic32_store_release(&begun, 1);
            look_at(&w);
        }
        while (!atomic32_load_acquire(&begun)) { /* by the other thread */
            nap();
        }
        wait_begins(&w);
#pragma omp taskwait
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

static void
in_child(const char *name, const char *value, const place *p, bool sleep)
{
    pid_t child = fork();
    if (child == 0) {
        (void)setenv(name, value, 1);
        p->wait();
        _exit((sleep ? worked : slept) > 0);
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
        {"GOMP_SPINCOUNT", "0", true},         {"GOMP_SPINCOUNT", "6 g", false},
        {"GOMP_SPINCOUNT", "INFINITE", false}, {"KMP_BLOCKTIME", "0", true},
        {"KMP_BLOCKTIME", "0 ms", true},       {"KMP_BLOCKTIME", "60000", false},
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

static void
who_waits_for_a_region_sleeps(void **state)
{
    waiter waiters[4] = {{.thread = 0}};
    (void)state;
    for (int i = 0; i < 10; i++) {
#pragma omp parallel num_threads(4)
        wait_begins(&waiters[omp_get_thread_num()]);
        for (int thread = 1; thread < 4; thread++) {
            look_at(&waiters[thread]);
        }
    }
    assert_int_equal(slept, 30);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_are_as_said),
                                       cmocka_unit_test(who_waits_for_a_region_sleeps)};
    (void)unsetenv("OMP_WAIT_POLICY");
    (void)unsetenv("GOMP_SPINCOUNT");
    (void)unsetenv("KMP_BLOCKTIME");
    return cmocka_run_group_tests_name("waiting", tests, NULL, NULL);
}
