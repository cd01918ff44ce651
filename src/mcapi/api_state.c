/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of states, beside those of packets. */
#include "mcapi/api_channel.h"
#include "mcapi/state.h"
#include "medley/mcapi_ext.h"

static mcapi_status_t
status_of(medley_status_t status)
{
    return status == MEDLEY_ERR_LIMIT ? MCAPI_ERR_MSG_TRUNCATED
                                      : med_mcapi_channel_status(status, MCAPI_ERR_ENDP_DELETED);
}

void
medley_mcapi_state_recv(mcapi_pktchan_recv_hndl_t receive_handle,
                        void *buffer,
                        size_t size,
                        size_t *received_size,
                        mcapi_status_t *status)
{
    med_self *self = med_mcapi_self_for(buffer, received_size, status);
    if (self) {
        *status =
            status_of(med_state_receive_copy(self, receive_handle, buffer, size, received_size));
    }
}

void
medley_mcapi_state_wait(mcapi_pktchan_recv_hndl_t receive_handle,
                        mcapi_timeout_t timeout,
                        mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (self) {
        *status = status_of(med_state_await(self, receive_handle, med_mcapi_deadline_ns(timeout)));
    }
}

void
medley_mcapi_state_counts_get(mcapi_pktchan_recv_hndl_t receive_handle,
                              medley_mcapi_state_counts_t *counts,
                              mcapi_status_t *status)
{
    const med_self *self = med_mcapi_self_for(counts, counts, status);
    med_state_counts found;
    if (self) {
        *status = status_of(med_state_counts_get(self, receive_handle, &found));
        if (*status == MCAPI_SUCCESS) {
            *counts = (medley_mcapi_state_counts_t){.retries = found.retries,
                                                    .retries_worst = found.retries_worst,
                                                    .collisions = found.collisions};
        }
    }
}
