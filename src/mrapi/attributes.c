/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A record is its user's own memory, and shared with nobody. */
#include "mrapi/attributes.h"

#include <string.h>

bool
med_attributes_good(const med_attribute_kind *kind, const void *record)
{
    mrapi_uint_t mark = med_attributes_first_word(kind->standard) & ~MED_ATTRIBUTES_FLAGS;
    return record && (med_attributes_first_word(record) & ~MED_ATTRIBUTES_FLAGS) == mark;
}

mrapi_status_t
med_attributes_init(const med_attribute_kind *kind, void *record)
{
    if (!record) {
        return MRAPI_ERR_PARAMETER;
    }
    memcpy(record, kind->standard, kind->record_bytes);
    return MRAPI_SUCCESS;
}

/* Which attribute is meant, with a value of the right size? */
static mrapi_status_t
find(const med_attribute_kind *kind,
     mrapi_uint_t number,
     const void *value,
     size_t value_bytes,
     const med_attribute **found)
{
    if (!value) {
        return MRAPI_ERR_PARAMETER;
    }
    for (uint32_t i = 0; i < kind->attribute_count; i++) {
        const med_attribute *attribute = &kind->attributes[i];
        if (attribute->number == number) {
            *found = attribute;
            return attribute->size == value_bytes ? MRAPI_SUCCESS : MRAPI_ERR_ATTR_SIZE;
        }
    }
    return MRAPI_ERR_ATTR_NUM;
}

static void
flag_set(void *record, uint32_t flag, bool wanted)
{
    mrapi_uint_t *word = record;
    *word = wanted ? *word | flag : *word & ~flag;
}

mrapi_status_t
med_attributes_set(const med_attribute_kind *kind,
                   void *record,
                   mrapi_uint_t number,
                   const void *value,
                   size_t value_bytes)
{
    const med_attribute *attribute;
    if (!med_attributes_good(kind, record)) {
        return MRAPI_ERR_PARAMETER;
    }
    mrapi_status_t status = find(kind, number, value, value_bytes, &attribute);
    if (status != MRAPI_SUCCESS) {
        return status;
    }
    if (attribute->read_only) {
        return MRAPI_ERR_ATTR_READONLY;
    }
    if (attribute->flag) {
        flag_set(record, attribute->flag, *(const mrapi_boolean_t *)value != MRAPI_FALSE);
    } else {
        memcpy((char *)record + attribute->offset, value, attribute->size);
    }
    return MRAPI_SUCCESS;
}

mrapi_status_t
med_attributes_get(const med_attribute_kind *kind,
                   const void *record,
                   mrapi_uint_t number,
                   void *value,
                   size_t value_bytes)
{
    const med_attribute *attribute;
    mrapi_status_t status = find(kind, number, value, value_bytes, &attribute);
    if (status != MRAPI_SUCCESS) {
        return status;
    }
    if (attribute->flag) {
        bool there = med_attributes_first_word(record) & attribute->flag;
        *(mrapi_boolean_t *)value = there ? MRAPI_TRUE : MRAPI_FALSE;
    } else {
        memcpy(value, (const char *)record + attribute->offset, attribute->size);
    }
    return MRAPI_SUCCESS;
}
