/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A request that stands in its maker's queue, each of whose steps touches what the caller lent it:
 * who cancels it, another thread, has that for himself from then on, and the maker does nothing
 * more about it. Once it is RECEIVED nobody cancels it.
 *
 * Actors, threads of one process: 0 makes it, brings it forward, and ends it if it comes to that; 1
 * cancels it.
 */
#include "mrapi/node.h"
#include "mrapi/request.h"
#include "mrapi/system.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define ACTORS 2u
#define STEPS 4u
#define TRIES 8u
#define CANCELED_MARK 99u
#define ENDED_MARK 98u

typedef struct notes {
    uint32_t there;
    uint32_t handle; /* told without any order */
    bool canceled;
    bool taken_out;
} notes;

/* What is lent, plain. */
static uint32_t *
lent(const sim_actor *actor)
{
    return actor->memory;
}

/* ---- What a request does when it is asked about ---------------------------------------------- */

static med_request_state
progress(void *context, med_request_outcome *outcome)
{
    (void)context;
    (void)outcome;
    return MED_REQUEST_RECEIVED;
}

static bool
cancel(void *context)
{
    (void)context;
    return true;
}

static const med_request_operations in_queue = {
    .progress = progress, .cancel = cancel, .queued = true};

/* ---- Its maker ------------------------------------------------------------------------------- */

/* One step of it. False: it was canceled. */
static bool
step_once(const sim_actor *actor, med_request *request, uint32_t step)
{
    if (med_request_turn_take(request) != MEDLEY_OK) {
        return false;
    }
    *lent(actor) = step;
    med_request_turn_give(request);
    return true;
}

/* The last one ends it. */
static bool
end_by_step(const sim_actor *actor, med_request *request)
{
    const med_request_outcome outcome = {.status = MEDLEY_OK};
    if (med_request_turn_take(request) != MEDLEY_OK) {
        return false;
    }
    *lent(actor) = ENDED_MARK;
    med_request_turn_end(&med_self_get()->system->requests, request, outcome);
    return true;
}

/* It leaves the queue before it ends. */
static bool
end_received(const sim_actor *actor, uint32_t handle)
{
    med_requests *requests = &med_self_get()->system->requests;
    const med_request_outcome outcome = {.status = MEDLEY_OK};
    med_request_outcome told;
    medley_status_t status = med_request_test(requests, handle, &told);
    SIM_CHECK(status == MEDLEY_BUSY || status == MEDLEY_ERR_CANCELED);
    if (status == MEDLEY_ERR_CANCELED) {
        return false;
    }
    *lent(actor) = ENDED_MARK;
    SIM_CHECK(med_request_complete(requests, handle, outcome) == MEDLEY_OK);
    return true;
}

static void
act_maker(const sim_actor *actor)
{
    notes *n = actor->notes;
    med_self *self = med_self_get();
    med_requests *requests = &self->system->requests;
    med_request_outcome told;
    med_request *request;
    bool goes_on = true;
    SIM_CHECK(med_request_begin(requests, self->ref, &self->next_request, &in_queue, &request) ==
              MEDLEY_OK);
    n->handle = med_request_start(requests, request);
    for (uint32_t step = 1; step < STEPS && goes_on; step++) {
        goes_on = step_once(actor, request, step);
    }
    if (goes_on) {
        goes_on = sim_random(2) == 0 ? end_by_step(actor, request) : end_received(actor, n->handle);
    }
    if (!goes_on) {
        n->taken_out = true;
        med_request_drop(request);
        return;
    }
    SIM_CHECK(med_request_test(requests, n->handle, &told) == MEDLEY_OK);
}

/* ---- Who cancels it -------------------------------------------------------------------------- */

static void
act_canceler(const sim_actor *actor)
{
    notes *n = actor->notes;
    med_requests *requests = &med_self_get()->system->requests;
    for (uint32_t i = 0; i < TRIES; i++) {
        if (n->handle && med_request_cancel(requests, n->handle) == MEDLEY_OK) {
            *lent(actor) = CANCELED_MARK;
            n->canceled = true;
            return;
        }
        med_port_yield();
    }
}

static void
act(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_node_come(actor);
    n->there++;
    while (n->there != ACTORS) {
        med_port_yield();
    }
    (actor->index == 0 ? act_maker : act_canceler)(actor);
    mrapi_node_go();
}

static void
end(const sim_actor *director)
{
    const notes *n = director->notes;
    SIM_CHECK(n->taken_out == n->canceled);
    SIM_CHECK(*lent(director) == (n->canceled ? CANCELED_MARK : ENDED_MARK));
}

const sim_scenario sim_request_queue = {
    .name = "request_queue",
    .covers = "cancel_anothers() turn_give()",
    .memory_bytes = sizeof(uint32_t),
    .actors = ACTORS,
    .one_process = true,
    .sees_late = true,
    .begin = mrapi_begin,
    .act = act,
    .end = end,
    .environment = mrapi_environment,
};
