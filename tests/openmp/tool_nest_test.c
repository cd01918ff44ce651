/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a tool finds when it asks from within nested regions and tasks: the same data all the way
 * out as its callbacks were given on the way in, sizes, numbers, and frames of the stack: of each
 * task where the runtime called it, and where it called the runtime, which it has not when it goes
 * on. */
#include <omp.h>

#include "openmp/watch.h"
#include "support/unit.h"

#define OUTER 2
#define INNER 3

/* Of a task, from within. */
typedef struct seen {
    int there;
    int flags;
    ompt_data_t *data;
    ompt_frame_t *frame;
    ompt_data_t *region;
    int number;
} seen;

static seen
look(int level)
{
    seen s = {.there = 0};
    s.there = watch_task_info(level, &s.flags, &s.data, &s.frame, &s.region, &s.number);
    return s;
}

static int
size_at(int level)
{
    int size = -1;
    ompt_data_t *data = NULL;
    return watch_parallel_info(level, &data, &size) == 2 ? size : 0;
}

#define HERE ((uintptr_t)__builtin_frame_address(0)), __LINE__

/* A task that executes the program's lines: it has left the runtime, and lies above the caller. */
static void
is_inside(uintptr_t here, int line)
{
    const seen s = look(0);
    watch_check(s.there == 2 && s.data->ptr == watch_here()->task, "it is this task", line);
    watch_check((uintptr_t)s.frame->exit_frame.ptr - here < 65536, "the runtime called it", line);
    watch_check(s.frame->enter_frame.ptr == NULL, "it has not called the runtime", line);
}

/* It has called the runtime, on this stack, which called what is within: from the inner to the
 * outer addresses grow. An implicit task that waits at its region's end has no frames. */
static void
is_outside(int level, bool is_on_this_stack)
{
    const seen inner = look(level - 1), s = look(level);
    WATCH(s.there == 2);
    WATCH(s.data->ptr != NULL && s.data != inner.data);
    WATCH(s.frame->enter_frame.ptr != NULL || s.frame->exit_frame.ptr == NULL);
    if (is_on_this_stack && s.frame->enter_frame.ptr) {
        WATCH((uintptr_t)inner.frame->exit_frame.ptr <= (uintptr_t)s.frame->enter_frame.ptr);
        WATCH(s.frame->exit_frame.ptr == NULL ||
              (uintptr_t)s.frame->enter_frame.ptr <= (uintptr_t)s.frame->exit_frame.ptr);
    }
}

/* ---- Regions --------------------------------------------------------------------------------- */

static void
innermost(const watch_task *outer, const void *outer_region)
{
    is_inside(HERE);
    is_outside(1, omp_get_thread_num() == 0);
    is_outside(2, omp_get_thread_num() == 0 && omp_get_ancestor_thread_num(1) == 0);
    WATCH(look(0).number == omp_get_thread_num());
    WATCH(look(0).flags == ompt_task_implicit);
    WATCH(look(1).number == omp_get_ancestor_thread_num(1));
    WATCH(look(1).data->ptr == outer);
    WATCH(look(1).region->ptr == outer_region);
    WATCH(look(2).flags == ompt_task_initial);
    WATCH(look(3).there == 0 && look(-1).there == 0);
    WATCH(size_at(0) == INNER && size_at(1) == OUTER && size_at(2) == 1);
    WATCH(size_at(3) == 0 && size_at(-1) == 0);
}

static void
regions_in_regions(void **state)
{
    (void)state;
    omp_set_max_active_levels(2);
    for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(OUTER)
        {
            const watch_task *outer = watch_here()->task;
            const void *region = look(0).region->ptr;
            is_inside(HERE);
            is_outside(1, omp_get_thread_num() == 0);
#pragma omp parallel num_threads(INNER)
            innermost(outer, region);
            WATCH(watch_here()->task == outer);
            is_inside(HERE);
        }
        WATCH(look(0).flags == ompt_task_initial && look(1).there == 0);
        WATCH(look(0).frame->enter_frame.ptr == NULL);
        WATCH(look(0).frame->exit_frame.ptr == NULL);
    }
    assert_int_equal(WATCH_READ(wrong), 0);
    assert_true(WATCH_READ(regions) == 20 * (1 + OUTER));
}

