/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MRAPI 1.0, the Multicore Association's Resource Management API: nodes and domains, mutexes,
 * semaphores, reader/writer locks, shared and remote memory, requests, and metadata.
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
typedef mrapi_uint_t mrapi_rmem_id_t;
typedef mrapi_uint32_t mrapi_rmem_hndl_t;
typedef mca_request_t mrapi_request_t;
typedef mrapi_uint_t mrapi_shmem_id_t;
typedef mrapi_uint32_t mrapi_shmem_hndl_t;
typedef mrapi_uint_t mrapi_sem_id_t;
typedef mrapi_uint32_t mrapi_sem_hndl_t;
typedef mrapi_uint_t mrapi_rwl_id_t;
typedef mrapi_uint32_t mrapi_rwl_hndl_t;

#define MRAPI_IN MCA_IN
#define MRAPI_OUT MCA_OUT

#define MRAPI_TRUE MCA_TRUE
#define MRAPI_FALSE MCA_FALSE
#define MRAPI_NULL MCA_NULL
#define MRAPI_NONE 0xffffffffu
#define MRAPI_TIMEOUT_INFINITE MCA_INFINITE
#define MRAPI_TIMEOUT_IMMEDIATE 0
#define MRAPI_NODE_INVALID MCA_NODE_INVALID
#define MRAPI_DOMAIN_INVALID MCA_DOMAIN_INVALID
#define MRAPI_RETURN_VALUE_INVALID MCA_RETURN_VALUE_INVALID
#define MRAPI_MAX_STATUS_SIZE 32

/* Users choose numbers from 0 to MRAPI_MAX_USER_MUTEX_ID; MRAPI_MUTEX_ID_ANY takes one above. So it
 * is with the others; each kind has its own numbers. What MRAPI_SHMEM_ID_ANY makes has none. */
#define MRAPI_MUTEX_ID_ANY 0xffffffffu
#define MRAPI_MAX_USER_MUTEX_ID 0xefffffffu
#define MRAPI_MAX_MUTEX_ID 0xfffffffeu
#define MRAPI_RMEM_ID_ANY 0xffffffffu
#define MRAPI_MAX_USER_RMEM_ID 0xefffffffu
#define MRAPI_MAX_RMEM_ID 0xfffffffeu
#define MRAPI_SEM_ID_ANY 0xffffffffu
#define MRAPI_MAX_USER_SEM_ID 0xefffffffu
#define MRAPI_MAX_SEM_ID 0xfffffffeu
#define MRAPI_RWL_ID_ANY 0xffffffffu
#define MRAPI_MAX_USER_RWL_ID 0xefffffffu
#define MRAPI_MAX_RWL_ID 0xfffffffeu
#define MRAPI_SHMEM_ID_ANY 0xffffffffu
#define MRAPI_MAX_USER_SHMEM_ID 0xefffffffu
#define MRAPI_MAX_SHMEM_ID 0xfffffffeu

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
 * close the same, and as long again while others initialise and finalise nodes. A domain stays as
 * long as the system: of different numbers that nodes had there can be as many as
 * MEDLEY_MAX_DOMAINS says, whether or not nodes are left in them.
 *   MRAPI_ERR_NODE_INITIALIZED  the thread is a node already (one of MCAPI alone, under the same
 *                               numbers, is one of both then), or the number is taken (standard
 *                               error says by which process)
 *   MRAPI_ERR_NODE_INVALID, MRAPI_ERR_DOMAIN_INVALID
 *                               ~0 is no number
 *   MRAPI_ERR_PARAMETER         mrapi_info is NULL
 *   MRAPI_ERR_NODE_INITFAILED   the system cannot be opened, a limit is reached, or a stopped
 *                               process is in the way (standard error says which, and what to do)
 */
void mrapi_initialize(MRAPI_IN mrapi_domain_t domain_id,
                      MRAPI_IN mrapi_node_t node_id,
                      MRAPI_IN mrapi_parameters_t init_parameters,
                      MRAPI_OUT mrapi_info_t *mrapi_info,
                      MRAPI_OUT mrapi_status_t *status);

/* The calling thread is no node any more. What it still holds comes free, as if it had died. The
 * last node of a process closes the system. MRAPI_ERR_NODE_NOTINIT; MRAPI_ERR_NODE_FINALFAILED: it
 * is no node any more, but its number stays taken, since a process that is stopped was in
 * the way for five seconds (standard error says which, and what to do); it comes free when this
 * process next initialises a node, or when it is gone. */
void mrapi_finalize(MRAPI_OUT mrapi_status_t *status);

/* Own domain and number; MRAPI_RETURN_VALUE_INVALID with MRAPI_ERR_NODE_NOTINIT. */
mrapi_domain_t mrapi_domain_id_get(MRAPI_OUT mrapi_status_t *status);
mrapi_node_t mrapi_node_id_get(MRAPI_OUT mrapi_status_t *status);

/* The draft's; no attribute of a node is defined, so that whichever is asked for is not there. */
typedef struct mrapi_node_attributes {
    mrapi_uint_t set; /* Medley's own; filled by mrapi_node_init_attributes */
} mrapi_node_attributes_t;

/* Fills a record with the defaults. Any thread, node or not: as before mrapi_initialize.
 * MRAPI_ERR_PARAMETER: attributes is NULL. */
void mrapi_node_init_attributes(MRAPI_OUT mrapi_node_attributes_t *attributes,
                                MRAPI_OUT mrapi_status_t *status);
/* Likewise. MRAPI_ERR_PARAMETER: attribute is NULL, or attributes was never initialised; else
 * MRAPI_ERR_ATTR_NUM. */
void mrapi_node_set_attribute(MRAPI_OUT mrapi_node_attributes_t *attributes,
                              MRAPI_IN mrapi_uint_t attribute_num,
                              MRAPI_IN void *attribute,
                              MRAPI_IN size_t attribute_size,
                              MRAPI_OUT mrapi_status_t *status);
/* Of a node of the caller's domain. MRAPI_ERR_NODE_NOTINIT, MRAPI_ERR_NODE_INVALID (there is no
 * such node), MRAPI_ERR_PARAMETER; else MRAPI_ERR_ATTR_NUM. */
