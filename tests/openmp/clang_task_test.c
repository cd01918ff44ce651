/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tasks, leagues and cancelled loops as clang has them: tasks in parts, tasks that their maker
 * executes between two calls, loops of tasks whose bounds the runtime writes, loops of which nobody
 * says the end. */
#include <omp.h>
#include <stdbool.h>
#include <string.h>

#include "support/unit.h"

#define THREADS 4

/* ---- Tasks ----------------------------------------------------------------------------------- */

static long
untied_fib(int n)
{
    long a, b;
    if (n < 2) {
        return n;
    }
#pragma omp task untied shared(a)
    a = untied_fib(n - 1);
#pragma omp task untied shared(b)
    b = untied_fib(n - 2);
#pragma omp taskwait
    return a + b;
}

/* Each of its parts once, and in their order. */
static void
untied_tasks_come_in_parts(void **state)
{
    int parts[50][3] = {{0}};
    int wrong = 0;
    long sum = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
        for (int i = 0; i < 50; i++) {
#pragma omp task untied firstprivate(i) shared(parts, wrong)
            {
                int of_child = 0;
                parts[i][0]++;
#pragma omp taskyield
                parts[i][1] += parts[i][0];
#pragma omp task shared(of_child)
                of_child = i;
#pragma omp taskwait
                parts[i][2] += parts[i][1];
                if (of_child != i) {
#pragma omp atomic
                    wrong++;
                }
            }
        }
#pragma omp taskwait
        sum = untied_fib(15);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(sum, 610);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(parts[i][0] + 10 * parts[i][1] + 100 * parts[i][2], 111);
    }
}

/* As when others execute it; what waits for its end is behind all of them. */
static void
parts_of_an_undeferred_task(void **state)
{
    int wrong = 0;
    (void)state;
    for (int round = 0; round < 50; round++) {
        int parts = 0, of_child = 0;
#pragma omp parallel num_threads(1 + round % THREADS)
#pragma omp single
        {
#pragma omp task untied if (0) shared(parts, of_child)
            {
                parts = parts * 10 + 1;
#pragma omp taskyield
                parts = parts * 10 + 2;
#pragma omp task shared(of_child)
                of_child = 1;
#pragma omp taskwait
                parts = parts * 10 + 2 + of_child;
            }
            wrong += parts != 123;
        }
    }
    assert_int_equal(wrong, 0);
}

/* It waits for what it depends on, its children for it; and what it sets is its own. */
static void
undeferred_tasks_are_tasks(void **state)
{
    int wrong = 0;
    (void)state;
    omp_set_num_threads(3);
    for (int round = 0; round < 200; round++) {
        int value = 0, child = 0;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
        {
            omp_set_num_threads(4);
#pragma omp task shared(value) depend(out : value)
            value = 1;
#pragma omp task if (0) shared(value, child, wrong) depend(inout : value)
            {
                wrong += value != 1;
                value = 2;
                omp_set_num_threads(7);
#pragma omp task shared(child)
                child = 1;
#pragma omp taskwait
                wrong += child != 1 || omp_get_max_threads() != 7;
            }
            wrong += value != 2 || omp_get_max_threads() != 4;
#pragma omp task final(1) shared(wrong)
            {
                int inner = 0;
#pragma omp task shared(inner)
                inner = omp_in_final();
                wrong += inner != 1;
            }
        }
    }
    assert_int_equal(wrong, 0);
}

static void
loops_of_tasks(void **state)
{
    (void)state;
    for (int count = 1; count < 60; count++) {
        int executed[60] = {0}, down[60] = {0}, last = -1, own = 5, wrong = 0;
        bool deferred = count % 3 != 0;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
        {
#pragma omp taskloop grainsize(3) lastprivate(last) firstprivate(own) if (deferred)
            for (int i = 0; i < count; i++) {
                executed[i]++;
                last = i;
                if (own++ < 5) {
#pragma omp atomic
                    wrong++;
                }
            }
#pragma omp taskloop num_tasks(7) shared(down)
            for (long i = count; i > 0; i -= 2) {
                down[i - 1]++;
            }
#pragma omp taskloop nogroup shared(executed)
            for (unsigned long long i = 0; i < (unsigned long long)count; i++) {
                executed[i]++;
            }
        }
        assert_int_equal(wrong, 0);
        assert_int_equal(last, count - 1);
        assert_int_equal(own, 5);
        for (int i = 0; i < 60; i++) {
            assert_int_equal(executed[i], i < count ? 2 : 0);
            assert_int_equal(down[i], i < count && (count - i) % 2 == 1);
        }
    }
}

