/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Explicit tasks: each is executed once, and is complete behind what waits for it; who waits in a
 * task starts none but its descendants; groups; what is executed at once; what a task has of its
 * own. */
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

#define THREADS 4
#define TASKS 5000

static int
fib(int n)
{
    int a, b;
    if (n < 2) {
        return n;
    }
#pragma omp task shared(a) firstprivate(n)
    a = fib(n - 1);
#pragma omp task shared(b) firstprivate(n)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static void
a_tree_of_tasks_is_added_up(void **state)
{
    (void)state;
    for (int threads = 1; threads <= THREADS; threads++) {
        int sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
        sum = fib(18);
        assert_int_equal(sum, 2584);
    }
}

static void
all_are_complete_behind_a_barrier(void **state)
{
    static int done[THREADS][TASKS];
    int wrong = 0;
    (void)state;
    memset(done, 0, sizeof done);
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    for (int round = 1; round <= 20; round++) {
        int *mine = done[omp_get_thread_num()];
        for (int i = 0; i < TASKS / 20; i++) {
#pragma omp task
            mine[i]++;
        }
#pragma omp barrier
        for (int t = 0; t < THREADS; t++) {
            for (int i = 0; i < TASKS / 20; i++) {
                wrong += done[t][i] != round;
            }
        }
#pragma omp barrier
    }
    assert_int_equal(wrong, 0);
}

/* Others have come to its end before the first task is made. */
static void
all_are_complete_behind_a_region(void **state)
{
    static int done[TASKS];
    (void)state;
    memset(done, 0, sizeof done);
    for (int round = 1; round <= 40; round++) {
#pragma omp parallel num_threads(1 + round % THREADS)
#pragma omp master
        for (int i = 0; i < TASKS; i++) {
#pragma omp task
            done[i]++;
        }
        for (int i = 0; i < TASKS; i++) {
            assert_int_equal(done[i], round);
        }
    }
}

/* Each level makes its tasks in tasks, for which nobody waits but the region's end. */
static void
scatter(int depth, int *count)
{
    for (int i = 0; depth > 0 && i < 3; i++) {
#pragma omp task
        scatter(depth - 1, count);
    }
#pragma omp atomic
    (*count)++;
}

static void
tasks_outlive_those_who_made_them(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        int count = 0;
#pragma omp parallel num_threads(THREADS)
#pragma omp single nowait
        scatter(6, &count);
        assert_int_equal(count, 1093);
    }
}

/* A child's children may take their time: a flag lets them go on that is set behind the wait. */
static void
a_wait_is_for_children_only(void **state)
{
    int go = 0, passed = 0, grandchild = 0;
    (void)state;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task shared(go, passed, grandchild)
        {
#pragma omp task shared(go, grandchild)
            {
                int seen = 0;
                while (!seen) {
#pragma omp atomic read
                    seen = go;
                    if (omp_get_thread_num() == 0) {
                        break; /* it is the one that waits that executes this */
                    }
                }
                grandchild = 1;
            }
        }
#pragma omp taskwait
        passed = 1;
#pragma omp atomic write
        go = 1;
    }
    assert_int_equal(passed + grandchild, 2);
}

static void
a_group_is_for_all_descendants(void **state)
{
    int wrong = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    for (int round = 0; round < 20; round++) {
        int outer = 0, inner = 0;
#pragma omp taskgroup
        {
            scatter(4, &outer);
#pragma omp taskgroup
            scatter(3, &inner);
            wrong += inner != 40;
        }
        wrong += outer != 121;
    }
    assert_int_equal(wrong, 0);
}

/* ---- Who waits starts descendants only ------------------------------------------------------- */

typedef struct node {
    const struct node *parent;
} node;

static const node *suspended[THREADS];
static int strangers;

static bool
descends(const node *of, const node *from)
{
    while (of && of != from) {
        of = of->parent;
    }
    return of == from;
}

static void
grow(const node *parent, int depth)
{
    const node of_this = {parent};
    const node *self = &of_this; /* the address is what tasks copy */
    int me = omp_get_thread_num();
    const node *below = suspended[me];
    if (below && !descends(self, below)) {
#pragma omp atomic
        strangers++;
    }
    for (int i = 0; depth > 0 && i < 3; i++) {
#pragma omp task
        grow(self, depth - 1);
    }
    suspended[me] = self;
#pragma omp taskwait
    suspended[me] = below;
}

static void
who_waits_starts_descendants_only(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
#pragma omp parallel num_threads(THREADS)
        {
            suspended[omp_get_thread_num()] = NULL;
#pragma omp barrier
            for (int i = 0; i < 4; i++) {
#pragma omp task
                grow(NULL, 4);
            }
        }
    }
    assert_int_equal(strangers, 0);
}

/* ---- At once --------------------------------------------------------------------------------- */

static void
some_are_executed_at_once(void **state)
{
    int order = 0, wrong = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
        int me = omp_get_thread_num();
#pragma omp task if (0) shared(order, wrong)
        wrong += order++ != 0 || omp_get_thread_num() != me || omp_in_final();
        wrong += order++ != 1;
#pragma omp task final(1) shared(wrong)
        {
            int inner = 0, here = omp_get_thread_num();
            wrong += !omp_in_final();
#pragma omp task shared(inner, wrong)
            {
                inner++;
                wrong += omp_get_thread_num() != here || !omp_in_final();
            }
            wrong += inner != 1;
        }
    }
    assert_int_equal(wrong, 0);
}

