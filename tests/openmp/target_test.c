/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Target regions and teams, on the host: as initial threads of their own, with copies of what is
 * firstprivate; numbers and limits of teams; memory of devices. */
#include <limits.h>
#include <omp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "support/unit.h"

static void
a_region_is_an_initial_thread(void **state)
{
    int wrong = 0;
    (void)state;
    omp_set_num_threads(3);
#pragma omp parallel num_threads(2) reduction(+ : wrong)
    for (int round = 0; round < 20; round++) {
        int inside = 0;
#pragma omp target map(tofrom : inside)
        {
            inside += omp_get_level() != 0 || omp_get_num_threads() != 1 || omp_in_parallel();
            int came = 0;
#pragma omp parallel num_threads(2) reduction(+ : came)
            {
#pragma omp single
                came++;
            }
            inside += came != 1 || omp_get_team_size(0) != 1;
        }
        wrong += inside + (omp_get_level() != 1);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(omp_get_max_threads(), 3);
}

static void
copies_are_the_regions_own(void **state)
{
    struct {
        char before;
        _Alignas(32) long values[8];
    } many = {.values = {1, 2, 3}};
    int one = 7;
    bool is_aligned = false;
    (void)state;
#pragma omp target firstprivate(many, one) map(from : is_aligned)
    {
        is_aligned = (uintptr_t)&many % 32 == 0 && many.values[2] == 3 && one == 7;
        many.values[2] = 4;
        one = 8;
    }
    assert_true(is_aligned);
    assert_int_equal(many.values[2], 3);
    assert_int_equal(one, 7);
}

/* Which gcc does not let a teams construct call itself. */
static int
limit_here(void)
{
    return omp_get_thread_limit();
}

static void
want_threads(int threads)
{
    omp_set_num_threads(threads);
}

static void
teams_go_by_their_numbers(void **state)
{
    int came[5] = {0};
    int wrong = 0;
    (void)state;
#pragma omp teams num_teams(5) thread_limit(2) shared(came, wrong)
    {
        came[omp_get_team_num()]++;
        wrong += omp_get_num_teams() != 5 || limit_here() != 2;
#pragma omp parallel num_threads(7)
        {
#pragma omp atomic
            wrong += omp_get_num_threads() > 2;
        }
        want_threads(1 + omp_get_team_num());
    }
    for (int i = 0; i < 5; i++) {
        assert_int_equal(came[i], 1);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(omp_get_num_teams(), 1);
    assert_int_equal(omp_get_max_threads(), 3);
}

static void
regions_wait_for_what_they_depend_on(void **state)
{
    int wrong = 0;
    (void)state;
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int round = 0; round < 200; round++) {
        int value = 0;
#pragma omp task depend(out : value) shared(value)
        {
            sched_yield();
            value = 1;
        }
#pragma omp target nowait map(tofrom : value) depend(inout : value)
        value = value * 10 + 2;
#pragma omp task depend(inout : value) shared(value)
        value = value * 10 + 3;
#pragma omp taskwait
        wrong += value != 123;
    }
    assert_int_equal(wrong, 0);
}

static void
teams_in_a_region_go_round(void **state)
{
    int came[4] = {0};
    (void)state;
#pragma omp target teams num_teams(4) map(tofrom : came)
    came[omp_get_team_num()] += omp_get_num_teams();
    for (int i = 0; i < 4; i++) {
        assert_int_equal(came[i], 4);
    }
}

static void
limits_hold_through_all_levels(void **state)
{
    int begun = 0;
    int threads = 0;
    (void)state;
    omp_set_max_active_levels(3);
#pragma omp teams num_teams(1) thread_limit(4) shared(begun, threads)
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(3)
    {
#pragma omp atomic
        threads++;
#pragma omp master
        {
            int now;
#pragma omp atomic
            begun++;
            do { /* no inner region ends before all have begun */
                sched_yield();
#pragma omp atomic read
                now = begun;
            } while (now < 3);
        }
    }
    assert_int_equal(threads, 4);
}

static void
rectangles_are_copied(void **state)
{
    int from[4][5][6];
    int to[3][4][5];
    const size_t volume[] = {2, 3, 4};
    const size_t to_offsets[] = {1, 0, 1};
    const size_t from_offsets[] = {2, 1, 2};
    const size_t to_dimensions[] = {3, 4, 5};
    const size_t from_dimensions[] = {4, 5, 6};
    int host = omp_get_initial_device();
    (void)state;
    for (int i = 0; i < 4 * 5 * 6; i++) {
        from[i / 30][i / 6 % 5][i % 6] = i;
    }
    memset(to, 0xff, sizeof to);
    assert_int_equal(omp_target_memcpy_rect(to, from, sizeof(int), 3, volume, to_offsets,
                                            from_offsets, to_dimensions, from_dimensions, host,
                                            host),
                     0);
    for (int i = 0; i < 3 * 4 * 5; i++) {
        int a = i / 20, b = i / 5 % 4, c = i % 5;
        bool is_in = a >= 1 && b < 3 && c >= 1;
        assert_int_equal(to[a][b][c], is_in ? from[a + 1][b + 1][c + 1] : -1);
    }
    assert_int_not_equal(omp_target_memcpy_rect(to, from, sizeof(int), 3, volume, to_offsets,
                                                from_offsets, to_dimensions, from_dimensions,
                                                host + 1, host),
                         0);
    assert_int_not_equal(omp_target_memcpy_rect(NULL, from, sizeof(int), 3, volume, to_offsets,
                                                from_offsets, to_dimensions, from_dimensions, host,
                                                host),
                         0);
}

/* OpenMP 5.1 and 6.0; gcc 12's omp.h does not have them. */
int omp_target_memcpy_async(void *target,
                            const void *source,
                            size_t size_bytes,
                            size_t target_offset,
                            size_t source_offset,
                            int target_device,
                            int source_device,
                            int count,
                            omp_depend_t *objects);
int omp_target_memcpy_rect_async(void *target,
                                 const void *source,
                                 size_t element_bytes,
                                 int dimensions,
                                 const size_t *volume,
                                 const size_t *target_offsets,
                                 const size_t *source_offsets,
                                 const size_t *target_dimensions,
                                 const size_t *source_dimensions,
                                 int target_device,
                                 int source_device,
                                 int count,
                                 omp_depend_t *objects);
void *omp_target_memset_async(
    void *memory, int byte, size_t bytes, int device, int count, omp_depend_t *objects);

#define CHAIN 200

/* Each is written by a task; a copy waits for that, and what is met later for the copy. */
static void
copies_wait_for_tasks(void **state)
{
    int from[CHAIN] = {0};
    int to[CHAIN];
    int rows[CHAIN];
    int host = omp_get_initial_device();
    int wrong = 0;
    const size_t one = 1;
    const size_t none = 0;
    (void)state;
    memset(to, 0xff, sizeof to);
    memset(rows, 0xff, sizeof rows);
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int i = 0; i < CHAIN; i++) {
        omp_depend_t object;
#pragma omp depobj(object) depend(inout : from[i])
#pragma omp task depend(out : from[i]) firstprivate(i) shared(from)
        {
#pragma omp taskyield
            from[i] = i + 1;
        }
        wrong += omp_target_memcpy_async(&to[i], &from[i], sizeof(int), 0, 0, host, host, 1,
                                         &object) != 0;
        wrong += omp_target_memcpy_rect_async(&rows[i], &from[i], sizeof(int), 1, &one, &none,
                                              &none, &one, &one, host, host, 1, &object) != 0;
        wrong += omp_target_memset_async(&from[i], 0, sizeof(int), host, 1, &object) != &from[i];
#pragma omp depobj(object) destroy
    }
    assert_int_equal(wrong, 0);
    for (int i = 0; i < CHAIN; i++) {
        assert_int_equal(from[i], 0);
        assert_int_equal(to[i], i + 1);
        assert_int_equal(rows[i], i + 1);
    }
    assert_int_not_equal(
        omp_target_memcpy_async(to, from, sizeof(int), 0, 0, host + 1, host, 0, NULL), 0);
    assert_int_equal(omp_target_memcpy_rect_async(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL,
                                                  host, host, 0, NULL),
                     INT_MAX);
}

