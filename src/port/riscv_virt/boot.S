/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The first instructions of every hart: a0 is its number, a1 the device tree. */
#include "machine.h"

    .section .text.first, "ax"
    .globl med_virt_boot
med_virt_boot:
    csrw mie, zero
    li t0, MED_BARE_CORES_MAX
    bgeu a0, t0, park
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la t0, trap
    csrw mtvec, t0
#ifdef __riscv_flen
    li t0, 0x2000 /* mstatus.FS: the floating-point registers are there */
    csrs mstatus, t0
    csrw fcsr, zero
#endif

    bnez a0, wait_for_memory
    la t0, med_virt_bss_start
    la t1, med_virt_bss_end
clear:
    bgeu t0, t1, cleared
    sw zero, 0(t0)
    addi t0, t0, 4
    j clear
cleared:
    la t0, memory_is_ready
    li t1, 1
    fence rw, w /* B1 memory cleared -> B1 (wait_for_memory) */
    sw t1, 0(t0)
    j begin
wait_for_memory:
    la t0, memory_is_ready
    lw t1, 0(t0)
    beqz t1, wait_for_memory
    fence r, rw /* B1 memory cleared <- B1 (cleared) */

begin:
    la tp, med_virt_harts
    slli t0, a0, MED_VIRT_HART_SHIFT
    add tp, tp, t0
    sw a0, MED_VIRT_HART_NUMBER(tp)
    call stack_empty
    bnez a0, med_virt_hart_idles
    mv a0, a1
    j med_virt_hart_boots

/* The hart's stack, with nothing on it. Changes t0 and t1 only. */
stack_empty:
    lw t0, MED_VIRT_HART_NUMBER(tp)
    addi t0, t0, 1
    slli t0, t0, MED_VIRT_STACK_SHIFT
    la t1, med_virt_stacks
    add sp, t1, t0
    ret

/* Forgets what ran on this hart, and idles. */
    .globl med_virt_hart_abandon
med_virt_hart_abandon:
    call stack_empty
    j med_virt_hart_idles

park:
    wfi
    j park

    .balign 4
trap:
    csrr a0, mcause
    csrr a1, mepc
    csrr a2, mtval
    call stack_empty
    j med_virt_trapped

    .data
    .balign 4
memory_is_ready:
    .word 0
