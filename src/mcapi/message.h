/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages: what a node sends from one of its endpoints to any other. */
#ifndef MEDLEY_MCAPI_MESSAGE_H
#define MEDLEY_MCAPI_MESSAGE_H

#include <stdint.h>

#include "mcapi/endpoint.h"
#include "medley/status.h"

typedef struct med_message {
    med_handle from; /* the caller's */
    med_handle to;
    const void *payload;
    uint32_t bytes;
    uint32_t priority;
} med_message;

/* Sends it; waits for room as long as the sending endpoint's timeout says (MEDLEY_TIMEOUT), unless
 * its memory type forbids (MEDLEY_FULL). MEDLEY_ERR_NO_MEMORY: no buffer is left, or no lane (which
 * is reported); MEDLEY_ERR_NOT_SUPPORTED: longer than the receiver takes; MEDLEY_ERR_PEER_DIED: the
 * receiver is gone; MEDLEY_ERR_NOT_OWNER: `from` is not the caller's; MEDLEY_BUSY: an end of a
 * channel; MEDLEY_ERR_STALE, MEDLEY_ERR_ARGUMENT: no endpoint. */
medley_status_t med_message_send_wait(med_self *self, const med_message *message);
/* The same as a request, whose outcome is one of the first five, or MEDLEY_ERR_STALE: `from` was
 * deleted meanwhile. The payload stays where it is until then. MEDLEY_ERR_LIMIT: there is no
 * request. */
medley_status_t
med_message_send_request(med_self *self, const med_message *message, med_request_handle *request);

/* The next message at an own endpoint, the most urgent first: at most `size` bytes of it; `bytes`
 * is its length. Waits as above. MEDLEY_ERR_LIMIT: it was longer than `size`; MEDLEY_ERR_NOT_OWNER,
 * MEDLEY_BUSY, MEDLEY_ERR_STALE, MEDLEY_ERR_ARGUMENT as above. */
medley_status_t
med_message_receive_wait(med_self *self, med_handle at, void *buffer, size_t size, uint32_t *bytes);
medley_status_t med_message_receive_request(
    med_self *self, med_handle at, void *buffer, size_t size, med_request_handle *request);

/* How many can be received at once, at least: as many as one look finds. */
medley_status_t med_message_available(med_self *self, med_handle at, uint32_t *count);

/* ---- Many at once ---------------------------------------------------------------------------- */

/* Sends `count` messages of the same length that lie one behind another from message->payload on:
 * as if each was sent alone, but published by the dozen. `sent` is how many were: all, unless the
 * status says why not. */
medley_status_t
med_message_send_many(med_self *self, const med_message *message, uint32_t count, uint32_t *sent);

/* `count` places of `size` bytes, one behind another, and the length of what is in each. */
typedef struct med_message_places {
    unsigned char *buffer;
    size_t size;
    size_t *lengths;
    uint32_t count;
} med_message_places;

/* Receives what is there, up to as many as there are places; waits for the first only. `received`
 * is how many, also when MEDLEY_ERR_LIMIT says that the last was longer than its place. */
medley_status_t med_message_receive_many(med_self *self,
                                         med_handle at,
                                         const med_message_places *places,
                                         uint32_t *received);

#endif
