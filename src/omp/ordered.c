/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Ordered loops. What may run together: everything, by different members of the team. Who is
 * through with his units says so to who has the next ones, in a line of his: so it takes one
 * transfer of a line, and of those who sleep he alone is woken. Sixteen threads, 16 processors,
 * EPCC's ordered: 0.43 us; where all looked at one line, 0.68.
 *
 * What a turn says grows from one loop of a place to the next, so what an earlier one has left
 * there is nobody's turn.
 *
 * In a crowded team who waits for his turn gives way only where one who has his before him waits
 * here: else he keeps the processor, and sees at once when it is his. So while one works on one
 * processor, the next one comes up on another.
 */
#include "omp/ordered.h"

#include <string.h>

#include "mrapi/heap_lent.h"
#include "omp/lock.h"
#include "omp/team.h"
#include "omp/work.h"

/* From the first ordered loop of a place on. */
static void
turns_make(med_work *work)
{
    med_turn *turns = med_heap_lend(MED_WORK_TURNS * sizeof(med_turn));
    if (turns) {
        memset(turns, 0, MED_WORK_TURNS * sizeof(med_turn));
    }
    /* R1 turns -> A1 (med_ordered_wake) */
    atomic_word_store_release(&work->turns, (uintptr_t)(turns ? turns : &work->only_turn));
}

void
med_ordered_end(med_work *work)
{
    /* Relaxed: nobody is here. */
    med_turn *turns = (med_turn *)atomic_word_load_relaxed(&work->turns);
    if (turns != &work->only_turn) {
        med_heap_take_back(turns);
    }
}

/* Behind the construct's turn, which publishes them. */
static med_turn *
turn_of(med_work *work, uintptr_t number)
{
    med_turn *turns = (med_turn *)atomic_word_load_relaxed(&work->turns); /* relaxed: as above */
    return turns == &work->only_turn ? turns : &turns[number % MED_WORK_TURNS];
}

void
med_ordered_begin(med_work *work)
{
    if (atomic_word_load_relaxed(&work->turns) == 0) { /* relaxed: nobody else makes them now */
        turns_make(work);
    }
    work->excludes = med_settings_get()->cancellation;
    work->turn_base += work->turn_units + 1;
    work->turn_units = work->units;
    /* Relaxed, both: the construct's turn publishes them. */
    atomic_word_store_relaxed(&turn_of(work, 0)->done, work->turn_base);
    atomic_word_store_relaxed(&work->done, 0);
}

/* Guided chunks are of many lengths: their seats and turns lie anywhere. */
static uintptr_t
chunk_of(const med_work *work, uintptr_t unit)
{
    return unit / (work->chunk ? work->chunk : 1);
}

static atomic32 *
seat_of(med_work *work, uintptr_t unit)
{
    return &work->seats[chunk_of(work, unit) % MED_WORK_SEATS];
}

static med_turn *
turn_at(med_work *work, uintptr_t unit)
{
    return turn_of(work, chunk_of(work, unit));
}

/* Looked for while others have their turn: who hands it on is what all wait for. */
void
med_ordered_take(med_member *member)
{
    med_share *share = &member->share;
    share->has_turn = false;
    share->turn = turn_at(member->work, share->units.first);
    share->then = turn_at(member->work, share->units.end);
}

static bool
is_done_up_to_mine(void *context)
{
    med_member *member = context;
    med_share *share = &member->share;
    /* A3 units done <- R3 (units_are_done) */
    uintptr_t done = atomic_word_load_acquire(&share->turn->done);
    share->has_turn = done == member->work->turn_base + share->units.first;
    return share->has_turn;
}

static void
units_are_done(med_member *member)
{
    med_work *work = member->work;
    uintptr_t end = member->share.units.end;
    med_turn *then = member->share.then;
    /* R3 units done -> A3 (is_done_up_to_mine) */
    atomic_word_store_release(&then->done, work->turn_base + end);
    med_wait_wake(&then->wait, MED_PORT_SCOPE_PROCESS);
    if (med_member_is_crowded(member)) {
        atomic_word_store_relaxed(&work->done, end); /* relaxed: a guess */
    }
}

/* Relaxed, all: guesses. */
static bool
is_another_here(void *context)
{
    med_member *member = context;
    med_work *work = member->work;
    uintptr_t chunk = work->chunk ? work->chunk : 1;
    uintptr_t mine = member->share.units.first;
    uintptr_t at = atomic_word_load_relaxed(&work->done); /* relaxed: as above */
    uint32_t here = med_port_processor_here() + 1;
    atomic32 *own = seat_of(work, mine);
    if (atomic32_load_relaxed(own) != here) { /* relaxed: as above */
        atomic32_store_relaxed(own, here);    /* relaxed: as above */
    }
    for (uint32_t i = 0; i < MED_WORK_SEATS && at < mine; i++, at += chunk) {
        if (atomic32_load_relaxed(seat_of(work, at)) == here) { /* relaxed: as above */
            return true;
        }
    }
    return false;
}

static bool
is_in_order(const med_member *member)
{
    return member->work && member->work->ordered && member->share.has_some;
}

static bool
wait_for_turn(med_member *member)
{
    if (member->share.has_turn || is_done_up_to_mine(member)) {
        return true;
    }
    med_wait *wait = &member->share.turn->wait;
    med_team_turn(member, (uint32_t)member->share.rounds);
    return med_work_wait(member, wait, is_done_up_to_mine, is_another_here, member);
}

/* Turns that are being made are missed. But who waits there looks whether the region is cancelled
 * behind the heavy barrier of his sleep: had he passed that before, they would be seen here. */
void
med_ordered_wake(med_team *team)
{
    for (uint32_t i = 0; i < MED_TEAM_WORKS; i++) {
        med_work *work = &team->works[i];
        /* A1 turns <- R1 (turns_make) */
        med_turn *turns = (med_turn *)atomic_word_load_acquire(&work->turns);
        uint32_t count = !turns ? 0 : turns == &work->only_turn ? 1 : MED_WORK_TURNS;
        for (uint32_t t = 0; t < count; t++) {
            med_wait_wake(&turns[t].wait, MED_PORT_SCOPE_PROCESS);
        }
    }
}

void
med_work_ordered(med_member *member)
{
    if (is_in_order(member)) {
        (void)wait_for_turn(member);
        if (member->work->excludes) {
            med_omp_lock_set(&member->work->inside, member);
            member->share.inside = true;
        }
    }
}

void
med_work_ordered_end(med_member *member)
{
    if (member->share.inside) {
        member->share.inside = false;
        med_omp_lock_unset(&member->work->inside);
    }
}

void
med_ordered_pass_on(med_member *member)
{
    if (!member->share.has_some) {
        return;
    }
    med_work_ordered_end(member);
    if (wait_for_turn(member)) {
        units_are_done(member);
    }
    member->share.has_some = false;
}
