/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The part of this port that stands on hot paths. Included by port.h only. */
#ifndef MEDLEY_PORT_RISCV_VIRT_PORT_INLINE_H
#define MEDLEY_PORT_RISCV_VIRT_PORT_INLINE_H

#include "port/bare/bare_inline.h"

static inline void *
med_port_self_get(void)
{
    void *self;
    __asm__ volatile("ld %0, 0(tp)" : "=r"(self)::"memory"); /* med_virt_hart.self */
    return self;
}

#endif
