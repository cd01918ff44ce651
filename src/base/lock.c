/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The lock. What may run together: everything, by anybody.
 *
 * Transitions of the word (o: owner; +D: with DIED):
 *   0, D     -> o          try, acquire
 *   o        -> 0          release: a store, since nobody else changes the word of a living owner
 *   o        -> D          recover, the lock stays usable; wakes one
 *   o        -> DEAD+D     recover, the lock is of no more use; wakes one, who wakes the others
 *
 * Why no wake is lost. A sleeper sets the flag (S1), passes the heavy barrier (S2), looks at the
 * word (S3), and sleeps only while the flag is set. An owner frees the word, then looks at the
 * flag: if he misses S1, then S3 finds the word free (the asymmetric fence, as in wait.c). If he
 * sees it, he clears it and wakes one. There may be others, so who was woken carries the duty on:
 * he sets the flag again before he tries, and either gets the lock, and sees the flag when he gives
 * it back, or sleeps with the flag set. Who gives up instead (a deadline) passes the duty on
 * (hand_on).
 *
 * Where an owner sees that somebody spins (med_lock_release_hinted) he wakes nobody: that one will
 * have the lock, and sees the flag when he gives it back. Or he goes to sleep: first he takes his
 * hint back, then he passes the heavy barrier (S2), and looks. So an owner who saw the hint freed
 * the word before that barrier, and he finds it free. The same of two who spin, one of whom takes
 * the other's hint back: then somebody is woken in vain.
 *
 * Where several may have it at once, more than one may come free between a clearing of the flag and
 * the next setting: only the first of them wakes somebody. And who sets the flag and then gets one
 * may have set it for another, who looked in vain, and goes to sleep after the wake that was his.
 * So who has set the flag and got one looks, behind the heavy barrier, whether there is another,
 * and wakes the next (pass_on).
 *
 * Linearisation: the compare-and-swap that takes, the store that frees. Progress: blocking, by
 * nature; release is wait-free but for the kernel's wake.
 * Death: of the owner, recover. Of one that was woken and had not yet taken the word (the others
 * sleep on a free lock), or of an owner between free and wake: the sleepers' slices end, and they
 * look at the word again.
 * Model: models/lock.pml; of several, models/units.pml.
 */
#include "base/lock.h"

/* Between two looks of a spinner, in pauses: the holder has the line to itself meanwhile, and can
 * take the lock many times more. */
#define PAUSES_FIRST 8u
#define PAUSES_LAST 128u
/* Beyond this many rounds it offers its processor to others in between. */
#define ROUNDS_ALONE 6u
/* On one processor, where it does so in each, it makes no more of them. */
#define ROUNDS_SHARED 64u

static bool
is_free(uint32_t word)
{
    return (word & MED_LOCK_OWNER_MASK) == 0;
}

static bool
is_dead(uint32_t word)
{
    return (word & MED_LOCK_OWNER_MASK) == MED_LOCK_DEAD;
}

medley_status_t
med_lock_try(med_lock *lock, uint32_t owner)
{
    uint32_t word = atomic32_load_relaxed(&lock->word); /* relaxed: checked by compare-and-swap */
    while (is_free(word)) {
        /* A1 held <- R1 (release, recover); R2 owner came -> A2 (lock.h) */
        if (atomic32_cas_acq_rel(&lock->word, &word, owner)) {
            return word & MED_LOCK_DIED ? MEDLEY_ERR_OWNER_DIED : MEDLEY_OK;
        }
    }
    return is_dead(word) ? MEDLEY_ERR_OWNER_DIED : MEDLEY_BUSY;
}

/* ---- Spinning -------------------------------------------------------------------------------- */

static void
pause_for(uint32_t pauses)
{
    for (uint32_t i = 0; i < pauses; i++) {
        med_port_cpu_relax();
    }
}

/* On the only processor: how much later the spinning may end. What others do here meanwhile does
 * not count: he comes back just when they have to wait, too, and were his time spent by then, all
 * would go to sleep, and the processor idle until a wake comes from another. But for a slice of one
 * who computes: 0. */
static uint64_t
give_way(med_waiter *waiter)
{
    uint64_t start_ns = med_port_clock_ns();
    med_wait_give_way(waiter);
    return waiter->crowded ? 0 : med_port_clock_ns() - start_ns;
}

/* A small build has a thread to each core. */
static bool
is_hinted(const med_contest *contest)
{
    return !med_port_is_small() && contest->spinner;
}

/* That somebody spins; 0: not he. Relaxed: S2 stands between this and a sleep. */
static void
hint(const med_contest *contest, uint32_t lock)
{
    if (is_hinted(contest)) {
        atomic32_store_relaxed(&contest->spinner->lock, lock); /* relaxed: as above */
    }
}

