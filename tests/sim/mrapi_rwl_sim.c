/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reader/writer locks between processes: as many readers together as their maker said, a writer
 * alone, each seeing what the writers before wrote; made and deleted by anybody; what a dead one
 * held comes back.
 *
 * Actors: three of equal rank, each now reader, now writer, of one lock that may be another each
 * time.
 *
 * Of old handles: one actor makes locks, one after the other, another deletes them; a third tries
 * to write by handles that are told without any order, and has no lock that is gone.
 */
#include "medley/medley.h"
#include "mrapi_lock.h"
#include "port/port.h"
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

static mrapi_uint32_t
make(uint32_t which, mrapi_status_t *status)
{
    return mrapi_rwl_create(RWL + which, NULL, READERS, status);
}

static mrapi_uint32_t
get(uint32_t which, mrapi_status_t *status)
{
    return mrapi_rwl_get(RWL + which, status);
}

static void
take(mrapi_lock *lock, mrapi_status_t *status)
{
    mrapi_rwl_lock(lock->handle, lock->mode, MRAPI_TIMEOUT_INFINITE, status);
}

static void
leave(mrapi_lock *lock, mrapi_status_t *status)
{
    mrapi_rwl_unlock(lock->handle, lock->mode, status);
}

/* So many who are alive. */
static uint32_t
how_many_read(const notes *n)
{
    uint32_t readers = 0;
    for (uint32_t i = 0; i < MRAPI_ACTORS; i++) {
        readers += (n->readers >> i & 1) && !sim_is_dead(i);
    }
    return readers;
}

static void
write(const sim_actor *actor)
{
    guarded *g = actor->memory;
    notes *n = actor->notes;
    SIM_CHECK(how_many_read(n) == 0);
    /* Nobody is told of him who died in a lock that was made anew since. */
    if (mrapi_take_note(actor, &n->writer) || medley_lock_owner_died()) {
        g->second = g->first;
    }
    SIM_CHECK(g->first == g->second);
    g->first++;
    sim_linger();
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
    SIM_CHECK(how_many_read(n) < READERS);
    n->readers |= 1u << actor->index;
    sim_linger();
    SIM_CHECK(g->first == g->second || died || medley_lock_owner_died());
    n->readers &= ~(1u << actor->index);
}

static void
use(const sim_actor *actor, const mrapi_lock *lock)
{
    (lock->mode == MRAPI_RWL_READER ? read : write)(actor);
}

static const mrapi_lock_kind rwls = {
    .make = make,
    .get = get,
    .take = take,
    .use = use,
    .leave = leave,
    .destroy = mrapi_rwl_delete,
    .exists = MRAPI_ERR_RWL_EXISTS,
    .limit = MRAPI_ERR_RWL_LIMIT,
    .unknown = MRAPI_ERR_RWL_ID_INVALID,
    .locked = MRAPI_ERR_RWL_LOCKED,
    .gone = MRAPI_ERR_RWL_INVALID,
    .of_many = true,
};

static void
act(const sim_actor *actor)
{
    mrapi_come(actor);
    for (uint32_t i = 0; i < LOCKS; i++) {
        mrapi_lock lock = {.mode = sim_random(2) == 0 ? MRAPI_RWL_READER : MRAPI_RWL_WRITER};
        mrapi_lock_and_leave(actor, &rwls, &lock);
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
    .long_lived = true,
    .waits_forever = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};

/* ---- Old handles ----------------------------------------------------------------------------- */

#define LIVES 12u
#define LOOKS 400u /* of who waits for another */
#define TRIES 96u

enum {
    MAKER,
    DELETER
};

typedef struct lives {
    mrapi_notes common; /* told: a life + 1 */
    uint32_t gone;      /* so many of them */
    mrapi_uint32_t handles[LIVES];
} lives;

/* The next when the last is gone: what he knows of its end the table's lock told him. */
static void
make_all(lives *n)
{
    mrapi_status_t status;
    for (uint32_t life = 0; life < LIVES; life++) {
        for (uint32_t i = 0; i < LOOKS && n->gone < life; i++) {
            med_port_yield();
        }
        if (n->gone < life) {
            return;
        }
        n->handles[life] = make(0, &status);
        SIM_CHECK(status == MRAPI_SUCCESS);
        n->common.told[0] = life + 1;
    }
}

static void
delete_all(lives *n)
{
    mrapi_status_t status;
    for (uint32_t i = 0; i < LOOKS && n->gone < LIVES; i++) {
        if (n->gone == n->common.told[0]) {
            med_port_yield();
            continue;
        }
        mrapi_rwl_delete(n->handles[n->gone], &status);
        SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_RWL_LOCKED ||
                  status == MRAPI_ERR_RWL_INVALID); /* told too early */
        n->gone += status == MRAPI_SUCCESS;
    }
}

static void
try_to_write(const lives *n)
{
    mrapi_status_t status;
    uint32_t told = n->common.told[0];
    for (uint32_t i = 0; i < TRIES; i++, told = n->common.told[0]) {
        if (told == 0 || !mrapi_rwl_trylock(n->handles[told - 1], MRAPI_RWL_WRITER, &status)) {
            continue;
        }
        SIM_CHECK(n->gone < told);
        mrapi_rwl_unlock(n->handles[told - 1], MRAPI_RWL_WRITER, &status);
        SIM_CHECK(status == MRAPI_SUCCESS);
    }
}

static void
act_old(const sim_actor *actor)
{
    mrapi_come(actor);
    if (actor->index == MAKER) {
        make_all(actor->notes);
    } else if (actor->index == DELETER) {
        delete_all(actor->notes);
    } else {
        try_to_write(actor->notes);
    }
    mrapi_go(actor);
}

const sim_scenario sim_mrapi_rwl_old = {
    .name = "mrapi_rwl_old",
    .covers = "rwl",
    .actors = MRAPI_ACTORS,
    .begin = mrapi_begin,
    .act = act_old,
    .environment = mrapi_environment,
};
