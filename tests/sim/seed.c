/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The second run is with what the first one found: docs/design/sim.md. */
#include "seed.h"

void
seed_run(const sim_order *order, sim_outcome *outcome)
{
    sim_run(order, outcome);
    sim_early early = outcome->may_come;
    if (outcome->kind == SIM_PASSED && early.there) {
        sim_order again = *order;
        again.early = &early;
        sim_run(&again, outcome);
    }
}
