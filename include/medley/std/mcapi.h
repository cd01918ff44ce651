/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MCAPI 2.0, the Multicore Association's Communications API: endpoints, messages, packet channels,
 * scalar channels, and state messages, between nodes that are threads or processes.
 *
 * A node is a thread that called mcapi_initialize; if it is a node of MRAPI, or becomes one, under
 * the same domain and number, it is the same node. Every function works for the calling node,
 * reports through its last argument on every path, and does nothing at all when that is NULL. An
 * endpoint belongs to the node that made it: only that node receives at it, sends from it and opens
 * it. A request may be asked about, and canceled, by any node of the process that made it.
 *
 * Unless it is said otherwise a function does not block. Those that block do so at most as long as
 * MCAPI_ENDP_ATTR_TIMEOUT of the endpoint says, and end with MCAPI_TIMEOUT. Whoever waits for
 * another node learns of its death within a second.
 *
 * Timeouts are microseconds. Where the standard (2.000), its headers and its public suite differ,
 * docs/decisions.md says what was chosen. docs/design/mcapi.md says how it works.
 */
#ifndef MCAPI_H
#define MCAPI_H

#include "mca.h"
#include "medley/decls.h"

MEDLEY_DECLS_BEGIN

/* ---- Types (2.2) ----------------------------------------------------------------------------- */

typedef mca_int_t mcapi_int_t;
typedef mca_int8_t mcapi_int8_t;
typedef mca_int16_t mcapi_int16_t;
typedef mca_int32_t mcapi_int32_t;
typedef mca_int64_t mcapi_int64_t;
typedef mca_uint_t mcapi_uint_t;
typedef mca_uint8_t mcapi_uint8_t;
typedef mca_uint16_t mcapi_uint16_t;
typedef mca_uint32_t mcapi_uint32_t;
typedef mca_uint64_t mcapi_uint64_t;
typedef mca_boolean_t mcapi_boolean_t;
typedef mca_domain_t mcapi_domain_t;
typedef mca_node_t mcapi_node_t;
typedef mca_timeout_t mcapi_timeout_t;
typedef mca_request_t mcapi_request_t;
typedef mcapi_uint_t mcapi_port_t;
typedef mcapi_uint_t mcapi_priority_t; /* 0 is the most urgent */
typedef mcapi_uint_t mcapi_param_t;    /* none are defined; pass NULL */

/* Unique in the system; comparable with ==. */
typedef mcapi_uint32_t mcapi_endpoint_t;
typedef mcapi_uint32_t mcapi_pktchan_recv_hndl_t;
typedef mcapi_uint32_t mcapi_pktchan_send_hndl_t;
typedef mcapi_uint32_t mcapi_sclchan_recv_hndl_t;
typedef mcapi_uint32_t mcapi_sclchan_send_hndl_t;

#define MCAPI_IN MCA_IN
#define MCAPI_OUT MCA_OUT

#define MCAPI_VERSION 2015
#define MCAPI_TRUE MCA_TRUE
#define MCAPI_FALSE MCA_FALSE
#define MCAPI_NULL MCA_NULL
#define MCAPI_TIMEOUT_INFINITE MCA_INFINITE
#define MCAPI_TIMEOUT_IMMEDIATE 0
#define MCAPI_NODE_INVALID MCA_NODE_INVALID
#define MCAPI_DOMAIN_INVALID MCA_DOMAIN_INVALID
#define MCAPI_RETURN_VALUE_INVALID MCA_RETURN_VALUE_INVALID
#define MCAPI_MAX_STATUS_MSG_LEN 32
#define MCAPI_MAX_STATUS_SIZE MCAPI_MAX_STATUS_MSG_LEN
#define MCAPI_DECL_ALIGNED MCA_DECL_ALIGNED
#define MCAPI_BUF_ALIGN 64 /* bytes; of packet buffers */

#define MCAPI_PORT_ANY (~0u)
#define MCAPI_MIN_PORT 0u
#define MCAPI_MAX_PORT 0x3fffffffu /* that users may choose; MCAPI_PORT_ANY takes one above */
#define MCAPI_NUM_RESERVED_PORTS 0
#define MCAPI_MAX_DOMAIN 0xfffffffeu
#define MCAPI_MAX_NODE 0xfffffffeu
#define MCAPI_MAX_PRORITY 0u /* spelt so in the standard */
#define MCAPI_MAX_PRIORITY MCAPI_MAX_PRORITY
#define MCAPI_MIN_PRORITY 3u
#define MCAPI_MIN_PRIORITY MCAPI_MIN_PRORITY
#define MCAPI_MAX_MESSAGE_SIZE 65536u /* at most; MEDLEY_BUFFER_BYTES says what this system has */
#define MCAPI_MAX_PACKET_SIZE MCAPI_MAX_MESSAGE_SIZE

/* ---- Status codes (2.2), in the order of the 2.015 header ------------------------------------ */

