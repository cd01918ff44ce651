/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What node.c, node_leave.c and node_start.c have of each other.
 *
 * A node's `join` (med_self) is a state with the generation of the row that it speaks of, since
 * other threads look at it as they like.
 */
#ifndef MEDLEY_MRAPI_NODE_LIFE_H
#define MEDLEY_MRAPI_NODE_LIFE_H

#include <stdint.h>

#include "mrapi/domain.h"
#include "mrapi/node.h"

typedef enum med_node_join_state {
    MED_NODE_JOIN_NEVER, /* not started by the library, or detached, or it could not be started */
    MED_NODE_JOIN_STARTING, /* its thread is being made; a join waits for that */
    MED_NODE_JOIN_READY,    /* to be joined; who takes it from here joins, alone */
    MED_NODE_JOIN_TAKEN,    /* somebody joins; back to READY when he cannot */
} med_node_join_state;

static inline uint32_t
med_node_join_word(med_node_join_state state, uint32_t generation)
{
    return (uint32_t)state | generation << 16;
}

/* A node of this process that has no thread any more leaves. MEDLEY_TIMEOUT: not quite; the next
 * med_node_leaves_finish tries again. */
medley_status_t med_node_row_leave(struct med_system *system, uint32_t index, uint32_t generation);
/* The nodes of this process that left and could not remove their rows: once more. */
medley_status_t med_node_leaves_finish(struct med_system *system);

/* How a row begins, a node's or one that keeps a place. Relaxed, all: published with it (T1 in
 * table.c). */
static inline void
med_node_row_begin(med_node_row *row,
                   uint32_t process_ref,
                   med_node_kind kind,
                   med_node_phase phase)
{
    atomic32_store_relaxed(&row->process_ref, process_ref);
    atomic32_store_relaxed(&row->thread_id, 0);
    atomic64_store_relaxed(&row->since_ns, med_port_clock_common_ns());
    atomic32_store_relaxed(&row->kind, (uint32_t)kind);
    atomic32_store_relaxed(&row->phase, (uint32_t)phase);
    atomic32_store_relaxed(&row->waiting_for, 0);
    atomic32_store_relaxed(&row->sleeps, 0);
    atomic32_store_relaxed(&row->making, 0);
}

/* Of a node that holds nothing any more the row goes; where its place is kept, another is expected
 * there in the same hold of the table's lock. MEDLEY_ERR_STALE; MEDLEY_TIMEOUT. */
medley_status_t med_node_remove(struct med_system *system, uint32_t index, uint32_t generation);

/* The row is the calling thread's, and there; to be that node it enters (node.h). */
static inline void
med_node_arrive(med_self *self)
{
    med_domain_keep(self->system, self->domain);
    self->thread_id = med_port_thread_id();
    /* Relaxed, both: for showing, for who recovers the node when it is dead, and for who finds its
     * number in a lock (R4 in mutex_pi.c orders them). */
    atomic32_store_relaxed(&self->row->thread_id, self->thread_id);
    atomic32_store_relaxed(&self->row->phase, MED_NODE_RUNNING);
}

/* ---- node_runtime.c -------------------------------------------------------------------------- */

/* What a thread of a runtime's is shown as. */
typedef struct med_node_stand_in {
    char name[MED_NODE_NAME_BYTES];
    bool quiet;
} med_node_stand_in;

/* The calling thread's goes, if it has one: the thread becomes a node. */
bool med_node_stand_in_take(struct med_system *system, med_node_stand_in *taken);
/* It has one again. */
medley_status_t med_node_stand_in_put(struct med_system *system, const med_node_stand_in *wanted);

/* ---- Told ------------------------------------------------------------------------------------ */

/* "node 1 of domain 0 <what>", for who follows it. */
void med_node_tell(const char *what, const med_self *self);
/* That one goes which was told to come: in the log, the trace, and to who asked for the event. */
void med_node_goes_tell(const med_self *self);

#endif