/* More of them than a list has room for at hand, and one on all memory. */
static void
many_dependences(void **state)
{
    int v[20] = {0};
    int wrong = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (int round = 1; round <= 100; round++) {
        for (int i = 0; i < 20; i++) {
#pragma omp task firstprivate(i) shared(v) depend(inout : v[i])
            v[i]++;
        }
#pragma omp task firstprivate(round) shared(v, wrong) depend(iterator(i = 0 : 20), in : v[i])
        for (int i = 0; i < 20; i++) {
            wrong += v[i] != round;
        }
#pragma omp task firstprivate(round) shared(v, wrong) depend(inout : omp_all_memory)
        for (int i = 0; i < 20; i++) {
            wrong += v[i] != round;
        }
    }
    assert_int_equal(wrong, 0);
}

/* ---- What clang 16 does not call ------------------------------------------------------------- */

typedef struct made {
    void *shared;
    int (*lines)(int thread, struct made *task);
    int part;
    void *more[2];
    unsigned long long first;
    unsigned long long last;
} made;

extern made *__kmpc_omp_task_alloc(
    void *place, int thread, int flags, size_t size, size_t shared, int (*lines)(int, made *));
extern int __kmpc_omp_task(void *place, int thread, made *task);

/* Else it would wait for an event that comes behind it. */
static void
a_wait_that_does_not_wait(void **state)
{
    extern void __kmpc_omp_taskwait_deps_51(void *place, int thread, int count, void *first,
                                            int more_count, void *more, int waits_not);
    int thing = 0, fulfilled = 0, wrong = 0;
    struct {
        void *address;
        size_t size;
        unsigned char kind;
    } inout = {&thing, sizeof thing, 3};
    (void)state;
    for (int threads = 1; threads <= THREADS; threads++) {
#pragma omp parallel num_threads(threads)
#pragma omp single
        {
            omp_event_handle_t event;
            fulfilled = 0;
#pragma omp task detach(event) depend(out : thing)
            {
            }
            __kmpc_omp_taskwait_deps_51(NULL, 0, 1, &inout, 0, NULL, 1);
#pragma omp task depend(in : thing) shared(fulfilled, wrong)
            {
                int is_fulfilled;
#pragma omp atomic read
                is_fulfilled = fulfilled;
                wrong += !is_fulfilled;
            }
#pragma omp atomic write
            fulfilled = 1;
            omp_fulfill_event(event);
#pragma omp taskwait
        }
    }
    assert_int_equal(wrong, 0);
}

static int parts_of[40];

static int
note_part(int thread, made *task)
{
    (void)thread;
#pragma omp atomic
    parts_of[task->last - task->first + 1]++;
    return 0;
}

static void
grains_may_be_strict(void **state)
{
    extern void __kmpc_taskloop_5(void *place, int thread, made *task, int condition,
                                  unsigned long long *first, unsigned long long *last, long step,
                                  int no_group, int by, unsigned long long number, int strict,
                                  void *copy);
    (void)state;
    memset(parts_of, 0, sizeof parts_of);
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
        made *task = __kmpc_omp_task_alloc(NULL, 0, 1, sizeof(made), 0, note_part);
        task->first = 0;
        task->last = 37;
        __kmpc_taskloop_5(NULL, 0, task, 1, &task->first, &task->last, 1, 0, 1, 7, 1, NULL);
    }
    assert_int_equal(parts_of[7], 5);
    assert_int_equal(parts_of[3], 1);
}

static made *atomic_proxy;

static int
begin_work(int thread, made *task)
{
    (void)thread;
#pragma omp atomic write
    atomic_proxy = task;
    return 0;
}