enum mcapi_status_codes {
    MCAPI_SUCCESS = 1,
    MCAPI_PENDING, /* started, not over, no error yet */
    MCAPI_TIMEOUT,
    MCAPI_ERR_PARAMETER,
    MCAPI_ERR_DOMAIN_INVALID,
    MCAPI_ERR_NODE_INVALID,
    MCAPI_ERR_NODE_INITFAILED,
    MCAPI_ERR_NODE_INITIALIZED, /* up already, or another's number */
    MCAPI_ERR_NODE_NOTINIT,
    MCAPI_ERR_NODE_FINALFAILED,
    MCAPI_ERR_PORT_INVALID,
    MCAPI_ERR_ENDP_INVALID,
    MCAPI_ERR_ENDP_EXISTS,
    MCAPI_ERR_ENDP_GET_LIMIT,    /* too many references to it; not given */
    MCAPI_ERR_ENDP_DELETED,      /* it was there */
    MCAPI_ERR_ENDP_NOTOWNER,     /* only its node may */
    MCAPI_ERR_ENDP_REMOTE,       /* only of an endpoint of this node */
    MCAPI_ERR_ENDP_NOPORTS,      /* no port is free; not given */
    MCAPI_ERR_ENDP_LIMIT,        /* MEDLEY_MAX_ENDPOINTS */
    MCAPI_ERR_ATTR_INCOMPATIBLE, /* the two ends differ */
    MCAPI_ERR_ATTR_SIZE,
    MCAPI_ERR_ATTR_NUM,
    MCAPI_ERR_ATTR_VALUE,
    MCAPI_ERR_ATTR_NOTSUPPORTED, /* not given: all that are defined are */
    MCAPI_ERR_ATTR_READONLY,
    MCAPI_ERR_MSG_SIZE,       /* longer than there may be */
    MCAPI_ERR_MSG_TRUNCATED,  /* longer than the receiver's buffer */
    MCAPI_ERR_CHAN_OPEN,      /* not while it is open */
    MCAPI_ERR_CHAN_TYPE,      /* of packets, not scalars, or the reverse */
    MCAPI_ERR_CHAN_DIRECTION, /* the other end's */
    MCAPI_ERR_CHAN_CONNECTED,
    MCAPI_ERR_CHAN_OPENPENDING,
    MCAPI_ERR_CHAN_CLOSEPENDING, /* not given: closing is over at once */
    MCAPI_ERR_CHAN_NOTOPEN,
    MCAPI_ERR_CHAN_INVALID, /* no handle of a channel */
    MCAPI_ERR_PKT_SIZE,     /* longer than there may be */
    MCAPI_ERR_SCL_SIZE,     /* of another width */
    MCAPI_ERR_TRANSMISSION, /* the other side is gone */
    MCAPI_ERR_PRIORITY,
    MCAPI_ERR_BUF_INVALID,
    MCAPI_ERR_MEM_LIMIT, /* no buffer, or a full queue, and no waiting wanted */
    MCAPI_ERR_REQUEST_INVALID,
    MCAPI_ERR_REQUEST_LIMIT, /* MEDLEY_MAX_REQUESTS */
    MCAPI_ERR_REQUEST_CANCELLED,
    MCAPI_ERR_WAIT_PENDING, /* not given: one of several is told, the others REQUEST_INVALID */
    MCAPI_ERR_GENERAL,      /* as each function says */
    MCAPI_STATUSCODE_END
};

/* One of them. As in the standard's header it is the type of all interfaces: programs pass the
 * address of an mca_status_t. */
typedef mca_status_t mcapi_status_t;

#define MCAPI_ERR_MSG_LIMIT MCAPI_ERR_MSG_SIZE
#define MCAPI_ERR_PKT_LIMIT MCAPI_ERR_PKT_SIZE

/* The code's name, into a buffer of `size` bytes (cut off to fit). Returns the buffer; NULL when it
 * is NULL or size is 0. Any thread, node or not. */
char *mcapi_display_status(MCAPI_IN mcapi_status_t status,
                           MCAPI_OUT char *status_message,
                           MCAPI_IN size_t size);
/* As mrapi_set_debug_level. */
void mcapi_set_debug_level(int level);

/* ---- Nodes (3.2) ----------------------------------------------------------------------------- */

#define MCAPI_NODE_ATTR_TYPE 0
#define MCAPI_NODE_ATTR_END 1
#define MCAPI_NODE_ATTR_TYPE_REGULAR 0 /* the value of the first */
#define MCAPI_NODE_ATTR_TYPE_END 1

typedef mcapi_uint_t mcapi_node_attr_type_t;

typedef struct mcapi_node_attributes {
    mcapi_uint_t set; /* Medley's own; filled by mcapi_node_init_attributes */
} mcapi_node_attributes_t;

typedef mcapi_uint_t impl_info_t;

typedef struct mcapi_info {
    mcapi_uint_t mcapi_version; /* MCAPI_VERSION */
    mcapi_uint_t organization_id;
    mcapi_uint_t implementation_version; /* major * 10000 + minor * 100 + patch */
    mcapi_uint_t number_of_domains;      /* the limits of this system */
    mcapi_uint_t number_of_nodes;
    mcapi_uint_t number_of_ports;
    impl_info_t *impl_info; /* NULL */
} mcapi_info_t;

