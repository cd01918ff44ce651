/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the two files of heap memory know of each other: the slots and who keeps them (heap.c), and
 * how those come back to their maker that others delete (heap_return.c). */
#ifndef MEDLEY_MRAPI_HEAP_RETURN_H
#define MEDLEY_MRAPI_HEAP_RETURN_H

#include <stdint.h>

#include "mrapi/heap.h"

/* A cache's word `returned`: nothing; its maker has left; or how many there are, and the first of
 * them, as index + 1. The others follow by `returned_next`. */
#define MED_HEAP_RETURNS_NONE 0u
#define MED_HEAP_RETURNS_CLOSED UINT32_MAX
#define MED_HEAP_RETURNS_ONE (1u << 21)
_Static_assert(MED_HEAP_SLOTS_MAX < MED_HEAP_RETURNS_ONE, "index + 1 stands below the number");
_Static_assert(MED_HEAP_RETURNS < UINT32_MAX / MED_HEAP_RETURNS_ONE, "and that is not CLOSED");

static inline uint32_t
med_heap_returns_first(uint32_t word)
{
    return word & (MED_HEAP_RETURNS_ONE - 1);
}

static inline uint32_t
med_heap_returns_count(uint32_t word)
{
    return word / MED_HEAP_RETURNS_ONE;
}

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
