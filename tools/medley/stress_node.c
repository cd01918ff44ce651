/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The loop of the paper's section 4. A node has an end of each of its channels; it goes round them,
 * and at each starts what is next, or looks whether what it started has ended: a wait with an
 * immediate timeout (stress_kind.c). When a whole round brought nothing it yields. It is done when
 * each end has moved its last transaction.
 */
#include "tools/medley/stress_node.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "medley/mcapi_ext.h"
#include "mrapi/node.h"
#include "port/port.h"
#include "tools/medley/stress_kind.h"

#define SETUP_TIMEOUT_US 20000000u

const char *const stress_state_names[STRESS_STATES] = {
    [STRESS_STARTING] = "starting",     [STRESS_PREPARING] = "preparing",
    [STRESS_CONNECTING] = "connecting", [STRESS_RUNNING] = "running",
    [STRESS_CLOSING] = "closing",       [STRESS_LEAVING] = "leaving",
};

/* ---- Setting up ------------------------------------------------------------------------------ */

static bool
await(const stress_node *n, stress_end *e, const char *what, mcapi_status_t status)
{
    size_t size;
    if (status == MCAPI_SUCCESS || status == MCAPI_PENDING) {
        (void)mcapi_wait(&e->request, &size, SETUP_TIMEOUT_US, &status);
    }
    return stress_good(n, e, what, status);
}

static bool
attribute_set(const stress_node *n, const stress_end *e, mcapi_uint_t attribute, mcapi_uint_t value)
{
    mcapi_status_t status;
    mcapi_endpoint_set_attribute(e->own, attribute, &value, sizeof value, &status);
    return stress_good(n, e, "an endpoint's attribute", status);
}

/* Scalars are not asked for: each call succeeds or fails at once. A state's length is agreed on. */
static bool
attributes_set(const stress_node *n, const stress_end *e)
{
    bool well = true;
    if (e->kind->connect) {
        well = attribute_set(n, e, MCAPI_ENDP_ATTR_PRIORITY, e->channel->priority);
    }
    if (well && e->channel->type == DEPLOYMENT_SCALAR) {
        well = attribute_set(n, e, MCAPI_ENDP_ATTR_MEMORY_TYPE,
                             MCAPI_ENDP_ATTR_LOCAL_MEMORY | MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT) &&
               attribute_set(n, e, MCAPI_ENDP_ATTR_TIMEOUT, 0);
    }
    if (well && e->channel->type == DEPLOYMENT_STATE) {
        well = attribute_set(n, e, MCAPI_ENDP_ATTR_BUFFER_TYPE, MCAPI_ENDP_ATTR_STATE_BUFFER) &&
               attribute_set(n, e, MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, e->channel->size_bytes);
    }
    return well;
}

/* Each end has a port of its own: two for each channel. */
static mcapi_port_t
port_of(const stress_end *e, bool sends)
{
    return e->index * 2 + sends;
}

static bool
endpoint_make(const stress_node *n, stress_end *e)
{
    mcapi_status_t status;
    e->payload = calloc(1, e->channel->size_bytes);
    if (!e->payload) {
        return stress_wrong(n, e, "no memory");
    }
    e->own = mcapi_endpoint_create(port_of(e, e->sends), &status);
    return stress_good(n, e, "making an endpoint", status) && attributes_set(n, e);
}

/* The sender connects. */
static bool
connect(const stress_node *n, stress_end *e)
{
    mcapi_status_t status;
    uint32_t other = e->sends ? e->channel->to : e->channel->from;
    e->peer =
        mcapi_endpoint_get(STRESS_DOMAIN, other, port_of(e, !e->sends), SETUP_TIMEOUT_US, &status);
    if (!stress_good(n, e, "finding the other endpoint", status)) {
        return false;
    }
    if (!e->sends || !e->kind->connect) {
        return true;
    }
    e->kind->connect(e->own, e->peer, &e->request, &status);
    return await(n, e, "connecting", status);
}

static bool
open(const stress_node *n, stress_end *e)
{
    mcapi_status_t status;
    if (!e->kind->connect) {
        return true;
    }
    e->kind->open[e->sends](&e->handle, e->own, &e->request, &status);
    return await(n, e, "opening", status);
}

