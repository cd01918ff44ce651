/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shrinking: of the choices of a run that fails, as many are taken back as can be while it still
 * fails in the same way (delta debugging: halves, quarters, single ones).
 */
#ifndef MEDLEY_TESTS_SIM_SHRINK_H
#define MEDLEY_TESTS_SIM_SHRINK_H

#include "program.h"

/* `failed`: the outcome of a run by seed. Its plan becomes the shortest that was found; how it
 * fails is run once more, so that the outcome is that of the plan. */
void shrink(const options *o, const sim_order *order, sim_outcome *failed);

#endif
