/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Nodes: units of execution. On this floor a node is a thread: one that called initialize or adopt,
 * or one that the library started for it.
 *
 * The row lies in the partition; what only the thread itself needs (med_self) is private to the
 * process, and found through the port's pointer of the thread.
 */
#ifndef MEDLEY_MRAPI_NODE_H
#define MEDLEY_MRAPI_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/wait.h"
#include "medley/status.h"
#include "mrapi/kinds.h"
#include "mrapi/limits.h"
#include "mrapi/table.h"
#include "port/port.h"

struct med_system;

typedef enum med_node_kind {
    MED_NODE_THREAD,  /* a thread of the program that became a node */
    MED_NODE_STARTED, /* a thread that the library started as a node */
    MED_NODE_RUNTIME, /* a thread of a language's runtime: node_runtime.c */
} med_node_kind;

typedef enum med_node_phase {
    MED_NODE_STARTING,
    MED_NODE_RUNNING,
    MED_NODE_ENDED,    /* its thread has ended and waits to be joined; the number stays taken */
    MED_NODE_LEFT,     /* it left, or was joined, but could not remove its row: its process will */
    MED_NODE_EXPECTED, /* nobody's: its place is kept for who comes under its number */
} med_node_phase;

#define MED_NODE_NAME_BYTES 16u /* cut off where it is longer; ends with 0 where it is shorter */

typedef struct med_node_row {
    med_row row; /* key: domain, node number */
    atomic32 process_ref;
    atomic32 thread_id;
    atomic64 since_ns;
    atomic32 kind;
    atomic32 phase;
    atomic32 waiting_for; /* the handle of the lock it sleeps on, or 0; written by the node */
    atomic32 sleeps;      /* how often it slept; written by the node */
    atomic32 making;      /* the segment file that it makes and no row names yet, or 0; likewise */
    atomic32 is_kept;     /* its place is, when it goes: another is expected; constant while LIVE */
    uint32_t unused[2];
    med_wait news;  /* where its thread sleeps for what others bring it, whatever that is */
    atomic32 named; /* the state word of the life whose name that is; written by the node, as it */
    atomic32 name[MED_NODE_NAME_BYTES / 4];
    uint32_t unused_too[6];
    /* Followed by what it ever touched (kinds.h); written by the node. */
} med_node_row;
_Static_assert(sizeof(med_node_row) == 112, "the same in every build");
_Static_assert(offsetof(med_node_row, since_ns) == 24, "the same in every build");
_Static_assert(offsetof(med_node_row, news) == 64, "apart from what the node writes");

uint32_t med_node_row_bytes(const med_limits *limits);

static inline atomic32 *
med_node_touched(med_node_row *row)
{
    return (atomic32 *)(void *)(row + 1);
}

/* An owner word names a node: 14 bits of index + 1, 16 bits of generation; never 0. */
static inline uint32_t
med_node_ref(uint32_t index, uint32_t generation)
{
    return (index + 1) | (generation & 0xffffu) << 14;
}

static inline uint32_t
med_node_ref_index(uint32_t ref)
{
    return (ref & 0x3fffu) - 1;
}

static inline uint32_t
med_node_ref_generation(uint32_t ref)
{
    return ref >> 14 & 0xffffu;
}

#define MED_SELF_RECENT_WINDOWS 4u

/* A table for hot paths, and what of it the node touched. */
typedef struct med_self_table {
    unsigned char *rows;
    uint32_t row_count;
    uint32_t row_bytes;
    atomic32 *touched; /* in the node's own row */
} med_self_table;

/* A semaphore or reader/writer lock that the node had last, and by which of its units. */
typedef struct med_self_recent {
    uint32_t handle;
    void *row;  /* of that handle, in its map of what it touched */
    void *unit; /* NULL: there is none yet */
} med_self_recent;

/* An end of a scalar channel that the node used last, and what passed by it then (scalar.h). */
typedef struct med_self_recent_end {
    uint64_t at_once; /* MED_SELF_NO_END: nothing did; no word of 32 bits is that */
    struct med_lane_own *lane;
} med_self_recent_end;
#define MED_SELF_NO_END UINT64_MAX

/* An inner level of a recursive mutex, and its key. */
typedef struct med_self_level {
    uint32_t handle;
    uint32_t key;
} med_self_level;
#define MED_SELF_LEVELS 8u

