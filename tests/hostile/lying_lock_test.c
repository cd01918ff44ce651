/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Locks that name an owner whom there is not: taken for ones whose owner died. */
#include "hostile.h"
#include "mrapi/mutex.h"
#include "mrapi/system.h"

static void
locks_of_nobody(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(7, NULL, &status);
    med_mutex_row *row = (med_mutex_row *)(void *)med_table_row(&med_self_get()->system->mutexes,
                                                                med_handle_index(mutex));
    const uint32_t nobodies[] = {med_node_ref(0, 9), med_node_ref(3, 0), med_node_ref(3, 77),
                                 med_node_ref(16000, 1)};
    for (size_t i = 0; i < 2 * (sizeof nobodies / sizeof nobodies[0]); i++) {
        atomic32_store_relaxed(&row->lock.word, nobodies[i / 2]);
        mrapi_timeout_t timeout = i % 2 ? MRAPI_TIMEOUT_INFINITE : MRAPI_TIMEOUT_IMMEDIATE;
        mrapi_mutex_lock(mutex, &key, timeout, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal(medley_lock_owner_died(), 1);
        mrapi_mutex_unlock(mutex, &key, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    mrapi_mutex_delete(mutex, &status);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(locks_of_nobody, hostile_node_up, hostile_node_down),
    };
    hostile_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