/* Where this node has an end. */
static bool
ends_find(stress_node *n)
{
    const deployment *d = n->deployment;
    n->ends = calloc((size_t)d->channel_count, sizeof *n->ends);
    if (!n->ends) {
        return stress_wrong(n, NULL, "no memory");
    }
    for (uint32_t i = 0; i < d->channel_count; i++) {
        const deployment_channel *channel = &d->channels[i];
        if (channel->from == n->number || channel->to == n->number) {
            n->ends[n->end_count++] = (stress_end){.kind = &stress_kinds[channel->type],
                                                   .channel = channel,
                                                   .index = i,
                                                   .sends = channel->from == n->number,
                                                   .next = 1};
        }
    }
    return true;
}

static bool
for_each_end(stress_node *n, bool (*act)(const stress_node *n, stress_end *e))
{
    for (uint32_t i = 0; i < n->end_count; i++) {
        if (!act(n, &n->ends[i])) {
            return false;
        }
    }
    return true;
}

/* ---- Fairness -------------------------------------------------------------------------------- */

/* How far an end is, of all that it is to move, in ten thousandths. */
static uint64_t
part_moved(const stress_end *e)
{
    return (uint64_t)(e->next - 1) * STRESS_WHOLE / e->channel->count;
}

static bool
is_like(const stress_end *e, const stress_end *other)
{
    const deployment_channel *one = e->channel, *two = other->channel;
    return !e->sends && one->type == two->type && one->size_bytes == two->size_bytes &&
           one->priority == two->priority;
}

/* A channel to this node has brought its last. If it is the first of its sort: how far the last one
 * is, of what all are in the mean. With senders that go on without end it is their share of the
 * receiver. Of states the last may come at once. */
static void
share_note(const stress_node *n, const stress_end *first)
{
    uint64_t all = 0, least = STRESS_WHOLE, over = 0, ends = 0;
    for (uint32_t i = 0; i < n->end_count; i++) {
        const stress_end *e = &n->ends[i];
        if (is_like(e, first)) {
            uint64_t part = part_moved(e);
            all += part;
            least = part < least ? part : least;
            over += part == STRESS_WHOLE;
            ends++;
        }
    }
    if (first->channel->type == DEPLOYMENT_STATE || ends < 2 || over != 1) {
        return;
    }
    stress_record *record = n->record;
    uint32_t share = (uint32_t)(least * ends * STRESS_WHOLE / all);
    if (!record->shares || share < record->worst_share) {
        record->shares = true;
        record->worst_share = share;
    }
}

/* ---- The loop -------------------------------------------------------------------------------- */

static void
moved_one(const stress_node *n, stress_end *e)
{
    stress_count_add(e->sends ? &n->record->sent : &n->record->received, 1);
    e->next++;
    e->tries = 0;
    if (!e->sends && e->next > e->channel->count) {
        share_note(n, e);
    }
}

static void
moved_none(const stress_node *n, stress_end *e)
{
    n->record->retries++;
    e->tries++;
    n->record->retries_worst =
        e->tries > n->record->retries_worst ? e->tries : n->record->retries_worst;
}

/* One round. False: something went wrong. */
static bool
round_once(const stress_node *n, bool *moved, bool *over)
{
    *moved = false;
    *over = true;
    for (uint32_t i = 0; i < n->end_count; i++) {
        stress_end *e = &n->ends[i];
        if (e->next > e->channel->count) {
            continue;
        }
        *over = false;
        stress_progress p = e->kind->move[e->sends](n, e);
        if (p == STRESS_WRONG) {
            return false;
        }
        if (p == STRESS_DONE) {
            moved_one(n, e);
            *moved = true;
        } else {
            moved_none(n, e);
        }
    }
    return true;
}

static bool
loop(const stress_node *n)
{
    bool moved, over;
    do {
        if (!round_once(n, &moved, &over)) {
            return false;
        }
        if (!moved && !over) {
            n->record->yields++;
            (void)sched_yield();
        }
    } while (!over);
    return true;
}

static uint64_t
thread_clock_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* What it takes of the processors. */
static bool
loop_measured(const stress_node *n)
{
    stress_record *record = n->record;
    struct rusage before, after;
    uint32_t sleeps = med_self_get()->waiter.sleeps;
    (void)getrusage(RUSAGE_THREAD, &before);
    uint64_t worked_ns = thread_clock_ns();
    record->begin_ns = med_port_clock_ns();
    bool well = loop(n);
    record->end_ns = med_port_clock_ns();
    record->worked_ns = thread_clock_ns() - worked_ns;
    (void)getrusage(RUSAGE_THREAD, &after);
    record->wake_ups = med_self_get()->waiter.sleeps - sleeps;
    record->switches = (uint64_t)(after.ru_nvcsw - before.ru_nvcsw) +
                       (uint64_t)(after.ru_nivcsw - before.ru_nivcsw);
    return well;
}

