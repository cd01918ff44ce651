/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A system as one process sees it: the mapped partition and the checked views of its tables.
 *
 * A process is in at most one named system and one private system at a time. Attaching and
 * detaching is guarded by a process-wide gate; everything else reads the struct without a lock,
 * since a node keeps its system open.
 */
#ifndef MEDLEY_MRAPI_SYSTEM_H
#define MEDLEY_MRAPI_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/trace.h"
#include "medley/status.h"
#include "mrapi/heap.h"
#include "mrapi/kinds.h"
#include "mrapi/limits.h"
#include "mrapi/node.h"
#include "mrapi/partition.h"
#include "mrapi/process.h"
#include "mrapi/request.h"
#include "mrapi/shmem.h"
#include "mrapi/table.h"
#include "port/port.h"

typedef struct med_system {
    bool open;
    bool observed; /* looked at from outside: no process row, nothing is written */
    med_port_scope scope;
    med_port_shared shared; /* named systems */
    med_partition_header *header;
    med_limits limits;
    med_layout layout;
    med_on_death on_death;
    med_trace trace;   /* of named systems that keep one (traced.h) */
    uint64_t instance; /* tells systems apart that had one name after another: in segments' names */
    med_process_row *processes;
    union {
        med_table_view tables[MED_KIND_COUNT];
        struct {
            med_table_view domains;
            med_table_view nodes;
            med_table_view mutexes;
            med_table_view rmem_attachments;
            med_table_view rmems;
            med_table_view shmems;
            med_table_view sems;
            med_table_view rwls;
            med_table_view endpoints;
            med_table_view lanes;
        };
    };
    atomic32 tables_given_up[MED_KIND_COUNT]; /* see med_table_view */
    uint32_t process_index;
    uint32_t process_ref;
    atomic32 slot_given_up;     /* given back, or lost for good: no more to be kept */
    atomic32 leaves_undone;     /* a node of this process could not leave: its row is still there */
    med_self *selves;           /* one per node row; only this process's are in use */
    med_process_watch *watches; /* one per process row */
    /* Of this process alone: how it reaches what its nodes are attached to, where its own remote
     * memories lie (rmem.c), and what its nodes asked for and wait for. */
    struct med_rmem_window *rmem_windows;
    struct med_rmem_extent *rmem_extents;
    med_requests requests;
    med_mappings mappings;
    med_heap heap;
    struct med_exchange *exchange; /* of mcapi; NULL until a node of this process first needs it */
    med_lock exchange_lock;        /* under it and the next that is made and dropped */
    med_lock_sleepers exchange_sleepers;
    uint32_t users; /* guarded by the gate: nodes of this process, and explicit opens */
    uint32_t opens; /* guarded by the gate: of these, the explicit opens */
} med_system;
#define MED_SYSTEM_TABLE_IS(name, kind)                                                            \
    _Static_assert(offsetof(med_system, name) ==                                                   \
                       offsetof(med_system, tables) + (kind) * sizeof(med_table_view),             \
                   "the named tables are those of their kinds")
MED_SYSTEM_TABLE_IS(mutexes, MED_KIND_MUTEX);
MED_SYSTEM_TABLE_IS(sems, MED_KIND_SEM);
MED_SYSTEM_TABLE_IS(rwls, MED_KIND_RWL);
MED_SYSTEM_TABLE_IS(rmems, MED_KIND_RMEM);
MED_SYSTEM_TABLE_IS(shmems, MED_KIND_SHMEM);
MED_SYSTEM_TABLE_IS(endpoints, MED_KIND_ENDPOINT);
MED_SYSTEM_TABLE_IS(lanes, MED_KIND_LANE);

/* Are there, or may there be, other processes in it? */
static inline bool
med_system_is_shared(const med_system *system)
{
    return med_port_has_processes() && system->scope == MED_PORT_SCOPE_SHARED;
}

static inline med_process_row *
med_system_process(const med_system *system, uint32_t index)
{
    return &system->processes[index];
}

static inline med_node_row *
med_system_node(const med_system *system, uint32_t index)
{
    return (med_node_row *)(void *)med_table_row(&system->nodes, index);
}

/* How long a process waits for others who create, join, leave or remove the same system, or have a
 * table of it locked. They take 0.1 ms, or 2 ms for the largest partition there can be. Five
 * seconds leave them time on a machine that is overloaded or swaps, and are not too long for a
 * person: who is longer at it was stopped, or hangs. */
#define MED_SYSTEM_PATIENCE_NS UINT64_C(5000000000)

static inline uint64_t
med_system_deadline_ns(void)
{
    return med_port_clock_ns() + MED_SYSTEM_PATIENCE_NS;
}

/* Opens, creating it if nobody lives in it, and counts one user. NULL: the private system of this
 * process. MEDLEY_TIMEOUT: another process is at opening or closing it, and does not go on. The log
 * says why it failed. */
medley_status_t med_system_attach(const char *name, med_system **system);
/* The same, for the system that this process's nodes join by default: the one that was chosen, else
 * MEDLEY_SYSTEM's, else the user's default one. */
MED_INNER medley_status_t med_system_attach_default(med_system **system);
#define MED_SYSTEM_DEFAULT_NAME "default"
/* Did somebody ask for a named one: the program, or MEDLEY_SYSTEM? */
MED_INNER bool med_system_is_asked_for(void);
/* The named one that this process is in, with one more user; NULL: it is in none. */
med_system *med_system_retain_named(void);
/* One more user, one less; the last one detaches the process, and the last process removes the
 * name, unless another is at opening or closing it and does not go on: then the log tells, and the
 * name stays until the next start. */
void med_system_retain(med_system *system);
MED_INNER void med_system_release(med_system *system);

/* Attaches, and chooses it as the default one, until med_system_close. MEDLEY_BUSY when this
 * process is in another named system already. */
medley_status_t med_system_open(const char *name);
/* Makes the system of an image, and opens it likewise. MEDLEY_BUSY also when somebody lives in it:
 * what is there is not changed. */
struct med_image;
medley_status_t med_system_open_image(const char *name, struct med_image *image);
/* Takes one open back: of the system chosen last while there is one, else of the other. The choice
 * goes with a system's last open: to the other, if that one is open.
 * MEDLEY_ERR_NOT_FOUND: there was none. */
medley_status_t med_system_close(void);

/* Looks at a system without joining it. `system` is the caller's. Waits for nobody when somebody
 * lives in it, else until the deadline: MEDLEY_TIMEOUT, and `system->shared.why` says by whom it is
 * kept. MEDLEY_ERR_EXISTS: this process is in it. */
medley_status_t med_system_observe(const char *name, uint64_t deadline_ns, med_system *system);
void med_system_observe_end(med_system *system);

/* Removes the name of a system in which nobody lives. MEDLEY_BUSY: somebody does. MEDLEY_TIMEOUT:
 * as observe. `why` becomes what the machine says of a failure, or empty. */
medley_status_t
med_system_remove(const char *name, uint64_t deadline_ns, char why[MED_PORT_WHY_BYTES]);

#endif
