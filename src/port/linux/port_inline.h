/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The part of the Linux port that stands on hot paths. Included by port.h only. */
#ifndef MEDLEY_PORT_LINUX_PORT_INLINE_H
#define MEDLEY_PORT_LINUX_PORT_INLINE_H

#include "port/cpu.h"

extern _Thread_local void *med_port_self_pointer __attribute__((tls_model("initial-exec")));

static inline void *
med_port_self_get(void)
{
    return med_port_self_pointer;
}

#endif