void mrapi_node_get_attribute(MRAPI_IN mrapi_node_t node,
                              MRAPI_IN mrapi_uint_t attribute_num,
                              MRAPI_OUT void *attribute,
                              MRAPI_IN size_t attribute_size,
                              MRAPI_OUT mrapi_status_t *status);

/* ---- Attributes of any object ---------------------------------------------------------------- */

/* Each value is an mrapi_boolean_t. */
#define MRAPI_ERROR_EXT 2     /* default FALSE; deleted objects give *_DELETED, not *_INVALID */
#define MRAPI_DOMAIN_SHARED 3 /* default TRUE; FALSE: other domains cannot get it */

/* ---- Mutexes (3.3) --------------------------------------------------------------------------- */

#define MRAPI_MUTEX_RECURSIVE 1 /* default FALSE */
/* default FALSE; the holder runs with the priority of the most urgent waiter */
#define MEDLEY_MUTEX_PRIORITY_INHERITANCE 0x10001

typedef struct mrapi_mutex_attributes {
    mrapi_uint_t set; /* Medley's own; filled by mrapi_mutex_init_attributes */
} mrapi_mutex_attributes_t;

/* Defaults. MRAPI_ERR_PARAMETER (NULL), MRAPI_ERR_NODE_NOTINIT. */
void mrapi_mutex_init_attributes(MRAPI_OUT mrapi_mutex_attributes_t *attributes,
                                 MRAPI_OUT mrapi_status_t *status);
/* MRAPI_ERR_PARAMETER (NULL, never initialised), MRAPI_ERR_ATTR_NUM, MRAPI_ERR_ATTR_SIZE (not an
 * mrapi_boolean_t's), MRAPI_ERR_NODE_NOTINIT. */
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
 * becomes of its maker. May block while another node creates or deletes one, at most five seconds:
 * MRAPI_TIMEOUT, a process that is stopped was in the way (standard error says which); so every
 * creation, attachment and deletion of whatever object. With priority inheritance it may block for
 * up to a second more, while one who slept for a deleted mutex still has the lock; others may find
 * the new mutex locked meanwhile, and after that second it is given in any case, locked or not.
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
 * has a key of its own, which goes to `lock_key`: none that the node was given before, of whatever
 * mutex, until it was given 2^31 (of inner levels 2^23). When a holder died, the next one gets the
 * mutex all the same and learns it from medley_lock_owner_died() (medley/medley.h).
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
 * Gives one level back, with its key, the innermost first. A key that is not the level's is
 * refused, with an exception: a node keeps the keys of its eight newest inner levels or, of several
 * mutexes, of fewer. For an inner level whose key is no longer kept, any key that was made for that
 * depth is accepted.
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

/* ---- Semaphores (3.3) ------------------------------------------------------------------------ */

/* A semaphore is had by up to so many at once as its maker said, counting each lock of each node.
 * Who has one owns it: only he gives it back, and when he dies it comes back by itself. */

typedef struct mrapi_sem_attributes {
    mrapi_uint_t set; /* Medley's own; filled by mrapi_sem_init_attributes */
} mrapi_sem_attributes_t;

/* Defaults: of MRAPI_ERROR_EXT and MRAPI_DOMAIN_SHARED. MRAPI_ERR_PARAMETER (NULL),
 * MRAPI_ERR_NODE_NOTINIT. */
void mrapi_sem_init_attributes(MRAPI_OUT mrapi_sem_attributes_t *attributes,
                               MRAPI_OUT mrapi_status_t *status);
/* MRAPI_ERR_PARAMETER (NULL, never initialised), MRAPI_ERR_ATTR_NUM, MRAPI_ERR_ATTR_SIZE (not an
 * mrapi_boolean_t's), MRAPI_ERR_NODE_NOTINIT. */
void mrapi_sem_set_attribute(MRAPI_OUT mrapi_sem_attributes_t *attributes,
                             MRAPI_IN mrapi_uint_t attribute_num,
                             MRAPI_IN void *attribute,
                             MRAPI_IN size_t attr_size,
                             MRAPI_OUT mrapi_status_t *status);
/* Of a semaphore there is. Codes as above, and MRAPI_ERR_SEM_INVALID, _DELETED. */
void mrapi_sem_get_attribute(MRAPI_IN mrapi_sem_hndl_t sem,
                             MRAPI_IN mrapi_uint_t attribute_num,
                             MRAPI_OUT void *attribute,
                             MRAPI_IN size_t attribute_size,
                             MRAPI_OUT mrapi_status_t *status);

/* Makes a semaphore that up to `shared_lock_limit` have at once; `attributes` may be NULL for the
 * defaults. It lives until it is deleted, whatever becomes of its maker. May block while another
 * node creates or deletes one.
 * MRAPI_ERR_SEM_ID_INVALID, _EXISTS, _LIMIT (see MEDLEY_MAX_SEMAPHORES), _LOCKLIMIT (0, or more
 * than MEDLEY_MAX_SHARERS), MRAPI_ERR_PARAMETER (a record that was never initialised),
 * MRAPI_ERR_NODE_NOTINIT. */
mrapi_sem_hndl_t mrapi_sem_create(MRAPI_IN mrapi_sem_id_t sem_id,
                                  MRAPI_IN mrapi_sem_attributes_t *attributes,
                                  MRAPI_IN mrapi_uint_t shared_lock_limit,
                                  MRAPI_OUT mrapi_status_t *status);
/* The handle of a semaphore that another node made. MRAPI_ERR_SEM_ID_INVALID: there is none of that
 * number; MRAPI_ERR_DOMAIN_NOTSHARED; MRAPI_ERR_NODE_NOTINIT. */
mrapi_sem_hndl_t mrapi_sem_get(MRAPI_IN mrapi_sem_id_t sem_id, MRAPI_OUT mrapi_status_t *status);
/* By anybody while no other node has it locked. Who waits for it gets MRAPI_ERR_SEM_INVALID
 * (_DELETED with ERROR_EXT). MRAPI_ERR_SEM_LOCKED: another node has it; _INVALID, _DELETED. */
void mrapi_sem_delete(MRAPI_IN mrapi_sem_hndl_t sem, MRAPI_OUT mrapi_status_t *status);

