/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of giving the processor away, and of delays. */
#include "medley/mrapi_ext.h"
#include "mrapi/api.h"

void
mrapi_yield(mrapi_status_t *status)
{
    if (status && med_api_self(status)) {
        med_port_yield();
        *status = MRAPI_SUCCESS;
    }
}

void
mrapi_yield_to(mrapi_domain_t domain_id, mrapi_node_t node_id, mrapi_status_t *status)
{
    const med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    bool there = med_node_is_there(self->system, domain_id, node_id);
    if (there) {
        med_port_yield();
    }
    *status = there ? MRAPI_SUCCESS : MRAPI_ERR_NODE_INVALID;
}

void
mrapi_delay(mrapi_uint_t duration_us, mrapi_status_t *status)
{
    if (status && med_api_self(status)) {
        med_port_delay_ns((uint64_t)duration_us * 1000u);
        *status = MRAPI_SUCCESS;
    }
}

void
mrapi_delay_until_ns(mrapi_uint64_t deadline_ns, mrapi_status_t *status)
{
    if (status && med_api_self(status)) {
        med_port_delay_until_ns(deadline_ns);
        *status = MRAPI_SUCCESS;
    }
}
