/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Gates: where the threads of a team wait to be told of its next region. For team.c, and those that
 * keep members and threads.
 */
#ifndef MEDLEY_OMP_GATE_H
#define MEDLEY_OMP_GATE_H

#include "omp/team.h"

/* By the leader, between two regions: what all members are told of the next one. */
void med_gate_fill(med_team *team, void (*entry)(void *data), void *data);
/* And that it is there: all but the first member pass. */
void med_gate_open(med_team *team);
/* Instead of a region: there is none any more, and their threads end. */
void med_gate_open_for_the_end(med_team *team);

/* A member, by its own thread, takes what its gate says: the region has begun for it. */
void med_gate_enter(med_member *member);
/* What the thread of a member does that is not a leader: region after region, until it is told that
 * there is none any more. */
void med_gate_serve(med_member *member);

#endif
