/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What differs from board to board, as data. An image links one file that defines med_board
 * (board_mps2.c is one), a main(), link.ld, and memory regions named flash and ram.
 */
#ifndef MEDLEY_PORT_CORTEX_M_BOARD_H
#define MEDLEY_PORT_CORTEX_M_BOARD_H

#include <stdint.h>

typedef struct med_cortex_m_board {
    uint32_t clock_hz; /* of the core, which SysTick counts */
    /* Puts one character where the log goes; may be NULL. */
    void (*console_put)(char c);
} med_cortex_m_board;

extern const med_cortex_m_board med_board;

/* Called by the vectors from 16 on; an image defines its own to handle them. */
void med_cortex_m_interrupt(uint32_t number);

#endif
