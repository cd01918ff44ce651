/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Pending operations. What may run together: on one queue nothing, it is a thread's own; on one
 * request, whatever request.c says. A request's context is changed by the thread that asked, and by
 * no other: who tests or cancels it from elsewhere knows its word only, and is told "not yet" until
 * the thread that asked has brought it to its end.
 *
 * Each step of a request in a queue is made in its turn, so it is canceled before the step or
 * after it: before, the step is not made, and what it would have had is there for the next in the
 * queue; after a step that ended it, it cannot be canceled. An operation that is waited for without
 * a request has no turn, since nobody else knows it.
 *
 * Order. Two of the same numbers end in the order they were asked for; others do not wait for each
 * other. Of each numbers the first asked for stands in front, and those behind are not looked at.
 *
 * Progress: tries of those in front, of each up to the first that cannot be done. Death: a request
 * goes with its process.
 */
#include "mcapi/pending.h"

#include <string.h>

#include "mcapi/endpoint.h"
#include "mcapi/locked.h"
#include "mcapi/told.h"
#include "mrapi/system.h"

/* ---- Queues ---------------------------------------------------------------------------------- */

/* The first about the same, from there on, up to those behind or among them; else where it ends. */
static __attribute__((noinline)) med_pending **
search(med_pending **at, const med_pending *wanted, bool behind)
{
    while (*at && (behind || !(*at)->behind) &&
           memcmp((*at)->numbers, wanted->numbers, sizeof wanted->numbers) != 0) {
        at = &(*at)->next;
    }
    return at;
}

static void
put_in(med_pending_queue *queue, med_pending **at, med_pending *pending)
{
    pending->next = *at;
    *at = pending;
    if (!pending->next) {
        queue->end = &pending->next;
    }
}

static void
unlink_at(med_pending_queue *queue, med_pending **at)
{
    *at = (*at)->next;
    if (!*at) {
        queue->end = at;
    }
}

static void
append(med_pending_queue *queue, med_pending *pending)
{
    med_pending **at = search(&queue->first, pending, false);
    pending->queue = queue;
    pending->behind = *at && !(*at)->behind;
    put_in(queue, pending->behind ? queue->end : at, pending);
}

/* The next about the same comes to the front, behind all who are there: whoever goes on asking
 * about one thing keeps nobody from what both want, buffers. */
static void
take_out(med_pending *pending)
{
    med_pending_queue *queue = pending->queue;
    med_pending **at = &queue->first;
    while (*at != pending) {
        at = &(*at)->next;
    }
    unlink_at(queue, at);
    pending->queue = NULL;
    if (pending->behind) {
        return;
    }
    at = search(at, pending, true);
    med_pending *next = *at;
    if (next) {
        unlink_at(queue, at);
        next->behind = false;
        put_in(queue, search(&queue->first, next, false), next);
    }
}

/* May it be done now? Then the caller has its turn. Else another canceled it: it is gone. `had` is
 * the one whose turn the caller has had before. */
static bool
enter(const med_requests *requests, med_pending *pending, const med_pending *had)
{
    if (!med_port_has_threads() || pending == had) {
        return true;
    }
    med_request *request = med_request_of_context(requests, pending);
    if (!request || med_request_turn_take(request) == MEDLEY_OK) {
        return true;
    }
    take_out(pending);
    med_request_drop(request);
    return false;
}

/* It goes on. */
static void
leave(const med_requests *requests, const med_pending *pending, const med_pending *had)
{
    if (!med_port_has_threads() || pending == had) {
        return;
    }
    med_request *request = med_request_of_context(requests, pending);
    if (request) {
        med_request_turn_give(request);
    }
}

/* It has ended. Who has had its turn before tells others; else nothing of it is touched
 * afterwards. */
static void
end(med_requests *requests, med_pending *pending, medley_status_t status, const med_pending *had)
{
    pending->outcome.status = status;
    take_out(pending);
    if (!med_port_has_threads() || pending == had) {
        return;
    }
    med_request *request = med_request_of_context(requests, pending);
    if (request) {
        med_request_turn_end(requests, request, pending->outcome);
    }
}

/* One look at what is shared, or one change of it. */
static medley_status_t
attempt(med_self *self, med_pending *pending)
{
    medley_status_t status;
    MED_LOCKED(self, MED_RWL_WRITE, status, pending->attempt(self, pending));
    return status;
}

