/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Processes attached to a system, and what happens when one dies.
 *
 * A process has a row, and holds the port's liveness slot of the same number as long as it lives.
 * The row's state goes FREE, LIVE, DEAD, RECOVERING(by), FREE; docs/design/liveness.md draws it.
 *
 * A process reference (row and generation, 30 bits, never 0) names a process in words that it owns:
 * the locks of tables, the rows of its nodes.
 */
#ifndef MEDLEY_MRAPI_PROCESS_H
#define MEDLEY_MRAPI_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "medley/status.h"
#include "mrapi/table.h"

struct med_system;

typedef enum med_process_state {
    MED_PROCESS_FREE,
    MED_PROCESS_LIVE,
    MED_PROCESS_DEAD,
    MED_PROCESS_RECOVERING,
} med_process_state;

/* Of so many rows of the node table one bit of node_rows speaks. */
#define MED_PROCESS_NODE_ROWS_PER_BIT 64u

typedef struct med_process_row {
    atomic32 state; /* bits 0..2 state, 3..15 row of the recoverer, 16..31 generation */
    atomic32 process_id;
    atomic64 since_ns;
    atomic32 node_rows[12]; /* bits: set before it fills a row of the node table there, so that its
                               recovery looks nowhere else */
} med_process_row;
_Static_assert(sizeof(med_process_row) == 64, "one line");

static inline uint32_t
med_process_word(med_process_state state, uint32_t by, uint32_t generation)
{
    return (uint32_t)state | by << 3 | (generation & 0xffffu) << 16;
}

static inline med_process_state
med_process_state_of(uint32_t word)
{
    return (med_process_state)(word & 7u);
}

static inline uint32_t
med_process_recoverer_of(uint32_t word)
{
    return word >> 3 & 0x1fffu;
}

static inline uint32_t
med_process_generation_of(uint32_t word)
{
    return word >> 16;
}

static inline uint32_t
med_process_ref(uint32_t index, uint32_t generation)
{
    return (index + 1) | (generation & 0xffffu) << 13;
}

static inline uint32_t
med_process_ref_index(uint32_t ref)
{
    return (ref & 0x1fffu) - 1;
}

static inline uint32_t
med_process_ref_generation(uint32_t ref)
{
    return ref >> 13 & 0xffffu;
}

/* Takes a free row and its liveness slot for this process; waits for one of a dead process that
 * another is just recovering. MEDLEY_ERR_LIMIT: none. */
medley_status_t med_process_claim(struct med_system *system);
/* Gives both back; the process must own no node any more, but for those that left and could not
 * remove their rows: then it gives the slot back only, which is to die. */
void med_process_release(struct med_system *system);
/* In the section, at the exit of a process that has not left: from now on it keeps no name. */
void med_process_exits(struct med_system *system);

/* Sees to it that this process's slot is still held, which a program can lose (port.h): takes it
 * again, and says so. Called whenever a node comes, and while one waits. */
void med_process_keep(struct med_system *system);
/* Is the slot of that row not held, and its process lives all the same? Of one not held. */
bool med_process_slot_lost(const struct med_system *system, uint32_t index);

/* Does the process that `ref` names live? */
bool med_process_alive(const struct med_system *system, uint32_t ref);

/* Recovers the process of that row if it is dead: its nodes leave, its locks come free. Idempotent;
 * any number of processes may try at once; one that dies at it, or is stopped, is succeeded by
 * another, as is one that gives up because somebody has a table locked and does not go on. True
 * when there was something to do, and it is done. */
bool med_process_recover(struct med_system *system, uint32_t index);
/* Looks at all of them. Returns how many were recovered. */
uint32_t med_process_recover_all(struct med_system *system);

/* A recovery takes milliseconds; whoever is at it may be kept from the processor for long. */
#define MED_PROCESS_RECOVERY_PATIENCE_NS UINT64_C(2000000000)
/* Or may be stopped: after so long another takes it over. With a sleeper's longest slices before
 * and behind it (64 ms each) that is less than the second within which he is to learn of a death
 * (medley.7). */
#define MED_PROCESS_TAKE_OVER_NS UINT64_C(500000000)

/* For each row: the recovery at which this process sees another, and since when. Noted of all when
 * it asks for any, so that several which a stopped one keeps are overdue together. Its own, not
 * shared. */
typedef struct med_process_watch {
    atomic32 word;  /* the row's; 0: none */
    atomic32 since; /* in MED_PROCESS_WATCH_NS, modulo 2^32 */
} med_process_watch;
#define MED_PROCESS_WATCH_NS UINT64_C(1000000)

/* For who found no room, and looks for it again: is a dead process still to be recovered, so that
 * more may come free? After a pause then (med_wait_pause), for who is at it. */
bool
med_process_recovery_await(const struct med_system *system, uint64_t until_ns, uint32_t *pauses);

/* For the wait on a lock owned by `process_ref`: recovers it if it is dead. MEDLEY_ERR_NOT_FOUND:
 * there is no such process, nor has one died that is not recovered yet. */
medley_status_t med_process_look(void *system, uint32_t process_ref);

/* The number of the process of that row as this one's PID namespace has it: the row's own says what
 * it is in another's. 0: it is dead, or cannot be seen from here. */
uint32_t med_process_number_here(const struct med_system *system, uint32_t index);
/* A table's on_stuck: says who keeps it locked, and what to do about him. */
void med_process_report_stuck(const med_table_view *view, uint32_t process_ref);

#endif
