/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory without an operating system: the arena, of one process, which has the heap in it too. */
#include "port/bare/bare.h"
#include "port/bare/pool.h"
#include "port/port.h"

static med_bare_pool arena;

medley_status_t
med_port_memory_map(size_t size_bytes, void **address)
{
    void *found = med_bare_pool_take(&arena, med_bare_arena, med_bare_arena_bytes, size_bytes);
    if (!found) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    *address = found;
    return MEDLEY_OK;
}

void
med_port_memory_unmap(void *address, size_t size_bytes)
{
    med_bare_pool_give(&arena, address, size_bytes);
}

void *
med_port_heap_take(size_t size_bytes)
{
    void *block;
    return med_port_memory_map(size_bytes, &block) == MEDLEY_OK ? block : NULL;
}

void
med_port_heap_give(void *block, size_t size_bytes)
{
    med_port_memory_unmap(block, size_bytes);
}
