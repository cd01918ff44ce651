/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A dead holder's number is another's: who looks for him in a mutex with priority inheritance takes
 * nothing from a living node whose thread got that number since.
 *
 * Actors: 0 makes the one mutex that there is, 0 and 1 want it again and again, and 1 may be
 * killed. 2 recovers the dead and tries the mutex, from the start or then. 3 starts a thread then,
 * which has the dead one's number and wants the mutex too.
 */
#include "mrapi.h"
#include "mrapi/process.h"
#include "mrapi/system.h"
#include "mrapi_lock.h"
#include "port/port.h"
#include "scenarios.h"

#define MUTEX 7u
#define LOCKS 6u
#define LONGEST_USE 16u
#define LOOKS 2000u

enum {
    MAKER,
    MORTAL,
    RECOVERER,
    STARTER,
    ACTORS,
    STARTED = ACTORS /* a thread of STARTER's process */
};

enum {
    NEWCOMER = MORTAL + 1,
    ROW_ACTORS
};

typedef struct notes {
    volatile mrapi_mutex_hndl_t mutex;
    volatile uint32_t there;  /* so many have come */
    volatile uint32_t holder; /* index + 1 of who has the mutex */
    volatile bool newcomer;   /* he comes */
} notes;

static void
make(notes *n)
{
    mrapi_status_t status;
    n->mutex = mrapi_mutex_make(MUTEX, true, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

/* Returns who had it according to the notes: index + 1. */
static uint32_t
begin_use(const sim_actor *actor)
{
    notes *n = actor->notes;
    uint32_t *guarded = actor->memory;
    uint32_t former = n->holder;
    n->holder = actor->index + 1;
    ++*guarded;
    return former;
}

/* Whoever else has it now is dead. */
static void
use(const sim_actor *actor, mrapi_key_t *key)
{
    notes *n = actor->notes;
    mrapi_status_t status;
    uint32_t former = begin_use(actor);
    for (uint32_t i = sim_random(LONGEST_USE); actor->index == STARTED && i > 0; i--) {
        med_port_yield();
    }
    SIM_CHECK(former == 0 || (former - 1 == MORTAL && sim_is_dead(MORTAL)));
    SIM_CHECK(n->holder == actor->index + 1);
    n->holder = 0;
    mrapi_mutex_unlock(n->mutex, key, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

static void
wait_for_it(const sim_actor *actor, mrapi_key_t *key)
{
    mrapi_status_t status;
    mrapi_mutex_lock(((notes *)actor->notes)->mutex, key, MRAPI_TIMEOUT_INFINITE, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

static void
wait_and_use(const sim_actor *actor)
{
    mrapi_key_t key;
    wait_for_it(actor, &key);
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

static void
want(const sim_actor *actor)
{
    for (uint32_t i = 0; i < LOCKS; i++) {
        (sim_random(2) == 0 ? wait_and_use : try_and_use)(actor);
    }
}

static void
look(const sim_actor *actor)
{
    if (sim_random(2) == 0) {
        (void)sim_join(MORTAL);
    }
    for (uint32_t i = 0; i < LOCKS; i++) {
        if (sim_random(2) == 0) {
            (void)med_process_recover_all(med_self_get()->system);
        } else {
            try_and_use(actor);
        }
    }
}

static void *
be_another(void *argument)
{
    sim_actor actor = *(const sim_actor *)argument;
    actor.index = STARTED;
    sim_take_number_of(MORTAL);
    mrapi_node_come(&actor);
    (void)mrapi_mutex_find(MUTEX);
    want(&actor);
    mrapi_node_go();
    return NULL;
}

static void
start_another(const sim_actor *actor)
{
    med_port_thread thread;
    if (!sim_join(MORTAL)) {
        return;
    }
    SIM_CHECK(med_port_thread_start(&thread, NULL, be_another, (void *)(uintptr_t)actor) ==
              MEDLEY_OK);
    (void)med_port_thread_join(thread, NULL);
}

/* Who comes without the others leaves. */
static void
come_and_act(const sim_actor *actor, uint32_t together, void (*what)(const sim_actor *))
{
    notes *n = actor->notes;
    mrapi_node_come(actor);
    if (actor->index == MAKER) {
        make(n);
    }
    n->there++;
    for (uint32_t i = 0; i < LOOKS && n->there < together; i++) {
        med_port_yield();
    }
    if (n->there >= together) {
        (void)mrapi_mutex_find(MUTEX);
        what(actor);
    }
    mrapi_node_go();
}

static void
act(const sim_actor *actor)
{
    static void (*const acts[ACTORS])(const sim_actor *) = {want, want, look, start_another};
    come_and_act(actor, ACTORS, acts[actor->index]);
}

/* ---- A newcomer in his row ------------------------------------------------------------------- */

static void
want_then(const sim_actor *actor)
{
    const notes *n = actor->notes;
    while (!n->newcomer && sim_random(4) != 0) {
        med_port_yield();
    }
    want(actor);
}

static void
want_and_die(const sim_actor *actor)
{
    mrapi_key_t key;
    for (uint32_t i = sim_random(LOCKS); i > 0; i--) {
        wait_and_use(actor);
    }
    wait_for_it(actor, &key);
    SIM_CHECK(begin_use(actor) == 0);
    sim_die();
}

static void
act_row(const sim_actor *actor)
{
    static void (*const acts[NEWCOMER])(const sim_actor *) = {want_then, want_and_die};
    notes *n = actor->notes;
    if (actor->index != NEWCOMER) {
        come_and_act(actor, NEWCOMER, acts[actor->index]);
    } else if (sim_join(MORTAL)) {
        n->newcomer = true;
        mrapi_node_come(actor);
        mrapi_node_go();
    }
}

static const sim_variable environment_row[] = {{"MEDLEY_MAX_PROCESSES", "2"}, MRAPI_VARIABLES};

/* ---- What there is --------------------------------------------------------------------------- */

const sim_scenario sim_mrapi_pi_number = {
    .name = "mrapi_pi_number",
    .covers = "mutex_pi recovery_claim()",
    .memory_bytes = sizeof(uint32_t),
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 1u << MORTAL,
    .sees_late = true,
    .long_lived = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};

const sim_scenario sim_mrapi_pi_row = {
    .name = "mrapi_pi_row",
    .covers = "med_process_alive() claim_dead()",
    .memory_bytes = sizeof(uint32_t),
    .actors = ROW_ACTORS,
    .deaths = 1,
    .mortal = 1u << MORTAL,
    .sees_late = true,
    .long_lived = true,
    .begin = mrapi_begin,
    .act = act_row,
    .environment = environment_row,
};
