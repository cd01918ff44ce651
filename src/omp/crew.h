/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The threads of teams, as the machine has them: started, ended, forgotten in a child of fork. */
#ifndef MEDLEY_OMP_CREW_H
#define MEDLEY_OMP_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omp/team.h"

/* Before anything else, by each thread that leads. `thread_ends`: at the end of each that is, or
 * was, a member. */
void med_crew_begin(void (*thread_ends)(void *member));
/* A number that no other member of this process has: for locks. */
uint32_t med_crew_owner(void);

/* The size of the stacks of threads that are started from now on; 0: the system's own. */
size_t med_crew_stack_bytes(void);
void med_crew_stack_set(size_t size_bytes);

/* The calling thread, which is that member's, is a node where such are asked for. False: none, and
 * whoever it leads need not try. */
bool med_crew_show(const med_member *member);
/* Its end, where it may have been one. */
void med_crew_hide(void);

/* How many threads of teams this process has, at least; more by those of threads that are not in a
 * child of fork. */
uint32_t med_crew_count(void);
/* A thread for a member, that serves. False, and a warning: there can be no more. */
bool med_crew_start(med_member *member);
/* Blocks until all of the team's threads have ended. They wait at their gates. */
void med_crew_end(med_team *team);
/* Of a team of the parent's: nothing of it is used again. */
void med_crew_forget(med_team *team);

#endif
