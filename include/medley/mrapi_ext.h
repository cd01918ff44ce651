/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What published work adds to MRAPI, in its manner of naming: nodes that are threads started by the
 * library, and memory of the process's heap ("OpenMP on MRAPI", section 5); atomic operations,
 * yielding and delays ("lock-free MCAPI", section 2, which had to add them to the portability layer
 * of the reference).
 */
#ifndef MEDLEY_MRAPI_EXT_H
#define MEDLEY_MRAPI_EXT_H

#include "medley/std/mrapi.h"

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
 *   MRAPI_ERR_NOT_SUPPORTED     the machine starts no threads, or none with such attributes
 *   MRAPI_ERR_NODE_INITFAILED   no thread, a limit is reached (MEDLEY_MAX_NODES), or a process that
 *                               is stopped is in the way
 */
void mrapi_thread_create(MRAPI_IN mrapi_domain_t domain_id,
                         MRAPI_IN mrapi_node_t node_id,
                         MRAPI_IN mrapi_thread_parameters_t *init_parameters,
                         MRAPI_OUT mrapi_status_t *status);

/* Waits until a node that this process started has ended, frees its number, and gives what its
 * start_routine returned (result may be NULL). Blocks.
 * MRAPI_ERR_NODE_INVALID: no such node, not started by this process, detached, the caller itself,
 * or being joined by another; MRAPI_ERR_NODE_NOTINIT; MRAPI_ERR_NODE_FINALFAILED: it is joined, but
 * its number stays taken, as with mrapi_finalize. */
void mrapi_thread_join(MRAPI_IN mrapi_domain_t domain_id,
                       MRAPI_IN mrapi_node_t node_id,
                       MRAPI_OUT void **result,
                       MRAPI_OUT mrapi_status_t *status);

/* Ends the calling thread, which mrapi_thread_create started; returns only on error:
 * MRAPI_ERR_NODE_NOTINIT, MRAPI_ERR_NODE_INVALID (not started so). */
void mrapi_thread_exit(MRAPI_IN void *result, MRAPI_OUT mrapi_status_t *status);

/* ---- Heap memory ----------------------------------------------------------------------------- */

/*
 * Makes `size` bytes of memory and gives its address at once, in attributes->mem_addr. With
 * attributes->use_malloc it comes from the heap of this process, for its nodes: as cheap as malloc,
 * aligned for any type, not zeroed, not known to other processes; nothing else in the record is
 * looked at. Without, it is a shared memory of all processes, attached to the calling node: made as
 * by mrapi_shmem_create, with the record's attributes if it was initialised.
 *
 * mrapi_shmem_get finds heap memory by its key, where no shared memory has that number; any one of
 * several that have the same. It looks through all there are. mrapi_shmem_attach gives the address,
 * as often as it is asked, and detach does nothing; mrapi_shmem_get_attribute knows the size, and
 * the defaults of the others. mrapi_shmem_delete, by any node of the process, gives it back; so
 * does the process when it leaves the system; free() must not. Who deletes what is deleted gets
 * MRAPI_ERR_SHM_INVALID; but when two nodes delete the same, up to 4 KiB, at the same time, both
 * may get MRAPI_SUCCESS, and it is given back once.
 *   MRAPI_ERR_SHM_ID_INVALID  no number for users, nor MRAPI_SHMEM_ID_ANY
 *   MRAPI_ERR_PARAMETER       attributes is NULL, size 0
 *   MRAPI_ERR_MEM_LIMIT       no room, or 1,048,576 heap memories in the process
 *   MRAPI_ERR_NODE_NOTINIT, and without use_malloc the codes of mrapi_shmem_create and _attach
 */
mrapi_shmem_hndl_t mrapi_shmem_create_malloc(MRAPI_IN mrapi_shmem_id_t key,
                                             MRAPI_IN mrapi_uint_t size,
                                             MRAPI_OUT mrapi_shmem_attributes_t *attributes,
                                             MRAPI_OUT mrapi_status_t *status);

/* ---- Atomic operations ----------------------------------------------------------------------- */

/*
 * On `size` = 1, 2, 4 or 8 bytes at `memory`, aligned to their size, the program's own or shared
 * with other processes. All are sequentially consistent, and may be called by any thread, node or
 * not, and by an interrupt handler. None waits, but where several cores have only a test-and-set:
 * there each waits for the others' few instructions, and a plain store to what another core changes
 * by these may be lost, where mrapi_atomic_store is not. Of a value the low `size` bytes count.
 *   MRAPI_ERR_PARAMETER      memory is NULL or not aligned, there is no such size or bit
 *   MRAPI_ERR_NOT_SUPPORTED  the processor has no operations on 8 bytes
 * In both cases nothing is done, and 0 or MRAPI_FALSE returned.
 */
