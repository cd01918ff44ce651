/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What must be inline because processors differ. Included by the port_inline.h of ports to
 * processors that there are. */
#ifndef MEDLEY_PORT_CPU_H
#define MEDLEY_PORT_CPU_H

#include "port/port.h"

static inline void
med_port_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield" ::: "memory");
#elif defined(__riscv)
    __asm__ volatile(".insn 0x0100000f" ::: "memory"); /* pause, a hint: older cores ignore it */
#elif defined(__powerpc__)
    __asm__ volatile("or 27,27,27" ::: "memory");
#else
    __asm__ volatile("" ::: "memory");
#endif
}

#endif
