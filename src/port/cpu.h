/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What must be inline on a processor that there is, most of it because processors differ. Included
 * by the port_inline.h of such ports only. */
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

/* Indexed by scope; goes from 0 to 1 once, when the machine stops this process for heavy barriers.
 */
extern uint32_t med_port_barrier_ready[2];
void med_port_barrier_light_unready(med_port_scope scope);

static inline void
med_port_barrier_light(med_port_scope scope)
{
    /* Relaxed: it only goes up, and only after the machine has confirmed. */
    if (__atomic_load_n(&med_port_barrier_ready[scope], __ATOMIC_RELAXED)) {
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } else {
        med_port_barrier_light_unready(scope);
    }
}

#endif
