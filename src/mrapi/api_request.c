/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of requests. */
#include "mrapi/api.h"
#include "mrapi/request.h"
#include "mrapi/system.h"

static mrapi_status_t
status_of(medley_status_t status)
{
    switch (status) {
    case MEDLEY_OK:
        return MRAPI_SUCCESS;
    case MEDLEY_TIMEOUT:
        return MRAPI_TIMEOUT;
    case MEDLEY_BUSY:
        return MRAPI_INCOMPLETE;
    case MEDLEY_ERR_CANCELED:
        return MRAPI_ERR_REQUEST_CANCELED;
    default:
        return MRAPI_ERR_REQUEST_INVALID;
    }
}

/* Was it collected? Then what came of it goes to the caller. */
static bool
told(medley_status_t status,
     const med_request_outcome *outcome,
     size_t *size,
     mrapi_status_t *mrapi_status)
{
    if (status != MEDLEY_OK) {
        *mrapi_status = status_of(status);
        return false;
    }
    *size = outcome->size_bytes;
    *mrapi_status = outcome->status == MEDLEY_OK ? MRAPI_SUCCESS : MRAPI_ERR_RMEM_INVALID;
    return true;
}

/* The calling node, if the pointers are good. */
static med_self *
self_of(const mrapi_request_t *request, const size_t *size, mrapi_status_t *status)
{
    med_self *self = status ? med_api_self(status) : NULL;
    if (self && (!request || !size)) {
        *status = MRAPI_ERR_PARAMETER;
        return NULL;
    }
    return self;
}

mrapi_boolean_t
mrapi_test(const mrapi_request_t *request, size_t *size, mrapi_status_t *mrapi_status)
{
    med_self *self = self_of(request, size, mrapi_status);
    if (!self) {
        return MRAPI_FALSE;
    }
    med_request_outcome outcome;
    medley_status_t status = med_request_test(&self->system->requests, *request, &outcome);
    return told(status, &outcome, size, mrapi_status) ? MRAPI_TRUE : MRAPI_FALSE;
}

mrapi_boolean_t
mrapi_wait(const mrapi_request_t *request,
           size_t *size,
           mrapi_timeout_t timeout,
           mrapi_status_t *mrapi_status)
{
    return mrapi_wait_any(1, request, size, timeout, mrapi_status) == 0 &&
                   *mrapi_status != MRAPI_ERR_REQUEST_INVALID &&
                   *mrapi_status != MRAPI_ERR_REQUEST_CANCELED
               ? MRAPI_TRUE
               : MRAPI_FALSE;
}

mrapi_uint_t
mrapi_wait_any(size_t number,
               const mrapi_request_t *requests,
               size_t *size,
               mrapi_timeout_t timeout,
               mrapi_status_t *mrapi_status)
{
    med_self *self = self_of(requests, size, mrapi_status);
    if (!self) {
        return MRAPI_NONE;
    }
    if (number == 0 || number >= MRAPI_NONE) {
        *mrapi_status = MRAPI_ERR_PARAMETER;
        return MRAPI_NONE;
    }
    size_t which = 0;
    med_request_outcome outcome;
    const med_request_wait how = {.place = &self->system->requests.wait,
                                  .scope = MED_PORT_SCOPE_PROCESS,
                                  .waiter = &self->waiter,
                                  .deadline_ns = med_api_deadline_ns(timeout)};
    medley_status_t status =
        med_request_wait_any(&self->system->requests, &how, requests, number, &which, &outcome);
    (void)told(status, &outcome, size, mrapi_status);
    return status == MEDLEY_TIMEOUT ? MRAPI_NONE : (mrapi_uint_t)which;
}

void
mrapi_cancel(const mrapi_request_t *request, mrapi_status_t *mrapi_status)
{
    const size_t ignored = 0;
    med_self *self = self_of(request, &ignored, mrapi_status);
    if (self) {
        medley_status_t status = med_request_cancel(&self->system->requests, *request);
        /* Too late: it is over, and waits to be fetched. */
        *mrapi_status = status == MEDLEY_BUSY ? MRAPI_ERR_REQUEST_INVALID : status_of(status);
    }
}
