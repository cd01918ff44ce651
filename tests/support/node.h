/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The calling thread becomes a node, and leaves; what it is told. */
#ifndef MEDLEY_TESTS_SUPPORT_NODE_H
#define MEDLEY_TESTS_SUPPORT_NODE_H

#include "mrapi.h"

#define DOMAIN 1

static inline mrapi_status_t
initialize(mrapi_node_t node)
{
    mrapi_status_t status;
    mrapi_info_t info;
    mrapi_initialize(DOMAIN, node, 0, &info, &status);
    return status;
}

static inline mrapi_status_t
finalize(void)
{
    mrapi_status_t status;
    mrapi_finalize(&status);
    return status;
}

#endif
