/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The checker: is everything in a partition as it must be when nobody is at work in it? Whoever was
 * killed, wherever: after recovery no row is lost or doubled, no lock is stuck, nothing of the dead
 * is left.
 */
#ifndef MEDLEY_TESTS_SUPPORT_CHECK_H
#define MEDLEY_TESTS_SUPPORT_CHECK_H

#include "mrapi/system.h"

/* What the next users of the system would do anyhow: recovers whoever died, and takes each table's
 * lock once, so that a table whose lock's holder died is repaired. */
void check_settle(med_system *system);

/* Says on standard error what is wrong; returns how many faults there are. The caller is attached
 * and has settled, and nobody else changes anything meanwhile. */
unsigned check_system(const med_system *system);

#endif
