/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MRAPI 1.0, the Multicore Association's Resource Management API: nodes and domains, and mutexes.
 *
 * A node is a thread that called mrapi_initialize (or medley_node_adopt, medley/medley.h), or one
 * that mrapi_thread_create started (medley/mrapi_ext.h). Every function works for the calling node,
 * reports through its last argument on every path, and does nothing at all when that is NULL.
 * Unless it is said otherwise a function does not block and may be called by any node at any time.
 *
 * Timeouts are microseconds: 0 is one try, MRAPI_TIMEOUT_INFINITE is no limit. Where the draft of
 * the standard (0.9.3), its header and its public suite differ, docs/decisions.md says what was
 * chosen.
 */
#ifndef MRAPI_H
#define MRAPI_H

#include "mca.h"
#include "medley/decls.h"

MEDLEY_DECLS_BEGIN

/* ---- Types (2.4) ----------------------------------------------------------------------------- */

typedef mca_int_t mrapi_int_t;
typedef mca_int8_t mrapi_int8_t;
typedef mca_int16_t mrapi_int16_t;
typedef mca_int32_t mrapi_int32_t;
typedef mca_int64_t mrapi_int64_t;
typedef mca_uint_t mrapi_uint_t;
typedef mca_uint8_t mrapi_uint8_t;
typedef mca_uint16_t mrapi_uint16_t;
typedef mca_uint32_t mrapi_uint32_t;
typedef mca_uint64_t mrapi_uint64_t;
typedef mca_boolean_t mrapi_boolean_t;
typedef mca_domain_t mrapi_domain_t;
typedef mca_node_t mrapi_node_t;
typedef mca_timeout_t mrapi_timeout_t;
typedef mca_int_t mrapi_parameters_t; /* none are defined; pass 0 */

typedef mrapi_uint_t mrapi_mutex_id_t;
typedef mrapi_uint32_t mrapi_mutex_hndl_t;
typedef mrapi_uint32_t mrapi_key_t;

#define MRAPI_IN MCA_IN
#define MRAPI_OUT MCA_OUT

#define MRAPI_TRUE MCA_TRUE
#define MRAPI_FALSE MCA_FALSE
#define MRAPI_NULL MCA_NULL
#define MRAPI_NONE 0
#define MRAPI_TIMEOUT_INFINITE MCA_INFINITE
#define MRAPI_TIMEOUT_IMMEDIATE 0
#define MRAPI_NODE_INVALID MCA_NODE_INVALID
#define MRAPI_DOMAIN_INVALID MCA_DOMAIN_INVALID
#define MRAPI_RETURN_VALUE_INVALID MCA_RETURN_VALUE_INVALID
#define MRAPI_MAX_STATUS_SIZE 32

/* Users choose numbers from 0 to MRAPI_MAX_USER_MUTEX_ID; MRAPI_MUTEX_ID_ANY takes one above. */
#define MRAPI_MUTEX_ID_ANY 0xffffffffu
#define MRAPI_MAX_USER_MUTEX_ID 0x3fffffffu
#define MRAPI_MAX_MUTEX_ID 0x7fffffffu

/* ---- Status codes (2.4), in the order of the standard's header ------------------------------- */

