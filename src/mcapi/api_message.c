/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of messages. */
#include "mcapi/api.h"
#include "mcapi/message.h"

static mcapi_status_t
status_of(medley_status_t status)
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
    case MEDLEY_ERR_CORRUPT:
        return MCAPI_ERR_TRANSMISSION;
    case MEDLEY_BUSY:
        return MCAPI_ERR_GENERAL;
    default:
        return MCAPI_ERR_ENDP_INVALID;
    }
}

static mcapi_status_t
send_check(const void *buffer, size_t size, mcapi_priority_t priority)
{
    if (!buffer && size) {
        return MCAPI_ERR_PARAMETER;
    }
    if (priority > MCAPI_MIN_PRORITY) {
        return MCAPI_ERR_PRIORITY;
    }
    return size > MCAPI_MAX_MESSAGE_SIZE ? MCAPI_ERR_MSG_SIZE : MCAPI_SUCCESS;
}

void
mcapi_msg_send(mcapi_endpoint_t send_endpoint,
               mcapi_endpoint_t receive_endpoint,
               const void *buffer,
               size_t buffer_size,
               mcapi_priority_t priority,
               mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (!self) {
        return;
    }
    *status = send_check(buffer, buffer_size, priority);
    if (*status != MCAPI_SUCCESS) {
        return;
    }
    const med_message message = {.from = send_endpoint,
                                 .to = receive_endpoint,
                                 .payload = buffer,
                                 .bytes = (uint32_t)buffer_size,
                                 .priority = priority};
    medley_status_t result = med_message_send_wait(self, &message);
    *status = result == MEDLEY_ERR_LIMIT ? MCAPI_ERR_MSG_SIZE : status_of(result);
}

void
mcapi_msg_recv(mcapi_endpoint_t receive_endpoint,
               void *buffer,
               size_t buffer_size,
               size_t *received_size,
               mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (!self) {
        return;
    }
    if (!received_size || (!buffer && buffer_size)) {
        *status = MCAPI_ERR_PARAMETER;
        return;
    }
    uint32_t bytes = 0;
    medley_status_t result =
        med_message_receive_wait(self, receive_endpoint, buffer, buffer_size, &bytes);
    *received_size = bytes < buffer_size ? bytes : buffer_size;
    *status = result == MEDLEY_ERR_LIMIT ? MCAPI_ERR_MSG_TRUNCATED : status_of(result);
}

mcapi_uint_t
mcapi_msg_available(mcapi_endpoint_t receive_endpoint, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    uint32_t count = 0;
    if (self) {
        *status = status_of(med_message_available(self, receive_endpoint, &count));
    }
    return count;
}