/*
 * Takes one of its units; blocks until then or the timeout. A node may take several. When the last
 * owner of the unit died with it, medley_lock_owner_died() (medley/medley.h) says so.
 *   MRAPI_TIMEOUT          not had in time
 *   MRAPI_ERR_SEM_LOCKED   the caller has all units, and there is no timeout
 *   MRAPI_ERR_SEM_INVALID, _DELETED
 *                          there is no such semaphore (any more)
 *   MRAPI_ERR_NODE_NOTINIT
 */
void mrapi_sem_lock(MRAPI_IN mrapi_sem_hndl_t sem,
                    MRAPI_IN mrapi_timeout_t timeout,
                    MRAPI_OUT mrapi_status_t *status);
/* One try. MRAPI_FALSE with MRAPI_ERR_SEM_LOCKED when all units are had, or with another of lock's
 * codes. */
mrapi_boolean_t mrapi_sem_trylock(MRAPI_IN mrapi_sem_hndl_t sem, MRAPI_OUT mrapi_status_t *status);
/* Gives one of the caller's units back. MRAPI_ERR_SEM_NOTLOCKED: it has none; _INVALID, _DELETED,
 * MRAPI_ERR_NODE_NOTINIT. */
void mrapi_sem_unlock(MRAPI_IN mrapi_sem_hndl_t sem, MRAPI_OUT mrapi_status_t *status);

/* ---- Reader/writer locks (3.3) --------------------------------------------------------------- */

/*
 * Read by up to so many at once as its maker said, counting each lock of each node, or written by
 * one. Who has it owns it: only he gives it back, and when he dies it comes free by itself.
 *
 * From when a writer waits no other node begins to read, so readers keep no writer out. Readers and
 * writers who wait stand in one line, so writers keep no reader out either.
 */
typedef enum mrapi_rwl_mode {
    MRAPI_RWL_READER,
    MRAPI_RWL_WRITER
} mrapi_rwl_mode_t;

/* As the draft has them. */
#define MRAPI_READER MRAPI_RWL_READER
#define MRAPI_WRITER MRAPI_RWL_WRITER

typedef struct mrapi_rwl_attributes {
    mrapi_uint_t set; /* Medley's own; filled by mrapi_rwl_init_attributes */
} mrapi_rwl_attributes_t;

/* Defaults: of MRAPI_ERROR_EXT and MRAPI_DOMAIN_SHARED. MRAPI_ERR_PARAMETER (NULL),
 * MRAPI_ERR_NODE_NOTINIT. */
void mrapi_rwl_init_attributes(MRAPI_OUT mrapi_rwl_attributes_t *attributes,
                               MRAPI_OUT mrapi_status_t *status);
/* MRAPI_ERR_PARAMETER (NULL, never initialised), MRAPI_ERR_ATTR_NUM, MRAPI_ERR_ATTR_SIZE (not an
 * mrapi_boolean_t's), MRAPI_ERR_NODE_NOTINIT. */
void mrapi_rwl_set_attribute(MRAPI_OUT mrapi_rwl_attributes_t *attributes,
                             MRAPI_IN mrapi_uint_t attribute_num,
                             MRAPI_IN void *attribute,
                             MRAPI_IN size_t attr_size,
                             MRAPI_OUT mrapi_status_t *status);
/* Of a lock there is. Codes as above, and MRAPI_ERR_RWL_INVALID, _DELETED. */
void mrapi_rwl_get_attribute(MRAPI_IN mrapi_rwl_hndl_t rwl,
                             MRAPI_IN mrapi_uint_t attribute_num,
                             MRAPI_OUT void *attribute,
                             MRAPI_IN size_t attribute_size,
                             MRAPI_OUT mrapi_status_t *status);

/* Makes a lock that up to `reader_lock_limit` read at once; `attributes` may be NULL for the
 * defaults. It lives until it is deleted, whatever becomes of its maker. May block while another
 * node creates or deletes one.
 * MRAPI_ERR_RWL_ID_INVALID, _EXISTS, _LIMIT (see MEDLEY_MAX_RWLOCKS; or more readers than
 * MEDLEY_MAX_SHARERS), MRAPI_ERR_PARAMETER (no reader; a record that was never initialised),
 * MRAPI_ERR_NODE_NOTINIT. */
mrapi_rwl_hndl_t mrapi_rwl_create(MRAPI_IN mrapi_rwl_id_t rwl_id,
                                  MRAPI_IN mrapi_rwl_attributes_t *attributes,
                                  MRAPI_IN mrapi_uint_t reader_lock_limit,
                                  MRAPI_OUT mrapi_status_t *status);
/* The handle of a lock that another node made. MRAPI_ERR_RWL_ID_INVALID: there is none of that
 * number; MRAPI_ERR_DOMAIN_NOTSHARED; MRAPI_ERR_NODE_NOTINIT. */
mrapi_rwl_hndl_t mrapi_rwl_get(MRAPI_IN mrapi_rwl_id_t rwl_id, MRAPI_OUT mrapi_status_t *status);
/* By anybody while no other node reads or writes. Who waits for it gets MRAPI_ERR_RWL_INVALID
 * (_DELETED with ERROR_EXT). MRAPI_ERR_RWL_LOCKED: another node has it; _INVALID, _DELETED. */
void mrapi_rwl_delete(MRAPI_IN mrapi_rwl_hndl_t rwl, MRAPI_OUT mrapi_status_t *status);

/*
 * Takes it to read or to write; blocks until then or the timeout. A node that reads may take it to
 * read again, at once unless all readers' places are taken. When a writer died,
 * medley_lock_owner_died() (medley/medley.h) says so to everybody who takes it, up to the next
 * writer.
 *   MRAPI_TIMEOUT          not had in time
 *   MRAPI_ERR_RWL_LOCKED   the caller writes, or it reads and wants to write, or it has all
 *                          readers' places, wants another, and there is no timeout
 *   MRAPI_ERR_RWL_INVALID, _DELETED
 *                          there is no such lock (any more); or a writer died, and
 *                          MEDLEY_MUTEX_ON_DEATH is fail (_INVALID)
 *   MRAPI_ERR_PARAMETER    no such mode
 *   MRAPI_ERR_NODE_NOTINIT
 */
void mrapi_rwl_lock(MRAPI_IN mrapi_rwl_hndl_t rwl,
                    MRAPI_IN mrapi_rwl_mode_t mode,
                    MRAPI_IN mrapi_timeout_t timeout,
                    MRAPI_OUT mrapi_status_t *status);
