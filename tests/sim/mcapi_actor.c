/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Coming, going, and making an endpoint whose calls do not wait. */
#include "mcapi_actor.h"

#define DOMAIN 1u

void
mcapi_come(const sim_actor *actor)
{
    mcapi_status_t status;
    mcapi_info_t info;
    do {
        mcapi_initialize(DOMAIN, actor->index + 1, NULL, NULL, &info, &status);
        SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_ERR_NODE_INITFAILED);
    } while (status != MCAPI_SUCCESS);
}

void
mcapi_go(void)
{
    mcapi_status_t status;
    mcapi_finalize(&status);
    SIM_CHECK(status == MCAPI_SUCCESS);
}

mcapi_endpoint_t
mcapi_endpoint_make(uint32_t port)
{
    mcapi_status_t status;
    mcapi_timeout_t timeout = 0;
    mcapi_endpoint_t made = mcapi_endpoint_create(port, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    mcapi_endpoint_set_attribute(made, MCAPI_ENDP_ATTR_TIMEOUT, &timeout, sizeof timeout, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    return made;
}

void
mcapi_endpoint_end(mcapi_endpoint_t endpoint)
{
    mcapi_status_t status;
    mcapi_endpoint_delete(endpoint, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
}

bool
mcapi_send_now(mcapi_endpoint_t from, mcapi_endpoint_t to, const void *content, size_t bytes)
{
    mcapi_status_t status;
    mcapi_msg_send(from, to, content, bytes, 0, &status);
    SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_ERR_MEM_LIMIT || status == MCAPI_TIMEOUT);
    return status == MCAPI_SUCCESS;
}
