/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For programs without a test library, on bare metal too: how a request of MCAPI ends. */
#ifndef MEDLEY_TESTS_SUPPORT_REQUEST_END_H
#define MEDLEY_TESTS_SUPPORT_REQUEST_END_H

#include <mcapi.h>
#include <stdbool.h>

static inline bool
ends_well(mcapi_request_t request)
{
    mcapi_status_t status;
    size_t size;
    return mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status) && status == MCAPI_SUCCESS;
}

#endif
