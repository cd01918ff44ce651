/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of nodes: mrapi_initialize and its kin, thread nodes, and Medley's own calls. */
#include "base/text.h"
#include "base/version.h"
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/api.h"
#include "mrapi/system.h"

#define MRAPI_STANDARD "1.0"

static mrapi_status_t
status_of(medley_status_t status)
{
    switch (status) {
    case MEDLEY_OK:
        return MRAPI_SUCCESS;
    case MEDLEY_ERR_EXISTS:
        return MRAPI_ERR_NODE_INITIALIZED;
    case MEDLEY_ERR_ARGUMENT:
    case MEDLEY_ERR_NOT_FOUND:
    case MEDLEY_ERR_NOT_OWNER:
    case MEDLEY_BUSY:
        return MRAPI_ERR_NODE_INVALID;
    case MEDLEY_ERR_NOT_SUPPORTED:
        return MRAPI_ERR_NOT_SUPPORTED;
    default:
        return MRAPI_ERR_NODE_INITFAILED;
    }
}

/* Of mrapi_initialize: the numbers were checked before, so whatever else fails is the set-up. */
static mrapi_status_t
status_of_initialize(medley_status_t status)
{
    switch (status) {
    case MEDLEY_OK:
        return MRAPI_SUCCESS;
    case MEDLEY_ERR_EXISTS:
        return MRAPI_ERR_NODE_INITIALIZED;
    default:
        return MRAPI_ERR_NODE_INITFAILED;
    }
}

/* The node is gone; is all of it? */
static mrapi_status_t
status_of_leaving(medley_status_t status)
{
    return status == MEDLEY_OK ? MRAPI_SUCCESS : MRAPI_ERR_NODE_FINALFAILED;
}

static mrapi_status_t
numbers_check(mrapi_domain_t domain, mrapi_node_t node)
{
    if (domain == MRAPI_DOMAIN_INVALID) {
        return MRAPI_ERR_DOMAIN_INVALID;
    }
    return node == MRAPI_NODE_INVALID ? MRAPI_ERR_NODE_INVALID : MRAPI_SUCCESS;
}

static void
info_fill(mrapi_info_t *info)
{
    const med_limits *limits = &med_self_get()->system->limits;
    med_text_copy(info->mrapi_version, sizeof info->mrapi_version, MRAPI_STANDARD);
    med_text_copy(info->implementation_version, sizeof info->implementation_version, MED_VERSION);
    info->organization_id = MCA_ORG_ID_TBA;
    info->number_of_domains = limits->domains;
    info->number_of_nodes = limits->nodes;
}

/* ---- MRAPI ----------------------------------------------------------------------------------- */

/* A node that was made for MCAPI alone is from now on one of its own. */
static medley_status_t
become(mrapi_domain_t domain, mrapi_node_t node)
{
    med_self *self = med_self_get();
    if (self && self->only_for_exchange && self->domain == domain && self->node == node) {
        self->only_for_exchange = false;
        return MEDLEY_OK;
    }
    return med_node_become(domain, node);
}

void
mrapi_initialize(mrapi_domain_t domain_id,
                 mrapi_node_t node_id,
                 mrapi_parameters_t init_parameters,
                 mrapi_info_t *mrapi_info,
                 mrapi_status_t *status)
{
    (void)init_parameters;
    if (!status) {
        return;
    }
    *status = mrapi_info ? numbers_check(domain_id, node_id) : MRAPI_ERR_PARAMETER;
    if (*status != MRAPI_SUCCESS) {
        return;
    }
    *status = status_of_initialize(become(domain_id, node_id));
    if (*status == MRAPI_SUCCESS) {
        info_fill(mrapi_info);
    }
}

void
mrapi_finalize(mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self) {
        *status = status_of_leaving(med_node_leave(self));
    }
}

mrapi_domain_t
mrapi_domain_id_get(mrapi_status_t *status)
{
    const med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return MRAPI_RETURN_VALUE_INVALID;
    }
    *status = MRAPI_SUCCESS;
    return self->domain;
}

mrapi_node_t
mrapi_node_id_get(mrapi_status_t *status)
{
    const med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return MRAPI_RETURN_VALUE_INVALID;
    }
    *status = MRAPI_SUCCESS;
    return self->node;
}

