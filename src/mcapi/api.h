/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the faces of MCAPI share. A face checks its arguments, makes one call inwards, and
 * translates the result; it decides nothing. */
#ifndef MEDLEY_MCAPI_API_H
#define MEDLEY_MCAPI_API_H

#include "mcapi.h"
#include "mcapi/exchange.h"
#include "port/port.h"

/* The calling node, if it takes part; or NULL with MCAPI_ERR_NODE_NOTINIT in `status`. */
static inline med_self *
med_mcapi_self(mcapi_status_t *status)
{
    med_self *self = med_self_get();
    if (__builtin_expect(!self || !self->exchange, 0)) {
        *status = MCAPI_ERR_NODE_NOTINIT;
        return NULL;
    }
    return self;
}

/* The same for a call that needs two addresses, neither of which may be NULL: else
 * MCAPI_ERR_PARAMETER. */
static inline med_self *
med_mcapi_self_for(const void *one, const void *other, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (__builtin_expect(self && (!one || !other), 0)) {
        *status = MCAPI_ERR_PARAMETER;
        return NULL;
    }
    return self;
}

/* Bytes to be sent: where none are, any address will do, NULL too. */
static inline const void *
med_mcapi_bytes(const void *buffer, size_t size)
{
    return __builtin_expect(!buffer && size == 0, 0) ? "" : buffer;
}

/* A standard's timeout as a deadline. */
static inline uint64_t
med_mcapi_deadline_ns(mcapi_timeout_t timeout_us)
{
    if (timeout_us == MCAPI_TIMEOUT_INFINITE) {
        return MED_PORT_FOREVER;
    }
    return timeout_us == 0 ? 0 : med_port_clock_ns() + (uint64_t)timeout_us * 1000u;
}

#endif
