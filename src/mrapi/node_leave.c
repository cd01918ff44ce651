/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A node leaves: by med_node_leave (its own thread, in order or at the thread's end) or by
 * med_node_recover (its process died). Both free what it holds by the same code: a lock left locked
 * is a lock whose owner died.
 *
 * The row goes last: as long as it is there, what is left of the node is found again. So a recovery
 * that dies, or gives up because somebody has a table locked, is succeeded by another, and each
 * step may be done twice. A row that its own process could not remove is in the phase LEFT: who
 * registers next there tries again (U1 to U4).
 *
 * A process that takes a node of its own for one that left gives up what its thread uses. So it
 * does not ask the row, which others may have written over, but `left`, in its own memory.
 */
#include "mrapi/node.h"

#include "base/log.h"
#include "mrapi/event.h"
#include "mrapi/node_life.h"
#include "mrapi/parts.h"
#include "mrapi/system.h"
#include "mrapi/traced.h"

/* ---- What it holds --------------------------------------------------------------------------- */

/* Frees what the node holds of one kind. Only where its map says it ever took any. Without `buries`
 * a mutex with priority inheritance that names the thread only is left to who wants it next. */
static medley_status_t
kind_recover(med_system *system, med_kind kind, med_node_row *row, uint32_t ref, bool buries)
{
    uint32_t first = med_kind_touch_first(&system->limits, kind);
    uint32_t words = med_kind_touch_first(&system->limits, (med_kind)(kind + 1)) - first;
    medley_status_t status = MEDLEY_OK;
    for (uint32_t word = 0; word < words && status == MEDLEY_OK; word++) {
        /* Relaxed, both: their writer is the caller, or dead. */
        uint32_t bits = atomic32_load_relaxed(&med_node_touched(row)[first + word]);
        for (; bits && status == MEDLEY_OK; bits &= bits - 1) {
            uint32_t bit = word * 32 + (uint32_t)__builtin_ctz(bits);
            uint32_t thread_id = buries ? atomic32_load_relaxed(&row->thread_id) : 0;
            status = med_kinds[kind].recover_rows(system, bit * MED_ROWS_PER_TOUCH,
                                                  MED_ROWS_PER_TOUCH, ref, thread_id);
        }
    }
    return status;
}

/* All kinds, whatever one of them says: who waits for a lock need not wait for a table. */
static medley_status_t
locks_recover(med_system *system, med_node_row *row, uint32_t ref)
{
    medley_status_t status = MEDLEY_OK;
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        if (med_kinds[k].recover_rows &&
            kind_recover(system, (med_kind)k, row, ref, true) != MEDLEY_OK) {
            status = MEDLEY_TIMEOUT;
        }
    }
    med_parts_node_recover(system, ref);
    return status;
}

/* Those that need no table, as a burial does. */
medley_status_t
med_node_recover_locks(med_system *system, uint32_t index, uint32_t generation)
{
    static const med_kind kinds[] = {MED_KIND_MUTEX, MED_KIND_SEM, MED_KIND_RWL};
    for (uint32_t i = 0; med_port_has_processes() && i < sizeof kinds / sizeof kinds[0]; i++) {
        (void)kind_recover(system, kinds[i], med_system_node(system, index),
                           med_node_ref(index, generation), false);
    }
    return MEDLEY_TIMEOUT;
}

/* ---- Leaving --------------------------------------------------------------------------------- */

medley_status_t
med_node_recover(med_system *system, uint32_t index, uint32_t generation)
{
    med_node_row *row = med_system_node(system, index);
    medley_status_t status = locks_recover(system, row, med_node_ref(index, generation));
    if (med_port_has_processes()) {
        med_traced_recover(system, med_node_ref(index, generation));
    }
    if (status == MEDLEY_OK) {
        status = med_port_has_processes() /* else no place is kept */
                     ? med_node_remove(system, index, generation)
                     : med_table_remove(&system->nodes, index, generation);
    }
    return status == MEDLEY_TIMEOUT ? status : MEDLEY_OK;
}

/* Relaxed: asked by the same thread, by one that its end is known to, or by U2; by another, who
 * asks for what was written over, it may be missed. */
static void
says_left(med_system *system, uint32_t index, uint32_t generation)
{
    atomic32_store_relaxed(&system->selves[index].left, med_node_ref(index, generation));
}

bool
med_node_has_left(const med_system *system, uint32_t node_ref)
{
    const med_self *self = &system->selves[med_node_ref_index(node_ref)];
    return atomic32_load_relaxed(&self->left) == node_ref; /* relaxed: see says_left */
}

