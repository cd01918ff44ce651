/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counters: whatever counts lives and acquisitions goes on across its wrap. */
#include "hostile.h"
#include "mrapi/system.h"
#include "support/process.h"

/* All rows of a table begin their last lives but a few. */
static void
lives_nearly_over(const med_table_view *view)
{
    atomic32_store_relaxed(&view->table->fresh, view->row_count);
    for (uint32_t i = 0; i < view->row_count; i++) {
        med_row *row = med_table_row(view, i);
        if (med_row_state_of(atomic32_load_relaxed(&row->state)) == MED_ROW_FREE) {
            atomic32_store_relaxed(&row->state, med_row_word(MED_ROW_FREE, 0xfffeu));
        }
    }
    uint32_t nobody = med_process_ref(view->row_count, 0);
    atomic32_store_relaxed(&view->table->lock.word, nobody);
    (void)med_lock_recover(&view->table->lock, &view->table->sleepers, nobody, true, view->scope);
}

static void
row_generations_wrap(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    const med_table_view *mutexes = &med_self_get()->system->mutexes;
    lives_nearly_over(mutexes);
    for (uint32_t i = 0; i < 4 * mutexes->row_count; i++) {
        mrapi_mutex_hndl_t mutex = mrapi_mutex_create(7, NULL, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal(mrapi_mutex_get(7, &status), mutex);
        mrapi_mutex_lock(mutex, &key, 0, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_mutex_unlock(mutex, &key, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_mutex_delete(mutex, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_mutex_lock(mutex, &key, 0, &status);
        assert_int_equal(status, MRAPI_ERR_MUTEX_INVALID);
    }
}

static void *
holds_and_ends(void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_lock(*(const mrapi_mutex_hndl_t *)argument, &key, 0, &status);
    return (void *)(uintptr_t)status;
}

static void
node_generations_wrap(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    const med_table_view *nodes = &med_self_get()->system->nodes;
    lives_nearly_over(nodes);
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(7, NULL, &status);
    mrapi_thread_parameters_t parameters = {.start_routine = holds_and_ends, .arg = &mutex};
    for (uint32_t i = 0; i < 4 * nodes->row_count; i++) {
        void *result;
        mrapi_thread_create(DOMAIN, 9, &parameters, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_thread_join(DOMAIN, 9, &result, &status);
        assert_int_equal((uintptr_t)result, MRAPI_SUCCESS);
        mrapi_mutex_lock(mutex, &key, 0, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal(medley_lock_owner_died(), 1);
        mrapi_mutex_unlock(mutex, &key, &status);
    }
    mrapi_mutex_delete(mutex, &status);
}

static void
keys_wrap(void **state)
{
    mrapi_status_t status;
    mrapi_key_t outer, inner;
    mrapi_key_t former[2] = {0};
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t yes = MRAPI_TRUE;
    (void)state;
    mrapi_mutex_init_attributes(&attributes, &status);
    mrapi_mutex_set_attribute(&attributes, MRAPI_MUTEX_RECURSIVE, &yes, sizeof yes, &status);
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(7, &attributes, &status);
    static const uint32_t before[] = {0x00fffff8u, 0xfffffff8u};
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        med_self_get()->mutex_key = before[i];
        for (int n = 0; n < 6; n++) {
            mrapi_mutex_lock(mutex, &outer, 0, &status);
            assert_int_equal(status, MRAPI_SUCCESS);
            mrapi_mutex_unlock(mutex, &former[0], &status);
            assert_int_equal(status, MRAPI_ERR_MUTEX_KEY);
            mrapi_mutex_lock(mutex, &inner, 0, &status);
            assert_int_equal(status, MRAPI_SUCCESS);
            mrapi_mutex_unlock(mutex, &former[1], &status);
            assert_int_equal(status, MRAPI_ERR_MUTEX_KEY);
            mrapi_mutex_unlock(mutex, &outer, &status);
            assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKORDER);
            mrapi_mutex_unlock(mutex, &inner, &status);
            assert_int_equal(status, MRAPI_SUCCESS);
            mrapi_mutex_unlock(mutex, &outer, &status);
            assert_int_equal(status, MRAPI_SUCCESS);
            former[0] = outer;
            former[1] = inner;
        }
    }
    mrapi_mutex_delete(mutex, &status);
}

static int
comes_and_goes(test_process *parent, void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)parent;
    child_expect(hostile_node_up(NULL) != 0); /* the number is taken */
    child_expect(initialize(2) == MRAPI_SUCCESS);
    mrapi_mutex_lock(*(const mrapi_mutex_hndl_t *)argument, &key, 0, &status);
    child_expect(status == MRAPI_SUCCESS);
    return 0; /* without a word */
}

static void
process_generations_wrap(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    med_system *system = med_self_get()->system;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(7, NULL, &status);
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        atomic32 *word = &med_system_process(system, i)->state;
        if (med_process_state_of(atomic32_load_relaxed(word)) == MED_PROCESS_FREE) {
            atomic32_store_relaxed(word, med_process_word(MED_PROCESS_FREE, 0, 0xfffeu));
        }
    }
    for (int i = 0; i < 4; i++) {
        test_process child;
        process_start(&child, comes_and_goes, &mutex);
        assert_int_equal(process_join(&child), 0);
        mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal(medley_lock_owner_died(), 1);
        mrapi_mutex_unlock(mutex, &key, &status);
    }
    mrapi_mutex_delete(mutex, &status);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(row_generations_wrap, hostile_node_up, hostile_node_down),
        cmocka_unit_test_setup_teardown(node_generations_wrap, hostile_node_up, hostile_node_down),
        cmocka_unit_test_setup_teardown(keys_wrap, hostile_node_up, hostile_node_down),
        cmocka_unit_test_setup_teardown(process_generations_wrap, hostile_node_up,
                                        hostile_node_down),
    };
    hostile_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