/* ---- Attributes ------------------------------------------------------------------------------ */

static const mrapi_node_attributes_t standard = {.set = 0x4e4f0000u};

/* None is defined. */
static const med_attribute_kind attribute_kind = {.record_bytes = sizeof standard,
                                                  .standard = &standard};

void
mrapi_node_init_attributes(mrapi_node_attributes_t *attributes, mrapi_status_t *status)
{
    if (status) {
        *status = med_attributes_init(&attribute_kind, attributes);
    }
}

void
mrapi_node_set_attribute(mrapi_node_attributes_t *attributes,
                         mrapi_uint_t attribute_num,
                         const void *attribute,
                         size_t attribute_size,
                         mrapi_status_t *status)
{
    if (status) {
        *status = med_attributes_set(&attribute_kind, attributes, attribute_num, attribute,
                                     attribute_size);
    }
}

void
mrapi_node_get_attribute(mrapi_node_t node,
                         mrapi_uint_t attribute_num,
                         void *attribute,
                         size_t attribute_size,
                         mrapi_status_t *status)
{
    const med_self *self = status ? med_api_self(status) : NULL;
    if (self && !med_node_is_there(self->system, self->domain, node)) {
        *status = MRAPI_ERR_NODE_INVALID;
    } else if (self) {
        *status = med_attributes_get(&attribute_kind, &standard, attribute_num, attribute,
                                     attribute_size);
    }
}

/* ---- Thread nodes ---------------------------------------------------------------------------- */

void
mrapi_thread_create(mrapi_domain_t domain_id,
                    mrapi_node_t node_id,
                    const mrapi_thread_parameters_t *init_parameters,
                    mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    *status = init_parameters && init_parameters->start_routine ? numbers_check(domain_id, node_id)
                                                                : MRAPI_ERR_PARAMETER;
    if (*status != MRAPI_SUCCESS) {
        return;
    }
    med_port_thread_attributes attributes = {.native = init_parameters->attr};
    med_node_request request = {.domain = domain_id,
                                .node = node_id,
                                .kind = MED_NODE_STARTED,
                                .detached = med_port_thread_native_detached(attributes.native)};
    med_port_thread thread;
    medley_status_t result =
        med_node_start(self->system, &request, attributes.native ? &attributes : NULL,
                       init_parameters->start_routine, init_parameters->arg, &thread);
    if (result == MEDLEY_OK && init_parameters->thread_handle) {
        *(uintptr_t *)init_parameters->thread_handle = thread.handle;
    }
    *status = result == MEDLEY_ERR_ARGUMENT ? MRAPI_ERR_PARAMETER : status_of(result);
}

void
mrapi_thread_join(mrapi_domain_t domain_id,
                  mrapi_node_t node_id,
                  void **result,
                  mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self) {
        medley_status_t joined = med_node_join(self->system, domain_id, node_id, result);
        *status = joined == MEDLEY_TIMEOUT ? status_of_leaving(joined) : status_of(joined);
    }
}

void
mrapi_thread_exit(const void *result, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self && self->started) {
        med_port_thread_exit((void *)(uintptr_t)result);
    } else if (self) {
        *status = MRAPI_ERR_NODE_INVALID;
    }
}

/* ---- Medley's own ---------------------------------------------------------------------------- */

const char *
medley_version(void)
{
    return MED_VERSION;
}

medley_status_t
medley_system_open(const char *name)
{
    return med_system_open(name);
}

medley_status_t
medley_system_close(void)
{
    return med_system_close();
}

medley_status_t
medley_node_adopt(mrapi_domain_t domain, mrapi_node_t node, mrapi_node_t *number)
{
    if (domain == MRAPI_DOMAIN_INVALID) {
        return MEDLEY_ERR_ARGUMENT;
    }
    medley_status_t status = med_node_become(domain, node);
    if (status == MEDLEY_OK && number) {
        *number = med_self_get()->node;
    }
    return status;
}

int
medley_lock_owner_died(void)
{
    const med_self *self = med_self_get();
    return self && self->owner_died;
}

uint64_t
medley_clock_ns(void)
{
    return med_port_clock_ns();
}