/* One makes far more than there is room for, and nobody helps it. */
static void
a_crowd_of_tasks_is_executed(void **state)
{
    long sum = 0;
    (void)state;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (long i = 1; i <= 300000; i++) {
#pragma omp task shared(sum)
        {
#pragma omp atomic
            sum += i;
        }
    }
    assert_int_equal(sum, 300000L * 300001 / 2);
}

static void
data_of_any_size_is_a_tasks_own(void **state)
{
    struct {
        _Alignas(64) char bytes[700];
    } large;
    int wrong = 0;
    (void)state;
    for (int round = 0; round < 200; round++) {
        memset(&large, round, sizeof large);
#pragma omp parallel num_threads(THREADS)
#pragma omp single nowait
        for (int i = 0; i < 5; i++) {
#pragma omp task firstprivate(large) shared(wrong)
            {
                bool is_right = large.bytes[0] == (char)round && large.bytes[699] == (char)round &&
                                (uintptr_t)&large % 64 == 0;
#pragma omp atomic
                wrong += !is_right;
            }
        }
    }
    assert_int_equal(wrong, 0);
}

static void
settings_are_a_tasks_own(void **state)
{
    int wrong = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    {
        int mine = 10 + omp_get_thread_num();
        omp_set_num_threads(mine);
        for (int i = 0; i < 50; i++) {
#pragma omp task shared(wrong)
            {
                bool is_right = omp_get_max_threads() == mine;
                omp_set_num_threads(100 + i);
#pragma omp task shared(wrong)
                {
                    bool is_right_here = omp_get_max_threads() == 100 + i;
#pragma omp atomic
                    wrong += !is_right_here;
                }
                omp_set_num_threads(200 + i);
#pragma omp taskwait
                is_right = is_right && omp_get_max_threads() == 200 + i;
#pragma omp atomic
                wrong += !is_right;
            }
        }
#pragma omp taskwait
        wrong += omp_get_max_threads() != mine;
    }
    assert_int_equal(wrong, 0);
}

static void
a_cancelled_group_starts_no_more(void **state)
{
    int started = 0, behind = 0;
    (void)state;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task if (0)
            {
#pragma omp cancel taskgroup
            }
            for (int i = 0; i < 500; i++) {
#pragma omp task shared(started)
                {
#pragma omp atomic
                    started++;
                }
            }
        }
#pragma omp task shared(behind)
        behind = 1;
    }
    assert_int_equal(started, 0);
    assert_int_equal(behind, 1);
}

/* One makes them, and executes all of them, since the other waits where it starts none. */
static void
the_highest_priority_goes_first(void **state)
{
    enum {
        COUNT = 40
    };
    int order[COUNT], executed = 0, over = 0, wrong = 0;
    (void)state;
    assert_int_equal(omp_get_max_task_priority(), 5);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
        for (int i = 0; i < COUNT; i++) {
#pragma omp task priority(i * 7 % 10) shared(order, executed)
            order[executed++] = i * 7 % 10;
        }
#pragma omp taskwait
#pragma omp atomic write
        over = 1;
    } else {
        int seen = 0;
        while (!seen) {
#pragma omp atomic read
            seen = over;
        }
    }
    for (int i = 1; i < COUNT; i++) {
        int before = order[i - 1] < 5 ? order[i - 1] : 5, here = order[i] < 5 ? order[i] : 5;
        wrong += before < here; /* no more than 5 are told apart */
    }
    assert_int_equal(executed, COUNT);
    assert_int_equal(wrong, 0);
}

static void
a_yield_executes_another(void **state)
{
    int done = 0;
    (void)state;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task shared(done)
        {
#pragma omp atomic write
            done = 1;
        }
        int seen = 0;
        while (!seen) {
#pragma omp taskyield
#pragma omp atomic read
            seen = done;
        }
    }
    assert_int_equal(done, 1);
}

static void
regions_stand_in_tasks(void **state)
{
    int sum = 0;
    (void)state;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task shared(sum)
#pragma omp parallel num_threads(3)
        {
#pragma omp task shared(sum)
            {
#pragma omp atomic
                sum++;
            }
        }
    }
    assert_int_equal(sum, 60);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_of_tasks_is_added_up),
        cmocka_unit_test(all_are_complete_behind_a_barrier),
        cmocka_unit_test(all_are_complete_behind_a_region),
        cmocka_unit_test(tasks_outlive_those_who_made_them),
        cmocka_unit_test(a_wait_is_for_children_only),
        cmocka_unit_test(a_group_is_for_all_descendants),
        cmocka_unit_test(who_waits_starts_descendants_only),
        cmocka_unit_test(some_are_executed_at_once),
        cmocka_unit_test(a_crowd_of_tasks_is_executed),
        cmocka_unit_test(data_of_any_size_is_a_tasks_own),
        cmocka_unit_test(settings_are_a_tasks_own),
        cmocka_unit_test(a_cancelled_group_starts_no_more),
        cmocka_unit_test(the_highest_priority_goes_first),
        cmocka_unit_test(a_yield_executes_another),
        cmocka_unit_test(regions_stand_in_tasks),
    };
    /* Read at the first region. */
    if (setenv("OMP_CANCELLATION", "true", 1) != 0 ||
        setenv("OMP_MAX_TASK_PRIORITY", "5", 1) != 0) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
