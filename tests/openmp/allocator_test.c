/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Allocators: alignment, pools that many threads draw on, what follows when one is empty, traits
 * that nobody can have; sizes that change; the default of a task. */
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "port/port.h"
#include "support/locked.h"
#include "support/process.h"
#include "support/unit.h"

static void
memory_is_aligned(void **state)
{
    (void)state;
    for (size_t alignment = 1; alignment <= 65536; alignment *= 2) {
        omp_alloctrait_t traits[] = {{omp_atk_alignment, alignment}};
        omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 1, traits);
        char *a = omp_alloc(33, allocator);
        char *b = omp_aligned_alloc(alignment, 33, omp_default_mem_alloc);
        memset(a, 1, 33);
        memset(b, 2, 33);
        assert_int_equal((uintptr_t)a % alignment, 0);
        assert_int_equal((uintptr_t)b % alignment, 0);
        assert_int_equal(a[32], 1);
        omp_free(a, allocator);
        omp_free(b, omp_null_allocator);
        omp_destroy_allocator(allocator);
    }
    assert_null(omp_aligned_alloc(24, 8, omp_default_mem_alloc));
    assert_null(omp_alloc(0, omp_default_mem_alloc));
    volatile size_t too_many = SIZE_MAX / 2;
    assert_null(omp_calloc(too_many, 3, omp_default_mem_alloc));
}

/* Those that compilers have beside OpenMP's: LLVM's for its devices, gcc's pinned one. */
static void
compilers_have_numbers_of_their_own(void **state)
{
    static const unsigned handles[] = {100, 101, 102, 200};
    (void)state;
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; i++) {
        char *memory = omp_alloc(64, (omp_allocator_handle_t)handles[i]);
        assert_non_null(memory);
        memset(memory, 1, 64);
        memory = omp_realloc(memory, 128, omp_null_allocator, omp_null_allocator);
        assert_non_null(memory);
        assert_int_equal(memory[63], 1);
        omp_free(memory, omp_null_allocator);
    }
    omp_allocator_handle_t pinned = omp_init_allocator((omp_memspace_handle_t)200, 0, NULL);
    assert_int_not_equal(pinned, omp_null_allocator);
    omp_destroy_allocator(pinned);
}

/* However many threads want some at once. */
static void
a_pool_gives_no_more_than_it_has(void **state)
{
    enum {
        THREADS = 4,
        SIZE = 100,
        POOL = 1050
    };
    omp_alloctrait_t traits[] = {{omp_atk_pool_size, POOL}, {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 2, traits);
    (void)state;
    for (int round = 0; round < 200; round++) {
        int got = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : got)
        {
            void *memory[8];
            for (int i = 0; i < 8; i++) {
                memory[i] = omp_alloc(SIZE, allocator);
                got += memory[i] != NULL;
            }
#pragma omp barrier
            for (int i = 0; i < 8; i++) {
                omp_free(memory[i], allocator);
            }
        }
        assert_int_equal(got, POOL / SIZE);
    }
    omp_destroy_allocator(allocator);
}