/* ---- Running down ---------------------------------------------------------------------------- */

/* Of states that it received. */
static void
copies_count(const stress_node *n, const stress_end *e)
{
    medley_mcapi_state_counts_t counts;
    mcapi_status_t status;
    stress_record *record = n->record;
    medley_mcapi_state_counts_get(e->handle, &counts, &status);
    if (status == MCAPI_SUCCESS) {
        record->copies_again += counts.retries;
        record->copies_again_worst = counts.retries_worst > record->copies_again_worst
                                         ? counts.retries_worst
                                         : record->copies_again_worst;
    }
}

static bool
close(const stress_node *n, stress_end *e)
{
    mcapi_status_t status;
    if (!e->kind->connect) {
        return true;
    }
    if (e->channel->type == DEPLOYMENT_STATE && !e->sends) {
        copies_count(n, e);
    }
    e->kind->close[e->sends](e->handle, &e->request, &status);
    return await(n, e, "closing", status);
}

static bool
endpoint_delete(const stress_node *n, stress_end *e)
{
    mcapi_status_t status;
    free(e->payload);
    mcapi_endpoint_delete(e->own, &status);
    return stress_good(n, e, "deleting an endpoint", status);
}

static void
state_set(const stress_node *n, stress_state state)
{
    atomic32_store_relaxed(&n->record->state, state); /* relaxed: for showing */
}

static bool
run(stress_node *n, stress_shared *shared)
{
    state_set(n, STRESS_PREPARING);
    if (!ends_find(n) || !for_each_end(n, endpoint_make)) {
        return false;
    }
    (void)pthread_barrier_wait(&shared->step); /* what is connected cannot be set any more */
    state_set(n, STRESS_CONNECTING);
    if (!for_each_end(n, connect) || !for_each_end(n, open)) {
        return false;
    }
    (void)pthread_barrier_wait(&shared->step);
    state_set(n, STRESS_RUNNING);
    if (!loop_measured(n)) {
        return false;
    }
    state_set(n, STRESS_CLOSING);
    return for_each_end(n, close) && for_each_end(n, endpoint_delete);
}

/* ---- Processors ------------------------------------------------------------------------------ */

/* The processor that a node goes to, of those that it may be on: there is one at least. */
static size_t
processor_of(uint32_t affinity, uint32_t number, const cpu_set_t *allowed)
{
    uint32_t count = (uint32_t)CPU_COUNT(allowed);
    uint32_t wanted = affinity == DEPLOYMENT_SPREAD ? (number - 1) % count : 0;
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, allowed) && wanted-- == 0) {
            return i;
        }
    }
    return 0;
}

static bool
affinity_set(const stress_node *n)
{
    cpu_set_t allowed, one;
    uint32_t affinity = n->deployment->nodes[n->number].affinity;
    if (affinity == DEPLOYMENT_FREE) {
        return true;
    }
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return stress_wrong(n, NULL, "the processors cannot be asked for");
    }
    size_t processor = processor_of(affinity, n->number, &allowed);
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0 ||
           stress_wrong(n, NULL, "processor %zu cannot be gone to", processor);
}

bool
stress_node_run(const deployment *d, uint32_t number, stress_shared *shared)
{
    mcapi_status_t status;
    mcapi_info_t info;
    stress_node n = {.deployment = d, .record = &shared->records[number - 1], .number = number};
    stress_hear_anew();
    if (!affinity_set(&n)) {
        return false;
    }
    mcapi_initialize(STRESS_DOMAIN, number, NULL, NULL, &info, &status);
    if (!stress_good(&n, NULL, "mcapi_initialize", status)) {
        return false;
    }
    stress_hear_anew();
    bool well = run(&n, shared);
    free(n.ends);
    if (!well) {
        return false;
    }
    mcapi_finalize(&status);
    state_set(&n, STRESS_LEAVING);
    well = stress_good(&n, NULL, "mcapi_finalize", status);
    if (well) {
        stress_hear_anew();
    }
    return well;
}
