/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of mutexes. */
#include <stdint.h>

#include "medley/medley.h"
#include "mrapi/api.h"
#include "mrapi/attributes.h"
#include "mrapi/mutex.h"

_Static_assert(MRAPI_MUTEX_ID_ANY == MED_OBJECT_ANY, "passed through");
_Static_assert(MRAPI_MAX_USER_MUTEX_ID == MED_OBJECT_USER_MAX, "passed through");

#define ATTRIBUTES_MARK 0x4d550000u

static const mrapi_mutex_attributes_t standard = {.set = ATTRIBUTES_MARK | MED_MUTEX_DOMAIN_SHARED};

static const med_attribute attributes_known[] = {
    MED_ATTRIBUTE_BOOLEAN(MRAPI_MUTEX_RECURSIVE, MED_MUTEX_RECURSIVE),
    MED_ATTRIBUTE_BOOLEAN(MRAPI_ERROR_EXT, MED_MUTEX_ERROR_EXT),
    MED_ATTRIBUTE_BOOLEAN(MRAPI_DOMAIN_SHARED, MED_MUTEX_DOMAIN_SHARED),
    MED_ATTRIBUTE_BOOLEAN(MEDLEY_MUTEX_PRIORITY_INHERITANCE, MED_MUTEX_PRIORITY_INHERITANCE),
};

static const med_attribute_kind attribute_kind = MED_ATTRIBUTE_KIND(attributes_known, standard);

/* ---- Translation ----------------------------------------------------------------------------- */

static const med_api_object face = {
    .attributes = &attribute_kind,
    .codes = {.id_invalid = MRAPI_ERR_MUTEX_ID_INVALID,
              .exists = MRAPI_ERR_MUTEX_EXISTS,
              .limit = MRAPI_ERR_MUTEX_LIMIT,
              .locked = MRAPI_ERR_MUTEX_LOCKED,
              .deleted = MRAPI_ERR_MUTEX_DELETED,
              .not_locked = MRAPI_ERR_MUTEX_NOTLOCKED,
              .not_valid = MRAPI_ERR_MUTEX_NOTVALID,
              .invalid = MRAPI_ERR_MUTEX_INVALID},
    .find = med_mutex_get,
    .attributes_of = med_mutex_attributes,
    .remove = med_mutex_delete,
};

