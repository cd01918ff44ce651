/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Heap memory of a language's runtime (OpenMP's teams and tasks), as node_runtime.c has nodes for
 * its threads. Like all heap memory of a process it is nobody else's; but nobody is to find it by a
 * key or a handle, so it has no slot (heap.h), which would cost a line each, and 76 KiB with the
 * first one. docs/design/memory.md
 *
 * Zeroed, and no line of it in common with anything else.
 */
#ifndef MEDLEY_MRAPI_HEAP_LENT_H
#define MEDLEY_MRAPI_HEAP_LENT_H

#include <stddef.h>

#include "port/port.h"

/* NULL: there is none. By any thread, node or not; lock-free but for the port's heap. */
MED_INNER void *med_heap_lend(size_t size_bytes);
/* The same for what one thread uses, another than the caller: where this process has several memory
 * nodes, pages of its own. */
MED_INNER void *med_heap_lend_apart(size_t size_bytes);
/* Of what was lent apart: its pages come to lie next to the calling thread, as it runs now. A wish,
 * and nothing where there is one memory node. */
MED_INNER void med_heap_lent_move(void *lent);
/* By whatever thread. May be NULL. */
MED_INNER void med_heap_take_back(void *lent);

#endif
