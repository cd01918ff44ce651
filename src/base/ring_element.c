/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The copy that is not inline: ring_element.h. */
#include "base/ring_element.h"

void
med_ring_copy_large(void *restrict target, const void *restrict source, uint32_t bytes)
{
    memcpy(target, source, bytes);
}
