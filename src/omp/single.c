/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the one who executes a single gives to all others. They take it behind a barrier; in a
 * cancelled region, where nobody waits at barriers, behind his word that it is there, which he
 * comes to whatever is cancelled. How he is kept until they have read it: cancel.c.
 */
#include "omp/cancel.h"
#include "omp/told.h"

typedef struct copy_wait {
    const med_team *team;
    uint32_t single;
} copy_wait;

static bool
is_copied(void *context)
{
    const copy_wait *w = context;
    /* A1 copied <- R1 (med_team_copy_give) */
    return (int32_t)(atomic32_load_acquire(&w->team->copied_of) - w->single) >= 0;
}

void
med_team_copy_give(med_member *member, void *data)
{
    med_team *team = member->team;
    if (med_cancel_region_is(member)) {
        med_cancel_await_read(member, member->singles - 1); /* what is given now takes its place */
    }
    team->copied = data;
    atomic32_store_release(&team->copied_of, member->singles); /* R1 copied -> A1 (is_copied) */
    med_wait_wake(&team->wait, MED_PORT_SCOPE_PROCESS);
    member->gives = true;
    member->gave = member->singles;
    member->gave_come = member->place.come;
    (void)med_told_barrier_of(member);
}

void *
med_team_copy_take(med_member *member)
{
    med_team *team = member->team;
    copy_wait w = {.team = team, .single = member->singles};
    member->takes = true;
    bool is_cancelled = med_told_barrier_of(member);
    member->takes = false;
    if (is_cancelled && !is_copied(&w)) {
        med_wait_request request = {.condition = is_copied,
                                    .context = &w,
                                    .limits = member->limits,
                                    .deadline_ns = MED_PORT_FOREVER,
                                    .scope = MED_PORT_SCOPE_PROCESS};
        (void)med_wait_until(&team->wait, &member->waiter, &request);
    }
    return team->copied;
}