static mrapi_status_t
status_of(medley_status_t status, mrapi_status_t busy, mrapi_status_t exists)
{
    return med_api_status(&face.codes, status, busy, exists);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

void
mrapi_mutex_init_attributes(mrapi_mutex_attributes_t *attributes, mrapi_status_t *status)
{
    med_api_attributes_init(&attribute_kind, attributes, status);
}

void
mrapi_mutex_set_attribute(mrapi_mutex_attributes_t *attributes,
                          mrapi_uint_t attribute_num,
                          const void *attribute,
                          size_t attr_size,
                          mrapi_status_t *status)
{
    med_api_attribute_set(&attribute_kind, attributes, attribute_num, attribute, attr_size, status);
}

void
mrapi_mutex_get_attribute(mrapi_mutex_hndl_t mutex,
                          mrapi_uint_t attribute_num,
                          void *attribute,
                          size_t attribute_size,
                          mrapi_status_t *status)
{
    med_api_object_attribute_get(&face, mutex, attribute_num, attribute, attribute_size, status);
}

/* ---- Create, get, delete --------------------------------------------------------------------- */

mrapi_mutex_hndl_t
mrapi_mutex_create(mrapi_mutex_id_t mutex_id,
                   const mrapi_mutex_attributes_t *attributes,
                   mrapi_status_t *status)
{
    uint32_t set;
    med_handle handle = MRAPI_RETURN_VALUE_INVALID;
    med_self *self = med_api_object_ask(&face, mutex_id, attributes, &set, status);
    if (self) {
        *status = status_of(med_mutex_create(self, mutex_id, set, &handle), MRAPI_ERR_MUTEX_LOCKED,
                            MRAPI_ERR_MUTEX_EXISTS);
    }
    return handle;
}

mrapi_mutex_hndl_t
mrapi_mutex_get(mrapi_mutex_id_t mutex_id, mrapi_status_t *status)
{
    return med_api_object_get(&face, mutex_id, status);
}

void
mrapi_mutex_delete(mrapi_mutex_hndl_t mutex, mrapi_status_t *status)
{
    med_api_object_delete(&face, mutex, status);
}

/* ---- Lock and unlock ------------------------------------------------------------------------- */

/* The common case of every form of lock. False: the form does the rest, all checks included, out of
 * line, so that this costs no saved register. */
static inline __attribute__((always_inline)) bool
lock_fast(mrapi_mutex_hndl_t mutex, mrapi_key_t *lock_key, mrapi_status_t *status)
{
    med_self *self = med_self_get();
    uint32_t key;
    if (__builtin_expect(!status || !lock_key || !self || !med_mutex_lock_fast(self, mutex, &key),
                         0)) {
        return false;
    }
    *lock_key = key;
    *status = MRAPI_SUCCESS;
    return true;
}

static __attribute__((noinline)) void
lock_until(mrapi_mutex_hndl_t mutex,
           mrapi_key_t *lock_key,
           uint64_t deadline_ns,
           mrapi_status_t busy,
           mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    if (!lock_key) {
        *status = MRAPI_ERR_PARAMETER;
        return;
    }
    uint32_t key;
    medley_status_t result = med_mutex_lock(self, mutex, deadline_ns, &key);
    if (result == MEDLEY_OK) {
        *lock_key = key;
    }
    *status = status_of(result, busy, MRAPI_ERR_MUTEX_LOCKED);
}

static __attribute__((noinline)) void
lock_timed(mrapi_mutex_hndl_t mutex,
           mrapi_key_t *lock_key,
           mrapi_timeout_t timeout,
           mrapi_status_t *status)
{
    lock_until(mutex, lock_key, med_api_deadline_ns(timeout), MRAPI_TIMEOUT, status);
}

void
mrapi_mutex_lock(mrapi_mutex_hndl_t mutex,
                 mrapi_key_t *lock_key,
                 mrapi_timeout_t timeout,
                 mrapi_status_t *status)
{
    if (!lock_fast(mutex, lock_key, status)) {
        lock_timed(mutex, lock_key, timeout, status);
    }
}

mrapi_boolean_t
mrapi_mutex_trylock(mrapi_mutex_hndl_t mutex, mrapi_key_t *lock_key, mrapi_status_t *status)
{
    if (lock_fast(mutex, lock_key, status)) {
        return MRAPI_TRUE;
    }
    lock_until(mutex, lock_key, 0, MRAPI_ERR_MUTEX_LOCKED, status);
    return status && *status == MRAPI_SUCCESS ? MRAPI_TRUE : MRAPI_FALSE;
}

void
medley_mutex_lock_until_ns(mrapi_mutex_hndl_t mutex,
                           mrapi_key_t *lock_key,
                           uint64_t deadline_ns,
                           mrapi_status_t *status)
{
    if (!lock_fast(mutex, lock_key, status)) {
        lock_until(mutex, lock_key, deadline_ns, MRAPI_TIMEOUT, status);
    }
}

static mrapi_status_t
status_of_unlock(medley_status_t result)
{
    return result == MEDLEY_ERR_CORRUPT
               ? MRAPI_ERR_MUTEX_KEY
               : status_of(result, MRAPI_ERR_MUTEX_LOCKORDER, MRAPI_ERR_MUTEX_LOCKED);
}

static __attribute__((noinline)) void
unlock(mrapi_mutex_hndl_t mutex, const mrapi_key_t *lock_key, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self) {
        *status = lock_key ? status_of_unlock(med_mutex_unlock(self, mutex, *lock_key))
                           : MRAPI_ERR_PARAMETER;
    }
}

void
mrapi_mutex_unlock(mrapi_mutex_hndl_t mutex, const mrapi_key_t *lock_key, mrapi_status_t *status)
{
    med_self *self = med_self_get();
    if (__builtin_expect(
            status && lock_key && self && med_mutex_unlock_fast(self, mutex, *lock_key), 1)) {
        *status = MRAPI_SUCCESS;
    } else {
        unlock(mutex, lock_key, status);
    }
}
