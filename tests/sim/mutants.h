/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Mutants: the program with one of its memory orders weakened to relaxed, everywhere that one
 * source line stands; or without the heavy barrier; or without wakes. Each must be found.
 */
#ifndef MEDLEY_TESTS_SIM_MUTANTS_H
#define MEDLEY_TESTS_SIM_MUTANTS_H

#include "program.h"

/* Weakens what stands at "file:line", and nothing else, for runs to come. False: no order was met
 * there. */
bool mutant_weaken_line(const sim_scenario *scenario, sim_outcome *outcome, const char *where);

/* Prints the table. False: one survived that the scenario does not list, or the other way round. */
bool mutants_run(const options *o, const sim_scenario *scenario, sim_outcome *outcome);

/* Prints which there are, and what is expected of each. */
bool mutants_list(const options *o, const sim_scenario *scenario, sim_outcome *outcome);

#endif
