/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What must be inline because processors differ. Included by the port_inline.h of ports to
 * processors that there are. */
#ifndef MEDLEY_PORT_CPU_H
#define MEDLEY_PORT_CPU_H

#include "port/port.h"

#define MED_CPU_SSE_FAULTS 0x3fu /* of MXCSR: those that there were */

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

/* With what the calling thread computes: how it rounds, which small numbers it takes for zero,
 * which faults interrupt it; not the faults that there were. Equal where all that is. */
static inline uint64_t
med_port_float_control(void)
{
#if defined(__x86_64__)
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (uint64_t)x87 << 32 | (__builtin_ia32_stmxcsr() & ~MED_CPU_SSE_FAULTS);
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
#elif defined(__riscv_flen)
    unsigned long control;
    __asm__ volatile("frrm %0" : "=r"(control));
    return control;
#else
    return 0; /* what it began with stays */
#endif
}

/* Takes what another one has, or it had before. */
static inline void
med_port_float_control_set(uint64_t control)
{
#if defined(__x86_64__)
    uint16_t x87 = (uint16_t)(control >> 32);
    __asm__ volatile("fldcw %0" : : "m"(x87));
    __builtin_ia32_ldmxcsr((uint32_t)control | (__builtin_ia32_stmxcsr() & MED_CPU_SSE_FAULTS));
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#elif defined(__riscv_flen)
    __asm__ volatile("fsrm %0" : : "r"((unsigned long)control));
#else
    (void)control;
#endif
}

#endif
