/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Leagues of teams, on the host: one thread is the initial one of each in turn, since teams owe
 * each other nothing, and one thread alone needs no more processors than it has. What a team's
 * number is stands among the variables of its tasks (icv.h).
 */
#ifndef MEDLEY_OMP_TEAMS_H
#define MEDLEY_OMP_TEAMS_H

#include "omp/team.h"

/* entry(data) as each of so many teams (0: as many as the environment says, or one), of no more
 * than so many threads each (0: likewise). */
void med_teams_run(med_member *member,
                   uint32_t count,
                   uint32_t thread_limit,
                   void (*entry)(void *data),
                   void *data);
/* The same in pieces, for a thread that is the initial one of something else: true as often as
 * there are teams, from `is_first` on. */
bool med_teams_next(med_member *member, uint32_t count, uint32_t thread_limit, bool is_first);

/* For constructs that name none; 0: nothing is said. Of the program, whichever thread sets them. */
uint32_t med_teams_max(void);
void med_teams_max_set(uint32_t count);
uint32_t med_teams_thread_limit(void);
void med_teams_thread_limit_set(uint32_t limit);

#endif
