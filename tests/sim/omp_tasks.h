/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the scenarios of OpenMP have in common. */
#ifndef SIM_OMP_TASKS_H
#define SIM_OMP_TASKS_H

#include "omp/task_inner.h"
#include "scenarios.h"

/* The environment of those that give something up. */
extern const sim_variable sim_omp_cancels[];

/* All memory of its tasks is given back. */
void sim_no_task_is_kept(const med_team *team);

#endif
