/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tasks that detach and are given up before they begin: complete then, whether their event was
 * fulfilled before, is just now, will be, or never. */
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "support/unit.h"
#include "visitor.h"

#define THREADS 4
#define ROUNDS 100

static int thing; /* that tasks depend on */

/* A task whose memory was given back too early is this one, which would be complete too early. */
static bool
another_event_counts_for_itself(omp_event_handle_t *old)
{
    bool is_behind = false, early;
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : thing)
    {
    }
    if (*old) {
        omp_fulfill_event(*old);
    }
#pragma omp task depend(in : thing) shared(is_behind)
    {
#pragma omp atomic write
        is_behind = true;
    }
#pragma omp atomic read
    early = is_behind;
    omp_fulfill_event(event);
#pragma omp taskwait
    return !early;
}

enum {
    BEFORE,
    TOGETHER,
    BEHIND,
    WHENS,
};

/* What is given up in its group waits for a first task until that is done with; the event of it is
 * the visitor's, where that and the cancellation are to meet. */
static omp_event_handle_t
give_up(int when, visit *v, int *started)
{
    omp_event_handle_t event;
#pragma omp taskgroup
    {
        omp_event_handle_t first;
#pragma omp task detach(first) depend(out : thing)
        {
        }
#pragma omp task detach(event) depend(in : thing) firstprivate(started)
        ++*started;
        v->event = event;
        if (when == BEFORE) {
            omp_fulfill_event(event);
        }
#pragma omp task if (0)
        {
#pragma omp cancel taskgroup
        }
        if (when == TOGETHER) {
            set(&v->asked);
        }
        omp_fulfill_event(first);
    }
    return event;
}

static void
what_is_given_up_may_be_fulfilled(void **state)
{
    (void)state;
    for (int round = 0; round < 10 * ROUNDS; round++) {
        visit v = {.lines = 0};
        int when = round % WHENS, started = 0;
        bool is_right = true;
        pthread_t thread = 0;
        if (when == TOGETHER) {
            thread = visitor(&v);
        }
#pragma omp parallel num_threads(1 + round % (THREADS + 1))
#pragma omp single
        {
            omp_event_handle_t event = give_up(when, &v, &started);
            if (when == BEHIND) {
                is_right = another_event_counts_for_itself(&event);
            }
        }
        if (when == TOGETHER) {
            assert_int_equal(pthread_join(thread, NULL), 0);
        }
        assert_int_equal(started, 0);
        assert_true(is_right);
    }
}

/* Met in a group that is given up already: with clang it has an event nevertheless. */
static void
what_is_thrown_away_may_be_fulfilled(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int started = 0;
        bool is_right = true;
#pragma omp parallel num_threads(1 + round % THREADS)
#pragma omp single
        {
            omp_event_handle_t event;
#pragma omp taskgroup
            {
#pragma omp task if (0)
                {
#pragma omp cancel taskgroup
                }
#pragma omp task detach(event) shared(started)
                started++;
            }
            is_right = another_event_counts_for_itself(&event);
        }
        assert_int_equal(started, 0);
        assert_true(is_right);
    }
}

#ifdef __clang__
/* One with variables to destroy, by clang's names: it is executed for these, not for its lines. */
typedef struct made {
    void *shared;
    int (*lines)(int thread, struct made *task);
    int part;
    int (*destroy)(int thread, struct made *task);
    void *more;
} made;

static atomic32 lines_begun, destroyed;

static int
begin_lines(int thread, made *task)
{
    (void)thread;
    (void)task;
    set(&lines_begun);
    return 0;
}

static int
destroy(int thread, made *task)
{
    (void)thread;
    (void)task;
    (void)atomic32_fetch_add_relaxed(&destroyed, 1);
    return 0;
}

extern made *__kmpc_omp_task_alloc(
    void *place, int thread, int flags, size_t size, size_t shared, int (*lines)(int, made *));
extern void *__kmpc_task_allow_completion_event(void *place, int thread, made *task);
extern int __kmpc_omp_task_with_deps(
    void *place, int thread, made *task, int count, void *first, int more_count, void *more);

static omp_event_handle_t
meet_with_destroyer(void)
{
    struct {
        void *address;
        size_t size;
        unsigned char kind;
    } in = {&thing, sizeof thing, 1};
    made *task = __kmpc_omp_task_alloc(NULL, 0, 1 | 8, sizeof *task, 0, begin_lines);
    task->destroy = destroy;
    omp_event_handle_t event =
        (omp_event_handle_t)__kmpc_task_allow_completion_event(NULL, 0, task);
    (void)__kmpc_omp_task_with_deps(NULL, 0, task, 1, &in, 0, NULL);
    return event;
}

static void
its_variables_are_destroyed_once(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        bool is_right = true;
        bool is_behind = round % 2;
#pragma omp parallel num_threads(1 + round % THREADS)
#pragma omp single
        {
            omp_event_handle_t event;
#pragma omp taskgroup
            {
                omp_event_handle_t first;
#pragma omp task detach(first) depend(out : thing)
                {
                }
                event = meet_with_destroyer();
                if (!is_behind) {
                    omp_fulfill_event(event);
                }
#pragma omp task if (0)
                {
#pragma omp cancel taskgroup
                } omp_fulfill_event(first);
            }
            if (is_behind) {
                is_right = another_event_counts_for_itself(&event);
            }
        }
        assert_true(is_right);
        assert_int_equal(get(&lines_begun), 0);
        assert_int_equal(get(&destroyed), round + 1);
    }
}
#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_given_up_may_be_fulfilled),
        cmocka_unit_test(what_is_thrown_away_may_be_fulfilled),
#ifdef __clang__
        cmocka_unit_test(its_variables_are_destroyed_once),
#endif
    };
    /* Read at the first region. */
    if (setenv("OMP_CANCELLATION", "true", 1) != 0) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
