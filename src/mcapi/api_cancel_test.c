/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * No function is a point at which a thread is cancelled: a node that was cancelled before goes
 * through what sleeps and what makes lanes, ends at a point of its own, and has left nothing
 * locked. Run in a private system and in a named one.
 */
#include <pthread.h>

#include "support/exchange.h"
#include "support/process.h"

#define OTHER 8
#define SOME_US 2000u

#define SUCCEEDS(call)                                                                             \
    (call);                                                                                        \
    child_expect(status == MCAPI_SUCCESS)

static void
exchanges(void)
{
    static char text[] = "text";
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_request_t request;
    char got[16];
    size_t bytes;
    SUCCEEDS(mcapi_initialize(DOMAIN, OTHER, NULL, NULL, &info, &status));
    mcapi_endpoint_t from = SUCCEEDS(mcapi_endpoint_create(1, &status));
    mcapi_endpoint_t to = SUCCEEDS(mcapi_endpoint_create(2, &status));
    SUCCEEDS(mcapi_msg_send(from, to, text, sizeof text, 0, &status));
    SUCCEEDS(mcapi_msg_recv(to, got, sizeof got, &bytes, &status));
    child_expect(bytes == sizeof text);
    mcapi_msg_recv_i(to, got, sizeof got, &request, &status);
    child_expect(!mcapi_wait(&request, &bytes, SOME_US, &status) && status == MCAPI_TIMEOUT);
    SUCCEEDS(mcapi_cancel(&request, &status));
    SUCCEEDS(mcapi_endpoint_delete(from, &status));
    SUCCEEDS(mcapi_finalize(&status));
}

static bool exchanged;

static void *
exchanges_while_cancelled(void *argument)
{
    (void)pthread_cancel(pthread_self());
    exchanges();
    exchanged = true;
    pthread_testcancel();
    return argument;
}

static void
cancelled_node_goes_on(void **state)
{
    pthread_t thread;
    void *result;
    (void)state;
    exchanged = false;
    assert_int_equal(pthread_create(&thread, NULL, exchanges_while_cancelled, NULL), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_true(exchanged);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    on_other_thread(exchanges);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cancelled_node_goes_on, exchange_up, exchange_down),
        cmocka_unit_test(cancelled_node_goes_on), /* who opens the system, and closes it */
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("mcapi/api_cancel", tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