/*
 * The calling thread becomes node `node_id` of domain `domain_id`, as mrapi_initialize says; if it
 * is that node of MRAPI, it stays it, and has endpoints from now on. `attributes` and
 * `init_parameters` may be NULL. May block as mrapi_initialize.
 *   MCAPI_ERR_NODE_INITIALIZED  it was called before, the thread is another node, or the number is
 *                               taken
 *   MCAPI_ERR_NODE_INVALID, MCAPI_ERR_DOMAIN_INVALID
 *                               ~0 is no number
 *   MCAPI_ERR_PARAMETER         mcapi_info is NULL, or the record was never initialised
 *   MCAPI_ERR_NODE_INITFAILED   as mrapi_initialize; or there is no memory for the exchange
 */
void mcapi_initialize(MCAPI_IN mcapi_domain_t domain_id,
                      MCAPI_IN mcapi_node_t node_id,
                      MCAPI_IN mcapi_node_attributes_t *attributes,
                      MCAPI_IN mcapi_param_t *init_parameters,
                      MCAPI_OUT mcapi_info_t *mcapi_info,
                      MCAPI_OUT mcapi_status_t *status);
/* Its endpoints go, with what was queued at them, and its requests: MCAPI_ERR_REQUEST_INVALID, to
 * whoever asks about one. It stays a node of MRAPI if it is one. MCAPI_ERR_NODE_NOTINIT,
 * MCAPI_ERR_NODE_FINALFAILED (as mrapi_finalize). */
void mcapi_finalize(MCAPI_OUT mcapi_status_t *status);

/* Own domain and number; MCAPI_RETURN_VALUE_INVALID with MCAPI_ERR_NODE_NOTINIT. */
mca_domain_t mcapi_domain_id_get(MCAPI_OUT mcapi_status_t *status);
mcapi_node_t mcapi_node_id_get(MCAPI_OUT mcapi_status_t *status);

/* Any thread. MCAPI_ERR_PARAMETER. */
void mcapi_node_init_attributes(MCAPI_OUT mcapi_node_attributes_t *attributes,
                                MCAPI_OUT mcapi_status_t *status);
/* Any thread. MCAPI_ERR_ATTR_NUM, _SIZE, _VALUE, MCAPI_ERR_PARAMETER. */
void mcapi_node_set_attribute(MCAPI_OUT mcapi_node_attributes_t *attributes,
                              MCAPI_IN mcapi_uint_t attribute_num,
                              MCAPI_IN void *attribute,
                              MCAPI_IN size_t attribute_size,
                              MCAPI_OUT mcapi_status_t *status);
/* Of any node there is. MCAPI_ERR_NODE_NOTINIT, MCAPI_ERR_DOMAIN_INVALID, MCAPI_ERR_NODE_INVALID,
 * MCAPI_ERR_ATTR_NUM, MCAPI_ERR_ATTR_SIZE, MCAPI_ERR_PARAMETER. */
void mcapi_node_get_attribute(MCAPI_IN mcapi_domain_t domain_id,
                              MCAPI_IN mcapi_node_t node_id,
                              MCAPI_IN mcapi_uint_t attribute_num,
                              MCAPI_OUT void *attribute,
                              MCAPI_IN size_t attribute_size,
                              MCAPI_OUT mcapi_status_t *status);

/* ---- Endpoints (3.3) ------------------------------------------------------------------------- */

/* Values are mcapi_uint_t unless it says otherwise. (C): both ends of a channel must agree. */
#define MCAPI_ENDP_ATTR_TYPE 0      /* read only: one of MCAPI_ENDP_ATTR_TYPE_ */
#define MCAPI_ENDP_ATTR_GET_COUNT 1 /* read only: how often others got it, less releases */
/* Read only: who got it last; ~0, both, if nobody did, or he is not there any more. Of type
 * mcapi_endp_attr_get_source_t. */
#define MCAPI_ENDP_ATTR_GET_SOURCE 2
#define MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE 3 /* (C) bytes */
#define MCAPI_ENDP_ATTR_BUFFER_TYPE 4      /* (C) MCAPI_ENDP_ATTR_FIFO_BUFFER, _STATE_BUFFER */
#define MCAPI_ENDP_ATTR_MEMORY_TYPE 5      /* (C) locality, and what happens when there is none */
#define MCAPI_ENDP_ATTR_NUM_PRIORITIES 6   /* (C) 1 to 4; messages have all 4 */
#define MCAPI_ENDP_ATTR_PRIORITY 7         /* (C) 0 to 3; of a channel, without effect */
#define MCAPI_ENDP_ATTR_NUM_SEND_BUFFERS 8 /* read only */
#define MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS 9 /* elements queued for each sender; states: buffers */
#define MCAPI_ENDP_ATTR_ENDP_STATUS 10     /* read only: flags below */
#define MCAPI_ENDP_ATTR_TIMEOUT 11         /* of calls that block; mcapi_timeout_t */
#define MCAPI_ENDP_ATTR_END 12

