/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Requests: whoever has a handle, by whatever means, finds what its maker filled in; of all who
 * ask, one gets the outcome; what was canceled is collected by nobody; who waits is woken; and
 * nothing is left of what a maker made who leaves.
 *
 * Actors, threads of one process: 0 to 2 make requests and ask about any, 3 is an engine that
 * completes what does not complete itself.
 */
#include "mrapi/request.h"
#include "port/port.h"
#include "scenarios.h"

#define MAKERS 3u
#define ROUNDS 3u
#define STEPS 3u
#define MADE_MAX (MAKERS * ROUNDS)

/* What a request's context holds, plain. */
typedef struct work {
    uint32_t value;
    uint32_t steps_left; /* of one that is brought forward by who asks */
    uint32_t maker;
} work;

typedef struct made {
    uint32_t handle;
    uint32_t maker;
    bool by_engine;
    bool engine_done;
    bool collected;
    bool canceled;
    bool left; /* its maker left before it was either */
} made;

typedef struct notes {
    uint32_t count;
    uint32_t next[MAKERS]; /* of each maker: where he looks */
    made made[MADE_MAX];   /* the value is the index + 1 */
} notes;

static med_requests requests; /* the process's */
/* Of those the engine completes: it is told in order, since what it cannot see yet would stay. */
static atomic32 started[MADE_MAX];

static const sim_variable environment[] = {{"MEDLEY_MAX_REQUESTS", "4"}, {NULL, NULL}};

static void
begin(const sim_actor *director)
{
    (void)director;
    SIM_CHECK(med_requests_init(&requests) == MEDLEY_OK);
}

/* ---- Two kinds of operations ----------------------------------------------------------------- */

static med_request_state
progress(void *context, med_request_outcome *outcome)
{
    work *w = context;
    w->steps_left--;
    if (w->steps_left == 0) {
        *outcome = (med_request_outcome){.status = MEDLEY_OK, .size_bytes = w->value};
        return MED_REQUEST_COMPLETED;
    }
    return w->steps_left == 1 ? MED_REQUEST_RECEIVED : MED_REQUEST_VALID;
}

static bool
cancel(void *context)
{
    work *w = context;
    bool may_be = w->steps_left > 1;
    w->steps_left = may_be ? 0 : w->steps_left;
    return may_be;
}

static const med_request_operations stepped = {.progress = progress, .cancel = cancel};

static med_request_state
no_progress(void *context, med_request_outcome *outcome)
{
    (void)context;
    (void)outcome;
    return MED_REQUEST_VALID;
}

static bool
cancel_always(void *context)
{
    (void)context;
    return true;
}

static const med_request_operations engines = {.progress = no_progress, .cancel = cancel_always};

/* ---- Making ---------------------------------------------------------------------------------- */

static uint32_t
publish(med_request *request, uint32_t value)
{
    const med_request_outcome outcome = {.status = MEDLEY_OK, .size_bytes = value};
    return sim_random(4) == 0 ? med_request_end_at_once(&requests, request, outcome)
                              : med_request_start(&requests, request);
}

