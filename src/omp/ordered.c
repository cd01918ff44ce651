/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Ordered loops. What may run together: everything, by different members of the team. Who is
 * through with his units says so to who has the next ones, in a line of his: so it takes one
 * transfer of a line, and of those who sleep he alone is woken. Sixteen threads, 16 processors,
 * EPCC's ordered: 0.43 us; where all looked at one line, 0.68.
 *
 * What a turn says grows from one loop of a place to the next, so what an earlier one has left
 * there is nobody's turn; until it has gone round, which takes 2^64 units of loops (2^32 on a
 * machine of 32 bits) between which that line of the place was not written.
 *
 * In a crowded team who waits for his turn gives way only where one who has his before him waits
 * here: else he keeps the processor, and sees at once when it is his. So while one works on one
 * processor, the next one comes up on another.
 *
 * Where more than four would look on one processor in turn, each sleeps first, until the one before
 * him has his turn: those before that one sleep, too, so he comes up at once. Two processors, us a
 * turn, by looks and so: 8 threads 2 to 8, 5; 12: 6 to 11, 4 to 8; 24: 7 to 18, 5. Nearly each wake
 * finds a sleeper, so it is the wakers who pay (base/wait.h).
 */
#include "omp/ordered.h"

#include "mrapi/heap_lent.h"
#include "omp/lock.h"
#include "omp/quota.h"
#include "omp/team.h"
#include "omp/work.h"

/* So many that up to `TURNS_MOST` members share no line: who is woken for the turn of another
 * sleeps again, behind a barrier that all have to pass (24 threads that sleep, 2 processors: 20 us
 * a turn with 16 lines, 8 with 32). */
#define TURNS_LEAST 16u
#define TURNS_MOST 256u
#define LOOKS_FIRST 128u
#define LARGE_CROWD 4u /* so many for each that can run */

/* Smaller tables stay while the place does: another may still wake those who wait there. */
struct med_turns {
    uint32_t mask; /* one less than there are, a power of two */
    struct med_turns *smaller;
    med_turn turns[];
};

static uint32_t
turns_needed(uint32_t members)
{
    uint32_t count = TURNS_LEAST;
    while (count < members && count < TURNS_MOST) {
        count *= 2;
    }
    return count;
}

static med_turns *
turns_get(const med_work *work)
{
    /* Relaxed: who begins the loop has made them, and its turn publishes them. */
    return (med_turns *)atomic_word_load_relaxed(&work->turns);
}

static void
turns_make(med_work *work)
{
    med_turns *before = turns_get(work);
    uint32_t count = turns_needed(work->members);
    if (before && before->mask + 1 >= count) {
        return;
    }
    size_t size_bytes = sizeof(med_turns) + count * sizeof(med_turn);
    med_turns *made = med_heap_lend(size_bytes);
    if (made) {
        made->mask = count - 1;
        made->smaller = before;
        /* R1 turns -> A1 (med_ordered_wake) */
        atomic_word_store_release(&work->turns, (uintptr_t)made);
    }
}

void
med_ordered_end(med_work *work)
{
    med_turns *turns = turns_get(work);
    while (turns) {
        med_turns *smaller = turns->smaller;
        med_heap_take_back(turns);
        turns = smaller;
    }
}

static med_turn *
turn_of(med_work *work, uintptr_t number)
{
    med_turns *turns = turns_get(work);
    return turns ? &turns->turns[number & turns->mask] : &work->only_turn;
}

void
med_ordered_begin(med_work *work)
{
    turns_make(work);
    work->is_large_crowd = work->members > LARGE_CROWD * med_quota_threads();
    work->excludes = med_settings_get()->cancellation;
    work->turn_base += work->turn_units + 1;
    work->turn_units = work->units;
    /* Relaxed, both: the construct's turn publishes them. */
    atomic_word_store_relaxed(&turn_of(work, 0)->done, work->turn_base);
    atomic_word_store_relaxed(&work->done, 0);
}

static uintptr_t
chunk_least(const med_work *work)
{
    return work->chunk ? work->chunk : 1;
}

/* Guided chunks are of many lengths: their seats and turns lie anywhere. */
static uintptr_t
chunk_of(const med_work *work, uintptr_t unit)
{
    return unit / chunk_least(work);
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
    if (med_member_is_crowded(member)) {
        atomic_word_store_relaxed(&work->done, end); /* relaxed: a guess */
    }
    med_wait_wake(&then->wait, MED_PORT_SCOPE_PROCESS);
    if (work->is_large_crowd) {
        med_wait_wake_paid(&then->early, MED_PORT_SCOPE_PROCESS);
        med_wait_wake_paid(&turn_at(work, end + chunk_least(work))->early, MED_PORT_SCOPE_PROCESS);
    }
}

/* Relaxed, all: guesses. */
static bool
is_another_here(void *context)
{
    med_member *member = context;
    med_work *work = member->work;
    uintptr_t chunk = chunk_least(work);
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

/* Or the turn before the member's, as a rule: guided chunks are of many lengths. */
static bool
is_early(void *context)
{
    const med_member *member = context;
    const med_work *work = member->work;
    /* Relaxed: it decides only how to wait. */
    uintptr_t done = atomic_word_load_relaxed(&work->done);
    return done + chunk_least(work) >= member->share.units.first || is_done_up_to_mine(context);
}

/* Where each has a processor: by nothing but looks, since what lies between a turn that is handed
 * on and the next one's work is what the loop takes. */
static bool
comes_soon(med_member *member)
{
    for (uint32_t look = 0; look < LOOKS_FIRST; look++) {
        if (is_done_up_to_mine(member)) {
            return true;
        }
        med_port_cpu_relax();
    }
    return false;
}

static bool
wait_for_turn(med_member *member)
{
    if (member->share.has_turn || is_done_up_to_mine(member)) {
        return true;
    }
    med_turn *turn = member->share.turn;
    if (!med_member_is_crowded(member) && comes_soon(member)) {
        return true;
    }
    med_team_turn(member, (uint32_t)member->share.rounds);
    if (member->work->is_large_crowd && !med_work_sleep(member, &turn->early, is_early, member)) {
        return false;
    }
    return med_work_wait(member, &turn->wait, is_done_up_to_mine, is_another_here, member);
}

static void
look_again(med_turn *turn)
{
    med_wait_wake(&turn->wait, MED_PORT_SCOPE_PROCESS);
    med_wait_wake_paid(&turn->early, MED_PORT_SCOPE_PROCESS);
}

/* Turns that are being made are missed. But who waits there looks whether the region is cancelled
 * behind the heavy barrier of his sleep: had he passed that before, they would be seen here. In a
 * large crowd there is none, and he looks again when a slice of his sleep ends. */
void
med_ordered_wake(med_team *team)
{
    for (uint32_t i = 0; i < MED_TEAM_WORKS; i++) {
        med_work *work = &team->works[i];
        /* A1 turns <- R1 (turns_make) */
        med_turns *turns = (med_turns *)atomic_word_load_acquire(&work->turns);
        for (uint32_t t = 0; turns && t <= turns->mask; t++) {
            look_again(&turns->turns[t]);
        }
        look_again(&work->only_turn);
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
