/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of remote memory. */
#include <stdint.h>
#include <string.h>

#include "mrapi/api.h"
#include "mrapi/attributes.h"
#include "mrapi/rmem.h"
#include "mrapi/rmem_window.h"

_Static_assert(MRAPI_RMEM_ID_ANY == MED_OBJECT_ANY, "passed through");
_Static_assert(MRAPI_MAX_USER_RMEM_ID == MED_OBJECT_USER_MAX, "passed through");
_Static_assert((int)MRAPI_RMEM_DMA == MED_RMEM_DMA, "passed through");
_Static_assert((int)MRAPI_RMEM_SWCACHE == MED_RMEM_SWCACHE, "passed through");
_Static_assert((int)MRAPI_RMEM_DUMMY == MED_RMEM_PLAIN, "passed through");
_Static_assert((int)MRAPI_RMEM_ATYPE_ANY == MED_RMEM_ANY, "passed through");

#define ATTRIBUTES_MARK 0x524d0000u

static const mrapi_rmem_attributes_t standard = {.set = ATTRIBUTES_MARK | MED_RMEM_DOMAIN_SHARED};

static const med_attribute attributes_known[] = {
    MED_ATTRIBUTE_BOOLEAN(MRAPI_ERROR_EXT, MED_RMEM_ERROR_EXT),
    MED_ATTRIBUTE_BOOLEAN(MRAPI_DOMAIN_SHARED, MED_RMEM_DOMAIN_SHARED),
};

static const med_attribute_kind attribute_kind = MED_ATTRIBUTE_KIND(attributes_known, standard);

/* ---- Translation ----------------------------------------------------------------------------- */

/* What the same inner result means to each call; the rest is common. Of what a call says nothing,
 * the remote memory is not what it was. */
typedef struct meaning {
    mrapi_status_t busy;
    mrapi_status_t exists;
    mrapi_status_t not_found;
    mrapi_status_t not_supported;
    mrapi_status_t limit;
    mrapi_status_t system;
} meaning;

static const meaning of_create = {
    .busy = MRAPI_ERR_RMEM_CONFLICT, .exists = MRAPI_ERR_RMEM_EXISTS, .limit = MRAPI_ERR_MEM_LIMIT};
static const meaning of_get = {.not_found = MRAPI_ERR_RMEM_ID_INVALID,
                               .not_supported = MRAPI_ERR_RMEM_ATYPE};
static const meaning of_attach = {.busy = MRAPI_ERR_RMEM_CONFLICT,
                                  .exists = MRAPI_ERR_RMEM_ATTACHED,
                                  .not_supported = MRAPI_ERR_RMEM_ATYPE,
                                  .limit = MRAPI_ERR_MEM_LIMIT,
                                  .system = MRAPI_ERR_NOT_SUPPORTED};
static const meaning of_others = {.busy = MRAPI_ERR_RMEM_ATTACH,
                                  .not_found = MRAPI_ERR_RMEM_NOTATTACHED,
                                  .not_supported = MRAPI_ERR_NOT_SUPPORTED};
static const meaning of_transfer = {.busy = MRAPI_ERR_RMEM_BLOCKED,
                                    .not_found = MRAPI_ERR_RMEM_NOTATTACHED,
                                    .limit = MRAPI_ERR_REQUEST_LIMIT};

static mrapi_status_t
meant(mrapi_status_t code)
{
    return code == MRAPI_SUCCESS ? MRAPI_ERR_RMEM_INVALID : code;
}

static mrapi_status_t
status_of(medley_status_t status, const meaning *means)
{
    switch (status) {
    case MEDLEY_OK:
        return MRAPI_SUCCESS;
    case MEDLEY_TIMEOUT:
        return MRAPI_TIMEOUT;
    case MEDLEY_BUSY:
        return meant(means->busy);
    case MEDLEY_ERR_EXISTS:
        return meant(means->exists);
    case MEDLEY_ERR_NOT_FOUND:
        return meant(means->not_found);
    case MEDLEY_ERR_LIMIT:
        return meant(means->limit);
    case MEDLEY_ERR_NOT_SUPPORTED:
        return meant(means->not_supported);
    case MEDLEY_ERR_NO_MEMORY:
        return MRAPI_ERR_MEM_LIMIT;
    case MEDLEY_ERR_ACCESS:
        return MRAPI_ERR_DOMAIN_NOTSHARED;
    case MEDLEY_ERR_NOT_OWNER:
        return MRAPI_ERR_RMEM_NOTOWNER;
    case MEDLEY_ERR_SYSTEM:
        return meant(means->system);
    default:
        return MRAPI_ERR_RMEM_INVALID;
    }
}