/* Who does a proxy's work says when it is done: here another task. */
static void
proxies_are_complete_when_it_is_said(void **state)
{
    extern void __kmpc_proxy_task_completed_ooo(made * task);
    int done = 0, wrong = 0;
    (void)state;
    for (int round = 0; round < 50; round++) {
#pragma omp parallel num_threads(THREADS)
#pragma omp single
        {
            done = 0;
            atomic_proxy = NULL;
            (void)__kmpc_omp_task(NULL, 0,
                                  __kmpc_omp_task_alloc(NULL, 0, 17, sizeof(made), 0, begin_work));
#pragma omp task shared(done)
            {
                made *proxy = NULL;
                while (!proxy) {
#pragma omp taskyield
#pragma omp atomic read
                    proxy = atomic_proxy;
                }
                done = 1;
                __kmpc_proxy_task_completed_ooo(proxy);
            }
#pragma omp taskwait
            wrong += !done;
        }
    }
    assert_int_equal(wrong, 0);
}

/* ---- Leagues --------------------------------------------------------------------------------- */

#define DISTRIBUTED(...)                                                                           \
    {                                                                                              \
        int executed[101] = {0};                                                                   \
        _Pragma(__VA_ARGS__) for (int i = 0; i < 101; i++)                                         \
        {                                                                                          \
            executed[i]++;                                                                         \
        }                                                                                          \
        for (int i = 0; i < 101; i++) {                                                            \
            assert_int_equal(executed[i], 1);                                                      \
        }                                                                                          \
    }

static void
teams_share_out_their_loops(void **state)
{
    int sizes[3] = {0};
    (void)state;
#pragma omp teams num_teams(3) thread_limit(2)
    {
        int team = omp_get_team_num();
#pragma omp parallel num_threads(4)
#pragma omp single
        sizes[team] = omp_get_num_threads() + 10 * omp_get_num_teams();
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sizes[i], 32);
    }
    DISTRIBUTED("omp teams distribute num_teams(4)")
    DISTRIBUTED("omp teams distribute num_teams(4) dist_schedule(static, 7)")
    DISTRIBUTED("omp teams distribute parallel for num_teams(4)")
    DISTRIBUTED("omp teams distribute parallel for num_teams(4) schedule(static, 3)")
    DISTRIBUTED("omp teams distribute parallel for num_teams(4) schedule(dynamic, 3)")
    DISTRIBUTED("omp teams distribute parallel for num_teams(3) dist_schedule(static, 9)")
}

/* ---- Cancelled loops ------------------------------------------------------------------------- */

/* More of them than a team has places for. A program that may not cancel executes them whole. */
static void
loops_that_are_left(void **state)
{
    int executed = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS)
    for (int round = 0; round < 60; round++) {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 100; i++) {
#pragma omp atomic
            executed++;
#pragma omp cancel for if (i == 10)
#pragma omp cancellation point for
        }
    }
    assert_true(executed >= 60 * 11);
    assert_true(executed <= 60 * 100);
    assert_int_equal(omp_get_cancellation(), executed < 60 * 100);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void
variables_of_an_allocator(void **state)
{
    int wrong = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    {
        long room[64];
#pragma omp allocate(room) allocator(omp_default_mem_alloc)
        memset(room, omp_get_thread_num(), sizeof room);
#pragma omp barrier
        char want[sizeof room];
        memset(want, omp_get_thread_num(), sizeof want);
        wrong += memcmp(room, want, sizeof room) != 0;
    }
    assert_int_equal(wrong, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untied_tasks_come_in_parts),
        cmocka_unit_test(parts_of_an_undeferred_task),
        cmocka_unit_test(undeferred_tasks_are_tasks),
        cmocka_unit_test(loops_of_tasks),
        cmocka_unit_test(many_dependences),
        cmocka_unit_test(a_wait_that_does_not_wait),
        cmocka_unit_test(grains_may_be_strict),
        cmocka_unit_test(proxies_are_complete_when_it_is_said),
        cmocka_unit_test(teams_share_out_their_loops),
        cmocka_unit_test(loops_that_are_left),
        cmocka_unit_test(variables_of_an_allocator),
    };
    return cmocka_run_group_tests_name("tasks of clang", tests, NULL, NULL);
}
