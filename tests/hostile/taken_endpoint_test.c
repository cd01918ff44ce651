/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Endpoints in use whose rows say that they are free, so that the table gives them out again: to
 * the same node, or to another of its process. Who has such an endpoint keeps what its process
 * knows of it, requests that wait there among them; who wants another is told that he cannot have
 * that one.
 */
#include <mcapi.h>

#include "hostile.h"
#include "mcapi/endpoint.h"
#include "mrapi/system.h"
#include "support/exchange.h"

/* The table gives it out next. */
static void
row_seems_free(mcapi_endpoint_t endpoint)
{
    const med_table_view *endpoints = &med_self_get()->system->endpoints;
    uint32_t index = med_handle_index(endpoint);
    med_row *row = med_table_row(endpoints, index);
    uint32_t word = atomic32_load_relaxed(&row->state);
    atomic32_store_relaxed(&row->state, med_row_word(MED_ROW_FREE, med_row_generation_of(word)));
    atomic32_store_relaxed(&endpoints->table->fresh, index);
}

static void
is_refused(void)
{
    mcapi_status_t status;
    (void)mcapi_endpoint_create(2, &status);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    mcapi_endpoint_t other = endpoint_make(2); /* that has a row of its own */
    endpoint_delete(other);
}

static void
is_refused_to_another_node(void)
{
    exchange_begin(NODE + 1);
    is_refused();
    exchange_end();
}

static void
to_another_node(void)
{
    on_other_thread(is_refused_to_another_node);
}

/* It can be canceled, since it is where it was. */
static void
request_stays(void (*another_wants_it)(void))
{
    static char buffer[8];
    mcapi_status_t status;
    mcapi_request_t request;
    size_t size;
    mcapi_endpoint_t endpoint = endpoint_make(1);
    mcapi_msg_recv_i(endpoint, buffer, sizeof buffer, &request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    row_seems_free(endpoint);
    another_wants_it();
    assert_false(mcapi_test(&request, &size, &status));
    assert_int_equal(status, MCAPI_PENDING);
    mcapi_cancel(&request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
}

static void
taken_for_free_by_its_node(void **state)
{
    (void)state;
    request_stays(is_refused);
}

static void
taken_for_free_by_another_node(void **state)
{
    (void)state;
    request_stays(to_another_node);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(taken_for_free_by_its_node, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(taken_for_free_by_another_node, exchange_up, exchange_down),
    };
    hostile_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
