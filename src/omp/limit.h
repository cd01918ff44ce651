/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How many threads an initial team and all teams within it may have at once (OMP_THREAD_LIMIT, the
 * clause thread_limit): counted in the initial team, where there is a limit. */
#ifndef MEDLEY_OMP_LIMIT_H
#define MEDLEY_OMP_LIMIT_H

#include "omp/team.h"

/* How many of so many more threads there may be; they are counted until they are given back. */
uint32_t med_limit_reserve(med_team *root, uint32_t limit, uint32_t wanted);
void med_limit_give_back(med_team *root, uint32_t threads);

#endif
