/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What LLVM's omp.h has beyond OpenMP: stacks, waiting, kinds of library, memory, processors. */
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

#define THREADS 3

static int
threads_of_a_region(void)
{
    int threads = 0;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    return threads;
}

/* ---- What is set ----------------------------------------------------------------------------- */

enum {
    BYTES = 40 << 20
};

__attribute__((noinline)) static int
use_much(void)
{
    volatile char room[BYTES];
    for (size_t i = 0; i < BYTES; i += 4096) {
        room[i] = 1;
    }
    return room[BYTES - 4096];
}

/* Threads that are started later have the larger stack. */
static void
stacks_are_as_large_as_asked(void **state)
{
    int sum = 0;
    (void)state;
    assert_true(kmp_get_stacksize_s() > 0); /* nothing was said: the system's */
    kmp_set_stacksize_s(BYTES + (4 << 20));
    assert_int_equal(kmp_get_stacksize_s(), BYTES + (4 << 20));
    assert_int_equal(kmp_get_stacksize(), BYTES + (4 << 20));
    kmp_set_stacksize(BYTES + (2 << 20));
    assert_int_equal(kmp_get_stacksize_s(), BYTES + (2 << 20));
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
    sum += omp_get_thread_num() > 0 ? use_much() : 0;
    assert_int_equal(sum, THREADS - 1);
}

static void
threads_are_told_how_long_to_spin(void **state)
{
    int told[THREADS];
    (void)state;
    kmp_set_blocktime(7);
    assert_int_equal(kmp_get_blocktime(), 7);
#pragma omp parallel num_threads(THREADS)
    told[omp_get_thread_num()] = kmp_get_blocktime();
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(told[i], 7);
    }
    kmp_set_blocktime(INT_MAX);
    assert_int_equal(kmp_get_blocktime(), INT_MAX);
    kmp_set_blocktime(0);
    assert_int_equal(kmp_get_blocktime(), 0);
    assert_int_equal(threads_of_a_region(), omp_get_max_threads());
}

static void
libraries_are_of_three_kinds(void **state)
{
    (void)state;
    omp_set_num_threads(THREADS);
    kmp_set_library_serial();
    assert_int_equal(kmp_get_library(), 1);
    assert_int_equal(threads_of_a_region(), 1);
    kmp_set_library_turnaround();
    assert_int_equal(kmp_get_library(), 2);
    assert_int_equal(kmp_get_blocktime(), INT_MAX);
    assert_int_equal(threads_of_a_region(), THREADS);
    kmp_set_library_throughput();
    assert_int_equal(kmp_get_library(), 3);
    assert_int_equal(threads_of_a_region(), THREADS);
    kmp_set_library(9);
    assert_int_equal(kmp_get_library(), 3);
}