/* One node as its own thread sees it. Private to the process; one per node row. */
typedef struct med_self {
    _Alignas(64) struct med_system *system; /* apart from another thread's, beside it */
    med_node_row *row;
    uint32_t ref;
    uint32_t index;
    uint32_t generation;
    uint32_t domain;
    uint32_t node;
    uint32_t thread_id;
    med_port_scope scope; /* a copy of the system's, as are the next */
    uint32_t sharers;
    uint32_t mutex_key;    /* the last that it was given (mutex.h) */
    uint32_t next_request; /* where it looks for a place (request.h) */
    med_self_recent recent_sem;
    med_self_recent recent_rwl;
    med_self_table tables[MED_KIND_COUNT];
    uint32_t unit;         /* of semaphores and locks, where it looks first; below `sharers` */
    uint64_t next_look_ns; /* a failed try looks at the holder's life from then on */
    /* Where it looks before it searches the table of attachments: the window that it found last
     * for a handle with that remainder, or NULL. A hint: by now it may be on another memory, or
     * another node's (med_rmem_window_recent asks it). */
    struct med_rmem_window *recent_windows[MED_SELF_RECENT_WINDOWS];
    bool owner_died; /* its last lock came from a dead owner */
    bool has_trees;  /* it got resource trees */
    bool tells;      /* it is in a callback of an event */
    med_waiter waiter;
    struct med_heap_cache *heap;        /* NULL until it first makes or deletes heap memory */
    struct med_heap *process_heap;      /* the system's */
    struct med_exchange_node *exchange; /* of mcapi; NULL: it is no node of that */
    struct med_lane_own *lane_ends;     /* the exchange's, for what goes at once; and how many, */
    uint32_t lane_end_count;            /* 0: nothing does */
    med_self_recent_end recent_sender;  /* one of these */
    med_self_recent_end recent_receiver;
    bool only_for_exchange; /* not by any call of this floor's yet */
    bool of_runtime;        /* its thread is one of a language's runtime's */
    bool started;           /* by med_node_start, as are the nodes that use the rest */
    bool joinable;          /* for its own thread; others look at `join` */
    atomic32 join;          /* node_life.h; of these two, other threads read as they like */
    atomic32 left;          /* the own reference once its thread has left, until then 0 */
    med_port_thread thread; /* written before READY, read by who takes it from there */
    void *(*entry)(void *argument);
    void *argument;
    med_self_level levels[MED_SELF_LEVELS]; /* as of 0, or of an earlier life, until used */
    uint64_t next_look_at_all_ns; /* as next_look_ns, at everybody's; an earlier life's at first */
} med_self;

/* The calling thread's node, or NULL. */
static inline med_self *
med_self_get(void)
{
    return med_port_self_get();
}

#define MED_NODE_ANY UINT32_MAX
/* Where the numbers that MED_NODE_ANY gives begin. */
#define MED_NODE_ANY_FIRST 0x40000000u

typedef struct med_node_request {
    uint32_t domain;
    uint32_t node; /* or MED_NODE_ANY */
    med_node_kind kind;
    bool detached; /* started nodes: nobody joins it */
    bool quiet;    /* nobody is told of a limit */
} med_node_request;

/* Registers a node of this process; the caller starts or is its thread. MEDLEY_ERR_EXISTS: the
 * number is taken, and the log says by whom; MEDLEY_ERR_LIMIT; MEDLEY_TIMEOUT: another has a table
 * locked and does not go on. A dead holder of the number is recovered first, and who left and could
 * not remove his row. */
medley_status_t
med_node_register(struct med_system *system, const med_node_request *request, med_self **self);
/* A node without a thread, that is no user of the system: it lets who makes the system make
 * objects, and goes by med_node_recover. MEDLEY_ERR_EXISTS, MEDLEY_ERR_LIMIT, unreported. */
medley_status_t
med_node_place(struct med_system *system, const med_node_request *request, med_self **self);
/* The calling thread becomes that node. */
void med_node_enter(med_self *self);
/* Both, of the system that nodes join by default. MEDLEY_ERR_EXISTS also when the thread is a node
 * already; or as med_system_attach_default. */
