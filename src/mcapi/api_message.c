/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of messages. */
#include "mcapi/api.h"
#include "mcapi/message.h"
#include "mcapi/message_at_once.h"
#include "medley/mcapi_ext.h"

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
    case MEDLEY_ERR_NOT_SUPPORTED:
        return MCAPI_ERR_MSG_SIZE;
    default:
        return MCAPI_ERR_ENDP_INVALID;
    }
}

/* Is there a request? */
static mcapi_status_t
status_of_asking(medley_status_t status)
{
    return status == MEDLEY_ERR_LIMIT ? MCAPI_ERR_REQUEST_LIMIT : status_of(status);
}

/* Whom, what, to whom; or NULL, and why not. */
static med_self *
send_ask(const med_message *message, size_t size, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (!self) {
        return NULL;
    }
    mcapi_status_t refused = !message->payload && size               ? MCAPI_ERR_PARAMETER
                             : message->priority > MCAPI_MIN_PRORITY ? MCAPI_ERR_PRIORITY
                             : size > MCAPI_MAX_MESSAGE_SIZE         ? MCAPI_ERR_MSG_SIZE
                                                                     : MCAPI_SUCCESS;
    if (__builtin_expect(refused != MCAPI_SUCCESS, 0)) {
        *status = refused;
        return NULL;
    }
    return self;
}

/* A function of its own: what it saves on the stack, those that go at once need not. */
static __attribute__((noinline)) void
send_slow(mcapi_endpoint_t from,
          mcapi_endpoint_t to,
          const void *buffer,
          size_t size,
          mcapi_priority_t priority,
          mcapi_status_t *status)
{
    const med_message message = {from, to, buffer, (uint32_t)size, priority};
    med_self *self = send_ask(&message, size, status);
    if (self) {
        *status = status_of(med_message_send_wait(self, &message));
    }
}

/* The status stands behind the copy, since it may be part of what is sent; and before the wake, so
 * that nothing is kept for afterwards. */
static inline void
put(med_lane_own *lane, const void *buffer, uint32_t bytes, mcapi_status_t *status)
{
    uint32_t next = med_message_fill(lane, buffer, bytes);
    *status = MCAPI_SUCCESS;
    med_record_publish(lane, next);
}

/* A function of its own, so that who puts a short one calls nothing. */
static __attribute__((noinline)) void
put_long(med_lane_own *lane, const void *buffer, uint32_t bytes, mcapi_status_t *status)
{
    put(lane, buffer, bytes, status);
}

void
mcapi_msg_send(mcapi_endpoint_t send_endpoint,
               mcapi_endpoint_t receive_endpoint,
               const void *buffer,
               size_t buffer_size,
               mcapi_priority_t priority,
               mcapi_status_t *status)
{
    /* In a small build all go the slow way, which is whole by itself. */
    const med_self *self = status && !med_port_is_small() ? med_mcapi_self(status) : NULL;
    med_lane_own *lane = self ? med_message_lane_at_once(self, send_endpoint, receive_endpoint,
                                                         buffer, buffer_size, priority)
                              : NULL;
    if (__builtin_expect(!lane, 0)) {
        send_slow(send_endpoint, receive_endpoint, buffer, buffer_size, priority, status);
        return;
    }
    if (buffer_size > MED_RING_COPY_BY_WORD_MAX) {
        put_long(lane, buffer, (uint32_t)buffer_size, status);
    } else {
        put(lane, buffer, (uint32_t)buffer_size, status);
    }
}

void
mcapi_msg_send_i(mcapi_endpoint_t send_endpoint,
                 mcapi_endpoint_t receive_endpoint,
                 const void *buffer,
                 size_t buffer_size,
                 mcapi_priority_t priority,
                 mcapi_request_t *request,
                 mcapi_status_t *status)
{
    const med_message message = {send_endpoint, receive_endpoint, buffer, (uint32_t)buffer_size,
                                 priority};
    med_self *self = send_ask(&message, buffer_size, status);
    if (self) {
        *status = request ? status_of_asking(med_message_send_request(self, &message, request))
                          : MCAPI_ERR_PARAMETER;
    }
}