/* What can be done, of those too who come to the front meanwhile. The caller has the turn of `had`,
 * if that is a request. */
static void
bring_forward(med_self *self, med_pending_queue *queue, const med_pending *had)
{
    med_requests *requests = &self->system->requests;
    for (med_pending **at = &queue->first; *at && !(*at)->behind;) {
        med_pending *pending = *at;
        if (!enter(requests, pending, had)) {
            continue;
        }
        medley_status_t status = attempt(self, pending);
        if (status == MEDLEY_BUSY) {
            leave(requests, pending, had);
            at = &pending->next;
        } else {
            end(requests, pending, status, had);
        }
    }
}

void
med_pending_end_all(med_self *self, med_pending_queue *queue, medley_status_t status)
{
    med_requests *requests = &self->system->requests;
    while (queue->first) {
        if (enter(requests, queue->first, NULL)) {
            end(requests, queue->first, status, NULL);
        }
    }
}

/* ---- What others canceled -------------------------------------------------------------------- */

bool
med_pending_sweep(const med_requests *requests, const med_pending_queue *queue)
{
    bool any = false;
    for (med_pending *const *at = &queue->first; *at;) {
        med_pending *pending = *at;
        if (enter(requests, pending, NULL)) {
            leave(requests, pending, NULL);
            at = &pending->next;
        } else {
            any = true; /* and another is there */
        }
    }
    return any;
}

bool
med_pending_sweep_all(const med_self *self)
{
    const med_requests *requests = &self->system->requests;
    bool any = med_pending_sweep(requests, &self->exchange->gets);
    for (uint32_t i = 0; i < self->system->endpoints.row_count; i++) {
        const med_endpoint_own *own = &self->exchange->exchange->endpoints[i];
        /* Relaxed: own, if it is so; then the rest is, too. */
        if (atomic32_load_relaxed(&own->owner) == self->ref) {
            any = med_pending_sweep(requests, &own->sends) || any;
            any = med_pending_sweep(requests, &own->receives) || any;
            any = med_pending_sweep(requests, &own->opens) || any;
        }
    }
    return any;
}

void
med_pending_each_slice(med_self *self)
{
    (void)med_pending_sweep_all(self);
    med_lanes_give_up_wanted(self);
}

medley_status_t
med_pending_place(med_self *self, const med_request_operations *operations, med_request **request)
{
    med_requests *requests = &self->system->requests;
    const uint32_t maker = med_request_maker_exchanging(self->ref);
    medley_status_t status =
        med_request_begin(requests, maker, &self->next_request, operations, request);
    if (status == MEDLEY_ERR_LIMIT && med_port_has_threads() && med_pending_sweep_all(self)) {
        status = med_request_begin(requests, maker, &self->next_request, operations, request);
    }
    if (status == MEDLEY_ERR_LIMIT) {
        med_requests_report_limit(requests);
    }
    return status;
}

/* ---- The other side's life ------------------------------------------------------------------- */

/* Only those in front are under way. */
static void
look(const med_pending_queue *queue)
{
    if (!med_port_has_processes()) {
        return;
    }
    for (med_pending *p = queue->first; p && !p->behind; p = p->next) {
        if (p->look) {
            p->look(p);
        }
    }
}

/* Who only asks again and again looks now and then. */
static void
glance(med_self *self, const med_pending_queue *queue)
{
    if (queue->first && med_exchange_look_due(self)) {
        look(queue);
    }
}

/* ---- As requests ----------------------------------------------------------------------------- */

/* Who waits for several looks at one after the other, and needs each queue brought forward once. */
static bool
is_due(med_pending_queue *queue, uint32_t look)
{
    bool done = look && queue->look == look;
    queue->look = look;
    return !done;
}

/* By the thread that asked, both. */
static med_request_state
progress(void *context, med_request_outcome *outcome)
{
    med_pending *pending = context;
    med_self *self = pending->self;
    if (!is_due(pending->queue, self->exchange->look)) {
        return MED_REQUEST_VALID;
    }
    bring_forward(self, pending->queue, pending);
    if (pending->queue) {
        glance(self, pending->queue);
        return MED_REQUEST_VALID;
    }
    *outcome = pending->outcome;
    return MED_REQUEST_COMPLETED;
}

static bool
cancel(void *context)
{
    take_out(context);
    return true;
}

static const med_request_operations operations = {
    .progress = progress, .cancel = cancel, .queued = true};

