/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Counting what is not complete of what somebody waits for: a task's children, a group's tasks.
 *
 * Who counts most, the keeper, has a plain word, `here`; all others have one in common, `away`:
 * twice a count, and MED_TALLY_LEFT. The sum of both is how many are not complete. Of a task's
 * children the keeper is its runner, while it executes the task. At the last line he adds both up;
 * who comes to nothing then gives the memory back. As long as he is there, nothing is what `away`
 * comes to only when he has added up as well, to sleep (med_tally_merge), and is to be woken.
 */
#ifndef MEDLEY_OMP_TASK_TALLY_H
#define MEDLEY_OMP_TASK_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/wait.h"

typedef struct med_tally {
    uint32_t here;
    atomic32 away;
} med_tally;
#define MED_TALLY_LEFT 1u /* the keeper is through with it: who comes to nothing gives it back */
#define MED_TALLY_ONE 2u

/* ---- Everybody ------------------------------------------------------------------------------- */

static inline void
med_tally_add(med_tally *tally, bool keeps)
{
    if (keeps) {
        tally->here++;
    } else {
        /* Relaxed: a number; what adds is counted there itself until it is complete. */
        (void)atomic32_fetch_add_relaxed(&tally->away, MED_TALLY_ONE);
    }
}

/* True: it was the last one, and the keeper is gone. Behind this nothing of it is touched. */
static inline bool
med_tally_drop(med_tally *tally, bool keeps, med_wait_crowd *wait)
{
    if (keeps) {
        tally->here--;
        return false;
    }
    /* R1 complete -> A1 (med_tally_is_clear, med_tally_leave, med_tally_drop); A1 complete <- R1
     * (med_tally_drop, med_tally_leave) */
    uint32_t away = atomic32_fetch_add_acq_rel(&tally->away, 0 - MED_TALLY_ONE) - MED_TALLY_ONE;
    if (away == 0) {
        med_wait_crowd_wake(wait, MED_PORT_SCOPE_PROCESS);
    }
    return away == MED_TALLY_LEFT;
}

/* ---- Its keeper ------------------------------------------------------------------------------ */

static inline bool
med_tally_is_clear(const med_tally *tally)
{
    /* A1 complete <- R1 (med_tally_drop) */
    return tally->here * MED_TALLY_ONE + atomic32_load_acquire(&tally->away) == 0;
}

/* So many are not complete, or have been a moment ago. */
static inline uint32_t
med_tally_count(const med_tally *tally)
{
    /* Relaxed: a guess. */
    return (tally->here * MED_TALLY_ONE + atomic32_load_relaxed(&tally->away)) / MED_TALLY_ONE;
}

/* Before the keeper sleeps, so that who comes to nothing knows it. */
static inline void
med_tally_merge(med_tally *tally)
{
    if (tally->here) {
        /* Relaxed: a number; whoever comes to nothing has changed it behind that. */
        (void)atomic32_fetch_add_relaxed(&tally->away, tally->here * MED_TALLY_ONE);
        tally->here = 0;
    }
}

/* There is something left, and the keeper waits no more. True: nothing is, meanwhile. */
static inline bool
med_tally_leave(med_tally *tally)
{
    uint32_t more = tally->here * MED_TALLY_ONE + MED_TALLY_LEFT;
    /* R1 complete -> A1 (med_tally_drop); A1 complete <- R1 (med_tally_drop) */
    return atomic32_fetch_add_acq_rel(&tally->away, more) + more == MED_TALLY_LEFT;
}

#endif