static void
make(const sim_actor *actor)
{
    notes *n = actor->notes;
    bool by_engine = sim_random(2) == 0;
    med_request *request;
    medley_status_t status = med_request_begin(&requests, actor->index, &n->next[actor->index],
                                               by_engine ? &engines : &stepped, &request);
    if (status != MEDLEY_OK) {
        SIM_CHECK(status == MEDLEY_ERR_LIMIT);
        return;
    }
    if (sim_random(4) == 0) {
        med_request_abandon(request);
        return;
    }
    uint32_t index = n->count++;
    *(work *)(void *)request->context =
        (work){.value = index + 1, .steps_left = STEPS, .maker = actor->index};
    uint32_t handle = publish(request, index + 1);
    n->made[index] = (made){.maker = actor->index, .by_engine = by_engine, .handle = handle};
    if (by_engine) {
        atomic32_store_release(&started[index], 1); /* R1 started -> A1 */
    }
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static void
note(notes *n, made *m, medley_status_t status, const med_request_outcome *outcome)
{
    if (status == MEDLEY_OK) {
        SIM_CHECK(!m->collected && !m->canceled);
        SIM_CHECK(outcome->status == MEDLEY_OK);
        SIM_CHECK(outcome->size_bytes == (size_t)(m - n->made) + 1);
        m->collected = true;
        return;
    }
    SIM_CHECK(status == MEDLEY_BUSY || status == MEDLEY_ERR_STALE || status == MEDLEY_ERR_CANCELED);
}

static void
ask(notes *n, made *m)
{
    med_request_outcome outcome;
    if (sim_random(4) == 0) {
        medley_status_t status = med_request_cancel(&requests, m->handle);
        SIM_CHECK(status != MEDLEY_OK || (!m->collected && !m->canceled));
        m->canceled = m->canceled || status == MEDLEY_OK;
        return;
    }
    note(n, m, med_request_test(&requests, m->handle, &outcome), &outcome);
}

static bool
is_of(const void *context, const void *wanted)
{
    return ((const work *)context)->maker == *(const uint32_t *)wanted;
}

/* What goes on only while somebody asks is asked about; the engine's end is waited for. */
static medley_status_t
over(const made *m, med_request_outcome *outcome)
{
    med_waiter waiter = {0};
    medley_status_t status;
    size_t which;
    if (m->by_engine) {
        const med_request_wait how = {.place = &requests.wait,
                                      .scope = MED_PORT_SCOPE_PROCESS,
                                      .waiter = &waiter,
                                      .deadline_ns = MED_PORT_FOREVER};
        return med_request_wait_any(&requests, &how, &m->handle, 1, &which, outcome);
    }
    while ((status = med_request_test(&requests, m->handle, outcome)) == MEDLEY_BUSY) {
        med_port_yield();
    }
    return status;
}

static void
wait_for_own(const sim_actor *actor, made *m)
{
    med_request_outcome outcome;
    medley_status_t status = over(m, &outcome);
    SIM_CHECK(status != MEDLEY_BUSY);
    note(actor->notes, m, status, &outcome);
}

/* One that another canceled while its maker left may still seem to be another's turn. */
static void
left_behind(const sim_actor *actor, made *m)
{
    med_request_outcome outcome;
    medley_status_t status;
    (void)actor;
    while ((status = med_request_test(&requests, m->handle, &outcome)) == MEDLEY_BUSY) {
        med_port_yield();
    }
    SIM_CHECK(status == MEDLEY_ERR_STALE || status == MEDLEY_ERR_CANCELED);
    m->left = true;
}

static void
act_maker(const sim_actor *actor)
{
    notes *n = actor->notes;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        make(actor);
        for (uint32_t i = 0; i < 2 && n->count != 0; i++) {
            made *m = &n->made[sim_random(n->count)];
            if (m->handle) {
                ask(n, m);
            }
        }
    }
    if (sim_random(4) == 0) {
        med_requests_drain(&requests, &stepped, is_of, &actor->index);
    }
    bool leaves = sim_random(4) == 0;
    if (leaves) {
        med_requests_leave(&requests, actor->index);
    }
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->made[i].maker == actor->index && n->made[i].handle) {
            (leaves ? left_behind : wait_for_own)(actor, &n->made[i]);
        }
    }
}

/* ---- The engine ------------------------------------------------------------------------------ */

static void
complete_some(notes *n)
{
    for (uint32_t i = 0; i < n->count; i++) {
        made *m = &n->made[i];
        if (m->engine_done || !atomic32_load_acquire(&started[i])) { /* A1 started <- R1 */
            continue;
        }
        const med_request_outcome outcome = {.status = MEDLEY_OK, .size_bytes = i + 1};
        m->engine_done = true;
        medley_status_t status = med_request_complete(&requests, m->handle, outcome);
        SIM_CHECK(status == MEDLEY_OK || status == MEDLEY_ERR_STALE ||
                  status == MEDLEY_ERR_CANCELED);
    }
}

static bool
makers_are_there(void)
{
    for (uint32_t i = 0; i < MAKERS; i++) {
        if (!sim_has_ended(i)) {
            return true;
        }
    }
    return false;
}

static void
act(const sim_actor *actor)
{
    if (actor->index < MAKERS) {
        act_maker(actor);
        return;
    }
    while (makers_are_there()) {
        complete_some(actor->notes);
        med_port_yield();
    }
}

/* Each is over, in one way; and every place can be had again. */
static void
end(const sim_actor *director)
{
    const notes *n = director->notes;
    for (uint32_t i = 0; i < n->count; i++) {
        SIM_CHECK(!n->made[i].collected || !n->made[i].canceled);
        SIM_CHECK(n->made[i].collected || n->made[i].canceled || n->made[i].left);
    }
    med_request *request;
    uint32_t next = 0;
    for (uint32_t i = 0; i < 4; i++) {
        SIM_CHECK(med_request_begin(&requests, MAKERS, &next, &stepped, &request) == MEDLEY_OK);
    }
    SIM_CHECK(med_request_begin(&requests, MAKERS, &next, &stepped, &request) == MEDLEY_ERR_LIMIT);
}

const sim_scenario sim_request = {
    .name = "request",
    .covers = "request request_table request_sim",
    .actors = MAKERS + 1,
    .one_process = true,
    .waits_forever = true,
    .begin = begin,
    .act = act,
    .end = end,
    .environment = environment,
};