static void
who_is_empty_asks_another(void **state)
{
    omp_alloctrait_t small[] = {{omp_atk_pool_size, 64}, {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t other = omp_init_allocator(omp_default_mem_space, 2, small);
    omp_alloctrait_t asks[] = {{omp_atk_pool_size, 32},
                               {omp_atk_fallback, omp_atv_allocator_fb},
                               {omp_atk_fb_data, (uintptr_t)other}};
    omp_allocator_handle_t first = omp_init_allocator(omp_default_mem_space, 3, asks);
    omp_alloctrait_t plain[] = {{omp_atk_pool_size, 32}};
    omp_allocator_handle_t falls = omp_init_allocator(omp_default_mem_space, 1, plain);
    (void)state;
    void *a = omp_alloc(32, first);
    void *b = omp_alloc(64, first); /* the other's */
    assert_non_null(a);
    assert_non_null(b);
    assert_null(omp_alloc(1, other));
    assert_null(omp_alloc(1, first));
    omp_free(b, omp_null_allocator);
    void *c = omp_alloc(64, other);
    assert_non_null(c);
    void *d = omp_alloc(1000, falls); /* the default's */
    assert_non_null(d);
    omp_free(a, first);
    omp_free(c, other);
    omp_free(d, falls);
    omp_destroy_allocator(first);
    omp_destroy_allocator(other);
    omp_destroy_allocator(falls);
}

static void
what_cannot_be_had_is_refused(void **state)
{
    omp_alloctrait_t wrong[] = {{omp_atk_pinned, omp_atv_all},  {omp_atk_alignment, 24},
                                {omp_atk_pool_size, 0},         {omp_atk_fallback, omp_atv_nearest},
                                {omp_atk_access, omp_atv_true}, {(omp_alloctrait_key_t)77, 1},
                                {omp_atk_partition, 19}};
    (void)state;
    for (int i = 0; i < 7; i++) {
        assert_true(omp_init_allocator(omp_default_mem_space, 1, &wrong[i]) == omp_null_allocator);
    }
    assert_true(omp_init_allocator((omp_memspace_handle_t)9, 0, NULL) == omp_null_allocator);
}

/* Where it lies on a machine with one memory nobody can tell: but it is memory. */
static void
memory_is_spread(void **state)
{
    (void)state;
    for (uintptr_t partition = omp_atv_environment; partition <= omp_atv_interleaved; partition++) {
        omp_alloctrait_t traits[] = {{omp_atk_partition, partition}, {omp_atk_alignment, 8192}};
        omp_allocator_handle_t allocator = omp_init_allocator(omp_large_cap_mem_space, 2, traits);
        char *memory = omp_calloc(50000, 1, allocator);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 8192, 0);
        assert_int_equal(memory[49999], 0);
        memset(memory, 1, 50000);
        memory = omp_realloc(memory, 90000, allocator, allocator);
        assert_int_equal(memory[49999], 1);
        omp_free(memory, allocator);
        omp_destroy_allocator(allocator);
    }
}

/* As the machine says whether it has any; a predefined allocator gives memory in any case. */
static void
fast_memory_is_had_where_there_is_some(void **state)
{
    uint32_t node;
    bool has = med_port_memory_nodes(MED_PORT_MEMORY_HIGH_BANDWIDTH, &node, 1) > 0;
    omp_allocator_handle_t allocator = omp_init_allocator(omp_high_bw_mem_space, 0, NULL);
    (void)state;
    assert_int_equal(allocator != omp_null_allocator, has);
    char *memory = omp_alloc(5000, omp_high_bw_mem_alloc);
    assert_non_null(memory);
    memset(memory, 1, 5000);
    omp_free(memory, omp_high_bw_mem_alloc);
    omp_destroy_allocator(allocator);
}

static void
pinned_memory_stays(void **state)
{
    omp_alloctrait_t traits[] = {{omp_atk_pinned, omp_atv_true},
                                 {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 2, traits);
    (void)state;
    assert_true(allocator != omp_null_allocator);
    long before = locked_kib();
    char *memory = omp_alloc(20000, allocator);
    if (!memory) {
        not_possible_here("no memory may be locked");
    }
    assert_true(locked_kib() >= before + 20);
    memset(memory, 1, 20000);
    memory = omp_realloc(memory, 40000, allocator, allocator);
    assert_int_equal(memory[19999], 1);
    assert_true(locked_kib() >= before + 40);
    omp_free(memory, allocator);
    assert_int_equal(locked_kib(), before);
    omp_destroy_allocator(allocator);
}

/* Of a user who may lock none: then the fallback counts. */
static int
may_lock_none(test_process *parent, void *argument)
{
    omp_alloctrait_t traits[] = {{omp_atk_pinned, omp_atv_true},
                                 {omp_atk_fallback, omp_atv_null_fb}};
    (void)parent;
    (void)argument;
    if (!locked_forbid()) {
        return 77;
    }
    omp_allocator_handle_t strict = omp_init_allocator(omp_default_mem_space, 2, traits);
    omp_allocator_handle_t falls = omp_init_allocator(omp_default_mem_space, 1, traits);
    child_expect(omp_alloc(20000, strict) == NULL);
    char *memory = omp_alloc(20000, falls);
    child_expect(memory != NULL);
    omp_free(memory, falls);
    return 0;
}

static void
what_cannot_be_pinned_falls_back(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, may_lock_none, NULL);
    int status = process_join(&child);
    if (status == 77) {
        not_possible_here("no other user");
    }
    assert_int_equal(status, 0);
}

static void
what_moves_keeps_its_bytes(void **state)
{
    omp_alloctrait_t traits[] = {{omp_atk_pool_size, 300}, {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 2, traits);
    char *memory = omp_alloc(100, allocator);
    (void)state;
    strcpy(memory, "what was there");
    memory = omp_realloc(memory, 290, omp_null_allocator, omp_null_allocator);
    assert_string_equal(memory, "what was there"); /* 100 and 290 are more than the pool */
    assert_null(omp_realloc(memory, 301, allocator, allocator));
    memory = omp_realloc(memory, 20, allocator, allocator);
    assert_string_equal(memory, "what was there");
    memory = omp_realloc(memory, 5000, omp_default_mem_alloc, allocator);
    assert_string_equal(memory, "what was there");
    void *all = omp_alloc(300, allocator); /* all of it is given back */
    assert_non_null(all);
    omp_free(all, allocator);
    omp_free(memory, omp_default_mem_alloc);
    omp_destroy_allocator(allocator);
}

static void
each_task_has_its_default(void **state)
{
    int wrong = 0;
    (void)state;
    omp_set_default_allocator(omp_low_lat_mem_alloc);
#pragma omp parallel num_threads(3) reduction(+ : wrong)
    {
        wrong += omp_get_default_allocator() != omp_low_lat_mem_alloc;
        omp_set_default_allocator(omp_const_mem_alloc);
#pragma omp barrier
        wrong += omp_get_default_allocator() != omp_const_mem_alloc;
    }
    assert_int_equal(wrong, 0);
    assert_true(omp_get_default_allocator() == omp_low_lat_mem_alloc);
    omp_set_default_allocator(omp_null_allocator);
    assert_true(omp_get_default_allocator() == omp_default_mem_alloc);
}

/* As programs of later compilers have it: whether a piece is an allocator's. */
void GOMP_add_alloc(void *memory);
bool GOMP_is_alloc(void *memory);

static void
what_was_noted_is_known_once(void **state)
{
    enum {
        PIECES = 3000
    };
    static char pieces[PIECES];
    int wrong = 0;
    (void)state;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    for (int i = omp_get_thread_num(); i < PIECES; i += omp_get_num_threads()) {
        GOMP_add_alloc(&pieces[i]);
        wrong += !GOMP_is_alloc(&pieces[i]) || GOMP_is_alloc(&pieces[i]);
    }
    assert_int_equal(wrong, 0);
    GOMP_add_alloc(pieces);
    GOMP_add_alloc(pieces);
    assert_true(GOMP_is_alloc(pieces) && GOMP_is_alloc(pieces) && !GOMP_is_alloc(pieces));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned),
        cmocka_unit_test(a_pool_gives_no_more_than_it_has),
        cmocka_unit_test(who_is_empty_asks_another),
        cmocka_unit_test(what_cannot_be_had_is_refused),
        cmocka_unit_test(memory_is_spread),
        cmocka_unit_test(fast_memory_is_had_where_there_is_some),
        cmocka_unit_test(pinned_memory_stays),
        cmocka_unit_test(compilers_have_numbers_of_their_own),
        cmocka_unit_test(what_cannot_be_pinned_falls_back),
        cmocka_unit_test(what_moves_keeps_its_bytes),
        cmocka_unit_test(each_task_has_its_default),
        cmocka_unit_test(what_was_noted_is_known_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
