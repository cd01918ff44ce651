/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Heap memory, as the OpenMP paper uses it: made, found by its key, given back by whoever; in any
 * number and of any size. Run in a private system and in a named one.
 */
#include "mrapi/api_heap_test.h"
#include "support/random.h"

#define WORKERS 4
#define ROUNDS 20000

static void
one_life(void **state)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t heap;
    mrapi_uint_t size = 0;
    (void)state;
    for (int i = 0; i < 3; i++) {
        void *block = made(KEY, 100, &heap);
        memset(block, i, 100);
        assert_int_equal(mrapi_shmem_get(KEY, &status), heap);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_ptr_equal(mrapi_shmem_attach(heap, &status), block);
        assert_ptr_equal(mrapi_shmem_attach(heap, &status), block);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_shmem_detach(heap, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_shmem_get_attribute(heap, MRAPI_SHMEM_SIZE, &size, sizeof size, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal(size, 100);
        delete_heap(heap);
        (void)mrapi_shmem_get(KEY, &status);
        assert_int_equal(status, MRAPI_ERR_SHM_ID_INVALID);
    }
}

static void
stale_and_wrong(void **state)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t heap, next;
    mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_TRUE};
    mrapi_uint_t size = 0;
    (void)state;
    (void)made(KEY, 64, &heap);
    delete_heap(heap);
    (void)made(KEY, 64, &next); /* the same slot, in another life */
    const mrapi_shmem_hndl_t wrong[] = {heap, next | 0xfffffu, next ^ 0x80000000u};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        mrapi_shmem_delete(wrong[i], &status);
        assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
        assert_null(mrapi_shmem_attach(wrong[i], &status));
        assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
        mrapi_shmem_detach(wrong[i], &status);
        assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
        mrapi_shmem_get_attribute(wrong[i], MRAPI_SHMEM_SIZE, &size, sizeof size, &status);
        assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
    }
    delete_heap(next);
    (void)mrapi_shmem_create_malloc(MRAPI_MAX_USER_SHMEM_ID + 1, 1, &attributes, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_ID_INVALID);
    (void)mrapi_shmem_create_malloc(KEY, 0, &attributes, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    assert_int_equal(mrapi_shmem_create_malloc(KEY, 1, NULL, &status), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    assert_int_equal(mrapi_shmem_create_malloc(KEY, 1, &attributes, NULL),
                     MRAPI_RETURN_VALUE_INVALID);
}

/* A handle has fewer bits than a slot may have lives. */
static void
an_old_handle_stays_stale(void **state)
{
    static const struct {
        mrapi_uint_t size;
        uint32_t lives;
    } cases[] = {{64, OLD_AGE}, {LARGE, OLD_AGE / 100}};
    mrapi_status_t status;
    mrapi_shmem_hndl_t old, heap;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)made(KEY, cases[i].size, &old);
        delete_heap(old);
        for (uint32_t life = 0; life < cases[i].lives; life++) {
            (void)made(KEY, cases[i].size, &heap);
            assert_int_not_equal(heap, old);
            delete_heap(heap);
        }
        mrapi_shmem_delete(old, &status);
        assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
    }
}

static void
not_a_node(void **state)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_TRUE};
    (void)state;
    (void)mrapi_shmem_create_malloc(KEY, 1, &attributes, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
}

/* ---- Sizes and numbers ----------------------------------------------------------------------- */

/* Every byte is there, and no one else's: checked by what was written when all were made. */
static void
any_size(void **state)
{
    static const mrapi_uint_t sizes[] = {1,    63,   64,    65,      80,      81,      128,    129,
                                         1000, 4096, 65536, 1048575, 1048576, 1048577, 5000000};
    enum {
        COUNT = sizeof sizes / sizeof sizes[0]
    };
    unsigned char *blocks[COUNT];
    mrapi_shmem_hndl_t heaps[COUNT];
    (void)state;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) {
            blocks[i] = made(KEY, sizes[i], &heaps[i]);
            memset(blocks[i], i + round, sizes[i]);
        }
        for (int i = 0; i < COUNT; i++) {
            for (mrapi_uint_t b = 0; b < sizes[i]; b++) {
                if (blocks[i][b] != (unsigned char)(i + round)) {
                    fail_msg("a byte of the block of %u", sizes[i]);
                }
            }
            delete_heap(heaps[i]);
        }
    }
}

static void
very_many(void **state)
{
    static uint32_t *blocks[MANY];
    static mrapi_shmem_hndl_t heaps[MANY];
    mrapi_status_t status;
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < MANY; i++) {
            blocks[i] = made(i, 64 + i % 1000, &heaps[i]);
            *blocks[i] = i;
        }
        assert_int_equal(mrapi_shmem_get(MANY - 1, &status), heaps[MANY - 1]);
        for (uint32_t i = 0; i < MANY; i++) {
            assert_int_equal(*blocks[i], i);
            delete_heap(heaps[i]);
        }
    }
}

static void
one_key_for_all(void **state)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t first, second;
    (void)state;
    assert_ptr_not_equal(made(KEY, 64, &first), made(KEY, 64, &second));
    mrapi_shmem_hndl_t found = mrapi_shmem_get(KEY, &status);
    assert_true(found == first || found == second);
    delete_heap(found);
    assert_int_equal(mrapi_shmem_get(KEY, &status), found == first ? second : first);
    delete_heap(found == first ? second : first);
}

