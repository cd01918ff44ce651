/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Private memory on Linux. */
#include <stdlib.h>
#include <sys/mman.h>

#include "port/port.h"

medley_status_t
med_port_memory_map(size_t size_bytes, void **address)
{
    void *p = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    *address = p;
    return MEDLEY_OK;
}

void
med_port_memory_unmap(void *address, size_t size_bytes)
{
    (void)munmap(address, size_bytes);
}

void *
med_port_heap_take(size_t size_bytes)
{
    return malloc(size_bytes);
}

void
med_port_heap_give(void *block, size_t size_bytes)
{
    (void)size_bytes;
    free(block);
}
