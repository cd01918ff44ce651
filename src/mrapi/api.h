/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the faces of MRAPI share. A face checks its arguments, makes one call inwards, and
 * translates the result; it decides nothing. */
#ifndef MEDLEY_MRAPI_API_H
#define MEDLEY_MRAPI_API_H

#include "mrapi.h"
#include "mrapi/node.h"
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

/* What the same inner result means for each kind of object. */
typedef struct med_api_codes {
    mrapi_status_t limit;
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

#endif
