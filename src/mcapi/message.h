/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages: what a node sends from one of its endpoints to any other. */
#ifndef MEDLEY_MCAPI_MESSAGE_H
#define MEDLEY_MCAPI_MESSAGE_H

#include <stdint.h>

#include "medley/status.h"
#include "mcapi/endpoint.h"

typedef struct med_message {
    med_handle from; /* the caller's */
    med_handle to;
    const void *payload;
    uint32_t bytes;
    uint32_t priority;
} med_message;

/* MEDLEY_FULL: the receiver's queue is; MEDLEY_ERR_NO_MEMORY: no buffer is left, or no lane (which
 * is reported); MEDLEY_ERR_LIMIT: longer than the receiver takes; MEDLEY_ERR_PEER_DIED: the receiver
 * is gone; MEDLEY_ERR_NOT_OWNER: `from` is not the caller's; MEDLEY_BUSY: an end of a channel;
 * MEDLEY_ERR_STALE, MEDLEY_ERR_ARGUMENT: no endpoint. Does not wait. */
medley_status_t med_message_send(med_self *self, const med_message *message);
/* The same, but waits for room, as long as the sending endpoint's timeout says: MEDLEY_TIMEOUT. */
medley_status_t med_message_send_wait(med_self *self, const med_message *message);

/* The next message at an own endpoint, the most urgent first: at most `size` bytes of it; `bytes` is
 * its length. MEDLEY_EMPTY; MEDLEY_ERR_LIMIT: it was longer than `size`; MEDLEY_ERR_NOT_OWNER,
 * MEDLEY_BUSY, MEDLEY_ERR_STALE, MEDLEY_ERR_ARGUMENT as above. Does not wait. */
medley_status_t
med_message_receive(med_self *self, med_handle at, void *buffer, size_t size, uint32_t *bytes);
medley_status_t
med_message_receive_wait(med_self *self, med_handle at, void *buffer, size_t size, uint32_t *bytes);

/* How many can be received at once, at least: as many as one look finds. */
medley_status_t med_message_available(med_self *self, med_handle at, uint32_t *count);

#endif
