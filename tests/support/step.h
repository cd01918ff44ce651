/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A child that is killed after exactly its n-th instruction: it is stopped at a marker before the
 * operation in question, single-stepped (ptrace) from there, and killed where it stands.
 *
 * An instruction that sleeps in the kernel is one step, as long as it sleeps: the tester is told,
 * and may let it go on, or kill it there.
 */
#ifndef MEDLEY_TESTS_SUPPORT_STEP_H
#define MEDLEY_TESTS_SUPPORT_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct step_operation {
    void (*prepare)(void); /* at full speed; may be NULL */
    void (*operate)(void); /* step by step */
} step_operation;

/* NULL, or why a child cannot be stepped here. */
const char *step_impossible(void);

/* Starts a child; on return it is stopped between prepare and operate. */
pid_t step_start(const step_operation *operation);

typedef struct step_outcome {
    uint32_t steps; /* done; fewer than asked for when the operation ended before */
    bool ended;
    bool asleep; /* inside its last instruction, which does not end by itself */
} step_outcome;

/* Lets it do up to `steps` instructions. When it falls asleep in the kernel, `asleep` (may be NULL)
 * is called, once, to wake it; NULL: sleeps end by themselves. */
step_outcome step_run(pid_t child, uint32_t steps, void (*asleep)(void));

/* Ends it where it stands. On return nothing of it is left. */
void step_kill(pid_t child);

/* Leaves it where it stands, stopped like any process by SIGSTOP, and no longer stepped: SIGCONT
 * lets it go on, to the end of the operation, where it stops itself. */
void step_stop(pid_t child);

#endif