#define MCAPI_ENDP_ATTR_TYPE_MESSAGE 1 /* the values of ENDP_ATTR_TYPE */
#define MCAPI_ENDP_ATTR_TYPE_PKTCHAN 2
#define MCAPI_ENDP_ATTR_TYPE_SCLCHAN 4

#define MCAPI_ENDP_ATTR_FIFO_BUFFER 0
#define MCAPI_ENDP_ATTR_STATE_BUFFER 1 /* of packet channels: medley/mcapi_ext.h */

#define MCAPI_ENDP_ATTR_LOCAL_MEMORY 0
#define MCAPI_ENDP_ATTR_SHARED_MEMORY 1
#define MCAPI_ENDP_ATTR_REMOTE_MEMORY 2
#define MCAPI_ENDP_ATTR_BLOCK_ON_MEM_LIMIT 0
#define MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT 0x00010000

/* Distinct bits: in the public headers the second four collide with the first. */
#define MCAPI_ENDP_ATTR_STATUS_CONNECTED 0x0001
#define MCAPI_ENDP_ATTR_STATUS_OPEN 0x0002
#define MCAPI_ENDP_ATTR_STATUS_OPEN_PENDING 0x0004
#define MCAPI_ENDP_ATTR_STATUS_CLOSE_PENDING 0x0008
#define MCAPI_ENDP_ATTR_STATUS_GET_PENDING 0x0010
#define MCAPI_ENDP_ATTR_STATUS_PKTCHAN 0x0020
#define MCAPI_ENDP_ATTR_STATUS_SCLCHAN 0x0040
#define MCAPI_ENDP_ATTR_STATUS_SEND 0x0080
#define MCAPI_ENDP_ATTR_STATUS_RECEIVE 0x0100

/* Their values. */
typedef mcapi_uint_t mcapi_endp_attr_type_t;
typedef mcapi_uint_t mcapi_endp_attr_get_count_t;
typedef struct mcapi_endp_attr_get_source {
    mcapi_domain_t domain_id;
    mcapi_node_t node_id;
} mcapi_endp_attr_get_source_t;
typedef mcapi_int_t mcapi_endp_attr_max_payload_size_t;
typedef mcapi_uint_t mcapi_endp_attr_buffer_type_t;
typedef mcapi_uint_t mcapi_endp_attr_memory_type_t;
typedef mcapi_int_t mcapi_endp_attr_num_priorities_t;
typedef mcapi_uint_t mcapi_endp_attr_priority_t;
typedef mcapi_int_t mcapi_endp_attr_num_send_buffers_t;
typedef mcapi_uint_t mcapi_endp_attr_num_recv_buffers_t;
typedef mcapi_uint_t mcapi_endp_attr_status_t;
typedef mcapi_timeout_t mcapi_endp_attr_timeout_t;

/* Numbers of attributes: the standard's, then a range for each organisation. None are defined. */
#define MCAPI_MAX_NUM_ENDP_ATTRS_MCA 64
#define MCAPI_MAX_NUM_ENDP_ATTRS_OTHER 32
#define mcapi_start_endp_attribute(x)                                                              \
    (MCAPI_MAX_NUM_ENDP_ATTRS_MCA + (x)*MCAPI_MAX_NUM_ENDP_ATTRS_OTHER)
#define mcapi_end_endp_attribute(x)                                                                \
    (MCAPI_MAX_NUM_ENDP_ATTRS_MCA + ((x) + 1) * MCAPI_MAX_NUM_ENDP_ATTRS_OTHER)

/* An endpoint of the calling node, or MCAPI_PORT_ANY for any free port. MCAPI_ERR_PORT_INVALID,
 * MCAPI_ERR_ENDP_EXISTS, MCAPI_ERR_ENDP_LIMIT, MCAPI_ERR_NODE_NOTINIT, MCAPI_TIMEOUT (a process
 * that is stopped was in the way for five seconds, as at whatever makes or deletes something). */
mcapi_endpoint_t mcapi_endpoint_create(MCAPI_IN mcapi_port_t port_id,
                                       MCAPI_OUT mcapi_status_t *status);
/* Ends when the endpoint is there; it is in `endpoint` then, which must stay until then.
 * MCAPI_SUCCESS: there is a request, which may have ended; MCAPI_ERR_PORT_INVALID (no
 * endpoint can have it), _NODE_INVALID, _DOMAIN_INVALID (~0), _NODE_NOTINIT, _REQUEST_LIMIT,
 * _PARAMETER. */
void mcapi_endpoint_get_i(MCAPI_IN mcapi_domain_t domain_id,
                          MCAPI_IN mcapi_node_t node_id,
                          MCAPI_IN mcapi_port_t port_id,
                          MCAPI_OUT mcapi_endpoint_t *endpoint,
                          MCAPI_OUT mcapi_request_t *request,
                          MCAPI_OUT mcapi_status_t *status);
