/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The part of this port that stands on hot paths. Included by port.h only. */
#ifndef MEDLEY_PORT_CORTEX_M_PORT_INLINE_H
#define MEDLEY_PORT_CORTEX_M_PORT_INLINE_H

#include "port/bare/bare_inline.h"

extern void *med_port_self_pointer; /* of the one thread */

static inline bool
med_port_has_threads(void)
{
    return false;
}

static inline void *
med_port_self_get(void)
{
    return med_port_self_pointer;
}

#endif
