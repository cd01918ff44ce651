/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All scenarios. */
#include "scenarios.h"

__attribute__((visibility("default"))) const sim_scenario *const sim_scenarios[] = {
    &sim_ring_line,
    &sim_ring_packed,
    NULL,
};
