/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How many threads can run at once: no more than there are processors for this process, nor than
 * its control group is granted, rounded up. What that was at the start is what programs are told
 * (med_settings); it is looked at again by who needs it, and has the time: a leader who may have
 * fewer threads than he asked for, a team that the group's quota alone makes a crowd, and who has
 * slept for a slice without being wanted. Between two looks everybody reads one word.
 */
#ifndef MEDLEY_OMP_QUOTA_H
#define MEDLEY_OMP_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"

/* Of so many processors, with such a quota in thousandths of one (0: none): how many threads. */
static inline uint32_t
med_quota_of(uint32_t allowed, uint32_t quota_permille)
{
    uint32_t granted = quota_permille / 1000 + (quota_permille % 1000 != 0);
    return granted != 0 && granted < allowed ? granted : allowed;
}

/* The first look, before anything else here: what it was then. */
uint32_t med_quota_begin(void);

/* The quota as it is now, or was no longer ago than that. The processors are those of the start:
 * threads are bound by now. */
#define MED_QUOTA_OF_A_PERIOD_MS 100u /* after which the system grants anew, as a rule */
#define MED_QUOTA_OF_A_SECOND_MS 1000u
void med_quota_look(uint32_t age_ms);

/* Processors that the calling thread may use now, no more than were granted at the start. Asks the
 * system. */
uint32_t med_quota_processors(void);

extern __attribute__((visibility("hidden"))) atomic32 med_quota_now;

/* As it was at the last look. */
static inline uint32_t
med_quota_threads(void)
{
    return atomic32_load_relaxed(&med_quota_now); /* relaxed: a number that orders nothing */
}

/* Are so many more than can run? */
static inline bool
med_quota_is_crowd(uint32_t members)
{
    return members > med_quota_threads();
}

/* So many are: is it the quota alone that has them be? */
bool med_quota_crowds(uint32_t members);

#endif
