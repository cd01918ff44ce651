/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cancellation of regions, and of loops and sections: who is told so goes to the construct's end,
 * by itself, at a cancellation point or out of a barrier. */
#ifndef MEDLEY_OMP_CANCEL_H
#define MEDLEY_OMP_CANCEL_H

#include "omp/team.h"

/* What of a team is, or was, cancelled. */
#define MED_CANCELLED_NOTHING 0u
#define MED_CANCELLED_WORK 1u
#define MED_CANCELLED_REGION 2u

/* The region that the member is in is cancelled from here on. */
void med_cancel_region(med_member *member);
static inline bool
med_cancel_region_is(const med_member *member)
{
    /* A1 cancelled <- R1 (med_cancel_region, cancel.c) */
    return atomic32_load_acquire(&member->team->cancelled) == MED_CANCELLED_REGION;
}
/* The loop, or sections, that the members are in, or come to before their next barrier. */
void med_cancel_work(med_member *member);
bool med_cancel_work_is(const med_member *member);

/* Of a team of several: a barrier, which is left at once when the region is cancelled: true,
 * then. */
bool med_cancel_barrier(med_member *member);

/* In a region that is cancelled: blocks until all others have read what was given in the singles up
 * to that number, or have come to the end; executes tasks meanwhile. */
void med_cancel_await_read(med_member *giver, uint32_t single);

/* For team.c and gate.c: a member has come to the end of the region; and goes; the first has, and
 * all others came, in a team of which something was cancelled: it waits until they have ended, and
 * executes tasks, which they may wait for; tasks are over as well. */
void med_cancel_note_end(med_member *member);
void med_cancel_end(med_member *member);
void med_cancel_gather(med_member *first);
void med_cancel_settle(med_member *first);

#endif
