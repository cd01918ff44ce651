/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Segments of the one process there is: pieces of the arena, or of a tightly coupled memory of the
 * board. None has a name, so none is found again (absent.c).
 */
#include <string.h>

#include "port/bare/bare.h"
#include "port/bare/pool.h"

#define TIGHT_MAX 4u

static med_bare_pool tight[TIGHT_MAX];

bool
med_port_tight_get(uint32_t index, med_port_tight *memory)
{
    if (index >= med_bare_tight_count || index >= TIGHT_MAX) {
        return false;
    }
    *memory = med_bare_tight[index];
    return true;
}

static medley_status_t
refused(med_port_segment *segment, const char *why)
{
    size_t length = strlen(why) + 1;
    memcpy(segment->why, why, length < sizeof segment->why ? length : sizeof segment->why);
    segment->why[sizeof segment->why - 1] = '\0';
    return MEDLEY_ERR_NOT_SUPPORTED;
}

static medley_status_t
create_tight(med_port_segment *segment)
{
    med_port_tight memory;
    if (!med_port_tight_get(segment->place_index, &memory)) {
        return refused(segment, "the board has no such memory");
    }
    segment->address = med_bare_pool_take(&tight[segment->place_index], memory.address,
                                          memory.size_bytes, segment->size_bytes);
    return segment->address ? MEDLEY_OK : MEDLEY_ERR_NO_MEMORY;
}

medley_status_t
med_port_segment_create(med_port_segment *segment)
{
    segment->why[0] = '\0';
    segment->address = NULL;
    if (segment->beside || segment->wanted) {
        return refused(segment, "no names, no wanted addresses");
    }
    switch (segment->place) {
    case MED_PORT_PLACE_ANY:
        return med_port_memory_map(segment->size_bytes, &segment->address);
    case MED_PORT_PLACE_TIGHT:
        return create_tight(segment);
    default:
        return refused(segment, "the board has no such memory");
    }
}

/* The memory it lies in is found by its address: one tight memory is where no other is. */
static void
unmap_tight(void *address, uint32_t size_bytes)
{
    med_port_tight memory;
    for (uint32_t i = 0; med_port_tight_get(i, &memory); i++) {
        if ((uintptr_t)address - (uintptr_t)memory.address < memory.size_bytes) {
            med_bare_pool_give(&tight[i], address, size_bytes);
            return;
        }
    }
}

void
med_port_segment_unmap(void *address, uint32_t size_bytes, uint32_t place)
{
    if (place == MED_PORT_PLACE_TIGHT) {
        unmap_tight(address, size_bytes);
    } else {
        med_port_memory_unmap(address, size_bytes);
    }
}

void
med_port_segment_ready(void *address, size_t size_bytes)
{
    (void)address;
    (void)size_bytes;
}