/* ---- Attributes ------------------------------------------------------------------------------ */

void
mrapi_rmem_init_attributes(mrapi_rmem_attributes_t *attributes, mrapi_status_t *status)
{
    med_api_attributes_init(&attribute_kind, attributes, status);
}

void
mrapi_rmem_set_attribute(mrapi_rmem_attributes_t *attributes,
                         mrapi_uint_t attribute_num,
                         const void *attribute,
                         size_t attr_size,
                         mrapi_status_t *status)
{
    med_api_attribute_set(&attribute_kind, attributes, attribute_num, attribute, attr_size, status);
}

void
mrapi_rmem_get_attribute(mrapi_rmem_hndl_t rmem,
                         mrapi_uint_t attribute_num,
                         void *attribute,
                         size_t attribute_size,
                         mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    uint32_t set;
    *status = status_of(med_rmem_attributes(self, rmem, &set), &of_others);
    if (*status == MRAPI_SUCCESS) {
        const mrapi_rmem_attributes_t record = {.set = set};
        *status =
            med_attributes_get(&attribute_kind, &record, attribute_num, attribute, attribute_size);
    }
}

/* ---- Create, get, delete --------------------------------------------------------------------- */

static mrapi_status_t
create_check(mrapi_rmem_id_t rmem_id,
             const void *mem,
             mrapi_rmem_atype_t access_type,
             const mrapi_rmem_attributes_t *attributes,
             mrapi_uint_t size)
{
    if (!med_object_number_good(rmem_id)) {
        return MRAPI_ERR_RMEM_ID_INVALID;
    }
    if ((unsigned)access_type >= MED_RMEM_ACCESS_COUNT) {
        return MRAPI_ERR_RMEM_TYPENOTVALID;
    }
    bool good = mem && size && size <= UINTPTR_MAX - (uintptr_t)mem &&
                (!attributes || med_attributes_good(&attribute_kind, attributes));
    return good ? MRAPI_SUCCESS : MRAPI_ERR_PARAMETER;
}

mrapi_rmem_hndl_t
mrapi_rmem_create(mrapi_rmem_id_t rmem_id,
                  const void *mem,
                  mrapi_rmem_atype_t access_type,
                  const mrapi_rmem_attributes_t *attributes,
                  mrapi_uint_t size,
                  mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    med_handle handle = MRAPI_RETURN_VALUE_INVALID;
    if (!self) {
        return handle;
    }
    *status = create_check(rmem_id, mem, access_type, attributes, size);
    if (*status == MRAPI_SUCCESS) {
        const med_rmem_request request = {
            .number = rmem_id,
            .memory =
                (void *)(uintptr_t)mem, /* the standard's const: create itself writes nothing */
            .size_bytes = size,
            .access = (med_rmem_access)access_type,
            .attributes = med_attributes_flags(&attribute_kind, attributes)};
        *status = status_of(med_rmem_create(self, &request, &handle), &of_create);
    }
    return handle;
}

/* For who uses one, not for who makes it. */
static mrapi_status_t
access_check(mrapi_rmem_atype_t access_type)
{
    if ((unsigned)access_type >= MED_RMEM_ACCESS_COUNT) {
        return MRAPI_ERR_RMEM_TYPENOTVALID;
    }
    return access_type == MRAPI_RMEM_ATYPE_ANY ? MRAPI_ERR_RMEM_ATYPE_NOTVALID : MRAPI_SUCCESS;
}

mrapi_rmem_hndl_t
mrapi_rmem_get(mrapi_rmem_id_t rmem_id, mrapi_rmem_atype_t access_type, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    med_handle handle = MRAPI_RETURN_VALUE_INVALID;
    if (!self) {
        return handle;
    }
    *status = access_check(access_type);
    if (*status == MRAPI_SUCCESS) {
        medley_status_t result =
            rmem_id > MRAPI_MAX_USER_RMEM_ID
                ? MEDLEY_ERR_NOT_FOUND
                : med_rmem_get(self, rmem_id, (med_rmem_access)access_type, &handle);
        *status = status_of(result, &of_get);
    }
    return handle;
}

