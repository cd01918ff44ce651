/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* QEMU's RISC-V machine "virt", of 64 bits or 32: numbers that the assembler needs as well. */
#ifndef MEDLEY_PORT_RISCV_VIRT_MACHINE_H
#define MEDLEY_PORT_RISCV_VIRT_MACHINE_H

#define MED_BARE_CORES_MAX 16
#define MED_BARE_ARENA_BYTES (4 << 20)
#define MED_VIRT_TIGHT_BYTES (64 << 10) /* link.ld */

#define MED_VIRT_STACK_SHIFT 14                 /* 16 KiB for each hart */
#define MED_VIRT_HART_SHIFT 6                   /* sizeof(med_virt_hart), and its alignment */
#define MED_VIRT_HART_NUMBER __SIZEOF_POINTER__ /* offsetof(med_virt_hart, number) */

#endif
