/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the two files of heap memory know of each other: the slots and who keeps them (heap.c), and
 * how those come back to their maker that others delete (heap_return.c). */
#ifndef MEDLEY_MRAPI_HEAP_RETURN_H
#define MEDLEY_MRAPI_HEAP_RETURN_H

#include <stdint.h>

#include "mrapi/heap.h"

/* A cache's word `returned`: nothing, or its maker has left. */
#define MED_HEAP_RETURNS_NONE 0u
#define MED_HEAP_RETURNS_CLOSED UINT32_MAX

/* ---- heap_return.c --------------------------------------------------------------------------- */

/* The calling node has again what others deleted of its own; `next`: how the list is then. */
void med_heap_returns_gather(med_self *self, uint32_t next);
/* With the heap's lock: somebody has that cache again. */
void med_heap_returns_open(med_heap_cache *cache);

/* ---- heap.c ---------------------------------------------------------------------------------- */

void med_heap_lock(med_heap *heap);
void med_heap_unlock(med_heap *heap);
/* With the lock: a slot without a block, that is in no list, goes to the end of the queue. */
void med_heap_slot_rest(med_heap *heap, med_heap_slot *slot);
/* Back to the port, if there is one. The slot is the caller's alone, but that it is read. */
void med_heap_block_give(med_heap_slot *slot);

#endif
