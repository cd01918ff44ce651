/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The beginning and the end of a node that measures, and how it finds the other's endpoint. */
#include "exchange_nodes.h"

#include "bench_system.h"

bool
exchange_node_begin(mcapi_node_t node)
{
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_initialize(BENCH_DOMAIN, node, NULL, NULL, &info, &status);
    return status == MCAPI_SUCCESS;
}

void
exchange_node_end(void)
{
    mcapi_status_t status;
    mcapi_finalize(&status);
}

bool
exchange_endpoints_find(mcapi_node_t other, mcapi_endpoint_t *own, mcapi_endpoint_t *others)
{
    mcapi_status_t status;
    *own = mcapi_endpoint_create(EXCHANGE_PORT, &status);
    if (status == MCAPI_SUCCESS) {
        *others =
            mcapi_endpoint_get(BENCH_DOMAIN, other, EXCHANGE_PORT, EXCHANGE_TIMEOUT_US, &status);
    }
    return status == MCAPI_SUCCESS;
}
