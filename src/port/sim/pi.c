/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Locks with priority inheritance, in the simulator: the kernel's part of them, as Linux has it
 * (FUTEX_LOCK_PI and FUTEX_UNLOCK_PI, without robust lists).
 *
 * The kernel knows of a word only as long as somebody waits for it: then, for whom. It keeps that
 * by the thread, and looks for one by the number in the word only when the first comes to wait. It
 * refuses whoever comes when the word names another than whom all wait for. Whoever unlocks chooses
 * an heir among those who wait and writes his number; at the end of whom they wait for, an heir is
 * chosen too, but writes his number himself, and that the owner died, when he comes to run,
 * whatever stands in the word by then. The heir may be anyone: it is as their priorities are; one
 * of a higher priority may still come before an heir who does not run yet.
 *
 * A call is one step, but for its sleep. It looks at the word before it changes it, and others may
 * change it between: the look is a load, which may be old, and then the change fails.
 *
 * Orders: what gives the lock acquires what whoever left it had done, by calls or by the word, or
 * before he died; and the taker's number is released to the word with all that he had done when he
 * came to wait. To unlock releases. Whom the kernel refuses it tells nothing else.
 */
#include "engine.h"

#include <string.h>

#define HERE ((uintptr_t)__builtin_return_address(0))
#define WAITERS 0x80000000u

typedef struct lock {
    void *word; /* where one of those who wait sees it; NULL: none waits */
    uint32_t place;
    const sim_fiber *owner; /* for whom they wait; NULL: he died */
    const sim_fiber *heir;  /* who waits no longer, and does not know it yet; or NULL */
    sim_view view;          /* what those did who came to wait, or had it */
} lock;

static lock locks[SIM_FIBERS_MAX];

void
sim_pi_begin(void)
{
    memset(locks, 0, sizeof locks);
}

static uint32_t
number_of(uint32_t word)
{
    return word & MED_PORT_PI_OWNER_MASK;
}

static lock *
lock_at(uint32_t place)
{
    for (lock *l = locks; l < locks + SIM_FIBERS_MAX; l++) {
        if (l->word && l->place == place) {
            return l;
        }
    }
    return NULL;
}

/* There are as many as fibers, and each waits for one at most. */
static lock *
lock_make(void *word, uint32_t place, const sim_fiber *owner)
{
    lock *l = locks;
    while (l->word) {
        l++;
    }
    *l = (lock){.word = word, .place = place, .owner = owner};
    return l;
}

static bool
has_ended(const sim_fiber *fiber)
{
    return fiber->state == SIM_ENDED || fiber->state == SIM_KILLED;
}

static const sim_fiber *
thread_of(uint32_t number)
{
    for (uint32_t i = 0; i < sim.fiber_count; i++) {
        if (sim.fibers[i].thread_id == number && !has_ended(&sim.fibers[i])) {
            return &sim.fibers[i];
        }
    }
    return NULL;
}

void
sim_take_number_of(uint32_t actor)
{
    const sim_fiber *before = sim.actors[actor];
    if (!has_ended(before) || thread_of(before->thread_id)) {
        sim_fail(SIM_WRONG, "takes a thread number that another has", HERE, 0);
    }
    sim.current->thread_id = before->thread_id;
}

/* ---- Who waits ------------------------------------------------------------------------------- */

static void
queue_join(lock *l)
{
    sim_view_join(&l->view, &sim.current->view);
    sim_step(sim.current);
    sim.current->queued_at = l->place;
}

/* The `index`-th of those who wait, or NULL. */
static sim_fiber *
queued_at(const lock *l, uint32_t index)
{
    for (uint32_t i = 0; i < sim.fiber_count; i++) {
        if (sim.fibers[i].queued_at == l->place && index-- == 0) {
            return &sim.fibers[i];
        }
    }
    return NULL;
}

static void
queue_leave(lock *l, sim_fiber *fiber)
{
    fiber->queued_at = SIM_NOWHERE;
    if (!queued_at(l, 0)) {
        *l = (lock){.word = NULL};
    }
}

static sim_fiber *
heir_choose(const lock *l)
{
    sim_fiber *heir = queued_at(l, sim_choose(SIM_WAKE, SIM_FIBERS_MAX, 1u << 14));
    return heir ? heir : queued_at(l, 0);
}

/* One whose time is over may have been chosen all the same. */
static void
heir_wake(lock *l, sim_fiber *heir)
{
    l->heir = heir;
    if (heir->state == SIM_WAITING) {
        sim_fiber_wake(heir);
    }
}

