/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Killed at any instruction: an operation is done by a child that is killed after its n-th
 * instruction, and looked at by those who are left; then again, with another n, to its end.
 *
 *   MEDLEY_TEST_EXHAUSTIVE=1   every n; otherwise every k-th, from an offset that the seed gives,
 *                              and every n of what is short
 *   MEDLEY_TEST_SEED=n         repeats a run
 *
 * Of N instructions, with a run of its own for each: N * N / 2 steps of some 8 us would be an hour
 * for the longest. So a child is let run at full speed to the last system call before its n-th
 * instruction, and is stepped from there: a first run says after which instructions the calls are.
 * (Where two runs differ, by a turn of a loop that waits, n is counted from that call.) And
 * instructions that are of no account are kept out (step_kill_prepare): the environment, which
 * getenv walks through, has only what is Medley's, and systems have small limits.
 */
#ifndef MEDLEY_TESTS_SUPPORT_STEP_KILL_H
#define MEDLEY_TESTS_SUPPORT_STEP_KILL_H

#include "support/step.h"

/* All but the operation is the tester's; all but the operation and the check may be NULL. */
typedef struct step_plan {
    const char *name;
    step_operation operation;
    void (*set_up)(void);  /* before the child is there */
    void (*ready)(void);   /* it is at its marker */
    void (*asleep)(void);  /* it sleeps */
    void (*stopped)(void); /* it has come as far as it comes this time, and will be killed */
    void (*check)(void);   /* it is dead: what is not whole fails, or ends, the test */
    /* After `stopped` it goes on, for fewer instructions than that, and is killed then. The random
     * number is the seed's. */
    uint32_t further;
} step_plan;

/* Before any system is opened. Says the seed. */
void step_kill_prepare(void);

/* In a cmocka test, which is skipped where nothing can be stepped. Says how often it killed. */
void step_kill_run(const step_plan *plan);
/* As step_kill_run, but what is stopped is not killed: `stopped` does what it likes meanwhile, then
 * the child goes on to its end. */
void step_stop_run(const step_plan *plan);

/* How far the child comes, or came, this time; for messages. */
uint32_t step_kill_steps(void);

/* One cmocka test per plan. Returns how many failed. */
int step_kill_group(const char *name, const step_plan *plans, uint32_t count);

#endif
