/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For tests of MCAPI: a process that has no request left. */
#ifndef MEDLEY_TESTS_SUPPORT_REQUESTS_H
#define MEDLEY_TESTS_SUPPORT_REQUESTS_H

#include "mrapi/request.h"
#include "support/exchange.h"

/* All of the process's requests: receives that nothing comes for. */
static mcapi_request_t asked[MED_REQUEST_PLACES_MAX + 1];
static size_t asked_count;

static inline void
requests_use_up(mcapi_endpoint_t at)
{
    static unsigned char byte;
    mcapi_status_t status;
    asked_count = 0;
    do {
        mcapi_msg_recv_i(at, &byte, 1, &asked[asked_count], &status);
        asked_count += status == MCAPI_SUCCESS;
    } while (status == MCAPI_SUCCESS);
    assert_int_equal(status, MCAPI_ERR_REQUEST_LIMIT);
}

static inline void
requests_give_back(void)
{
    mcapi_status_t status;
    for (size_t i = 0; i < asked_count; i++) {
        mcapi_cancel(&asked[i], &status);
        assert_int_equal(status, MCAPI_SUCCESS);
    }
}

#endif
