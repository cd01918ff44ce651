/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Remote memory between processes, by a copy engine that ends late and in any order (in a shared
 * memory), through a cache, or by the kernel (in its owner's own memory): who comes after another
 * in a mutex reads what he wrote, all of it; nobody deletes it under one who is attached; what a
 * dead owner left is never taken for what another makes in its place.
 *
 * Actors: three of equal rank, who make it, each in a memory of his own, and use what others made.
 */
#include <string.h>

#include "medley/medley.h"
#include "mrapi.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define LIVES_MAX (MRAPI_ACTORS * ROUNDS)
#define ROUNDS 3u
#define MUTEX 7u
#define NUMBER 7u /* and those after it: of shared memories */
#define WORDS 4u
#define PATIENCE_NS 100000000u /* others may be asleep for a slice */
#define BYTES (WORDS * sizeof(uint32_t))

typedef struct life {
    mrapi_rmem_hndl_t handle;
    mrapi_rmem_atype_t access;
    uint32_t value; /* in all its words, */
    bool torn;      /* unless one died, or the owner, while he wrote it */
} life;

typedef struct notes {
    mrapi_notes common; /* told: a life + 1 */
    uint32_t inside;    /* index + 1 of who has the mutex */
    uint32_t lives;
    life lives_of[LIVES_MAX];
} notes;

/* ---- The mutex ------------------------------------------------------------------------------- */

static mrapi_mutex_hndl_t
mutex_have(void)
{
    mrapi_status_t status;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(MUTEX, NULL, &status);
    if (status != MRAPI_SUCCESS) {
        mutex = mrapi_mutex_get(MUTEX, &status);
    }
    SIM_CHECK(status == MRAPI_SUCCESS);
    return mutex;
}

static void
enter(const sim_actor *actor, mrapi_mutex_hndl_t mutex, mrapi_key_t *key)
{
    mrapi_status_t status;
    mrapi_mutex_lock(mutex, key, MRAPI_TIMEOUT_INFINITE, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    (void)mrapi_take_note(actor, &((notes *)actor->notes)->inside);
}

static void
leave(const sim_actor *actor, mrapi_mutex_hndl_t mutex, mrapi_key_t *key)
{
    mrapi_status_t status;
    ((notes *)actor->notes)->inside = 0;
    mrapi_mutex_unlock(mutex, key, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

/* ---- Transfers ------------------------------------------------------------------------------- */

/* One half, not waited for. False: its owner is gone. */
static bool
half_start(mrapi_rmem_hndl_t rmem,
           uint32_t half,
           uint32_t local[WORDS],
           bool write,
           mrapi_request_t *request)
{
    mrapi_status_t status;
    mrapi_uint32_t at = half * (BYTES / 2);
    mrapi_uint32_t word = sizeof(uint32_t);
    if (write) {
        mrapi_rmem_write_i(rmem, at, local, at, word, WORDS / 2, word, word, request, &status);
    } else {
        mrapi_rmem_read_i(rmem, at, local, at, word, WORDS / 2, word, word, request, &status);
    }
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_RMEM_INVALID);
    return status == MRAPI_SUCCESS;
}

/* Both halves, in whatever order they end. False: the owner is gone. */
static bool
move(mrapi_rmem_hndl_t rmem, uint32_t local[WORDS], bool write)
{
    mrapi_request_t requests[2];
    mrapi_status_t status;
    uint32_t started = 0;
    while (started < 2 && half_start(rmem, started, local, write, &requests[started])) {
        started++;
    }
    for (uint32_t left = started; left != 0; left--) {
        size_t size;
        mrapi_uint_t which = mrapi_wait_any(left, requests, &size, MRAPI_TIMEOUT_INFINITE, &status);
        SIM_CHECK(status == MRAPI_SUCCESS && size == BYTES / 2 && which < left);
        requests[which] = requests[left - 1];
    }
    return started == 2;
}

static bool
cache_done(void (*what)(mrapi_rmem_hndl_t rmem, mrapi_status_t *status), mrapi_rmem_hndl_t rmem)
{
    mrapi_status_t status;
    what(rmem, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_RMEM_INVALID ||
              status == MRAPI_ERR_NOT_SUPPORTED);
    return status != MRAPI_ERR_RMEM_INVALID;
}

/* In the mutex. */
static void
read_and_write(life *l)
{
    uint32_t local[WORDS];
    if (!cache_done(mrapi_rmem_synch, l->handle) || !move(l->handle, local, false)) {
        return;
    }
    for (uint32_t i = 0; i < WORDS; i++) {
        SIM_CHECK(l->torn || local[i] == l->value);
        local[i] = l->value + 1;
    }
    l->torn = true;
    if (move(l->handle, local, true) && cache_done(mrapi_rmem_flush, l->handle)) {
        l->value++;
        l->torn = false;
    }
}

static void
attach_and_leave(const sim_actor *actor, mrapi_mutex_hndl_t mutex, life *l)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_rmem_attach(l->handle, l->access, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_RMEM_INVALID);
    if (status != MRAPI_SUCCESS) {
        return;
    }
    enter(actor, mutex, &key);
    read_and_write(l);
    leave(actor, mutex, &key);
    mrapi_rmem_detach(l->handle, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_RMEM_INVALID);
}

/* ---- The owner ------------------------------------------------------------------------------- */

/* In a shared memory the engine reaches it; in one's own only the kernel. */
static void *
buffer_make(const sim_actor *actor, bool shared, mrapi_shmem_hndl_t *shmem)
{
    static uint32_t own[WORDS];
    mrapi_status_t status;
    if (!shared) {
        memset(own, 0, sizeof own);
        return own;
    }
    *shmem = mrapi_shmem_create(NUMBER + actor->index, BYTES, NULL, 0, NULL, 0, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    void *memory = mrapi_shmem_attach(*shmem, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    return memory;
}

static void
buffer_end(mrapi_shmem_hndl_t shmem)
{
    mrapi_status_t status;
    mrapi_shmem_detach(shmem, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    mrapi_shmem_delete(shmem, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

/* When nobody is attached any more. */
static void
rmem_end(mrapi_rmem_hndl_t rmem)
{
    mrapi_status_t status;
    for (;;) {
        mrapi_rmem_delete(rmem, &status);
        if (status == MRAPI_SUCCESS) {
            return;
        }
        SIM_CHECK(status == MRAPI_ERR_RMEM_ATTACH);
        med_port_delay_ns(PATIENCE_NS);
    }
}

/* Values begin where no other life's can be. NULL: there is one already. */
static life *
life_begin(notes *n, void *buffer, uint32_t value)
{
    static const mrapi_rmem_atype_t ways[] = {MRAPI_RMEM_DMA, MRAPI_RMEM_SWCACHE, MRAPI_RMEM_DUMMY};
    mrapi_status_t status;
    mrapi_rmem_hndl_t handle =
        mrapi_rmem_create(NUMBER, buffer, MRAPI_RMEM_ATYPE_ANY, NULL, BYTES, &status);
    if (status != MRAPI_SUCCESS) {
        SIM_CHECK(status == MRAPI_ERR_RMEM_EXISTS);
        return NULL;
    }
    life *l = &n->lives_of[n->lives++];
    *l = (life){.handle = handle, .access = ways[sim_random(3)], .value = value};
    n->common.told[0] = n->lives;
    return l;
}

static void
make_and_end(const sim_actor *actor, mrapi_mutex_hndl_t mutex)
{
    notes *n = actor->notes;
    mrapi_shmem_hndl_t shmem;
    bool shared = sim_random(3) != 0;
    uint32_t *buffer = buffer_make(actor, shared, &shmem);
    uint32_t value = (n->lives + 1) * 1000 + actor->index * 100;
    for (uint32_t i = 0; i < WORDS; i++) {
        buffer[i] = value;
    }
    life *l = life_begin(n, buffer, value);
    if (l) {
        attach_and_leave(actor, mutex, l);
        rmem_end(l->handle);
    }
    if (shared) {
        buffer_end(shmem);
    }
}

static void
act(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_come(actor);
    mrapi_mutex_hndl_t mutex = mutex_have();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (n->common.told[0] == 0 || sim_random(3) == 0) {
            make_and_end(actor, mutex);
        } else {
            attach_and_leave(actor, mutex, &n->lives_of[n->common.told[0] - 1]);
        }
    }
    mrapi_go(actor);
}

const sim_scenario sim_mrapi_rmem = {
    .name = "mrapi_rmem",
    .covers = "rmem rmem_transfer",
    .actors = MRAPI_ACTORS,
    .deaths = 2,
    .mortal = 7,
    .long_lived = true,
    .times_out = true, /* who waits for the engine looks again after a slice: nobody wakes him */
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};
