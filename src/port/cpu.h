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

/* A counter of the processor's own that goes on evenly, by how much is not said: to learn for next
 * to nothing that little time has passed. Beside what it counts in, a thread that changes its
 * processor may find it another, and a machine that is carried elsewhere may find it behind. Where
 * programs have none: the clock. */
static inline uint64_t
med_port_cpu_ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#elif defined(__riscv) && __riscv_xlen == 64
    uint64_t ticks;
    __asm__ volatile("rdtime %0" : "=r"(ticks));
    return ticks;
#elif defined(__powerpc64__)
    return __builtin_ppc_get_timebase();
#else
    return med_port_clock_ns();
#endif
}

#endif
