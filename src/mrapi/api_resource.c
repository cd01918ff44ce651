/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of metadata: resource trees, attributes, events. */
#include <string.h>

#include "mrapi/api.h"
#include "mrapi/event.h"
#include "mrapi/resource.h"

static mrapi_status_t
status_of(medley_status_t status)
{
    switch (status) {
    case MEDLEY_OK:
        return MRAPI_SUCCESS;
    case MEDLEY_ERR_STALE:
        return MRAPI_ERR_RSRC_INVALID;
    case MEDLEY_ERR_NOT_FOUND:
        return MRAPI_ERR_ATTR_NUM;
    case MEDLEY_ERR_ARGUMENT:
        return MRAPI_ERR_RSRC_NOTDYNAMIC;
    case MEDLEY_ERR_EXISTS:
        return MRAPI_ERR_RSRC_STARTED;
    case MEDLEY_EMPTY:
        return MRAPI_ERR_RSRC_NOTSTARTED;
    case MEDLEY_BUSY:
        return MRAPI_ERR_RSRC_COUNTER_INUSE;
    case MEDLEY_ERR_PEER_DIED:
        return MRAPI_ERR_NODE_INVALID;
    case MEDLEY_ERR_NO_MEMORY:
    case MEDLEY_ERR_LIMIT:
        return MRAPI_ERR_MEM_LIMIT;
    default:
        return MRAPI_ERR_NOT_SUPPORTED;
    }
}

/* ---- Trees ----------------------------------------------------------------------------------- */

mrapi_resource_t *
mrapi_resources_get(mrapi_rsrc_filter_t subsystem_filter, mrapi_status_t *mrapi_status)
{
    med_self *self = mrapi_status ? med_api_self(mrapi_status) : NULL;
    mrapi_resource_t *root = NULL;
    if (self) {
        medley_status_t status = med_resources_get(self, subsystem_filter, &root);
        *mrapi_status =
            status == MEDLEY_ERR_ARGUMENT ? MRAPI_ERR_RSRC_INVALID_SUBSYSTEM : status_of(status);
    }
    return root;
}

void
mrapi_resource_tree_free(mrapi_resource_t *const *root_ptr, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    medley_status_t result = root_ptr ? med_resources_free(self, *root_ptr) : MEDLEY_ERR_STALE;
    *status = result == MEDLEY_OK              ? MRAPI_SUCCESS
              : result == MEDLEY_ERR_NOT_OWNER ? MRAPI_ERR_RSRC_NOTOWNER
                                               : MRAPI_ERR_RSRC_INVALID_TREE;
}

/* ---- Attributes ------------------------------------------------------------------------------ */

/* A number of 4 bytes: of a count its lower half, of anything else all, or it does not fit. */
static mrapi_status_t
value_give(const med_resource_value *from, bool count, void *to, size_t size)
{
    uint32_t low = (uint32_t)from->number;
    if (from->text && size == sizeof from->text) {
        memcpy(to, &from->text, size);
    } else if (!from->text && size == sizeof from->number) {
        memcpy(to, &from->number, size);
    } else if (!from->text && size == sizeof low && (count || from->number == low)) {
        memcpy(to, &low, size);
    } else {
        return MRAPI_ERR_ATTR_SIZE;
    }
    return MRAPI_SUCCESS;
}

void
mrapi_resource_get_attribute(const mrapi_resource_t *resource,
                             mrapi_uint_t attribute_number,
                             void *attribute_value,
                             size_t attr_size,
                             mrapi_status_t *mrapi_status)
{
    const med_self *self = mrapi_status ? med_api_self(mrapi_status) : NULL;
    med_resource_value value;
    if (!self) {
        return;
    }
    if (!attribute_value) {
        *mrapi_status = MRAPI_ERR_PARAMETER;
        return;
    }
    *mrapi_status = status_of(med_resource_read(resource, attribute_number, &value));
    if (*mrapi_status == MRAPI_SUCCESS) {
        bool count = attribute_number >= MEDLEY_RSRC_TIME_NS;
        *mrapi_status = value_give(&value, count, attribute_value, attr_size);
    }
}

void
mrapi_dynamic_attribute_start(const mrapi_resource_t *resource,
                              mrapi_uint_t attribute_number,
                              void (*rollover_callback)(void),
                              mrapi_status_t *mrapi_status)
{
    if (mrapi_status && med_api_self(mrapi_status)) {
        *mrapi_status =
            status_of(med_resource_count_start(resource, attribute_number, rollover_callback));
    }
}

void
mrapi_dynamic_attribute_reset(const mrapi_resource_t *resource,
                              mrapi_uint_t attribute_number,
                              mrapi_status_t *mrapi_status)
{
    if (mrapi_status && med_api_self(mrapi_status)) {
        *mrapi_status = status_of(med_resource_count_reset(resource, attribute_number));
    }
}

void
mrapi_dynamic_attribute_stop(const mrapi_resource_t *resource,
                             mrapi_uint_t attribute_number,
                             mrapi_status_t *mrapi_status)
{
    if (mrapi_status && med_api_self(mrapi_status)) {
        *mrapi_status = status_of(med_resource_count_stop(resource, attribute_number));
    }
}

/* ---- Events ---------------------------------------------------------------------------------- */

void
mrapi_resource_register_callback(mrapi_event_t event,
                                 unsigned int frequency,
                                 void (*callback_function)(mrapi_event_t event),
                                 mrapi_status_t *status)
{
    if (!status || !med_api_self(status)) {
        return;
    }
    if ((uint32_t)event < MEDLEY_EVENT_NODE_COMES || (uint32_t)event >= MEDLEY_EVENT_COUNT) {
        *status = MRAPI_ERR_RSRC_INVALID_EVENT;
    } else if (!callback_function) {
        *status = MRAPI_ERR_RSRC_INVALID_CALLBACK;
    } else {
        *status = status_of(med_event_listen(event, frequency, callback_function));
    }
}
