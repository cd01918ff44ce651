/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The machine has no tightly coupled memory. A part of its RAM that nothing else uses stands for
 * one, so that what is made for such memory can be run. */
#include "port/bare/bare.h"
#include "port/riscv_virt/virt.h"

extern unsigned char med_virt_tight[]; /* link.ld */

const med_port_tight med_bare_tight[1] = {
    {.name = "virt-tcm", .address = med_virt_tight, .size_bytes = MED_VIRT_TIGHT_BYTES}};
const uint32_t med_bare_tight_count = 1;