/* To wait would be to wait for oneself. */
static bool
is_circle(const lock *l)
{
    while (l && !l->heir && l->owner != sim.current) {
        l = l->owner && l->owner->queued_at != SIM_NOWHERE ? lock_at(l->owner->queued_at) : NULL;
    }
    return l && !l->heir;
}

/* ---- The word -------------------------------------------------------------------------------- */

static uint32_t
look(void *word, uint32_t place, uintptr_t pc)
{
    return (uint32_t)sim_history_load(word, place, 4, __ATOMIC_RELAXED, pc);
}

static bool
swap(void *word, uint32_t place, uint32_t before, uint32_t after, int order, uintptr_t pc)
{
    uint64_t expected = before;
    return sim_history_swap(word, place, 4, &expected, after, order, __ATOMIC_RELAXED, pc);
}

static uint64_t
change_owner(uint64_t old, uint64_t number)
{
    return (old & MED_PORT_PI_DIED) | number;
}

/* With the heir's number goes what he did before he came to wait; whoever writes it sees nothing of
 * that himself. */
static bool
swap_to_heir(lock *l, uint32_t before, const sim_fiber *heir, uintptr_t pc)
{
    sim_fiber *me = sim.current;
    sim_view own = me->view;
    sim_view_join(&me->view, &l->view);
    bool done = swap(l->word, l->place, before, heir->thread_id | WAITERS, __ATOMIC_RELEASE, pc);
    own.happened.at[me->number] = me->view.happened.at[me->number];
    own.seen.at[me->number] = me->view.seen.at[me->number];
    me->view = own;
    return done;
}

/* The lock is the running fiber's, whoever had it, or was to have it. */
static void
owner_become(lock *l, uintptr_t pc)
{
    sim_fiber *me = sim.current;
    sim_view_join(&me->view, &l->view);
    if (l->owner != me) {
        uint32_t number = me->thread_id | WAITERS | (l->owner ? 0 : MED_PORT_PI_DIED);
        (void)sim_history_change(l->word, l->place, 4, change_owner, number, __ATOMIC_ACQ_REL, pc);
    }
    l->owner = me;
    l->heir = NULL;
}

/* ---- Lock ------------------------------------------------------------------------------------ */

typedef enum answer {
    HAD,
    QUEUED,
    AGAIN,
    CIRCLE,
    NOBODY,
    REFUSED,
} answer;

static answer
queue_enter(lock *l)
{
    if (is_circle(l)) {
        return CIRCLE;
    }
    queue_join(l);
    return QUEUED;
}

/* Others wait. */
static answer
ask_lock(lock *l, uint32_t seen, uintptr_t pc)
{
    if (look(l->word, l->place, pc) != seen) {
        return AGAIN;
    }
    bool nobodys = number_of(seen) == 0 && (seen & MED_PORT_PI_DIED);
    if (!nobodys && (!l->owner || number_of(seen) != l->owner->thread_id)) {
        return REFUSED;
    }
    if (l->heir && l->heir == l->owner && sim_choose(SIM_MACHINE, 2, 1u << 13)) {
        owner_become(l, pc); /* of a higher priority than the heir, who waits on */
        return HAD;
    }
    return queue_enter(l);
}

static answer
ask(void *word, uint32_t place, uintptr_t pc)
{
    uint32_t seen = look(word, place, pc);
    lock *l = lock_at(place);
    if (number_of(seen) == sim.current->thread_id) {
        return CIRCLE;
    }
    if (l) {
        return ask_lock(l, seen, pc);
    }
    if (number_of(seen) == 0) {
        uint32_t taken = (seen & MED_PORT_PI_DIED) | sim.current->thread_id;
        return swap(word, place, seen, taken, __ATOMIC_ACQ_REL, pc) ? HAD : AGAIN;
    }
    if (!swap(word, place, seen, seen | WAITERS, __ATOMIC_RELAXED, pc)) {
        return AGAIN;
    }
    const sim_fiber *owner = thread_of(number_of(seen));
    return owner ? queue_enter(lock_make(word, place, owner)) : NOBODY;
}

/* Until it is the caller's, or the deadline. One who wakes for no reason comes again, as after a
 * signal. */
