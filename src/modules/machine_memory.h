/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How large a memory is that hwloc found. */
#ifndef MEDLEY_MODULES_MACHINE_MEMORY_H
#define MEDLEY_MODULES_MACHINE_MEMORY_H

#include <stdint.h>

#include <hwloc.h>

/* 0: it cannot be told. hwloc has sizes from /sys; where this machine's is not mounted it finds one
 * memory without a size, which is all that the machine has. */
uint64_t machine_memory_bytes(hwloc_topology_t topology, hwloc_obj_t memory);

#endif