medley_status_t
med_pending_begin(med_self *self,
                  med_pending_queue *queue,
                  const med_pending *asked,
                  med_request_handle *handle)
{
    med_requests *requests = &self->system->requests;
    med_request *request;
    medley_status_t status = med_pending_place(self, &operations, &request);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_pending *pending = (med_pending *)(void *)request->context;
    *pending = *asked;
    pending->self = self;
    append(queue, pending);
    bring_forward(self, queue, pending);
    *handle = pending->queue ? med_request_start(requests, request)
                             : med_request_end_at_once(requests, request, pending->outcome);
    return MEDLEY_OK;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static bool
has_ended(void *context)
{
    med_pending *pending = context;
    if (pending->queue) {
        bring_forward(pending->self, pending->queue, pending);
    }
    return !pending->queue;
}

static medley_status_t
look_at_peer(void *context)
{
    const med_pending *pending = context;
    look(pending->queue);
    med_pending_slice(pending->self);
    return MEDLEY_OK;
}

/* Whose it is, where that is told; 0: it goes by none. */
static uint32_t
endpoint_of(const med_pending *pending)
{
    bool is_told = med_traced_is_on(pending->self->system) && pending->own;
    return is_told ? atomic32_load_relaxed(&pending->own->handle) : 0; /* relaxed: own */
}

medley_status_t
med_pending_wait(med_self *self, med_pending_queue *queue, med_pending *asked, uint64_t deadline_ns)
{
    asked->self = self;
    append(queue, asked);
    const med_wait_request wait = {.condition = has_ended,
                                   .each_slice = med_port_has_threads() ? look_at_peer : NULL,
                                   .context = asked,
                                   .deadline_ns = deadline_ns,
                                   .scope = self->scope};
    const med_traced_wait what = asked->own && queue == &asked->own->receives
                                     ? MED_TRACED_WAIT_RECEIVE
                                     : MED_TRACED_WAIT_SEND;
    uint32_t begun = med_traced_wait_begin(self, what, endpoint_of(asked));
    medley_status_t status = med_wait_until(&self->row->news, &self->waiter, &wait);
    med_traced_wait_end(self, what, begun);
    if (status == MEDLEY_OK) {
        return asked->outcome.status;
    }
    glance(self, queue);
    take_out(asked);
    return status;
}

typedef struct watched {
    med_self *self;
    const med_request_handle *handles;
    size_t count;
} watched;

/* Of all that the node asked for. */
static medley_status_t
look_at_peers(void *context)
{
    med_self *self = ((const watched *)context)->self;
    for (uint32_t i = 0; i < self->system->endpoints.row_count; i++) {
        const med_endpoint_own *own = &self->exchange->exchange->endpoints[i];
        /* Relaxed: own, if it is so; then the rest is, too. */
        if (atomic32_load_relaxed(&own->owner) == self->ref) {
            look(&own->sends);
            look(&own->receives);
        }
    }
    med_pending_slice(self);
    return MEDLEY_OK;
}

/* A look begins. Those of others are over when those do it, who wake everybody then. */
static void
watch(void *context)
{
    const watched *w = context;
    med_requests *requests = &w->self->system->requests;
    w->self->exchange->look = ++w->self->exchange->looks;
    if (med_port_has_threads() &&
        med_requests_are_others(requests, w->self->ref, w->handles, w->count)) {
        med_exchange_flag_raise(w->self, &requests->watched);
    }
}

medley_status_t
med_pending_wait_any(med_self *self,
                     const med_request_handle *handles,
                     size_t count,
                     uint64_t deadline_ns,
                     size_t *which,
                     med_request_outcome *outcome)
{
    watched all = {.self = self, .handles = handles, .count = count};
    const med_request_wait how = {.place = &self->row->news,
                                  .scope = self->scope,
                                  .waiter = &self->waiter,
                                  .deadline_ns = deadline_ns,
                                  .each_slice = med_port_has_threads() ? look_at_peers : NULL,
                                  .each_look = watch,
                                  .context = &all};
    uint32_t begun = med_traced_wait_begin(self, MED_TRACED_WAIT_REQUEST, 0);
    medley_status_t status =
        med_request_wait_any(&self->system->requests, &how, handles, count, which, outcome);
    med_traced_wait_end(self, MED_TRACED_WAIT_REQUEST, begun);
    self->exchange->look = 0;
    return status;
}