/* One try. MRAPI_FALSE with MRAPI_ERR_RWL_LOCKED when somebody is in the way, or with another of
 * lock's codes. */
mrapi_boolean_t mrapi_rwl_trylock(MRAPI_IN mrapi_rwl_hndl_t rwl,
                                  MRAPI_IN mrapi_rwl_mode_t mode,
                                  MRAPI_OUT mrapi_status_t *status);
/* Gives it back as it was taken. MRAPI_ERR_RWL_NOTLOCKED: the caller has it not, or not so;
 * _INVALID, _DELETED, MRAPI_ERR_PARAMETER (no such mode), MRAPI_ERR_NODE_NOTINIT. */
void mrapi_rwl_unlock(MRAPI_IN mrapi_rwl_hndl_t rwl,
                      MRAPI_IN mrapi_rwl_mode_t mode,
                      MRAPI_OUT mrapi_status_t *status);
/* ---- Shared memory (3.5) --------------------------------------------------------------------- */

/* Attribute numbers, beside MRAPI_ERROR_EXT (kept, and without effect: the standard has no code for
 * a shared memory that was deleted) and MRAPI_DOMAIN_SHARED. */
#define MRAPI_SHMEM_RESOURCE 4 /* mrapi_uint_t: what it is made of, below; default any */
#define MRAPI_SHMEM_ADDRESS 5  /* void *: where it is mapped, default NULL: anywhere */
#define MRAPI_SHMEM_SIZE 6     /* mrapi_uint_t; read only */

#define MEDLEY_SHMEM_RESOURCE_ANY 0u
/* That memory node, and no other. */
#define MEDLEY_SHMEM_RESOURCE_NUMA(node) MEDLEY_SHMEM_RESOURCE_NUMBERED(0x10000u, node)
/* The machine's largest pages. */
#define MEDLEY_SHMEM_RESOURCE_HUGE_PAGES 0x20000u
/* A board's tightly coupled memory. */
#define MEDLEY_SHMEM_RESOURCE_TIGHT(bank) MEDLEY_SHMEM_RESOURCE_NUMBERED(0x30000u, bank)
/* One of several; a number that none can have gives what is no resource. */
#define MEDLEY_SHMEM_RESOURCE_NUMBERED(kind, number)                                               \
    ((mrapi_uint64_t)(number) <= 0xffffu ? (kind) | (mrapi_uint_t)(number) : ~0u)

typedef struct mrapi_shmem_attributes {
    mrapi_uint_t set; /* Medley's own, as are the next three; filled by ..._init_attributes */
    mrapi_uint_t resource;
    mrapi_uint_t size;
    void *address;
    /* Of mrapi_shmem_create_malloc (medley/mrapi_ext.h). */
    mrapi_boolean_t use_malloc;
    void *mem_addr;
} mrapi_shmem_attributes_t;

/* Defaults. MRAPI_ERR_PARAMETER (NULL), MRAPI_ERR_NODE_NOTINIT. */
void mrapi_shmem_init_attributes(MRAPI_OUT mrapi_shmem_attributes_t *attributes,
                                 MRAPI_OUT mrapi_status_t *status);
/* MRAPI_ERR_PARAMETER (NULL, or a record that was never initialised), MRAPI_ERR_ATTR_NUM,
 * MRAPI_ERR_ATTR_SIZE, MRAPI_ERR_ATTR_READONLY, MRAPI_ERR_NODE_NOTINIT. */
void mrapi_shmem_set_attribute(MRAPI_OUT mrapi_shmem_attributes_t *attributes,
                               MRAPI_IN mrapi_uint_t attribute_num,
                               MRAPI_IN void *attribute,
                               MRAPI_IN size_t attr_size,
                               MRAPI_OUT mrapi_status_t *status);
/* Of a shared memory there is. MRAPI_ERR_PARAMETER, MRAPI_ERR_ATTR_NUM, MRAPI_ERR_ATTR_SIZE,
 * MRAPI_ERR_SHM_INVALID, MRAPI_ERR_NODE_NOTINIT. */
void mrapi_shmem_get_attribute(MRAPI_IN mrapi_shmem_hndl_t shmem,
                               MRAPI_IN mrapi_uint_t attribute_num,
                               MRAPI_OUT void *attribute,
                               MRAPI_IN size_t attribute_size,
                               MRAPI_OUT mrapi_status_t *status);

/*
 * Makes a shared memory of `size` bytes, zeroed, its storage really there. With a list,
 * `nodes_size` numbers at `nodes`, only nodes of these numbers can get it; NULL and 0: any node.
 * `attributes` may be NULL for the defaults; `attr_size` is the record's, or 0. It lives until it
 * is deleted, or the system ends, whatever becomes of its maker. May block while another node
 * creates, attaches or deletes one.
 *   MRAPI_ERR_SHM_ID_INVALID      no number for users
 *   MRAPI_ERR_SHM_EXISTS          the number is taken
 *   MRAPI_ERR_SHM_NODES_INCOMPAT  a number in the list is none, or the list is longer than nodes
 *                                 can be (MEDLEY_MAX_NODES)
 *   MRAPI_ERR_MEM_LIMIT           no room, or MEDLEY_MAX_SHMEMS is reached; standard error says
 *                                 which
 *   MRAPI_ERR_NOT_SUPPORTED       the resource is not to be had, or files of another user are in
 *                                 the way; standard error says why
 *   MRAPI_ERR_PARAMETER           size 0, a list of some nodes at NULL, a record that was never
 *                                 initialised or is of another size, an address where no page
 *                                 begins, or that no program can have
 *   MRAPI_ERR_NODE_NOTINIT
 */
mrapi_shmem_hndl_t mrapi_shmem_create(MRAPI_IN mrapi_shmem_id_t shmem_id,
                                      MRAPI_IN mrapi_uint_t size,
                                      MRAPI_IN mrapi_node_t *nodes,
                                      MRAPI_IN mrapi_uint_t nodes_size,
                                      MRAPI_IN mrapi_shmem_attributes_t *attributes,
                                      MRAPI_IN mrapi_uint_t attr_size,
                                      MRAPI_OUT mrapi_status_t *status);
/* The handle of one that another node made. MRAPI_ERR_SHM_ID_INVALID: there is none of that number;
 * MRAPI_ERR_SHM_NODE_NOTSHARED: the caller is not in its list; MRAPI_ERR_DOMAIN_NOTSHARED;
 * MRAPI_ERR_NODE_NOTINIT. */