/* Blocks until the endpoint is there. As above, and MCAPI_TIMEOUT. */
mcapi_endpoint_t mcapi_endpoint_get(MCAPI_IN mcapi_domain_t domain_id,
                                    MCAPI_IN mcapi_node_t node_id,
                                    MCAPI_IN mcapi_port_t port_id,
                                    MCAPI_IN mcapi_timeout_t timeout,
                                    MCAPI_OUT mcapi_status_t *status);
/* Takes one get back. MCAPI_ERR_ENDP_INVALID, MCAPI_ERR_NODE_NOTINIT. */
void mcapi_endpoint_release(MCAPI_IN mcapi_endpoint_t endpoint, MCAPI_OUT mcapi_status_t *status);
/* What is queued at it is lost; who sends to it is told. MCAPI_ERR_ENDP_INVALID, _NOTOWNER,
 * MCAPI_ERR_CHAN_CONNECTED (a channel that is not closed at this end), MCAPI_ERR_NODE_NOTINIT,
 * MCAPI_TIMEOUT as mcapi_endpoint_create. */
void mcapi_endpoint_delete(MCAPI_IN mcapi_endpoint_t endpoint, MCAPI_OUT mcapi_status_t *status);
/* Of any endpoint. MCAPI_ERR_ENDP_INVALID, MCAPI_ERR_ATTR_NUM, _SIZE, MCAPI_ERR_PARAMETER,
 * MCAPI_ERR_NODE_NOTINIT. */
void mcapi_endpoint_get_attribute(MCAPI_IN mcapi_endpoint_t endpoint,
                                  MCAPI_IN mcapi_uint_t attribute_num,
                                  MCAPI_OUT void *attribute,
                                  MCAPI_IN size_t attribute_size,
                                  MCAPI_OUT mcapi_status_t *status);
/* Of an own endpoint that is not connected. As above, and MCAPI_ERR_ATTR_READONLY, _VALUE,
 * MCAPI_ERR_ENDP_REMOTE, MCAPI_ERR_CHAN_CONNECTED. */
void mcapi_endpoint_set_attribute(MCAPI_IN mcapi_endpoint_t endpoint,
                                  MCAPI_IN mcapi_uint_t attribute_num,
                                  MCAPI_OUT const void *attribute,
                                  MCAPI_IN size_t attribute_size,
                                  MCAPI_OUT mcapi_status_t *status);

/* ---- Messages (3.4) -------------------------------------------------------------------------- */

/*
 * Sends `buffer_size` bytes from an own endpoint to any. Priorities: 0 to 3, the most urgent first;
 * what one endpoint sends to another at one priority arrives in that order. Both forms copy: when
 * the call, or the request, is over the buffer may be used again.
 *   msg_send    blocks while the receiver's queue is full; with a message that goes by a buffer,
 *               also as mcapi_pktchan_send (MCAPI_TIMEOUT; or MCAPI_ERR_MEM_LIMIT at once, if the
 *               sending endpoint's memory type says FAIL_ON_MEM_LIMIT)
 *   msg_send_i  MCAPI_SUCCESS: there is a request, which may have ended
 *   MCAPI_ERR_ENDP_INVALID   no endpoints, or not the caller's to send from
 *   MCAPI_ERR_MSG_SIZE       more than the receiver's MAX_PAYLOAD_SIZE
 *   MCAPI_ERR_TRANSMISSION   the receiver is gone: what it has not received is lost. Of one whose
 *                            process was killed, also afterwards; who sends slowly is told by the
 *                            first send 0.1 s after its death, or later
 *   MCAPI_ERR_ENDP_DELETED   of a request: the sending endpoint was deleted meanwhile
 *   MCAPI_ERR_GENERAL        one of the two is connected as a channel
 *   MCAPI_ERR_MEM_LIMIT      also: no lane or buffer is left (standard error names the limit).
 *                            Lanes to receivers who are gone come free when their senders make a
 *                            lane or wait in a call, so trying again helps
 *   MCAPI_ERR_PARAMETER      NULL, but for the address of no bytes
 *   MCAPI_ERR_PRIORITY, MCAPI_ERR_REQUEST_LIMIT, MCAPI_ERR_NODE_NOTINIT
 */
void mcapi_msg_send_i(MCAPI_IN mcapi_endpoint_t send_endpoint,
                      MCAPI_IN mcapi_endpoint_t receive_endpoint,
                      MCAPI_IN void *buffer,
                      MCAPI_IN size_t buffer_size,
                      MCAPI_IN mcapi_priority_t priority,
                      MCAPI_OUT mcapi_request_t *request,
                      MCAPI_OUT mcapi_status_t *status);
void mcapi_msg_send(MCAPI_IN mcapi_endpoint_t send_endpoint,
                    MCAPI_IN mcapi_endpoint_t receive_endpoint,
                    MCAPI_IN void *buffer,
                    MCAPI_IN size_t buffer_size,
                    MCAPI_IN mcapi_priority_t priority,
                    MCAPI_OUT mcapi_status_t *status);
