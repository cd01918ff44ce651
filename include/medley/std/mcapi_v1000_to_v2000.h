/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For programs written for MCAPI 1.x (1.063): its names, on MCAPI 2.0. Such a program includes this
 * in place of mcapi.h, and is compiled again. What 2.0 calls otherwise is renamed; what had other
 * arguments (initialize, get_endpoint, wait, wait_any) is a function here. What 2.0 calls the same
 * means what mcapi.h says.
 *
 * 1.x has no domains: all nodes of such programs are in MCAPI_V1000_DOMAIN, which may be defined
 * before this is included; nodes of 2.0 find them there. Not brought over: names of attributes,
 * which each implementation of 1.x chose, and the numbers that status codes had.
 */
#ifndef MCAPI_V1000_TO_V2000_H
#define MCAPI_V1000_TO_V2000_H

#include "mcapi.h"

MEDLEY_DECLS_BEGIN

#ifndef MCAPI_V1000_DOMAIN
#define MCAPI_V1000_DOMAIN 0
#endif

typedef mcapi_uint_t mcapi_version_t;

#define MCAPI_INFINITE MCAPI_TIMEOUT_INFINITE

/* ---- Status codes ---------------------------------------------------------------------------- */

#define MCAPI_INCOMPLETE MCAPI_PENDING
#define MCAPI_INITIALIZED MCAPI_ERR_NODE_INITIALIZED
#define MCAPI_EATTR_INCOMP MCAPI_ERR_ATTR_INCOMPATIBLE
#define MCAPI_ECHAN_OPEN MCAPI_ERR_CHAN_OPEN
#define MCAPI_ECHAN_TYPE MCAPI_ERR_CHAN_TYPE
#define MCAPI_ECONNECTED MCAPI_ERR_CHAN_CONNECTED
#define MCAPI_EDIR MCAPI_ERR_CHAN_DIRECTION
#define MCAPI_EENDP_ISCREATED MCAPI_ERR_ENDP_EXISTS
#define MCAPI_EENDP_LIMIT MCAPI_ERR_ENDP_LIMIT
#define MCAPI_EEP_NOTALLOWED MCAPI_ERR_GENERAL
#define MCAPI_EMESS_LIMIT MCAPI_ERR_MSG_SIZE
#define MCAPI_ENODE_NOTINIT MCAPI_ERR_NODE_NOTINIT
#define MCAPI_ENODE_NOTVALID MCAPI_ERR_NODE_INVALID
#define MCAPI_ENOTREQ_HANDLE MCAPI_ERR_REQUEST_INVALID
#define MCAPI_ENOT_CONNECTED MCAPI_ERR_CHAN_INVALID
#define MCAPI_ENOT_ENDP MCAPI_ERR_ENDP_INVALID
#define MCAPI_ENOT_HANDLE MCAPI_ERR_CHAN_INVALID
#define MCAPI_ENOT_OPEN MCAPI_ERR_CHAN_NOTOPEN
#define MCAPI_ENOT_OWNER MCAPI_ERR_ENDP_NOTOWNER
#define MCAPI_ENOT_VALID_BUF MCAPI_ERR_BUF_INVALID
#define MCAPI_ENO_BUFFER MCAPI_ERR_MEM_LIMIT
#define MCAPI_ENO_ENDPOINT MCAPI_ERR_ENDP_INVALID
#define MCAPI_ENO_FINAL MCAPI_ERR_NODE_FINALFAILED
#define MCAPI_ENO_INIT MCAPI_ERR_NODE_INITFAILED
#define MCAPI_ENO_MEM MCAPI_ERR_MEM_LIMIT
#define MCAPI_ENO_REQUEST MCAPI_ERR_REQUEST_LIMIT
#define MCAPI_EPACK_LIMIT MCAPI_ERR_PKT_SIZE
#define MCAPI_EPARAM MCAPI_ERR_PARAMETER
#define MCAPI_EPORT_NOTVALID MCAPI_ERR_PORT_INVALID
#define MCAPI_EPRIO MCAPI_ERR_PRIORITY
#define MCAPI_EREQ_CANCELED MCAPI_ERR_REQUEST_CANCELLED
#define MCAPI_EREQ_TIMEOUT MCAPI_TIMEOUT
#define MCAPI_ESCL_SIZE MCAPI_ERR_SCL_SIZE
#define MCAPI_ETRUNCATED MCAPI_ERR_MSG_TRUNCATED