mrapi_uint64_t
mrapi_atomic_load(MRAPI_IN void *memory, MRAPI_IN size_t size, MRAPI_OUT mrapi_status_t *status);
void mrapi_atomic_store(MRAPI_OUT void *memory,
                        MRAPI_IN size_t size,
                        MRAPI_IN mrapi_uint64_t value,
                        MRAPI_OUT mrapi_status_t *status);
/* These return what was there before; add is modulo the size. */
mrapi_uint64_t mrapi_atomic_exchange(MRAPI_OUT void *memory,
                                     MRAPI_IN size_t size,
                                     MRAPI_IN mrapi_uint64_t value,
                                     MRAPI_OUT mrapi_status_t *status);
mrapi_uint64_t mrapi_atomic_add(MRAPI_OUT void *memory,
                                MRAPI_IN size_t size,
                                MRAPI_IN mrapi_uint64_t value,
                                MRAPI_OUT mrapi_status_t *status);
mrapi_uint64_t mrapi_atomic_and(MRAPI_OUT void *memory,
                                MRAPI_IN size_t size,
                                MRAPI_IN mrapi_uint64_t value,
                                MRAPI_OUT mrapi_status_t *status);
mrapi_uint64_t mrapi_atomic_or(MRAPI_OUT void *memory,
                               MRAPI_IN size_t size,
                               MRAPI_IN mrapi_uint64_t value,
                               MRAPI_OUT mrapi_status_t *status);
mrapi_uint64_t mrapi_atomic_xor(MRAPI_OUT void *memory,
                                MRAPI_IN size_t size,
                                MRAPI_IN mrapi_uint64_t value,
                                MRAPI_OUT mrapi_status_t *status);
/* Compare-and-swap: MRAPI_TRUE when `*expected` was there and `desired` is now; else MRAPI_FALSE
 * with what was there in `*expected`, and MRAPI_SUCCESS. */
mrapi_boolean_t mrapi_atomic_cas(MRAPI_OUT void *memory,
                                 MRAPI_IN size_t size,
                                 MRAPI_OUT mrapi_uint64_t *expected,
                                 MRAPI_IN mrapi_uint64_t desired,
                                 MRAPI_OUT mrapi_status_t *status);
/* Single bits, 0 the lowest: what the bit was before. */
mrapi_boolean_t mrapi_atomic_bit_test(MRAPI_IN void *memory,
                                      MRAPI_IN size_t size,
                                      MRAPI_IN mrapi_uint_t bit,
                                      MRAPI_OUT mrapi_status_t *status);
mrapi_boolean_t mrapi_atomic_bit_set(MRAPI_OUT void *memory,
                                     MRAPI_IN size_t size,
                                     MRAPI_IN mrapi_uint_t bit,
                                     MRAPI_OUT mrapi_status_t *status);
mrapi_boolean_t mrapi_atomic_bit_clear(MRAPI_OUT void *memory,
                                       MRAPI_IN size_t size,
                                       MRAPI_IN mrapi_uint_t bit,
                                       MRAPI_OUT mrapi_status_t *status);
mrapi_boolean_t mrapi_atomic_bit_flip(MRAPI_OUT void *memory,
                                      MRAPI_IN size_t size,
                                      MRAPI_IN mrapi_uint_t bit,
                                      MRAPI_OUT mrapi_status_t *status);
/* A full memory barrier: everything before it, plain accesses too, is seen before everything
 * behind it. */
void mrapi_atomic_barrier(MRAPI_OUT mrapi_status_t *status);

/* ---- Giving the processor away, and delays --------------------------------------------------- */

/* All of these: MRAPI_ERR_NODE_NOTINIT. */

/* Lets another thread that is ready run on this processor, if there is one. */
void mrapi_yield(MRAPI_OUT mrapi_status_t *status);
/* As mrapi_yield, in favour of that node where the machine can choose (no port can today).
 * MRAPI_ERR_NODE_INVALID: there is no such node. */
void mrapi_yield_to(MRAPI_IN mrapi_domain_t domain_id,
                    MRAPI_IN mrapi_node_t node_id,
                    MRAPI_OUT mrapi_status_t *status);
/* Blocks the calling thread for at least so long, signals or not. */
void mrapi_delay(MRAPI_IN mrapi_uint_t duration_us, MRAPI_OUT mrapi_status_t *status);
/* Likewise until a time on medley_clock_ns(); returns at once when that has passed. */
void mrapi_delay_until_ns(MRAPI_IN mrapi_uint64_t deadline_ns, MRAPI_OUT mrapi_status_t *status);

MEDLEY_DECLS_END

#endif
