/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Packets: buffers that go through a channel, and that the receiver keeps until it gives them back,
 * in any order. */
#ifndef MEDLEY_MCAPI_PACKET_H
#define MEDLEY_MCAPI_PACKET_H

#include <stddef.h>
#include <stdint.h>

#include "mcapi/channel.h"

/* Copies it into a buffer, which goes. Waits for a buffer and for room, as long as the endpoint's
 * timeout says: MEDLEY_TIMEOUT; MEDLEY_FULL, MEDLEY_ERR_NO_MEMORY: it may not wait.
 * MEDLEY_ERR_NOT_SUPPORTED: longer than the endpoint's payload; MEDLEY_ERR_PEER_DIED: the receiver
 * is gone; MEDLEY_ERR_STALE: no open end of the caller's; MEDLEY_ERR_ARGUMENT: of scalars. */
medley_status_t
med_packet_send_wait(med_self *self, med_handle sender, const void *payload, size_t bytes);
medley_status_t med_packet_send_request(med_self *self,
                                        med_handle sender,
                                        const void *payload,
                                        size_t bytes,
                                        med_request_handle *request);

/* One try of the same, by an open end of the caller's, or a lane to a subscriber: MEDLEY_FULL,
 * MEDLEY_ERR_NO_MEMORY, MEDLEY_ERR_PEER_DIED; MEDLEY_ERR_CORRUPT. */
medley_status_t
med_packet_send_try(med_self *self, med_lane_own *lane, const void *payload, size_t bytes);

/* A buffer to fill, the caller's until it is sent or given back. Waits for one as above. */
medley_status_t med_packet_buffer_take(med_self *self, med_handle sender, void **buffer);
/* Sends a buffer of the caller's, which goes; when it was not sent it stays the caller's. Waits and
 * errors as above; MEDLEY_ERR_NOT_OWNER: no buffer in use, or not the caller's. */
medley_status_t
med_packet_send_place(med_self *self, med_handle sender, void *buffer, size_t bytes);

/* The next one's buffer, which is the caller's until it is given back. MEDLEY_ERR_PEER_DIED: the
 * sender is gone, and all it sent is received; the others as above. */
medley_status_t
med_packet_receive_wait(med_self *self, med_handle receiver, void **buffer, size_t *bytes);
/* `buffer` is filled when the request has ended. Its outcome is MEDLEY_ERR_STALE when the sender is
 * gone, and all it sent is received. */
medley_status_t med_packet_receive_request(med_self *self,
                                           med_handle receiver,
                                           void **buffer,
                                           med_request_handle *request);
medley_status_t med_packet_available(med_self *self, med_handle receiver, uint32_t *count);

/* Gives a received buffer back. MEDLEY_ERR_ARGUMENT: no buffer begins there;
 * MEDLEY_ERR_NOT_OWNER: it is not the caller's. */
medley_status_t med_packet_release(med_self *self, const void *buffer);

/* Is what lies there no buffer, or is the use of it over in which the caller sent it in place? */
bool med_packet_is_released(const med_self *self, const void *buffer);

#endif
