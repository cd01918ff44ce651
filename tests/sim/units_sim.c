/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Units, as semaphores wait for them: each has one owner at a time, who sees what its owners before
 * him wrote; no sleeper is forgotten while there is one; a dead owner's come back.
 *
 * Actors: four of equal rank, for two units.
 */
#include "base/units.h"
#include "port/port.h"
#include "scenarios.h"

#define ACTORS 4u
#define UNITS 2u
#define ROUNDS 3u

typedef struct shared {
    med_lock words[UNITS];
    med_lock_sleepers sleepers;
    uint32_t things[UNITS]; /* plain: what a unit stands for */
} shared;

typedef struct notes {
    uint32_t had_by[UNITS]; /* index + 1 */
} notes;

typedef struct wanted {
    shared *s;
    med_units units;
    uint32_t owner;
    uint32_t first;
    uint32_t index;
} wanted;

static void
begin(const sim_actor *director)
{
    (void)director; /* zeroed units are free */
}

/* That the last owner died is no news here: what he left is as he left it. */
static medley_status_t
attempt(void *context)
{
    wanted *w = context;
    medley_status_t status = med_units_take(&w->units, w->owner, w->first, &w->index);
    return status == MEDLEY_ERR_OWNER_DIED ? MEDLEY_OK : status;
}

static bool
is_free(void *context)
{
    const wanted *w = context;
    return med_units_any_free(&w->units);
}

static medley_status_t
recover_dead(void *context)
{
    const wanted *w = context;
    for (uint32_t i = 0; i < UNITS; i++) {
        uint32_t owner = med_lock_owner(&w->s->words[i]);
        if (owner != 0 && sim_is_dead(owner - 1)) {
            (void)med_lock_recover(&w->s->words[i], &w->s->sleepers, owner, true,
                                   MED_PORT_SCOPE_SHARED);
        }
    }
    return MEDLEY_OK;
}

static medley_status_t
take(wanted *w, med_waiter *waiter)
{
    w->first = sim_random(UNITS);
    w->index = w->first;
    if (sim_random(2) == 0 && med_units_take_at(&w->s->words[w->index], w->owner)) {
        return MEDLEY_OK;
    }
    med_contest contest = {.attempt = attempt,
                           .any_free = is_free,
                           .each_slice = recover_dead,
                           .context = w,
                           .deadline_ns = MED_PORT_FOREVER,
                           .scope = MED_PORT_SCOPE_SHARED,
                           .waiter = waiter};
    return med_contest_run(&contest, &w->s->sleepers);
}

static void
use(const sim_actor *actor, const wanted *w)
{
    uint32_t *had_by = &((notes *)actor->notes)->had_by[w->index];
    SIM_CHECK(*had_by == 0 || sim_is_dead(*had_by - 1));
    *had_by = w->owner;
    w->s->things[w->index]++;
    SIM_CHECK(med_units_held_by(&w->units, w->owner) == 1);
    *had_by = 0;
}

static void
act(const sim_actor *actor)
{
    med_waiter waiter = {0};
    shared *s = actor->memory;
    wanted w = {.s = s, .units = {s->words, UNITS, 1}, .owner = actor->index + 1};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        SIM_CHECK(take(&w, &waiter) == MEDLEY_OK);
        use(actor, &w);
        med_lock_release(&s->words[w.index], &s->sleepers, MED_PORT_SCOPE_SHARED);
    }
}

const sim_scenario sim_units = {
    .name = "units",
    .covers = "units",
    .memory_bytes = sizeof(shared),
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 0xf,
    .waits_forever = true,
    .begin = begin,
    .act = act,
};
