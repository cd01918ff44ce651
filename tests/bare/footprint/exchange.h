/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* As footprint.h, of MCAPI. */
#ifndef MEDLEY_TESTS_BARE_EXCHANGE_H
#define MEDLEY_TESTS_BARE_EXCHANGE_H

#include "mcapi.h"

int main(void);

static mcapi_status_t status;
static mcapi_request_t request;
static size_t size;
static mcapi_endpoint_t from, to;

static inline void
begin(void)
{
    mcapi_info_t info;
    mcapi_initialize(1, 1, NULL, NULL, &info, &status);
    from = mcapi_endpoint_create(1, &status);
    to = mcapi_endpoint_get(1, 2, 1, MCAPI_TIMEOUT_INFINITE, &status);
}

static inline int
end(void)
{
    mcapi_endpoint_delete(from, &status);
    mcapi_finalize(&status);
    return (int)status;
}

static inline void
use_messages(void)
{
    char message[24] = "";
    mcapi_msg_send(from, to, message, sizeof message, 0, &status);
    mcapi_msg_recv(from, message, sizeof message, &size, &status);
}

/* Both directions. */
static inline void
use_scalars(void)
{
    unsigned end;
    mcapi_sclchan_connect_i(from, to, &request, &status);
    mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status);
    mcapi_sclchan_send_open_i(&end, from, &request, &status);
    mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status);
    mcapi_sclchan_send_uint32(end, 1, &status);
    mcapi_sclchan_send_close_i(end, &request, &status);
    mcapi_sclchan_recv_open_i(&end, from, &request, &status);
    mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status);
    (void)mcapi_sclchan_recv_uint32(end, &status);
    mcapi_sclchan_recv_close_i(end, &request, &status);
}

#endif