/* ---- With other arguments -------------------------------------------------------------------- */

/* As mcapi_initialize; `version` becomes MCAPI_VERSION, and may not be NULL. */
static inline void
mcapi_v1000_initialize(mcapi_node_t node_id, mcapi_version_t *version, mcapi_status_t *status)
{
    mcapi_info_t info;
    if (!status) {
        return;
    }
    if (!version) {
        *status = MCAPI_ERR_PARAMETER;
        return;
    }
    mcapi_initialize(MCAPI_V1000_DOMAIN, node_id, MCAPI_NULL, MCAPI_NULL, &info, status);
    if (*status == MCAPI_SUCCESS) {
        *version = info.mcapi_version;
    }
}

/* As mcapi_endpoint_get, without end. */
static inline mcapi_endpoint_t
mcapi_get_endpoint(mcapi_node_t node_id, mcapi_port_t port_id, mcapi_status_t *status)
{
    return mcapi_endpoint_get(MCAPI_V1000_DOMAIN, node_id, port_id, MCAPI_TIMEOUT_INFINITE, status);
}

static inline void
mcapi_get_endpoint_i(mcapi_node_t node_id,
                     mcapi_port_t port_id,
                     mcapi_endpoint_t *endpoint,
                     mcapi_request_t *request,
                     mcapi_status_t *status)
{
    mcapi_endpoint_get_i(MCAPI_V1000_DOMAIN, node_id, port_id, endpoint, request, status);
}

static inline mcapi_boolean_t
mcapi_v1000_wait(mcapi_request_t *request,
                 size_t *size,
                 mcapi_status_t *status,
                 mcapi_timeout_t timeout)
{
    return mcapi_wait(request, size, timeout, status);
}

/* -1 where mcapi_wait_any gives MCAPI_RETURN_VALUE_INVALID. */
static inline mcapi_int_t
mcapi_v1000_wait_any(size_t number,
                     mcapi_request_t **requests,
                     size_t *size,
                     mcapi_status_t *status,
                     mcapi_timeout_t timeout)
{
    return (mcapi_int_t)mcapi_wait_any(number, requests, size, timeout, status);
}

#define mcapi_initialize mcapi_v1000_initialize
#define mcapi_wait mcapi_v1000_wait
#define mcapi_wait_any mcapi_v1000_wait_any

/* ---- With the same arguments ----------------------------------------------------------------- */

#define mcapi_get_node_id mcapi_node_id_get
#define mcapi_create_endpoint mcapi_endpoint_create
#define mcapi_delete_endpoint mcapi_endpoint_delete
#define mcapi_get_endpoint_attribute mcapi_endpoint_get_attribute
#define mcapi_set_endpoint_attribute mcapi_endpoint_set_attribute
#define mcapi_connect_pktchan_i mcapi_pktchan_connect_i
#define mcapi_open_pktchan_recv_i mcapi_pktchan_recv_open_i
#define mcapi_open_pktchan_send_i mcapi_pktchan_send_open_i
#define mcapi_packetchan_recv_close_i mcapi_pktchan_recv_close_i
#define mcapi_packetchan_send_close_i mcapi_pktchan_send_close_i
#define mcapi_pktchan_free mcapi_pktchan_release
#define mcapi_connect_sclchan_i mcapi_sclchan_connect_i
#define mcapi_open_sclchan_recv_i mcapi_sclchan_recv_open_i
#define mcapi_open_sclchan_send_i mcapi_sclchan_send_open_i

MEDLEY_DECLS_END

#endif
