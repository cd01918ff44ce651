/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the faces of MRAPI share. A face checks its arguments, makes one call inwards, and
 * translates the result; it decides nothing. */
#ifndef MEDLEY_MRAPI_API_H
#define MEDLEY_MRAPI_API_H

#include "mrapi.h"
#include "mrapi/attributes.h"
#include "mrapi/node.h"
#include "mrapi/object.h"
#include "port/port.h"

/* The calling node, or NULL with MRAPI_ERR_NODE_NOTINIT in `status`. */
static inline med_self *
med_api_self(mrapi_status_t *status)
{
    med_self *self = med_self_get();
    if (__builtin_expect(!self, 0)) {
        *status = MRAPI_ERR_NODE_NOTINIT;
    }
    return self;
}

/* A standard's timeout as a deadline: 0 stays 0 (one try), infinite is never. */
static inline uint64_t
med_api_deadline_ns(mrapi_timeout_t timeout_us)
{
    if (timeout_us == MRAPI_TIMEOUT_INFINITE) {
        return MED_PORT_FOREVER;
    }
    return timeout_us == 0 ? 0 : med_port_clock_ns() + (uint64_t)timeout_us * 1000u;
}

/* ---- Records of attributes ------------------------------------------------------------------- */

/* The faces of all kinds; `status` may be NULL. */
void med_api_attributes_init(const med_attribute_kind *kind, void *record, mrapi_status_t *status);
void med_api_attribute_set(const med_attribute_kind *kind,
                           void *record,
                           mrapi_uint_t number,
                           const void *value,
                           size_t value_bytes,
                           mrapi_status_t *status);

/* ---- Objects --------------------------------------------------------------------------------- */

/* Mutexes, semaphores, reader/writer locks: what has a number, a handle and attributes. What the
 * same inner result means for each kind: */
typedef struct med_api_codes {
    mrapi_status_t id_invalid;
    mrapi_status_t exists;
    mrapi_status_t limit;
    mrapi_status_t locked;
    mrapi_status_t deleted;
    mrapi_status_t not_locked;
    mrapi_status_t not_valid; /* a holder died, and that is the end of it */
    mrapi_status_t invalid;
} med_api_codes;

/* What it means that something is there already, or another's, differs from call to call. */
mrapi_status_t med_api_status(const med_api_codes *codes,
                              medley_status_t status,
                              mrapi_status_t busy,
                              mrapi_status_t exists);

typedef struct med_api_object {
    const med_attribute_kind *attributes;
    med_api_codes codes;
    medley_status_t (*find)(med_self *self, uint32_t number, med_handle *handle);
    medley_status_t (*attributes_of)(const med_self *self, med_handle handle, uint32_t *set);
    medley_status_t (*remove)(med_self *self, med_handle handle);
} med_api_object;

/* The faces that are alike for all of them; `status` may be NULL. */
void med_api_object_attribute_get(const med_api_object *object,
                                  med_handle handle,
                                  mrapi_uint_t number,
                                  void *value,
                                  size_t value_bytes,
                                  mrapi_status_t *status);
med_handle
med_api_object_get(const med_api_object *object, uint32_t number, mrapi_status_t *status);
void med_api_object_delete(const med_api_object *object, med_handle handle, mrapi_status_t *status);
/* What comes before a creation: the caller, and the attributes asked for; or NULL, and why. */
med_self *med_api_object_ask(const med_api_object *object,
                             uint32_t number,
                             const void *record,
                             uint32_t *set,
                             mrapi_status_t *status);

#endif
