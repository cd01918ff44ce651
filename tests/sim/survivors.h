/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The one list of orders that no mutant shows to be needed, each with its reason: those that every
 * scenario passes without, and those that none meets. Whatever of base, mrapi and mcapi does not
 * stand here is found by the scenario that covers it (order_test.py).
 */
#ifndef MEDLEY_TESTS_SIM_SURVIVORS_H
#define MEDLEY_TESTS_SIM_SURVIVORS_H

#include <stdbool.h>

/* NULL: the scenario finds it, if it meets it. `elsewhere`: another scenario does, and this one may
 * too, as its seeds fall out. */
const char *
survivor_reason(const char *scenario, const char *function, const char *label, bool *elsewhere);
/* For another program: each that nobody finds. */
void survivors_print(void);

#endif