/* ---- Behind each construct ------------------------------------------------------------------- */

static int shared;

#define GOES_ON is_inside(HERE)

static void
constructs(void)
{
    omp_lock_t lock;
    GOES_ON;
#pragma omp barrier
    GOES_ON;
#pragma omp critical
    {
        shared++;
        GOES_ON;
    }
    GOES_ON;
#pragma omp single
    GOES_ON;
    GOES_ON;
#pragma omp single nowait
    GOES_ON;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 10; i++) {
        GOES_ON;
    }
    GOES_ON;
#pragma omp for schedule(static, 1) ordered
    for (int i = 0; i < 10; i++) {
#pragma omp ordered
        GOES_ON;
        GOES_ON;
    }
#pragma omp sections
    {
#pragma omp section
        GOES_ON;
#pragma omp section
        GOES_ON;
    }
    GOES_ON;
#pragma omp master
    GOES_ON;
    omp_init_lock(&lock);
    GOES_ON;
    omp_set_lock(&lock);
    GOES_ON;
    omp_unset_lock(&lock);
    GOES_ON;
    omp_destroy_lock(&lock);
    GOES_ON;
}

static void
task_within(const watch_task *maker, bool is_here)
{
    is_inside(HERE);
    WATCH(look(0).flags & ompt_task_explicit);
    WATCH(look(0).number == omp_get_thread_num());
    WATCH(size_at(0) == omp_get_num_threads());
    if (is_here) {
        WATCH(look(0).flags & ompt_task_undeferred);
        WATCH(look(1).data->ptr == maker);
    }
    is_outside(1, true);
}

/* Clang has it in parts, and each but the last asks for the next. */
static void
untied(void)
{
#pragma omp task untied
    {
        is_inside(HERE);
#pragma omp taskyield
        is_inside(HERE);
#pragma omp taskwait
        is_inside(HERE);
    }
    GOES_ON;
#pragma omp taskwait
    GOES_ON;
}

/* The lines of the first are called by the runtime; those of the second may stand between two calls
 * of the program, with no frame of the runtime's on the stack. */
static void
frame_is_whose(int level, bool is_within_the_runtimes)
{
    const seen s = look(level);
    WATCH(!(s.frame->exit_frame_flags & ompt_frame_application) == is_within_the_runtimes);
}

static void
frames(void)
{
    frame_is_whose(0, true);
#pragma omp task if (0)
#ifdef __clang__
    frame_is_whose(0, false);
#else
    frame_is_whose(0, true);
#endif
    frame_is_whose(0, true);
}

static void
tasks(void)
{
    const watch_task *maker = watch_here()->task;
#pragma omp task if (0)
    task_within(maker, true);
    GOES_ON;
#pragma omp task
    task_within(maker, false);
    GOES_ON;
#pragma omp taskwait
    GOES_ON;
#pragma omp taskgroup
    {
        GOES_ON;
#pragma omp task
        task_within(maker, false);
        GOES_ON;
    }
    GOES_ON;
#pragma omp taskyield
    GOES_ON;
    untied();
#pragma omp taskloop grainsize(2)
    for (int i = 0; i < 8; i++) {
        task_within(maker, false);
    }
    GOES_ON;
#pragma omp flush
    GOES_ON;
}

static void
the_program_goes_on(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
#pragma omp parallel num_threads(threads)
        {
            constructs();
            tasks();
            frames();
        }
    }
    assert_int_equal(WATCH_READ(wrong), 0);
    assert_true(WATCH_READ(made) > 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(regions_in_regions),
                                       cmocka_unit_test(the_program_goes_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
