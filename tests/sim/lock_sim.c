/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The lock: one owner at a time, who sees what the owners before him wrote; no sleeper is
 * forgotten; a dead owner's lock is had again, and its next owner is told.
 *
 * Actors: three of equal rank. With deadlines, those who wait may give up. Or threads of one
 * process, whose owners wake nobody while somebody spins; of two locks that share that word.
 */
#include "base/lock.h"
#include "scenarios.h"

#define ACTORS 3u
#define ROUNDS 4u

typedef struct shared {
    med_lock lock;
    med_lock other; /* hinted, with the same sleepers and spinner */
    med_lock_sleepers sleepers;
    med_lock_spinner spinner;
    uint32_t first; /* plain, the lock's: equal unless the owner is at it, or died */
    uint32_t second;
    atomic32 came[ACTORS]; /* before it first tried: who sees it as the owner sees this */
} shared;

typedef struct notes {
    uint32_t inside; /* who is in the section: index + 1; 0: nobody alive */
    uint32_t rounds; /* sections that were left */
} notes;

static void
begin(const sim_actor *director)
{
    (void)director; /* a zeroed lock is free */
}

static void
come(shared *s, const sim_actor *actor)
{
    atomic32_store_relaxed(&s->came[actor->index], 1); /* relaxed: R2 of the lock follows */
}

static void
owner_check(const shared *s, uint32_t owner)
{
    if (owner >= 1 && owner <= ACTORS) {
        SIM_CHECK(atomic32_load_relaxed(&s->came[owner - 1]) == 1); /* relaxed: A2 of the lock */
    }
}

/* Also for those who see no slice: whoever finds the lock held by a dead one takes it from him. */
static medley_status_t
recover_dead(void *context, uint32_t owner)
{
    shared *s = context;
    owner_check(s, owner);
    if (owner >= 1 && owner <= ACTORS && sim_is_dead(owner - 1)) {
        (void)med_lock_recover(&s->lock, &s->sleepers, owner, true, MED_PORT_SCOPE_SHARED);
    }
    return MEDLEY_OK;
}

static medley_status_t
acquire(shared *s, uint32_t owner, med_waiter *waiter, uint64_t deadline_ns)
{
    med_lock_request request = {.owner = owner,
                                .deadline_ns = deadline_ns,
                                .scope = MED_PORT_SCOPE_SHARED,
                                .waiter = waiter,
                                .each_slice = recover_dead,
                                .context = s};
    return med_lock_acquire(&s->lock, &s->sleepers, &request);
}

static void
section(shared *s, const sim_actor *actor, medley_status_t status)
{
    notes *n = actor->notes;
    SIM_CHECK(n->inside == 0 || sim_is_dead(n->inside - 1));
    n->inside = actor->index + 1;
    if (status == MEDLEY_ERR_OWNER_DIED) {
        s->second = s->first;
    }
    SIM_CHECK(s->first == s->second);
    s->first++;
    sim_linger();
    s->second++;
    n->inside = 0;
    n->rounds++;
}

static void
leave(shared *s, uint32_t owner)
{
    if (sim_random(4) == 0) {
        med_lock_give_back(&s->lock, &s->sleepers, owner, MED_PORT_SCOPE_SHARED);
    } else {
        med_lock_release(&s->lock, &s->sleepers, MED_PORT_SCOPE_SHARED);
    }
}

static void
act_until(const sim_actor *actor, uint64_t deadline_ns)
{
    shared *s = actor->memory;
    med_waiter waiter = {0};
    come(s, actor);
    owner_check(s, med_lock_owner(&s->lock));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint64_t until_ns = deadline_ns == MED_PORT_FOREVER || sim_random(2) == 0
                                ? MED_PORT_FOREVER
                                : med_port_clock_ns() + deadline_ns;
        medley_status_t status = acquire(s, actor->index + 1, &waiter, until_ns);
        if (status == MEDLEY_OK || status == MEDLEY_ERR_OWNER_DIED) {
            section(s, actor, status);
            leave(s, actor->index + 1);
        } else {
            SIM_CHECK(status == MEDLEY_TIMEOUT && until_ns != MED_PORT_FOREVER);
        }
    }
}

static void
act(const sim_actor *actor)
{
    act_until(actor, MED_PORT_FOREVER);
}

static void
act_in_time(const sim_actor *actor)
{
    act_until(actor, 200000);
}

static void
end(const sim_actor *director)
{
    const shared *s = director->memory;
    const notes *n = director->notes;
    bool nobody_died = true;
    for (uint32_t i = 0; i < ACTORS; i++) {
        nobody_died = nobody_died && !sim_is_dead(i);
    }
    SIM_CHECK(!nobody_died || s->first == n->rounds);
}

