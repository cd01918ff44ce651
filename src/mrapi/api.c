/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Inner status to MRAPI's, by the codes of a kind; and what the faces do to every kind alike:
 * attribute records, get, delete, asking for an attribute.
 */
#include "mrapi/api.h"

mrapi_status_t
med_api_status(const med_api_codes *codes,
               medley_status_t status,
               mrapi_status_t busy,
               mrapi_status_t exists)
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
        return codes->limit;
    case MEDLEY_ERR_NOT_FOUND:
        return codes->deleted;
    case MEDLEY_ERR_ACCESS:
        return MRAPI_ERR_DOMAIN_NOTSHARED;
    case MEDLEY_ERR_NOT_OWNER:
        return codes->not_locked;
    case MEDLEY_ERR_OWNER_DIED:
        return codes->not_valid;
    case MEDLEY_ERR_NOT_SUPPORTED:
        return MRAPI_ERR_NOT_SUPPORTED;
    default:
        return codes->invalid;
    }
}

/* ---- Records of attributes ------------------------------------------------------------------- */

void
med_api_attributes_init(const med_attribute_kind *kind, void *record, mrapi_status_t *status)
{
    if (status && med_api_self(status)) {
        *status = med_attributes_init(kind, record);
    }
}

void
med_api_attribute_set(const med_attribute_kind *kind,
                      void *record,
                      mrapi_uint_t number,
                      const void *value,
                      size_t value_bytes,
                      mrapi_status_t *status)
{
    if (status && med_api_self(status)) {
        *status = med_attributes_set(kind, record, number, value, value_bytes);
    }
}

/* ---- Objects --------------------------------------------------------------------------------- */

void
med_api_object_attribute_get(const med_api_object *object,
                             med_handle handle,
                             mrapi_uint_t number,
                             void *value,
                             size_t value_bytes,
                             mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return;
    }
    uint32_t set;
    *status = med_api_status(&object->codes, object->attributes_of(self, handle, &set),
                             MRAPI_SUCCESS, MRAPI_SUCCESS);
    if (*status == MRAPI_SUCCESS) {
        const mrapi_uint_t record = set; /* theirs hold nothing else */
        *status = med_attributes_get(object->attributes, &record, number, value, value_bytes);
    }
}

med_handle
med_api_object_get(const med_api_object *object, uint32_t number, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    med_handle handle = MRAPI_RETURN_VALUE_INVALID;
    if (!self) {
        return handle;
    }
    const med_api_codes *codes = &object->codes;
    medley_status_t result =
        number > MED_OBJECT_USER_MAX ? MEDLEY_ERR_NOT_FOUND : object->find(self, number, &handle);
    *status = result == MEDLEY_ERR_NOT_FOUND
                  ? codes->id_invalid
                  : med_api_status(codes, result, codes->locked, codes->exists);
    return handle;
}

void
med_api_object_delete(const med_api_object *object, med_handle handle, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self) {
        *status = med_api_status(&object->codes, object->remove(self, handle), object->codes.locked,
                                 object->codes.locked);
    }
}

med_self *
med_api_object_ask(const med_api_object *object,
                   uint32_t number,
                   const void *record,
                   uint32_t *set,
                   mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (!self) {
        return NULL;
    }
    if (!med_object_number_good(number)) {
        *status = object->codes.id_invalid;
        return NULL;
    }
    if (record && !med_attributes_good(object->attributes, record)) {
        *status = MRAPI_ERR_PARAMETER;
        return NULL;
    }
    *set = med_attributes_flags(object->attributes, record);
    return self;
}
