/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Pending operations. What may run together: on one queue nothing, it is a thread's own; on one
 * request, whatever request.c says. A request's context is changed by the thread that asked, and by
 * no other: who tests it from elsewhere reads only `self`, which is fixed, and is told "not yet"
 * until the thread that asked has brought it to its end and told the request so (end). Only that
 * thread cancels it.
 *
 * Progress: one try of each, from the first on, up to the first that cannot be done. Death: a
 * request goes with its process.
 */
#include "mcapi/pending.h"

#include "mcapi/endpoint.h"
#include "mcapi/locked.h"
#include "mrapi/system.h"

/* ---- Queues ---------------------------------------------------------------------------------- */

static void
append(med_pending_queue *queue, med_pending *pending)
{
    pending->queue = queue;
    pending->next = NULL;
    if (queue->last) {
        queue->last->next = pending;
    } else {
        queue->first = pending;
    }
    queue->last = pending;
}

static void
take_out(med_pending *pending)
{
    med_pending_queue *queue = pending->queue;
    med_pending *before = NULL;
    for (med_pending *p = queue->first; p != pending; p = p->next) {
        before = p;
    }
    *(before ? &before->next : &queue->first) = pending->next;
    queue->last = queue->last == pending ? before : queue->last;
    pending->queue = NULL;
}

/* Of a request other threads are told, unless the caller has its turn, and will tell them: nothing
 * of it is touched afterwards. */
static void
end(med_pending *pending, medley_status_t status, const med_pending *had)
{
    pending->outcome.status = status;
    take_out(pending);
    if (med_port_has_threads() && pending != had) {
        med_request_tell(&pending->self->system->requests, pending, pending->outcome);
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

/* From the first on, what can be done. The caller has the turn of `had`, if that is a request. */
static void
bring_forward(med_self *self, med_pending_queue *queue, const med_pending *had)
{
    while (queue->first) {
        med_pending *first = queue->first;
        medley_status_t status = attempt(self, first);
        if (status == MEDLEY_BUSY) {
            return;
        }
        end(first, status, had);
    }
}

void
med_pending_end_all(med_pending_queue *queue, medley_status_t status)
{
    while (queue->first) {
        end(queue->first, status, NULL);
    }
}

/* Only the first of a queue is under way. */
static void
look(const med_pending_queue *queue)
{
    if (med_port_has_processes() && queue->first && queue->first->look) {
        queue->first->look(queue->first);
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

static med_request_state
progress(void *context, med_request_outcome *outcome)
{
    med_pending *pending = context;
    if (pending->self != med_self_get()) {
        return MED_REQUEST_VALID;
    }
    if (pending->queue) {
        bring_forward(pending->self, pending->queue, pending);
    }
    if (pending->queue) {
        glance(pending->self, pending->queue);
        return MED_REQUEST_VALID;
    }
    *outcome = pending->outcome;
    return MED_REQUEST_COMPLETED;
}

static bool
cancel(void *context)
{
    med_pending *pending = context;
    if (pending->self != med_self_get() || !pending->queue) {
        return false;
    }
    take_out(pending);
    return true;
}

static const med_request_operations operations = {.progress = progress, .cancel = cancel};

medley_status_t
med_pending_begin(med_self *self,
                  med_pending_queue *queue,
                  const med_pending *asked,
                  med_request_handle *handle)
{
    med_requests *requests = &self->system->requests;
    med_request *request;
    medley_status_t status = med_request_begin(requests, self->ref, &operations, &request);
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
    return MEDLEY_OK;
}

medley_status_t
med_pending_wait(med_self *self, med_pending_queue *queue, med_pending *asked, uint64_t deadline_ns)
{
    asked->self = self;
    append(queue, asked);
    const med_wait_request wait = {.condition = has_ended,
                                   .each_slice = med_port_has_processes() ? look_at_peer : NULL,
                                   .context = asked,
                                   .deadline_ns = deadline_ns,
                                   .scope = self->scope};
    medley_status_t status = med_wait_until(&self->row->news, &self->waiter, &wait);
    if (status == MEDLEY_OK) {
        return asked->outcome.status;
    }
    glance(self, queue);
    take_out(asked);
    return status;
}

/* Of all that the node asked for. */
static medley_status_t
look_at_peers(void *context)
{
    const med_self *self = context;
    for (uint32_t i = 0; i < self->system->endpoints.row_count; i++) {
        const med_endpoint_own *own = &self->exchange->exchange->endpoints[i];
        /* Relaxed: own, if it is so; then the rest is, too. */
        if (atomic32_load_relaxed(&own->owner) == self->ref) {
            look(&own->sends);
            look(&own->receives);
        }
    }
    return MEDLEY_OK;
}

medley_status_t
med_pending_wait_any(med_self *self,
                     const med_request_handle *requests,
                     size_t count,
                     uint64_t deadline_ns,
                     size_t *which,
                     med_request_outcome *outcome)
{
    const med_request_wait how = {.place = &self->row->news,
                                  .scope = self->scope,
                                  .waiter = &self->waiter,
                                  .deadline_ns = deadline_ns,
                                  .each_slice = med_port_has_processes() ? look_at_peers : NULL,
                                  .context = self};
    return med_request_wait_any(&self->system->requests, &how, requests, count, which, outcome);
}
