/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A single Cortex-M core. */
#ifndef MEDLEY_PORT_CORTEX_M_MACHINE_H
#define MEDLEY_PORT_CORTEX_M_MACHINE_H

#define MED_BARE_CORES_MAX 1

/* What med_port_memory_map has to give; the build may say otherwise. */
#ifndef MED_BARE_ARENA_BYTES
#define MED_BARE_ARENA_BYTES (16 << 10)
#endif

#endif
