/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Semaphores between processes: never had by more than their maker said; who has the only unit sees
 * what those before him wrote; made and deleted by anybody; a dead owner's units come back.
 *
 * Actors: three of equal rank, for a semaphore of one unit and one of two.
 */
#include "medley/medley.h"
#include "mrapi.h"
#include "mrapi_actor.h"
#include "scenarios.h"

#define LOCKS 6u
#define SEM 7u /* and the next, which has two units */

typedef struct notes {
    mrapi_notes common;
    uint32_t only;   /* index + 1 of who has the only unit */
    uint32_t of_two; /* bit i: actor i has one of the two */
} notes;

/* Made, found, or by a handle that may be of one that is gone. */
static bool
sem_have(const sim_actor *actor, uint32_t which, mrapi_sem_hndl_t *sem)
{
    mrapi_status_t status;
    mrapi_sem_hndl_t *told = &((mrapi_notes *)actor->notes)->told[which];
    if (*told && sim_random(2) == 0) {
        *sem = *told;
        return true;
    }
    *sem = mrapi_sem_create(SEM + which, NULL, 1 + which, &status);
    if (status != MRAPI_SUCCESS) {
        SIM_CHECK(status == MRAPI_ERR_SEM_EXISTS || status == MRAPI_ERR_SEM_LIMIT);
        *sem = mrapi_sem_get(SEM + which, &status);
        SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_SEM_ID_INVALID);
    }
    if (status == MRAPI_SUCCESS) {
        *told = *sem;
    }
    return status == MRAPI_SUCCESS;
}

static void
use_only(const sim_actor *actor)
{
    notes *n = actor->notes;
    (void)mrapi_take_note(actor, &n->only);
    ++*(uint32_t *)actor->memory;
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
    SIM_CHECK(had < 2);
    n->of_two |= 1u << actor->index;
    (void)medley_lock_owner_died();
    n->of_two &= ~(1u << actor->index);
}

/* With one's own unit of it, or without; another may have deleted it meanwhile in that case. */
static bool
deleted(mrapi_sem_hndl_t sem, bool mine)
{
    mrapi_status_t status;
    mrapi_sem_delete(sem, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_SEM_LOCKED ||
              (!mine && status == MRAPI_ERR_SEM_INVALID));
    return status == MRAPI_SUCCESS;
}

static void
lock_and_leave(const sim_actor *actor)
{
    mrapi_sem_hndl_t sem;
    mrapi_status_t status;
    uint32_t which = sim_random(2);
    if (!sem_have(actor, which, &sem)) {
        return;
    }
    mrapi_sem_lock(sem, MRAPI_TIMEOUT_INFINITE, &status);
    if (status != MRAPI_SUCCESS) {
        SIM_CHECK(status == MRAPI_ERR_SEM_INVALID);
        return;
    }
    (which == 0 ? use_only : use_of_two)(actor);
    if (sim_random(3) == 0 && deleted(sem, true)) {
        return;
    }
    mrapi_sem_unlock(sem, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    if (sim_random(3) == 0) {
        (void)deleted(sem, false);
    }
}

static void
act(const sim_actor *actor)
{
    mrapi_come(actor);
    for (uint32_t i = 0; i < LOCKS; i++) {
        lock_and_leave(actor);
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
