/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For tests of MCAPI's requests: one that another thread cancels. */
#ifndef MEDLEY_TESTS_SUPPORT_CANCEL_H
#define MEDLEY_TESTS_SUPPORT_CANCEL_H

#include "support/exchange.h"
#include "support/threads.h"

#define CANCELER 6

/* Which one another thread asks about. */
static mcapi_request_t of_another;

static inline mcapi_status_t
cancel(mcapi_request_t request)
{
    mcapi_status_t status;
    mcapi_cancel(&request, &status);
    return status;
}

static inline void *
cancels(void *argument)
{
    (void)argument;
    exchange_begin(CANCELER);
    assert_int_equal(cancel(of_another), MCAPI_SUCCESS);
    assert_int_equal(cancel(of_another), MCAPI_ERR_REQUEST_CANCELLED);
    exchange_end();
    return NULL;
}

static inline void
expect_no_end(mcapi_request_t request, mcapi_status_t expected)
{
    mcapi_status_t status;
    size_t size;
    assert_int_equal(mcapi_test(&request, &size, &status), MCAPI_FALSE);
    assert_int_equal(status, expected);
}

/* That request is under way, and then is canceled by another thread. */
static inline void
canceled_by_another(mcapi_request_t request)
{
    mcapi_status_t status;
    size_t size;
    expect_no_end(request, MCAPI_PENDING);
    of_another = request;
    start(CANCELER, cancels);
    join(CANCELER, 0);
    expect_no_end(request, MCAPI_ERR_REQUEST_CANCELLED);
    assert_int_equal(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status), MCAPI_FALSE);
    assert_int_equal(status, MCAPI_ERR_REQUEST_CANCELLED);
    assert_int_equal(cancel(request), MCAPI_ERR_REQUEST_CANCELLED);
}

/* Asked for, at an own endpoint; 0 until it has come. */
static inline mcapi_request_t
receive_message(mcapi_endpoint_t at, unsigned *number)
{
    mcapi_status_t status;
    mcapi_request_t request;
    *number = 0;
    mcapi_msg_recv_i(at, number, sizeof *number, &request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    return request;
}

#endif
