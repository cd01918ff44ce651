/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How long threads spin before they sleep, where the environment says something of it: at gates,
 * barriers and locks, for tasks and for turns. Else they learn it (base/wait.h). In a team of more
 * threads than can run at once (quota.h) nobody is made to spin: what is said is how long at most.
 */
#ifndef MEDLEY_OMP_WAITING_H
#define MEDLEY_OMP_WAITING_H

#include <stdbool.h>

#include "omp/icv.h"
#include "omp/value.h"

/* Of the environment: OMP_WAIT_POLICY, KMP_BLOCKTIME, GOMP_SPINCOUNT. False: it cannot be read. */
bool med_waiting_read_policy(med_settings *settings, med_value value);
bool med_waiting_read_time(med_settings *settings, med_value value);
bool med_waiting_read_count(med_settings *settings, med_value value);

#define MED_WAITING_FOREVER_NS (UINT64_MAX / 4) /* and may be added to a time */

/* What an ICV has for who is to spin that long; for ever. NULL: there is no memory. */
const med_wait_limits *med_waiting_of(uint64_t spin_ns);
/* Does who waits so keep his processor, as a rule? */
bool med_waiting_is_active(const med_wait_limits *waits);

/* Of who has these of an ICV (or NULL), in a team of so many, which are bound densely or not (see
 * med_team), at that turn, which is the same for all of them; NULL: there are none. */
const med_wait_limits *
med_waiting_limits(const med_wait_limits *fixed, bool is_dense, uint32_t members, uint32_t turn);
/* Are these of one who learns how long to spin? If so, those of a later turn. */
bool med_waiting_is_learned(const med_wait_limits *limits);
const med_wait_limits *med_waiting_learned(uint32_t members, uint32_t turn);

#endif
