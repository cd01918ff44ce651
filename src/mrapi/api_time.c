/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of giving the processor away, and of delays. */
#include "medley/mrapi_ext.h"
#include "mrapi/api.h"
#include "mrapi/system.h"

void
mrapi_yield(mrapi_status_t *status)
{
    if (status && med_api_self(status)) {
        med_port_yield();
        *status = MRAPI_SUCCESS;
    }
}

/* Nobody is that node yet. Relaxed: a life begins and ends EXPECTED. */
static bool
is_expected(const med_system *system, uint32_t index)
{
    med_node_row *row = (med_node_row *)(void *)med_table_row(&system->nodes, index);
    return atomic32_load_relaxed(&row->phase) == MED_NODE_EXPECTED;
}

void
mrapi_yield_to(mrapi_domain_t domain_id, mrapi_node_t node_id, mrapi_status_t *status)
{
    const med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    uint32_t index, generation;
    med_key key = {.high = domain_id, .low = node_id};
    if (med_table_find(&self->system->nodes, key, &index, &generation) != MEDLEY_OK ||
        is_expected(self->system, index)) {
        *status = MRAPI_ERR_NODE_INVALID;
        return;
    }
    med_port_yield();
    *status = MRAPI_SUCCESS;
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
