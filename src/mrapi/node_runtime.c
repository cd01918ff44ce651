/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Threads of a language's runtime (OpenMP's): nodes where somebody asked for a named system.
 *
 * The program does not know of it. So such a thread stands in the table of nodes, where others see
 * what this process has, and where its death takes it away; but it is nobody for the calls of MRAPI
 * and MCAPI, as any thread that has not become a node: what they answer does not depend on whether
 * the process was asked into a system. Makes the program the thread a node, of a number of its own
 * choice, then that is the thread's one node, with the name that the thread had; the runtime's row
 * goes, and comes back when the program's node has left.
 *
 * A thread finds its row by its number, among the rows of its process. Nobody else looks for it:
 * the row is written by its own thread, or by who recovers its process. A thread has no memory of
 * it, so none that a child of fork could inherit.
 */
#include "mrapi/node.h"

#include "base/text.h"
#include "mrapi/domain.h"
#include "mrapi/event.h"
#include "mrapi/node_life.h"
#include "mrapi/system.h"
#include "mrapi/traced.h"

#define DOMAIN 1u /* of these nodes */

/* ---- Names ----------------------------------------------------------------------------------- */

/* And says so. */
static void
name_give(med_self *self, const char *name)
{
    med_node_name_set(self->row, name);
    if (med_traced_is_on(self->system)) {
        med_traced_letters(self->system, self->ref, MED_TRACED_NODE_NAMED, name);
    }
}

/* Relaxed, all of it: for showing. */
void
med_node_name_set(med_node_row *row, const char *name)
{
    uint32_t words[MED_NODE_NAME_BYTES / 4] = {0};
    med_text_copy((char *)words, sizeof words, name);
    for (uint32_t i = 0; i < MED_NODE_NAME_BYTES / 4; i++) {
        atomic32_store_relaxed(&row->name[i], words[i]); /* relaxed: as above, both */
    }
    atomic32_store_relaxed(&row->named, atomic32_load_relaxed(&row->row.state));
}

void
med_node_name_get(const med_node_row *row, char name[MED_NODE_NAME_BYTES])
{
    uint32_t words[MED_NODE_NAME_BYTES / 4] = {0};
    /* Relaxed: as above, all three. */
    if (atomic32_load_relaxed(&row->named) == atomic32_load_relaxed(&row->row.state)) {
        for (uint32_t i = 0; i < MED_NODE_NAME_BYTES / 4; i++) {
            words[i] = atomic32_load_relaxed(&row->name[i]);
        }
    }
    med_text_copy(name, MED_NODE_NAME_BYTES, (const char *)words);
}

/* Has this process ever had such nodes? Else nobody need look for one. */
static atomic32 were_lent;

/* ---- The calling thread's row ---------------------------------------------------------------- */

/* Relaxed throughout: the rows that it looks for are its own, and others differ in something that
 * does not change as long as they are there. */
static bool
is_mine(const med_system *system, const med_node_row *row, uint32_t thread_id)
{
    return med_row_state_of(atomic32_load_relaxed(&row->row.state)) == MED_ROW_LIVE &&
           atomic32_load_relaxed(&row->thread_id) == thread_id &&
           atomic32_load_relaxed(&row->process_ref) == system->process_ref &&
           atomic32_load_relaxed(&row->kind) == MED_NODE_RUNTIME &&
           atomic32_load_relaxed(&row->phase) == MED_NODE_RUNNING;
}

/* NULL: it has none. */
static med_self *
find_mine(const med_system *system)
{
    uint32_t thread_id = med_port_thread_id();
    for (uint32_t i = 0; i < system->limits.nodes; i++) {
        if (is_mine(system, med_system_node(system, i), thread_id)) {
            return &system->selves[i];
        }
    }
    return NULL;
}

medley_status_t
med_node_stand_in_put(med_system *system, const med_node_stand_in *wanted)
{
    const med_node_request request = {
        .domain = DOMAIN, .node = MED_NODE_ANY, .kind = MED_NODE_RUNTIME, .quiet = wanted->quiet};
    med_self *self;
    medley_status_t status = med_node_register(system, &request, &self);
    if (status == MEDLEY_OK) {
        name_give(self, wanted->name);
        med_node_arrive(self);
        med_event_tell(MEDLEY_EVENT_NODE_COMES);
    }
    return status;
}

static void
stand_in_leave(med_system *system, const med_self *self)
{
    med_node_goes_tell(self);
    (void)med_node_row_leave(system, self->index, self->generation);
    med_system_release(system);
}

bool
med_node_stand_in_take(med_system *system, med_node_stand_in *taken)
{
    /* Relaxed: what the calling thread looks for it has done itself. */
    bool may_be = med_system_is_shared(system) && atomic32_load_relaxed(&were_lent) != 0;
    const med_self *self = may_be ? find_mine(system) : NULL;
    if (self) {
        *taken = (med_node_stand_in){.quiet = true};
        med_node_name_get(self->row, taken->name);
        stand_in_leave(system, self);
    }
    return self != NULL;
}

/* ---- The runtime's calls --------------------------------------------------------------------- */

medley_status_t
med_node_lend(const char *name, bool quiet)
{
    med_node_stand_in wanted = {.quiet = quiet};
    med_self *self = med_self_get();
    med_system *system;
    if (!med_system_is_asked_for()) {
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    if (self) { /* the program was first */
        self->of_runtime = true;
        name_give(self, name);
        return MEDLEY_OK;
    }
    medley_status_t status = med_system_attach_default(&system);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_text_copy(wanted.name, sizeof wanted.name, name);
    atomic32_store_relaxed(&were_lent, 1); /* relaxed: for this thread */
    if (!find_mine(system)) {
        status = med_node_stand_in_put(system, &wanted);
    }
    med_system_release(system); /* the row keeps it open now */
    return status;
}

uint32_t
med_node_ref_here(const med_system *system)
{
    const med_self *self = med_self_get();
    if (!self) {
        self = find_mine(system);
    }
    return self && self->system == system ? self->ref : 0;
}

void
med_node_lend_end(void)
{
    med_self *self = med_self_get();
    med_system *system = med_system_retain_named();
    if (self) {
        self->of_runtime = false;
    }
    if (system) {
        self = find_mine(system);
        if (self) {
            stand_in_leave(system, self);
        }
        med_system_release(system);
    }
}
