/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sending a copy: who has no buffer yet takes one, and gives it back when it cannot be sent. */
#include "mcapi/buffer.h"

medley_status_t
med_buffer_send_copy(med_self *self, med_lane_own *lane, const void *payload, uint32_t bytes)
{
    const med_pool *pool = &self->exchange->exchange->pool;
    med_pool_buffer buffer;
    if (med_exchange_buffer_take(self, &buffer) != MEDLEY_OK) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    memcpy(med_pool_address(pool, buffer), payload, bytes);
    medley_status_t status = med_buffer_send(self, lane, buffer, bytes);
    if (status != MEDLEY_OK) {
        (void)med_exchange_buffer_give(self, buffer);
    }
    return status;
}
