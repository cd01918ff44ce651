/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reader/writer locks between processes: readers together, a writer alone, each seeing what the
 * writers before wrote; made and deleted by anybody; what a dead one held comes back.
 *
 * Actors: three of equal rank, each now reader, now writer, of one lock that may be another each
 * time.
 */
#include "medley/medley.h"
#include "mrapi.h"
#include "mrapi_actor.h"
#include "scenarios.h"

#define LOCKS 6u
#define RWL 7u
#define READERS 2u

/* Plain, the lock's: equal unless a writer is at it, or died. */
typedef struct guarded {
    uint32_t first;
    uint32_t second;
} guarded;

typedef struct notes {
    mrapi_notes common;
    uint32_t writer;  /* index + 1 */
    uint32_t readers; /* bit i: actor i reads */
} notes;

/* Made, found, or by a handle that may be of one that is gone. */
static bool
rwl_have(const sim_actor *actor, mrapi_rwl_hndl_t *rwl)
{
    mrapi_status_t status;
    mrapi_rwl_hndl_t *told = &((mrapi_notes *)actor->notes)->told[0];
    if (*told && sim_random(2) == 0) {
        *rwl = *told;
        return true;
    }
    *rwl = mrapi_rwl_create(RWL, NULL, READERS, &status);
    if (status != MRAPI_SUCCESS) {
        SIM_CHECK(status == MRAPI_ERR_RWL_EXISTS || status == MRAPI_ERR_RWL_LIMIT);
        *rwl = mrapi_rwl_get(RWL, &status);
        SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_RWL_ID_INVALID);
    }
    if (status == MRAPI_SUCCESS) {
        *told = *rwl;
    }
    return status == MRAPI_SUCCESS;
}

static bool
somebody_reads(const notes *n)
{
    for (uint32_t i = 0; i < MRAPI_ACTORS; i++) {
        if ((n->readers >> i & 1) && !sim_is_dead(i)) {
            return true;
        }
    }
    return false;
}

static void
write(const sim_actor *actor)
{
    guarded *g = actor->memory;
    notes *n = actor->notes;
    SIM_CHECK(!somebody_reads(n));
    /* Nobody is told of him who died in a lock that was made anew since. */
    if (mrapi_take_note(actor, &n->writer) || medley_lock_owner_died()) {
        g->second = g->first;
    }
    SIM_CHECK(g->first == g->second);
    g->first++;
    g->second++;
    n->writer = 0;
}

static void
read(const sim_actor *actor)
{
    const guarded *g = actor->memory;
    notes *n = actor->notes;
    bool died = n->writer != 0;
    SIM_CHECK(!died || sim_is_dead(n->writer - 1));
    n->readers |= 1u << actor->index;
    SIM_CHECK(g->first == g->second || died || medley_lock_owner_died());
    n->readers &= ~(1u << actor->index);
}

static bool
deleted(mrapi_rwl_hndl_t rwl, bool mine)
{
    mrapi_status_t status;
    mrapi_rwl_delete(rwl, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_RWL_LOCKED ||
              (!mine && status == MRAPI_ERR_RWL_INVALID));
    return status == MRAPI_SUCCESS;
}

static void
lock_and_leave(const sim_actor *actor)
{
    mrapi_rwl_hndl_t rwl;
    mrapi_status_t status;
    mrapi_rwl_mode_t mode = sim_random(2) == 0 ? MRAPI_RWL_READER : MRAPI_RWL_WRITER;
    if (!rwl_have(actor, &rwl)) {
        return;
    }
    mrapi_rwl_lock(rwl, mode, MRAPI_TIMEOUT_INFINITE, &status);
    if (status != MRAPI_SUCCESS) {
        SIM_CHECK(status == MRAPI_ERR_RWL_INVALID);
        return;
    }
    (mode == MRAPI_RWL_READER ? read : write)(actor);
    if (sim_random(3) == 0 && deleted(rwl, true)) {
        return;
    }
    mrapi_rwl_unlock(rwl, mode, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    if (sim_random(3) == 0) {
        (void)deleted(rwl, false);
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

const sim_scenario sim_mrapi_rwl = {
    .name = "mrapi_rwl",
    .covers = "rwl",
    .memory_bytes = sizeof(guarded),
    .actors = MRAPI_ACTORS,
    .deaths = 2,
    .mortal = 7,
    .waits_forever = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};
