/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of packet channels. */
#include "mcapi/api_channel.h"
#include "mcapi/locked.h"
#include "mcapi/packet.h"
#include "mcapi/state_at_once.h"
#include "medley/mcapi_ext.h"

void
mcapi_pktchan_connect_i(mcapi_endpoint_t send_endpoint,
                        mcapi_endpoint_t receive_endpoint,
                        mcapi_request_t *request,
                        mcapi_status_t *status)
{
    med_mcapi_connect(MED_LANE_PACKETS, send_endpoint, receive_endpoint, request, status);
}

void
mcapi_pktchan_recv_open_i(mcapi_pktchan_recv_hndl_t *receive_handle,
                          mcapi_endpoint_t receive_endpoint,
                          mcapi_request_t *request,
                          mcapi_status_t *status)
{
    med_mcapi_open(MED_LANE_PACKETS, MED_LANE_CONSUMER, receive_endpoint, receive_handle, request,
                   status);
}

void
mcapi_pktchan_send_open_i(mcapi_pktchan_send_hndl_t *send_handle,
                          mcapi_endpoint_t send_endpoint,
                          mcapi_request_t *request,
                          mcapi_status_t *status)
{
    med_mcapi_open(MED_LANE_PACKETS, MED_LANE_PRODUCER, send_endpoint, send_handle, request,
                   status);
}

void
mcapi_pktchan_recv_close_i(mcapi_pktchan_recv_hndl_t receive_handle,
                           mcapi_request_t *request,
                           mcapi_status_t *status)
{
    med_mcapi_close(MED_LANE_PACKETS, MED_LANE_CONSUMER, receive_handle, request, status);
}

void
mcapi_pktchan_send_close_i(mcapi_pktchan_send_hndl_t send_handle,
                           mcapi_request_t *request,
                           mcapi_status_t *status)
{
    med_mcapi_close(MED_LANE_PACKETS, MED_LANE_PRODUCER, send_handle, request, status);
}

/* ---- Send and receive ------------------------------------------------------------------------ */

void
mcapi_pktchan_send_i(mcapi_pktchan_send_hndl_t send_handle,
                     const void *buffer,
                     size_t size,
                     mcapi_request_t *request,
                     mcapi_status_t *status)
{
    const void *bytes = med_mcapi_bytes(buffer, size);
    med_self *self = med_mcapi_self_for(bytes, request, status);
    if (self) {
        *status = med_mcapi_channel_status(
            med_packet_send_request(self, send_handle, bytes, size, request),
            MCAPI_ERR_TRANSMISSION);
    }
}

/* Apart: a function that calls it last saves nothing before. */
static __attribute__((noinline)) void
send_wait(med_self *self,
          mcapi_pktchan_send_hndl_t send_handle,
          const void *buffer,
          size_t size,
          mcapi_status_t *status)
{
    *status = med_mcapi_channel_status(med_packet_send_wait(self, send_handle, buffer, size),
                                       MCAPI_ERR_TRANSMISSION);
}

void
mcapi_pktchan_send(mcapi_pktchan_send_hndl_t send_handle,
                   const void *buffer,
                   size_t size,
                   mcapi_status_t *status)
{
    const void *bytes = med_mcapi_bytes(buffer, size);
    med_self *self = med_mcapi_self_for(bytes, bytes, status);
    if (!self) {
        return;
    }
    med_lane_own *lane = med_state_lane_at_once(self, send_handle, size);
    if (lane) {
        *status = MCAPI_SUCCESS;
        med_state_send_at_once(lane, bytes, size);
    } else {
        send_wait(self, send_handle, bytes, size, status);
    }
}

void *
medley_mcapi_pktchan_take(mcapi_pktchan_send_hndl_t send_handle, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    void *buffer = NULL;
    if (self) {
        *status = med_mcapi_channel_status(med_packet_buffer_take(self, send_handle, &buffer),
                                           MCAPI_ERR_TRANSMISSION);
    }
    return buffer;
}

void
medley_mcapi_pktchan_send_taken(mcapi_pktchan_send_hndl_t send_handle,
                                void *buffer,
                                size_t size,
                                mcapi_status_t *status)
{
    med_self *self = med_mcapi_self_for(buffer, buffer, status);
    if (self) {
        *status = med_mcapi_channel_status(med_packet_send_place(self, send_handle, buffer, size),
                                           MCAPI_ERR_TRANSMISSION);
    }
}

void
mcapi_pktchan_recv_i(mcapi_pktchan_recv_hndl_t receive_handle,
                     void **buffer,
                     mcapi_request_t *request,
                     mcapi_status_t *status)
{
    med_self *self = med_mcapi_self_for((const void *)buffer, request, status);
    if (self) {
        *status = med_mcapi_channel_status(
            med_packet_receive_request(self, receive_handle, buffer, request),
            MCAPI_ERR_ENDP_DELETED);
    }
}

void
mcapi_pktchan_recv(mcapi_pktchan_recv_hndl_t receive_handle,
                   void **buffer,
                   size_t *received_size,
                   mcapi_status_t *status)
{
    med_self *self = med_mcapi_self_for((const void *)buffer, received_size, status);
    if (self) {
        *status = med_mcapi_channel_status(
            med_packet_receive_wait(self, receive_handle, buffer, received_size),
            MCAPI_ERR_ENDP_DELETED);
    }
}

mcapi_uint_t
mcapi_pktchan_available(mcapi_pktchan_recv_hndl_t receive_handle, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    uint32_t count = 0;
    if (self) {
        medley_status_t result;
        MED_LOCKED(self, MED_RWL_READ, result, med_packet_available(self, receive_handle, &count));
        *status = med_mcapi_channel_status(result, MCAPI_ERR_ENDP_DELETED);
    }
    return count;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

void
mcapi_pktchan_release(const void *buffer, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (self) {
        medley_status_t result;
        MED_LOCKED(self, MED_RWL_WRITE, result, med_packet_release(self, buffer));
        *status = result == MEDLEY_OK ? MCAPI_SUCCESS : MCAPI_ERR_BUF_INVALID;
    }
}

mcapi_boolean_t
mcapi_pktchan_release_test(const void *buffer, mcapi_status_t *status)
{
    med_self *self = med_mcapi_self_for(buffer, buffer, status);
    if (!self) {
        return MCAPI_FALSE;
    }
    bool released = med_packet_is_released(self, buffer);
    *status = released ? MCAPI_SUCCESS : MCAPI_PENDING;
    return released ? MCAPI_TRUE : MCAPI_FALSE;
}
