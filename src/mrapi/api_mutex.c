/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of mutexes. */
#include <stdint.h>

#include "medley/medley.h"
#include "mrapi/api.h"
#include "mrapi/mutex.h"

_Static_assert(MRAPI_MUTEX_ID_ANY == MED_MUTEX_ANY, "passed through");
_Static_assert(MRAPI_MAX_USER_MUTEX_ID == MED_MUTEX_USER_MAX, "passed through");

#define ATTRIBUTES_STANDARD MED_MUTEX_DOMAIN_SHARED

/* A record that was initialised says so in its upper half. */
#define RECORD_MARK 0x4d550000u
#define RECORD_MARK_MASK 0xffff0000u

static bool
record_is_good(const mrapi_mutex_attributes_t *record)
{
    return (record->set & RECORD_MARK_MASK) == RECORD_MARK;
}

/* ---- Translation ----------------------------------------------------------------------------- */

/* What the same inner result means to each call: `busy` and `exists` differ, the rest is common. */
static mrapi_status_t
status_of(medley_status_t status, mrapi_status_t busy, mrapi_status_t exists)
{
    switch (status) {
    case MEDLEY_OK:
        return MRAPI_SUCCESS;
    case MEDLEY_TIMEOUT:
        return MRAPI_TIMEOUT;
    case MEDLEY_BUSY:
        return busy;
    case MEDLEY_ERR_EXISTS:
        return exists;
    case MEDLEY_ERR_LIMIT:
        return MRAPI_ERR_MUTEX_LIMIT;
    case MEDLEY_ERR_NOT_FOUND:
        return MRAPI_ERR_MUTEX_DELETED;
    case MEDLEY_ERR_ACCESS:
        return MRAPI_ERR_DOMAIN_NOTSHARED;
    case MEDLEY_ERR_NOT_OWNER:
        return MRAPI_ERR_MUTEX_NOTLOCKED;
    case MEDLEY_ERR_OWNER_DIED:
        return MRAPI_ERR_MUTEX_NOTVALID;
    case MEDLEY_ERR_NOT_SUPPORTED:
        return MRAPI_ERR_NOT_SUPPORTED;
    default:
        return MRAPI_ERR_MUTEX_INVALID;
    }
}

/* ---- Attributes ------------------------------------------------------------------------------ */

/* The flag of an attribute number, or 0. */
static uint32_t
flag_of(mrapi_uint_t attribute_num)
{
    switch (attribute_num) {
    case MRAPI_MUTEX_RECURSIVE:
        return MED_MUTEX_RECURSIVE;
    case MRAPI_ERROR_EXT:
        return MED_MUTEX_ERROR_EXT;
    case MRAPI_DOMAIN_SHARED:
        return MED_MUTEX_DOMAIN_SHARED;
    case MEDLEY_MUTEX_PRIORITY_INHERITANCE:
        return MED_MUTEX_PRIORITY_INHERITANCE;
    default:
        return 0;
    }
}

static mrapi_status_t
attribute_check(const void *record, const void *value, mrapi_uint_t attribute_num, size_t size)
{
    if (!record || !value) {
        return MRAPI_ERR_PARAMETER;
    }
    if (!flag_of(attribute_num)) {
        return MRAPI_ERR_ATTR_NUM;
    }
    return size == sizeof(mrapi_boolean_t) ? MRAPI_SUCCESS : MRAPI_ERR_ATTR_SIZE;
}

void
mrapi_mutex_init_attributes(mrapi_mutex_attributes_t *attributes, mrapi_status_t *status)
{
    if (!status || !med_api_self(status)) {
        return;
    }
    if (!attributes) {
        *status = MRAPI_ERR_PARAMETER;
        return;
    }
    attributes->set = RECORD_MARK | ATTRIBUTES_STANDARD;
    *status = MRAPI_SUCCESS;
}

void
mrapi_mutex_set_attribute(mrapi_mutex_attributes_t *attributes,
                          mrapi_uint_t attribute_num,
                          const void *attribute,
                          size_t attr_size,
                          mrapi_status_t *status)
{
    if (!status || !med_api_self(status)) {
        return;
    }
    *status = attribute_check(attributes, attribute, attribute_num, attr_size);
    if (*status == MRAPI_SUCCESS && !record_is_good(attributes)) {
        *status = MRAPI_ERR_PARAMETER;
    }
    if (*status != MRAPI_SUCCESS) {
        return;
    }
    uint32_t flag = flag_of(attribute_num);
    bool wanted = *(const mrapi_boolean_t *)attribute != MRAPI_FALSE;
    attributes->set = wanted ? attributes->set | flag : attributes->set & ~flag;
}

void
mrapi_mutex_get_attribute(mrapi_mutex_hndl_t mutex,
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
    *status = status_of(med_mutex_attributes(self, mutex, &set), MRAPI_SUCCESS, MRAPI_SUCCESS);
    if (*status == MRAPI_SUCCESS) {
        *status = attribute_check(self, attribute, attribute_num, attribute_size);
    }
    if (*status == MRAPI_SUCCESS) {
        *(mrapi_boolean_t *)attribute = set & flag_of(attribute_num) ? MRAPI_TRUE : MRAPI_FALSE;
    }
}

