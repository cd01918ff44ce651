/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All scenarios: one per structure, each in a file named after it. */
#ifndef MEDLEY_TESTS_SIM_SCENARIOS_H
#define MEDLEY_TESTS_SIM_SCENARIOS_H

#include "sim.h"

extern const sim_scenario sim_ring_line;
extern const sim_scenario sim_ring_packed;

#endif
