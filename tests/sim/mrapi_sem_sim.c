/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Semaphores between processes: never had by more than their maker said; who has the only unit sees
 * what those before him wrote; made and deleted by anybody; a dead owner's units come back.
 *
 * Actors: three of equal rank, for a semaphore of one unit and one of two.
 */
#include "medley/medley.h"
#include "mrapi_lock.h"
#include "scenarios.h"

#define LOCKS 6u
#define SEM 7u /* and the next, which has one unit more */
#define TWO 2u

typedef struct notes {
    mrapi_notes common;
    uint32_t only;   /* index + 1 of who has the only unit */
    uint32_t of_two; /* bit i: actor i has one of the two */
} notes;

static mrapi_uint32_t
make(uint32_t which, mrapi_status_t *status)
{
    return mrapi_sem_create(SEM + which, NULL, 1 + which, status);
}

static mrapi_uint32_t
get(uint32_t which, mrapi_status_t *status)
{
    return mrapi_sem_get(SEM + which, status);
}

static void
take(mrapi_lock *lock, mrapi_status_t *status)
{
    mrapi_sem_lock(lock->handle, MRAPI_TIMEOUT_INFINITE, status);
}

static void
leave(mrapi_lock *lock, mrapi_status_t *status)
{
    mrapi_sem_unlock(lock->handle, status);
}

static void
use_only(const sim_actor *actor)
{
    notes *n = actor->notes;
    (void)mrapi_take_note(actor, &n->only);
    ++*(uint32_t *)actor->memory; /* of two who have it one races here */
    n->only = 0;
}

static void
use_of_two(const sim_actor *actor)
{
    notes *n = actor->notes;
    uint32_t had = 0;
    for (uint32_t i = 0; i < MRAPI_ACTORS; i++) {
        had += (n->of_two >> i & 1) && !sim_is_dead(i);
    }
    SIM_CHECK(had < TWO);
    n->of_two |= 1u << actor->index;
    (void)medley_lock_owner_died();
    sim_linger();
    n->of_two &= ~(1u << actor->index);
}

static void
use(const sim_actor *actor, const mrapi_lock *lock)
{
    (lock->which == 0 ? use_only : use_of_two)(actor);
}

static const mrapi_lock_kind sems = {
    .make = make,
    .get = get,
    .take = take,
    .use = use,
    .leave = leave,
    .destroy = mrapi_sem_delete,
    .exists = MRAPI_ERR_SEM_EXISTS,
    .limit = MRAPI_ERR_SEM_LIMIT,
    .unknown = MRAPI_ERR_SEM_ID_INVALID,
    .locked = MRAPI_ERR_SEM_LOCKED,
    .gone = MRAPI_ERR_SEM_INVALID,
    .of_many = true,
};

static void
act(const sim_actor *actor)
{
    mrapi_come(actor);
    for (uint32_t i = 0; i < LOCKS; i++) {
        mrapi_lock lock = {.which = sim_random(2)};
        mrapi_lock_and_leave(actor, &sems, &lock);
    }
    mrapi_go(actor);
}

const sim_scenario sim_mrapi_sem = {
    .name = "mrapi_sem",
    .covers = "sem med_object_good() med_object_units_fill()",
    .memory_bytes = sizeof(uint32_t),
    .actors = MRAPI_ACTORS,
    .deaths = 2,
    .mortal = 7,
    .waits_forever = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};
