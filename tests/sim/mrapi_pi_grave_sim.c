/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The burial of who died with a mutex with priority inheritance, and of nobody who lives.
 *
 * In mrapi_pi_grave 0 dies with the mutex. 1 buries him, and tries it. 2 and 3 want it: before that
 * death, so that the kernel gives it to one of them, who writes his number when he comes to run;
 * when somebody deals with it; or after it, so that they find the grave. Then they know of no death
 * but by what they find.
 *
 * In mrapi_pi_living nobody dies. 0 and 1 have the mutex in turn, and 2 tries it, again and again,
 * and by old looks takes the number of who has it for that of one who had it before, who is no
 * more.
 */
#include "mrapi.h"
#include "mrapi/mutex_pi.h"
#include "mrapi/process.h"
#include "mrapi/system.h"
#include "mrapi_lock.h"
#include "port/port.h"
#include "scenarios.h"

#define MUTEX 7u
#define WAIT_MAX 48u
#define LOOKS 1000u
#define TRIES 8u
#define LOCKS 6u

enum {
    HOLDER,
    BURIER,
    TAKER, /* and the next */
    ACTORS = TAKER + 2
};

typedef struct notes {
    volatile uint32_t there;           /* so many have come */
    volatile bool holder_there;        /* who may die is among them */
    volatile mrapi_mutex_hndl_t mutex; /* told without any order, as all here */
    uint32_t process;                  /* the row of who dies */
    volatile uint32_t wanting;         /* so many are about to wait for the kernel */
    uint32_t holder;                   /* index + 1 of who has the mutex */
} notes;

/* Nobody goes, or dies by plan, before all are there who will be: with the last the system would
 * go, and who goes does not wait for ever for one who is just coming. */
static void
come(const sim_actor *actor, uint32_t actors)
{
    notes *n = actor->notes;
    mrapi_node_come(actor);
    n->holder_there = n->holder_there || actor->index == HOLDER;
    n->there++;
    while (n->there + (sim_is_dead(HOLDER) && !n->holder_there) < actors) {
        med_port_yield();
    }
}

/* There is one row. */
static const med_mutex_row *
row(void)
{
    return (const med_mutex_row *)(const void *)med_table_row(&med_self_get()->system->mutexes, 0);
}

static void
wait_some(void)
{
    for (uint32_t i = sim_random(WAIT_MAX); i > 0; i--) {
        med_port_yield();
    }
}

/* Nobody else who lives has it meanwhile. What is asked of the dead makes visible what they did: so
 * it comes last. */
static void
use(const sim_actor *actor, mrapi_key_t *key)
{
    notes *n = actor->notes;
    mrapi_status_t status;
    uint32_t former = n->holder;
    n->holder = actor->index + 1;
    ++*(uint32_t *)actor->memory;
    sim_linger();
    SIM_CHECK(n->holder == actor->index + 1);
    SIM_CHECK(former == 0 || sim_is_dead(former - 1));
    n->holder = 0;
    mrapi_mutex_unlock(n->mutex, key, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

static void
wait_and_use(const sim_actor *actor)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_lock(((notes *)actor->notes)->mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    use(actor, &key);
}

static void
try_and_use(const sim_actor *actor)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)mrapi_mutex_trylock(((notes *)actor->notes)->mutex, &key, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_MUTEX_LOCKED);
    if (status == MRAPI_SUCCESS) {
        use(actor, &key);
    }
}

/* ---- One who died ---------------------------------------------------------------------------- */

static void
hold_and_die(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_key_t key;
    n->process = med_self_get()->system->process_index;
    n->mutex = mrapi_mutex_make_locked(MUTEX, true, &key);
    n->holder = actor->index + 1;
    ++*(uint32_t *)actor->memory;
    while (n->wanting < 2) {
        med_port_yield();
    }
    wait_some();
    sim_die();
}

static void
bury_and_try(const sim_actor *actor)
{
    (void)sim_join(HOLDER);
    if (!((const notes *)actor->notes)->mutex) {
        return;
    }
    if (sim_random(2) == 0) {
        (void)med_process_recover_all(med_self_get()->system);
    }
    for (uint32_t i = sim_random(TRIES); i > 0; i--) {
        try_and_use(actor);
    }
}

/* Does somebody deal with that death? */
static bool
is_known_dead(const notes *n)
{
    const med_process_row *process = med_system_process(med_self_get()->system, n->process);
    /* Relaxed: whoever acts upon it acquires it. */
    return med_process_state_of(atomic32_load_relaxed(&process->state)) != MED_PROCESS_LIVE;
}

/* The three times at which one may come to want it. */
static void
await_time(const notes *n)
{
    uint32_t when = sim_random(4);
    for (uint32_t i = 0; i < LOOKS && when >= 2; i++) {
        if (when == 2 ? is_known_dead(n) : med_mutex_pi_is_gone(row())) {
            return;
        }
        med_port_yield();
    }
}

static void
want(const sim_actor *actor)
{
    notes *n = actor->notes;
    while (!n->mutex) {
        if (sim_is_dead(HOLDER)) {
            return;
        }
        med_port_yield();
    }
    (void)mrapi_mutex_find(MUTEX);
    n->wanting++;
    await_time(n);
    if (sim_random(2) == 0) {
        try_and_use(actor);
    }
    wait_and_use(actor);
}

static void
act_grave(const sim_actor *actor)
{
    static void (*const acts[ACTORS])(const sim_actor *) = {hold_and_die, bury_and_try, want, want};
    come(actor, ACTORS);
    acts[actor->index](actor);
    mrapi_node_go();
}

const sim_scenario sim_mrapi_pi_grave = {
    .name = "mrapi_pi_grave",
    .covers = "take_gone() bury_marked() recovery_claim()",
    .memory_bytes = sizeof(uint32_t),
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 1u << HOLDER,
    .sees_late = true,
    .begin = mrapi_begin,
    .act = act_grave,
    .environment = mrapi_environment,
};

/* ---- None who died --------------------------------------------------------------------------- */

enum {
    TRIER = 2,
    LIVING
};

static void
act_living(const sim_actor *actor)
{
    notes *n = actor->notes;
    come(actor, LIVING);
    if (actor->index == 0) {
        mrapi_status_t status;
        mrapi_mutex_hndl_t mutex = mrapi_mutex_make(MUTEX, true, &status);
        SIM_CHECK(status == MRAPI_SUCCESS);
        n->mutex = mutex;
    }
    while (!n->mutex) {
        med_port_yield();
    }
    (void)mrapi_mutex_find(MUTEX);
    for (uint32_t i = 0; i < LOCKS; i++) {
        (actor->index == TRIER ? try_and_use : wait_and_use)(actor);
    }
    mrapi_node_go();
}

const sim_scenario sim_mrapi_pi_living = {
    .name = "mrapi_pi_living",
    .covers = "bury_marked()",
    .memory_bytes = sizeof(uint32_t),
    .actors = LIVING,
    .sees_late = true,
    .begin = mrapi_begin,
    .act = act_living,
    .environment = mrapi_environment,
};