static void
memory_of_the_host_is_given(void **state)
{
    (void)state;
    int host = omp_get_initial_device();
    char *memory = omp_target_alloc(100, host);
    assert_non_null(memory);
    assert_int_equal(omp_target_memcpy(memory, "abcdef", 3, 1, 2, host, host), 0);
    assert_memory_equal(memory + 1, "cde", 3);
    omp_target_free(memory, host);
    assert_null(omp_target_alloc(100, host + 1));
    memory = omp_target_alloc(100, -1); /* omp_initial_device, of OpenMP 5.2 */
    assert_non_null(memory);
    omp_target_free(memory, -1);
}

static int said = 5;
#pragma omp threadprivate(said)

static void
threads_end_in_a_pause(void **state)
{
    int old = 0;
    (void)state;
#pragma omp parallel num_threads(4)
    said = 6;
    assert_int_equal(omp_pause_resource(omp_pause_hard, omp_get_initial_device()), 0);
#pragma omp parallel num_threads(4) reduction(+ : old)
    old += omp_get_thread_num() > 0 && said != 5;
    assert_int_equal(old, 0);
    int refused = 0;
#pragma omp parallel num_threads(2) reduction(+ : refused)
    refused += omp_pause_resource_all(omp_pause_soft) != 0;
    assert_int_equal(refused, 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_is_an_initial_thread),
        cmocka_unit_test(copies_are_the_regions_own),
        cmocka_unit_test(teams_go_by_their_numbers),
        cmocka_unit_test(teams_in_a_region_go_round),
        cmocka_unit_test(regions_wait_for_what_they_depend_on),
        cmocka_unit_test(limits_hold_through_all_levels),
        cmocka_unit_test(rectangles_are_copied),
        cmocka_unit_test(copies_wait_for_tasks),
        cmocka_unit_test(memory_of_the_host_is_given),
        cmocka_unit_test(threads_end_in_a_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
