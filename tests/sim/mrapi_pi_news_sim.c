/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the word of a mutex with priority inheritance tells of a death is not told of the mutex that
 * has the row next.
 *
 * Actors: 0 makes the mutex, deletes it while others want it, makes another in its row and has
 * that. 1 wants the word, past Medley, and dies with it. 2 wants the first mutex, and finds its
 * handle old. What each waits for it is told without any order.
 */
#include "medley/medley.h"
#include "mrapi/mutex.h"
#include "mrapi/system.h"
#include "mrapi_lock.h"
#include "port/port.h"
#include "scenarios.h"

#define MUTEX 7u /* and the next */
#define LOOKS 64u
#define LOOKS_LONG 2000u

enum {
    MAKER,
    MORTAL,
    SLEEPER,
    ACTORS
};

typedef struct notes {
    volatile mrapi_mutex_hndl_t mutex; /* the first; 0: not yet */
    volatile uint32_t wanted;          /* by so many */
    volatile uint32_t mortal;          /* the thread number of who dies with the word */
    volatile bool dead;
    volatile bool passed; /* the sleeper has left it */
} notes;

static med_mutex_row *
row_of_both(void)
{
    return (med_mutex_row *)(void *)med_table_row(&med_self_get()->system->mutexes, 0);
}

static void
await(const volatile bool *told)
{
    for (uint32_t i = 0; i < LOOKS && !*told; i++) {
        med_port_yield();
    }
}

/* Has the caller seen in the word that the mortal had it? Then whatever it reads there afterwards
 * is that or later. An old look that the notes alone allow is before his time. */
static bool
saw_mortal(const notes *n)
{
    for (uint32_t i = 0; i < LOOKS; i++) {
        /* Relaxed: one word, whose values come in one order. */
        uint32_t word = atomic32_load_relaxed(&row_of_both()->pi_word);
        if (n->mortal && (word & MED_PORT_PI_OWNER_MASK) == n->mortal) {
            return true;
        }
        med_port_yield();
    }
    return false;
}

static void
make_twice(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_make_locked(MUTEX, true, &key);
    n->mutex = mutex;
    for (uint32_t i = 0; i < LOOKS_LONG && n->wanted < 2; i++) {
        med_port_yield();
    }
    for (uint32_t i = sim_random(LOOKS); i > 0; i--) {
        med_port_yield();
    }
    mrapi_mutex_delete(mutex, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    bool died_before = saw_mortal(n);
    await(&n->dead);
    mutex = mrapi_mutex_make(MUTEX + 1, true, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    await(&n->passed);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    SIM_CHECK(!died_before || !medley_lock_owner_died());
    mrapi_mutex_unlock(mutex, &key, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

static void
want_begin(notes *n)
{
    while (!n->mutex) {
        med_port_yield();
    }
    n->wanted++;
}

static void
take_and_die(const sim_actor *actor)
{
    notes *n = actor->notes;
    const med_system *system = med_self_get()->system;
    n->mortal = med_port_thread_id();
    want_begin(n);
    (void)med_port_pi_lock(&row_of_both()->pi_word.value, MED_PORT_FOREVER, system->scope);
    n->dead = true;
    sim_die();
}

static void
want_old(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_status_t status;
    mrapi_key_t key;
    want_begin(n);
    mrapi_mutex_lock(n->mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    SIM_CHECK(status == MRAPI_ERR_MUTEX_INVALID);
    n->passed = true;
}

static void
act(const sim_actor *actor)
{
    static void (*const acts[ACTORS])(const sim_actor *) = {make_twice, take_and_die, want_old};
    mrapi_node_come(actor);
    acts[actor->index](actor);
    mrapi_node_go();
}

const sim_scenario sim_mrapi_pi_news = {
    .name = "mrapi_pi_news",
    .covers = "med_mutex_pi_fill()",
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 1u << MORTAL,
    .loads_early = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};
