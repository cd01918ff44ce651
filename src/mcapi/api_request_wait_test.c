/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Requests of MCAPI and who waits: for one that another made, or cancels, or whose endpoint or node
 * goes. Run in a private system and in a named one.
 */
#include <stdlib.h>

#include "support/cancel.h"
#include "support/channel.h"
#include "support/requests.h"

#define OTHER 8
#define THIRD 9
#define FROM 1
#define TO 2
#define NOWHERE 77

/* ---- Who waits ------------------------------------------------------------------------------- */

static atomic32 waiting;

static void
expect_canceled(mcapi_request_t request)
{
    mcapi_status_t status;
    size_t size;
    (void)atomic32_fetch_add_acq_rel(&waiting, 1);
    assert_int_equal(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status), MCAPI_FALSE);
    assert_int_equal(status, MCAPI_ERR_REQUEST_CANCELLED);
}

static void *
waits_until_canceled(void *argument)
{
    (void)argument;
    exchange_begin(THIRD);
    expect_canceled(of_another);
    exchange_end();
    return NULL;
}

static void *
cancels_what_two_wait_for(void *argument)
{
    (void)argument;
    exchange_begin(OTHER);
    while (atomic32_load_acquire(&waiting) != 2) {
        med_port_yield();
    }
    assert_int_equal(cancel(of_another), MCAPI_SUCCESS);
    exchange_end();
    return NULL;
}

static void
who_waits_is_woken(void **state)
{
    unsigned number;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(FROM);
    for (int i = 0; i < 20; i++) {
        atomic32_store_relaxed(&waiting, 0);
        of_another = receive_message(at, &number);
        start(THIRD, waits_until_canceled);
        start(OTHER, cancels_what_two_wait_for);
        expect_canceled(of_another);
        join(OTHER, 0);
        join(THIRD, 0);
    }
}

static void *
waits_for_an_end(void *argument)
{
    (void)argument;
    exchange_begin(THIRD);
    stage_reach(1);
    (void)expect_end(of_another, MCAPI_ERR_ENDP_DELETED);
    exchange_end();
    return NULL;
}

/* Its endpoint goes, and what was canceled there with it. */
static void
endpoint_goes(void **state)
{
    unsigned number, other;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(FROM);
    canceled_by_another(receive_message(at, &number));
    of_another = receive_message(at, &other);
    stage_reach(0);
    start(THIRD, waits_for_an_end);
    stage_await(1);
    endpoint_delete(at);
    join(THIRD, 0);
}

static void *
waits_for_what_goes(void *argument)
{
    mcapi_status_t status;
    size_t size;
    (void)argument;
    exchange_begin(THIRD);
    stage_reach(1);
    mcapi_boolean_t ended = mcapi_wait(&of_another, &size, MCAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, ended ? MCAPI_ERR_ENDP_DELETED : MCAPI_ERR_REQUEST_INVALID);
    exchange_end();
    return NULL;
}

/* The node goes with requests under way, canceled and not. */
static void *
goes_with_its_requests(void *argument)
{
    unsigned number, other;
    mcapi_endpoint_t unfound;
    mcapi_request_t lookups;
    mcapi_status_t status;
    (void)argument;
    mcapi_info_t info;
    mcapi_initialize(DOMAIN, OTHER + 10, NULL, NULL, &info, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    mcapi_endpoint_t at = endpoint_make(FROM);
    canceled_by_another(receive_message(at, &number));
    mcapi_endpoint_get_i(DOMAIN, NODE, NOWHERE, &unfound, &lookups, &status);
    canceled_by_another(lookups);
    of_another = receive_message(at, &other);
    stage_reach(0);
    start(THIRD, waits_for_what_goes);
    stage_await(1);
    exchange_end();
    return NULL;
}

static void
goes(void)
{
    (void)goes_with_its_requests(NULL);
}

/* All places are there again. */
static void
node_goes(void **state)
{
    (void)state;
    mcapi_endpoint_t at = endpoint_make(TO);
    requests_use_up(at);
    size_t before = asked_count;
    requests_give_back();
    for (int i = 0; i < 3; i++) {
        on_other_thread(goes);
        join(THIRD, 0);
    }
    requests_use_up(at);
    assert_int_equal(asked_count, before);
    requests_give_back();
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_waits_is_woken, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(endpoint_goes, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(node_goes, exchange_up, exchange_down),
    };
    setenv("MEDLEY_MAX_NODES", "32", 1);
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("mcapi/api_request_wait", tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