void
mrapi_rmem_delete(mrapi_rmem_hndl_t rmem, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self) {
        *status = status_of(med_rmem_delete(self, rmem), &of_others);
    }
}

/* ---- Attach, detach -------------------------------------------------------------------------- */

void
mrapi_rmem_attach(mrapi_rmem_hndl_t rmem, mrapi_rmem_atype_t access_type, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    *status = access_check(access_type);
    if (*status == MRAPI_SUCCESS) {
        *status = status_of(med_rmem_attach(self, rmem, (med_rmem_access)access_type), &of_attach);
    }
}

void
mrapi_rmem_detach(mrapi_rmem_hndl_t rmem, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self) {
        *status = status_of(med_rmem_detach(self, rmem), &of_others);
    }
}

/* ---- Transfers ------------------------------------------------------------------------------- */

/* Can it be done, and through which window? */
static mrapi_status_t
transfer_check(med_self *self,
               mrapi_rmem_hndl_t rmem,
               const med_rmem_transfer *transfer,
               med_rmem_window **window)
{
    static const mrapi_status_t codes[] = {[MED_RMEM_FITS] = MRAPI_SUCCESS,
                                           [MED_RMEM_STRIDE_SHORT] = MRAPI_ERR_RMEM_STRIDE,
                                           [MED_RMEM_BEYOND_END] = MRAPI_ERR_RMEM_BUFF_OVERRUN};
    if (!transfer->local || !transfer->row_bytes || !transfer->rows) {
        return MRAPI_ERR_PARAMETER;
    }
    medley_status_t status = med_rmem_window_of(self, rmem, window);
    return status == MEDLEY_OK ? codes[med_rmem_window_fit(*window, transfer)]
                               : status_of(status, &of_transfer);
}

/* The common case: one piece. False: nothing was done. */
static inline __attribute__((always_inline)) bool
transfer_fast(mrapi_rmem_hndl_t rmem, const med_rmem_transfer *transfer, mrapi_status_t *status)
{
    med_self *self = status ? med_self_get() : NULL;
    unsigned char *far = self ? med_rmem_window_piece(self, rmem, transfer) : NULL;
    if (__builtin_expect(!far, 0)) {
        return false;
    }
    unsigned char *near = (unsigned char *)transfer->local + transfer->local_offset;
    *status = MRAPI_SUCCESS;
    memmove(transfer->write ? far : near, transfer->write ? near : far, transfer->row_bytes);
    return true;
}

/* All else, all checks included. */
static void
transfer_any(mrapi_rmem_hndl_t rmem, const med_rmem_transfer *transfer, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    med_rmem_window *window;
    *status = transfer_check(self, rmem, transfer, &window);
    if (*status == MRAPI_SUCCESS) {
        *status = status_of(med_rmem_transfer_run(window, transfer), &of_transfer);
    }
}

/* It is called as the function itself was, so that in the common case nothing goes by the stack for
 * it: the stores of a copy that is under way already stand before any other. */
static __attribute__((noinline)) void
read_any(mrapi_rmem_hndl_t rmem,
         mrapi_uint32_t rmem_offset,
         void *local_buf,
         mrapi_uint32_t local_offset,
         mrapi_uint32_t bytes_per_access,
         mrapi_uint32_t num_strides,
         mrapi_uint32_t rmem_stride,
         mrapi_uint32_t local_stride,
         mrapi_status_t *status)
{
    const med_rmem_transfer transfer = {false,        rmem_offset,      local_buf,
                                        local_offset, bytes_per_access, num_strides,
                                        rmem_stride,  local_stride};
    transfer_any(rmem, &transfer, status);
}

static __attribute__((noinline)) void
write_any(mrapi_rmem_hndl_t rmem,
          mrapi_uint32_t rmem_offset,
          const void *local_buf,
          mrapi_uint32_t local_offset,
          mrapi_uint32_t bytes_per_access,
          mrapi_uint32_t num_strides,
          mrapi_uint32_t rmem_stride,
          mrapi_uint32_t local_stride,
          mrapi_status_t *status)
{
    const med_rmem_transfer transfer = {
        true,         rmem_offset,      (void *)(uintptr_t)local_buf,
        local_offset, bytes_per_access, num_strides,
        rmem_stride,  local_stride};
    transfer_any(rmem, &transfer, status);
}

