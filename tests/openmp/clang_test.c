/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What clang has a program call, and gcc does not: functions of many arguments, static loops whose
 * bounds the runtime gives, reductions that it orders. And that it is our library that is called,
 * one, whatever its name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

#define THREADS 5

/* ---- The library ----------------------------------------------------------------------------- */

static void
both_names_are_one_library(void **state)
{
    Dl_info info;
    (void)state;
    assert_int_not_equal(dladdr(dlsym(RTLD_DEFAULT, "__kmpc_fork_call"), &info), 0);
    assert_non_null(strstr(info.dli_fname, OPENMP_FOLDER "/"));
    void *library = dlopen(OPENMP_FOLDER "/libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    Dl_info other;
    assert_int_not_equal(dladdr(dlsym(library, "GOMP_parallel"), &other), 0);
    assert_ptr_equal(info.dli_fbase, other.dli_fbase);
    (void)dlclose(library);
}

/* ---- Regions --------------------------------------------------------------------------------- */

#define EIGHT(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7)
#define NAMED(n) long v##n = 1##n;
#define ADDED(n) part += v##n - 1##n + 1;
#define CHANGED(n) v##n = 1##n + omp_get_num_threads();
#define SIXTY_FOUR(m)                                                                              \
    EIGHT(m, 0) EIGHT(m, 1) EIGHT(m, 2) EIGHT(m, 3) EIGHT(m, 4) EIGHT(m, 5) EIGHT(m, 6) EIGHT(m, 7)

/* Each is an argument of what the region calls. */
static void
a_region_uses_many_variables(void **state)
{
    long sum = 0;
    (void)state;
    SIXTY_FOUR(NAMED)
    long v80 = 180, v81 = 181;
#pragma omp parallel num_threads(THREADS)
    {
        long part = 0;
        SIXTY_FOUR(ADDED)
        ADDED(80)
        ADDED(81)
#pragma omp barrier
#pragma omp single
            {SIXTY_FOUR(CHANGED) CHANGED(80) CHANGED(81)} SIXTY_FOUR(ADDED) ADDED(80) ADDED(81)
#pragma omp critical
                sum += part;
    }
    assert_int_equal(sum, THREADS * 66 * (2 + THREADS));
}

static void
a_few_variables(void **state)
{
    long a = 1, b = 2, c = 3, d = 4, e = 5;
    long sum = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp critical
        sum += a + 10 * b + 100 * c + 1000 * d + 10000 * e;
    }
    assert_int_equal(sum, THREADS * 54321);
}

/* A number of threads is of one region, be that executed by one thread alone. */
static void
a_number_of_threads_is_of_one_region(void **state)
{
    int sizes[4] = {0};
    (void)state;
    omp_set_num_threads(3);
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(2)
#pragma omp single
        sizes[0] = omp_get_num_threads();
#pragma omp parallel
#pragma omp single
        sizes[1] = omp_get_num_threads();
#pragma omp parallel num_threads(4) if (round > 1)
        sizes[2] = omp_get_num_threads() + 10 * omp_get_level();
#pragma omp parallel
#pragma omp single
        sizes[3] = omp_get_num_threads();
        assert_int_equal(sizes[0], 2);
        assert_int_equal(sizes[1], 3);
        assert_int_equal(sizes[2], 11);
        assert_int_equal(sizes[3], 3);
    }
}

static void
masked_by_number(void **state)
{
    int executed[THREADS] = {0};
    (void)state;
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < THREADS; i++) {
#pragma omp master
        executed[0]++;
    }
    assert_int_equal(executed[0], THREADS);
}

/* What clang 16 does not call; newer ones, and compilers of Fortran do. */
static void
newer_names(void **state)
{
    extern void *__kmpc_copyprivate_light(void *place, int thread, void *data);
    extern void __kmpc_set_thread_limit(void *place, int thread, int limit);
    extern void __kmpc_scope(void *place, int thread, void *unused);
    extern void __kmpc_end_scope(void *place, int thread, void *unused);
    int wrong = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    for (int round = 0; round < 50; round++) {
        int own = -1, *given = NULL;
        __kmpc_scope(NULL, 0, NULL);
#pragma omp single nowait
        {
            own = round;
            given = &own;
        }
        const int *taken = __kmpc_copyprivate_light(NULL, 0, given);
        wrong += *taken != round || (given && taken != given);
        __kmpc_end_scope(NULL, 0, NULL);
#pragma omp barrier
    }
    assert_int_equal(wrong, 0);
#pragma omp parallel num_threads(1)
    {
        __kmpc_set_thread_limit(NULL, 0, 2);
        wrong = omp_get_thread_limit() != 2;
    }
    assert_int_equal(wrong, 0);
    assert_int_not_equal(omp_get_thread_limit(), 2);
}

/* ---- Reductions ------------------------------------------------------------------------------ */

