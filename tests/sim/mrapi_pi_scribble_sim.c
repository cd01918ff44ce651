/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A hostile process scribbles over the word of a mutex with priority inheritance, so that the
 * kernel takes another for its holder, and lets the holder not unlock it. He gives it up without
 * the kernel then, in time, and the next sees what he wrote.
 *
 * Actors: 0 makes the mutex, has it and leaves it. 1 wants it, and 2 and 3 are hostile: 2 writes
 * his own number into the word, and the holder's again, and 3 waits between these for 2, past
 * Medley. What is told without any order: that 0 has it, and that 3 may come. That all is scribbled
 * is told in order: who sees 2's number in the word has lost the mutex.
 */
#include "base/atomic.h"
#include "mrapi.h"
#include "mrapi/mutex.h"
#include "mrapi/system.h"
#include "mrapi_lock.h"
#include "port/port.h"
#include "scenarios.h"

#define MUTEX 7u
#define GUARDED 3u /* what the holder makes of it */
/* From then on 3 is gone: behind the time after which the holder gives up. */
#define ACCOMPLICE_STAYS_NS UINT64_C(1500000000)

enum {
    HOLDER,
    TAKER,
    SCRIBBLER,
    ACCOMPLICE,
    ACTORS
};

typedef struct shared {
    uint32_t guarded;
    _Alignas(64) atomic32 scribbled;
} shared;

typedef struct notes {
    volatile uint32_t there;  /* so many have come */
    volatile uint32_t number; /* of the holder's thread; 0: not yet his */
    volatile bool named;      /* the scribbler is */
} notes;

/* There is one row. */
static med_mutex_row *
row(void)
{
    return (med_mutex_row *)(void *)med_table_row(&med_self_get()->system->mutexes, 0);
}

static void
await_scribbled(shared *s)
{
    while (!atomic32_load_acquire(&s->scribbled)) {
        med_port_yield();
    }
}

static void
hold(const sim_actor *actor)
{
    shared *s = actor->memory;
    notes *n = actor->notes;
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_make_locked(MUTEX, true, &key);
    n->number = med_self_get()->thread_id;
    await_scribbled(s);
    s->guarded = GUARDED;
    mrapi_mutex_unlock(mutex, &key, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

static void
take(const sim_actor *actor)
{
    shared *s = actor->memory;
    bool tries = sim_random(2) == 0;
    mrapi_status_t status;
    mrapi_key_t key;
    await_scribbled(s);
    mrapi_mutex_hndl_t mutex = mrapi_mutex_find(MUTEX);
    do {
        med_port_yield();
        if (tries) {
            (void)mrapi_mutex_trylock(mutex, &key, &status);
        } else {
            mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
        }
        SIM_CHECK(status == MRAPI_SUCCESS || (tries && status == MRAPI_ERR_MUTEX_LOCKED));
    } while (status != MRAPI_SUCCESS);
    SIM_CHECK(s->guarded == GUARDED);
    mrapi_mutex_unlock(mutex, &key, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

static void
scribble(const sim_actor *actor)
{
    shared *s = actor->memory;
    notes *n = actor->notes;
    uint32_t own = med_self_get()->thread_id;
    uint32_t seen = own;
    while (!n->number) {
        med_port_yield();
    }
    /* In order, so that others still see that the holder wants it: else they bury him. */
    (void)atomic32_exchange_acq_rel(&row()->pi_word, own);
    n->named = true;
    while (seen == own) { /* without the kernel's bit: nobody waits yet */
        med_port_yield();
        seen = atomic32_load_relaxed(&row()->pi_word);
    }
    atomic32_store_relaxed(&row()->pi_word, (seen & ~MED_PORT_PI_OWNER_MASK) | n->number);
    atomic32_store_release(&s->scribbled, 1);
    (void)sim_join(ACCOMPLICE);
}

/* Woken for no reason it waits for the holder like others, and may have the lock. */
static void
abet(const sim_actor *actor)
{
    const notes *n = actor->notes;
    uint32_t *word = &row()->pi_word.value;
    med_port_scope scope = med_self_get()->system->scope;
    while (!n->named) {
        med_port_yield();
    }
    uint64_t deadline_ns = med_port_clock_ns() + ACCOMPLICE_STAYS_NS;
    if (med_port_pi_lock(word, deadline_ns, scope) == MEDLEY_OK) {
        (void)med_port_pi_unlock(word, scope);
    }
}

static void
act(const sim_actor *actor)
{
    static void (*const acts[ACTORS])(const sim_actor *) = {hold, take, scribble, abet};
    notes *n = actor->notes;
    mrapi_node_come(actor);
    n->there++;
    while (n->there < ACTORS) {
        med_port_yield();
    }
    acts[actor->index](actor);
    mrapi_node_go();
}

const sim_scenario sim_mrapi_pi_scribble = {
    .name = "mrapi_pi_scribble",
    .covers = "release_slow()",
    .memory_bytes = sizeof(shared),
    .actors = ACTORS,
    .times_out = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};
