/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The instruction set that this code was built for. Included by port.h only. */
#ifndef MEDLEY_PORT_ISA_H
#define MEDLEY_PORT_ISA_H

#include "port/port.h"

static inline med_port_isa_t
med_port_isa(void)
{
#if defined(__x86_64__)
    return MED_PORT_ISA_X86_64;
#elif defined(__aarch64__)
    return MED_PORT_ISA_AARCH64;
#elif defined(__arm__)
    return MED_PORT_ISA_ARM;
#elif defined(__riscv) && __riscv_xlen == 64
    return MED_PORT_ISA_RISCV64;
#elif defined(__riscv)
    return MED_PORT_ISA_RISCV32;
#elif defined(__powerpc64__)
    return MED_PORT_ISA_PPC64;
#else
    return MED_PORT_ISA_UNKNOWN;
#endif
}

static inline bool
med_port_keeps_order(void)
{
    return med_port_isa() == MED_PORT_ISA_X86_64;
}

#endif