typedef enum mrapi_status {
    MRAPI_SUCCESS,
    MRAPI_TIMEOUT,
    MRAPI_INCOMPLETE,
    MRAPI_ERR_ATTR_NUM,
    MRAPI_ERR_ATTR_READONLY,
    MRAPI_ERR_ATTR_SIZE,
    MRAPI_ERR_DOMAIN_INVALID,
    MRAPI_ERR_DOMAIN_NOTSHARED,
    MRAPI_ERR_MEM_LIMIT,
    MRAPI_ERR_MUTEX_DELETED,
    MRAPI_ERR_MUTEX_EXISTS,
    MRAPI_ERR_MUTEX_ID_INVALID,
    MRAPI_ERR_MUTEX_INVALID,
    MRAPI_ERR_MUTEX_KEY,
    MRAPI_ERR_MUTEX_LIMIT,
    MRAPI_ERR_MUTEX_LOCKED,
    MRAPI_ERR_MUTEX_LOCKORDER,
    MRAPI_ERR_MUTEX_NOTLOCKED,
    MRAPI_ERR_MUTEX_NOTVALID, /* its holder died, and MEDLEY_MUTEX_ON_DEATH is fail */
    MRAPI_ERR_NODE_INITFAILED,
    MRAPI_ERR_NODE_FINALFAILED,
    MRAPI_ERR_NODE_INITIALIZED,
    MRAPI_ERR_NODE_INVALID,
    MRAPI_ERR_NODE_NOTINIT,
    MRAPI_ERR_NOT_SUPPORTED,
    MRAPI_ERR_PARAMETER,
    MRAPI_ERR_REQUEST_CANCELED,
    MRAPI_ERR_REQUEST_INVALID,
    MRAPI_ERR_REQUEST_LIMIT,
    MRAPI_ERR_RMEM_ID_INVALID,
    MRAPI_ERR_RMEM_ATTACH,
    MRAPI_ERR_RMEM_ATTACHED,
    MRAPI_ERR_RMEM_ATYPE,
    MRAPI_ERR_RMEM_ATYPE_NOTVALID,
    MRAPI_ERR_RMEM_BLOCKED,
    MRAPI_ERR_RMEM_BUFF_OVERRUN,
    MRAPI_ERR_RMEM_CONFLICT,
    MRAPI_ERR_RMEM_EXISTS,
    MRAPI_ERR_RMEM_INVALID,
    MRAPI_ERR_RMEM_NOTATTACHED,
    MRAPI_ERR_RMEM_NOTOWNER,
    MRAPI_ERR_RMEM_STRIDE,
    MRAPI_ERR_RMEM_TYPENOTVALID,
    MRAPI_ERR_RSRC_COUNTER_INUSE,
    MRAPI_ERR_RSRC_INVALID,
    MRAPI_ERR_RSRC_INVALID_CALLBACK,
    MRAPI_ERR_RSRC_INVALID_EVENT,
    MRAPI_ERR_RSRC_INVALID_SUBSYSTEM,
    MRAPI_ERR_RSRC_INVALID_TREE,
    MRAPI_ERR_RSRC_NOTDYNAMIC,
    MRAPI_ERR_RSRC_NOTOWNER,
    MRAPI_ERR_RSRC_NOTSTARTED,
    MRAPI_ERR_RSRC_STARTED,
    MRAPI_ERR_RWL_DELETED,
    MRAPI_ERR_RWL_EXISTS,
    MRAPI_ERR_RWL_ID_INVALID,
    MRAPI_ERR_RWL_INVALID,
    MRAPI_ERR_RWL_LIMIT,
    MRAPI_ERR_RWL_LOCKED,
    MRAPI_ERR_RWL_NOTLOCKED,
    MRAPI_ERR_SEM_DELETED,
    MRAPI_ERR_SEM_EXISTS,
    MRAPI_ERR_SEM_ID_INVALID,
    MRAPI_ERR_SEM_INVALID,
    MRAPI_ERR_SEM_LIMIT,
    MRAPI_ERR_SEM_LOCKED,
    MRAPI_ERR_SEM_LOCKLIMIT,
    MRAPI_ERR_SEM_NOTLOCKED,
    MRAPI_ERR_SHM_ATTACHED,
    MRAPI_ERR_SHM_ATTCH,
    MRAPI_ERR_SHM_EXISTS,
    MRAPI_ERR_SHM_ID_INVALID,
    MRAPI_ERR_SHM_INVALID,
    MRAPI_ERR_SHM_NODES_INCOMPAT,
    MRAPI_ERR_SHM_NODE_NOTSHARED,
    MRAPI_ERR_SHM_NOTATTACHED,
    MRAPI_STATUS_COUNT
} mrapi_status_t;

/* The code's name, into a buffer of `size` bytes (cut off to fit; MRAPI_MAX_STATUS_SIZE holds all
 * but MRAPI_ERR_RSRC_INVALID_SUBSYSTEM, whose last letter goes). Returns the buffer; NULL when it
 * is NULL or size is 0. Any thread, node or not. */
char *mrapi_display_status(mrapi_status_t status, char *status_message, size_t size);

/* How much Medley says on standard error: 0 nothing, 1 errors, 2 events, 3 all. The variable
 * MEDLEY_LOG sets it from outside. */
void mrapi_set_debug_level(int level);

/* ---- Nodes (3.2) ----------------------------------------------------------------------------- */

