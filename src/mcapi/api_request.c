/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of requests. */
#include "mcapi/api.h"
#include "mcapi/pending.h"
#include "mrapi/request.h"

#define MANY 64u /* handles that are copied at once */

/* How an operation ended. */
static mcapi_status_t
status_of_outcome(medley_status_t status)
{
    switch (status) {
    case MEDLEY_OK:
        return MCAPI_SUCCESS;
    case MEDLEY_ERR_LIMIT:
        return MCAPI_ERR_MSG_TRUNCATED;
    case MEDLEY_FULL:
    case MEDLEY_ERR_NO_MEMORY:
        return MCAPI_ERR_MEM_LIMIT;
    case MEDLEY_ERR_STALE:
        return MCAPI_ERR_ENDP_DELETED;
    case MEDLEY_TIMEOUT:
        return MCAPI_TIMEOUT;
    case MEDLEY_ERR_ARGUMENT:
        return MCAPI_ERR_CHAN_TYPE;
    case MEDLEY_ERR_NOT_SUPPORTED:
        return MCAPI_ERR_CHAN_DIRECTION;
    default:
        return MCAPI_ERR_TRANSMISSION;
    }
}

/* What comes of asking. */
static mcapi_status_t
status_of(medley_status_t status)
{
    switch (status) {
    case MEDLEY_BUSY:
        return MCAPI_PENDING;
    case MEDLEY_TIMEOUT:
        return MCAPI_TIMEOUT;
    case MEDLEY_ERR_CANCELED:
        return MCAPI_ERR_REQUEST_CANCELLED;
    default:
        return MCAPI_ERR_REQUEST_INVALID;
    }
}

static bool
told(medley_status_t status, const med_request_outcome *outcome, size_t *size, mcapi_status_t *to)
{
    if (status != MEDLEY_OK) {
        *to = status_of(status);
        return false;
    }
    *size = outcome->size_bytes;
    *to = status_of_outcome(outcome->status);
    return true;
}

/* The caller, if the pointers are good. */
static med_self *
self_of(const void *request, const size_t *size, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (self && (!request || !size)) {
        *status = MCAPI_ERR_PARAMETER;
        return NULL;
    }
    return self;
}

mcapi_boolean_t
mcapi_test(const mcapi_request_t *request, size_t *size, mcapi_status_t *status)
{
    med_self *self = self_of(request, size, status);
    if (!self) {
        return MCAPI_FALSE;
    }
    med_request_outcome outcome;
    medley_status_t result = med_request_test(&self->system->requests, *request, &outcome);
    return told(result, &outcome, size, status) ? MCAPI_TRUE : MCAPI_FALSE;
}

mcapi_boolean_t
mcapi_wait(const mcapi_request_t *request,
           size_t *size,
           mcapi_timeout_t timeout,
           mcapi_status_t *status)
{
    med_self *self = self_of(request, size, status);
    if (!self) {
        return MCAPI_FALSE;
    }
    size_t which;
    med_request_outcome outcome;
    medley_status_t result =
        med_pending_wait_any(self, request, 1, med_mcapi_deadline_ns(timeout), &which, &outcome);
    return told(result, &outcome, size, status) ? MCAPI_TRUE : MCAPI_FALSE;
}

unsigned int
mcapi_wait_any(size_t number,
               mcapi_request_t **requests,
               size_t *size,
               mcapi_timeout_t timeout,
               mcapi_status_t *status)
{
    med_self *self = self_of(requests, size, status);
    med_request_handle handles[MANY];
    if (!self) {
        return MCAPI_RETURN_VALUE_INVALID;
    }
    bool good = number > 0 && number <= MANY;
    for (size_t i = 0; good && i < number; i++) {
        good = requests[i] != NULL;
        handles[i] = good ? *requests[i] : 0;
    }
    if (!good) {
        *status = MCAPI_ERR_PARAMETER;
        return MCAPI_RETURN_VALUE_INVALID;
    }
    size_t which = 0;
    med_request_outcome outcome;
    medley_status_t result = med_pending_wait_any(self, handles, number,
                                                  med_mcapi_deadline_ns(timeout), &which, &outcome);
    (void)told(result, &outcome, size, status);
    return result == MEDLEY_TIMEOUT ? MCAPI_RETURN_VALUE_INVALID : (unsigned int)which;
}

void
mcapi_cancel(mcapi_request_t *request, mcapi_status_t *status)
{
    const size_t ignored = 0;
    med_self *self = self_of(request, &ignored, status);
    if (self) {
        medley_status_t result = med_request_cancel(&self->system->requests, *request);
        /* Too late: it has ended, and waits to be asked for. */
        *status = result == MEDLEY_OK     ? MCAPI_SUCCESS
                  : result == MEDLEY_BUSY ? MCAPI_ERR_REQUEST_INVALID
                                          : status_of(result);
    }
}
