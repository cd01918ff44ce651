/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of shared memory, and of heap memory. */
#include <stddef.h>
#include <stdint.h>

#include "medley/mrapi_ext.h"
#include "mrapi/api.h"
#include "mrapi/attributes.h"
#include "mrapi/heap.h"
#include "mrapi/shmem.h"
#include "mrapi/system.h"

_Static_assert(MRAPI_SHMEM_ID_ANY == MED_OBJECT_ANY, "passed through");
_Static_assert(MRAPI_MAX_USER_SHMEM_ID == MED_OBJECT_USER_MAX, "passed through");
_Static_assert(sizeof(mrapi_node_t) == sizeof(uint32_t), "lists of nodes are passed through");

/* ---- Attributes ------------------------------------------------------------------------------ */

#define ATTRIBUTES_MARK 0x534d0000u

static const mrapi_shmem_attributes_t standard = {.set = ATTRIBUTES_MARK | MED_SHMEM_DOMAIN_SHARED};

#define VALUE(attribute_number, member, only_read)                                                 \
    {                                                                                              \
        .number = (attribute_number), .size = sizeof standard.member,                              \
        .offset = offsetof(mrapi_shmem_attributes_t, member), .read_only = (only_read)             \
    }

static const med_attribute attributes_known[] = {
    MED_ATTRIBUTE_BOOLEAN(MRAPI_ERROR_EXT, MED_SHMEM_ERROR_EXT),
    MED_ATTRIBUTE_BOOLEAN(MRAPI_DOMAIN_SHARED, MED_SHMEM_DOMAIN_SHARED),
    VALUE(MRAPI_SHMEM_RESOURCE, resource, false),
    VALUE(MRAPI_SHMEM_ADDRESS, address, false),
    VALUE(MRAPI_SHMEM_SIZE, size, true),
};

static const med_attribute_kind attribute_kind = MED_ATTRIBUTE_KIND(attributes_known, standard);

/* A resource is a place and which of its kind. */
#define RESOURCE_INDEX_BITS 16

_Static_assert(MEDLEY_SHMEM_RESOURCE_NUMA(0u) >> RESOURCE_INDEX_BITS == MED_PORT_PLACE_NUMA, "");
_Static_assert(MEDLEY_SHMEM_RESOURCE_HUGE_PAGES >> RESOURCE_INDEX_BITS == MED_PORT_PLACE_HUGE_PAGES,
               "");
_Static_assert(MEDLEY_SHMEM_RESOURCE_TIGHT(0u) >> RESOURCE_INDEX_BITS == MED_PORT_PLACE_TIGHT, "");

/* ---- Translation ----------------------------------------------------------------------------- */

/* What the same inner result means to each call: `exists` differs, the rest is common. */
static mrapi_status_t
status_of(medley_status_t status, mrapi_status_t exists)
{
    switch (status) {
    case MEDLEY_OK:
        return MRAPI_SUCCESS;
    case MEDLEY_TIMEOUT:
        return MRAPI_TIMEOUT;
    case MEDLEY_BUSY:
        return MRAPI_ERR_SHM_ATTCH;
    case MEDLEY_ERR_EXISTS:
        return exists;
    case MEDLEY_ERR_LIMIT:
    case MEDLEY_ERR_NO_MEMORY:
        return MRAPI_ERR_MEM_LIMIT;
    case MEDLEY_ERR_ACCESS:
        return MRAPI_ERR_DOMAIN_NOTSHARED;
    case MEDLEY_ERR_NOT_SUPPORTED:
        return MRAPI_ERR_NOT_SUPPORTED;
    default:
        return MRAPI_ERR_SHM_INVALID;
    }
}

/* Of a call by a node that must be in the list. */
static mrapi_status_t
status_of_sharing(medley_status_t status)
{
    return status == MEDLEY_ERR_NOT_OWNER ? MRAPI_ERR_SHM_NODE_NOTSHARED
                                          : status_of(status, MRAPI_ERR_SHM_ATTACHED);
}

static mrapi_status_t
status_of_create(medley_status_t status)
{
    switch (status) {
    case MEDLEY_ERR_ARGUMENT:
        return MRAPI_ERR_PARAMETER;
    case MEDLEY_ERR_ACCESS: /* others have the files' names */
        return MRAPI_ERR_NOT_SUPPORTED;
    case MEDLEY_ERR_SYSTEM:
        return MRAPI_ERR_MEM_LIMIT;
    default:
        return status_of(status, MRAPI_ERR_SHM_EXISTS);
    }
}