MED_INNER medley_status_t med_node_become(uint32_t domain, uint32_t node);
/* The calling thread's node leaves the system: what it holds comes free, as if it had died.
 * MEDLEY_TIMEOUT: it is no node any more, but its row, or some of what it held, is still there,
 * since another has a table locked and does not go on; see docs/design/liveness.md for who removes
 * it. */
MED_INNER medley_status_t med_node_leave(med_self *self);
/* The calling thread is one of a language's runtime, under that name: node_runtime.c. Where the
 * program asked for a named system it is shown there, as a node that no call knows of, until the
 * program makes it a node of its own, and again when that has left. `quiet`: not a word of a limit.
 * MEDLEY_ERR_NOT_SUPPORTED: nobody asked for a system. */
MED_INNER medley_status_t med_node_lend(const char *name, bool quiet);
/* Before its end, and whenever it is no longer the runtime's. */
MED_INNER void med_node_lend_end(void);
/* The calling thread's node there, the program's or the runtime's; 0: none. A look at all rows. */
MED_INNER uint32_t med_node_ref_here(const struct med_system *system);
/* Of its row: for showing. */
void med_node_name_set(med_node_row *row, const char *name);
/* Empty: it has none. Ends within it, whatever somebody scribbled. */
void med_node_name_get(const med_node_row *row, char name[MED_NODE_NAME_BYTES]);

/* The process exits: the trace has those of its nodes that have not left go now. Only told: their
 * threads still run, and what they hold comes free as a dead one's. */
void med_node_exits_tell(const struct med_system *system);

/* What a node held comes free, and its row goes: for a node whose thread is gone. Idempotent.
 * MEDLEY_TIMEOUT: not all of it, as above; then its row is there still. */
medley_status_t med_node_recover(struct med_system *system, uint32_t index, uint32_t generation);
/* Of a node whose process is dead: mutexes, semaphores and reader/writer locks come free, for which
 * no table is needed. Idempotent. MEDLEY_TIMEOUT always: all else is there still. */
medley_status_t
med_node_recover_locks(struct med_system *system, uint32_t index, uint32_t generation);

/* Is it one of this process that has left, and may still have its row? By what the process itself
 * knows, whatever the row says. */
bool med_node_has_left(const struct med_system *system, uint32_t node_ref);

/* Is somebody node `node` of that domain? Nobody is one that is only expected. */
bool med_node_is_there(const struct med_system *system, uint32_t domain, uint32_t node);

/* ---- Expected ones (node_expected.c) --------------------------------------------------------- */

/* Keeps a place, from now on: whoever registers under the number finds it free, and when he has
 * left, who comes next. MEDLEY_ERR_EXISTS, MEDLEY_ERR_LIMIT, unreported; MEDLEY_TIMEOUT. */
medley_status_t med_node_expect(struct med_system *system, uint32_t domain, uint32_t node);
/* Is it nobody's, yet or again? */
bool med_node_is_expected(const med_node_row *row);

/* ---- Who is there ---------------------------------------------------------------------------- */

/* Wakes the threads of all nodes, to look again. */
void med_node_wake_all(const struct med_system *system);
/* Is the node that an owner word names still there, and its process alive? */
bool med_node_alive(const struct med_system *system, uint32_t ref);
/* For the wait on a lock owned by `node_ref`: recovers a dead owner. MEDLEY_ERR_NOT_FOUND: there is
 * no such node, nor has one died that is not recovered yet. */
medley_status_t med_node_look(void *system, uint32_t node_ref);

/* Starts a thread as a node of this process. `thread` (may be NULL) gets its handle. Standard error
 * says why there is none. */
medley_status_t med_node_start(struct med_system *system,
                               const med_node_request *request,
                               const med_port_thread_attributes *attributes,
                               void *(*entry)(void *),
                               void *argument,
                               med_port_thread *thread);
/* Waits for the end of a started node of this process, and frees its number. MEDLEY_ERR_NOT_FOUND:
 * no such; MEDLEY_ERR_NOT_OWNER: not started by this process, or detached; MEDLEY_ERR_ARGUMENT: the
 * calling thread itself; MEDLEY_BUSY: somebody else joins it; MEDLEY_TIMEOUT: it is joined, but its
 * number is not free yet, as med_node_leave. */
medley_status_t
med_node_join(struct med_system *system, uint32_t domain, uint32_t node, void **result);

#endif
