/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of scalar channels. */
#include "mcapi/api_channel.h"
#include "mcapi/locked.h"
#include "mcapi/scalar.h"
#include "medley/mcapi_ext.h"

void
mcapi_sclchan_connect_i(mcapi_endpoint_t send_endpoint,
                        mcapi_endpoint_t receive_endpoint,
                        mcapi_request_t *request,
                        mcapi_status_t *status)
{
    med_mcapi_connect(MED_LANE_SCALARS, send_endpoint, receive_endpoint, request, status);
}

void
mcapi_sclchan_recv_open_i(mcapi_sclchan_recv_hndl_t *receive_handle,
                          mcapi_endpoint_t receive_endpoint,
                          mcapi_request_t *request,
                          mcapi_status_t *status)
{
    med_mcapi_open(MED_LANE_SCALARS, MED_LANE_CONSUMER, receive_endpoint, receive_handle, request,
                   status);
}

void
mcapi_sclchan_send_open_i(mcapi_sclchan_send_hndl_t *send_handle,
                          mcapi_endpoint_t send_endpoint,
                          mcapi_request_t *request,
                          mcapi_status_t *status)
{
    med_mcapi_open(MED_LANE_SCALARS, MED_LANE_PRODUCER, send_endpoint, send_handle, request,
                   status);
}

void
mcapi_sclchan_recv_close_i(mcapi_sclchan_recv_hndl_t receive_handle,
                           mcapi_request_t *request,
                           mcapi_status_t *status)
{
    med_mcapi_close(MED_LANE_SCALARS, MED_LANE_CONSUMER, receive_handle, request, status);
}

void
mcapi_sclchan_send_close_i(mcapi_sclchan_send_hndl_t send_handle,
                           mcapi_request_t *request,
                           mcapi_status_t *status)
{
    med_mcapi_close(MED_LANE_SCALARS, MED_LANE_PRODUCER, send_handle, request, status);
}

/* ---- Send and receive ------------------------------------------------------------------------ */

/* Whatever keeps it from going at once: finds out, and waits. In a small build all go this way,
 * which is whole by itself. */
static __attribute__((noinline)) void
send_slow(med_handle handle, uint64_t value, uint32_t width, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (self) {
        *status = med_mcapi_channel_status(med_scalar_send_slow(self, handle, value, width),
                                           MCAPI_ERR_TRANSMISSION);
    }
}

/* Where no look has said yet that such go at once: of another width than was sent last, say. */
static __attribute__((noinline)) void
send_other(med_handle handle, uint64_t value, uint32_t width, mcapi_status_t *status)
{
    const med_self *self = status ? med_self_get() : NULL;
    bool may = __builtin_expect(self && self->exchange, 1) && med_exchange_may_at_once(self);
    med_lane_own *lane = may ? med_channel_sender(self, handle) : NULL;
    med_lane_row *row = lane ? lane->producer.row : NULL;
    if (__builtin_expect(!lane || lane->producer.kind != MED_LANE_SCALARS, 0) ||
        !med_scalar_fits(lane) || __builtin_expect(med_lane_is_gone(row, MED_LANE_CONSUMER), 0)) {
        send_slow(handle, value, width, status);
        return;
    }
    *status = MCAPI_SUCCESS;
    med_scalar_mark(lane, width);
    if (med_scalar_put(lane, row, value)) {
        med_scalar_sent(lane, width);
    }
}

/* Once for each width. */
static inline __attribute__((always_inline)) void
send(med_handle handle, uint64_t value, uint32_t width, mcapi_status_t *status)
{
    const med_self *self = status && !med_port_is_small() ? med_self_get() : NULL;
    med_lane_own *lane = self ? med_scalar_sender_at_once(self, handle, width) : NULL;
    med_lane_row *row = lane ? lane->producer.row : NULL;
    if (__builtin_expect(!lane, 0) ||
        __builtin_expect(med_lane_is_gone(row, MED_LANE_CONSUMER), 0)) {
        if (med_port_is_small()) {
            send_slow(handle, value, width, status);
        } else {
            send_other(handle, value, width, status);
        }
        return;
    }
    *status = MCAPI_SUCCESS;
    if (med_scalar_put(lane, row, value)) {
        med_scalar_sent(lane, width);
    }
}

void
mcapi_sclchan_send_uint64(mcapi_sclchan_send_hndl_t send_handle,
                          mcapi_uint64_t dataword,
                          mcapi_status_t *status)
{
    send(send_handle, dataword, 8, status);
}

void
mcapi_sclchan_send_uint32(mcapi_sclchan_send_hndl_t send_handle,
                          mcapi_uint32_t dataword,
                          mcapi_status_t *status)
{
    send(send_handle, dataword, 4, status);
}

void
mcapi_sclchan_send_uint16(mcapi_sclchan_send_hndl_t send_handle,
                          mcapi_uint16_t dataword,
                          mcapi_status_t *status)
{
    send(send_handle, dataword, 2, status);
}

