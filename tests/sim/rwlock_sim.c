/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The reader/writer lock: readers together, as many as it has units, a writer alone, each seeing
 * what the writers before wrote; a dead writer's or reader's hold comes back; who sees an owner
 * sees that he has come.
 *
 * Actors: three of equal rank, each now reader, now writer. Two scenarios: in one they wait for
 * ever, in the other they give up.
 */
#include "base/rwlock.h"
#include "port/port.h"
#include "scenarios.h"

#define ACTORS 3u
#define ROUNDS 4u
#define UNITS 2u

typedef struct shared {
    med_rwlock lock;
    med_lock units[UNITS];
    uint32_t first; /* plain, the lock's: equal unless a writer is at it, or died */
    uint32_t second;
    atomic32 came[ACTORS]; /* before it first tried: who sees it as an owner sees this */
} shared;

typedef struct notes {
    uint32_t writer;  /* index + 1 */
    uint32_t readers; /* bit i: actor i reads */
} notes;

static void
begin(const sim_actor *director)
{
    (void)director; /* a zeroed lock is free */
}

static medley_status_t
still_there(void *context)
{
    (void)context;
    return MEDLEY_OK;
}

static void
owner_check(const shared *s, const med_lock *word)
{
    uint32_t owner = med_lock_owner(word);
    if (owner >= 1 && owner <= ACTORS) {
        SIM_CHECK(atomic32_load_relaxed(&s->came[owner - 1]) == 1); /* relaxed: A2 in lock.h */
    }
}

static void
owners_check(const shared *s)
{
    owner_check(s, &s->lock.writer);
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        owner_check(s, &s->units[unit]);
    }
}

static void
recover_dead(void *context)
{
    shared *s = context;
    owners_check(s);
    for (uint32_t i = 0; i < ACTORS; i++) {
        if (!sim_is_dead(i)) {
            continue;
        }
        for (uint32_t unit = 0; unit < UNITS; unit++) {
            (void)med_rwlock_recover_reader(&s->lock, &s->units[unit], i + 1,
                                            MED_PORT_SCOPE_SHARED);
        }
        (void)med_rwlock_recover_writer(&s->lock, i + 1, true, MED_PORT_SCOPE_SHARED);
    }
}

/* So many who are alive. */
static uint32_t
how_many_read(const notes *n)
{
    uint32_t readers = 0;
    for (uint32_t i = 0; i < ACTORS; i++) {
        readers += (n->readers >> i & 1) && !sim_is_dead(i);
    }
    return readers;
}

static bool
gave_up(const med_rwlock_request *request, medley_status_t status)
{
    return request->deadline_ns != MED_PORT_FOREVER && status == MEDLEY_TIMEOUT;
}

static void
write(const sim_actor *actor, const med_rwlock_request *request)
{
    shared *s = actor->memory;
    notes *n = actor->notes;
    medley_status_t status = med_rwlock_write(request);
    if (gave_up(request, status)) {
        return;
    }
    SIM_CHECK(status == MEDLEY_OK || status == MEDLEY_ERR_OWNER_DIED);
    SIM_CHECK(n->writer == 0 || sim_is_dead(n->writer - 1));
    SIM_CHECK(how_many_read(n) == 0);
    n->writer = actor->index + 1;
    if (status == MEDLEY_ERR_OWNER_DIED) {
        s->second = s->first;
    }
    SIM_CHECK(s->first == s->second);
    s->first++;
    sim_linger();
    s->second++;
    n->writer = 0;
    med_rwlock_write_end(&s->lock, MED_PORT_SCOPE_SHARED);
}

static void
read(const sim_actor *actor, const med_rwlock_request *request)
{
    shared *s = actor->memory;
    notes *n = actor->notes;
    uint32_t unit = sim_random(UNITS);
    medley_status_t status = MEDLEY_OK;
    if (sim_random(2) == 0 ||
        !med_rwlock_read_fast(&s->lock, &s->units[unit], actor->index + 1, MED_PORT_SCOPE_SHARED)) {
        status = med_rwlock_read(request, &unit);
    }
    if (gave_up(request, status)) {
        return;
    }
    SIM_CHECK(status == MEDLEY_OK || status == MEDLEY_ERR_OWNER_DIED);
    SIM_CHECK(n->writer == 0 || sim_is_dead(n->writer - 1));
    SIM_CHECK(how_many_read(n) < UNITS);
    n->readers |= 1u << actor->index;
    sim_linger();
    SIM_CHECK(s->first == s->second || status == MEDLEY_ERR_OWNER_DIED);
    n->readers &= ~(1u << actor->index);
    med_rwlock_read_end(&s->lock, &s->units[unit], MED_PORT_SCOPE_SHARED);
}

static void
act_for(const sim_actor *actor, uint64_t patience_ns)
{
    shared *s = actor->memory;
    med_waiter waiter = {0};
    med_rwlock_request request = {.lock = &s->lock,
                                  .units = {s->units, UNITS, 1},
                                  .owner = actor->index + 1,
                                  .deadline_ns = MED_PORT_FOREVER,
                                  .scope = MED_PORT_SCOPE_SHARED,
                                  .waiter = &waiter,
                                  .still_there = still_there,
                                  .each_slice = recover_dead,
                                  .context = s};
    atomic32_store_relaxed(&s->came[actor->index], 1); /* relaxed: R3 of the lock follows */
    owners_check(s);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (patience_ns != MED_PORT_FOREVER) {
            request.deadline_ns = med_port_clock_ns() + patience_ns;
        }
        if (sim_random(2) == 0) {
            write(actor, &request);
        } else {
            read(actor, &request);
        }
    }
}

static void
act(const sim_actor *actor)
{
    act_for(actor, MED_PORT_FOREVER);
}

static void
act_in_time(const sim_actor *actor)
{
    act_for(actor, 20000);
}

const sim_scenario sim_rwlock = {
    .name = "rwlock",
    .covers = "rwlock units",
    .memory_bytes = sizeof(shared),
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 7,
    .waits_forever = true,
    .begin = begin,
    .act = act,
};

const sim_scenario sim_rwlock_in_time = {
    .name = "rwlock_in_time",
    .covers = "rwlock",
    .memory_bytes = sizeof(shared),
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 7,
    .times_out = true,
    .begin = begin,
    .act = act_in_time,
};
