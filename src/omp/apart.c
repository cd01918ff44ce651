/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A system sees who runs, not who waits for whom. Two members on one processor that give way to
 * each other look to it like one busy thread, whose lines are in that processor's caches: it parts
 * them late. EPCC's parallel of two threads, whose output another program reads: 9 of 12 runs were
 * on one processor for 20 to 100 ms, at 1.7 us instead of 0.4.
 *
 * Who goes elsewhere binds himself there, and lets go at once: from then on the system moves him as
 * it likes.
 */
#include "omp/apart.h"

#include <string.h>

#include "omp/quota.h"
#include "omp/team.h"
#include "port/port.h"

#define UNBIND_TRIES 16u

static uint32_t
smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* ---- When it begins -------------------------------------------------------------------------- */

/* What was granted may have changed just now: then to whatever the system grants. It may refuse for
 * the moment: some tries. */
static void
unbind(const med_processor_set *allowed)
{
    med_processor_set any;
    memset(&any, 0xff, sizeof any);
    uint32_t pauses = 0;
    while (med_port_thread_bind(allowed) != MEDLEY_OK && med_port_thread_bind(&any) != MEDLEY_OK &&
           pauses < UNBIND_TRIES) {
        med_wait_pause(&pauses);
    }
}

static void
go_to(uint32_t processor, const med_processor_set *allowed)
{
    med_processor_set there = med_processor_set_of(processor);
    if (med_port_thread_bind(&there) == MEDLEY_OK) {
        unbind(allowed);
    }
}

/* Where there are enough each second one: virtual machines seldom tell that two next to each other
 * are halves of one core. */
static uint32_t
step_apart(uint32_t processors, uint32_t members)
{
    return processors >= 2 * members ? 2 : 1;
}

void
med_apart_begin(const med_member *member)
{
    med_processor_set allowed;
    uint32_t here = med_port_processor_here();
    if (here != member->started_on || here >= MED_PROCESSORS_MAX) { /* or it cannot be told */
        return;
    }
    med_port_processors_allowed(&allowed);
    uint32_t count = med_processor_set_count(&allowed);
    if (member->number >= count) {
        return;
    }
    uint32_t there = here;
    for (uint32_t i = member->number * step_apart(count, member->started_with); i > 0; i--) {
        there = med_processor_set_next_round(&allowed, there + 1);
    }
    go_to(there, &allowed);
}

/* ---- Later ----------------------------------------------------------------------------------- */

#define SHARED_FIRST 32u
#define SHARED_LAST 4096u

/* Has it found one there often enough? Whoever does not get away from there looks ever less often.
 */
static bool
shares_enough(med_member *member)
{
    if (member->shared_enough == 0) {
        member->shared_enough = SHARED_FIRST;
    }
    if (++member->shared < member->shared_enough) {
        return false;
    }
    member->shared = 0;
    member->shared_enough = smaller(2 * member->shared_enough, SHARED_LAST);
    return true;
}

/* Two are on one processor, so with no more than can run at once another one is idle. */
static bool
one_may_be_idle(void)
{
    med_port_processors processors;
    uint32_t running = med_port_threads_running();
    return running && med_port_processors_discover(&processors) == MEDLEY_OK &&
           running <= processors.online;
}

/* Did a member of its team run there when it came to a barrier last? */
static bool
is_members(const med_member *member, uint32_t processor)
{
    const med_barrier *barrier = member->barrier;
    for (uint32_t i = 0; i < barrier->members; i++) {
        /* Relaxed: a guess. */
        if (atomic32_load_relaxed(&barrier->lines[i].processor) == processor) {
            return true;
        }
    }
    return false;
}

void
med_apart_again(med_member *member)
{
    med_processor_set allowed;
    /* Not as med_member_is_crowded: at his gate he does not read what is the team's. */
    bool is_crowded = member->is_dense || med_quota_is_crowd(member->barrier->members);
    if (member->number == 0 || member->bound || is_crowded || !shares_enough(member) ||
        !one_may_be_idle()) {
        return;
    }
    med_port_processors_allowed(&allowed);
    uint32_t there = med_processor_set_next(&allowed, 0);
    while (there < MED_PROCESSORS_MAX && is_members(member, there)) {
        there = med_processor_set_next(&allowed, there + 1);
    }
    if (there < MED_PROCESSORS_MAX) {
        go_to(there, &allowed);
    }
}
