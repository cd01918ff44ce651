/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What lies in a lane's memory: for who makes it (lane.c), and who attaches to it (lane_own.c). */
#ifndef MEDLEY_MCAPI_LANE_MEMORY_H
#define MEDLEY_MCAPI_LANE_MEMORY_H

#include <stdint.h>

#include "base/ring_spsc.h"
#include "base/state_cell.h"
#include "mcapi/lane.h"
#include "mrapi/system.h"

#define MED_LANE_SCALAR_BYTES 8u

/* The largest ring that a lane of that kind may have. */
med_ring_config med_lane_ring_config_whole(const med_limits *limits, med_lane_kind kind);

/* Behind a ring of scalars: a byte for the width of each. */
static inline uint8_t *
med_lane_widths(void *memory, const med_ring_view *view)
{
    return (uint8_t *)memory + sizeof(med_ring) + ((size_t)view->mask + 1) * MED_LANE_SCALAR_BYTES;
}

/* state.c's. Who makes a lane of states, or opens an end of one, asks for packets: a program that
 * never does may lack them. */
MED_PORT_OPTIONAL uint32_t med_state_memory_init(const med_system *system,
                                                 void *memory,
                                                 uint32_t bytes,
                                                 uint32_t buffers);
MED_PORT_OPTIONAL medley_status_t med_state_memory_attach(const med_self *self,
                                                          void *memory,
                                                          med_state_cell *cell);

#endif