/* The caller, or NULL, and why not. */
static med_self *
receive_ask(const void *buffer, size_t size, const void *result, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (self && (!result || (!buffer && size))) {
        *status = MCAPI_ERR_PARAMETER;
        return NULL;
    }
    return self;
}

static __attribute__((noinline)) void
receive_slow(mcapi_endpoint_t endpoint,
             void *buffer,
             size_t size,
             size_t *received_size,
             mcapi_status_t *status)
{
    med_self *self = receive_ask(buffer, size, received_size, status);
    if (self) {
        uint32_t bytes = 0;
        medley_status_t result = med_message_receive_wait(self, endpoint, buffer, size, &bytes);
        *received_size = bytes < size ? bytes : size;
        *status = result == MEDLEY_ERR_LIMIT ? MCAPI_ERR_MSG_TRUNCATED : status_of(result);
    }
}

void
mcapi_msg_recv(mcapi_endpoint_t receive_endpoint,
               void *buffer,
               size_t buffer_size,
               size_t *received_size,
               mcapi_status_t *status)
{
    /* In a small build all go the slow way, as they send. */
    const med_self *self = status && !med_port_is_small() ? med_mcapi_self(status) : NULL;
    uint32_t priority;
    med_record record;
    med_lane_own *lane = self && buffer && received_size
                             ? med_message_lane_to_receive(self, receive_endpoint, &priority)
                             : NULL;
    if (__builtin_expect(!lane || !med_message_find_at_once(lane, buffer_size, &record), 0)) {
        receive_slow(receive_endpoint, buffer, buffer_size, received_size, status);
        return;
    }
    med_ring_copy_words(buffer, record.payload, record.bytes);
    *received_size = record.bytes;
    *status = MCAPI_SUCCESS;
    med_message_done_at_once(lane, priority, &record);
    med_lane_wake(&lane->consumer.news);
}

void
mcapi_msg_recv_i(mcapi_endpoint_t receive_endpoint,
                 void *buffer,
                 size_t buffer_size,
                 mcapi_request_t *request,
                 mcapi_status_t *status)
{
    med_self *self = receive_ask(buffer, buffer_size, request, status);
    if (self) {
        *status = status_of_asking(
            med_message_receive_request(self, receive_endpoint, buffer, buffer_size, request));
    }
}

mcapi_uint_t
mcapi_msg_available(mcapi_endpoint_t receive_endpoint, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    uint32_t count = 0;
    if (self) {
        medley_status_t result;
        MED_LOCKED(self, MED_RWL_READ, result,
                   med_message_available(self, receive_endpoint, &count));
        *status = status_of(result);
    }
    return count;
}

/* ---- Many at once ---------------------------------------------------------------------------- */

mcapi_uint_t
medley_mcapi_msg_send_many(mcapi_endpoint_t send_endpoint,
                           mcapi_endpoint_t receive_endpoint,
                           const void *buffer,
                           size_t size,
                           mcapi_uint_t count,
                           mcapi_priority_t priority,
                           mcapi_status_t *status)
{
    const med_message message = {send_endpoint, receive_endpoint, buffer, (uint32_t)size, priority};
    med_self *self = send_ask(&message, size, status);
    uint32_t sent = 0;
    if (self && count == 0) {
        *status = MCAPI_ERR_PARAMETER;
    } else if (self) {
        *status = status_of(med_message_send_many(self, &message, count, &sent));
    }
    return sent;
}

mcapi_uint_t
medley_mcapi_msg_recv_many(mcapi_endpoint_t receive_endpoint,
                           void *buffer,
                           size_t size,
                           mcapi_uint_t count,
                           size_t *received_sizes,
                           mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    uint32_t received = 0;
    if (self && (!buffer || !received_sizes || count == 0)) {
        *status = MCAPI_ERR_PARAMETER;
    } else if (self) {
        const med_message_places places = {buffer, size, received_sizes, count};
        medley_status_t result =
            med_message_receive_many(self, receive_endpoint, &places, &received);
        *status = result == MEDLEY_ERR_LIMIT ? MCAPI_ERR_MSG_TRUNCATED : status_of(result);
    }
    return received;
}
