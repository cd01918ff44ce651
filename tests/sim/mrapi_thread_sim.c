/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Nodes that the library starts: of all who join one at most one gets what it returned, and sees
 * what it wrote; nobody joins himself, under whatever number.
 *
 * Actors: threads of one process, of equal rank. Each starts some, and all join any. A started one
 * may go and come again under another number, and then tries to join the one that it was.
 */

#include "medley/mrapi_ext.h"
#include "mrapi.h"
#include "mrapi_actor.h"
#include "scenarios.h"

#define DOMAIN 1u
#define THREADS 4u
#define NODE_FIRST 10u
#define NODE_OTHER 20u /* of one that comes again */
#define TRIES 6u

typedef struct notes {
    mrapi_notes common;
    uint32_t started;
    uint32_t joined[THREADS];
} notes;

typedef struct task {
    uint32_t *done; /* plain: what each wrote */
    uint32_t number;
} task;

static task tasks[THREADS];

/* NULL: it was not joined. */
static void *
join(uint32_t number)
{
    mrapi_status_t status;
    void *result = NULL;
    mrapi_thread_join(DOMAIN, NODE_FIRST + number, &result, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_NODE_INVALID);
    return status == MRAPI_SUCCESS ? result : NULL;
}

static void
come_again(uint32_t number)
{
    mrapi_info_t info;
    mrapi_parameters_t parameters = {0};
    mrapi_status_t status;
    mrapi_finalize(&status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    mrapi_initialize(DOMAIN, NODE_OTHER + number, parameters, &info, &status);
    if (status == MRAPI_SUCCESS) {
        SIM_CHECK(join(number) == NULL);
        mrapi_finalize(&status);
        SIM_CHECK(status == MRAPI_SUCCESS);
    }
}

static void *
run(void *argument)
{
    const task *t = argument;
    *t->done = t->number + 1;
    if (sim_random(3) == 0) {
        come_again(t->number);
    }
    return argument;
}

static void
start(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_status_t status;
    if (n->started == THREADS) {
        return;
    }
    task *t = &tasks[n->started];
    *t = (task){.done = (uint32_t *)actor->memory + n->started, .number = n->started};
    n->started++;
    mrapi_thread_parameters_t parameters = {.start_routine = run, .arg = t};
    mrapi_thread_create(DOMAIN, NODE_FIRST + t->number, &parameters, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

static void
join_one(const sim_actor *actor, uint32_t number)
{
    notes *n = actor->notes;
    const task *t = join(number);
    if (t) {
        SIM_CHECK(t == &tasks[number] && *t->done == number + 1);
        SIM_CHECK(n->joined[number]++ == 0);
    }
}

static void
act(const sim_actor *actor)
{
    const notes *n = actor->notes;
    mrapi_come(actor);
    for (uint32_t i = 0; i < TRIES; i++) {
        if (sim_random(2) == 0) {
            start(actor);
        } else if (n->started != 0) {
            join_one(actor, sim_random(n->started));
        }
    }
    mrapi_go(actor);
}

/* One that nobody joins keeps its row. */
static const sim_variable environment[] = {{"MEDLEY_MAX_NODES", "11"}, MRAPI_VARIABLES};

const sim_scenario sim_mrapi_thread = {
    .name = "mrapi_thread",
    .covers = "node_start",
    .memory_bytes = THREADS * sizeof(uint32_t),
    .actors = MRAPI_ACTORS,
    .one_process = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