/*
 * Receives the next message at an own endpoint, the most urgent first. Receives that were asked for
 * get the messages in the order they were asked for.
 *   MCAPI_ERR_MSG_TRUNCATED  it was longer than the buffer: what fits is there, the rest is lost
 *   MCAPI_ERR_ENDP_INVALID   no endpoint, or not the caller's
 *   MCAPI_ERR_GENERAL        it is connected as a channel
 *   MCAPI_TIMEOUT, MCAPI_ERR_PARAMETER, MCAPI_ERR_REQUEST_LIMIT, MCAPI_ERR_NODE_NOTINIT
 */
void mcapi_msg_recv_i(MCAPI_IN mcapi_endpoint_t receive_endpoint,
                      MCAPI_OUT void *buffer,
                      MCAPI_IN size_t buffer_size,
                      MCAPI_OUT mcapi_request_t *request,
                      MCAPI_OUT mcapi_status_t *status);
void mcapi_msg_recv(MCAPI_IN mcapi_endpoint_t receive_endpoint,
                    MCAPI_OUT void *buffer,
                    MCAPI_IN size_t buffer_size,
                    MCAPI_OUT size_t *received_size,
                    MCAPI_OUT mcapi_status_t *status);
/* How many messages can be received without blocking, at least. MCAPI_ERR_ENDP_INVALID,
 * MCAPI_ERR_NODE_NOTINIT. */
mcapi_uint_t mcapi_msg_available(MCAPI_IN mcapi_endpoint_t receive_endpoint,
                                 MCAPI_OUT mcapi_status_t *status);

/* ---- Packet channels (3.5) ------------------------------------------------------------------- */

/*
 * A channel goes from one endpoint to another, in order. Any node connects two endpoints that agree
 * on the attributes marked (C); then the owner of each opens its end. Requests of connect and open
 * are asked for as any other; an open ends when the endpoint is connected, whatever the other end
 * does, and its handle is there then.
 *   connect  MCAPI_ERR_CHAN_CONNECTED, MCAPI_ERR_ATTR_INCOMPATIBLE, MCAPI_ERR_ENDP_INVALID
 *            (also: both are one), MCAPI_ERR_MEM_LIMIT (MEDLEY_MAX_LANES), MCAPI_TIMEOUT
 *            (as mcapi_endpoint_create), MCAPI_ERR_REQUEST_LIMIT, MCAPI_ERR_PARAMETER,
 *            MCAPI_ERR_NODE_NOTINIT
 *   open     MCAPI_ERR_ENDP_INVALID (also: not the caller's), MCAPI_ERR_CHAN_OPEN,
 *            MCAPI_ERR_CHAN_OPENPENDING, the last three as above; and when it ends
 *            MCAPI_ERR_CHAN_TYPE, MCAPI_ERR_CHAN_DIRECTION, MCAPI_ERR_ENDP_DELETED
 *   close    of one's own end, at once. What was sent stays receivable; what was not received is
 *            dropped when the receiving end is closed. MCAPI_ERR_CHAN_NOTOPEN (the caller has it
 *            not open, or not any more), MCAPI_ERR_CHAN_DIRECTION (the other end),
 *            MCAPI_ERR_CHAN_TYPE, MCAPI_ERR_CHAN_INVALID, the last three as above
 */
void mcapi_pktchan_connect_i(MCAPI_IN mcapi_endpoint_t send_endpoint,
                             MCAPI_IN mcapi_endpoint_t receive_endpoint,
                             MCAPI_OUT mcapi_request_t *request,
                             MCAPI_OUT mcapi_status_t *status);
void mcapi_pktchan_recv_open_i(MCAPI_OUT mcapi_pktchan_recv_hndl_t *receive_handle,
                               MCAPI_IN mcapi_endpoint_t receive_endpoint,
                               MCAPI_OUT mcapi_request_t *request,
                               MCAPI_OUT mcapi_status_t *status);
void mcapi_pktchan_send_open_i(MCAPI_OUT mcapi_pktchan_send_hndl_t *send_handle,
                               MCAPI_IN mcapi_endpoint_t send_endpoint,
                               MCAPI_OUT mcapi_request_t *request,
                               MCAPI_OUT mcapi_status_t *status);
void mcapi_pktchan_recv_close_i(MCAPI_IN mcapi_pktchan_recv_hndl_t receive_handle,
                                MCAPI_OUT mcapi_request_t *request,
                                MCAPI_OUT mcapi_status_t *status);
void mcapi_pktchan_send_close_i(MCAPI_IN mcapi_pktchan_send_hndl_t send_handle,
                                MCAPI_OUT mcapi_request_t *request,
                                MCAPI_OUT mcapi_status_t *status);

