/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The only row of an endpoint goes from one node to another of the same process, which takes it
 * just when the first has given it back, and is not done with its deletion: it is the second's all
 * the same.
 */
#include <pthread.h>

#include "mrapi/table.h"
#include "support/exchange.h"
#include "support/threads.h"

#define OTHER 8

enum {
    OTHER_IS_THERE = 1,
    ROW_IS_FREE,
    OTHER_HAS_IT,
    FIRST_IS_DONE,
};

static __thread bool deletes; /* the calling thread, its endpoint */

medley_status_t
__real_med_table_remove(const med_table_view *view, uint32_t index, uint32_t generation);
medley_status_t
__wrap_med_table_remove(const med_table_view *view, uint32_t index, uint32_t generation);

medley_status_t
__wrap_med_table_remove(const med_table_view *view, uint32_t index, uint32_t generation)
{
    medley_status_t status = __real_med_table_remove(view, index, generation);
    if (deletes) {
        deletes = false;
        stage_reach(ROW_IS_FREE);
        stage_await(OTHER_HAS_IT);
    }
    return status;
}

static void *
takes_it(void *argument)
{
    mcapi_status_t status;
    mcapi_info_t info;
    (void)argument;
    mcapi_initialize(DOMAIN, OTHER, NULL, NULL, &info, &status);
    stage_reach(OTHER_IS_THERE);
    stage_await(ROW_IS_FREE);
    mcapi_endpoint_t endpoint = mcapi_endpoint_create(1, &status);
    stage_reach(OTHER_HAS_IT);
    stage_await(FIRST_IS_DONE);
    if (status == MCAPI_SUCCESS) {
        mcapi_msg_send(endpoint, endpoint, "word", 4, 0, &status);
    }
    mcapi_status_t left;
    mcapi_finalize(&left);
    return (void *)(uintptr_t)status;
}

static void
row_goes_to_another_node(void **state)
{
    pthread_t thread;
    void *result;
    (void)state;
    mcapi_endpoint_t endpoint = endpoint_make(1);
    assert_int_equal(pthread_create(&thread, NULL, takes_it, NULL), 0);
    stage_await(OTHER_IS_THERE);
    deletes = true;
    endpoint_delete(endpoint);
    stage_reach(FIRST_IS_DONE);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_int_equal((uintptr_t)result, MCAPI_SUCCESS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(row_goes_to_another_node, exchange_up, exchange_down),
    };
    test_system_prepare();
    (void)setenv("MEDLEY_MAX_ENDPOINTS", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
