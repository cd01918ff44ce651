/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The buffer pool: one user, handles, caches, and memory that lies. */
#include <string.h>

#include "base/pool_test.h"
#include "support/random.h"

static void
wrong_arguments_are_refused(void **state)
{
    (void)state;
    med_pool pool;
    assert_int_equal(med_pool_size(0, 64), 0);
    assert_int_equal(med_pool_size(4, 0), 0);
    assert_int_equal(med_pool_size(65536, 65536), 0);
    assert_int_equal(med_pool_size(2, UINT32_MAX), 0);
    unsigned char *memory = make(4, 100, &pool);
    size_t size_bytes = med_pool_size(4, 100);
    assert_int_equal(med_pool_init(memory, size_bytes, 4, 100, 65536, &pool), MEDLEY_ERR_ARGUMENT);
    free(memory);
}

static void
buffers_lie_apart_and_inside(void **state)
{
    (void)state;
    med_pool pool;
    unsigned char *memory = make(5, 100, &pool);
    med_pool_cache cache = cache_of(1, 0);
    for (uint32_t i = 0; i < 5; i++) {
        med_pool_buffer buffer = take(&pool, &cache);
        unsigned char *address = med_pool_address(&pool, buffer);
        assert_int_equal((uintptr_t)address % 64, 0);
        assert_true(address > memory && address + 100 <= memory + med_pool_size(5, 100));
        memset(address, (int)i, 100);
        assert_int_equal(med_pool_check(&pool, buffer, 1), MEDLEY_OK);
    }
    med_pool_buffer none;
    assert_int_equal(med_pool_take(&pool, &cache, &none), MEDLEY_FULL);
    check_counts(&pool, 5, 0, 5);
    assert_int_equal(pool.buffers[4 * 128 + 99], 4);
    free(memory);
}

static void
foreign_and_old_handles_are_known(void **state)
{
    (void)state;
    med_pool pool;
    void *memory = make(4, 64, &pool);
    med_pool_cache mine = cache_of(1, 2);
    med_pool_cache other = cache_of(2, 2);
    med_pool_buffer buffer = take(&pool, &mine);
    static const med_pool_buffer foreign[] = {
        {0, 0}, {TAG << 16, 0}, {TAG << 16, 3}, {TAG << 16 | 4, 2}, {(TAG + 1) << 16, 2}};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        assert_int_equal(med_pool_give(&pool, &mine, foreign[i]), MEDLEY_ERR_ARGUMENT);
        assert_int_equal(med_pool_check(&pool, foreign[i], 1), MEDLEY_ERR_ARGUMENT);
        assert_int_equal(med_pool_hand_over(&pool, foreign[i], 1, 2), MEDLEY_ERR_ARGUMENT);
    }
    assert_null(med_pool_address(&pool, foreign[3]));
    assert_null(med_pool_address(&pool, foreign[4]));
    assert_int_equal(med_pool_give(&pool, &other, buffer), MEDLEY_ERR_NOT_OWNER);
    assert_int_equal(med_pool_give(&pool, &mine, buffer), MEDLEY_OK);
    assert_int_equal(med_pool_give(&pool, &mine, buffer), MEDLEY_ERR_STALE);
    med_pool_buffer again = take(&pool, &mine);
    assert_int_equal(again.place, buffer.place);
    assert_int_equal(med_pool_give(&pool, &mine, buffer), MEDLEY_ERR_STALE);
    assert_int_equal(med_pool_check(&pool, again, 1), MEDLEY_OK);
    check_counts(&pool, 1, 0, 1);
    free(memory);
}