mrapi_shmem_hndl_t mrapi_shmem_get(MRAPI_IN mrapi_shmem_id_t shmem_id,
                                   MRAPI_OUT mrapi_status_t *status);

/* Maps it; the address is the same for all nodes of a process, and in all processes when the
 * attribute MRAPI_SHMEM_ADDRESS says so. Nothing that is mapped there is replaced. A child of fork
 * does not inherit it. Blocks as create. NULL, and:
 *   MRAPI_ERR_SHM_INVALID         there is no such shared memory (any more), or its segment is not
 *                                 what it was made
 *   MRAPI_ERR_SHM_ATTACHED        the caller has it attached
 *   MRAPI_ERR_SHM_NODE_NOTSHARED, MRAPI_ERR_DOMAIN_NOTSHARED
 *                                 as get
 *   MRAPI_ERR_MEM_LIMIT           it cannot be mapped (there); standard error says why
 *   MRAPI_ERR_NODE_NOTINIT */
void *mrapi_shmem_attach(MRAPI_IN mrapi_shmem_hndl_t shmem, MRAPI_OUT mrapi_status_t *status);
/* With the last node of the process it is unmapped. A node that ends detaches all it has attached.
 * MRAPI_ERR_SHM_NOTATTACHED, MRAPI_ERR_SHM_INVALID, MRAPI_ERR_NODE_NOTINIT. */
void mrapi_shmem_detach(MRAPI_IN mrapi_shmem_hndl_t shmem, MRAPI_OUT mrapi_status_t *status);
/* By any node. MRAPI_ERR_SHM_ATTCH: a node has it attached, this one or another that lives;
 * MRAPI_ERR_SHM_INVALID, MRAPI_ERR_NODE_NOTINIT. Blocks as create. */
void mrapi_shmem_delete(MRAPI_IN mrapi_shmem_hndl_t shmem, MRAPI_OUT mrapi_status_t *status);

/* ---- Remote memory (3.5) --------------------------------------------------------------------- */

typedef enum mrapi_rmem_atype {
    MRAPI_RMEM_DMA,      /* the machine's copy engine, where it has one */
    MRAPI_RMEM_SWCACHE,  /* through a copy of the attached node's own: see flush and synch */
    MRAPI_RMEM_DUMMY,    /* plain */
    MRAPI_RMEM_ATYPE_ANY /* for create only: each node attaches as it likes, all in the same way */
} mrapi_rmem_atype_t;
#define MRAPI_RMEM_DEFAULT MRAPI_RMEM_DUMMY
#define MRAPI_RMEM_ATYPE_DEFAULT MRAPI_RMEM_DUMMY

typedef struct mrapi_rmem_attributes {
    mrapi_uint_t set; /* Medley's own; filled by mrapi_rmem_init_attributes */
} mrapi_rmem_attributes_t;

/* As the functions of mutexes: MRAPI_DOMAIN_SHARED (default TRUE), MRAPI_ERROR_EXT (default FALSE,
 * without effect). get: of a remote memory there is; MRAPI_ERR_RMEM_INVALID. */
void mrapi_rmem_init_attributes(MRAPI_OUT mrapi_rmem_attributes_t *attributes,
                                MRAPI_OUT mrapi_status_t *status);
void mrapi_rmem_set_attribute(MRAPI_OUT mrapi_rmem_attributes_t *attributes,
                              MRAPI_IN mrapi_uint_t attribute_num,
                              MRAPI_IN void *attribute,
                              MRAPI_IN size_t attr_size,
                              MRAPI_OUT mrapi_status_t *status);
void mrapi_rmem_get_attribute(MRAPI_IN mrapi_rmem_hndl_t rmem,
                              MRAPI_IN mrapi_uint_t attribute_num,
                              MRAPI_OUT void *attribute,
                              MRAPI_IN size_t attribute_size,
                              MRAPI_OUT mrapi_status_t *status);

/*
 * Announces `size` bytes at `mem`, which stay the caller's, and must stay there until it is
 * deleted; others read and write them from when they attach. It goes with the caller, too, when
 * that is no node any more; but a transfer that another node had begun by then may touch the bytes
 * a moment longer: who wants them for something else deletes it first, which fails as long as
 * somebody is attached. `attributes` may be NULL. May block while another node makes or deletes
 * one.
 *   MRAPI_ERR_RMEM_ID_INVALID     no number for users
 *   MRAPI_ERR_RMEM_EXISTS         the number is taken
 *   MRAPI_ERR_RMEM_TYPENOTVALID   no access type
 *   MRAPI_ERR_RMEM_CONFLICT       overlaps another remote memory of this process
 *   MRAPI_ERR_MEM_LIMIT           see MEDLEY_MAX_RMEMS
 *   MRAPI_ERR_PARAMETER           mem is NULL, size 0, or a record was never initialised
 *   MRAPI_ERR_NODE_NOTINIT
 */
mrapi_rmem_hndl_t mrapi_rmem_create(MRAPI_IN mrapi_rmem_id_t rmem_id,
                                    MRAPI_IN void *mem,
                                    MRAPI_IN mrapi_rmem_atype_t access_type,
                                    MRAPI_IN mrapi_rmem_attributes_t *attributes,
                                    MRAPI_IN mrapi_uint_t size,
                                    MRAPI_OUT mrapi_status_t *status);
/* The handle of one that another node made. MRAPI_ERR_RMEM_ID_INVALID: there is none of that
 * number; _TYPENOTVALID: no access type; _ATYPE_NOTVALID: ANY; _ATYPE: it is not to be had in that
 * way; MRAPI_ERR_DOMAIN_NOTSHARED; MRAPI_ERR_NODE_NOTINIT. */
mrapi_rmem_hndl_t mrapi_rmem_get(MRAPI_IN mrapi_rmem_id_t rmem_id,
                                 MRAPI_IN mrapi_rmem_atype_t access_type,
                                 MRAPI_OUT mrapi_status_t *status);
