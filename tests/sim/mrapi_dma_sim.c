/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Remote memory by a copy engine that does not look into the processor's cache: what was written
 * before a transfer is what is moved, and what was moved is what is read after it, however late it
 * ends and in whatever order, and whichever lines the cache throws out meanwhile.
 *
 * Actors: a node that owns a buffer and writes and reads it plainly, and one that reads and writes
 * it by transfers; of one process, so of one cache. A mutex orders them.
 */
#include "mrapi.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define ROUNDS 3u
#define NUMBER 7u
#define WORDS 32u /* two lines */
#define BYTES (WORDS * sizeof(uint32_t))
#define PARTS 2u

/* In cached memory. */
typedef struct cached {
    uint32_t far[WORDS];
    uint32_t near[WORDS];
} cached;

typedef struct notes {
    mrapi_notes common;
    uint32_t value; /* in all words of the buffer */
} notes;

static mrapi_mutex_hndl_t
mutex_have(void)
{
    mrapi_status_t status;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(NUMBER, NULL, &status);
    if (status != MRAPI_SUCCESS) {
        mutex = mrapi_mutex_get(NUMBER, &status);
    }
    SIM_CHECK(status == MRAPI_SUCCESS);
    return mutex;
}

static void
fill(uint32_t *words, uint32_t value)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = value;
    }
}

static void
check(const uint32_t *words, uint32_t value)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        SIM_CHECK(words[i] == value);
    }
}

/* ---- By transfers ---------------------------------------------------------------------------- */

/* A part is half of every line: each touches both. */
static mrapi_request_t
part_start(mrapi_rmem_hndl_t rmem, uint32_t *near, uint32_t part, bool write)
{
    const mrapi_uint32_t line = 64;
    const mrapi_uint32_t lines = BYTES / line;
    mrapi_uint32_t at = part * line / PARTS;
    mrapi_request_t request;
    mrapi_status_t status;
    if (write) {
        mrapi_rmem_write_i(rmem, at, near, at, line / PARTS, lines, line, line, &request, &status);
    } else {
        mrapi_rmem_read_i(rmem, at, near, at, line / PARTS, lines, line, line, &request, &status);
    }
    SIM_CHECK(status == MRAPI_SUCCESS);
    return request;
}

/* What is canceled may have been moved, or not. True: all was moved. */
static bool
end_of(mrapi_request_t *request)
{
    mrapi_status_t status;
    size_t size;
    if (sim_random(8) == 0) {
        mrapi_cancel(request, &status);
        SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_REQUEST_INVALID);
        if (status == MRAPI_SUCCESS) {
            return false;
        }
    }
    SIM_CHECK(mrapi_wait(request, &size, MRAPI_TIMEOUT_INFINITE, &status) == MRAPI_TRUE);
    SIM_CHECK(status == MRAPI_SUCCESS && size == BYTES / PARTS);
    return true;
}

static bool
move(mrapi_rmem_hndl_t rmem, uint32_t *near, bool write)
{
    mrapi_status_t status;
    if (sim_random(2) == 0) {
        if (write) {
            mrapi_rmem_write(rmem, 0, near, 0, BYTES, 1, BYTES, BYTES, &status);
        } else {
            mrapi_rmem_read(rmem, 0, near, 0, BYTES, 1, BYTES, BYTES, &status);
        }
        SIM_CHECK(status == MRAPI_SUCCESS);
        return true;
    }
    mrapi_request_t requests[PARTS];
    bool all = true;
    for (uint32_t part = 0; part < PARTS; part++) {
        requests[part] = part_start(rmem, near, part, write);
    }
    for (uint32_t part = 0; part < PARTS; part++) {
        all = end_of(&requests[part]) && all;
    }
    return all;
}

static void
transfer(const sim_actor *actor, mrapi_rmem_hndl_t rmem)
{
    notes *n = actor->notes;
    uint32_t *near = ((cached *)actor->cached)->near;
    fill(near, 0);
    if (move(rmem, near, false)) {
        check(near, n->value);
    }
    fill(near, n->value + 1);
    while (!move(rmem, near, true)) {
    }
    n->value++;
}

/* ---- Plainly --------------------------------------------------------------------------------- */

static void
use(const sim_actor *actor)
{
    notes *n = actor->notes;
    uint32_t *far = ((cached *)actor->cached)->far;
    check(far, n->value);
    fill(far, ++n->value);
}

static void
in_mutex(const sim_actor *actor, mrapi_mutex_hndl_t mutex, mrapi_rmem_hndl_t rmem)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    if (actor->index == 0) {
        use(actor);
    } else {
        transfer(actor, rmem);
    }
    mrapi_mutex_unlock(mutex, &key, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

static mrapi_rmem_hndl_t
rmem_have(const sim_actor *actor)
{
    uint32_t *far = ((cached *)actor->cached)->far;
    mrapi_rmem_hndl_t rmem;
    mrapi_status_t status;
    if (actor->index == 0) {
        rmem = mrapi_rmem_create(NUMBER, far, MRAPI_RMEM_DMA, NULL, BYTES, &status);
        SIM_CHECK(status == MRAPI_SUCCESS);
        return rmem;
    }
    while (rmem = mrapi_rmem_get(NUMBER, MRAPI_RMEM_DMA, &status), status != MRAPI_SUCCESS) {
        med_port_yield();
    }
    mrapi_rmem_attach(rmem, MRAPI_RMEM_DMA, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    return rmem;
}

/* The owner stays until the other has gone. */
static void
act(const sim_actor *actor)
{
    mrapi_come(actor);
    mrapi_rmem_hndl_t rmem = rmem_have(actor);
    mrapi_mutex_hndl_t mutex = mutex_have();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        in_mutex(actor, mutex, rmem);
    }
    if (actor->index == 0) {
        (void)sim_join(1);
    }
    mrapi_go(actor);
}

const sim_scenario sim_mrapi_dma = {
    .name = "mrapi_dma",
    .covers = "rmem_transfer",
    .cached_bytes = sizeof(cached),
    .actors = 2,
    .one_process = true,
    .times_out = true, /* who waits for the engine looks again after a slice: nobody wakes him */
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};
