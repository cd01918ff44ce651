/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Started nodes: threads that the library makes as nodes, and their joins.
 *
 * One that has ended keeps its row in the phase ENDED until it is joined, as a thread does; the
 * join removes it. A detached one removes its own.
 *
 * Who joins finds the row by its number, and takes the node's word `join` (node_life.h) from READY
 * by a compare-and-swap: of any number of joiners, one. All of that is private to the process, and
 * dies with it; its nodes are recovered as any others.
 */
#include "mrapi/node.h"

#include "base/log.h"
#include "base/text.h"
#include "base/wait.h"
#include "mrapi/domain.h"
#include "mrapi/event.h"
#include "mrapi/node_life.h"
#include "mrapi/system.h"

/* ---- Starting -------------------------------------------------------------------------------- */

static void *
started(void *argument)
{
    med_self *self = argument;
    med_node_enter(self);
    return self->entry(self->argument); /* the thread's end leaves the node (thread_ended) */
}

static void
report_not_started(uint32_t domain, uint32_t node, medley_status_t status)
{
    if (!med_log_wanted(MED_LOG_ERROR)) {
        return;
    }
    const char *why = med_port_thread_refusal(status);
    med_text text = {.length = 0};
    med_text_string(&text, "cannot start a thread for node ");
    med_text_number(&text, node);
    med_text_string(&text, " of domain ");
    med_text_number(&text, domain);
    med_text_string(&text, ": ");
    med_text_string(&text, why ? why : medley_status_text(status));
    med_log(MED_LOG_ERROR, &text);
}

medley_status_t
med_node_start(med_system *system,
               const med_node_request *request,
               const med_port_thread_attributes *attributes,
               void *(*entry)(void *),
               void *argument,
               med_port_thread *thread)
{
    med_self *self;
    medley_status_t status = med_node_register(system, request, &self);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_event_tell(MEDLEY_EVENT_NODE_COMES);
    self->entry = entry;
    self->argument = argument;
    bool joinable = self->joinable; /* a detached one may be gone, its place another's, below */
    uint32_t generation = self->generation;
    med_port_thread handle;
    status = med_port_thread_start(&handle, attributes, started, self);
    if (status != MEDLEY_OK) {
        /* Relaxed: there is nothing to see. Before the row goes, and its place is another's. */
        atomic32_store_relaxed(&self->join, med_node_join_word(MED_NODE_JOIN_NEVER, generation));
        report_not_started(self->domain, self->node, status);
        /* It has come, all were told. */
        med_node_goes_tell(self);
        /* A row that stays, since others have the table, is one of that domain. */
        if (med_node_row_leave(system, self->index, generation) != MEDLEY_TIMEOUT) {
            med_domain_leave(system, request->domain);
        }
        med_system_release(system);
        return status;
    }
    if (joinable) {
        self->thread = handle;
        /* J1 joinable -> J2 (join) */
        atomic32_store_release(&self->join, med_node_join_word(MED_NODE_JOIN_READY, generation));
    }
    if (thread) {
        *thread = handle;
    }
    return MEDLEY_OK;
}

/* ---- Joining --------------------------------------------------------------------------------- */

/* One joins: who takes the word from READY. */
static medley_status_t
join_take(med_self *self, uint32_t generation)
{
    for (uint32_t pauses = 0;;) {
        uint32_t ready = med_node_join_word(MED_NODE_JOIN_READY, generation);
        /* J2 joinable <- J1 (start, join_end) */
        if (atomic32_cas_acquire(&self->join, &ready,
                                 med_node_join_word(MED_NODE_JOIN_TAKEN, generation))) {
            return MEDLEY_OK;
        }
        if (ready == med_node_join_word(MED_NODE_JOIN_STARTING, generation)) {
            med_wait_pause(&pauses); /* whoever starts it may need this very processor */
        } else if (ready == med_node_join_word(MED_NODE_JOIN_TAKEN, generation)) {
            return MEDLEY_BUSY;
        } else if (ready == med_node_join_word(MED_NODE_JOIN_NEVER, generation)) {
            return MEDLEY_ERR_NOT_OWNER;
        } else {
            return MEDLEY_ERR_NOT_FOUND; /* joined meanwhile, and its place another's */
        }
    }
}

/* The port refuses who would wait for himself: the node's own thread, under another number by now.
 * Then another may join it. */
static medley_status_t
join_end(med_self *self, uint32_t generation, void **result)
{
    med_port_thread thread = self->thread; /* copied, so that the simulator sees it read */
    if (med_port_thread_join(thread, result) == MEDLEY_OK) {
        return MEDLEY_OK;
    }
    /* J1 joinable -> J2 (join) */
    atomic32_store_release(&self->join, med_node_join_word(MED_NODE_JOIN_READY, generation));
    return MEDLEY_ERR_ARGUMENT;
}

medley_status_t
med_node_join(med_system *system, uint32_t domain, uint32_t node, void **result)
{
    uint32_t index, generation;
    med_key key = {.high = domain, .low = node};
    if (med_table_find(&system->nodes, key, &index, &generation) != MEDLEY_OK) {
        return MEDLEY_ERR_NOT_FOUND;
    }
    med_self *self = &system->selves[index];
    const med_node_row *row = med_system_node(system, index);
    /* Relaxed: written before the row could be found; of another life, `join` tells. */
    if (atomic32_load_relaxed(&row->process_ref) != system->process_ref) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    if (self == med_self_get()) {
        return MEDLEY_ERR_ARGUMENT;
    }
    medley_status_t status = join_take(self, generation);
    if (status == MEDLEY_OK) {
        status = join_end(self, generation, result);
    }
    if (status != MEDLEY_OK) {
        return status;
    }
    status = med_node_row_leave(system, index, generation);
    med_system_release(system);
    return status;
}
