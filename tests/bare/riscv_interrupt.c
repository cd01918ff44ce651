/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Interrupt handlers beside what they interrupt, on all harts: both change the same words by
 * MRAPI's atomic operations, and no change is lost. Where these are plain accesses inside a section
 * (port/riscv_virt/atomic_section.h), a handler that came inside of one would wait for ever.
 */
#include "beside_handler.h"
#include "port/bare/bare.h"
#include "riscv.h"

#define INTERRUPTS 50u /* on each hart */

#define CLINT 0x2000000u
/* The low word first; one such for each hart. */
#define MTIMECMP ((volatile uint32_t *)(CLINT + 0x4000u))
#define MTIME ((const volatile uint32_t *)(CLINT + 0xbff8u)) /* 10 MHz */
#define TICKS_MOST 256u                                      /* from one interrupt to the next */

#define MSTATUS_MIE 0x8u
#define MIE_SOFTWARE 0x8u
/* mcause of an interrupt is negative. */
#define IS_TIMER(cause) ((intptr_t)(cause) < 0 && ((cause)&0xffu) == 7u)

static uint32_t changes[MED_BARE_CORES_MAX]; /* each the hart's, outside of its handler */
static volatile uint32_t interrupts[MED_BARE_CORES_MAX];

/* For good, or in a while that is never the same. */
static void
timer_set(bool never)
{
    volatile uint32_t *compared = &MTIMECMP[2 * med_bare_core()];
    uint32_t before;
    uint32_t high;
    do {
        high = MTIME[1];
        before = MTIME[0];
    } while (high != MTIME[1]);
    uint32_t low = before + 1 + before * 2654435761u % TICKS_MOST;
    compared[1] = UINT32_MAX;
    compared[0] = low;
    compared[1] = never ? UINT32_MAX : high + (low < before);
}

__attribute__((interrupt("machine"), aligned(4))) static void
handler(void)
{
    uintptr_t cause;
    uintptr_t pc;
    uintptr_t value;
    __asm__ volatile("csrr %0, mcause" : "=r"(cause));
    __asm__ volatile("csrr %0, mepc" : "=r"(pc));
    __asm__ volatile("csrr %0, mtval" : "=r"(value));
    if (!IS_TIMER(cause)) {
        med_virt_trapped(cause, pc, value);
    }
    uint32_t hart = med_bare_core();
    change_all();
    interrupts[hart] = interrupts[hart] + 1;
    timer_set(interrupts[hart] == INTERRUPTS);
}

/* Notifications only end sleeps, and nobody sleeps here: they stay for later. */
static void *
changes_beside_handler(void *argument)
{
    uint32_t hart = med_bare_core();
    uintptr_t trap;
    __asm__ volatile("csrrw %0, mtvec, %1" : "=r"(trap) : "r"(handler) : "memory");
    __asm__ volatile("csrc mie, %0" ::"r"(MIE_SOFTWARE) : "memory");
    timer_set(false);
    __asm__ volatile("csrs mstatus, %0" ::"r"(MSTATUS_MIE) : "memory");
    while (interrupts[hart] < INTERRUPTS) {
        change_all();
        changes[hart]++;
    }
    __asm__ volatile("csrc mstatus, %0" ::"r"(MSTATUS_MIE) : "memory");
    __asm__ volatile("csrs mie, %0" ::"r"(MIE_SOFTWARE) : "memory");
    __asm__ volatile("csrw mtvec, %0" ::"r"(trap) : "memory");
    return argument;
}

static const char *
handlers_take_nothing_away(void)
{
    if (!run_everywhere(changes_beside_handler)) {
        return "every hart ran";
    }
    uint32_t sum = 0;
    for (uint32_t i = 0; i < hart_count(); i++) {
        if (interrupts[i] != INTERRUPTS) {
            return "each was interrupted so often";
        }
        sum += changes[i] + INTERRUPTS;
    }
    return changed_all(sum) ? NULL : "no change is lost";
}

const med_port_check interrupt_checks[] = {
    {"handlers take nothing away", handlers_take_nothing_away},
};
const uint32_t interrupt_check_count = sizeof interrupt_checks / sizeof interrupt_checks[0];
