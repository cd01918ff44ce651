/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who listens to what: a fixed list of the process, which only grows. Together may run: listen and
 * tell, by any threads.
 *
 *             linearises at
 *   listen    a new entry: the store of READY; one that is there: the store of its frequency
 *   tell      for each entry its load of the state, then the increment of its count
 *
 * Two threads that ask for one new callback at once may get two entries, as if each had one of its
 * own. Progress: listen, and tell but for the callbacks, are wait-free. Death: the list is the
 * process's and goes with it. A child of fork has its parent's, and its callbacks.
 */
#include "mrapi/event.h"

#include "base/atomic.h"
#include "base/log.h"

#define LISTENERS_MAX 16u

enum {
    EMPTY,
    CLAIMED, /* being filled by who claimed it */
    READY
};

typedef struct listener {
    atomic32 state;
    atomic32 frequency; /* 0: no longer */
    atomic32 count;
    mrapi_event_t event; /* never changes once it is READY, as the next */
    void (*callback)(mrapi_event_t event);
} listener;

static listener listeners[LISTENERS_MAX];
static atomic32 claimed; /* how many were ever asked for: no entry beyond is in use */

static bool
ready(const listener *l)
{
    return atomic32_load_acquire(&l->state) == READY; /* A1 entry <- R1 (listener_add) */
}

static uint32_t
listener_count(void)
{
    uint32_t count = atomic32_load_relaxed(&claimed); /* relaxed: each entry has its own state */
    return count < LISTENERS_MAX ? count : LISTENERS_MAX;
}

static medley_status_t
listener_add(mrapi_event_t event, uint32_t frequency, void (*callback)(mrapi_event_t event))
{
    /* Relaxed, and first: of so many entries one is ours; one too many is only looked at. */
    (void)atomic32_fetch_add_relaxed(&claimed, 1);
    for (uint32_t i = 0; i < LISTENERS_MAX; i++) {
        listener *l = &listeners[i];
        uint32_t state = EMPTY;
        if (!atomic32_cas_relaxed(&l->state, &state, CLAIMED)) { /* relaxed: nothing is read */
            continue;
        }
        l->event = event;
        l->callback = callback;
        atomic32_store_relaxed(&l->frequency, frequency); /* relaxed: published by R1 */
        atomic32_store_release(&l->state, READY);         /* R1 entry -> A1 (ready) */
        return MEDLEY_OK;
    }
    med_log_error("no room for another event callback", "one process has at most 16");
    return MEDLEY_ERR_LIMIT;
}

medley_status_t
med_event_listen(mrapi_event_t event, uint32_t frequency, void (*callback)(mrapi_event_t event))
{
    for (uint32_t i = 0; i < listener_count(); i++) {
        listener *l = &listeners[i];
        if (ready(l) && l->event == event && l->callback == callback) {
            /* Relaxed, both: a word each, which guards nothing. */
            atomic32_store_relaxed(&l->count, 0);
            atomic32_store_relaxed(&l->frequency, frequency);
            return MEDLEY_OK;
        }
    }
    return frequency ? listener_add(event, frequency, callback) : MEDLEY_OK;
}

void
med_event_tell_listeners(mrapi_event_t event)
{
    for (uint32_t i = 0; i < listener_count(); i++) {
        listener *l = &listeners[i];
        /* Relaxed, both: as in listen. */
        uint32_t frequency =
            ready(l) && l->event == event ? atomic32_load_relaxed(&l->frequency) : 0;
        if (frequency == 0) {
            continue;
        }
        uint32_t count = atomic32_fetch_add_relaxed(&l->count, 1) + 1;
        if (count % frequency == 0) {
            l->callback(event);
        }
    }
}