/* Until it is had (or over), or it is time to sleep (MEDLEY_BUSY). */
static medley_status_t
spin(const med_contest *contest)
{
    med_port_scheduling scheduling;
    med_wait_scheduling_get(contest->limits, &scheduling);
    bool only_processor = scheduling.processors == 1;
    uint64_t budget_ns = med_wait_spin_budget_ns(contest->waiter, contest->limits, &scheduling);
    if (budget_ns == 0) {
        hint(contest, 0); /* in a child of fork it may be of one who is not there */
        return MEDLEY_BUSY;
    }
    uint64_t end_ns = med_port_clock_ns() + budget_ns;
    uint32_t pauses = PAUSES_FIRST;
    hint(contest, contest->hint);
    for (uint32_t round = 0;; round++) {
        medley_status_t status = contest->attempt(contest->context);
        uint64_t now_ns = med_port_clock_ns();
        bool over = now_ns >= end_ns || now_ns >= contest->deadline_ns ||
                    (only_processor && round == ROUNDS_SHARED);
        if (status != MEDLEY_BUSY || over) {
            hint(contest, 0);
            med_wait_learn(contest->waiter, status == MEDLEY_BUSY);
            return status;
        }
        if (only_processor) {
            end_ns += give_way(contest->waiter);
        } else if (round > ROUNDS_ALONE && !scheduling.real_time) {
            med_port_yield();
        }
        pause_for(only_processor ? 1 : pauses);
        pauses = pauses < PAUSES_LAST ? pauses * 2 : PAUSES_LAST;
    }
}

/* ---- Sleeping -------------------------------------------------------------------------------- */

void
med_lock_wake(med_lock_sleepers *sleepers, uint32_t count, med_port_scope scope)
{
    med_port_barrier_light(scope); /* B2 free or over, then flag <-> S2 (sleep) */
    /* Relaxed: a sleeper on his way finds it cleared, and looks at the lock once more. */
    atomic32_store_relaxed(&sleepers->flag, 0);
    (void)med_port_wake(&sleepers->flag.value, count, scope);
}

/* An attempt by one who has set the flag. Where it turns out to be over there is nobody who would
 * see the flag when he gives it back, and somebody may have gone to sleep since the last wake of
 * all: wake them. */
static medley_status_t
attempt_announced(const med_contest *contest, med_lock_sleepers *sleepers)
{
    medley_status_t status = contest->attempt(contest->context);
    if (status != MEDLEY_OK && status != MEDLEY_BUSY) {
        med_lock_wake(sleepers, UINT32_MAX, contest->scope);
    }
    return status;
}

/* S1, and an attempt: all that one who was woken needs, if he gets it. */
static medley_status_t
announce(const med_contest *contest, med_lock_sleepers *sleepers)
{
    atomic32_store_relaxed(&sleepers->flag, 1); /* S1. Relaxed: S2 orders it, or the own release */
    return attempt_announced(contest, sleepers);
}

/* The same, and another behind the heavy barrier: MEDLEY_BUSY if whoever frees it, or ends it, will
 * see the flag. */
static medley_status_t
announce_for_good(const med_contest *contest, med_lock_sleepers *sleepers)
{
    medley_status_t status = announce(contest, sleepers);
    if (status != MEDLEY_BUSY) {
        return status;
    }
    /* S2 flag, then word <-> B1 (lock.h), B2 (wake) */
    (void)med_port_barrier_heavy(contest->scope);
    return attempt_announced(contest, sleepers); /* S3 */
}

/* Who gives up may have been woken just now in another's stead; or another, who was to look again,
 * goes to sleep by this flag: so it must not be set behind the last wake. */
static medley_status_t
hand_on(const med_contest *contest, med_lock_sleepers *sleepers, medley_status_t why)
{
    medley_status_t status = announce_for_good(contest, sleepers);
    return status == MEDLEY_BUSY ? why : status;
}

/* Who has set the flag and got one: there may be another, which came free from one who missed the
 * flag, and nobody else to tell of it. */
static medley_status_t
pass_on(const med_contest *contest, med_lock_sleepers *sleepers, medley_status_t status)
{
    if (!contest->any_free || status != MEDLEY_OK) {
        return status;
    }
    (void)med_port_barrier_heavy(
        contest->scope); /* S2 flag, then word <-> B1 (lock.h), B2 (wake) */
    if (contest->any_free(contest->context)) {
        med_lock_wake(sleepers, 1, contest->scope);
    }
    return status;
}

/* One sleep of at most a slice. MEDLEY_BUSY: look again. */
static medley_status_t
sleep_once(const med_contest *contest, med_lock_sleepers *sleepers, uint64_t end_ns)
{
    medley_status_t status = announce_for_good(contest, sleepers);
    if (status == MEDLEY_BUSY) {
        (void)med_port_wait(&sleepers->flag.value, 1, end_ns, contest->scope);
    }
    return status;
}

/* At the end of a slice: its owners are looked at. A slice goes on over wakes in vain, or where
 * others get each one that comes free nobody would look for the dead owner of the rest. */
