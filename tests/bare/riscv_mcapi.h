/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of the bare RISC-V image that are about MCAPI share. */
#ifndef MEDLEY_TESTS_BARE_RISCV_MCAPI_H
#define MEDLEY_TESTS_BARE_RISCV_MCAPI_H

#include "mcapi.h"
#include "medley/mcapi_ext.h"
#include "riscv.h"
#include "support/request_end.h"

/* Does the call, whose last argument is `&status`, say that? */
#define SAYS(expected, call) ((void)(call), status == (expected))
/* For what comes: if another hart is broken, this one says so, too. */
#define LONG_US 20000000u

/* ---- Several harts --------------------------------------------------------------------------- */

/* Runs `body` on each of the first `count` harts, as a node of MCAPI that leaves afterwards. */
const char *nodes_exchange(uint32_t count, const char *(*body)(mcapi_node_t self));
/* Inside: all of them have come to this place; or one is broken, and nobody waits for it. */
void meet(void);

/* ---- Endpoints and ends ---------------------------------------------------------------------- */

typedef void connect_call(mcapi_endpoint_t, mcapi_endpoint_t, mcapi_request_t *, mcapi_status_t *);
typedef void open_call(unsigned *, mcapi_endpoint_t, mcapi_request_t *, mcapi_status_t *);
typedef void close_call(unsigned, mcapi_request_t *, mcapi_status_t *);

static inline bool
connects(connect_call *call, mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    mcapi_status_t status;
    mcapi_request_t request;
    call(from, to, &request, &status);
    return status == MCAPI_SUCCESS && ends_well(request);
}

static inline bool
opens(open_call *call, mcapi_endpoint_t at, unsigned *end)
{
    mcapi_status_t status;
    mcapi_request_t request;
    call(end, at, &request, &status);
    return (status == MCAPI_SUCCESS || status == MCAPI_PENDING) && ends_well(request);
}

static inline bool
closes(close_call *call, unsigned end)
{
    mcapi_status_t status;
    mcapi_request_t request;
    call(end, &request, &status);
    return status == MCAPI_SUCCESS && ends_well(request);
}

/* Waits for it. */
static inline bool
finds(mcapi_node_t node, mcapi_port_t port, mcapi_endpoint_t *endpoint)
{
    mcapi_status_t status;
    *endpoint = mcapi_endpoint_get(DOMAIN, node, port, MCAPI_TIMEOUT_INFINITE, &status);
    return status == MCAPI_SUCCESS;
}

static inline bool
makes(mcapi_port_t port, mcapi_endpoint_t *endpoint)
{
    mcapi_status_t status;
    *endpoint = mcapi_endpoint_create(port, &status);
    return status == MCAPI_SUCCESS;
}

#endif