/* In bytes, and in number. */
static void
what_is_kept_has_a_limit(void **state)
{
    static const mrapi_uint_t sizes[] = {1 << 20, 64};
    static mrapi_shmem_hndl_t heaps[MANY];
    const med_heap_cache *cache = NULL;
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t count = s == 0 ? 40 : MANY;
        for (size_t i = 0; i < count; i++) {
            (void)made(KEY, sizes[s], &heaps[i]);
        }
        for (size_t i = 0; i < count; i++) {
            delete_heap(heaps[i]);
        }
        cache = med_self_get()->heap;
        assert_true(cache->kept_bytes <= MED_HEAP_KEPT_PER_NODE_BYTES);
    }
    uint32_t kept = 0;
    for (uint32_t class = 0; class < MED_HEAP_CLASSES; class ++) {
        for (const med_heap_slot *slot = cache->blocks[class]; slot; slot = slot->next) {
            kept++;
        }
    }
    assert_in_range(kept, 1, 4096);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

typedef struct worker {
    mrapi_node_t node;
    atomic32 *exchange; /* handles that one makes and another deletes */
} worker;

static bool
owned(const uint32_t *block, uint32_t me)
{
    return block[0] == me && block[15] == me;
}

/* Makes, passes on to whoever comes next, and deletes what it finds there. */
static void *
works(void *argument)
{
    worker *me = argument;
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_TRUE};
    test_random random = test_random_of(me->node);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t size = 64 + random_below(&random, 200);
        mrapi_shmem_hndl_t heap = mrapi_shmem_create_malloc(me->node, size, &attributes, &status);
        if (status != MRAPI_SUCCESS) {
            return "create";
        }
        uint32_t *block = attributes.mem_addr;
        block[0] = block[15] = me->node;
        if (!owned(block, me->node)) {
            return "two have it";
        }
        uint32_t other = atomic32_exchange_acq_rel(me->exchange, heap);
        if (!other) {
            continue;
        }
        block = mrapi_shmem_attach(other, &status);
        if (status != MRAPI_SUCCESS || !owned(block, block[0])) {
            return "attach";
        }
        mrapi_shmem_delete(other, &status);
        if (status != MRAPI_SUCCESS) {
            return "delete";
        }
    }
    return NULL;
}

static void
made_here_and_deleted_there(void **state)
{
    static atomic32 exchange;
    worker workers[WORKERS];
    mrapi_status_t status;
    (void)state;
    atomic32_store_relaxed(&exchange, 0);
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.node = WORKER_FIRST + i, .exchange = &exchange};
        mrapi_thread_parameters_t parameters = {.start_routine = works, .arg = &workers[i]};
        mrapi_thread_create(DOMAIN, workers[i].node, &parameters, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        void *wrong;
        mrapi_thread_join(DOMAIN, workers[i].node, &wrong, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        if (wrong) {
            fail_msg("%s", (const char *)wrong);
        }
    }
    delete_heap(atomic32_load_relaxed(&exchange)); /* it outlives its maker */
    for (unsigned i = 0; i < WORKERS; i++) {
        (void)mrapi_shmem_get(workers[i].node, &status);
        assert_int_equal(status, MRAPI_ERR_SHM_ID_INVALID);
    }
}

/* ---- Beside shared memory -------------------------------------------------------------------- */

static void
without_malloc_it_is_shared(void **state)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_FALSE};
    (void)state;
    mrapi_shmem_hndl_t shmem = mrapi_shmem_create_malloc(KEY, 100, &attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    memset(attributes.mem_addr, 1, 100);
    mrapi_shmem_delete(shmem, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_ATTCH);
    assert_null(mrapi_shmem_attach(shmem, &status));
    assert_int_equal(status, MRAPI_ERR_SHM_ATTACHED);
    mrapi_shmem_attributes_t again = {.use_malloc = MCA_FALSE};
    (void)mrapi_shmem_create_malloc(KEY, 100, &again, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_EXISTS);
    /* By number, the one that all processes see comes first. */
    mrapi_shmem_hndl_t heap;
    (void)made(KEY, 64, &heap);
    assert_int_equal(mrapi_shmem_get(KEY, &status), shmem);
    delete_heap(heap);
    mrapi_shmem_detach(shmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    delete_heap(shmem);
}

/* Who leaves with one attached has it attached no more: each row is the next one's again. */
static void
without_malloc_it_outlives_its_maker(void **state)
{
    mrapi_status_t status;
    uint32_t rows = 1;
    for (uint32_t i = 0; i <= rows; i++) {
        mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_FALSE};
        (void)node_up(state);
        rows = med_self_get()->system->limits.shmems;
        (void)mrapi_shmem_create_malloc(KEY, 100, &attributes, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        (void)node_down(state);
        (void)node_up(state);
        delete_heap(mrapi_shmem_get(KEY, &status));
        (void)node_down(state);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_a_node),
        cmocka_unit_test_setup_teardown(one_life, node_up, node_down),
        cmocka_unit_test_setup_teardown(stale_and_wrong, node_up, node_down),
        cmocka_unit_test_setup_teardown(an_old_handle_stays_stale, node_up, node_down),
        cmocka_unit_test_setup_teardown(any_size, node_up, node_down),
        cmocka_unit_test_setup_teardown(very_many, node_up, node_down),
        cmocka_unit_test_setup_teardown(one_key_for_all, node_up, node_down),
        cmocka_unit_test_setup_teardown(what_is_kept_has_a_limit, node_up, node_down),
        cmocka_unit_test_setup_teardown(made_here_and_deleted_there, node_up, node_down),
        cmocka_unit_test_setup_teardown(without_malloc_it_is_shared, node_up, node_down),
        cmocka_unit_test(without_malloc_it_outlives_its_maker),
    };
    (void)test_seed(); /* before there are threads */
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
