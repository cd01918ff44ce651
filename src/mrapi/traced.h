/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a system's trace tells (base/trace.h): the events, and how they get there.
 *
 * The process that creates a named system says whether it keeps a trace, and how long
 * (MEDLEY_TRACE); then all who are in it write, from the first on. Where it keeps none an event
 * costs a load and a branch, and taking a free mutex and giving it back is no event. A machine
 * without other processes has nobody to read it, and none of this.
 */
#ifndef MEDLEY_MRAPI_TRACED_H
#define MEDLEY_MRAPI_TRACED_H

#include "base/trace.h"
#include "mrapi/handle.h"
#include "mrapi/node.h"
#include "mrapi/system.h"

/* A number means the same in every version of the partition. Beside each, its two words; its node
 * (a node reference, 0: none) is who did it, or to whom it was done. A process id is what the
 * process itself has for one, but where it says otherwise. */
typedef enum med_traced_event {
    MED_TRACED_NOTHING,
    MED_TRACED_JOINED,       /* process id; 1: and made the system */
    MED_TRACED_LEFT,         /* process id */
    MED_TRACED_PROCESS_DIED, /* process id: somebody recovers it */
    MED_TRACED_RECOVERED,    /* process id: all that it held is free */
    MED_TRACED_NODE_COMES,   /* domain, number */
    MED_TRACED_NODE_GOES,    /* domain, number */
    MED_TRACED_NODE_DIED,    /* domain, number */
    MED_TRACED_CREATED,      /* med_kind, number */
    MED_TRACED_DELETED,      /* med_kind, number */
    MED_TRACED_LOCK_WAITS,   /* handle: it is not to be had at once */
    MED_TRACED_LOCK_HAD,     /* handle, after so many sleeps: somebody has handed it over */
    MED_TRACED_LOCK_MISSED,  /* handle, after so many sleeps: not in time, or it is gone */
    MED_TRACED_OWNER_DIED,   /* handle: it is had, and its former owner died with it */
    MED_TRACED_TABLE_STUCK,  /* med_kind, process id: he has it locked and does not go on; as who
                                waited for him sees it, 0: not at all */
    MED_TRACED_COUNT
} med_traced_event;

/* How many events MEDLEY_TRACE asks for; 0: no trace. */
uint32_t med_traced_wanted(void);
/* The view of a system's trace, which is made when `make`. One that was scribbled over is none. */
void med_traced_open(med_system *system, bool make);
/* Says so when MEDLEY_TRACE asks for a trace and the system has none. */
void med_traced_warn_difference(const med_system *system);
/* A dead node's half-written record. */
void med_traced_recover(const med_system *system, uint32_t node_ref);
/* What med_traced_by_caller calls where the trace is on. */
void med_traced_write_by_caller(const med_system *system,
                                med_traced_event event,
                                uint32_t first,
                                uint32_t second);

static inline void
med_traced(const med_system *system,
           uint32_t node_ref,
           med_traced_event event,
           uint32_t first,
           uint32_t second)
{
    if (med_port_has_processes()) {
        med_trace_event(&system->trace, node_ref, (uint32_t)event, first, second);
    }
}

/* A word of a row, for an event; not even looked at where there is no trace. */
static inline uint32_t
med_traced_word(const atomic32 *word)
{
    return med_port_has_processes() ? atomic32_load_relaxed(word) : 0; /* relaxed: for showing */
}

/* By the node that calls, if one does. */
static inline void
med_traced_by_caller(const med_system *system,
                     med_traced_event event,
                     uint32_t first,
                     uint32_t second)
{
    if (med_port_has_processes() && med_trace_is_on(&system->trace)) {
        med_traced_write_by_caller(system, event, first, second);
    }
}

#endif
