/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Nodes of MCAPI and their endpoints, for the programs that measure its exchange. */
#ifndef MEDLEY_BENCH_EXCHANGE_NODES_H
#define MEDLEY_BENCH_EXCHANGE_NODES_H

#include <mcapi.h>
#include <stdbool.h>

#define EXCHANGE_PORT 1
#define EXCHANGE_TIMEOUT_US 10000000

bool exchange_node_begin(mcapi_node_t node);
void exchange_node_end(void);
/* An endpoint of one's own, and the other's. */
bool exchange_endpoints_find(mcapi_node_t other, mcapi_endpoint_t *own, mcapi_endpoint_t *others);

#endif
