/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of the bare RISC-V image share. */
#ifndef MEDLEY_TESTS_BARE_RV64_H
#define MEDLEY_TESTS_BARE_RV64_H

#include "port/conformance.h"
#include "port/port.h"
#include "port/riscv_virt/virt.h"

extern const med_port_check base_checks[];
extern const uint32_t base_check_count;
extern const med_port_check mrapi_checks[];
extern const uint32_t mrapi_check_count;

uint32_t hart_count(void);

#endif