static void
reductions_of_one_and_of_several(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 7; threads++) {
        long one = 0, sum = 0, product = 1, most = LONG_MIN;
        int wrong = 0;
#pragma omp parallel num_threads(threads)
        {
#pragma omp for reduction(+ : one)
            for (int i = 0; i < 1000; i++) {
                one += i;
            }
#pragma omp for reduction(+ : sum) reduction(* : product) reduction(max : most)
            for (int i = 1; i <= 12; i++) {
                sum += i;
                product *= i;
                most = i > most ? i : most;
            }
            /* Behind the loop all see the whole. */
            if (one != 499500 || sum != 78 || product != 479001600 || most != 12) {
#pragma omp atomic
                wrong++;
            }
        }
        assert_int_equal(wrong, 0);
    }
}

/* Sums of many magnitudes: rounded, they tell in which order they were added. Teams in groups add
 * up in one, where nothing is cancelled; others do as they come. */
static void
reductions_of_groups_come_out_the_same(void **state)
{
    const char *cancellation = getenv("OMP_CANCELLATION");
    bool is_ordered = getenv("MEDLEY_TEAM_GROUPS") && !cancellation;
    float first = 0, first_product = 0;
    (void)state;
    for (int round = 0; round < 400; round++) {
        float sum = 0, product = 1;
        int tasks = 0;
#pragma omp parallel num_threads(11)
        {
#pragma omp task shared(tasks)
#pragma omp atomic
            tasks++;
#pragma omp for schedule(static) reduction(+ : sum) reduction(* : product)
            for (int i = 0; i < 11; i++) {
                float own = 1;
                for (int j = 0; j < i; j++) {
                    own *= 7.3f;
                }
                sum += own;
                product *= 1 + 1 / own;
            }
        }
        first = round ? first : sum;
        first_product = round ? first_product : product;
        assert_int_equal(tasks, 11);
        assert_true(sum > first * 0.999f && sum < first * 1.001f);
        assert_true(!is_ordered || (sum == first && product == first_product));
    }
}

/* Of nobody's team, and of teams of one; and without a barrier nobody waits for another. */
static void
reductions_wait_for_nobody(void **state)
{
    static int orphan, in_teams, later;
    omp_lock_t lock;
    (void)state;
    orphan = in_teams = later = 0;
#pragma omp for reduction(+ : orphan)
    for (int i = 0; i < 10; i++) {
        orphan += i;
    }
#pragma omp teams num_teams(3) reduction(+ : in_teams)
    in_teams++;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(THREADS)
    {
        omp_set_lock(&lock);
#pragma omp for schedule(static) reduction(+ : later) nowait
        for (int i = 0; i < 100; i++) {
            later += i;
        }
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    assert_int_equal(orphan, 45);
    assert_true(in_teams >= 1 && in_teams <= 3);
    assert_int_equal(later, 4950);
}

static void
reductions_again_and_again(void **state)
{
    long one = 0, sum = 0, odd = 0;
    (void)state;
    for (int round = 0; round < 2000; round++) {
#pragma omp parallel num_threads(THREADS) reduction(+ : one)
        one++;
#pragma omp parallel num_threads(THREADS) reduction(+ : sum, odd)
        {
            sum++;
            odd += omp_get_thread_num() % 2;
        }
    }
    assert_int_equal(one, 2000 * THREADS);
    assert_int_equal(sum, 2000 * THREADS);
    assert_int_equal(odd, 2000 * (THREADS / 2));
}

/* ---- Static loops ---------------------------------------------------------------------------- */

/* Each iteration once, and its thread: that of the schedule. */
static void
static_parts_are_the_schedules(void **state)
{
    (void)state;
    for (int count = 0; count < 40; count++) {
        for (int chunk = 1; chunk < 12; chunk++) {
            int executed[40] = {0}, owner[40], of_part[40], last = -1, last_of_part = -1;
#pragma omp parallel num_threads(THREADS)
            {
#pragma omp for schedule(static, chunk) lastprivate(last)
                for (int i = 0; i < count; i++) {
                    executed[i]++;
                    owner[i] = omp_get_thread_num();
                    last = i;
                }
#pragma omp for lastprivate(last_of_part)
                for (int i = count; i > 0; i--) {
                    executed[i - 1]++;
                    of_part[count - i] = omp_get_thread_num();
                    last_of_part = i;
                }
            }
            for (int i = 0; i < count; i++) {
                int least = count / THREADS, more = count % THREADS;
                int longer = more * (least + 1);
                assert_int_equal(executed[i], 2);
                assert_int_equal(owner[i], i / chunk % THREADS);
                assert_int_equal(of_part[i],
                                 i < longer ? i / (least + 1) : more + (i - longer) / least);
            }
            if (count > 0) {
                assert_int_equal(last, count - 1);
                assert_int_equal(last_of_part, 1);
            }
        }
    }
}

/* Where values, or steps from chunk to chunk, come near the end of their type. */
static void
static_parts_at_the_end_of_a_type(void **state)
{
    (void)state;
    for (int chunk = 1; chunk < INT_MAX / 2; chunk = chunk * 3 + 1) {
        int below = 0, above = 0;
        long far = 0;
#pragma omp parallel num_threads(THREADS)
        {
#pragma omp for schedule(static, chunk) reduction(+ : above)
            for (int i = INT_MAX - 50; i < INT_MAX; i++) {
                above++;
            }
#pragma omp for schedule(static, chunk) reduction(+ : below)
            for (int i = INT_MIN + 50; i > INT_MIN; i -= 7) {
                below++;
            }
#pragma omp for schedule(static) reduction(+ : far)
            for (unsigned long long i = ULLONG_MAX - 9; i < ULLONG_MAX; i += 2) {
                far++;
            }
        }
        assert_int_equal(above, 50);
        assert_int_equal(below, 8);
        assert_int_equal(far, 5);
    }
}

/* Every schedule that a directive names, of 32 and of 64 bits. */
#define NAMED_SCHEDULE(...)                                                                        \
    {                                                                                              \
        int executed[300] = {0}, last = -1;                                                        \
        _Pragma("omp parallel num_threads(THREADS)")                                               \
        {                                                                                          \
            _Pragma(__VA_ARGS__) for (int i = 0; i < 300; i++) executed[last = i]++;               \
            _Pragma(__VA_ARGS__) for (unsigned i = 299; i > 0; i -= 1) executed[last = (int)i]++;  \
            _Pragma(__VA_ARGS__) for (long i = 0; i < 300; i++) executed[last = (int)i]++;         \
            _Pragma(__VA_ARGS__) for (unsigned long i = 0; i < 300; i += 3)                        \
                executed[last = (int)i]++;                                                         \
        }                                                                                          \
        assert_int_equal(last, 297);                                                               \
        for (int i = 0; i < 300; i++) {                                                            \
            assert_int_equal(executed[i], 2 + (i > 0) + (i % 3 == 0));                             \
        }                                                                                          \
    }

static void
all_schedules(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(dynamic)")
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(dynamic, 7)")
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(guided)")
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(guided, 5)")
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(auto)")
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(runtime)")
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(monotonic : dynamic, 2)")
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(nonmonotonic : guided, 2)")
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(monotonic : static, 2)")
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(simd : static, 3)")
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(static) ordered")
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(static, 3) ordered")
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(dynamic, 2) ordered")
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(guided) ordered")
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(runtime) ordered")
        NAMED_SCHEDULE("omp for lastprivate(last) schedule(auto) ordered")
    }
}

