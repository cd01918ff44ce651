/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Medley's own calls: what the standards have no word for.
 *
 * A system is one running Medley: named shared memory and the processes attached to it, or,
 * private, a single process. A process joins the system that medley_system_open chose, else the one
 * that the variable MEDLEY_SYSTEM names, else the user's default one.
 */
#ifndef MEDLEY_MEDLEY_H
#define MEDLEY_MEDLEY_H

#include <stdint.h>

#include "medley/status.h"
#include "medley/std/mrapi.h"

MEDLEY_DECLS_BEGIN

/* Of the library in use, "0.1.0". */
const char *medley_version(void);

/* Opens a system, creating it when nobody lives in it, and makes it the one that this process's
 * nodes join from now on. NULL: a private one. Keeps it open until medley_system_close. May block
 * while other processes open or close the same one. MEDLEY_TIMEOUT: one has been at that for five
 * seconds, stopped or hanging; standard error says which. MEDLEY_BUSY: nodes of this process, or
 * an open, keep it in another named system. MEDLEY_ERR_ARGUMENT, _ACCESS, _VERSION, _BYTE_ORDER,
 * _CORRUPT, _NO_MEMORY, _NOT_FOUND (the folder), _LIMIT, _SYSTEM: standard error says what to do.
 */
medley_status_t medley_system_open(const char *name);
/* Takes one open back: of the system chosen last, else of the other. With a system's last open goes
 * the choice; nodes that come later join the other one that is open, else the one that
 * MEDLEY_SYSTEM names, else the default one. The last user of a process detaches it, the last
 * process removes the name. MEDLEY_ERR_NOT_FOUND: there was none. */
medley_status_t medley_system_close(void);

#define MEDLEY_NODE_ANY (~0u)
/* The calling thread becomes a node, of a number that is free when `node` is MEDLEY_NODE_ANY; the
 * number goes to `number` (may be NULL). mrapi_finalize, or the thread's end, ends it.
 * MEDLEY_ERR_EXISTS: the thread is a node, or the number is taken; MEDLEY_ERR_ARGUMENT (~0 as
 * domain); MEDLEY_ERR_LIMIT, and what medley_system_open may give. */
medley_status_t medley_node_adopt(mrapi_domain_t domain, mrapi_node_t node, mrapi_node_t *number);

/* Did the calling node's last successful acquisition take a lock whose holder had died? Then what
 * the lock guards may be half changed. 1 or 0; 0 when the thread is not a node. */
int medley_lock_owner_died(void);

/* As mrapi_mutex_lock, until a time on medley_clock_ns(); ~0 is no limit. */
void medley_mutex_lock_until_ns(mrapi_mutex_hndl_t mutex,
                                mrapi_key_t *lock_key,
                                uint64_t deadline_ns,
                                mrapi_status_t *status);

/* As mrapi_sem_lock and mrapi_rwl_lock, likewise. */
void medley_sem_lock_until_ns(mrapi_sem_hndl_t sem, uint64_t deadline_ns, mrapi_status_t *status);
void medley_rwl_lock_until_ns(mrapi_rwl_hndl_t rwl,
                              mrapi_rwl_mode_t mode,
                              uint64_t deadline_ns,
                              mrapi_status_t *status);

/* Nanoseconds since some fixed point, monotonic, the same for all processes of a machine; but a
 * time namespace of Linux has its own. */
uint64_t medley_clock_ns(void);

/* What the calling node does, for the trace of its system (medley-trace(1)): from _begin to the
 * _end that belongs to it, within another one or not; _mark: at this time. `name` is yours, shown
 * up to its 11th byte. Costs a look at two words where the system keeps no trace, or the thread is
 * no node; nothing is told then. Never blocks, by any thread. */
void medley_trace_begin(const char *name);
void medley_trace_end(void);
void medley_trace_mark(const char *name);

MEDLEY_DECLS_END

#endif