/*
 * Needed before any transfer, also by the owner. Takes part in nothing but this node's own
 * transfers, and lasts until it detaches or is no node any more.
 *   MRAPI_ERR_RMEM_INVALID        no such remote memory, or its owner is gone; here and below
 *   MRAPI_ERR_RMEM_ATTACHED       the caller is
 *   MRAPI_ERR_RMEM_TYPENOTVALID, _ATYPE_NOTVALID, _ATYPE
 *                                 as get
 *   MRAPI_ERR_RMEM_CONFLICT       another node is attached in another way
 *   MRAPI_ERR_MEM_LIMIT           no memory for the cache, or see MEDLEY_MAX_RMEM_ATTACHMENTS
 *   MRAPI_ERR_NOT_SUPPORTED       the system does not let this process at the owner's memory
 *                                 (standard error says what to do)
 *   MRAPI_ERR_NODE_NOTINIT
 */
void mrapi_rmem_attach(MRAPI_IN mrapi_rmem_hndl_t rmem,
                       MRAPI_IN mrapi_rmem_atype_t access_type,
                       MRAPI_OUT mrapi_status_t *status);
/* Waits for the caller's transfers there, and flushes. MRAPI_ERR_RMEM_INVALID: its owner is gone,
 * and the caller is detached all the same; MRAPI_ERR_RMEM_NOTATTACHED, MRAPI_ERR_NODE_NOTINIT;
 * MRAPI_TIMEOUT as create: it is flushed, and attached as before. */
void mrapi_rmem_detach(MRAPI_IN mrapi_rmem_hndl_t rmem, MRAPI_OUT mrapi_status_t *status);
/* MRAPI_ERR_RMEM_NOTOWNER: not made by the caller; MRAPI_ERR_RMEM_ATTACH: somebody is attached;
 * MRAPI_ERR_RMEM_INVALID, MRAPI_ERR_NODE_NOTINIT. */
void mrapi_rmem_delete(MRAPI_IN mrapi_rmem_hndl_t rmem, MRAPI_OUT mrapi_status_t *status);

/*
 * Moves `num_strides` times `bytes_per_access` bytes: the i-th from rmem_offset + i * rmem_stride
 * to local_offset + i * local_stride, or the other way; where they overlap as memmove does, one i
 * after the other. Blocks until the bytes are there. Orders nothing: that they are there is told by
 * other means (a mutex, a message).
 *   MRAPI_ERR_RMEM_NOTATTACHED    the caller is not attached
 *   MRAPI_ERR_RMEM_BUFF_OVERRUN   beyond the end of the remote memory; nothing was moved
 *   MRAPI_ERR_RMEM_STRIDE         a stride below bytes_per_access; nothing was moved
 *   MRAPI_ERR_RMEM_INVALID        also: the owner died, or has nothing there any more, or, in
 *                                 another process, protects it from reading or writing it itself;
 *                                 a part may have been moved
 *   MRAPI_ERR_PARAMETER           local_buf is NULL, nothing to move
 *   MRAPI_ERR_NODE_NOTINIT
 */
void mrapi_rmem_read(MRAPI_IN mrapi_rmem_hndl_t rmem,
                     MRAPI_IN mrapi_uint32_t rmem_offset,
                     MRAPI_OUT void *local_buf,
                     MRAPI_IN mrapi_uint32_t local_offset,
                     MRAPI_IN mrapi_uint32_t bytes_per_access,
                     MRAPI_IN mrapi_uint32_t num_strides,
                     MRAPI_IN mrapi_uint32_t rmem_stride,
                     MRAPI_IN mrapi_uint32_t local_stride,
                     MRAPI_OUT mrapi_status_t *status);
void mrapi_rmem_write(MRAPI_IN mrapi_rmem_hndl_t rmem,
                      MRAPI_IN mrapi_uint32_t rmem_offset,
                      MRAPI_IN void *local_buf,
                      MRAPI_IN mrapi_uint32_t local_offset,
                      MRAPI_IN mrapi_uint32_t bytes_per_access,
                      MRAPI_IN mrapi_uint32_t num_strides,
                      MRAPI_IN mrapi_uint32_t rmem_stride,
                      MRAPI_IN mrapi_uint32_t local_stride,
                      MRAPI_OUT mrapi_status_t *status);
/* The same, not waited for: `mrapi_request` tells when the local bytes may be used again. Codes as
 * above, and MRAPI_ERR_REQUEST_LIMIT (see MEDLEY_MAX_REQUESTS), MRAPI_ERR_RMEM_BLOCKED (the engine
 * takes no more now), MRAPI_ERR_PARAMETER (mrapi_request is NULL). */
void mrapi_rmem_read_i(MRAPI_IN mrapi_rmem_hndl_t rmem,
                       MRAPI_IN mrapi_uint32_t rmem_offset,
                       MRAPI_OUT void *local_buf,
                       MRAPI_IN mrapi_uint32_t local_offset,
                       MRAPI_IN mrapi_uint32_t bytes_per_access,
                       MRAPI_IN mrapi_uint32_t num_strides,
                       MRAPI_IN mrapi_uint32_t rmem_stride,
                       MRAPI_IN mrapi_uint32_t local_stride,
                       MRAPI_OUT mrapi_request_t *mrapi_request,
                       MRAPI_OUT mrapi_status_t *status);
void mrapi_rmem_write_i(MRAPI_IN mrapi_rmem_hndl_t rmem,
                        MRAPI_IN mrapi_uint32_t rmem_offset,
                        MRAPI_IN void *local_buf,
                        MRAPI_IN mrapi_uint32_t local_offset,
                        MRAPI_IN mrapi_uint32_t bytes_per_access,
                        MRAPI_IN mrapi_uint32_t num_strides,
                        MRAPI_IN mrapi_uint32_t rmem_stride,
                        MRAPI_IN mrapi_uint32_t local_stride,
                        MRAPI_OUT mrapi_request_t *mrapi_request,
                        MRAPI_OUT mrapi_status_t *status);

/* With MRAPI_RMEM_SWCACHE, what the caller wrote goes to the remote memory; and what it read is
 * forgotten, so that it is fetched anew (what it wrote and did not flush stays). Both names are one
 * function. MRAPI_ERR_NOT_SUPPORTED: attached in another way; MRAPI_ERR_RMEM_INVALID,
 * MRAPI_ERR_RMEM_NOTATTACHED, MRAPI_ERR_NODE_NOTINIT. */