static void
defaults_are_variables(void **state)
{
    omp_sched_t kind;
    int chunk;
    (void)state;
    kmp_set_defaults("OMP_NUM_THREADS=2|OMP_SCHEDULE=guided,5|KMP_BLOCKTIME=3");
    assert_int_equal(threads_of_a_region(), 2);
    omp_get_schedule(&kind, &chunk);
    assert_int_equal(kind & 0xff, omp_sched_guided);
    assert_int_equal(chunk, 5);
    assert_int_equal(kmp_get_blocktime(), 3);
    kmp_set_defaults("OMP_NUM_THREADS"); /* no value: nothing */
    kmp_set_defaults("OMP_NUM_THREADS=many");
    assert_int_equal(threads_of_a_region(), 2);
    kmp_set_disp_num_buffers(4);
    kmp_set_warnings_off();
    kmp_set_warnings_on();
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void
memory_is_given_and_taken_back(void **state)
{
    enum {
        SOME = 5000
    };
    char *memory = kmp_calloc(SOME / 10, 10), zeroed[SOME] = {0}, ones[SOME];
    (void)state;
    memset(ones, 1, sizeof ones);
    assert_memory_equal(memory, zeroed, SOME);
    memset(memory, 1, SOME);
    memory = kmp_realloc(memory, 20 * SOME);
    assert_memory_equal(memory, ones, SOME);
    memset(memory, 2, 20 * SOME);
    assert_null(kmp_realloc(memory, 0));
    assert_null(kmp_calloc(SIZE_MAX, 2));
    memory = kmp_aligned_malloc(SOME, 4096);
    assert_int_equal((uintptr_t)memory % 4096, 0);
    memset(memory, 3, SOME);
    kmp_free(memory);
    memory = kmp_realloc(NULL, SOME);
    memset(memory, 3, SOME);
    kmp_free(memory);
    memory = kmp_malloc(SOME);
    memset(memory, 3, SOME);
    kmp_free(memory);
}

/* ---- Processors ------------------------------------------------------------------------------ */

static int
count_of(kmp_affinity_mask_t *mask)
{
    int count = 0;
    for (int i = 0; i < kmp_get_affinity_max_proc(); i++) {
        count += kmp_get_affinity_mask_proc(i, mask);
    }
    return count;
}

static void
a_thread_goes_where_it_is_sent(void **state)
{
    kmp_affinity_mask_t before, one, now;
    int processor = 0;
    (void)state;
    kmp_create_affinity_mask(&before);
    kmp_create_affinity_mask(&one);
    kmp_create_affinity_mask(&now);
    assert_int_equal(kmp_get_affinity(&before), 0);
    assert_true(count_of(&before) >= 1);
    while (!kmp_get_affinity_mask_proc(processor, &before)) {
        processor++;
    }
    assert_int_equal(kmp_set_affinity(&one), -1); /* none */
    assert_int_equal(kmp_set_affinity_mask_proc(processor, &one), 0);
    assert_int_equal(kmp_set_affinity_mask_proc(-1, &one), -1);
    assert_int_equal(kmp_get_affinity_mask_proc(kmp_get_affinity_max_proc(), &one), -1);
    assert_int_equal(kmp_set_affinity(&one), 0);
    assert_int_equal(kmp_get_affinity(&now), 0);
    assert_int_equal(count_of(&now), 1);
    assert_int_equal(kmp_get_affinity_mask_proc(processor, &now), 1);
    assert_int_equal(kmp_unset_affinity_mask_proc(processor, &now), 0);
    assert_int_equal(count_of(&now), 0);
    assert_int_equal(kmp_set_affinity(&before), 0);
    kmp_destroy_affinity_mask(&before);
    kmp_destroy_affinity_mask(&one);
    kmp_destroy_affinity_mask(&now);
}

/* ---- Interoperability: there is no foreign runtime ------------------------------------------- */

static void
there_is_nothing_to_operate_with(void **state)
{
    int code = 0;
    (void)state;
    assert_int_equal(omp_get_num_interop_properties(NULL), 0);
    assert_int_equal(omp_get_interop_int(NULL, omp_ipr_vendor, &code), 0);
    assert_int_equal(code, omp_irc_empty);
    code = 0;
    assert_null(omp_get_interop_ptr(NULL, omp_ipr_platform, &code));
    assert_int_equal(code, omp_irc_empty);
    assert_null(omp_get_interop_str(NULL, omp_ipr_vendor_name, &code));
    assert_non_null(omp_get_interop_rc_desc(NULL, omp_irc_empty));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_are_as_large_as_asked),
        cmocka_unit_test(threads_are_told_how_long_to_spin),
        cmocka_unit_test(libraries_are_of_three_kinds),
        cmocka_unit_test(defaults_are_variables),
        cmocka_unit_test(memory_is_given_and_taken_back),
        cmocka_unit_test(a_thread_goes_where_it_is_sent),
        cmocka_unit_test(there_is_nothing_to_operate_with),
    };
    return cmocka_run_group_tests_name("kmp", tests, NULL, NULL);
}
