/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For ports to processors that let programs drop no lines, or where nobody has measured that it
 * pays. */
#include "port/port.h"

bool
med_port_cache_drops(void)
{
    return false;
}

void
med_port_cache_drop(const void *address, size_t size_bytes)
{
    (void)address;
    (void)size_bytes;
}