static void
transfer_start(mrapi_rmem_hndl_t rmem,
               const med_rmem_transfer *transfer,
               mrapi_request_t *request,
               mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    med_rmem_window *window;
    *status = request ? transfer_check(self, rmem, transfer, &window) : MRAPI_ERR_PARAMETER;
    if (*status == MRAPI_SUCCESS) {
        *status = status_of(med_rmem_transfer_start(self, window, transfer, request), &of_transfer);
    }
}

void
mrapi_rmem_read(mrapi_rmem_hndl_t rmem,
                mrapi_uint32_t rmem_offset,
                void *local_buf,
                mrapi_uint32_t local_offset,
                mrapi_uint32_t bytes_per_access,
                mrapi_uint32_t num_strides,
                mrapi_uint32_t rmem_stride,
                mrapi_uint32_t local_stride,
                mrapi_status_t *status)
{
    const med_rmem_transfer transfer = {false,        rmem_offset,      local_buf,
                                        local_offset, bytes_per_access, num_strides,
                                        rmem_stride,  local_stride};
    if (!transfer_fast(rmem, &transfer, status)) {
        read_any(rmem, rmem_offset, local_buf, local_offset, bytes_per_access, num_strides,
                 rmem_stride, local_stride, status);
    }
}

void
mrapi_rmem_write(mrapi_rmem_hndl_t rmem,
                 mrapi_uint32_t rmem_offset,
                 const void *local_buf,
                 mrapi_uint32_t local_offset,
                 mrapi_uint32_t bytes_per_access,
                 mrapi_uint32_t num_strides,
                 mrapi_uint32_t rmem_stride,
                 mrapi_uint32_t local_stride,
                 mrapi_status_t *status)
{
    const med_rmem_transfer transfer = {
        true,         rmem_offset,      (void *)(uintptr_t)local_buf,
        local_offset, bytes_per_access, num_strides,
        rmem_stride,  local_stride};
    if (!transfer_fast(rmem, &transfer, status)) {
        write_any(rmem, rmem_offset, local_buf, local_offset, bytes_per_access, num_strides,
                  rmem_stride, local_stride, status);
    }
}

void
mrapi_rmem_read_i(mrapi_rmem_hndl_t rmem,
                  mrapi_uint32_t rmem_offset,
                  void *local_buf,
                  mrapi_uint32_t local_offset,
                  mrapi_uint32_t bytes_per_access,
                  mrapi_uint32_t num_strides,
                  mrapi_uint32_t rmem_stride,
                  mrapi_uint32_t local_stride,
                  mrapi_request_t *mrapi_request,
                  mrapi_status_t *status)
{
    const med_rmem_transfer transfer = {false,        rmem_offset,      local_buf,
                                        local_offset, bytes_per_access, num_strides,
                                        rmem_stride,  local_stride};
    transfer_start(rmem, &transfer, mrapi_request, status);
}

void
mrapi_rmem_write_i(mrapi_rmem_hndl_t rmem,
                   mrapi_uint32_t rmem_offset,
                   const void *local_buf,
                   mrapi_uint32_t local_offset,
                   mrapi_uint32_t bytes_per_access,
                   mrapi_uint32_t num_strides,
                   mrapi_uint32_t rmem_stride,
                   mrapi_uint32_t local_stride,
                   mrapi_request_t *mrapi_request,
                   mrapi_status_t *status)
{
    const med_rmem_transfer transfer = {
        true,         rmem_offset,      (void *)(uintptr_t)local_buf,
        local_offset, bytes_per_access, num_strides,
        rmem_stride,  local_stride};
    transfer_start(rmem, &transfer, mrapi_request, status);
}

/* ---- Caches ---------------------------------------------------------------------------------- */

void
mrapi_rmem_flush(mrapi_rmem_hndl_t rmem, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self) {
        *status = status_of(med_rmem_flush(self, rmem), &of_others);
    }
}

void
mrapi_rmem_synch(mrapi_rmem_hndl_t rmem, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self) {
        *status = status_of(med_rmem_synch(self, rmem), &of_others);
    }
}

void
mrapi_rmem_sync(mrapi_rmem_hndl_t rmem, mrapi_status_t *status)
{
    mrapi_rmem_synch(rmem, status);
}
