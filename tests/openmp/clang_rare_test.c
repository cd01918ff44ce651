/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of LLVM's library that no clang calls, each for what it does: barriers that one goes on
 * from, memory, locks, what is set, a pause. */
#include <dirent.h>
#include <limits.h>
#include <omp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "support/unit.h"

#define THREADS 4
#define ROUNDS 200

static struct {
    int32_t first, flags, more[2];
    const char *source;
} here = {0, 2, {0, 0}, ";rare;rare;1;1;;"};

extern int __kmpc_global_thread_num(void *place);

/* ---- Barriers -------------------------------------------------------------------------------- */

extern int __kmpc_barrier_master(void *place, int thread);
extern void __kmpc_end_barrier_master(void *place, int thread);
extern int __kmpc_barrier_master_nowait(void *place, int thread);

static int
read_of(int *number)
{
    int read;
#pragma omp atomic read seq_cst
    read = *number;
    return read;
}

static void
add_to(int *number)
{
#pragma omp atomic seq_cst
    (*number)++;
}

/* All have come when one goes on, and the others go on when he is through. */
static void
one_goes_on_and_the_others_wait(void **state)
{
    int come = 0, through = 0, wrong = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    for (int round = 1; round <= ROUNDS; round++) {
        int thread = __kmpc_global_thread_num(&here);
        add_to(&come);
        int goes_on = __kmpc_barrier_master(&here, thread);
        wrong += goes_on != (omp_get_thread_num() == 0);
        if (goes_on) {
            wrong += read_of(&come) != round * THREADS;
            add_to(&through);
            __kmpc_end_barrier_master(&here, thread);
        }
        wrong += read_of(&through) != round;
#pragma omp barrier
    }
    assert_int_equal(wrong, 0);
}

/* Who goes on meets the others behind the barrier, for which he would wait forever if they waited
 * for him. */
