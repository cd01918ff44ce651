/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The part of this port that stands on hot paths. Included by port.h only. */
#ifndef MEDLEY_PORT_RISCV_VIRT_PORT_INLINE_H
#define MEDLEY_PORT_RISCV_VIRT_PORT_INLINE_H

#include "port/bare/bare_inline.h"

#if __riscv_xlen == 64
#define MED_VIRT_LOAD "ld"
#else
#define MED_VIRT_LOAD "lw"
#endif

static inline bool
med_port_has_threads(void)
{
    return true;
}

static inline void *
med_port_self_get(void)
{
    void *self;
    __asm__ volatile(MED_VIRT_LOAD " %0, 0(tp)" : "=r"(self)::"memory"); /* med_virt_hart.self */
    return self;
}

#endif
