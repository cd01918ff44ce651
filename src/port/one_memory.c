/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory nodes where there is one memory, of which nobody is told to take less than there is. For
 * ports of which that is true. */
#include "port/port.h"

void
med_port_heap_share(void)
{
}

uint64_t
med_port_memory_left(void)
{
    return UINT64_MAX;
}

uint32_t
med_port_memory_nodes(med_port_memory_kind kind, uint32_t *numbers, uint32_t room)
{
    if (kind != MED_PORT_MEMORY_ALL) {
        return 0;
    }
    if (room > 0) {
        numbers[0] = 0;
    }
    return 1;
}

medley_status_t
med_port_memory_spread(
    void *address, size_t size_bytes, med_port_spread spread, const uint32_t *nodes, uint32_t count)
{
    (void)address;
    (void)size_bytes;
    (void)spread;
    return count == 0 ? MEDLEY_ERR_ARGUMENT : nodes[0] == 0 ? MEDLEY_OK : MEDLEY_ERR_NOT_SUPPORTED;
}

medley_status_t
med_port_memory_move_here(void *address, size_t size_bytes)
{
    (void)address;
    (void)size_bytes;
    return MEDLEY_OK;
}

medley_status_t
med_port_memory_pin(void *address, size_t size_bytes)
{
    (void)address;
    (void)size_bytes;
    return MEDLEY_OK;
}
