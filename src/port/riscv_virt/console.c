/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The console (a 16550 UART), and the switch that ends the emulation. */
#include "port/port.h"
#include "port/riscv_virt/virt.h"

#define UART ((volatile uint8_t *)0x10000000)
#define UART_DATA 0
#define UART_STATUS 5
#define UART_STATUS_EMPTY 0x20

#define FINISHER ((volatile uint32_t *)0x100000)
#define FINISHER_PASS 0x5555u
#define FINISHER_FAIL 0x3333u

static uint32_t console_taken;

/* Spins: a console may be written to by a hart that must not sleep. */
static void
console_take(void)
{
    while (__atomic_exchange_n(&console_taken, 1, __ATOMIC_ACQUIRE)) { /* C1 line done <- C1 */
        med_port_cpu_relax();
    }
    __asm__ volatile("fence r, io" ::: "memory"); /* see console_give */
}

static void
console_give(void)
{
    /* C1 orders what is memory: the device would have lines mixed. */
    __asm__ volatile("fence io, w" ::: "memory");
    med_port_store_n(&console_taken, 0, __ATOMIC_RELEASE); /* C1 line done -> C1 (console_take) */
}

static void
put(const char *text)
{
    for (; *text; text++) {
        while (!(UART[UART_STATUS] & UART_STATUS_EMPTY)) {
        }
        UART[UART_DATA] = (uint8_t)*text;
    }
}

void
med_virt_console_write(const char *text)
{
    console_take();
    put(text);
    console_give();
}

void
med_port_log(const char *line)
{
    console_take();
    put(line);
    put("\n");
    console_give();
}

_Noreturn void
med_virt_power_off(uint32_t status)
{
    *FINISHER = status == 0 ? FINISHER_PASS : status << 16 | FINISHER_FAIL;
    for (;;) {
        __asm__ volatile("wfi");
    }
}

static void
put_hexadecimal(uint64_t number)
{
    char digits[17];
    for (int i = 0; i < 16; i++) {
        digits[i] = "0123456789abcdef"[number >> (60 - 4 * i) & 15];
    }
    digits[16] = '\0';
    put(digits);
}

/* Takes no lock: the hart may have been inside. */
_Noreturn void
med_virt_trapped(uintptr_t cause, uintptr_t pc, uintptr_t value)
{
    put("\ntrap: mcause ");
    put_hexadecimal(cause);
    put(" mepc ");
    put_hexadecimal(pc);
    put(" mtval ");
    put_hexadecimal(value);
    put("\n");
    med_virt_power_off(99);
}
