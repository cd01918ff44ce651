/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Cancellation. What may run together: all of it, by different members of the team; settling, alone
 * at the region's end.
 *
 * A region that is cancelled: some members wait in a barrier that others will never come to, some
 * are before it, some are at the region's end and know nothing. All have to agree on how often they
 * have come when they meet at the end. They do: whoever cancels is behind some barrier p and not
 * yet at the next. So all have come to p; and nobody is behind p + 1 before the canceller himself
 * comes to the end, as his coming to p + 1, and who passes p + 1 by that sees the region cancelled.
 * So the end is p + 1 for all, and who came to p + 1 as a barrier comes no more (`early`).
 *
 * Who left it as the leader of a group, before that was complete, has still to say that it is: as
 * all others he departs from it at the region's end.
 *
 * But then his coming does not say that he is through with the region. So each member says in a
 * word of its own which region it has come to the end of, and in a cancelled one the leader waits
 * for these words too.
 *
 * A loop that is cancelled has a barrier at its end, which all come to: so how often a member has
 * come tells which loop is meant, and nothing is set back.
 *
 * Others are called away from what a member waits for in a region: a place of the ring that an
 * older construct has, a turn. He goes on as the program does, which knows nothing where the
 * compiler had it wait by a name that says nothing (a barrier in a function of its own): to the
 * next barrier, which is none any more, and so on to the end.
 *
 * What a single gives to all others (copyprivate) lies in the memory of who executes it, who is
 * kept at a barrier until they have read it. Here no barrier keeps him. So each says at each of
 * them up to which single he has read all, and who gave something waits for that, of all who have
 * not come to the end: at the barrier of the single, and at the one behind it, also when he passed
 * the first one before all this. And for the same he waits before he gives the next thing, in the
 * place of the last. All that he waits for do so by themselves: each meets the singles in their
 * order.
 *
 * Left to the leader: places of the ring whose constructs were begun and not ended, singles that
 * some have met and others have not.
 */
#include "omp/cancel.h"

#include "omp/ordered.h"

/* ---- Regions --------------------------------------------------------------------------------- */

void
med_cancel_region(med_member *member)
{
    med_team *team = member->team;
    /* Who was called away from p + 1 has come to that, and what he would say were another end. */
    if (!team->leader || med_cancel_region_is(member)) {
        return;
    }
    /* Relaxed: whoever else stores this stores the same, and R1 publishes it. */
    atomic32_store_relaxed(&team->cancelled_come, member->place.come + 1);
    atomic32_store_release(&team->cancelled,
                           MED_CANCELLED_REGION); /* R1 cancelled -> A1 (cancel.h) */
    if (team->size > 1) {
        med_wait_crowd_wake(&member->barrier->wait, MED_PORT_SCOPE_PROCESS);
        med_wait_wake(&team->wait, MED_PORT_SCOPE_PROCESS);
        med_ordered_wake(team);
    }
}

static bool
is_called(void *context)
{
    const med_member *member = context;
    return med_cancel_region_is(member) || med_task_calls(context);
}

/* Until all have come, or the region is cancelled. */
static void
await_with_tasks(med_member *member)
{
    while (!med_barrier_await(member->barrier, &member->place, is_called, member)) {
        if (med_cancel_region_is(member)) {
            return;
        }
        med_task_help(member);
    }
}

static bool
has_ended(const med_member *member)
{
    /* Relaxed: of this region. For who looks has seen that the first member has settled or ended
     * (have_all_read), or is it, and it opened the gate before. */
    uint32_t round = atomic32_load_relaxed(&member->team->gate.round);
    /* A2 ended <- R2 (med_cancel_note_end) */
    uint32_t ended = atomic32_load_acquire(&member->ended);
    return ended == round;
}

typedef struct reading {
    med_member *giver;
    uint32_t single;
} reading;

static bool
have_all_read(const reading *r)
{
    const med_team *team = r->giver->team;
    for (uint32_t i = 0; i < team->size; i++) {
        const med_member *other = team->members[i];
        /* A3 read <- R3 (leave) */
        if (other != r->giver &&
            (int32_t)(atomic32_load_acquire(&other->settled) - r->single) < 0 &&
            !has_ended(other)) {
            return false;
        }
    }
    return true;
}

static bool
is_giver_called(void *context)
{
    const reading *r = context;
    return have_all_read(r) || med_task_calls(r->giver);
}

