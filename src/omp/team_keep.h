/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Teams as their leaders keep them, from one region to the next: made, enlarged. For team.c. */
#ifndef MEDLEY_OMP_TEAM_KEEP_H
#define MEDLEY_OMP_TEAM_KEEP_H

#include <stdint.h>

#include "omp/team.h"

/* With its first member, who has no thread of the team's. Where there is no memory for that the
 * program ends. */
med_team *med_team_make(med_member *leader);
/* The one that a leader keeps in that place. */
med_team *med_team_of(med_member *leader, med_team **team);
/* Said once: there are no more threads in a team. */
void med_team_report_fewer(uint32_t threads, const char *why);
#define MED_TEAM_NO_MORE "there is no memory for more"
/* So many members, or as many as there can be: whose threads wait at their gates. */
uint32_t med_team_members_ready(med_team *team, uint32_t wanted);

#endif
