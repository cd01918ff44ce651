/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MRAPI's mutexes with priority inheritance, whose lock the kernel knows: one holder at a time, who
 * sees what the holders before him wrote; when one is killed anywhere, the next is told. Mutexes of
 * two numbers share one row, and follow each other there, with priority inheritance and without.
 *
 * In mrapi_pi three processes of equal rank. In mrapi_pi_reborn 0 is there from first to last, 1
 * and 2 may be killed, and 3 comes when one is, with his thread's number: as a node that wants the
 * mutex like the others, or as a stranger, who knows nothing of Medley and goes at last. In
 * mrapi_pi_old 0 makes and deletes mutexes with priority inheritance and 1 such without, and 2 has
 * nothing but their handles.
 */
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi_lock.h"
#include "port/port.h"
#include "scenarios.h"

#define MUTEXES 2u
#define MUTEX 7u /* and those after it */
#define LOCKS 8u
#define STAYS 0u
#define REBORN 3u
#define REBORN_ACTORS 4u
#define LOOKS 2000u
#define MOMENT_MS 1u

/* Plain, a mutex's: equal unless its holder is at it, or died. */
typedef struct guarded {
    uint32_t first;
    uint32_t second;
} guarded;

typedef struct notes {
    mrapi_notes common;
    bool opened;                        /* 0 is there */
    volatile uint32_t inside[MUTEXES];  /* index + 1 of who holds the mutex, */
    mrapi_mutex_hndl_t handle[MUTEXES]; /* and which that is */
} notes;

static mrapi_uint32_t
make(uint32_t which, mrapi_status_t *status)
{
    return mrapi_mutex_make(MUTEX + which, sim_random(4) != 0, status);
}

static mrapi_uint32_t
get(uint32_t which, mrapi_status_t *status)
{
    return mrapi_mutex_get(MUTEX + which, status);
}

/* At once, in a moment, or when it is to be had. */
static void
take(mrapi_lock *lock, mrapi_status_t *status)
{
    uint32_t way = sim_random(4);
    *status = MRAPI_ERR_MUTEX_LOCKED;
    if (way < 2) {
        (void)mrapi_mutex_trylock(lock->handle, &lock->key, status);
    } else if (way == 2) {
        mrapi_mutex_lock(lock->handle, &lock->key, MOMENT_MS, status);
    }
    if (*status == MRAPI_ERR_MUTEX_LOCKED || *status == MRAPI_TIMEOUT) {
        mrapi_mutex_lock(lock->handle, &lock->key, MRAPI_TIMEOUT_INFINITE, status);
    }
}

static void
leave(mrapi_lock *lock, mrapi_status_t *status)
{
    mrapi_mutex_unlock(lock->handle, &lock->key, status);
}

static bool
somebody_died(void)
{
    bool died = false;
    for (uint32_t i = 0; i < MRAPI_ACTORS; i++) {
        died = died || sim_is_dead(i);
    }
    return died;
}

/* What was asked of the dead makes visible what they did: so it comes last. */
static void
use(const sim_actor *actor, const mrapi_lock *lock)
{
    notes *n = actor->notes;
    guarded *g = (guarded *)actor->memory + lock->which;
    bool told = medley_lock_owner_died();
    bool died = n->inside[lock->which] != 0;
    bool is_his = n->handle[lock->which] == lock->handle;
    if (died || told) {
        g->second = g->first;
    }
    SIM_CHECK(g->first == g->second);
    /* One who dies in a system that is made anew is not told of: here 0 keeps it. */
    SIM_CHECK(told || !died || !is_his || !n->opened);
    n->inside[lock->which] = actor->index + 1;
    n->handle[lock->which] = lock->handle;
    g->first++;
    g->second++;
    n->inside[lock->which] = 0;
    SIM_CHECK(!told || somebody_died());
}

static const mrapi_lock_kind mutexes = {
    .make = make,
    .get = get,
    .take = take,
    .use = use,
    .leave = leave,
    .destroy = mrapi_mutex_delete,
    .exists = MRAPI_ERR_MUTEX_EXISTS,
    .limit = MRAPI_ERR_MUTEX_LIMIT,
    .unknown = MRAPI_ERR_MUTEX_ID_INVALID,
    .locked = MRAPI_ERR_MUTEX_LOCKED,
    .gone = MRAPI_ERR_MUTEX_INVALID,
};

static void
lock_and_leave(const sim_actor *actor)
{
    for (uint32_t i = 0; i < LOCKS; i++) {
        mrapi_lock lock = {.which = sim_random(MUTEXES)};
        mrapi_lock_and_leave(actor, &mutexes, &lock);
    }
}

