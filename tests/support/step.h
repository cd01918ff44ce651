/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A child that is killed after exactly its n-th instruction: one of its threads is stopped at a
 * marker before the operation in question, single-stepped (ptrace) from there, and the child is
 * killed where it stands.
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
    /* Where it is not the child's first thread that is stepped: starts a thread that calls
     * `stepped` and then ends, and stays itself. The end of that thread is stepped too. */
    void (*host)(void (*stepped)(void));
} step_operation;

typedef struct step_child {
    pid_t process;
    pid_t thread; /* the one that is stepped */
    /* Where it is after each step, or call: the address of its next instruction, 0 where the
     * machine does not say. NULL: not wanted. */
    uint64_t *places;
    uint32_t places_max;
} step_child;

/* NULL, or why a child cannot be stepped here. */
const char *step_impossible(void);

/* Starts a child; on return it is stopped between prepare and operate. */
step_child step_start(const step_operation *operation);

typedef struct step_outcome {
    uint32_t steps; /* done; fewer than asked for when the operation ended before */
    bool ended;
    bool asleep; /* inside its last instruction, which does not end by itself */
    bool woken;  /* `asleep` was called */
} step_outcome;

/* Lets it do up to `steps` instructions. When it falls asleep in the kernel, `asleep` (may be NULL)
 * is called, once, to wake it; NULL: sleeps end by themselves. */
step_outcome step_run(step_child child, uint32_t steps, void (*asleep)(void));

/* Lets it run, at full speed, until it has returned from `calls` system calls more. `asleep` as
 * above; `steps` of the outcome are calls. */
step_outcome step_calls(step_child child, uint32_t calls, void (*asleep)(void));

/* Ends it where it stands. On return nothing of it is left. */
void step_kill(step_child child);

/* Leaves it where it stands, stopped like any process by SIGSTOP, and no longer stepped: SIGCONT
 * lets it go on, to the end of the operation, where it stops itself. */
void step_stop(step_child child);

#endif
