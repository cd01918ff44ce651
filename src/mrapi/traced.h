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

/* A number means the same in every version of the partition; it is the low byte of a record's
 * event, whose other 24 bits have more of what it says. Beside each, its two words, then those; its
 * node (a node reference, 0: none) is who did it, or to whom it was done. A process id is what the
 * process itself has for one, but where it says otherwise.
 *
 * The n-th that was sent by a lane is the n-th that was received by it: of states, whose receiver
 * sees some, the one of the same number. */
typedef enum med_traced_event {
    MED_TRACED_NOTHING,
    MED_TRACED_JOINED,       /* process id; 1: and made the system */
    MED_TRACED_LEFT,         /* process id */
    MED_TRACED_PROCESS_DIED, /* process id: somebody recovers it */
    MED_TRACED_RECOVERED,    /* process id: all that it held is free */
    MED_TRACED_NODE_COMES,   /* domain, number; process id */
    MED_TRACED_NODE_GOES,    /* domain, number: it left, or its process exits */
    MED_TRACED_NODE_DIED,    /* domain, number; also behind GOES, where that was an exit */
    MED_TRACED_CREATED,      /* med_kind, number */
    MED_TRACED_DELETED,      /* med_kind, number */
    MED_TRACED_LOCK_WAITS,   /* handle: it is not to be had at once */
    MED_TRACED_LOCK_HAD,     /* handle, after so many sleeps: somebody has handed it over */
    MED_TRACED_LOCK_MISSED,  /* handle, after so many sleeps: not in time, or it is gone */
    MED_TRACED_OWNER_DIED,   /* handle: it is had, and its former owner died with it */
    MED_TRACED_TABLE_STUCK,  /* med_kind, process id: he has it locked and does not go on; as who
                                waited for him sees it, 0: not at all */
    MED_TRACED_SENT,         /* the lane, as its sender's handle; the number; MED_TRACED_MOVED */
    MED_TRACED_RECEIVED,     /* the same, by who received it */
    MED_TRACED_WAITS,        /* med_traced_wait, handle of an endpoint or channel, 0: none */
    MED_TRACED_WAITED,       /* med_traced_wait, after so many sleeps */
    MED_TRACED_BEGINS,       /* what the program calls it: 8 letters, and 3 more */
    MED_TRACED_ENDS,         /* the same */
    MED_TRACED_MARK,         /* the same: at that time */
    MED_TRACED_MEMBER,       /* of a team: where the region was met, low, high; its number there */
    MED_TRACED_MEMBER_ENDS,  /* the same */
    MED_TRACED_TASK,         /* where the task was met, low, high */
    MED_TRACED_TASK_ENDS,    /* the same */
    MED_TRACED_HAS_WAITED,   /* med_traced_wait, for so many microseconds until now */
    MED_TRACED_PROGRAM,      /* 8 letters of the program's name, or the next 8; process id */
    MED_TRACED_NODE_NAMED,   /* its name's first 8 letters, and 3 more */
    /* Once, before the first that was met there, and all three by that node: */
    MED_TRACED_PLACE,        /* where that is, low, high; */
    MED_TRACED_PLACE_INSIDE, /* so far inside its file, low, high, whose path has so many bytes; */
    MED_TRACED_PLACE_PATH,   /* 8 letters of it, and 3 more */
    MED_TRACED_COUNT
} med_traced_event;

/* So many letters go into one record. */
#define MED_TRACED_LETTERS 11u

#define MED_TRACED_EVENT_OF(event) ((event)&0xffu)
#define MED_TRACED_MORE_OF(event) ((event) >> 8)
#define MED_TRACED_MORE_MAX 0xffffffu

/* Of what was sent: med_lane_kind, and how long it was; what is longer than there is room for, that
 * long. */
#define MED_TRACED_BYTES_MAX 0x3fffffu
#define MED_TRACED_MOVED(kind, bytes)                                                              \
    ((uint32_t)(kind) << 22 |                                                                      \
     ((bytes) < MED_TRACED_BYTES_MAX ? (uint32_t)(bytes) : MED_TRACED_BYTES_MAX))
#define MED_TRACED_MOVED_KIND(more) ((more) >> 22)
#define MED_TRACED_MOVED_BYTES(more) ((more)&MED_TRACED_BYTES_MAX)

/* What a node waits for: in MCAPI, and as a member of a team. */
typedef enum med_traced_wait {
    MED_TRACED_WAIT_RECEIVE,
    MED_TRACED_WAIT_SEND,
    MED_TRACED_WAIT_ENDPOINT,
    MED_TRACED_WAIT_REQUEST,
    MED_TRACED_WAIT_BARRIER,
    MED_TRACED_WAIT_TASKS,
    MED_TRACED_WAIT_LOCK,
    MED_TRACED_WAIT_COUNT
} med_traced_wait;

/* How many events MEDLEY_TRACE asks for; 0: no trace. */
MED_INNER uint32_t med_traced_wanted(void);
/* The view of a system's trace, which is made when `make`. One that was scribbled over is none. */
void med_traced_open(med_system *system, bool make);
/* Says so when MEDLEY_TRACE asks for a trace and the system has none. */
void med_traced_warn_difference(const med_system *system);
/* This process has joined, and made the system or not. */
void med_traced_joined(const med_system *system, bool is_new);
/* A dead node's half-written record. */
void med_traced_recover(const med_system *system, uint32_t node_ref);
/* An event that says more. */
MED_INNER void med_traced_more(const med_system *system,
                               uint32_t node_ref,
                               med_traced_event event,
                               uint32_t more,
                               uint32_t first,
                               uint32_t second);
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

/* Is what happens told? */
static inline bool
med_traced_is_on(const med_system *system)
{
    return med_port_has_processes() && med_trace_is_on(&system->trace);
}

/* The node is about to wait. What its end is told with. */
static inline uint32_t
med_traced_wait_begin(const med_self *self, med_traced_wait what, uint32_t handle)
{
    med_traced(self->system, self->ref, MED_TRACED_WAITS, (uint32_t)what, handle);
    return med_port_has_processes() ? self->waiter.sleeps : 0;
}

static inline void
med_traced_wait_end(const med_self *self, med_traced_wait what, uint32_t begun)
{
    med_traced(self->system, self->ref, MED_TRACED_WAITED, (uint32_t)what,
               self->waiter.sleeps - begun);
}

/* An event with a text's first letters, up to its end or as many as there is room for. */
MED_INNER void med_traced_letters(const med_system *system,
                                  uint32_t node_ref,
                                  med_traced_event event,
                                  const char *text);

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
