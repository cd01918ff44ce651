/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Connecting, opening and closing, for packets and scalars alike: one call inwards each, and what a
 * status is called at each place.
 */
#include "mcapi/api_channel.h"

#include "mcapi/locked.h"

mcapi_status_t
med_mcapi_channel_status(medley_status_t status, mcapi_status_t gone)
{
    switch (status) {
    case MEDLEY_OK:
        return MCAPI_SUCCESS;
    case MEDLEY_TIMEOUT:
        return MCAPI_TIMEOUT;
    case MEDLEY_FULL:
    case MEDLEY_ERR_NO_MEMORY:
        return MCAPI_ERR_MEM_LIMIT;
    case MEDLEY_ERR_PEER_DIED:
        return gone;
    case MEDLEY_ERR_CORRUPT:
        return MCAPI_ERR_TRANSMISSION;
    case MEDLEY_ERR_ARGUMENT:
        return MCAPI_ERR_CHAN_TYPE;
    case MEDLEY_ERR_NOT_SUPPORTED:
        return MCAPI_ERR_PKT_SIZE;
    case MEDLEY_ERR_ACCESS:
        return MCAPI_ERR_SCL_SIZE;
    case MEDLEY_ERR_LIMIT:
        return MCAPI_ERR_REQUEST_LIMIT;
    case MEDLEY_ERR_NOT_OWNER:
        return MCAPI_ERR_BUF_INVALID;
    case MEDLEY_ERR_NOT_FOUND:
        return MCAPI_ERR_CHAN_NOTOPEN;
    case MEDLEY_ERR_EXISTS:
        return MCAPI_ERR_CHAN_DIRECTION;
    default:
        return MCAPI_ERR_CHAN_INVALID;
    }
}

/* The caller, if there is room for a request. */
static med_self *
self_of(const mcapi_request_t *request, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (self && !request) {
        *status = MCAPI_ERR_PARAMETER;
        return NULL;
    }
    return self;
}

/* The same, and a request, before what it is for is done: then that cannot fail any more for want
 * of one. */
static med_self *
begin(const mcapi_request_t *request, med_request **place, mcapi_status_t *status)
{
    med_self *self = self_of(request, status);
    if (self && med_pending_place(self, NULL, place) != MEDLEY_OK) {
        *status = MCAPI_ERR_REQUEST_LIMIT;
        return NULL;
    }
    return self;
}

/* It is done at once, if at all. */
static void
request_end(med_self *self, med_request *place, mcapi_status_t status, mcapi_request_t *request)
{
    const med_request_outcome outcome = {.status = MEDLEY_OK};
    if (status == MCAPI_SUCCESS) {
        *request = med_request_end_at_once(&self->system->requests, place, outcome);
    } else {
        med_request_abandon(place);
    }
}

/* ---- Connect --------------------------------------------------------------------------------- */

static mcapi_status_t
status_of_connect(medley_status_t status)
{
    switch (status) {
    case MEDLEY_OK:
        return MCAPI_SUCCESS;
    case MEDLEY_ERR_EXISTS:
        return MCAPI_ERR_CHAN_CONNECTED;
    case MEDLEY_ERR_ACCESS:
        return MCAPI_ERR_ATTR_INCOMPATIBLE;
    case MEDLEY_ERR_LIMIT:
        return MCAPI_ERR_MEM_LIMIT;
    case MEDLEY_TIMEOUT:
        return MCAPI_TIMEOUT;
    default:
        return MCAPI_ERR_ENDP_INVALID;
    }
}

void
med_mcapi_connect(med_lane_kind kind,
                  mcapi_endpoint_t from,
                  mcapi_endpoint_t to,
                  mcapi_request_t *request,
                  mcapi_status_t *status)
{
    med_request *place;
    med_self *self = begin(request, &place, status);
    if (self) {
        medley_status_t result;
        MED_LOCKED(self, MED_RWL_WRITE, result, med_channel_connect(self, from, to, kind));
        *status = status_of_connect(result);
        request_end(self, place, *status, request);
    }
}

/* ---- Open ------------------------------------------------------------------------------------ */

static mcapi_status_t
status_of_open(medley_status_t status)
{
    switch (status) {
    case MEDLEY_OK:
        return MCAPI_SUCCESS;
    case MEDLEY_ERR_EXISTS:
        return MCAPI_ERR_CHAN_OPEN;
    case MEDLEY_BUSY:
        return MCAPI_ERR_CHAN_OPENPENDING;
    case MEDLEY_ERR_LIMIT:
        return MCAPI_ERR_REQUEST_LIMIT;
    case MEDLEY_ERR_ARGUMENT:
        return MCAPI_ERR_CHAN_TYPE;
    case MEDLEY_ERR_NOT_SUPPORTED:
        return MCAPI_ERR_CHAN_DIRECTION;
    default:
        return MCAPI_ERR_ENDP_INVALID;
    }
}

void
med_mcapi_open(med_lane_kind kind,
               med_lane_side side,
               mcapi_endpoint_t endpoint,
               unsigned *handle,
               mcapi_request_t *request,
               mcapi_status_t *status)
{
    med_self *self = self_of(request, status);
    if (self) {
        *status =
            handle ? status_of_open(med_channel_open(self, endpoint, side, kind, handle, request))
                   : MCAPI_ERR_PARAMETER;
    }
}

/* ---- Close ----------------------------------------------------------------------------------- */

void
med_mcapi_close(med_lane_kind kind,
                med_lane_side side,
                med_handle handle,
                mcapi_request_t *request,
                mcapi_status_t *status)
{
    med_request *place;
    med_self *self = begin(request, &place, status);
    if (self) {
        medley_status_t result;
        MED_LOCKED(self, MED_RWL_WRITE, result, med_channel_close(self, handle, side, kind));
        *status = med_mcapi_channel_status(result, MCAPI_ERR_CHAN_INVALID);
        request_end(self, place, *status, request);
    }
}