static medley_status_t
slice_ends(const med_contest *contest, uint64_t now_ns)
{
    medley_status_t status =
        contest->each_slice ? contest->each_slice(contest->context) : MEDLEY_OK;
    return status == MEDLEY_OK && now_ns >= contest->deadline_ns ? MEDLEY_TIMEOUT : status;
}

/* Who was woken, where owners see that somebody spins: with the flag set for the others. */
static medley_status_t
spin_announced(const med_contest *contest, med_lock_sleepers *sleepers)
{
    medley_status_t status = announce(contest, sleepers);
    return status == MEDLEY_BUSY ? spin(contest) : status;
}

static medley_status_t
sleep_until_had(const med_contest *contest, med_lock_sleepers *sleepers)
{
    uint32_t slice = 0;
    uint64_t end_ns = med_wait_slice_end_ns(slice, contest->deadline_ns);
    for (;;) {
        contest->waiter->sleeps++;
        medley_status_t status = sleep_once(contest, sleepers, end_ns);
        uint64_t now_ns = med_port_clock_ns();
        if (status == MEDLEY_BUSY && is_hinted(contest) && now_ns < end_ns) {
            status = spin_announced(contest, sleepers);
        }
        if (status != MEDLEY_BUSY) {
            return pass_on(contest, sleepers, status);
        }
        if (now_ns < end_ns) {
            continue;
        }
        medley_status_t ended = slice_ends(contest, now_ns);
        if (ended != MEDLEY_OK) {
            return pass_on(contest, sleepers, hand_on(contest, sleepers, ended));
        }
        end_ns = med_wait_slice_end_ns(++slice, contest->deadline_ns);
    }
}

medley_status_t
med_contest_run(const med_contest *contest, med_lock_sleepers *sleepers)
{
    medley_status_t status = contest->attempt(contest->context);
    if (status != MEDLEY_BUSY || contest->deadline_ns == 0) {
        return status;
    }
    status = spin(contest);
    return status == MEDLEY_BUSY ? sleep_until_had(contest, sleepers) : status;
}

/* ---- A lock as something to wait for --------------------------------------------------------- */

typedef struct lock_wanted {
    med_lock *lock;
    const med_lock_request *request;
    uint32_t owner;       /* seen last */
    medley_status_t news; /* of the former owner, when it is had */
} lock_wanted;

static medley_status_t
lock_attempt(void *context)
{
    lock_wanted *wanted = context;
    medley_status_t status = med_lock_try(wanted->lock, wanted->request->owner);
    if (status == MEDLEY_BUSY) {
        wanted->owner = med_lock_owner(wanted->lock);
        return status;
    }
    wanted->news = status;
    /* Had, or dead? Not a look whether it is dead: it may be another lock by now. */
    return med_lock_is_mine(wanted->lock, wanted->request->owner) ? MEDLEY_OK : status;
}

static medley_status_t
lock_each_slice(void *context)
{
    const lock_wanted *wanted = context;
    const med_lock_request *request = wanted->request;
    return request->each_slice ? request->each_slice(request->context, wanted->owner) : MEDLEY_OK;
}

medley_status_t
med_lock_acquire_slow(med_lock *lock, med_lock_sleepers *sleepers, const med_lock_request *request)
{
    lock_wanted wanted = {.lock = lock, .request = request};
    med_contest contest = {.attempt = lock_attempt,
                           .each_slice = lock_each_slice,
                           .context = &wanted,
                           .deadline_ns = request->deadline_ns,
                           .scope = request->scope,
                           .waiter = request->waiter,
                           .limits = med_port_is_small() ? NULL : request->limits,
                           .spinner = request->spinner,
                           .hint = med_lock_hint(lock)};
    medley_status_t status = med_contest_run(&contest, sleepers);
    return status == MEDLEY_OK ? wanted.news : status;
}

/* ---- Uncommon ends --------------------------------------------------------------------------- */

void
med_lock_give_back(med_lock *lock,
                   med_lock_sleepers *sleepers,
                   uint32_t owner,
                   med_port_scope scope)
{
    if (atomic32_cas_release(&lock->word, &owner, 0)) { /* R1 held -> A1 (acquire, try) */
        med_lock_wake_one(sleepers, scope);
    }
}

/* ---- Death ----------------------------------------------------------------------------------- */

bool
med_lock_recover(med_lock *lock,
                 med_lock_sleepers *sleepers,
                 uint32_t dead_owner,
                 bool usable,
                 med_port_scope scope)
{
    uint32_t word = atomic32_load_relaxed(&lock->word); /* relaxed: checked by compare-and-swap */
    while ((word & MED_LOCK_OWNER_MASK) == dead_owner) {
        uint32_t desired = usable ? MED_LOCK_DIED : MED_LOCK_DEAD | MED_LOCK_DIED;
        /* R1 held -> A1 (try): what the dead owner wrote was made visible by his death (the query
         * that found him dead), and goes on to the next owner. */
        if (atomic32_cas_release(&lock->word, &word, desired)) {
            med_lock_wake(sleepers, 1, scope);
            return true;
        }
    }
    return false;
}