typedef struct mrapi_info {
    char mrapi_version[MRAPI_MAX_STATUS_SIZE];          /* of the standard */
    char implementation_version[MRAPI_MAX_STATUS_SIZE]; /* of Medley */
    mrapi_uint_t organization_id;                       /* MCA_ORG_ID_TBA */
    mrapi_uint_t number_of_domains;                     /* the limits of this system */
    mrapi_uint_t number_of_nodes;
} mrapi_info_t;

/*
 * The calling thread becomes node `node_id` of domain `domain_id`, until it calls mrapi_finalize or
 * ends. The first node of a process opens the system (MEDLEY_SYSTEM, or the user's default one) and
 * creates it when there is none; may block, at most five seconds, while other processes open or
 * close the same.
 *   MRAPI_ERR_NODE_INITIALIZED  the thread is a node already, or the number is taken (standard
 *                               error says by which process)
 *   MRAPI_ERR_NODE_INVALID, MRAPI_ERR_DOMAIN_INVALID
 *                               ~0 is no number
 *   MRAPI_ERR_PARAMETER         mrapi_info is NULL
 *   MRAPI_ERR_NODE_INITFAILED   the system cannot be opened, or a limit is reached (standard error
 *                               says which, and what to do)
 */
void mrapi_initialize(MRAPI_IN mrapi_domain_t domain_id,
                      MRAPI_IN mrapi_node_t node_id,
                      MRAPI_IN mrapi_parameters_t init_parameters,
                      MRAPI_OUT mrapi_info_t *mrapi_info,
                      MRAPI_OUT mrapi_status_t *status);

/* The calling thread is no node any more. What it still holds comes free, as if it had died. The
 * last node of a process closes the system. MRAPI_ERR_NODE_NOTINIT. */
void mrapi_finalize(MRAPI_OUT mrapi_status_t *status);

/* Own domain and number; MRAPI_RETURN_VALUE_INVALID with MRAPI_ERR_NODE_NOTINIT. */
mrapi_domain_t mrapi_domain_id_get(MRAPI_OUT mrapi_status_t *status);
mrapi_node_t mrapi_node_id_get(MRAPI_OUT mrapi_status_t *status);

/* ---- Mutexes (3.3) --------------------------------------------------------------------------- */

/* Attribute numbers; each value is an mrapi_boolean_t. */
#define MRAPI_MUTEX_RECURSIVE 1 /* default FALSE */
#define MRAPI_ERROR_EXT 2       /* default FALSE; deleted objects give *_DELETED, not *_INVALID */
#define MRAPI_DOMAIN_SHARED 3   /* default TRUE; FALSE: other domains cannot get it */
/* default FALSE; the holder runs with the priority of the most urgent waiter */
#define MEDLEY_MUTEX_PRIORITY_INHERITANCE 0x10001

typedef struct mrapi_mutex_attributes {
    mrapi_uint_t set; /* Medley's own; filled by mrapi_mutex_init_attributes */
} mrapi_mutex_attributes_t;

/* Defaults. MRAPI_ERR_PARAMETER (NULL), MRAPI_ERR_NODE_NOTINIT. */
void mrapi_mutex_init_attributes(MRAPI_OUT mrapi_mutex_attributes_t *attributes,
                                 MRAPI_OUT mrapi_status_t *status);
/* MRAPI_ERR_PARAMETER (NULL), MRAPI_ERR_ATTR_NUM, MRAPI_ERR_ATTR_SIZE (not an mrapi_boolean_t's),
 * MRAPI_ERR_NODE_NOTINIT. */
void mrapi_mutex_set_attribute(MRAPI_OUT mrapi_mutex_attributes_t *attributes,
                               MRAPI_IN mrapi_uint_t attribute_num,
                               MRAPI_IN void *attribute,
                               MRAPI_IN size_t attr_size,
                               MRAPI_OUT mrapi_status_t *status);
/* Of a mutex there is. Codes as above, and MRAPI_ERR_MUTEX_INVALID, _DELETED. */
void mrapi_mutex_get_attribute(MRAPI_IN mrapi_mutex_hndl_t mutex,
                               MRAPI_IN mrapi_uint_t attribute_num,
                               MRAPI_OUT void *attribute,
                               MRAPI_IN size_t attribute_size,
                               MRAPI_OUT mrapi_status_t *status);

