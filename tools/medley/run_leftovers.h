/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What lives below this process, which is the reaper of all that came of its own. */
#ifndef MEDLEY_TOOLS_RUN_LEFTOVERS_H
#define MEDLEY_TOOLS_RUN_LEFTOVERS_H

#include <sys/types.h>

/* What a dead process left in shared memory that is not Medley's, but of a library that programs
 * bring along: LLVM's OpenMP registers itself there, and only its own end takes that away. To be
 * called while the number is still that process's, so before it is reaped. */
void run_names_remove(pid_t process);
/* The children of this process, ended by 0, for free(); NULL: no memory, or they cannot be seen. */
pid_t *run_children_read(void);
/* Kills what lives below this process, of groups of its own or orphaned, and reaps it. Blocks until
 * there is none. `others`, ended by 0, were there before: not ours. */
void run_leftovers_kill(const pid_t *others);

#endif