void mrapi_rmem_flush(MRAPI_IN mrapi_rmem_hndl_t rmem, MRAPI_OUT mrapi_status_t *status);
void mrapi_rmem_synch(MRAPI_IN mrapi_rmem_hndl_t rmem, MRAPI_OUT mrapi_status_t *status);
void mrapi_rmem_sync(MRAPI_IN mrapi_rmem_hndl_t rmem, MRAPI_OUT mrapi_status_t *status);

/* ---- Requests (3.6) -------------------------------------------------------------------------- */

/*
 * Is it over? MRAPI_TRUE: yes, `size` says how many bytes were moved, and the request is no more;
 * MRAPI_FALSE with MRAPI_INCOMPLETE: not yet. Any node of the process may ask; of several, one is
 * told of the end.
 *   MRAPI_ERR_REQUEST_INVALID     no such request (any more)
 *   MRAPI_ERR_REQUEST_CANCELED    it was canceled
 *   MRAPI_ERR_RMEM_INVALID        (with MRAPI_TRUE) it is over, and failed
 *   MRAPI_ERR_PARAMETER           a pointer is NULL
 *   MRAPI_ERR_NODE_NOTINIT
 */
mrapi_boolean_t mrapi_test(MRAPI_IN mrapi_request_t *request,
                           MRAPI_OUT size_t *size,
                           MRAPI_OUT mrapi_status_t *mrapi_status);
/* Blocks until it is over, or the timeout. As test; MRAPI_TIMEOUT. */
mrapi_boolean_t mrapi_wait(MRAPI_IN mrapi_request_t *request,
                           MRAPI_OUT size_t *size,
                           MRAPI_IN mrapi_timeout_t timeout,
                           MRAPI_OUT mrapi_status_t *mrapi_status);
/* Blocks until one of `number` is over (or canceled, or none): the first such in the list, whose
 * place in it is returned; else MRAPI_NONE. Codes as wait; MRAPI_ERR_PARAMETER: also number 0. */
mrapi_uint_t mrapi_wait_any(MRAPI_IN size_t number,
                            MRAPI_IN mrapi_request_t *requests,
                            MRAPI_OUT size_t *size,
                            MRAPI_IN mrapi_timeout_t timeout,
                            MRAPI_OUT mrapi_status_t *mrapi_status);
/* Calls it back: then nothing of it touches the caller's bytes any more, and whoever asks gets
 * MRAPI_ERR_REQUEST_CANCELED. May wait for a copy engine. MRAPI_ERR_REQUEST_INVALID: no such
 * request, or it is over, and its end still to be fetched; MRAPI_ERR_REQUEST_CANCELED: it was
 * canceled before; MRAPI_ERR_PARAMETER, MRAPI_ERR_NODE_NOTINIT. */
void mrapi_cancel(MRAPI_IN mrapi_request_t *request, MRAPI_OUT mrapi_status_t *mrapi_status);

/* ---- Metadata (3.6) -------------------------------------------------------------------------- */

/* What resource trees are asked for, and what the resources in them are. Names that begin with
 * MEDLEY_ are Medley's own. */
typedef enum mrapi_rsrc_filter {
    MRAPI_RSRC_MEM,
    MRAPI_RSRC_CPU,
    MRAPI_RSRC_CACHE,
    MRAPI_RSRC_DMA,
    MRAPI_RSRC_CROSSBAR,
    MEDLEY_RSRC_ALL,     /* asks for the whole machine */
    MEDLEY_RSRC_SYSTEM,  /* asks for the running system; its root is of this type */
    MEDLEY_RSRC_MACHINE, /* from here on types only: the root of the other trees */
    MEDLEY_RSRC_PACKAGE,
    MEDLEY_RSRC_CORE,
    MEDLEY_RSRC_NODE,  /* in the system's tree: below the table of nodes */
    MEDLEY_RSRC_TABLE, /* in the system's tree: all objects of a kind */
    MEDLEY_RSRC_LOCK,  /* below those of mutexes, semaphores and reader/writer locks */
    MEDLEY_RSRC_COUNT
} mrapi_rsrc_filter_t;

typedef struct mrapi_resource {
    const char *name;
    mrapi_rsrc_filter_t resource_type;
    struct mrapi_resource **children;
    mrapi_uint_t child_count;
    mrapi_uint_t number_of_children; /* the same, as the reference spells it */
} mrapi_resource_t;

/* Attributes of a resource, by its type. A number is read into 4 or 8 bytes. 0: not told. */
typedef enum mrapi_rsrc_mem_attrs {
    MRAPI_RSRC_MEM_BASEADDR,
    MRAPI_RSRC_MEM_NUMWORDS,
    MRAPI_RSRC_MEM_WORDSIZE, /* in bytes */
} mrapi_rsrc_mem_attrs;

typedef enum mrapi_rsrc_cache_attrs {
    MRAPI_RSRC_CACHE_SIZE,          /* in bytes, as the next */
    MRAPI_RSRC_CACHE_LINE_SIZE,     /* */
    MRAPI_RSRC_CACHE_ASSOCIATIVITY, /* ways; 0xffffffff: all */
    MRAPI_RSRC_CACHE_LEVEL,
} mrapi_rsrc_cache_attrs;

typedef enum mrapi_rsrc_cpu_attrs {
    MRAPI_RSRC_CPU_FREQUENCY, /* in Hz, the highest */
    MRAPI_RSRC_CPU_TYPE,      /* a const char *, good as long as the tree */
    MRAPI_RSRC_CPU_ID,        /* the operating system's number */
} mrapi_rsrc_cpu_attrs;

/* Dynamic attributes, Medley's own: counted from mrapi_dynamic_attribute_start or _reset to _stop,
 * read only in between. In 8 bytes the whole count, in 4 its lower half. What the processor counts
 * is an estimate while more is asked for than it has counters, by anybody. */
typedef enum medley_rsrc_dynamic_attrs {
    MEDLEY_RSRC_TIME_NS = 0x100, /* at work: of MRAPI_RSRC_CPU, MEDLEY_RSRC_NODE */
    MEDLEY_RSRC_CYCLES,          /* of these too, where machine and user permit, as the next two */
    MEDLEY_RSRC_INSTRUCTIONS,
    MEDLEY_RSRC_CACHE_MISSES,
    MEDLEY_RSRC_SLEEPS,     /* of a MEDLEY_RSRC_NODE for locks, of anybody for a MEDLEY_RSRC_LOCK */
    MEDLEY_RSRC_USED_BYTES, /* now, not since the start: of MEDLEY_RSRC_SYSTEM, _TABLE */
} medley_rsrc_dynamic_attrs;

