/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of this folder share. */
#ifndef MEDLEY_PORT_CORTEX_M_CORE_H
#define MEDLEY_PORT_CORTEX_M_CORE_H

/* Starts the clock at zero. */
void med_cortex_m_clock_start(void);
/* The handler of SysTick. */
void med_cortex_m_tick(void);

#endif
