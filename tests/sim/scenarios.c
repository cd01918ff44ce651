/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All scenarios. */
#include "scenarios.h"

#define ADDRESS(name) &sim_##name,

__attribute__((visibility("default"))) const sim_scenario *const sim_scenarios[] = {
    SIM_SCENARIOS(ADDRESS, ADDRESS) NULL,
};