static medley_status_t
await(uint32_t place, uint64_t deadline_ns, uintptr_t pc)
{
    sim_fiber *me = sim.current;
    lock *l = lock_at(place);
    bool in_time = deadline_ns > sim.now_ns;
    if (in_time) {
        sim_trace(SIM_DID_SLEEP, place, 0, pc);
        me->waits_for = place;
        in_time = sim_fiber_wait(deadline_ns);
    }
    bool had = l->heir == me;
    if (had) {
        owner_become(l, pc);
    }
    queue_leave(l, me);
    return had ? MEDLEY_OK : in_time ? MEDLEY_BUSY : MEDLEY_TIMEOUT;
}

static medley_status_t
lock_once(void *word, uint32_t place, uint64_t deadline_ns, uintptr_t pc)
{
    sim_point(pc);
    switch (ask(word, place, pc)) {
    case HAD:
        return MEDLEY_OK;
    case QUEUED:
        return await(place, deadline_ns, pc);
    case AGAIN:
        return MEDLEY_BUSY;
    case CIRCLE:
        return MEDLEY_ERR_EXISTS;
    case NOBODY:
        return MEDLEY_ERR_PEER_DIED;
    default:
        return MEDLEY_ERR_SYSTEM;
    }
}

static uint64_t
change_and(uint64_t old, uint64_t operand)
{
    return old & operand;
}

/* That its owner died stands in the word, and is taken out of it, as on Linux. */
static medley_status_t
had_status(void *word, uint32_t place, uintptr_t pc)
{
    sim_point(pc);
    if (!(sim_history_load(word, place, 4, __ATOMIC_ACQUIRE, pc) & MED_PORT_PI_DIED)) {
        return MEDLEY_OK;
    }
    sim_point(pc);
    (void)sim_history_change(word, place, 4, change_and, ~MED_PORT_PI_DIED, __ATOMIC_RELAXED, pc);
    return MEDLEY_ERR_OWNER_DIED;
}

static uint32_t
place_of(const uint32_t *word, uintptr_t pc)
{
    uint32_t place = sim_place(word, pc);
    if (place == SIM_NOWHERE) {
        sim_fail(SIM_WRONG, "a lock that nobody else can have", pc, 0);
    }
    return place;
}

medley_status_t
med_port_pi_lock(uint32_t *word, uint64_t deadline_ns, med_port_scope scope)
{
    uint32_t place = place_of(word, HERE);
    medley_status_t status;
    (void)scope;
    do {
        status = lock_once(word, place, deadline_ns, HERE);
    } while (status == MEDLEY_BUSY);
    return status == MEDLEY_OK ? had_status(word, place, HERE) : status;
}

/* ---- Unlock ---------------------------------------------------------------------------------- */

medley_status_t
med_port_pi_unlock(uint32_t *word, med_port_scope scope)
{
    uint32_t place = place_of(word, HERE);
    sim_fiber *me = sim.current;
    (void)scope;
    sim_point(HERE);
    uint32_t seen = look(word, place, HERE);
    lock *l = lock_at(place);
    if (number_of(seen) != me->thread_id || (l && l->owner != me)) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    if (!l) {
        return swap(word, place, seen, 0, __ATOMIC_RELEASE, HERE) ? MEDLEY_OK
                                                                  : MEDLEY_ERR_NOT_OWNER;
    }
    sim_fiber *heir = heir_choose(l);
    if (!swap_to_heir(l, seen, heir, HERE)) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    sim_view_join(&l->view, &me->view);
    sim_step(me);
    l->owner = heir;
    heir_wake(l, heir);
    sim_trace(SIM_DID_WAKE, place, heir->thread_id, HERE);
    return MEDLEY_OK;
}

bool
med_port_pi_supported(void)
{
    return true;
}

/* ---- Ends ------------------------------------------------------------------------------------ */

static void
ends_waiting(sim_fiber *fiber)
{
    lock *l = lock_at(fiber->queued_at);
    if (l->heir == fiber) {
        owner_become(l, 0); /* before he learns that he is to die */
    }
    queue_leave(l, fiber);
}

void
sim_pi_thread_ended(sim_fiber *fiber)
{
    sim_fiber *running = sim.current;
    sim.current = fiber;
    if (fiber->queued_at != SIM_NOWHERE) {
        ends_waiting(fiber);
    }
    for (lock *l = locks; l < locks + SIM_FIBERS_MAX; l++) {
        if (l->word && l->owner == fiber) {
            l->owner = NULL;
            sim_view_join(&l->view, &fiber->view);
            heir_wake(l, heir_choose(l));
        }
    }
    sim.current = running;
}
