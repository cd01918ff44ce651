/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of semaphores. */
#include <stdint.h>

#include "medley/medley.h"
#include "mrapi/api.h"
#include "mrapi/attributes.h"
#include "mrapi/sem.h"

_Static_assert(MRAPI_SEM_ID_ANY == MED_OBJECT_ANY, "passed through");
_Static_assert(MRAPI_MAX_USER_SEM_ID == MED_OBJECT_USER_MAX, "passed through");

#define ATTRIBUTES_MARK 0x53450000u

static const mrapi_sem_attributes_t standard = {.set = ATTRIBUTES_MARK | MED_OBJECT_DOMAIN_SHARED};

static const med_attribute attributes_known[] = {
    MED_ATTRIBUTE_BOOLEAN(MRAPI_ERROR_EXT, MED_OBJECT_ERROR_EXT),
    MED_ATTRIBUTE_BOOLEAN(MRAPI_DOMAIN_SHARED, MED_OBJECT_DOMAIN_SHARED),
};

static const med_attribute_kind attribute_kind = MED_ATTRIBUTE_KIND(attributes_known, standard);

static const med_api_object face = {
    .attributes = &attribute_kind,
    .codes = {.id_invalid = MRAPI_ERR_SEM_ID_INVALID,
              .exists = MRAPI_ERR_SEM_EXISTS,
              .limit = MRAPI_ERR_SEM_LIMIT,
              .locked = MRAPI_ERR_SEM_LOCKED,
              .deleted = MRAPI_ERR_SEM_DELETED,
              .not_locked = MRAPI_ERR_SEM_NOTLOCKED,
              .not_valid = MRAPI_ERR_SEM_INVALID,
              .invalid = MRAPI_ERR_SEM_INVALID},
    .find = med_sem_get,
    .attributes_of = med_sem_attributes,
    .remove = med_sem_delete,
};

static mrapi_status_t
status_of(medley_status_t status, mrapi_status_t busy)
{
    return med_api_status(&face.codes, status, busy, MRAPI_ERR_SEM_LOCKED);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

void
mrapi_sem_init_attributes(mrapi_sem_attributes_t *attributes, mrapi_status_t *status)
{
    med_api_attributes_init(&attribute_kind, attributes, status);
}

void
mrapi_sem_set_attribute(mrapi_sem_attributes_t *attributes,
                        mrapi_uint_t attribute_num,
                        const void *attribute,
                        size_t attr_size,
                        mrapi_status_t *status)
{
    med_api_attribute_set(&attribute_kind, attributes, attribute_num, attribute, attr_size, status);
}

void
mrapi_sem_get_attribute(mrapi_sem_hndl_t sem,
                        mrapi_uint_t attribute_num,
                        void *attribute,
                        size_t attribute_size,
                        mrapi_status_t *status)
{
    med_api_object_attribute_get(&face, sem, attribute_num, attribute, attribute_size, status);
}

/* ---- Create, get, delete --------------------------------------------------------------------- */

mrapi_sem_hndl_t
mrapi_sem_create(mrapi_sem_id_t sem_id,
                 const mrapi_sem_attributes_t *attributes,
                 mrapi_uint_t shared_lock_limit,
                 mrapi_status_t *status)
{
    uint32_t set;
    med_handle handle = MRAPI_RETURN_VALUE_INVALID;
    med_self *self = med_api_object_ask(&face, sem_id, attributes, &set, status);
    if (self) {
        medley_status_t result = med_sem_create(self, sem_id, set, shared_lock_limit, &handle);
        *status =
            result == MEDLEY_ERR_ARGUMENT
                ? MRAPI_ERR_SEM_LOCKLIMIT
                : med_api_status(&face.codes, result, MRAPI_ERR_SEM_LOCKED, MRAPI_ERR_SEM_EXISTS);
    }
    return handle;
}

mrapi_sem_hndl_t
mrapi_sem_get(mrapi_sem_id_t sem_id, mrapi_status_t *status)
{
    return med_api_object_get(&face, sem_id, status);
}

void
mrapi_sem_delete(mrapi_sem_hndl_t sem, mrapi_status_t *status)
{
    med_api_object_delete(&face, sem, status);
}

/* ---- Lock and unlock ------------------------------------------------------------------------- */

static inline void
lock_until(med_self *self, mrapi_sem_hndl_t sem, uint64_t deadline_ns, mrapi_status_t *status)
{
    *status = status_of(med_sem_lock(self, sem, deadline_ns), MRAPI_TIMEOUT);
}

void
mrapi_sem_lock(mrapi_sem_hndl_t sem, mrapi_timeout_t timeout, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    if (__builtin_expect(med_sem_lock_fast(self, sem), 1)) {
        *status = MRAPI_SUCCESS;
    } else {
        lock_until(self, sem, med_api_deadline_ns(timeout), status);
    }
}

mrapi_boolean_t
mrapi_sem_trylock(mrapi_sem_hndl_t sem, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return MRAPI_FALSE;
    }
    *status = med_sem_lock_fast(self, sem)
                  ? MRAPI_SUCCESS
                  : status_of(med_sem_lock(self, sem, 0), MRAPI_ERR_SEM_LOCKED);
    return *status == MRAPI_SUCCESS ? MRAPI_TRUE : MRAPI_FALSE;
}

void
medley_sem_lock_until_ns(mrapi_sem_hndl_t sem, uint64_t deadline_ns, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    if (med_sem_lock_fast(self, sem)) {
        *status = MRAPI_SUCCESS;
    } else {
        lock_until(self, sem, deadline_ns, status);
    }
}

void
mrapi_sem_unlock(mrapi_sem_hndl_t sem, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self) {
        *status = __builtin_expect(med_sem_unlock_fast(self, sem), 1)
                      ? MRAPI_SUCCESS
                      : status_of(med_sem_unlock(self, sem), MRAPI_ERR_SEM_LOCKED);
    }
}