/* Who has not read may wait for a task behind others in the giver's queue. */
void
med_cancel_await_read(med_member *giver, uint32_t single)
{
    reading r = {.giver = giver, .single = single};
    med_wait_request request = {.condition = is_giver_called,
                                .context = &r,
                                .limits = giver->limits,
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = MED_PORT_SCOPE_PROCESS};
    while (!have_all_read(&r)) {
        (void)med_wait_crowd_until(&giver->barrier->wait, &giver->waiter, &request);
        if (med_task_calls(giver)) {
            med_task_help(giver);
        }
    }
}

/* A barrier that is none. */
static bool
leave(med_member *member)
{
    /* R3 read -> A3 (have_all_read) */
    atomic32_store_release(&member->settled, member->singles - member->takes);
    med_wait_crowd_wake(&member->barrier->wait, MED_PORT_SCOPE_PROCESS);
    if (member->gives && member->place.come - member->gave_come <= 2) {
        med_cancel_await_read(member, member->gave);
        member->gives = false;
    }
    return true;
}

bool
med_cancel_barrier(med_member *member)
{
    if (med_cancel_region_is(member)) {
        return leave(member);
    }
    med_barrier_come(member->barrier, &member->place);
    await_with_tasks(member);
    if (!med_cancel_region_is(member)) {
        med_team_phase_end(member);
        return false;
    }
    /* Else it was cancelled just behind this barrier. Relaxed: A1 has it. */
    member->early = atomic32_load_relaxed(&member->team->cancelled_come) == member->place.come;
    if (!member->early) {
        med_team_phase_end(member);
    }
    return leave(member);
}

/* ---- Loops and sections ---------------------------------------------------------------------- */

void
med_cancel_work(med_member *member)
{
    med_team *team = member->team;
    uint32_t nothing = MED_CANCELLED_NOTHING;
    /* Relaxed, all: a loop's members look now and then, and may be late. */
    (void)atomic32_cas_relaxed(&team->cancelled, &nothing, MED_CANCELLED_WORK);
    atomic32_store_relaxed(&team->cancelled_work, member->place.come + 1); /* relaxed: as above */
}

bool
med_cancel_work_is(const med_member *member)
{
    const med_team *team = member->team;
    /* Relaxed, both: as above. */
    return atomic32_load_relaxed(&team->cancelled) != MED_CANCELLED_NOTHING &&
           atomic32_load_relaxed(&team->cancelled_work) == member->place.come + 1;
}

/* ---- The end --------------------------------------------------------------------------------- */

void
med_cancel_note_end(med_member *member)
{
    atomic32_store_release(&member->ended, member->round); /* R2 ended -> A2 (has_ended) */
}

void
med_cancel_end(med_member *member)
{
    med_cancel_note_end(member);
    if (!member->early) {
        med_barrier_come(member->barrier, &member->place);
    }
    member->early = false;
    med_team_depart(member);
}

static bool
have_all_ended(const med_team *team)
{
    for (uint32_t i = 1; i < team->size; i++) {
        if (!has_ended(team->members[i])) {
            return false;
        }
    }
    return true;
}

static bool
is_first_called(void *context)
{
    const med_member *first = context;
    return have_all_ended(first->team) || med_task_calls(context);
}

/* Who has not ended may wait for a task behind others in the first member's queue. */
void
med_cancel_gather(med_member *first)
{
    med_wait_request request = {.condition = is_first_called,
                                .context = first,
                                .limits = first->limits,
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = MED_PORT_SCOPE_PROCESS};
    while (med_cancel_region_is(first) && !have_all_ended(first->team)) {
        (void)med_wait_crowd_until(&first->barrier->wait, &first->waiter, &request);
        if (med_task_calls(first)) {
            med_task_help(first);
        }
    }
}

void
med_cancel_settle(med_member *first)
{
    med_team *team = first->team;
    /* Relaxed, this and all below: nobody else is left in the region. */
    if (atomic32_load_relaxed(&team->cancelled) == MED_CANCELLED_REGION) {
        atomic32_store_relaxed(&team->singles, first->singles);   /* relaxed: as above */
        atomic32_store_relaxed(&team->copied_of, first->singles); /* relaxed: as above */
        for (uint32_t i = 0; i < team->size; i++) {
            /* Relaxed: as above. */
            atomic32_store_relaxed(&team->members[i]->settled, first->singles);
        }
        for (uint32_t i = 0; i < MED_TEAM_WORKS; i++) {
            uint32_t number = first->works + i;
            med_work_place_init(&team->works[number % MED_TEAM_WORKS], number);
        }
    }
    atomic32_store_relaxed(&team->cancelled_work, 0);                /* relaxed: as above */
    atomic32_store_relaxed(&team->cancelled, MED_CANCELLED_NOTHING); /* relaxed: as above */
}
