/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Attributes: numbered values of an object, which a program collects in a record before it makes
 * the object, and may ask for afterwards.
 *
 * Each kind of object describes its attributes in one table, and its standard record. A record
 * begins with an mrapi_uint_t: in the upper half the kind's mark, which says that it was
 * initialised, in the lower half one bit for each boolean attribute. What else there is follows it.
 */
#ifndef MEDLEY_MRAPI_ATTRIBUTES_H
#define MEDLEY_MRAPI_ATTRIBUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mrapi.h"

#define MED_ATTRIBUTES_FLAGS 0xffffu

typedef struct med_attribute {
    mrapi_uint_t number;
    uint32_t size;   /* of its value in bytes */
    uint32_t flag;   /* a boolean: its bit in the first word; else 0 */
    uint32_t offset; /* else: where in the record its value lies */
    bool read_only;  /* asked for, never set */
} med_attribute;

typedef struct med_attribute_kind {
    const med_attribute *attributes;
    uint32_t attribute_count;
    uint32_t record_bytes;
    const void *standard; /* the standard record */
} med_attribute_kind;

#define MED_ATTRIBUTE_BOOLEAN(attribute_number, its_flag)                                          \
    {                                                                                              \
        .number = (attribute_number), .size = sizeof(mrapi_boolean_t), .flag = (its_flag)          \
    }

#define MED_ATTRIBUTE_KIND(attributes_known, standard_record)                                      \
    {                                                                                              \
        .attributes = (attributes_known),                                                          \
        .attribute_count = sizeof(attributes_known) / sizeof(attributes_known)[0],                 \
        .record_bytes = sizeof(standard_record), .standard = &(standard_record)                    \
    }

static inline mrapi_uint_t
med_attributes_first_word(const void *record)
{
    return *(const mrapi_uint_t *)record;
}

/* Was it initialised, as a record of this kind? NULL was not. */
bool med_attributes_good(const med_attribute_kind *kind, const void *record);

/* The boolean attributes of a good record; of NULL, the standard ones. */
static inline uint32_t
med_attributes_flags(const med_attribute_kind *kind, const void *record)
{
    return med_attributes_first_word(record ? record : kind->standard) & MED_ATTRIBUTES_FLAGS;
}

/* The faces of all kinds, but for finding the calling node. A record that was never initialised is
 * MRAPI_ERR_PARAMETER. */
mrapi_status_t med_attributes_init(const med_attribute_kind *kind, void *record);
mrapi_status_t med_attributes_set(const med_attribute_kind *kind,
                                  void *record,
                                  mrapi_uint_t number,
                                  const void *value,
                                  size_t value_bytes);
/* `record` is an object's, and good. */
mrapi_status_t med_attributes_get(const med_attribute_kind *kind,
                                  const void *record,
                                  mrapi_uint_t number,
                                  void *value,
                                  size_t value_bytes);

#endif
