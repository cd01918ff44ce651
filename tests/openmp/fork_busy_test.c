/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A process forks while others of its threads are in the middle of something: whatever of the
 * runtime's they hold then, the child, which does not have them, runs regions of its own, and comes
 * to its end. Likewise where a team's thread forks. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"
#include "omp/once.h"
#include "support/unit.h"

#define FORKS 200
#define BUSY 3
#define CHILD_S 60 /* it has hung */

static bool
child_succeeds(pid_t child)
{
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* ---- All that takes a lock of the runtime's own ---------------------------------------------- */

static atomic32 is_over;

/* No processor adds those: they are added under a lock. */
static bool
atomics_go(void)
{
    long double sum = 0;
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 20; i++) {
#pragma omp atomic
        sum += 1;
    }
    return sum == 40;
}

static bool
tasks_go(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task shared(sum) priority(i % 3)
#pragma omp atomic
        sum += i;
    }
    return sum == 190;
}

static bool
allocators_go(void)
{
    const omp_alloctrait_t pool = {omp_atk_pool_size, 1 << 16};
    omp_allocator_handle_t own = omp_init_allocator(omp_default_mem_space, 1, &pool);
    bool good = true;
    for (int i = 1; i < 40; i++) {
        void *memory = omp_alloc((size_t)i * 24, i % 2 ? own : omp_default_mem_alloc);
        good = good && memory;
        omp_free(memory, omp_null_allocator);
    }
    omp_destroy_allocator(own);
    return good;
}

/* As programs of newer compilers than this one call them. */
void GOMP_add_alloc(void *memory);
bool GOMP_is_alloc(void *memory);

static bool
noted_memory_goes(void)
{
    static char memory[4096];
    bool good = true;
    for (size_t i = 0; i < sizeof memory; i += 16) { /* through all lists of them */
        GOMP_add_alloc(&memory[i]);
        good = GOMP_is_alloc(&memory[i]) && good;
    }
    return good;
}

static bool
loops_go(void)
{
    int sum = 0;
#pragma omp parallel for schedule(runtime) num_threads(2) reduction(+ : sum)
    for (int i = 0; i < 1000; i++) {
        sum += i;
    }
#pragma omp parallel for schedule(dynamic, 7) num_threads(2) reduction(+ : sum)
    for (int i = 0; i < 1000; i++) {
        sum -= i;
    }
    return sum == 0;
}

static bool
locks_go(void)
{
    omp_lock_t lock;
    int count = 0;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 20; i++) {
        omp_set_lock(&lock);
        count++;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    return count == 40;
}

static bool
everything_goes(void)
{
    bool good = atomics_go();
    good = tasks_go() && good;
    good = allocators_go() && good;
    good = noted_memory_goes() && good;
    good = loops_go() && good;
    return locks_go() && good;
}

static void *
be_busy(void *argument)
{
    bool good = true;
    while (!atomic32_load_acquire(&is_over)) {
        good = everything_goes() && good;
    }
    return good ? argument : NULL;
}

static bool
all_children_go(void)
{
    bool good = everything_goes();
    for (int i = 0; i < FORKS && good; i++) {
        pid_t child = fork();
        if (child == 0) {
            (void)alarm(CHILD_S);
            _exit(everything_goes() ? 0 : 1);
        }
        good = child_succeeds(child);
    }
    return good;
}

static bool
forks_while_others_work(void)
{
    pthread_t threads[BUSY];
    for (int i = 0; i < BUSY; i++) {
        if (pthread_create(&threads[i], NULL, be_busy, &is_over) != 0) {
            return false;
        }
    }
    bool good = all_children_go();
    atomic32_store_release(&is_over, 1);
    for (int i = 0; i < BUSY; i++) {
        void *result = NULL;
        good = pthread_join(threads[i], &result) == 0 && result && good;
    }
    return good;
}

static void
needs_threads_in_a_child(void)
{
#ifdef MEDLEY_TEST_EMULATED
    not_possible_here("the emulator ends at times where a child of several threads starts its own");
#endif
#ifdef __SANITIZE_ADDRESS__
    not_possible_here("in a child the sanitizer's heap stays locked by who was there at the fork");
#endif
}

static void
while_others_work(void **state)
{
    static const char *const schedules[] = {"hetprobe", "steal"};
    (void)state;
    needs_threads_in_a_child();
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            (void)setenv("OMP_SCHEDULE", schedules[i], 1);
            _exit(forks_while_others_work() ? 0 : 1);
        }
        assert_true(child_succeeds(child));
    }
}

/* ---- What is done once ----------------------------------------------------------------------- */

/* A thread that the child does not have was at it. */
static void
while_another_does_what_is_done_once(void **state)
{
    (void)state;
    med_once once = {0};
    assert_true(med_once_begin(&once));
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(CHILD_S);
        bool good = med_once_begin(&once);
        med_once_end(&once);
        _exit(good && !med_once_begin(&once) ? 0 : 1);
    }
    assert_true(child_succeeds(child));
    med_once_end(&once);
    assert_false(med_once_begin(&once));
}

/* ---- By a thread of a team ------------------------------------------------------------------- */

static _Noreturn void
work_and_end(int size)
{
    (void)alarm(CHILD_S);
    omp_set_max_active_levels(4);
    for (int i = 0; i < 3; i++) {
        int came = 0;
#pragma omp parallel num_threads(size) reduction(+ : came)
        came++;
        if (came != size) {
            _exit(1);
        }
    }
    pthread_exit(NULL); /* the last thread's end is the process's, with 0 */
}

static void
by_a_thread_of_a_team(void **state)
{
    (void)state;
    needs_threads_in_a_child();
    for (int size = 1; size < 4; size++) {
        int good = 0;
#pragma omp parallel num_threads(3) reduction(+ : good)
        {
            pid_t child = fork();
            if (child == 0) {
                work_and_end(size);
            }
            good += child_succeeds(child);
        }
        assert_int_equal(good, 3);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(while_others_work),
                                       cmocka_unit_test(while_another_does_what_is_done_once),
                                       cmocka_unit_test(by_a_thread_of_a_team)};
    return cmocka_run_group_tests_name("fork while others work", tests, NULL, NULL);
}
