/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The boards MPS2 with a Cortex-M4 (AN386), as QEMU has them: the log goes to the first UART. */
#include <stdbool.h>

#include "port/cortex_m/board.h"

#define UART ((volatile uint32_t *)0x40004000)
#define UART_DATA 0
#define UART_STATE 1
#define UART_STATE_FULL 1u
#define UART_CONTROL 2
#define UART_CONTROL_SEND 1u
#define UART_DIVIDER 4
#define UART_DIVIDER_LEAST 16u

static void
console_put(char c)
{
    if (!(UART[UART_CONTROL] & UART_CONTROL_SEND)) {
        UART[UART_DIVIDER] = UART_DIVIDER_LEAST;
        UART[UART_CONTROL] = UART_CONTROL_SEND;
    }
    while (UART[UART_STATE] & UART_STATE_FULL) {
    }
    UART[UART_DATA] = (uint8_t)c;
}

const med_cortex_m_board med_board = {.clock_hz = 25000000, .console_put = console_put};