/* ---- Attributes of records and of memories --------------------------------------------------- */

void
mrapi_shmem_init_attributes(mrapi_shmem_attributes_t *attributes, mrapi_status_t *status)
{
    med_api_attributes_init(&attribute_kind, attributes, status);
}

void
mrapi_shmem_set_attribute(mrapi_shmem_attributes_t *attributes,
                          mrapi_uint_t attribute_num,
                          const void *attribute,
                          size_t attr_size,
                          mrapi_status_t *status)
{
    med_api_attribute_set(&attribute_kind, attributes, attribute_num, attribute, attr_size, status);
}

/* What a memory was made with, as a record. */
static medley_status_t
record_of(med_self *self, mrapi_shmem_hndl_t shmem, mrapi_shmem_attributes_t *record)
{
    med_shmem_request made;
    *record = standard;
    if (med_handle_kind_of(shmem) == MED_HANDLE_HEAP) {
        uint32_t size_bytes = 0;
        medley_status_t found = med_heap_read(self, shmem, &record->mem_addr, &size_bytes);
        record->size = size_bytes;
        return found;
    }
    medley_status_t status = med_shmem_read(self, shmem, &made);
    if (status == MEDLEY_OK) {
        record->set = made.attributes;
        record->resource = made.place << RESOURCE_INDEX_BITS | made.place_index;
        record->size = made.size_bytes;
        record->address = (void *)(uintptr_t)made.address;
    }
    return status;
}

void
mrapi_shmem_get_attribute(mrapi_shmem_hndl_t shmem,
                          mrapi_uint_t attribute_num,
                          void *attribute,
                          size_t attribute_size,
                          mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    mrapi_shmem_attributes_t record;
    *status = status_of(record_of(self, shmem, &record), MRAPI_ERR_SHM_INVALID);
    if (*status == MRAPI_SUCCESS) {
        *status =
            med_attributes_get(&attribute_kind, &record, attribute_num, attribute, attribute_size);
    }
}

/* ---- Create, get, delete --------------------------------------------------------------------- */

static mrapi_status_t
list_check(const med_self *self, const mrapi_node_t *nodes, mrapi_uint_t count)
{
    if (!nodes && count > 0) {
        return MRAPI_ERR_PARAMETER;
    }
    if (count > self->system->limits.nodes) {
        med_limits_report(&self->system->limits, MED_LIMIT_NODES);
        return MRAPI_ERR_SHM_NODES_INCOMPAT;
    }
    for (mrapi_uint_t i = 0; i < count; i++) {
        if (nodes[i] == MRAPI_NODE_INVALID) {
            return MRAPI_ERR_SHM_NODES_INCOMPAT;
        }
    }
    return MRAPI_SUCCESS;
}

static mrapi_status_t
arguments_check(const med_self *self,
                const med_shmem_request *request,
                const mrapi_shmem_attributes_t *attributes,
                mrapi_uint_t attr_size)
{
    if (!med_object_number_good(request->number)) {
        return MRAPI_ERR_SHM_ID_INVALID;
    }
    bool record_good = !attributes || med_attributes_good(&attribute_kind, attributes);
    bool size_good = attr_size == 0 || attr_size == sizeof *attributes;
    if (request->size_bytes == 0 || !record_good || !size_good) {
        return MRAPI_ERR_PARAMETER;
    }
    return list_check(self, request->nodes, request->node_count);
}

/* Those of a good record. */
static void
attributes_take(med_shmem_request *request, const mrapi_shmem_attributes_t *attributes)
{
    request->attributes = med_attributes_flags(&attribute_kind, attributes);
    request->place = attributes->resource >> RESOURCE_INDEX_BITS;
    request->place_index = attributes->resource & ((1u << RESOURCE_INDEX_BITS) - 1);
    request->address = (uintptr_t)attributes->address;
}

mrapi_shmem_hndl_t
mrapi_shmem_create(mrapi_shmem_id_t shmem_id,
                   mrapi_uint_t size,
                   const mrapi_node_t *nodes,
                   mrapi_uint_t nodes_size,
                   const mrapi_shmem_attributes_t *attributes,
                   mrapi_uint_t attr_size,
                   mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    med_handle handle = MRAPI_RETURN_VALUE_INVALID;
    if (!self) {
        return handle;
    }
    med_shmem_request request = {
        .number = shmem_id, .size_bytes = size, .nodes = nodes, .node_count = nodes_size};
    *status = arguments_check(self, &request, attributes, attr_size);
    if (*status == MRAPI_SUCCESS) {
        attributes_take(&request, attributes ? attributes : &standard);
        *status = status_of_create(med_shmem_create(self, &request, &handle));
    }
    return handle;
}