/* The schedule's chunks are of so many iterations as the compiler does at once. */
static void
chunks_of_vectors(void **state)
{
    extern int __kmpc_global_thread_num(void *place);
    extern void __kmpc_dispatch_init_4(void *place, int thread, int kind, int first, int last,
                                       int step, int chunk);
    extern int __kmpc_dispatch_next_4(void *place, int thread, int *has_last, int *first, int *last,
                                      int *step);
    enum {
        GUIDED_SIMD = 46,
        OF_RUN_SIMD = 47,
        VECTOR = 4,
        LAST = 61
    };
    (void)state;
    for (int round = 0; round < 24; round++) {
        int done = 0, wrong = 0, chunk = round / 4 % 3;
        omp_set_schedule((omp_sched_t)(omp_sched_static + round % 4), chunk);
#pragma omp parallel num_threads(1 + round % 3) reduction(+ : done, wrong)
        {
            int thread = __kmpc_global_thread_num(NULL), has_last, first, last, step;
            __kmpc_dispatch_init_4(NULL, thread, round < 12 ? OF_RUN_SIMD : GUIDED_SIMD, 0, LAST, 1,
                                   VECTOR);
            while (__kmpc_dispatch_next_4(NULL, thread, &has_last, &first, &last, &step)) {
                done += last - first + 1;
                wrong += first % VECTOR != 0 || (!has_last && (last + 1) % VECTOR != 0);
                wrong += has_last != (last == LAST);
            }
        }
        assert_int_equal(done, LAST + 1);
        assert_int_equal(wrong, 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_names_are_one_library),
        cmocka_unit_test(a_region_uses_many_variables),
        cmocka_unit_test(a_few_variables),
        cmocka_unit_test(a_number_of_threads_is_of_one_region),
        cmocka_unit_test(masked_by_number),
        cmocka_unit_test(newer_names),
        cmocka_unit_test(reductions_of_one_and_of_several),
        cmocka_unit_test(reductions_of_groups_come_out_the_same),
        cmocka_unit_test(reductions_wait_for_nobody),
        cmocka_unit_test(reductions_again_and_again),
        cmocka_unit_test(static_parts_are_the_schedules),
        cmocka_unit_test(static_parts_at_the_end_of_a_type),
        cmocka_unit_test(all_schedules),
        cmocka_unit_test(chunks_of_vectors),
    };
    return cmocka_run_group_tests_name("clang", tests, NULL, NULL);
}