/*
 * The machine as a tree of resources, those of one kind; each hangs below the nearest that is in
 * the tree, in the end below the root. Of the machine that HWLOC_XMLFILE or HWLOC_SYNTHETIC
 * describes, when one is set. The tree shows what there was at the time of the call. It is the
 * calling node's until mrapi_resource_tree_free, or until the node ends. May take milliseconds;
 * of a described machine 20 s, after which the description counts as one that cannot be read.
 *   MRAPI_ERR_RSRC_INVALID_SUBSYSTEM  no such filter
 *   MRAPI_ERR_NOT_SUPPORTED           the machine, or the file, cannot be read: standard error says
 *                                     what is wrong with it
 *   MRAPI_ERR_MEM_LIMIT, MRAPI_ERR_NODE_NOTINIT
 */
mrapi_resource_t *mrapi_resources_get(MRAPI_IN mrapi_rsrc_filter_t subsystem_filter,
                                      MRAPI_OUT mrapi_status_t *mrapi_status);

/*
 * Reads one attribute. Any node of the process, of any tree that is not freed.
 *   MRAPI_ERR_RSRC_INVALID     no resource of a tree that is there
 *   MRAPI_ERR_ATTR_NUM, MRAPI_ERR_ATTR_SIZE (which 4 bytes do not hold, too), MRAPI_ERR_PARAMETER
 *   MRAPI_ERR_RSRC_NOTSTARTED  a dynamic attribute that is not counted now
 *   MRAPI_ERR_NODE_INVALID     the node or lock whose attribute it is has gone
 *   MRAPI_ERR_NODE_NOTINIT
 */
void mrapi_resource_get_attribute(MRAPI_IN mrapi_resource_t *resource,
                                  MRAPI_IN mrapi_uint_t attribute_number,
                                  MRAPI_OUT void *attribute_value,
                                  MRAPI_IN size_t attr_size,
                                  MRAPI_OUT mrapi_status_t *mrapi_status);

/*
 * Begins to count. `rollover_callback` (may be NULL) is called when the count has passed a multiple
 * of 2^32, by the thread that notices: whichever reads, resets or stops the attribute next. It
 * holds nothing and may call anything.
 *   MRAPI_ERR_RSRC_INVALID, MRAPI_ERR_ATTR_NUM
 *   MRAPI_ERR_RSRC_NOTDYNAMIC     a static attribute
 *   MRAPI_ERR_RSRC_STARTED        it is counted already
 *   MRAPI_ERR_RSRC_COUNTER_INUSE  all counters of the processor are taken
 *   MRAPI_ERR_NOT_SUPPORTED       cannot be counted here: standard error says why
 *   MRAPI_ERR_NODE_INVALID        the node or lock has gone
 *   MRAPI_ERR_MEM_LIMIT, MRAPI_ERR_NODE_NOTINIT
 */
void mrapi_dynamic_attribute_start(MRAPI_IN mrapi_resource_t *resource,
                                   MRAPI_IN mrapi_uint_t attribute_number,
                                   void (*rollover_callback)(void),
                                   MRAPI_OUT mrapi_status_t *mrapi_status);

/* Counts from 0 again. MRAPI_ERR_RSRC_INVALID, MRAPI_ERR_ATTR_NUM, MRAPI_ERR_RSRC_NOTDYNAMIC,
 * MRAPI_ERR_RSRC_NOTSTARTED, MRAPI_ERR_NODE_INVALID, MRAPI_ERR_NODE_NOTINIT. */
void mrapi_dynamic_attribute_reset(MRAPI_IN mrapi_resource_t *resource,
                                   MRAPI_IN mrapi_uint_t attribute_number,
                                   MRAPI_OUT mrapi_status_t *mrapi_status);

/* Ends the count. Errors as of reset, but for NODE_INVALID. */
void mrapi_dynamic_attribute_stop(MRAPI_IN mrapi_resource_t *resource,
                                  MRAPI_IN mrapi_uint_t attribute_number,
                                  MRAPI_OUT mrapi_status_t *mrapi_status);

/* Events, as far as this process notices them. */
typedef enum mrapi_event {
    MRAPI_EVENT_CROSSBAR_BUFFER_OVER_80PERCENT, /* the reference's; no machine of ours has it */
    MEDLEY_EVENT_NODE_COMES,                    /* of this process */
    MEDLEY_EVENT_NODE_GOES,                     /* of this process */
    MEDLEY_EVENT_DEATH,                         /* a process died, and this one cleaned up */
    MEDLEY_EVENT_LIMIT,                         /* one that a variable sets (medley.7) */
    MEDLEY_EVENT_COUNT
} mrapi_event_t;

/*
 * Has a function called at every `frequency`-th occurrence of an event from now on, until the
 * process ends, in the thread that notices the event: a node that comes or goes, or starts another;
 * a node that waits for a lock whose holder has died; one that creates something. It may hold up
 * others that start or recover: it must be short, and not initialise, finalise, open or close
 * anything. What it causes itself is told to nobody.
 * The same function for the same event again: the new frequency counts, from 0; frequency 0 ends
 * it. A process has at most 16.
 *   MRAPI_ERR_RSRC_INVALID_EVENT     no such event, or none that this machine tells
 *   MRAPI_ERR_RSRC_INVALID_CALLBACK  NULL
 *   MRAPI_ERR_MEM_LIMIT, MRAPI_ERR_NODE_NOTINIT
 */
void mrapi_resource_register_callback(MRAPI_IN mrapi_event_t event,
                                      MRAPI_IN unsigned int frequency,
                                      void (*callback_function)(mrapi_event_t event),
                                      MRAPI_OUT mrapi_status_t *mrapi_status);

/* Ends its counts and frees it; its resources are RSRC_INVALID from then on. Only the node that got
 * it. MRAPI_ERR_RSRC_INVALID_TREE: not the root of a tree that is there; MRAPI_ERR_RSRC_NOTOWNER;
 * MRAPI_ERR_NODE_NOTINIT. */
void mrapi_resource_tree_free(mrapi_resource_t *MRAPI_IN *root_ptr,
                              MRAPI_OUT mrapi_status_t *mrapi_status);

MEDLEY_DECLS_END

#endif
