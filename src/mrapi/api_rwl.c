/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of reader/writer locks. */
#include <stdint.h>

#include "medley/medley.h"
#include "mrapi/api.h"
#include "mrapi/attributes.h"
#include "mrapi/rwl.h"

_Static_assert(MRAPI_RWL_ID_ANY == MED_OBJECT_ANY, "passed through");
_Static_assert(MRAPI_MAX_USER_RWL_ID == MED_OBJECT_USER_MAX, "passed through");

#define ATTRIBUTES_MARK 0x52570000u

static const mrapi_rwl_attributes_t standard = {.set = ATTRIBUTES_MARK | MED_OBJECT_DOMAIN_SHARED};

static const med_attribute attributes_known[] = {
    MED_ATTRIBUTE_BOOLEAN(MRAPI_ERROR_EXT, MED_OBJECT_ERROR_EXT),
    MED_ATTRIBUTE_BOOLEAN(MRAPI_DOMAIN_SHARED, MED_OBJECT_DOMAIN_SHARED),
};

static const med_attribute_kind attribute_kind = MED_ATTRIBUTE_KIND(attributes_known, standard);

static const med_api_object face = {
    .attributes = &attribute_kind,
    .codes = {.id_invalid = MRAPI_ERR_RWL_ID_INVALID,
              .exists = MRAPI_ERR_RWL_EXISTS,
              .limit = MRAPI_ERR_RWL_LIMIT,
              .locked = MRAPI_ERR_RWL_LOCKED,
              .deleted = MRAPI_ERR_RWL_DELETED,
              .not_locked = MRAPI_ERR_RWL_NOTLOCKED,
              .not_valid = MRAPI_ERR_RWL_INVALID,
              .invalid = MRAPI_ERR_RWL_INVALID},
    .find = med_rwl_get,
    .attributes_of = med_rwl_attributes,
    .remove = med_rwl_delete,
};

static mrapi_status_t
status_of(medley_status_t status, mrapi_status_t busy)
{
    return med_api_status(&face.codes, status, busy, MRAPI_ERR_RWL_LOCKED);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

void
mrapi_rwl_init_attributes(mrapi_rwl_attributes_t *attributes, mrapi_status_t *status)
{
    med_api_attributes_init(&attribute_kind, attributes, status);
}

void
mrapi_rwl_set_attribute(mrapi_rwl_attributes_t *attributes,
                        mrapi_uint_t attribute_num,
                        const void *attribute,
                        size_t attr_size,
                        mrapi_status_t *status)
{
    med_api_attribute_set(&attribute_kind, attributes, attribute_num, attribute, attr_size, status);
}

void
mrapi_rwl_get_attribute(mrapi_rwl_hndl_t rwl,
                        mrapi_uint_t attribute_num,
                        void *attribute,
                        size_t attribute_size,
                        mrapi_status_t *status)
{
    med_api_object_attribute_get(&face, rwl, attribute_num, attribute, attribute_size, status);
}

/* ---- Create, get, delete --------------------------------------------------------------------- */

mrapi_rwl_hndl_t
mrapi_rwl_create(mrapi_rwl_id_t rwl_id,
                 const mrapi_rwl_attributes_t *attributes,
                 mrapi_uint_t reader_lock_limit,
                 mrapi_status_t *status)
{
    uint32_t set;
    med_handle handle = MRAPI_RETURN_VALUE_INVALID;
    med_self *self = med_api_object_ask(&face, rwl_id, attributes, &set, status);
    if (self) {
        medley_status_t result = med_rwl_create(self, rwl_id, set, reader_lock_limit, &handle);
        *status =
            result == MEDLEY_ERR_ARGUMENT
                ? MRAPI_ERR_PARAMETER
                : med_api_status(&face.codes, result, MRAPI_ERR_RWL_LOCKED, MRAPI_ERR_RWL_EXISTS);
    }
    return handle;
}

mrapi_rwl_hndl_t
mrapi_rwl_get(mrapi_rwl_id_t rwl_id, mrapi_status_t *status)
{
    return med_api_object_get(&face, rwl_id, status);
}

void
mrapi_rwl_delete(mrapi_rwl_hndl_t rwl, mrapi_status_t *status)
{
    med_api_object_delete(&face, rwl, status);
}

/* ---- Lock and unlock ------------------------------------------------------------------------- */

_Static_assert((int)MRAPI_RWL_READER == (int)MED_RWL_READ, "passed through");
_Static_assert((int)MRAPI_RWL_WRITER == (int)MED_RWL_WRITE, "passed through");

static inline bool
is_mode(mrapi_rwl_mode_t mode)
{
    return mode == MRAPI_RWL_READER || mode == MRAPI_RWL_WRITER;
}

/* The common case of every form of lock. */
static inline bool
lock_fast(med_self *self, mrapi_rwl_hndl_t rwl, mrapi_rwl_mode_t mode, mrapi_status_t *status)
{
    if (__builtin_expect(mode != MRAPI_RWL_READER || !med_rwl_read_fast(self, rwl), 0)) {
        return false;
    }
    *status = MRAPI_SUCCESS;
    return true;
}

static mrapi_status_t
lock_until(med_self *self,
           mrapi_rwl_hndl_t rwl,
           mrapi_rwl_mode_t mode,
           uint64_t deadline_ns,
           mrapi_status_t busy)
{
    return is_mode(mode) ? status_of(med_rwl_lock(self, rwl, (med_rwl_mode)mode, deadline_ns), busy)
                         : MRAPI_ERR_PARAMETER;
}

void
mrapi_rwl_lock(mrapi_rwl_hndl_t rwl,
               mrapi_rwl_mode_t mode,
               mrapi_timeout_t timeout,
               mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self && !lock_fast(self, rwl, mode, status)) {
        *status = lock_until(self, rwl, mode, med_api_deadline_ns(timeout), MRAPI_TIMEOUT);
    }
}

mrapi_boolean_t
mrapi_rwl_trylock(mrapi_rwl_hndl_t rwl, mrapi_rwl_mode_t mode, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return MRAPI_FALSE;
    }
    if (!lock_fast(self, rwl, mode, status)) {
        *status = lock_until(self, rwl, mode, 0, MRAPI_ERR_RWL_LOCKED);
    }
    return *status == MRAPI_SUCCESS ? MRAPI_TRUE : MRAPI_FALSE;
}

void
medley_rwl_lock_until_ns(mrapi_rwl_hndl_t rwl,
                         mrapi_rwl_mode_t mode,
                         uint64_t deadline_ns,
                         mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self && !lock_fast(self, rwl, mode, status)) {
        *status = lock_until(self, rwl, mode, deadline_ns, MRAPI_TIMEOUT);
    }
}

void
mrapi_rwl_unlock(mrapi_rwl_hndl_t rwl, mrapi_rwl_mode_t mode, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    if (__builtin_expect(mode == MRAPI_RWL_READER && med_rwl_read_end_fast(self, rwl), 1)) {
        *status = MRAPI_SUCCESS;
    } else if (is_mode(mode)) {
        *status = status_of(med_rwl_unlock(self, rwl, (med_rwl_mode)mode), MRAPI_ERR_RWL_LOCKED);
    } else {
        *status = MRAPI_ERR_PARAMETER;
    }
}
