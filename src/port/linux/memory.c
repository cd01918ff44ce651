/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Private memory, copies and caches on Linux. */
#include <string.h>
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

/* There is no engine in user space: the processor copies, at once. */
medley_status_t
med_port_copy_start(med_port_copy *copy)
{
    char *target = copy->target;
    const char *source = copy->source;
    for (size_t row = 0; row < copy->rows; row++) {
        memcpy(target, source, copy->row_bytes);
        target += copy->target_stride_bytes;
        source += copy->source_stride_bytes;
    }
    copy->state = 1;
    return MEDLEY_OK;
}

bool
med_port_copy_done(med_port_copy *copy)
{
    return copy->state == 1;
}

medley_status_t
med_port_copy_wait(med_port_copy *copy)
{
    return copy->state == 1 ? MEDLEY_OK : MEDLEY_ERR_ARGUMENT;
}

/* All processors that Linux runs on here are coherent. */
void
med_port_cache_clean(const void *address, size_t size_bytes)
{
    (void)address;
    (void)size_bytes;
}

void
med_port_cache_invalidate(void *address, size_t size_bytes)
{
    (void)address;
    (void)size_bytes;
}
