/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of endpoints. */
#include "mcapi/api.h"
#include "mcapi/endpoint.h"

static mcapi_status_t
status_of(medley_status_t status)
{
    switch (status) {
    case MEDLEY_OK:
        return MCAPI_SUCCESS;
    case MEDLEY_TIMEOUT:
        return MCAPI_TIMEOUT;
    case MEDLEY_ERR_EXISTS:
        return MCAPI_ERR_ENDP_EXISTS;
    case MEDLEY_ERR_LIMIT:
        return MCAPI_ERR_ENDP_LIMIT;
    case MEDLEY_ERR_NOT_OWNER:
        return MCAPI_ERR_ENDP_NOTOWNER;
    case MEDLEY_BUSY:
        return MCAPI_ERR_CHAN_CONNECTED;
    default:
        return MCAPI_ERR_ENDP_INVALID;
    }
}

mcapi_endpoint_t
mcapi_endpoint_create(mcapi_port_t port_id, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    med_handle endpoint = MCAPI_RETURN_VALUE_INVALID;
    if (!self) {
        return endpoint;
    }
    if (port_id != MCAPI_PORT_ANY && port_id > MCAPI_MAX_PORT) {
        *status = MCAPI_ERR_PORT_INVALID;
        return endpoint;
    }
    *status = status_of(med_endpoint_create(self, port_id, &endpoint));
    return endpoint;
}

/* Of an endpoint that somebody asks for. */
static mcapi_status_t
numbers_check(mcapi_domain_t domain, mcapi_node_t node, mcapi_port_t port)
{
    if (domain == MCAPI_DOMAIN_INVALID) {
        return MCAPI_ERR_DOMAIN_INVALID;
    }
    if (node == MCAPI_NODE_INVALID) {
        return MCAPI_ERR_NODE_INVALID;
    }
    return port == MCAPI_PORT_ANY ? MCAPI_ERR_PORT_INVALID : MCAPI_SUCCESS;
}

mcapi_endpoint_t
mcapi_endpoint_get(mcapi_domain_t domain_id,
                   mcapi_node_t node_id,
                   mcapi_port_t port_id,
                   mcapi_timeout_t timeout,
                   mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    med_handle endpoint = MCAPI_RETURN_VALUE_INVALID;
    if (!self) {
        return endpoint;
    }
    *status = numbers_check(domain_id, node_id, port_id);
    if (*status == MCAPI_SUCCESS) {
        *status = status_of(med_endpoint_await(self, domain_id, node_id, port_id,
                                               med_mcapi_deadline_ns(timeout), &endpoint));
    }
    if (*status == MCAPI_SUCCESS) {
        (void)med_endpoint_got(self, endpoint, true);
    }
    return endpoint;
}

void
mcapi_endpoint_get_i(mcapi_domain_t domain_id,
                     mcapi_node_t node_id,
                     mcapi_port_t port_id,
                     mcapi_endpoint_t *endpoint,
                     mcapi_request_t *request,
                     mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (!self) {
        return;
    }
    *status =
        endpoint && request ? numbers_check(domain_id, node_id, port_id) : MCAPI_ERR_PARAMETER;
    if (*status == MCAPI_SUCCESS &&
        med_endpoint_request(self, domain_id, node_id, port_id, endpoint, request) != MEDLEY_OK) {
        *status = MCAPI_ERR_REQUEST_LIMIT;
    }
}

void
mcapi_endpoint_release(mcapi_endpoint_t endpoint, mcapi_status_t *status)
{
    const med_self *self = status ? med_mcapi_self(status) : NULL;
    if (self) {
        *status = status_of(med_endpoint_got(self, endpoint, false));
    }
}

void
mcapi_endpoint_delete(mcapi_endpoint_t endpoint, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (self) {
        *status = status_of(med_endpoint_delete(self, endpoint));
    }
}
