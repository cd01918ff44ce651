/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MRAPI between processes: a system is made by whoever comes first, and made anew after the last
 * has gone; nodes come and go; a mutex that anybody may have made, or deleted, has one holder, who
 * sees what the holders before it wrote; and all of it goes on when a process is killed anywhere.
 *
 * Actors: three processes of equal rank. Three scenarios: in one they come and go; in one there are
 * rows for two of them, so that who comes may have to wait, or takes the row of one who died; in
 * one they stay. Mutexes of two numbers come and go, one of them recursive.
 */
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi_lock.h"
#include "scenarios.h"

#define ROUNDS 2u
#define MUTEXES 2u
#define MUTEX 7u /* and those after it */
#define LOCKS 8u

/* Plain, a mutex's: equal unless its holder is at it, or died. */
typedef struct guarded {
    uint32_t first;
    uint32_t second;
} guarded;

typedef struct notes {
    mrapi_notes common;
    uint32_t inside[MUTEXES]; /* index + 1 of who holds the mutex */
} notes;

/* The odd ones are recursive. */
static bool
is_recursive(uint32_t number)
{
    return number % 2 == 1;
}

static mrapi_uint32_t
make(uint32_t which, mrapi_status_t *status)
{
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t recursive = is_recursive(MUTEX + which) ? MRAPI_TRUE : MRAPI_FALSE;
    mrapi_mutex_init_attributes(&attributes, status);
    SIM_CHECK(*status == MRAPI_SUCCESS);
    mrapi_mutex_set_attribute(&attributes, MRAPI_MUTEX_RECURSIVE, &recursive, sizeof recursive,
                              status);
    SIM_CHECK(*status == MRAPI_SUCCESS);
    return mrapi_mutex_create(MUTEX + which, &attributes, status);
}

static mrapi_uint32_t
get(uint32_t which, mrapi_status_t *status)
{
    return mrapi_mutex_get(MUTEX + which, status);
}

static void
recursive_check(uint32_t number, mrapi_mutex_hndl_t mutex)
{
    mrapi_boolean_t recursive;
    mrapi_status_t status;
    mrapi_mutex_get_attribute(mutex, MRAPI_MUTEX_RECURSIVE, &recursive, sizeof recursive, &status);
    SIM_CHECK(status == MRAPI_ERR_MUTEX_INVALID ||
              (status == MRAPI_SUCCESS && (recursive == MRAPI_TRUE) == is_recursive(number)));
}

static void
take(mrapi_lock *lock, mrapi_status_t *status)
{
    recursive_check(MUTEX + lock->which, lock->handle);
    if (sim_random(2) == 0) {
        (void)mrapi_mutex_trylock(lock->handle, &lock->key, status);
        if (*status != MRAPI_ERR_MUTEX_LOCKED) {
            return;
        }
    }
    mrapi_mutex_lock(lock->handle, &lock->key, MRAPI_TIMEOUT_INFINITE, status);
}

static void
leave(mrapi_lock *lock, mrapi_status_t *status)
{
    mrapi_mutex_unlock(lock->handle, &lock->key, status);
}

static void
use(const sim_actor *actor, const mrapi_lock *lock)
{
    guarded *g = (guarded *)actor->memory + lock->which;
    uint32_t *inside = &((notes *)actor->notes)->inside[lock->which];
    bool died = mrapi_take_note(actor, inside);
    /* Nobody is told of him who died in a system that was made anew since, with a new mutex. */
    if (died || medley_lock_owner_died()) {
        g->second = g->first;
    }
    SIM_CHECK(g->first == g->second);
    g->first++;
    sim_linger();
    g->second++;
    *inside = 0;
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

/* What is told of a mutex by its handle is true of that mutex, and of no later one. */
static void
told_check(const sim_actor *actor)
{
    const mrapi_notes *n = actor->notes;
    for (uint32_t i = 0; i < 2 * MUTEXES; i++) {
        uint32_t which = i % MUTEXES;
        if (n->told[which]) {
            recursive_check(MUTEX + which, n->told[which]);
        }
    }
}

static void
lock_and_leave(const sim_actor *actor)
{
    mrapi_lock lock = {.which = sim_random(MUTEXES)};
    told_check(actor);
    mrapi_lock_and_leave(actor, &mutexes, &lock);
}

static void
act(const sim_actor *actor)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        mrapi_come(actor);
        lock_and_leave(actor);
        if (sim_random(2) == 0) {
            lock_and_leave(actor);
        }
        mrapi_go(actor);
    }
}

static void
act_mutex(const sim_actor *actor)
{
    mrapi_come(actor);
    for (uint32_t i = 0; i < LOCKS; i++) {
        lock_and_leave(actor);
    }
    mrapi_go(actor);
}

const sim_scenario sim_mrapi = {
    .name = "mrapi",
    .covers = "node node_leave node_start process process_recover system attach attach_partition",
    .memory_bytes = MUTEXES * sizeof(guarded),
    .actors = MRAPI_ACTORS,
    .deaths = 2,
    .mortal = 7,
    .long_lived = true,
    .waits_forever = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};

static const sim_variable environment_full[] = {{"MEDLEY_MAX_PROCESSES", "2"}, MRAPI_VARIABLES};

const sim_scenario sim_mrapi_full = {
    .name = "mrapi_full",
    .covers = "process process_recover",
    .memory_bytes = MUTEXES * sizeof(guarded),
    .actors = MRAPI_ACTORS,
    .deaths = 2,
    .mortal = 7,
    .sees_late = true,
    .long_lived = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment_full,
};

const sim_scenario sim_mrapi_mutex = {
    .name = "mrapi_mutex",
    .covers = "mutex object",
    .memory_bytes = MUTEXES * sizeof(guarded),
    .actors = MRAPI_ACTORS,
    .deaths = 2,
    .mortal = 7,
    .waits_forever = true,
    .begin = mrapi_begin,
    .act = act_mutex,
    .environment = mrapi_environment,
};
