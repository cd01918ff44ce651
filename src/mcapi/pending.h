/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Pending operations: what a node asked for and did not wait for. Each is a request
 * (mrapi/request.h) and stands in a queue of its endpoint, with others of its kind. Those about the
 * same (a receiver and a priority, a channel) are done in the order they were asked for: only the
 * first of them is tried, so none overtakes another, and none waits for what is about something
 * else. A queue is brought forward whenever its node tests or waits for one of it, or does the like
 * of it without a request.
 *
 * The paper's request states (its Figure 3) are those of request.h. All of this is the thread's
 * own; other threads test, wait and cancel by the request's word alone, and see what has ended, but
 * bring nothing forward. What another canceled stays in its queue, and is not done, until its node
 * comes to it.
 */
#ifndef MEDLEY_MCAPI_PENDING_H
#define MEDLEY_MCAPI_PENDING_H

#include <stdbool.h>
#include <stddef.h>

#include "medley/status.h"
#include "mrapi/node.h"
#include "mrapi/request.h"
#include "port/port.h"

struct med_endpoint_own;
struct med_pending;

/* Those in front first; then all who stand behind another, in the order they were asked for. */
typedef struct med_pending_queue {
    struct med_pending *first;
    struct med_pending **end; /* where the next goes, if there is a first */
    uint32_t look;            /* of its node's: the last that brought it forward, or 0 */
} med_pending_queue;

/* One try of an operation: MEDLEY_BUSY, not yet; anything else is its outcome. */
typedef medley_status_t med_pending_try(med_self *self, struct med_pending *pending);

/* What an operation is about. */
#define MED_PENDING_NUMBERS 3u

typedef struct med_pending {
    med_self *self; /* who asked; fixed, as is the next */
    med_pending_try *attempt;
    void (*look)(struct med_pending *pending); /* at the other side's life; NULL: there is none */
    struct med_endpoint_own *own;
    med_pending_queue *queue; /* NULL: it has ended */
    struct med_pending *next;
    /* The operation's own: */
    void *buffer;
    size_t size;
    unsigned numbers[MED_PENDING_NUMBERS];
    bool behind; /* one of the same numbers was asked for before it, and has not ended */
    bool counts; /* is waited for: its lane counts that, when it finds no room */
    med_request_outcome outcome;
} med_pending;
_Static_assert(sizeof(med_pending) <= MED_REQUEST_CONTEXT_BYTES, "it is a request's context");

/* Asks: tries it at once, unless it is behind another. The handle of the request;
 * MEDLEY_ERR_LIMIT. What it was given is copied. */
medley_status_t med_pending_begin(med_self *self,
                                  med_pending_queue *queue,
                                  const med_pending *asked,
                                  med_request_handle *request);
/* The same without a request, but waits until it has ended: its outcome; MEDLEY_TIMEOUT, and it is
 * not done. */
medley_status_t med_pending_wait(med_self *self,
                                 med_pending_queue *queue,
                                 med_pending *asked,
                                 uint64_t deadline_ns);
/* Whatever is in the queue ends with that status. */
void med_pending_end_all(med_self *self, med_pending_queue *queue, medley_status_t status);
/* It was told MEDLEY_BUSY by its lane: whether that counts, which it does once. */
static inline bool
med_pending_is_to_count(med_pending *pending)
{
    bool counts = pending->counts;
    pending->counts = false;
    return counts;
}
/* Takes out of it what others canceled. Whether there was any. */
bool med_pending_sweep(const med_requests *requests, const med_pending_queue *queue);
/* The same of all that the caller asked for. */
bool med_pending_sweep_all(const med_self *self);
/* Who sleeps in a call of MCAPI does so after each slice: those places come back though he asks for
 * nothing meanwhile, and lanes that are of no use to him, if others want some. */
void med_pending_each_slice(med_self *self);
static inline void
med_pending_slice(med_self *self)
{
    if (med_port_has_threads()) {
        med_pending_each_slice(self);
    }
}

/* Is there any that is still wanted? */
static inline bool
med_pending_is_any(const med_requests *requests, const med_pending_queue *queue)
{
    (void)(med_port_has_threads() && med_pending_sweep(requests, queue));
    return queue->first != NULL;
}

/* A place for a request of the caller's: also one of what others canceled of his. MEDLEY_ERR_LIMIT,
 * which is reported. */
medley_status_t
med_pending_place(med_self *self, const med_request_operations *operations, med_request **request);

/* ---- Requests of the caller ------------------------------------------------------------------ */

/* Blocks until one of them has ended, on what the node's thread sleeps on for everything, and looks
 * at the life of whom its operations are about; otherwise as med_request_wait_any. */
medley_status_t med_pending_wait_any(med_self *self,
                                     const med_request_handle *requests,
                                     size_t count,
                                     uint64_t deadline_ns,
                                     size_t *which,
                                     med_request_outcome *outcome);

#endif