mrapi_shmem_hndl_t
mrapi_shmem_get(mrapi_shmem_id_t shmem_id, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    med_handle handle = MRAPI_RETURN_VALUE_INVALID;
    if (!self) {
        return handle;
    }
    medley_status_t result = MEDLEY_ERR_NOT_FOUND;
    if (shmem_id <= MED_OBJECT_USER_MAX) {
        result = med_shmem_get(self, shmem_id, &handle);
    }
    if (result == MEDLEY_ERR_NOT_FOUND && shmem_id <= MED_OBJECT_USER_MAX) {
        result = med_heap_get(self, shmem_id, &handle);
    }
    *status = result == MEDLEY_ERR_NOT_FOUND ? MRAPI_ERR_SHM_ID_INVALID : status_of_sharing(result);
    return handle;
}

void
mrapi_shmem_delete(mrapi_shmem_hndl_t shmem, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self) {
        *status =
            status_of(med_handle_kind_of(shmem) == MED_HANDLE_HEAP ? med_heap_delete(self, shmem)
                                                                   : med_shmem_delete(self, shmem),
                      MRAPI_ERR_SHM_INVALID);
    }
}

/* ---- Attach and detach ----------------------------------------------------------------------- */

void *
mrapi_shmem_attach(mrapi_shmem_hndl_t shmem, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return NULL;
    }
    void *address = NULL;
    uint32_t size_bytes;
    *status = status_of_sharing(med_handle_kind_of(shmem) == MED_HANDLE_HEAP
                                    ? med_heap_read(self, shmem, &address, &size_bytes)
                                    : med_shmem_attach(self, shmem, &address));
    return address;
}

void
mrapi_shmem_detach(mrapi_shmem_hndl_t shmem, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    void *address;
    uint32_t size_bytes;
    medley_status_t result = med_handle_kind_of(shmem) == MED_HANDLE_HEAP
                                 ? med_heap_read(self, shmem, &address, &size_bytes)
                                 : med_shmem_detach(self, shmem);
    *status = result == MEDLEY_ERR_NOT_OWNER ? MRAPI_ERR_SHM_NOTATTACHED
                                             : status_of(result, MRAPI_ERR_SHM_INVALID);
}

/* ---- Heap memory ----------------------------------------------------------------------------- */

/* A shared memory of all processes, attached at once; or none. By itself: the other kind, which is
 * the fast one, needs neither its room on the stack nor its registers. */
static __attribute__((noinline)) mrapi_shmem_hndl_t
create_attached(med_self *self,
                mrapi_shmem_id_t key,
                mrapi_uint_t size,
                mrapi_shmem_attributes_t *attributes,
                mrapi_status_t *status)
{
    med_handle handle = MRAPI_RETURN_VALUE_INVALID;
    med_shmem_request request = {.number = key, .size_bytes = size};
    attributes_take(&request,
                    med_attributes_good(&attribute_kind, attributes) ? attributes : &standard);
    *status =
        status_of_create(med_shmem_create_attached(self, &request, &handle, &attributes->mem_addr));
    return handle;
}

mrapi_shmem_hndl_t
mrapi_shmem_create_malloc(mrapi_shmem_id_t key,
                          mrapi_uint_t size,
                          mrapi_shmem_attributes_t *attributes,
                          mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return MRAPI_RETURN_VALUE_INVALID;
    }
    if (!med_object_number_good(key)) {
        *status = MRAPI_ERR_SHM_ID_INVALID;
        return MRAPI_RETURN_VALUE_INVALID;
    }
    if (!attributes || size == 0) {
        *status = MRAPI_ERR_PARAMETER;
        return MRAPI_RETURN_VALUE_INVALID;
    }
    if (!attributes->use_malloc) {
        return create_attached(self, key, size, attributes, status);
    }
    med_handle handle = MRAPI_RETURN_VALUE_INVALID;
    *status = status_of_create(med_heap_create(self, key, size, &attributes->mem_addr, &handle));
    return handle;
}
