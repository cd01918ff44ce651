/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What published work adds to MRAPI, under the names used there ("OpenMP on MRAPI", section 5.A):
 * nodes that are threads started by the library.
 */
#ifndef MEDLEY_MRAPI_EXT_H
#define MEDLEY_MRAPI_EXT_H

#include "mrapi.h"

MEDLEY_DECLS_BEGIN

typedef struct mrapi_thread_parameters {
    void *thread_handle; /* a pthread_t to fill in, or NULL */
    const void *attr;    /* a pthread_attr_t, or NULL for the system's defaults */
    void *(*start_routine)(void *arg);
    void *arg;
} mrapi_thread_parameters_t;

/*
 * Starts a thread that is node `node_id` of `domain_id` from before its first instruction of
 * start_routine to its end, and registers it with the domain. The number stays taken until
 * mrapi_thread_join, or until its end when `attr` says detached. A thread taken over with
 * pthread_join keeps its number until the process ends.
 *   MRAPI_ERR_NODE_NOTINIT      the caller is not a node
 *   MRAPI_ERR_NODE_INITIALIZED  the number is taken
 *   MRAPI_ERR_NODE_INVALID, MRAPI_ERR_DOMAIN_INVALID, MRAPI_ERR_PARAMETER
 *   MRAPI_ERR_NODE_INITFAILED   no thread, or a limit is reached (MEDLEY_MAX_NODES)
 */
void mrapi_thread_create(MRAPI_IN mrapi_domain_t domain_id,
                         MRAPI_IN mrapi_node_t node_id,
                         MRAPI_IN mrapi_thread_parameters_t *init_parameters,
                         MRAPI_OUT mrapi_status_t *status);

/* Waits until a node that this process started has ended, frees its number, and gives what its
 * start_routine returned (result may be NULL). Blocks.
 * MRAPI_ERR_NODE_INVALID: no such node, not started by this process, detached, the caller itself,
 * or being joined by another; MRAPI_ERR_NODE_NOTINIT. */
void mrapi_thread_join(MRAPI_IN mrapi_domain_t domain_id,
                       MRAPI_IN mrapi_node_t node_id,
                       MRAPI_OUT void **result,
                       MRAPI_OUT mrapi_status_t *status);

/* Ends the calling thread, which mrapi_thread_create started; returns only on error:
 * MRAPI_ERR_NODE_NOTINIT, MRAPI_ERR_NODE_INVALID (not started so). */
void mrapi_thread_exit(MRAPI_IN void *result, MRAPI_OUT mrapi_status_t *status);

MEDLEY_DECLS_END

#endif
