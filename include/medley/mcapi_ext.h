/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What Medley adds to MCAPI: many messages or scalars in one call, packets filled in place, states
 * copied to one's own memory, and topics.
 *
 * All that take a handle: MCAPI_ERR_CHAN_INVALID (no handle of an open end of the caller's),
 * MCAPI_ERR_CHAN_TYPE (of another kind of channel). All: MCAPI_ERR_PARAMETER (an address is NULL,
 * but for that of no bytes; a count is 0), MCAPI_ERR_NODE_NOTINIT.
 */
#ifndef MEDLEY_MCAPI_EXT_H
#define MEDLEY_MCAPI_EXT_H

#include "medley/std/mcapi.h"

MEDLEY_DECLS_BEGIN

/* ---- Many at once ---------------------------------------------------------------------------- */

/*
 * Sends `count` messages of `size` bytes each that lie one behind another in `buffer`: as if each
 * was sent by mcapi_msg_send, whose errors there are, but faster. How many were sent: all, unless
 * the status says why not. */
mcapi_uint_t medley_mcapi_msg_send_many(MCAPI_IN mcapi_endpoint_t send_endpoint,
                                        MCAPI_IN mcapi_endpoint_t receive_endpoint,
                                        MCAPI_IN void *buffer,
                                        MCAPI_IN size_t size,
                                        MCAPI_IN mcapi_uint_t count,
                                        MCAPI_IN mcapi_priority_t priority,
                                        MCAPI_OUT mcapi_status_t *status);
/*
 * Receives the messages that are there, at most `count`, each into its own `size` bytes of
 * `buffer`, one behind another, and how many bytes each has into `received_sizes`. Blocks, as
 * mcapi_msg_recv, only while there is none. How many were received; also with
 * MCAPI_ERR_MSG_TRUNCATED, when the last of them was longer than `size`. Other errors as
 * mcapi_msg_recv. */
mcapi_uint_t medley_mcapi_msg_recv_many(MCAPI_IN mcapi_endpoint_t receive_endpoint,
                                        MCAPI_OUT void *buffer,
                                        MCAPI_IN size_t size,
                                        MCAPI_IN mcapi_uint_t count,
                                        MCAPI_OUT size_t *received_sizes,
                                        MCAPI_OUT mcapi_status_t *status);
/*
 * The same with scalars, each of `width` (1, 2, 4 or 8) bytes in the channel and of eight in
 * memory. Receiving ends before one of another width. MCAPI_ERR_SCL_SIZE: no such width, or the
 * first that is there has another; other errors as mcapi_sclchan_send_uint64 and
 * mcapi_sclchan_recv_uint64. */
mcapi_uint_t medley_mcapi_sclchan_send_many(MCAPI_IN mcapi_sclchan_send_hndl_t send_handle,
                                            MCAPI_IN mcapi_uint64_t *datawords,
                                            MCAPI_IN mcapi_uint_t count,
                                            MCAPI_IN mcapi_uint_t width,
                                            MCAPI_OUT mcapi_status_t *status);
mcapi_uint_t medley_mcapi_sclchan_recv_many(MCAPI_IN mcapi_sclchan_recv_hndl_t receive_handle,
                                            MCAPI_OUT mcapi_uint64_t *datawords,
                                            MCAPI_IN mcapi_uint_t count,
                                            MCAPI_IN mcapi_uint_t width,
                                            MCAPI_OUT mcapi_status_t *status);

/* ---- Packets in place ------------------------------------------------------------------------ */

/*
 * A buffer to be filled, of MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE bytes, aligned to MCAPI_BUF_ALIGN;
 * what is in it is anything. It is the caller's until he sends it, or gives it back unsent by
 * mcapi_pktchan_release. Blocks while none is left, as mcapi_pktchan_send: MCAPI_TIMEOUT,
 * MCAPI_ERR_MEM_LIMIT, MCAPI_ERR_TRANSMISSION; then NULL. */
void *medley_mcapi_pktchan_take(MCAPI_IN mcapi_pktchan_send_hndl_t send_handle,
                                MCAPI_OUT mcapi_status_t *status);
/*
 * Sends the first `size` bytes of a buffer that is the caller's, taken or received, without a copy:
 * the buffer goes. Blocks while the channel is full or has its share of the buffers; errors as
 * mcapi_pktchan_send, and MCAPI_ERR_BUF_INVALID: no such buffer, or not the caller's. If it fails
 * the buffer stays the caller's. By a channel of states the bytes are copied, and the buffer is
 * given back. */
void medley_mcapi_pktchan_send_taken(MCAPI_IN mcapi_pktchan_send_hndl_t send_handle,
                                     MCAPI_OUT void *buffer,
                                     MCAPI_IN size_t size,
                                     MCAPI_OUT mcapi_status_t *status);

/* ---- States ---------------------------------------------------------------------------------- */

/*
 * Where both endpoints of a packet channel have MCAPI_ENDP_ATTR_BUFFER_TYPE =
 * MCAPI_ENDP_ATTR_STATE_BUFFER, the channel holds one value, the newest that was sent: a state. The
 * sender never waits; the receiver gets the newest value, whole, as often as it asks, and neither
 * waits for the other. MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS of the receiver says how many buffers the
 * channel goes round (at least 2, at most what MEDLEY_LANE_BYTES has room for): a receiver copies
 * again only when the sender has sent as many values less one while it copied. The packets' calls
 * work as ever: mcapi_pktchan_send sends a value, mcapi_pktchan_recv gives a copy of the newest in
 * a buffer of the system's.
 */

/*
 * Copies the newest value into `buffer`; how many bytes, is in `received_size`. Blocks while none
 * was ever sent, as long as the endpoint's timeout says: MCAPI_TIMEOUT. MCAPI_ERR_MSG_TRUNCATED: it
 * was longer than `size`: what fits is there. MCAPI_ERR_ENDP_DELETED: the sender is gone, and its
 * last value was received. MCAPI_ERR_TRANSMISSION: what is there is no value. */
void medley_mcapi_state_recv(MCAPI_IN mcapi_pktchan_recv_hndl_t receive_handle,
                             MCAPI_OUT void *buffer,
                             MCAPI_IN size_t size,
                             MCAPI_OUT size_t *received_size,
                             MCAPI_OUT mcapi_status_t *status);

/* Blocks until there is a value newer than the caller received last. MCAPI_TIMEOUT;
 * MCAPI_ERR_ENDP_DELETED: the sender is gone, and there will be none. */
void medley_mcapi_state_wait(MCAPI_IN mcapi_pktchan_recv_hndl_t receive_handle,
                             MCAPI_IN mcapi_timeout_t timeout,
                             MCAPI_OUT mcapi_status_t *status);

/* What a receiving end counts, from when it was opened. */
typedef struct medley_mcapi_state_counts {
    mcapi_uint32_t retries;       /* copies made again since the sender was faster; wrapping */
    mcapi_uint32_t retries_worst; /* at most, for one value */
    mcapi_uint32_t collisions;    /* how often all tries failed, and it waited for the next value */
} medley_mcapi_state_counts_t;

/* Of an open receiving end. */
void medley_mcapi_state_counts_get(MCAPI_IN mcapi_pktchan_recv_hndl_t receive_handle,
                                   MCAPI_OUT medley_mcapi_state_counts_t *counts,
                                   MCAPI_OUT mcapi_status_t *status);

/* ---- Topics ---------------------------------------------------------------------------------- */

/*
 * One to many: an endpoint publishes, any number subscribe to it, each by a channel of its own from
 * the one to the other. Both must agree as the ends of a channel must; if they are of states, each
 * subscriber has the newest that was published, else all, in order. A subscriber receives by the
 * calls of packets (or states), and has subscribed until mcapi_pktchan_recv_close_i.
 */

/*
 * The caller's endpoint receives what `topic` publishes from now on; the handle is that of an open
 * receiving end. MCAPI_ERR_ENDP_INVALID: one of them is none, or the second not the caller's;
 * MCAPI_ERR_CHAN_CONNECTED: the second is connected, or was the same topic's, which has published
 * to it, and nothing since; MCAPI_ERR_CHAN_OPENPENDING, MCAPI_ERR_ATTR_INCOMPATIBLE;
 * MCAPI_ERR_MEM_LIMIT (MEDLEY_MAX_LANES); MCAPI_TIMEOUT as mcapi_endpoint_create;
 * MCAPI_ERR_TRANSMISSION: what was made is no lane, or nobody's. */
void medley_mcapi_topic_subscribe(MCAPI_IN mcapi_endpoint_t topic,
                                  MCAPI_IN mcapi_endpoint_t receive_endpoint,
                                  MCAPI_OUT mcapi_pktchan_recv_hndl_t *receive_handle,
                                  MCAPI_OUT mcapi_status_t *status);
/*
 * Sends a copy to each subscriber; how many got it. Where one has no room, or his channel's share
 * of the buffers, or no buffer is left: with MCAPI_ENDP_ATTR_MEMORY_TYPE =
 * MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT it is lost to him, and counted; else it blocks as long as the
 * endpoint's timeout says, then it is lost to him, counted, and MCAPI_TIMEOUT. Nobody waits for
 * another's room. MCAPI_ERR_ENDP_INVALID: no endpoint of the caller's; MCAPI_ERR_PKT_SIZE. */
mcapi_uint_t medley_mcapi_topic_publish(MCAPI_IN mcapi_endpoint_t topic,
                                        MCAPI_IN void *buffer,
                                        MCAPI_IN size_t size,
                                        MCAPI_OUT mcapi_status_t *status);
/* How many were lost to a subscriber, wrapping; all of those that came before what he received
 * last. MCAPI_ERR_CHAN_TYPE: a channel that is no topic's. */
mcapi_uint_t medley_mcapi_topic_lost(MCAPI_IN mcapi_pktchan_recv_hndl_t receive_handle,
                                     MCAPI_OUT mcapi_status_t *status);

MEDLEY_DECLS_END

#endif
