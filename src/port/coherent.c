/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Copies and caches of a machine whose processors are coherent and that offers no engine: the
 * processor copies, at once, and there is nothing to clean. The ports of such machines build it. */
#include <string.h>

#include "port/port.h"

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