/* The same, but one who frees the lock of a dead owner says that it is of no more use. */
static medley_status_t
bury_dead(void *context, uint32_t owner)
{
    shared *s = context;
    owner_check(s, owner);
    if (owner >= 1 && owner <= ACTORS && sim_is_dead(owner - 1)) {
        (void)med_lock_recover(&s->lock, &s->sleepers, owner, false, MED_PORT_SCOPE_SHARED);
    }
    return MEDLEY_OK;
}

static void
act_buried(const sim_actor *actor)
{
    shared *s = actor->memory;
    med_waiter waiter = {0};
    come(s, actor);
    owner_check(s, med_lock_owner(&s->lock));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        med_lock_request request = {.owner = actor->index + 1,
                                    .deadline_ns = MED_PORT_FOREVER,
                                    .scope = MED_PORT_SCOPE_SHARED,
                                    .waiter = &waiter,
                                    .each_slice = bury_dead,
                                    .context = s};
        medley_status_t status = med_lock_acquire(&s->lock, &s->sleepers, &request);
        if (status == MEDLEY_ERR_OWNER_DIED) {
            SIM_CHECK(med_lock_is_dead(&s->lock));
            return;
        }
        section(s, actor, status);
        leave(s, actor->index + 1);
    }
}

/* The first ends the lock, and makes another in its place: the others have this one or that, or
 * find that theirs has ended, and none of them is left asleep. */
static void
act_reborn(const sim_actor *actor)
{
    shared *s = actor->memory;
    med_waiter waiter = {0};
    uint32_t owner = actor->index + 1;
    come(s, actor);
    medley_status_t status = acquire(s, owner, &waiter, MED_PORT_FOREVER);
    if (!med_lock_is_mine(&s->lock, owner)) {
        SIM_CHECK(status == MEDLEY_ERR_OWNER_DIED);
        return;
    }
    section(s, actor, status);
    if (actor->index != 0) {
        leave(s, owner);
        return;
    }
    SIM_CHECK(med_lock_recover(&s->lock, &s->sleepers, owner, false, MED_PORT_SCOPE_SHARED));
    /* R1 held -> A1 (lock.c). The sleepers' flag stays: it may be of one who still sleeps. */
    atomic32_store_release(&s->lock.word, 0);
}

/* Most often the first of the two, now and then the other one. */
static void
act_hinted(const sim_actor *actor)
{
    shared *s = actor->memory;
    med_waiter waiter = {0};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        med_lock *lock = sim_random(4) == 0 ? &s->other : &s->lock;
        med_lock_request request = {.owner = actor->index + 1,
                                    .deadline_ns = MED_PORT_FOREVER,
                                    .scope = MED_PORT_SCOPE_PROCESS,
                                    .waiter = &waiter,
                                    .spinner = &s->spinner};
        SIM_CHECK(med_lock_acquire(lock, &s->sleepers, &request) == MEDLEY_OK);
        if (lock == &s->lock) {
            section(s, actor, MEDLEY_OK);
        }
        med_lock_release_hinted(lock, &s->sleepers, &s->spinner, MED_PORT_SCOPE_PROCESS);
    }
}

static void
end_hinted(const sim_actor *director)
{
    const shared *s = director->memory;
    SIM_CHECK(med_lock_owner(&s->lock) == 0 && med_lock_owner(&s->other) == 0);
}

const sim_scenario sim_lock_hinted = {
    .name = "lock_hinted",
    .covers = "med_lock_release_hinted()",
    .memory_bytes = sizeof(shared),
    .actors = ACTORS,
    .one_process = true,
    .waits_forever = true,
    .begin = begin,
    .act = act_hinted,
    .end = end_hinted,
};

const sim_scenario sim_lock = {
    .name = "lock",
    .covers = "lock",
    .memory_bytes = sizeof(shared),
    .actors = ACTORS,
    .deaths = 2,
    .mortal = 7,
    .waits_forever = true,
    .begin = begin,
    .act = act,
    .end = end,
};

const sim_scenario sim_lock_in_time = {
    .name = "lock_in_time",
    .covers = "lock",
    .memory_bytes = sizeof(shared),
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 7,
    .times_out = true,
    .begin = begin,
    .act = act_in_time,
    .end = end,
};

const sim_scenario sim_lock_buried = {
    .name = "lock_buried",
    .covers = "lock",
    .memory_bytes = sizeof(shared),
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 7,
    .begin = begin,
    .act = act_buried,
    .end = end,
};

const sim_scenario sim_lock_reborn = {
    .name = "lock_reborn",
    .covers = "lock_attempt()",
    .memory_bytes = sizeof(shared),
    .actors = ACTORS,
    .waits_forever = true,
    .begin = begin,
    .act = act_reborn,
};
