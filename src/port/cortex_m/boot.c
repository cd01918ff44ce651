/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The vector table, and the way from reset to main(). */
#include <string.h>

#include "port/cortex_m/board.h"
#include "port/cortex_m/core.h"

#define EXCEPTIONS 16 /* the core's own; the board's interrupts follow */
#define INTERRUPTS 32

#define COPROCESSOR_ACCESS ((volatile uint32_t *)0xe000ed88)
#define COPROCESSOR_FLOAT (0xfu << 20)

/* From link.ld. */
extern uint32_t med_cortex_m_stack_end[];
extern uint8_t med_cortex_m_data_source[];
extern uint8_t med_cortex_m_data_start[];
extern uint8_t med_cortex_m_data_end[];
extern uint8_t med_cortex_m_bss_start[];
extern uint8_t med_cortex_m_bss_end[];

int main(void);
_Noreturn void med_cortex_m_reset(void);
_Noreturn void med_cortex_m_fault(void);
void med_cortex_m_vector(void);

/* Only cores with the whole of Thumb-2 may have any. */
static void
floating_point_allow(void)
{
#if __ARM_ARCH_ISA_THUMB >= 2
    *COPROCESSOR_ACCESS |= COPROCESSOR_FLOAT;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
}

_Noreturn void
med_cortex_m_reset(void)
{
    memcpy(med_cortex_m_data_start, med_cortex_m_data_source,
           (size_t)(med_cortex_m_data_end - med_cortex_m_data_start));
    memset(med_cortex_m_bss_start, 0, (size_t)(med_cortex_m_bss_end - med_cortex_m_bss_start));
    floating_point_allow();
    med_cortex_m_clock_start();
    (void)main();
    for (;;) {
        __asm__ volatile("wfi");
    }
}

/* A debugger finds the reason in the fault status registers. */
_Noreturn void
med_cortex_m_fault(void)
{
    for (;;) {
        __asm__ volatile("bkpt 0");
    }
}

__attribute__((weak)) void
med_cortex_m_interrupt(uint32_t number)
{
    (void)number;
}

void
med_cortex_m_vector(void)
{
    uint32_t exception;
    __asm__ volatile("mrs %0, ipsr" : "=r"(exception));
    med_cortex_m_interrupt(exception - EXCEPTIONS);
}

typedef union vector {
    const void *stack;
    void (*handler)(void);
} vector;

__attribute__((section(".vectors"), used)) static const vector vectors[EXCEPTIONS + INTERRUPTS] = {
    [0] = {.stack = med_cortex_m_stack_end},
    [1] = {.handler = med_cortex_m_reset},
    [2 ... 6] = {.handler = med_cortex_m_fault},
    [11] = {.handler = med_cortex_m_fault},
    [12] = {.handler = med_cortex_m_fault},
    [14] = {.handler = med_cortex_m_fault},
    [15] = {.handler = med_cortex_m_tick},
    [EXCEPTIONS... EXCEPTIONS + INTERRUPTS - 1] = {.handler = med_cortex_m_vector},
};
