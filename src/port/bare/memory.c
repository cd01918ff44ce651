/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory without an operating system: one arena, from which pieces are cut in turn. A piece comes
 * back when all that were cut after it have. */
#include <string.h>

#include "port/bare/bare.h"
#include "port/port.h"

#define ALIGNMENT 64u

static _Alignas(ALIGNMENT) unsigned char arena[MED_BARE_ARENA_BYTES];
static uint32_t used; /* bytes, from the start */

static size_t
rounded(size_t size_bytes)
{
    return (size_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

medley_status_t
med_port_memory_map(size_t size_bytes, void **address)
{
    uint32_t start = __atomic_load_n(&used, __ATOMIC_RELAXED); /* checked by compare-and-swap */
    do {
        if (size_bytes > sizeof arena - start || rounded(size_bytes) > sizeof arena - start) {
            return MEDLEY_ERR_NO_MEMORY;
        }
        /* M1 given back <- M1 (unmap) */
    } while (!__atomic_compare_exchange_n(&used, &start, start + (uint32_t)rounded(size_bytes),
                                          false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    memset(arena + start, 0, size_bytes);
    *address = arena + start;
    return MEDLEY_OK;
}

void
med_port_memory_unmap(void *address, size_t size_bytes)
{
    uint32_t start = (uint32_t)((unsigned char *)address - arena);
    uint32_t end = start + (uint32_t)rounded(size_bytes);
    /* M1 given back -> M1 (map) */
    (void)__atomic_compare_exchange_n(&used, &end, start, false, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED);
}

/* ---- Segments of the one process there is ---------------------------------------------------- */

medley_status_t
med_port_segment_create(med_port_segment *segment)
{
    segment->why[0] = '\0';
    if (segment->name || segment->place != MED_PORT_PLACE_ANY || segment->wanted) {
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    return med_port_memory_map(segment->size_bytes, &segment->address);
}

void
med_port_segment_unmap(void *address, uint32_t size_bytes, uint32_t place)
{
    (void)place;
    med_port_memory_unmap(address, size_bytes);
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