static void
a_cache_keeps_no_more_than_its_limit(void **state)
{
    (void)state;
    static const uint32_t limits[] = {0, 1, 2, 3, 8, 1000};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        med_pool pool;
        void *memory = make(200, 8, &pool);
        med_pool_cache cache = cache_of(1, limits[i]);
        med_pool_buffer buffers[200];
        uint32_t limit = limits[i] < MED_POOL_CACHE_MAX ? limits[i] : MED_POOL_CACHE_MAX;
        for (uint32_t b = 0; b < 200; b++) {
            buffers[b] = take(&pool, &cache);
            assert_true(cache.count <= limit);
        }
        for (uint32_t b = 0; b < 200; b++) {
            assert_int_equal(med_pool_give(&pool, &cache, buffers[b]), MEDLEY_OK);
            assert_true(cache.count <= limit);
        }
        check_counts(&pool, 0, cache.count, 200);
        med_pool_cache_flush(&pool, &cache);
        check_counts(&pool, 0, 0, 200);
        assert_int_equal(take_all(&pool, 3), 200);
        free(memory);
    }
}

static void
a_dead_owner_leaves_nothing_behind(void **state)
{
    (void)state;
    med_pool pool;
    void *memory = make(20, 8, &pool);
    med_pool_cache dead = cache_of(1, 8);
    med_pool_cache alive = cache_of(2, 8);
    med_pool_buffer lost = take(&pool, &dead);
    med_pool_buffer handed = take(&pool, &dead);
    assert_int_equal(med_pool_hand_over(&pool, handed, 1, 2), MEDLEY_OK);
    check_counts(&pool, 2, 2, 4);
    assert_int_equal(med_pool_recover(&pool, 1), 3);
    assert_int_equal(med_pool_recover(&pool, 1), 0);
    check_counts(&pool, 1, 0, 4);
    assert_int_equal(med_pool_hand_over(&pool, lost, 1, 2), MEDLEY_ERR_STALE);
    assert_int_equal(med_pool_give(&pool, &alive, handed), MEDLEY_OK);
    med_pool_cache_flush(&pool, &alive);
    assert_int_equal(take_all(&pool, 3), 20);
    free(memory);
}

static void
who_attaches_sees_the_same(void **state)
{
    (void)state;
    med_pool pool;
    med_pool other;
    void *memory = make(10, 256, &pool);
    assert_int_equal(med_pool_attach(memory, med_pool_size(10, 256), &other), MEDLEY_OK);
    assert_ptr_equal(other.slots.entries, pool.slots.entries);
    assert_int_equal(other.slots.capacity, pool.slots.capacity);
    assert_ptr_equal(other.buffers, pool.buffers);
    assert_int_equal(other.buffer_bytes, pool.buffer_bytes);
    assert_int_equal(other.stride_bytes, pool.stride_bytes);
    assert_int_equal(other.tag, pool.tag);
    free(memory);
}

/* ---- Memory that lies ------------------------------------------------------------------------ */
static void
scribbled_contents_bound_every_call(void **state)
{
    (void)state;
    med_pool pool;
    unsigned char *memory = make(40, 64, &pool);
    test_random random = {1};
    for (uint32_t round = 0; round < 300; round++) {
        med_pool_cache cache = cache_of(5, round % 20);
        for (unsigned char *p = memory + sizeof(med_pool_shared) + 64; p < pool.buffers; p++) {
            *p = (unsigned char)(random_below(&random, 3) ? random_word(&random) : 0);
        }
        for (int i = 0; i < 60; i++) {
            med_pool_buffer buffer = {.place = TAG << 16 | random_below(&random, 64)};
            if (med_pool_take(&pool, &cache, &buffer) == MEDLEY_OK) {
                memset(med_pool_address(&pool, buffer), i, 64);
            }
            (void)med_pool_hand_over(&pool, buffer, 5, 6);
            (void)med_pool_give(&pool, &cache, buffer);
        }
        (void)med_pool_recover(&pool, 5);
    }
    free(memory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(buffers_lie_apart_and_inside),
        cmocka_unit_test(foreign_and_old_handles_are_known),
        cmocka_unit_test(a_cache_keeps_no_more_than_its_limit),
        cmocka_unit_test(a_dead_owner_leaves_nothing_behind),
        cmocka_unit_test(who_attaches_sees_the_same),
        cmocka_unit_test(scribbled_contents_bound_every_call),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