void
mcapi_sclchan_send_uint8(mcapi_sclchan_send_hndl_t send_handle,
                         mcapi_uint8_t dataword,
                         mcapi_status_t *status)
{
    send(send_handle, dataword, 1, status);
}

static __attribute__((noinline)) uint64_t
receive_slow(med_handle handle, uint32_t width, mcapi_status_t *status)
{
    uint64_t value = MCAPI_RETURN_VALUE_INVALID;
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (self) {
        *status = med_mcapi_channel_status(med_scalar_receive_slow(self, handle, &value, width),
                                           MCAPI_ERR_ENDP_DELETED);
    }
    return value;
}

static __attribute__((noinline)) uint64_t
receive_other(med_handle handle, uint32_t width, mcapi_status_t *status)
{
    const med_self *self = status ? med_self_get() : NULL;
    bool may = __builtin_expect(self && self->exchange, 1) && med_exchange_may_at_once(self);
    med_lane_own *lane = may ? med_channel_receiver(self, handle) : NULL;
    uint64_t value;
    if (__builtin_expect(!lane || lane->consumer.kind != MED_LANE_SCALARS, 0) ||
        !med_scalar_is_there(lane) || !med_scalar_is_of(lane, width)) {
        return receive_slow(handle, width, status);
    }
    *status = MCAPI_SUCCESS;
    return med_scalar_take(lane, &value) ? med_scalar_received(lane, value) : value;
}

static inline __attribute__((always_inline)) uint64_t
receive(med_handle handle, uint32_t width, mcapi_status_t *status)
{
    const med_self *self = status && !med_port_is_small() ? med_self_get() : NULL;
    med_lane_own *lane = self ? med_scalar_receiver_at_once(self, handle, width) : NULL;
    uint64_t value;
    if (__builtin_expect(!lane, 0)) {
        return med_port_is_small() ? receive_slow(handle, width, status)
                                   : receive_other(handle, width, status);
    }
    *status = MCAPI_SUCCESS;
    return med_scalar_take(lane, &value) ? med_scalar_received(lane, value) : value;
}

mcapi_uint64_t
mcapi_sclchan_recv_uint64(mcapi_sclchan_recv_hndl_t receive_handle, mcapi_status_t *status)
{
    return receive(receive_handle, 8, status);
}

mcapi_uint32_t
mcapi_sclchan_recv_uint32(mcapi_sclchan_recv_hndl_t receive_handle, mcapi_status_t *status)
{
    return (mcapi_uint32_t)receive(receive_handle, 4, status);
}

mcapi_uint16_t
mcapi_sclchan_recv_uint16(mcapi_sclchan_recv_hndl_t receive_handle, mcapi_status_t *status)
{
    return (mcapi_uint16_t)receive(receive_handle, 2, status);
}

mcapi_uint8_t
mcapi_sclchan_recv_uint8(mcapi_sclchan_recv_hndl_t receive_handle, mcapi_status_t *status)
{
    return (mcapi_uint8_t)receive(receive_handle, 1, status);
}

mcapi_uint_t
mcapi_sclchan_available(mcapi_sclchan_recv_hndl_t receive_handle, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    uint32_t count = 0;
    if (self) {
        medley_status_t result;
        MED_LOCKED(self, MED_RWL_READ, result, med_scalar_available(self, receive_handle, &count));
        *status = med_mcapi_channel_status(result, MCAPI_ERR_ENDP_DELETED);
    }
    return count;
}

/* ---- Many at once ---------------------------------------------------------------------------- */

static med_self *
many_ask(const void *datawords, mcapi_uint_t count, mcapi_uint_t width, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    bool is_width = width == 1 || width == 2 || width == 4 || width == 8;
    if (self && (!datawords || count == 0 || !is_width)) {
        *status = datawords && count ? MCAPI_ERR_SCL_SIZE : MCAPI_ERR_PARAMETER;
        return NULL;
    }
    return self;
}

mcapi_uint_t
medley_mcapi_sclchan_send_many(mcapi_sclchan_send_hndl_t send_handle,
                               const mcapi_uint64_t *datawords,
                               mcapi_uint_t count,
                               mcapi_uint_t width,
                               mcapi_status_t *status)
{
    med_self *self = many_ask(datawords, count, width, status);
    uint32_t sent = 0;
    if (self) {
        *status = med_mcapi_channel_status(
            med_scalar_send_many(self, send_handle, datawords, width, count, &sent),
            MCAPI_ERR_TRANSMISSION);
    }
    return sent;
}

mcapi_uint_t
medley_mcapi_sclchan_recv_many(mcapi_sclchan_recv_hndl_t receive_handle,
                               mcapi_uint64_t *datawords,
                               mcapi_uint_t count,
                               mcapi_uint_t width,
                               mcapi_status_t *status)
{
    med_self *self = many_ask(datawords, count, width, status);
    uint32_t received = 0;
    if (self) {
        *status = med_mcapi_channel_status(
            med_scalar_receive_many(self, receive_handle, datawords, width, count, &received),
            MCAPI_ERR_ENDP_DELETED);
    }
    return received;
}
