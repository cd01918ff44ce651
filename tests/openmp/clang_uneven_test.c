/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What clang's programs ask for once, with MEDLEY_SCHEDULE=hetprobe: static loops are split by the
 * speed of cores, sections are not; and a static loop that was cancelled is over. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>

#include "openmp/uneven.h"
#include "support/unit.h"

#define COUNT 1000

static bool
loops_by_speed(void)
{
    int first = 0;
#pragma omp parallel for reduction(+ : first)
    for (int i = 0; i < COUNT; i++) {
        first += omp_get_thread_num() == 0;
    }
    return first == COUNT * 9 / 10;
}

static bool
sections_in_turn(void)
{
    int first = 0;
#define SECTION first += omp_get_thread_num() == 0
#pragma omp parallel sections reduction(+ : first)
    {
#pragma omp section
        SECTION;
#pragma omp section
        SECTION;
#pragma omp section
        SECTION;
#pragma omp section
        SECTION;
#pragma omp section
        SECTION;
#pragma omp section
        SECTION;
#pragma omp section
        SECTION;
#pragma omp section
        SECTION;
#pragma omp section
        SECTION;
#pragma omp section
        SECTION;
    }
    return first == 5;
}

/* A dynamic loop, by what clang has its programs call: within it a static loop of no iterations
 * ends, as one of a team of a league that has none does. The dynamic one goes on. */
extern int32_t __kmpc_global_thread_num(const void *place);
extern void __kmpc_dispatch_init_4(const void *place,
                                   int32_t thread,
                                   int32_t kind,
                                   int32_t first,
                                   int32_t last,
                                   int32_t step,
                                   int32_t chunk);
extern int32_t __kmpc_dispatch_next_4(const void *place,
                                      int32_t thread,
                                      int32_t *has_last,
                                      int32_t *first,
                                      int32_t *last,
                                      int32_t *stride);
extern void __kmpc_for_static_fini(const void *place, int32_t thread);

static int
dynamic_by_hand(void)
{
    int32_t thread = __kmpc_global_thread_num(NULL), has_last, first, last, stride;
    int own = 0;
    __kmpc_dispatch_init_4(NULL, thread, 35 | 1 << 30, 0, COUNT - 1, 1, 7);
    while (__kmpc_dispatch_next_4(NULL, thread, &has_last, &first, &last, &stride)) {
        own += last - first + 1;
        __kmpc_for_static_fini(NULL, thread);
    }
    return own;
}

static bool
cancelled_is_over(void)
{
    int executed = 0;
#pragma omp parallel reduction(+ : executed)
    {
#pragma omp for
        for (int i = 0; i < COUNT; i++) {
#pragma omp cancel for
        }
        executed += dynamic_by_hand();
    }
    return executed == COUNT;
}

static const variable told[] = {{"MEDLEY_SCHEDULE", "hetprobe"},
                                {"MEDLEY_CSR", "9:1"},
                                {"OMP_CANCELLATION", "true"},
                                {"OMP_NUM_THREADS", "2"}};

static void
static_loops(void **state)
{
    (void)state;
    assert_true(WITH(told, loops_by_speed));
}

static void
sections(void **state)
{
    (void)state;
    assert_true(WITH(told, sections_in_turn));
}

static void
a_cancelled_loop(void **state)
{
    (void)state;
    assert_true(WITH(told, cancelled_is_over));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(static_loops),
        cmocka_unit_test(sections),
        cmocka_unit_test(a_cancelled_loop),
    };
    if (!uneven_is_possible()) {
        return 0;
    }
    return cmocka_run_group_tests_name("clang's loops on unlike cores", tests, NULL, NULL);
}
