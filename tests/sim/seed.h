/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A seed: one run, or two. */
#ifndef MEDLEY_TESTS_SIM_SEED_H
#define MEDLEY_TESTS_SIM_SEED_H

#include "run.h"

/* By seed, without an early load; then, where the scenario asks for it, with one. */
void seed_run(const sim_order *order, sim_outcome *outcome);

#endif