/*
 * Copies `size` bytes into a buffer of the system's, which goes. mcapi_pktchan_send blocks while
 * the channel is full, no buffer is left, or the channel has its share of them, about half of what
 * is free (MCAPI_TIMEOUT; MCAPI_ERR_MEM_LIMIT as mcapi_msg_send).
 * MCAPI_ERR_CHAN_INVALID, MCAPI_ERR_PKT_SIZE, MCAPI_ERR_TRANSMISSION (the receiver is gone),
 * MCAPI_ERR_ENDP_DELETED (of a request, as of one to receive: its end was closed meanwhile),
 * MCAPI_ERR_PARAMETER (as mcapi_msg_send), MCAPI_ERR_REQUEST_LIMIT, MCAPI_ERR_NODE_NOTINIT. */
void mcapi_pktchan_send_i(MCAPI_IN mcapi_pktchan_send_hndl_t send_handle,
                          MCAPI_IN void *buffer,
                          MCAPI_IN size_t size,
                          MCAPI_OUT mcapi_request_t *request,
                          MCAPI_OUT mcapi_status_t *status);
void mcapi_pktchan_send(MCAPI_IN mcapi_pktchan_send_hndl_t send_handle,
                        MCAPI_IN void *buffer,
                        MCAPI_IN size_t size,
                        MCAPI_OUT mcapi_status_t *status);
/*
 * The next packet, in a buffer of the system's, aligned to MCAPI_BUF_ALIGN: the caller's until
 * mcapi_pktchan_release, in any order. When the sender is gone and all is received
 * MCAPI_ERR_ENDP_DELETED, until the end is closed. MCAPI_ERR_CHAN_INVALID, MCAPI_TIMEOUT,
 * MCAPI_ERR_TRANSMISSION (what came is no packet), and the last three as above. */
void mcapi_pktchan_recv_i(MCAPI_IN mcapi_pktchan_recv_hndl_t receive_handle,
                          MCAPI_OUT void **buffer,
                          MCAPI_OUT mcapi_request_t *request,
                          MCAPI_OUT mcapi_status_t *status);
void mcapi_pktchan_recv(MCAPI_IN mcapi_pktchan_recv_hndl_t receive_handle,
                        MCAPI_OUT void **buffer,
                        MCAPI_OUT size_t *received_size,
                        MCAPI_OUT mcapi_status_t *status);
/* How many can be received without blocking, at least. 0 with MCAPI_ERR_ENDP_DELETED: the sender is
 * gone, and all it sent was received. MCAPI_ERR_CHAN_INVALID, MCAPI_ERR_NODE_NOTINIT. */
mcapi_uint_t mcapi_pktchan_available(MCAPI_IN mcapi_pktchan_recv_hndl_t receive_handle,
                                     MCAPI_OUT mcapi_status_t *status);
/* MCAPI_ERR_BUF_INVALID: no such buffer, or not the caller's; MCAPI_ERR_NODE_NOTINIT. */
void mcapi_pktchan_release(MCAPI_IN void *buffer, MCAPI_OUT mcapi_status_t *status);
/* Asked by its sender: has the receiver given back the buffer that was sent in place
 * (medley/mcapi_ext.h)? MCAPI_FALSE with MCAPI_PENDING: not yet. What was given back stays so, also
 * while others use that buffer again. MCAPI_TRUE also for memory that is no buffer of the system's:
 * it was copied. MCAPI_ERR_PARAMETER (NULL), MCAPI_ERR_NODE_NOTINIT. */
mcapi_boolean_t mcapi_pktchan_release_test(MCAPI_IN void *buffer, MCAPI_OUT mcapi_status_t *status);

/* ---- Scalar channels (3.6) ------------------------------------------------------------------- */

/* Connected, opened and closed as packet channels. */
void mcapi_sclchan_connect_i(MCAPI_IN mcapi_endpoint_t send_endpoint,
                             MCAPI_IN mcapi_endpoint_t receive_endpoint,
                             MCAPI_OUT mcapi_request_t *request,
                             MCAPI_OUT mcapi_status_t *status);
void mcapi_sclchan_recv_open_i(MCAPI_OUT mcapi_sclchan_recv_hndl_t *receive_handle,
                               MCAPI_IN mcapi_endpoint_t receive_endpoint,
                               MCAPI_OUT mcapi_request_t *request,
                               MCAPI_OUT mcapi_status_t *status);
void mcapi_sclchan_send_open_i(MCAPI_OUT mcapi_sclchan_send_hndl_t *send_handle,
                               MCAPI_IN mcapi_endpoint_t send_endpoint,
                               MCAPI_OUT mcapi_request_t *request,
                               MCAPI_OUT mcapi_status_t *status);
void mcapi_sclchan_recv_close_i(MCAPI_IN mcapi_sclchan_recv_hndl_t receive_handle,
                                MCAPI_OUT mcapi_request_t *request,
                                MCAPI_OUT mcapi_status_t *status);
void mcapi_sclchan_send_close_i(MCAPI_IN mcapi_sclchan_send_hndl_t send_handle,
                                MCAPI_OUT mcapi_request_t *request,
                                MCAPI_OUT mcapi_status_t *status);