static void
one_goes_on_and_the_others_do_not_wait(void **state)
{
    int come = 0, gone = 0, wrong = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    for (int round = 1; round <= ROUNDS; round++) {
        add_to(&come);
        int goes_on = __kmpc_barrier_master_nowait(&here, __kmpc_global_thread_num(&here));
        wrong += goes_on != (omp_get_thread_num() == 0);
        wrong += read_of(&come) < round * THREADS;
        if (!goes_on) {
            add_to(&gone);
        }
        while (goes_on && read_of(&gone) < round * (THREADS - 1)) {
        }
#pragma omp barrier
    }
    assert_int_equal(wrong, 0);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

extern void *__kmpc_alloc(int thread, size_t bytes, uintptr_t allocator);
extern void *__kmpc_calloc(int thread, size_t count, size_t bytes, uintptr_t allocator);
extern void *
__kmpc_realloc(int thread, void *memory, size_t bytes, uintptr_t allocator, uintptr_t before);
extern void __kmpc_free(int thread, void *memory, uintptr_t allocator);

/* A handle that is none means the default, and that is one with 300 bytes. */
static void
memory_is_the_defaults(void **state)
{
    enum {
        SOME = 300
    };
    static const char zeroed[SOME];
    int thread = __kmpc_global_thread_num(&here);
    omp_alloctrait_t traits[] = {{omp_atk_pool_size, SOME}, {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t small = omp_init_allocator(omp_default_mem_space, 2, traits);
    (void)state;
    omp_set_default_allocator(small);
    assert_null(__kmpc_calloc(thread, SOME + 1, 1, 0));
    assert_null(__kmpc_realloc(thread, NULL, SOME + 1, 0, 0));
    assert_null(__kmpc_alloc(thread, SOME + 1, 0));
    char *memory = __kmpc_calloc(thread, SOME / 10, 10, 0);
    assert_memory_equal(memory, zeroed, SOME);
    assert_null(__kmpc_alloc(thread, 1, 0));
    __kmpc_free(thread, memory, 0);
    memory = __kmpc_realloc(thread, NULL, 100, 0, 0);
    strcpy(memory, "what was there");
    memory = __kmpc_realloc(thread, memory, 5000, (uintptr_t)omp_default_mem_alloc, 0);
    assert_string_equal(memory, "what was there");
    assert_null(__kmpc_realloc(thread, memory, 0, 0, 0));
    memory = __kmpc_alloc(thread, SOME, 0); /* all of it was given back */
    assert_non_null(memory);
    __kmpc_free(thread, memory, 0);
    volatile size_t too_many = SIZE_MAX / 2;
    assert_null(__kmpc_calloc(thread, too_many, 3, (uintptr_t)omp_default_mem_alloc));
    omp_set_default_allocator(omp_default_mem_alloc);
    omp_destroy_allocator(small);
}

extern void *kmpc_malloc(size_t bytes);
extern void *kmpc_aligned_malloc(size_t bytes, size_t alignment);
extern void *kmpc_calloc(size_t count, size_t bytes);
extern void *kmpc_realloc(void *memory, size_t bytes);
extern void kmpc_free(void *memory);

static void
memory_has_third_names(void **state)
{
    static const char zeroed[500];
    (void)state;
    char *memory = kmpc_calloc(50, 10);
    assert_memory_equal(memory, zeroed, 500);
    strcpy(memory, "what was there");
    memory = kmpc_realloc(memory, 50000);
    assert_string_equal(memory, "what was there");
    kmpc_free(memory);
    memory = kmpc_malloc(500);
    memset(memory, 1, 500);
    kmpc_free(memory);
    memory = kmpc_aligned_malloc(500, 4096);
    assert_int_equal((uintptr_t)memory % 4096, 0);
    kmpc_free(memory);
}

/* ---- Locks ----------------------------------------------------------------------------------- */

#define LOCK(type, name) extern type __kmpc_##name(void *place, int thread, void **lock);
LOCK(void, init_lock)
LOCK(void, destroy_lock)
LOCK(void, set_lock)
LOCK(void, unset_lock)
LOCK(int, test_lock)
LOCK(void, init_nest_lock)
LOCK(void, destroy_nest_lock)
LOCK(void, set_nest_lock)
LOCK(void, unset_nest_lock)
LOCK(int, test_nest_lock)
extern void __kmpc_init_lock_with_hint(void *place, int thread, void **lock, uintptr_t hint);
extern void __kmpc_init_nest_lock_with_hint(void *place, int thread, void **lock, uintptr_t hint);

/* While one has it, nobody else gets it; afterwards he does. */
static void
excludes(void **lock,
         void (*set)(void *place, int thread, void **lock),
         int (*test)(void *place, int thread, void **lock),
         void (*unset)(void *place, int thread, void **lock))
{
    int sum = 0, wrong = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    {
        int thread = __kmpc_global_thread_num(&here);
        for (int i = 0; i < 1000; i++) {
            set(&here, thread, lock);
            sum++;
            unset(&here, thread, lock);
        }
#pragma omp barrier
        if (omp_get_thread_num() == 1) {
            wrong += test(&here, thread, lock) != 1;
        }
#pragma omp barrier
        if (omp_get_thread_num() != 1) {
            wrong += test(&here, thread, lock) != 0;
        }
#pragma omp barrier
        if (omp_get_thread_num() == 1) {
            unset(&here, thread, lock);
        }
    }
    assert_int_equal(sum, THREADS * 1000);
    assert_int_equal(wrong, 0);
}

static void
locks_exclude(void **state)
{
    int thread = __kmpc_global_thread_num(&here);
    void *lock = NULL;
    (void)state;
    for (int hinted = 0; hinted < 2; hinted++) {
        if (hinted) {
            __kmpc_init_lock_with_hint(&here, thread, &lock, omp_sync_hint_contended);
        } else {
            __kmpc_init_lock(&here, thread, &lock);
        }
        excludes(&lock, __kmpc_set_lock, __kmpc_test_lock, __kmpc_unset_lock);
        assert_int_equal(__kmpc_test_lock(&here, thread, &lock), 1);
        assert_int_equal(__kmpc_test_lock(&here, thread, &lock), 0); /* not even himself */
        __kmpc_unset_lock(&here, thread, &lock);
        __kmpc_destroy_lock(&here, thread, &lock);
    }
}

static void
nestable_locks_exclude_and_count(void **state)
{
    int thread = __kmpc_global_thread_num(&here);
    void *lock = NULL;
    (void)state;
    for (int hinted = 0; hinted < 2; hinted++) {
        if (hinted) {
            __kmpc_init_nest_lock_with_hint(&here, thread, &lock, omp_sync_hint_contended);
        } else {
            __kmpc_init_nest_lock(&here, thread, &lock);
        }
        excludes(&lock, __kmpc_set_nest_lock, __kmpc_test_nest_lock, __kmpc_unset_nest_lock);
        __kmpc_set_nest_lock(&here, thread, &lock);
        __kmpc_set_nest_lock(&here, thread, &lock);
        assert_int_equal(__kmpc_test_nest_lock(&here, thread, &lock), 3);
        __kmpc_unset_nest_lock(&here, thread, &lock);
        __kmpc_unset_nest_lock(&here, thread, &lock);
        assert_int_equal(__kmpc_test_nest_lock(&here, thread, &lock), 2);
        __kmpc_unset_nest_lock(&here, thread, &lock);
        __kmpc_unset_nest_lock(&here, thread, &lock);
        __kmpc_destroy_nest_lock(&here, thread, &lock);
    }
}

/* ---- What is set ----------------------------------------------------------------------------- */

extern void kmpc_set_stacksize(int bytes);
extern void kmpc_set_stacksize_s(size_t bytes);
extern void kmpc_set_blocktime(int time_ms);
extern void kmpc_set_library(int kind);
extern void kmpc_set_defaults(const char *text);
extern void kmpc_set_disp_num_buffers(int count);
extern int kmpc_set_affinity_mask_proc(int processor, kmp_affinity_mask_t *mask);
extern int kmpc_unset_affinity_mask_proc(int processor, kmp_affinity_mask_t *mask);
extern int kmpc_get_affinity_mask_proc(int processor, kmp_affinity_mask_t *mask);

static void
what_is_set_can_be_asked(void **state)
{
    enum {
        BYTES = 6 << 20
    };
    (void)state;
    kmpc_set_stacksize_s(BYTES);
    assert_int_equal(kmp_get_stacksize_s(), BYTES);
    kmpc_set_stacksize(2 * BYTES);
    assert_int_equal(kmp_get_stacksize(), 2 * BYTES);
    kmpc_set_library(2);
    assert_int_equal(kmp_get_library(), 2);
    assert_int_equal(kmp_get_blocktime(), INT_MAX);
    kmpc_set_library(3);
    kmpc_set_blocktime(7);
    assert_int_equal(kmp_get_blocktime(), 7);
    kmpc_set_disp_num_buffers(4);
    kmpc_set_defaults("OMP_NUM_THREADS=3|KMP_BLOCKTIME=5");
    assert_int_equal(omp_get_max_threads(), 3);
    assert_int_equal(kmp_get_blocktime(), 5);
}

static void
processors_have_third_names(void **state)
{
    kmp_affinity_mask_t mask;
    (void)state;
    kmp_create_affinity_mask(&mask);
    assert_int_equal(kmpc_get_affinity_mask_proc(0, &mask), 0);
    assert_int_equal(kmpc_set_affinity_mask_proc(0, &mask), 0);
    assert_int_equal(kmpc_get_affinity_mask_proc(0, &mask), 1);
    assert_int_equal(kmpc_unset_affinity_mask_proc(0, &mask), 0);
    assert_int_equal(kmpc_get_affinity_mask_proc(0, &mask), 0);
    assert_int_equal(kmpc_set_affinity_mask_proc(-1, &mask), -1);
    kmp_destroy_affinity_mask(&mask);
}

/* ---- A pause --------------------------------------------------------------------------------- */

extern int __kmpc_pause_resource(int kind);

/* Of this process. */
static int
threads_alive(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(folder);
    return count;
}

static void
threads_end_at_a_pause(void **state)
{
    int inside = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS) reduction(+ : inside)
    inside += __kmpc_pause_resource(omp_pause_soft) != 0;
    assert_int_equal(inside, THREADS);
    assert_true(threads_alive() >= THREADS);
    assert_true(__kmpc_pause_resource(3) != 0);
    assert_int_equal(__kmpc_pause_resource(omp_pause_hard), 0);
    /* Who was waited for may stand there for a moment yet. */
    for (int i = 0; i < 5000 && threads_alive() > 1; i++) {
        (void)usleep(1000);
    }
    assert_int_equal(threads_alive(), 1);
}

/* ---- What a program says --------------------------------------------------------------------- */

extern void __kmpc_error(void *place, int severity, const char *text);

static void
an_error_directive_says_where_it_stands(void **state)
{
    int ends[2];
    char said[256] = "";
    int standard_error = dup(STDERR_FILENO);
    (void)state;
    assert_int_equal(pipe(ends), 0);
    (void)dup2(ends[1], STDERR_FILENO);
    here.source = ";a/file.c;function;12;7;;";
    __kmpc_error(&here, 1, "a word");
    (void)dup2(standard_error, STDERR_FILENO);
    (void)close(standard_error);
    assert_true(read(ends[0], said, sizeof said - 1) > 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    assert_non_null(strstr(said, "a/file.c:12:7: error directive encountered: a word"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_goes_on_and_the_others_wait),
        cmocka_unit_test(one_goes_on_and_the_others_do_not_wait),
        cmocka_unit_test(memory_is_the_defaults),
        cmocka_unit_test(memory_has_third_names),
        cmocka_unit_test(locks_exclude),
        cmocka_unit_test(nestable_locks_exclude_and_count),
        cmocka_unit_test(what_is_set_can_be_asked),
        cmocka_unit_test(processors_have_third_names),
        cmocka_unit_test(an_error_directive_says_where_it_stands),
        cmocka_unit_test(threads_end_at_a_pause),
    };
    return cmocka_run_group_tests_name("rare names of LLVM's", tests, NULL, NULL);
}
