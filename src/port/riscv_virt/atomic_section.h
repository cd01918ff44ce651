/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What keeps a read-modify-write whole on harts that have only a test-and-set
 * (bare/atomic_calls.c): one lock for all words. Interrupts are masked meanwhile, lest a handler
 * waits for the hart that it interrupted. Full fences at both ends, so that what goes through here
 * is sequentially consistent.
 *
 * Not fair: who comes last may be the first. It is held for a few instructions, and harts do not
 * die.
 */
#ifndef MEDLEY_PORT_RISCV_VIRT_ATOMIC_SECTION_H
#define MEDLEY_PORT_RISCV_VIRT_ATOMIC_SECTION_H

#include <stdint.h>

#define MED_VIRT_INTERRUPTS 0x8u /* mstatus.MIE */

/* atomic_calls.c */
extern uint32_t med_bare_atomic_taken;

/* What was there; 1 is now. The one instruction of its kind: amoswap.w, by its numbers, since the
 * compiler is told that there are none. It stands for the test-and-set of a hart without the rest,
 * or for a register of its board that does the same. */
static inline uint32_t
med_virt_test_and_set(uint32_t *memory)
{
    uint32_t before;
    __asm__ volatile(".insn r 0x2f, 2, 0x04, %0, %1, %2"
                     : "=r"(before)
                     : "r"(memory), "r"(1)
                     : "memory");
    return before;
}

/* What is to be given to leave. */
static inline uint32_t
med_bare_atomic_enter(void)
{
    uint32_t before;
    __asm__ volatile("csrrc %0, mstatus, %1" : "=r"(before) : "r"(MED_VIRT_INTERRUPTS) : "memory");
    while (med_virt_test_and_set(&med_bare_atomic_taken)) {
    }
    /* S1 taken, then the words <-> S2 (leave) */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return before & MED_VIRT_INTERRUPTS;
}

static inline void
med_bare_atomic_leave(uint32_t before)
{
    /* S2 the words, then not taken <-> S1 (enter) */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    *(volatile uint32_t *)&med_bare_atomic_taken = 0;
    __asm__ volatile("csrs mstatus, %0" ::"r"(before) : "memory");
}

#endif