/* Blocks while the channel is full. MCAPI_ERR_CHAN_INVALID, MCAPI_ERR_CHAN_TYPE, MCAPI_TIMEOUT,
 * MCAPI_ERR_MEM_LIMIT as mcapi_msg_send, MCAPI_ERR_TRANSMISSION (the receiver is gone),
 * MCAPI_ERR_NODE_NOTINIT. */
void mcapi_sclchan_send_uint64(MCAPI_IN mcapi_sclchan_send_hndl_t send_handle,
                               MCAPI_IN mcapi_uint64_t dataword,
                               MCAPI_OUT mcapi_status_t *status);
void mcapi_sclchan_send_uint32(MCAPI_IN mcapi_sclchan_send_hndl_t send_handle,
                               MCAPI_IN mcapi_uint32_t dataword,
                               MCAPI_OUT mcapi_status_t *status);
void mcapi_sclchan_send_uint16(MCAPI_IN mcapi_sclchan_send_hndl_t send_handle,
                               MCAPI_IN mcapi_uint16_t dataword,
                               MCAPI_OUT mcapi_status_t *status);
void mcapi_sclchan_send_uint8(MCAPI_IN mcapi_sclchan_send_hndl_t send_handle,
                              MCAPI_IN mcapi_uint8_t dataword,
                              MCAPI_OUT mcapi_status_t *status);
/* Blocks while the channel is empty. MCAPI_ERR_SCL_SIZE: the next was sent with another width, and
 * stays there. MCAPI_ERR_ENDP_DELETED as mcapi_pktchan_recv. The others as above. */
mcapi_uint64_t mcapi_sclchan_recv_uint64(MCAPI_IN mcapi_sclchan_recv_hndl_t receive_handle,
                                         MCAPI_OUT mcapi_status_t *status);
mcapi_uint32_t mcapi_sclchan_recv_uint32(MCAPI_IN mcapi_sclchan_recv_hndl_t receive_handle,
                                         MCAPI_OUT mcapi_status_t *status);
mcapi_uint16_t mcapi_sclchan_recv_uint16(MCAPI_IN mcapi_sclchan_recv_hndl_t receive_handle,
                                         MCAPI_OUT mcapi_status_t *status);
mcapi_uint8_t mcapi_sclchan_recv_uint8(MCAPI_IN mcapi_sclchan_recv_hndl_t receive_handle,
                                       MCAPI_OUT mcapi_status_t *status);
/* As mcapi_pktchan_available. */
mcapi_uint_t mcapi_sclchan_available(MCAPI_IN mcapi_sclchan_recv_hndl_t receive_handle,
                                     MCAPI_OUT mcapi_status_t *status);

/* ---- Requests (3.7) -------------------------------------------------------------------------- */

/*
 * Any thread of the process that made the request may ask, if it is a node. What has to be done for
 * it is done by the node that made it, when that asks, or does the like of it: while it does
 * neither, another that waits goes on waiting, also for a message that is there.
 *
 * Has it ended? MCAPI_TRUE, and the request is over: `size` is how many bytes it moved, and status
 * says how it ended. MCAPI_FALSE with MCAPI_PENDING: not yet. MCAPI_ERR_REQUEST_INVALID: no
 * request, or it was asked for before; MCAPI_ERR_REQUEST_CANCELLED; MCAPI_ERR_PARAMETER;
 * MCAPI_ERR_NODE_NOTINIT. */
mcapi_boolean_t mcapi_test(MCAPI_IN mcapi_request_t *request,
                           MCAPI_OUT size_t *size,
                           MCAPI_OUT mcapi_status_t *status);
/* Blocks until it has ended; as above, and MCAPI_FALSE with MCAPI_TIMEOUT: it goes on. */
mcapi_boolean_t mcapi_wait(MCAPI_IN mcapi_request_t *request,
                           MCAPI_OUT size_t *size,
                           MCAPI_IN mcapi_timeout_t timeout,
                           MCAPI_OUT mcapi_status_t *status);
/* Blocks until one of `number`, 64 at most, has ended: which. Also which was canceled, or is no
 * request: with MCAPI_ERR_REQUEST_CANCELLED, MCAPI_ERR_REQUEST_INVALID. MCAPI_RETURN_VALUE_INVALID
 * with MCAPI_TIMEOUT, MCAPI_ERR_PARAMETER, MCAPI_ERR_NODE_NOTINIT. */
unsigned int mcapi_wait_any(MCAPI_IN size_t number,
                            mcapi_request_t **requests,
                            MCAPI_OUT size_t *size,
                            MCAPI_IN mcapi_timeout_t timeout,
                            MCAPI_OUT mcapi_status_t *status);
/* Calls it back: it is not done, and its buffer is free. MCAPI_ERR_REQUEST_CANCELLED: it was
 * before; MCAPI_ERR_REQUEST_INVALID: no request of this process, or it has ended;
 * MCAPI_ERR_PARAMETER, MCAPI_ERR_NODE_NOTINIT. */
void mcapi_cancel(mcapi_request_t *request, MCAPI_OUT mcapi_status_t *status);

MEDLEY_DECLS_END

#endif
