/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who waits may always start what he waits for, however many tasks between are complete already and
 * whatever stands in the queues of others; and those are not kept for that. */
#include <omp.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "support/unit.h"

#define ROUNDS 300
#define THREADS 4
#define LEVELS 4
#define LEAVES 4
#define CHAIN 1000000
#define CHAIN_KIB (16 * 1024) /* of a million tasks 256 MiB are that many */

/* ---- Behind complete tasks ------------------------------------------------------------------- */

static void
descend(int levels, int *executed)
{
    for (int i = 0; i < (levels > 0 ? 1 : LEAVES); i++) {
#pragma omp task priority(1) firstprivate(levels, executed)
        if (levels > 0) {
            descend(levels - 1, executed);
        } else {
#pragma omp atomic
            ++*executed;
        }
    }
}

static void
a_group_is_waited_for_by_all_members(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int executed[THREADS] = {0};
        int threads = 2 + round % (THREADS - 1);
#pragma omp parallel num_threads(threads)
        {
            int *own = &executed[omp_get_thread_num()];
#pragma omp taskgroup
            descend(LEVELS, own);
        }
        for (int i = 0; i < threads; i++) {
            assert_int_equal(executed[i], LEAVES);
        }
    }
}

static int
fib(int n)
{
    int a, b;
    if (n < 2) {
        return n;
    }
#pragma omp task untied priority(1) shared(a) firstprivate(n)
    a = fib(n - 1);
#pragma omp task untied priority(1) shared(b) firstprivate(n)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static void
descend_to_fib(int levels, int *sum)
{
    if (levels == 0) {
        *sum = fib(6);
    } else {
#pragma omp task untied priority(1) firstprivate(levels, sum)
        descend_to_fib(levels - 1, sum);
    }
}

static void
an_untied_task_waits_for_its_children(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int sums[THREADS] = {0};
        int threads = 2 + round % (THREADS - 1);
#pragma omp parallel num_threads(threads)
        {
            int *own = &sums[omp_get_thread_num()];
            if (round % 2) {
#pragma omp taskgroup
                descend_to_fib(LEVELS, own);
            } else {
                descend_to_fib(LEVELS, own);
            }
        }
        for (int i = 0; i < threads; i++) {
            assert_int_equal(sums[i], 8);
        }
    }
}

/* ---- At a barrier ---------------------------------------------------------------------------- */

/* The others come to it only when what was left in a queue is executed. */
static void
who_is_at_a_barrier_executes_his_own(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS / 3; round++) {
        int executed = 0;
#pragma omp parallel num_threads(2) shared(executed)
        {
            int seen = 0;
            if (omp_get_thread_num() == 0) {
                for (int i = 0; i < LEAVES; i++) {
#pragma omp task shared(executed)
                    {
#pragma omp atomic
                        executed++;
                    }
                }
            }
            while (omp_get_thread_num() != 0 && seen < LEAVES) {
#pragma omp atomic read
                seen = executed;
            }
#pragma omp barrier
        }
        assert_int_equal(executed, LEAVES);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void
make_next(int left, int *executed)
{
    ++*executed; /* the one before is through with it */
    if (left > 1) {
#pragma omp task firstprivate(left, executed)
        make_next(left - 1, executed);
    }
}

static long
most_memory_kib(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

static void
a_chain_of_tasks_keeps_none(void **state)
{
    (void)state;
    for (int threads = 2; threads <= THREADS; threads += 2) {
        long before_kib = most_memory_kib();
        int executed = 0;
#pragma omp parallel num_threads(threads) shared(executed)
#pragma omp single
#pragma omp taskgroup
#pragma omp task shared(executed)
        make_next(CHAIN, &executed);
        assert_int_equal(executed, CHAIN);
        assert_in_range(most_memory_kib() - before_kib, 0, CHAIN_KIB);
    }
}

/* Each makes the next in its last line, and has something on the stack: executed in one another
 * they would need more of it than there is. */
#define LINKS 20000
#define CHAINS 20

static void
link_next(int left, int *executed)
{
    volatile char local[1024];
    local[left % 1024] = 1;
#pragma omp atomic
    *executed += local[left % 1024];
    if (left > 1) {
#pragma omp task firstprivate(left, executed)
        link_next(left - 1, executed);
    }
}

static void
stacks_end_before_chains_do(void **state)
{
    (void)state;
    for (int threads = 1; threads <= THREADS; threads++) {
        int executed = 0;
#pragma omp parallel num_threads(threads) shared(executed)
#pragma omp single
        for (int i = 0; i < CHAINS; i++) {
#pragma omp task shared(executed)
            link_next(LINKS, &executed);
        }
        assert_int_equal(executed, CHAINS * LINKS);
    }
    int executed = 0;
    link_next(LINKS, &executed); /* in no region: nobody waits for them */
    assert_int_equal(executed, LINKS);
}

/* Too many for the queue of who meets them, and as deep as nothing is executed at once. */
#define DEPTH 130
#define MANY 3000
#define SHORT_CHAIN 200

static void
go_down(int left, int *executed)
{
    if (left == 0) {
        for (int i = 0; i < MANY; i++) {
#pragma omp task firstprivate(executed)
            make_next(SHORT_CHAIN, executed);
        }
        return;
    }
#pragma omp task firstprivate(left, executed)
    go_down(left - 1, executed);
}

static void
link_urgent(int left, int *executed)
{
    ++*executed;
    if (left > 1) {
#pragma omp task firstprivate(left, executed) priority(1)
        link_urgent(left - 1, executed);
    }
}

/* By the program's own thread, outside of regions, no barrier collects what was put aside; nor are
 * those still there from which it came. */
static void
what_is_put_aside_is_executed(void **state)
{
    (void)state;
    int executed = 0;
    go_down(DEPTH, &executed);
#pragma omp taskwait
    assert_int_equal(executed, MANY * SHORT_CHAIN);
    executed = 0;
    link_urgent(MANY, &executed);
#pragma omp taskwait
    assert_int_equal(executed, MANY);
}

static int
recursion(int depth)
{
    int left = 1, right = 0;
    if (depth > 0) {
#pragma omp task shared(left)
        left = recursion(depth - 1);
#pragma omp task shared(right)
        right = recursion(depth - 1);
#pragma omp taskwait
    }
    return left + right;
}

/* No standard promises that; programs do it, and it goes well elsewhere. Behind a recursion a few
 * tasks are enough for a queue. */
static void
as_many_as_threads_meet(void **state)
{
    (void)state;
    for (int threads = 2; threads <= 8; threads += 2) {
#pragma omp parallel num_threads(threads)
#pragma omp single
        for (int round = 0; round < 10; round++) {
            int come = 0;
            (void)recursion(8);
            for (int i = 0; i < threads; i++) {
#pragma omp task shared(come)
                {
                    int now;
#pragma omp atomic
                    come++;
                    do {
#pragma omp taskyield
#pragma omp atomic read
                        now = come;
                    } while (now < threads);
                }
            }
#pragma omp taskwait
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_is_waited_for_by_all_members),
        cmocka_unit_test(an_untied_task_waits_for_its_children),
        cmocka_unit_test(who_is_at_a_barrier_executes_his_own),
        cmocka_unit_test(a_chain_of_tasks_keeps_none),
        cmocka_unit_test(stacks_end_before_chains_do),
        cmocka_unit_test(what_is_put_aside_is_executed),
        cmocka_unit_test(as_many_as_threads_meet),
    };
    /* Read at the first region. */
    if (setenv("OMP_MAX_TASK_PRIORITY", "1", 1) != 0) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