/* Makes a mutex; `attributes` may be NULL for the defaults. It lives until it is deleted, whatever
 * becomes of its maker. May block while another node creates or deletes one.
 * MRAPI_ERR_MUTEX_ID_INVALID, _EXISTS, _LIMIT (see MEDLEY_MAX_MUTEXES), MRAPI_ERR_NOT_SUPPORTED
 * (priority inheritance where there is none), MRAPI_ERR_PARAMETER (a record that was never
 * initialised), MRAPI_ERR_NODE_NOTINIT. */
mrapi_mutex_hndl_t mrapi_mutex_create(MRAPI_IN mrapi_mutex_id_t mutex_id,
                                      MRAPI_IN mrapi_mutex_attributes_t *attributes,
                                      MRAPI_OUT mrapi_status_t *status);
/* The handle of a mutex that another node made. MRAPI_ERR_MUTEX_ID_INVALID: there is none of that
 * number; MRAPI_ERR_DOMAIN_NOTSHARED; MRAPI_ERR_NODE_NOTINIT. */
mrapi_mutex_hndl_t mrapi_mutex_get(MRAPI_IN mrapi_mutex_id_t mutex_id,
                                   MRAPI_OUT mrapi_status_t *status);
/* By the holder, or by anybody while nobody holds it. Who waits for it gets MRAPI_ERR_MUTEX_INVALID
 * (_DELETED with ERROR_EXT). MRAPI_ERR_MUTEX_LOCKED: another node holds it; _INVALID, _DELETED. */
void mrapi_mutex_delete(MRAPI_IN mrapi_mutex_hndl_t mutex, MRAPI_OUT mrapi_status_t *status);

/*
 * Takes it; blocks until then or the timeout. Each acquisition, and each level of a recursive one,
 * has a key of its own, which goes to `lock_key`. When a holder died, the next one gets the mutex
 * all the same and learns it from medley_lock_owner_died() (medley/medley.h).
 *   MRAPI_TIMEOUT             not had in time
 *   MRAPI_ERR_MUTEX_LOCKED    the caller holds it, and it is not recursive
 *   MRAPI_ERR_MUTEX_LIMIT     255 levels deep
 *   MRAPI_ERR_MUTEX_NOTVALID  a holder died, and MEDLEY_MUTEX_ON_DEATH is fail
 *   MRAPI_ERR_MUTEX_INVALID, _DELETED
 *                             there is no such mutex (any more)
 *   MRAPI_ERR_NOT_SUPPORTED   with priority inheritance, made in another PID namespace
 *   MRAPI_ERR_PARAMETER       lock_key is NULL
 *   MRAPI_ERR_NODE_NOTINIT
 */
void mrapi_mutex_lock(MRAPI_IN mrapi_mutex_hndl_t mutex,
                      MRAPI_OUT mrapi_key_t *lock_key,
                      MRAPI_IN mrapi_timeout_t timeout,
                      MRAPI_OUT mrapi_status_t *status);
/* One try. MRAPI_FALSE with MRAPI_ERR_MUTEX_LOCKED when somebody holds it (the caller too, unless
 * it is recursive), or with another of lock's codes. */
mrapi_boolean_t mrapi_mutex_trylock(MRAPI_IN mrapi_mutex_hndl_t mutex,
                                    MRAPI_OUT mrapi_key_t *lock_key,
                                    MRAPI_OUT mrapi_status_t *status);
/*
 * Gives one level back, with its key, the innermost first.
 *   MRAPI_ERR_MUTEX_NOTLOCKED  the caller does not hold it
 *   MRAPI_ERR_MUTEX_LOCKORDER  the key is of an outer level
 *   MRAPI_ERR_MUTEX_KEY        the key is of no level
 *   MRAPI_ERR_MUTEX_INVALID, _DELETED
 *                              there is no such mutex (any more)
 *   MRAPI_ERR_PARAMETER        lock_key is NULL
 *   MRAPI_ERR_NODE_NOTINIT
 */
void mrapi_mutex_unlock(MRAPI_IN mrapi_mutex_hndl_t mutex,
                        MRAPI_IN mrapi_key_t *lock_key,
                        MRAPI_OUT mrapi_status_t *status);

MEDLEY_DECLS_END

#endif
