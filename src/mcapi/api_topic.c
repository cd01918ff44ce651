/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of topics. */
#include "mcapi/api_channel.h"
#include "mcapi/locked.h"
#include "mcapi/topic.h"
#include "medley/mcapi_ext.h"

static mcapi_status_t
status_of_subscribe(medley_status_t status)
{
    switch (status) {
    case MEDLEY_OK:
        return MCAPI_SUCCESS;
    case MEDLEY_ERR_EXISTS:
        return MCAPI_ERR_CHAN_CONNECTED;
    case MEDLEY_BUSY:
        return MCAPI_ERR_CHAN_OPENPENDING;
    case MEDLEY_ERR_ACCESS:
        return MCAPI_ERR_ATTR_INCOMPATIBLE;
    case MEDLEY_ERR_LIMIT:
        return MCAPI_ERR_MEM_LIMIT;
    case MEDLEY_ERR_CORRUPT:
        return MCAPI_ERR_TRANSMISSION;
    case MEDLEY_TIMEOUT:
        return MCAPI_TIMEOUT;
    default:
        return MCAPI_ERR_ENDP_INVALID;
    }
}

void
medley_mcapi_topic_subscribe(mcapi_endpoint_t topic,
                             mcapi_endpoint_t receive_endpoint,
                             mcapi_pktchan_recv_hndl_t *receive_handle,
                             mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (!self) {
        return;
    }
    if (!receive_handle) {
        *status = MCAPI_ERR_PARAMETER;
        return;
    }
    medley_status_t result;
    MED_LOCKED(self, MED_RWL_WRITE, result,
               med_channel_subscribe(self, topic, receive_endpoint, receive_handle));
    *status = status_of_subscribe(result);
}

static mcapi_status_t
status_of_publish(medley_status_t status)
{
    switch (status) {
    case MEDLEY_OK:
        return MCAPI_SUCCESS;
    case MEDLEY_TIMEOUT:
        return MCAPI_TIMEOUT;
    case MEDLEY_ERR_NOT_SUPPORTED:
        return MCAPI_ERR_PKT_SIZE;
    case MEDLEY_ERR_CORRUPT:
        return MCAPI_ERR_TRANSMISSION;
    default:
        return MCAPI_ERR_ENDP_INVALID;
    }
}

mcapi_uint_t
medley_mcapi_topic_publish(mcapi_endpoint_t topic,
                           const void *buffer,
                           size_t size,
                           mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    uint32_t reached = 0;
    if (!self) {
        return 0;
    }
    const void *bytes = med_mcapi_bytes(buffer, size);
    if (!bytes) {
        *status = MCAPI_ERR_PARAMETER;
        return 0;
    }
    *status = status_of_publish(med_topic_publish(self, topic, bytes, size, &reached));
    return reached;
}

mcapi_uint_t
medley_mcapi_topic_lost(mcapi_pktchan_recv_hndl_t receive_handle, mcapi_status_t *status)
{
    const med_self *self = status ? med_mcapi_self(status) : NULL;
    uint32_t lost = 0;
    if (self) {
        *status = med_mcapi_channel_status(med_topic_lost(self, receive_handle, &lost),
                                           MCAPI_ERR_CHAN_INVALID);
    }
    return lost;
}
