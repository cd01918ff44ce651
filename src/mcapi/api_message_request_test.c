/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Conformance of MCAPI's messages that are asked for, through the public calls. */
#include "support/exchange.h"
#include "support/threads.h"

#define OTHER 8

/* By a request, whoever asks after it: what fits is there. */
static void
truncated_by_request(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_request_t *one[] = {&request};
    unsigned char first;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    for (unsigned i = 0; i < 3; i++) {
        mcapi_msg_recv_i(at, &first, sizeof first, &request, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        assert_int_equal(send_number(at, at, 0x01010101u * i, 0), MCAPI_SUCCESS);
        switch (i) {
        case 0:
            assert_int_equal(mcapi_test(&request, &size, &status), MCAPI_TRUE);
            break;
        case 1:
            assert_int_equal(mcapi_wait(&request, &size, 0, &status), MCAPI_TRUE);
            break;
        default:
            assert_int_equal(mcapi_wait_any(1, one, &size, 0, &status), 0);
            break;
        }
        assert_int_equal(status, MCAPI_ERR_MSG_TRUNCATED);
        assert_int_equal(size, sizeof first);
        assert_int_equal(first, i);
    }
}

/* In the order they were asked for, whichever is tested first. */
static void
receives_asked_for(void **state)
{
    mcapi_status_t status;
    mcapi_request_t requests[3];
    unsigned numbers[3];
    size_t size;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    for (unsigned i = 0; i < 3; i++) {
        mcapi_msg_recv_i(to, &numbers[i], sizeof numbers[i], &requests[i], &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        assert_int_equal(mcapi_test(&requests[i], &size, &status), MCAPI_FALSE);
        assert_int_equal(status, MCAPI_PENDING);
    }
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(send_number(from, to, 10 + i, 0), MCAPI_SUCCESS);
    }
    mcapi_cancel(&requests[1], &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(expect_end(requests[2], MCAPI_SUCCESS), sizeof(unsigned));
    assert_int_equal(expect_end(requests[0], MCAPI_SUCCESS), sizeof(unsigned));
    assert_int_equal(numbers[0], 10);
    assert_int_equal(numbers[2], 11);
    assert_int_equal(mcapi_test(&requests[1], &size, &status), MCAPI_FALSE);
    assert_int_equal(status, MCAPI_ERR_REQUEST_CANCELLED);
    assert_int_equal(mcapi_test(&requests[0], &size, &status), MCAPI_FALSE);
    assert_int_equal(status, MCAPI_ERR_REQUEST_INVALID);
    expect_number(to, 12);
}

/* What waits for room is not overtaken, and goes when there is some. */
static void
sends_asked_for(void **state)
{
    mcapi_status_t status;
    mcapi_request_t last;
    size_t size;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    unsigned numbers[300];
    unsigned asked = 0;
    do {
        numbers[asked] = asked;
        mcapi_msg_send_i(from, to, &numbers[asked], sizeof numbers[0], 0, &last, &status);
        assert_int_equal(status, MCAPI_SUCCESS);
        asked++;
    } while (mcapi_test(&last, &size, &status) == MCAPI_TRUE);
    assert_int_equal(status, MCAPI_PENDING);
    timeout_set(from, 1000);
    assert_int_equal(send_number(from, to, 999, 0), MCAPI_TIMEOUT);
    expect_number(to, 0);
    assert_int_equal(expect_end(last, MCAPI_SUCCESS), sizeof numbers[0]);
    for (unsigned i = 1; i < asked; i++) {
        expect_number(to, i);
    }
    assert_int_equal(mcapi_msg_available(to, &status), 0);
}

static mcapi_request_t of_another;

/* Not yet; then, whatever its maker did meanwhile, its end. */
static void *
asks_for_another(void *argument)
{
    mcapi_status_t status;
    size_t size = 0;
    (void)argument;
    exchange_begin(OTHER);
    assert_int_equal(mcapi_test(&of_another, &size, &status), MCAPI_FALSE);
    assert_int_equal(status, MCAPI_PENDING);
    assert_int_equal(mcapi_wait(&of_another, &size, 1000, &status), MCAPI_FALSE);
    assert_int_equal(status, MCAPI_TIMEOUT);
    stage_reach(1);
    assert_int_equal(expect_end(of_another, MCAPI_SUCCESS), sizeof(unsigned));
    exchange_end();
    return NULL;
}

/* Its maker receives what comes next, and by that brings forward what it asked for before. */
static void
asked_for_by_another(void **state)
{
    mcapi_status_t status;
    unsigned number = 0;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    mcapi_msg_recv_i(at, &number, sizeof number, &of_another, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    stage_reach(0);
    start(OTHER, asks_for_another);
    stage_await(1);
    assert_int_equal(send_number(at, at, 5, 0), MCAPI_SUCCESS);
    assert_int_equal(send_number(at, at, 6, 0), MCAPI_SUCCESS);
    expect_number(at, 6);
    join(OTHER, 0);
    assert_int_equal(number, 5);
    assert_int_equal(mcapi_test(&of_another, &size, &status), MCAPI_FALSE);
    assert_int_equal(status, MCAPI_ERR_REQUEST_INVALID);
}

static void
any_of_them(void **state)
{
    mcapi_status_t status;
    mcapi_request_t requests[2];
    mcapi_request_t *list[] = {&requests[0], &requests[1]};
    unsigned numbers[2];
    size_t size;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1);
    mcapi_endpoint_t to[] = {endpoint_make(2), endpoint_make(3)};
    for (unsigned i = 0; i < 2; i++) {
        mcapi_msg_recv_i(to[i], &numbers[i], sizeof numbers[i], &requests[i], &status);
    }
    assert_int_equal(mcapi_wait_any(2, list, &size, 1000, &status), MCAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, MCAPI_TIMEOUT);
    assert_int_equal(send_number(from, to[1], 5, 0), MCAPI_SUCCESS);
    assert_int_equal(mcapi_wait_any(2, list, &size, MCAPI_TIMEOUT_INFINITE, &status), 1);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(numbers[1], 5);
    (void)mcapi_wait_any(0, list, &size, 0, &status);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    mcapi_endpoint_delete(to[0], &status);
    (void)expect_end(requests[0], MCAPI_ERR_ENDP_DELETED);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(truncated_by_request, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(receives_asked_for, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(sends_asked_for, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(asked_for_by_another, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(any_of_them, exchange_up, exchange_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
