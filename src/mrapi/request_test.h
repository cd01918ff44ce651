/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What tests of requests share: a table for each, and an engine that ends when it is told to. */
#ifndef MEDLEY_MRAPI_REQUEST_TEST_H
#define MEDLEY_MRAPI_REQUEST_TEST_H

#include <stdlib.h>
#include <string.h>

#include "mrapi/request.h"
#include "port/port.h"
#include "support/unit.h"

#define PLACES 8
#define PLACES_TEXT "8"
#define SIZE 4711
#define MAKER 7u

/* ---- The engine ------------------------------------------------------------------------------ */

typedef struct engine {
    atomic32 over;     /* set by the test: it may end */
    atomic32 received; /* it cannot be canceled any more */
    atomic32 inside;   /* how many are in its operations */
    atomic32 crowded;  /* more than one was */
    atomic32 stubborn; /* cannot be canceled at all */
    atomic32 canceled; /* it was */
} engine;

static inline engine *
engine_of(void *context)
{
    engine *e;
    memcpy(&e, context, sizeof e);
    return e;
}

static inline void
enter(engine *e)
{
    if (atomic32_fetch_add_acq_rel(&e->inside, 1) != 0) {
        atomic32_store_relaxed(&e->crowded, 1);
    }
}

static inline void
leave(engine *e)
{
    (void)atomic32_fetch_add_acq_rel(&e->inside, UINT32_MAX);
}

static inline med_request_state
engine_progress(void *context, med_request_outcome *outcome)
{
    engine *e = engine_of(context);
    enter(e);
    bool over = atomic32_load_acquire(&e->over);
    bool received = atomic32_load_acquire(&e->received);
    leave(e);
    *outcome = (med_request_outcome){.status = MEDLEY_OK, .size_bytes = SIZE};
    return over ? MED_REQUEST_COMPLETED : received ? MED_REQUEST_RECEIVED : MED_REQUEST_VALID;
}

static inline bool
engine_cancel(void *context)
{
    engine *e = engine_of(context);
    enter(e);
    leave(e);
    bool possible = !atomic32_load_acquire(&e->stubborn);
    atomic32_store_release(&e->canceled, possible);
    return possible;
}

static const med_request_operations engine_operations = {.progress = engine_progress,
                                                         .cancel = engine_cancel};

/* ---- Each test has a table and an engine of its own ------------------------------------------ */

static med_requests requests;
static engine one;

static inline int
set_up(void **state)
{
    (void)state;
    one = (engine){.over = ATOMIC32_INIT(0)};
    return med_requests_init(&requests) == MEDLEY_OK && requests.count == PLACES ? 0 : -1;
}

static inline int
tear_down(void **state)
{
    (void)state;
    med_requests_fini(&requests);
    return atomic32_load_relaxed(&one.crowded) ? -1 : 0;
}

static inline uint32_t
start_from(uint32_t maker, uint32_t *next, engine *e)
{
    med_request *request;
    assert_int_equal(med_request_begin(&requests, maker, next, &engine_operations, &request),
                     MEDLEY_OK);
    memcpy(request->context, &e, sizeof e);
    uint32_t handle = med_request_start(&requests, request);
    assert_true(handle != 0 && handle != UINT32_MAX);
    return handle;
}

static uint32_t next_place;

static inline uint32_t
start_as(uint32_t maker, engine *e)
{
    return start_from(maker, &next_place, e);
}

static inline uint32_t
start(engine *e)
{
    return start_as(MAKER, e);
}

static inline medley_status_t
test(uint32_t handle)
{
    med_request_outcome outcome = {.size_bytes = 0};
    medley_status_t status = med_request_test(&requests, handle, &outcome);
    assert_int_equal(outcome.size_bytes, status == MEDLEY_OK ? SIZE : 0);
    return status;
}

#endif
