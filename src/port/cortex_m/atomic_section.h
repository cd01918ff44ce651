/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What keeps a read-modify-write whole on one core (bare/atomic_calls.c): interrupts are masked, so
 * its threads and handlers see one step. Where two cores share memory, or a DMA writes the same
 * word, nothing here keeps them apart: that takes a test-and-set (riscv_virt/atomic_section.h). A
 * handler that cannot be masked (NMI, HardFault) may not use atomic operations.
 */
#ifndef MEDLEY_PORT_CORTEX_M_ATOMIC_SECTION_H
#define MEDLEY_PORT_CORTEX_M_ATOMIC_SECTION_H

#include <stdint.h>

/* What is to be given to leave. */
static inline uint32_t
med_bare_atomic_enter(void)
{
    uint32_t before;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(before)::"memory");
    return before;
}

static inline void
med_bare_atomic_leave(uint32_t before)
{
    __asm__ volatile("msr primask, %0" ::"r"(before) : "memory");
}

#endif