static void
act(const sim_actor *actor)
{
    mrapi_come(actor);
    lock_and_leave(actor);
    mrapi_go(actor);
}

/* ---- Numbers that others had ----------------------------------------------------------------- */

static void
stay(const sim_actor *actor)
{
    mrapi_come(actor);
    ((notes *)actor->notes)->opened = true;
    lock_and_leave(actor);
    bool died = false;
    for (uint32_t i = STAYS + 1; i < REBORN; i++) {
        died = sim_join(i) || died;
    }
    if (died) {
        (void)sim_join(REBORN);
    }
    mrapi_go(actor);
}

static void
come_later(const sim_actor *actor)
{
    const notes *n = actor->notes;
    for (uint32_t i = 0; i < LOOKS && !*(const volatile bool *)&n->opened; i++) {
        med_port_yield();
    }
    if (n->opened) {
        act(actor);
    }
}

static void
be_reborn(const sim_actor *actor)
{
    uint32_t dead = sim_await_death();
    if (dead == UINT32_MAX) {
        return;
    }
    sim_take_number_of(dead);
    if (sim_random(3) != 0) {
        come_later(actor);
        return;
    }
    for (uint32_t i = sim_random(LOOKS); i > 0; i--) {
        med_port_yield();
    }
}

static void
act_reborn(const sim_actor *actor)
{
    static void (*const acts[REBORN_ACTORS])(const sim_actor *) = {stay, come_later, come_later,
                                                                   be_reborn};
    acts[actor->index](actor);
}

/* ---- Old handles ----------------------------------------------------------------------------- */

static void
delete_it(mrapi_mutex_hndl_t mutex)
{
    mrapi_status_t status;
    do {
        med_port_yield();
        mrapi_mutex_delete(mutex, &status);
        SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_MUTEX_LOCKED);
    } while (status != MRAPI_SUCCESS);
}

/* In the one row that there is, as often as it is free. */
static void
make_and_delete(notes *n, uint32_t which, bool with_inheritance)
{
    mrapi_status_t status;
    for (uint32_t i = 0; i < LOCKS; i++) {
        mrapi_mutex_hndl_t mutex = mrapi_mutex_make(MUTEX + which, with_inheritance, &status);
        SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_MUTEX_LIMIT);
        if (status == MRAPI_SUCCESS) {
            n->common.told[which] = mutex;
            delete_it(mutex);
        }
        med_port_yield();
    }
}

static void
lock_by_old(mrapi_mutex_hndl_t handle)
{
    mrapi_lock lock = {.handle = handle};
    mrapi_status_t status;
    take(&lock, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_MUTEX_INVALID);
    if (status == MRAPI_SUCCESS) {
        leave(&lock, &status);
        SIM_CHECK(status == MRAPI_SUCCESS);
    }
}

static void
lock_old_ones(const notes *n)
{
    for (uint32_t i = 0; i < LOCKS; i++) {
        mrapi_mutex_hndl_t handle = n->common.told[sim_random(MUTEXES)];
        if (handle) {
            lock_by_old(handle);
        } else {
            med_port_yield();
        }
    }
}

static void
act_old(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_node_come(actor);
    if (actor->index < MUTEXES) {
        make_and_delete(n, actor->index, actor->index == 0);
    } else {
        lock_old_ones(n);
    }
    mrapi_node_go();
}

const sim_scenario sim_mrapi_pi_old = {
    .name = "mrapi_pi_old",
    .covers = "med_mutex_pi_fill() med_mutex_pi_take()",
    .actors = MRAPI_ACTORS,
    .sees_late = true,
    .begin = mrapi_begin,
    .act = act_old,
    .environment = mrapi_environment,
};

/* ---- What there is --------------------------------------------------------------------------- */

const sim_scenario sim_mrapi_pi = {
    .name = "mrapi_pi",
    .covers = "mutex_pi",
    .memory_bytes = MUTEXES * sizeof(guarded),
    .actors = MRAPI_ACTORS,
    .deaths = 2,
    .mortal = 7,
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};

const sim_scenario sim_mrapi_pi_reborn = {
    .name = "mrapi_pi_reborn",
    .covers = "mutex_pi",
    .memory_bytes = MUTEXES * sizeof(guarded),
    .actors = REBORN_ACTORS,
    .deaths = 1,
    .mortal = 6,
    .sees_late = true,
    .long_lived = true,
    .begin = mrapi_begin,
    .act = act_reborn,
    .environment = mrapi_environment,
};