/* ---- Create, get, delete --------------------------------------------------------------------- */

mrapi_mutex_hndl_t
mrapi_mutex_create(mrapi_mutex_id_t mutex_id,
                   const mrapi_mutex_attributes_t *attributes,
                   mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    med_handle handle = MRAPI_RETURN_VALUE_INVALID;
    if (!self) {
        return handle;
    }
    if (mutex_id > MRAPI_MAX_USER_MUTEX_ID && mutex_id != MRAPI_MUTEX_ID_ANY) {
        *status = MRAPI_ERR_MUTEX_ID_INVALID;
        return handle;
    }
    if (attributes && !record_is_good(attributes)) {
        *status = MRAPI_ERR_PARAMETER;
        return handle;
    }
    uint32_t set = attributes ? attributes->set & ~RECORD_MARK_MASK : ATTRIBUTES_STANDARD;
    *status = status_of(med_mutex_create(self, mutex_id, set, &handle), MRAPI_ERR_MUTEX_LOCKED,
                        MRAPI_ERR_MUTEX_EXISTS);
    return handle;
}

mrapi_mutex_hndl_t
mrapi_mutex_get(mrapi_mutex_id_t mutex_id, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    med_handle handle = MRAPI_RETURN_VALUE_INVALID;
    if (!self) {
        return handle;
    }
    medley_status_t result = mutex_id > MRAPI_MAX_USER_MUTEX_ID
                                 ? MEDLEY_ERR_NOT_FOUND
                                 : med_mutex_get(self, mutex_id, &handle);
    *status = result == MEDLEY_ERR_NOT_FOUND
                  ? MRAPI_ERR_MUTEX_ID_INVALID
                  : status_of(result, MRAPI_ERR_MUTEX_LOCKED, MRAPI_ERR_MUTEX_EXISTS);
    return handle;
}

void
mrapi_mutex_delete(mrapi_mutex_hndl_t mutex, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self) {
        *status = status_of(med_mutex_delete(self, mutex), MRAPI_ERR_MUTEX_LOCKED,
                            MRAPI_ERR_MUTEX_LOCKED);
    }
}

/* ---- Lock and unlock ------------------------------------------------------------------------- */

static void
lock_until(med_self *self,
           mrapi_mutex_hndl_t mutex,
           mrapi_key_t *lock_key,
           uint64_t deadline_ns,
           mrapi_status_t busy,
           mrapi_status_t *status)
{
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

/* The common case of every form of lock. */
static inline bool
lock_fast(med_self *self, mrapi_mutex_hndl_t mutex, mrapi_key_t *lock_key, mrapi_status_t *status)
{
    uint32_t key;
    if (__builtin_expect(!lock_key || !med_mutex_lock_fast(self, mutex, &key), 0)) {
        return false;
    }
    *lock_key = key;
    *status = MRAPI_SUCCESS;
    return true;
}

void
mrapi_mutex_lock(mrapi_mutex_hndl_t mutex,
                 mrapi_key_t *lock_key,
                 mrapi_timeout_t timeout,
                 mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self && !lock_fast(self, mutex, lock_key, status)) {
        lock_until(self, mutex, lock_key, med_api_deadline_ns(timeout), MRAPI_TIMEOUT, status);
    }
}

mrapi_boolean_t
mrapi_mutex_trylock(mrapi_mutex_hndl_t mutex, mrapi_key_t *lock_key, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return MRAPI_FALSE;
    }
    if (!lock_fast(self, mutex, lock_key, status)) {
        lock_until(self, mutex, lock_key, 0, MRAPI_ERR_MUTEX_LOCKED, status);
    }
    return *status == MRAPI_SUCCESS ? MRAPI_TRUE : MRAPI_FALSE;
}

void
medley_mutex_lock_until_ns(mrapi_mutex_hndl_t mutex,
                           mrapi_key_t *lock_key,
                           uint64_t deadline_ns,
                           mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self && !lock_fast(self, mutex, lock_key, status)) {
        lock_until(self, mutex, lock_key, deadline_ns, MRAPI_TIMEOUT, status);
    }
}

static mrapi_status_t
status_of_unlock(medley_status_t result)
{
    return result == MEDLEY_ERR_CORRUPT
               ? MRAPI_ERR_MUTEX_KEY
               : status_of(result, MRAPI_ERR_MUTEX_LOCKORDER, MRAPI_ERR_MUTEX_LOCKED);
}

void
mrapi_mutex_unlock(mrapi_mutex_hndl_t mutex, const mrapi_key_t *lock_key, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    if (!lock_key) {
        *status = MRAPI_ERR_PARAMETER;
        return;
    }
    if (__builtin_expect(med_mutex_unlock_fast(self, mutex, *lock_key), 1)) {
        *status = MRAPI_SUCCESS;
    } else {
        *status = status_of_unlock(med_mutex_unlock(self, mutex, *lock_key));
    }
}