static void
leave_undone(med_system *system)
{
    /* U1 left -> U2 (med_node_leaves_finish). Not a store: who looks is told by all who did so
     * since it was cleared, and not only by the last of them. */
    (void)atomic32_fetch_or_release(&system->leaves_undone, 1);
}

medley_status_t
med_node_row_leave(med_system *system, uint32_t index, uint32_t generation)
{
    med_node_row *row = med_system_node(system, index);
    says_left(system, index, generation);
    medley_status_t status = med_node_recover(system, index, generation);
    if (status == MEDLEY_TIMEOUT) {
        /* U3 self no longer used -> U4 (med_node_leaves_finish), who may look for another's sake.
         * Relaxed: who had to do without a table waited for it, and gave up behind the heavy
         * barrier (lock.c), having done with self before. */
        atomic32_store_relaxed(&row->phase, MED_NODE_LEFT);
        leave_undone(system);
    }
    return status;
}

/* The join does the rest. Relaxed: the thread's end orders it. */
static medley_status_t
leave_to_be_joined(med_self *self)
{
    says_left(self->system, self->index, self->generation);
    medley_status_t status = locks_recover(self->system, self->row, self->ref);
    atomic32_store_relaxed(&self->row->phase, MED_NODE_ENDED);
    return status;
}

void
med_node_goes_tell(const med_self *self)
{
    if (med_log_wanted(MED_LOG_DEBUG)) {
        med_node_tell("goes", self);
    }
    med_traced(self->system, self->ref, MED_TRACED_NODE_GOES, self->domain, self->node);
    med_event_tell(MEDLEY_EVENT_NODE_GOES);
}

/* Of this process, and not told to have gone. Relaxed, all, as the row's state: it is for showing,
 * and what this process has written itself. */
static bool
is_own_thread(const med_system *system, const med_node_row *row)
{
    uint32_t phase = atomic32_load_relaxed(&row->phase);
    return atomic32_load_relaxed(&row->process_ref) == system->process_ref &&
           (phase == MED_NODE_STARTING || phase == MED_NODE_RUNNING);
}

void
med_node_exits_tell(const med_system *system)
{
    for (uint32_t i = 0; med_traced_is_on(system) && i < system->limits.nodes; i++) {
        const med_node_row *row = med_system_node(system, i);
        uint32_t word = atomic32_load_relaxed(&row->row.state); /* relaxed: see is_own_thread */
        if (med_row_state_of(word) == MED_ROW_LIVE && is_own_thread(system, row)) {
            med_traced(system, med_node_ref(i, med_row_generation_of(word)), MED_TRACED_NODE_GOES,
                       med_traced_word(&row->row.key_high), med_traced_word(&row->row.key_low));
        }
    }
}

medley_status_t
med_node_leave(med_self *self)
{
    med_system *system = self->system;
    med_node_stand_in again = {.quiet = true};
    bool of_runtime = med_port_has_processes() && self->of_runtime;
    if (of_runtime) {
        med_node_name_get(self->row, again.name);
    }
    med_node_goes_tell(self);
    med_port_self_set(NULL);
    med_parts_node_leaves(self);
    if (self->joinable) { /* its thread's end: it is the runtime's no longer */
        return leave_to_be_joined(self);
    }
    medley_status_t status = med_node_row_leave(system, self->index, self->generation);
    if (of_runtime) {
        (void)med_node_stand_in_put(system, &again);
    }
    med_system_release(system);
    return status;
}

medley_status_t
med_node_leaves_finish(med_system *system)
{
    if (!med_port_has_processes()) {
        return MEDLEY_OK; /* no table is ever kept from its users */
    }
    /* Cleared first: who fails while this looks sets it again. Relaxed, the first look: it saves
     * the second. U2 left <- U1 (leave_undone) */
    if (!atomic32_load_relaxed(&system->leaves_undone) ||
        !atomic32_fetch_and_acquire(&system->leaves_undone, 0)) {
        return MEDLEY_OK;
    }
    for (uint32_t i = 0; i < system->limits.nodes; i++) {
        const med_node_row *row = med_system_node(system, i);
        /* Relaxed: of another life, `left` tells, and remove refuses. */
        uint32_t word = atomic32_load_relaxed(&row->row.state);
        uint32_t generation = med_row_generation_of(word);
        /* U4 self no longer used <- U3 (med_node_row_leave) */
        if (med_row_state_of(word) == MED_ROW_LIVE &&
            atomic32_load_acquire(&row->phase) == MED_NODE_LEFT &&
            med_node_has_left(system, med_node_ref(i, generation)) &&
            med_node_recover(system, i, generation) == MEDLEY_TIMEOUT) {
            leave_undone(system);
            return MEDLEY_TIMEOUT;
        }
    }
    return MEDLEY_OK;
}
