/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the files of this folder share, and what an image may use beside port.h.
 *
 * An image is a main() linked with the library and link.ld. Hart 0 runs main(); the others idle
 * until a thread is started on them.
 */
#ifndef MEDLEY_PORT_RISCV_VIRT_VIRT_H
#define MEDLEY_PORT_RISCV_VIRT_VIRT_H

#include <stddef.h>
#include <stdint.h>

#include "machine.h"

/* One per hart; its register tp points to it. */
typedef struct med_virt_hart {
    _Alignas(1 << MED_VIRT_HART_SHIFT) void *self; /* of the thread that runs on it */
    uint32_t number;
    uint32_t state; /* hart.c */
    void *(*entry)(void *);
    void *argument;
    void *result;
} med_virt_hart;

_Static_assert(sizeof(med_virt_hart) == 1 << MED_VIRT_HART_SHIFT, "boot.S multiplies by shifting");
_Static_assert(offsetof(med_virt_hart, self) == 0, "port_inline.h");
_Static_assert(offsetof(med_virt_hart, number) == MED_VIRT_HART_NUMBER, "boot.S");

extern med_virt_hart med_virt_harts[MED_BARE_CORES_MAX];

/* The processors that the machine describes; 0 when it describes nothing. */
uint32_t med_virt_devicetree_harts(const void *devicetree);

/* Ends the emulation; 0 is success. */
_Noreturn void med_virt_power_off(uint32_t status);

/* Says so, and ends the emulation as failed: what comes of a trap (boot.S). */
_Noreturn void med_virt_trapped(uintptr_t cause, uintptr_t pc, uintptr_t value);

/* Puts text on the console as it is. */
void med_virt_console_write(const char *text);

#endif
