/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of nodes. */
#include <string.h>

#include "base/version.h"
#include "mcapi/api.h"
#include "mcapi/endpoint.h"

/* As for `set` in a record that was initialised. */
#define RECORD_GOOD 0x4e4f4445u

static mcapi_status_t
status_of_initialize(medley_status_t status)
{
    switch (status) {
    case MEDLEY_OK:
        return MCAPI_SUCCESS;
    case MEDLEY_ERR_EXISTS:
        return MCAPI_ERR_NODE_INITIALIZED;
    default:
        return MCAPI_ERR_NODE_INITFAILED;
    }
}

/* The calling thread is that node afterwards, whether or not it was before. */
static medley_status_t
become(uint32_t domain, uint32_t node)
{
    med_self *self = med_self_get();
    if (self) {
        bool same = self->domain == domain && self->node == node && !self->exchange;
        return same ? med_exchange_join(self) : MEDLEY_ERR_EXISTS;
    }
    medley_status_t status = med_node_become(domain, node);
    if (status != MEDLEY_OK) {
        return status;
    }
    self = med_self_get();
    status = med_exchange_join(self);
    if (status == MEDLEY_OK) {
        self->only_for_exchange = true;
    } else {
        (void)med_node_leave(self);
    }
    return status;
}

static void
info_fill(mcapi_info_t *info)
{
    const med_limits *limits = &med_self_get()->system->limits;
    *info = (mcapi_info_t){.mcapi_version = MCAPI_VERSION,
                           .organization_id = MCA_ORG_ID_TBA,
                           .implementation_version = MED_VERSION_NUMBER,
                           .number_of_domains = limits->domains,
                           .number_of_nodes = limits->nodes,
                           .number_of_ports = limits->endpoints};
}

void
mcapi_initialize(mcapi_domain_t domain_id,
                 mcapi_node_t node_id,
                 const mcapi_node_attributes_t *attributes,
                 const mcapi_param_t *init_parameters,
                 mcapi_info_t *mcapi_info,
                 mcapi_status_t *status)
{
    (void)init_parameters;
    if (!status) {
        return;
    }
    bool record_good = !attributes || attributes->set == RECORD_GOOD;
    if (!mcapi_info || !record_good) {
        *status = MCAPI_ERR_PARAMETER;
    } else if (domain_id == MCAPI_DOMAIN_INVALID) {
        *status = MCAPI_ERR_DOMAIN_INVALID;
    } else if (node_id == MCAPI_NODE_INVALID) {
        *status = MCAPI_ERR_NODE_INVALID;
    } else {
        *status = status_of_initialize(become(domain_id, node_id));
    }
    if (*status == MCAPI_SUCCESS) {
        info_fill(mcapi_info);
    }
}

void
mcapi_finalize(mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (!self) {
        return;
    }
    *status = MCAPI_SUCCESS;
    if (self->only_for_exchange) {
        *status = med_node_leave(self) == MEDLEY_OK ? MCAPI_SUCCESS : MCAPI_ERR_NODE_FINALFAILED;
    } else {
        med_exchange_node_leaves(self);
    }
}

mca_domain_t
mcapi_domain_id_get(mcapi_status_t *status)
{
    const med_self *self = status ? med_mcapi_self(status) : NULL;
    if (!self) {
        return MCAPI_RETURN_VALUE_INVALID;
    }
    *status = MCAPI_SUCCESS;
    return self->domain;
}

mcapi_node_t
mcapi_node_id_get(mcapi_status_t *status)
{
    const med_self *self = status ? med_mcapi_self(status) : NULL;
    if (!self) {
        return MCAPI_RETURN_VALUE_INVALID;
    }
    *status = MCAPI_SUCCESS;
    return self->node;
}

/* ---- Attributes ------------------------------------------------------------------------------ */

static mcapi_status_t
attribute_check(mcapi_uint_t number, const void *attribute, size_t size)
{
    if (!attribute) {
        return MCAPI_ERR_PARAMETER;
    }
    if (number != MCAPI_NODE_ATTR_TYPE) {
        return MCAPI_ERR_ATTR_NUM;
    }
    return size == sizeof(mcapi_uint_t) ? MCAPI_SUCCESS : MCAPI_ERR_ATTR_SIZE;
}

void
mcapi_node_init_attributes(mcapi_node_attributes_t *attributes, mcapi_status_t *status)
{
    if (!status) {
        return;
    }
    *status = attributes ? MCAPI_SUCCESS : MCAPI_ERR_PARAMETER;
    if (attributes) {
        attributes->set = RECORD_GOOD;
    }
}

void
mcapi_node_set_attribute(mcapi_node_attributes_t *attributes,
                         mcapi_uint_t attribute_num,
                         const void *attribute,
                         size_t attribute_size,
                         mcapi_status_t *status)
{
    if (!status) {
        return;
    }
    bool good = attributes && attributes->set == RECORD_GOOD;
    *status =
        good ? attribute_check(attribute_num, attribute, attribute_size) : MCAPI_ERR_PARAMETER;
    if (*status == MCAPI_SUCCESS) {
        mcapi_uint_t value;
        memcpy(&value, attribute, sizeof value);
        *status = value == MCAPI_NODE_ATTR_TYPE_REGULAR ? MCAPI_SUCCESS : MCAPI_ERR_ATTR_VALUE;
    }
}

/* Is there such a node? */
static mcapi_status_t
node_check(const med_self *self, mcapi_domain_t domain, mcapi_node_t node)
{
    if (domain == MCAPI_DOMAIN_INVALID) {
        return MCAPI_ERR_DOMAIN_INVALID;
    }
    return med_node_is_there(self->system, domain, node) ? MCAPI_SUCCESS : MCAPI_ERR_NODE_INVALID;
}

void
mcapi_node_get_attribute(mcapi_domain_t domain_id,
                         mcapi_node_t node_id,
                         mcapi_uint_t attribute_num,
                         void *attribute,
                         size_t attribute_size,
                         mcapi_status_t *status)
{
    const med_self *self = status ? med_mcapi_self(status) : NULL;
    if (!self) {
        return;
    }
    *status = attribute_check(attribute_num, attribute, attribute_size);
    if (*status == MCAPI_SUCCESS) {
        *status = node_check(self, domain_id, node_id);
    }
    if (*status == MCAPI_SUCCESS) {
        const mcapi_uint_t value = MCAPI_NODE_ATTR_TYPE_REGULAR;
        memcpy(attribute, &value, sizeof value);
    }
}
