/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a recording tells, as a timeline has it: a track for each node's life, and on it spans,
 * which lie within one another, and marks; between two tracks messages.
 */
#ifndef MEDLEY_TOOLS_TIMELINE_H
#define MEDLEY_TOOLS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/medley/recording.h"

typedef enum timeline_kind {
    TIMELINE_NAMED,    /* the program named it: medley_trace_begin */
    TIMELINE_REGION,   /* a member of an OpenMP team is in its region, */
    TIMELINE_TASK,     /* in a task, */
    TIMELINE_TEAM,     /* or waits: at a barrier, for tasks */
    TIMELINE_LOCK,     /* waits for a lock */
    TIMELINE_EXCHANGE, /* waits for a message, room, an endpoint, a request */
    TIMELINE_KIND_COUNT
} timeline_kind;

typedef struct timeline_span {
    uint32_t track;
    timeline_kind kind;
    uint32_t depth; /* so many lie around it */
    bool is_open;   /* the recording ended before it did, or its node died in it */
    uint64_t begin_ns;
    uint64_t end_ns;
    const char *label;
} timeline_span;

typedef enum timeline_mark_kind {
    TIMELINE_MARK,
    TIMELINE_DIED,
    TIMELINE_OWNER_DIED,
    TIMELINE_STUCK,
    TIMELINE_WOKEN, /* from the sleep that its wait came to */
} timeline_mark_kind;

typedef struct timeline_mark {
    uint32_t track;
    timeline_mark_kind kind;
    uint64_t time_ns;
    const char *label;
} timeline_mark;

/* As it was sent and as it was received: who received it may have done so before the sender had
 * told of it, then both times are one. */
typedef struct timeline_message {
    uint32_t from;
    uint32_t to;
    uint32_t kind; /* med_lane_kind */
    uint32_t bytes;
    uint64_t sent_ns;
    uint64_t received_ns;
} timeline_message;

typedef struct timeline_track {
    const recording_node *node;
    const recording_node *of; /* the program's node that this one stands in for, or itself */
    uint64_t rank;            /* of its program: by the least of its nodes' numbers */
    uint32_t row;             /* a node that died and came back has that of its last life */
    uint64_t begin_ns;        /* of the node, as far as was recorded */
    uint64_t end_ns;
    bool has_ended; /* and that was recorded */
    uint64_t sent;  /* and received: also those whose other end was not recorded */
    uint64_t sent_bytes;
    uint64_t received;
    uint64_t received_bytes;
} timeline_track;

#define TIMELINE_NAME_BYTES RECORDING_LETTERS_BYTES

typedef struct timeline_name {
    struct timeline_name *next;
    char letters[TIMELINE_NAME_BYTES];
} timeline_name;

typedef struct timeline {
    uint64_t begin_ns;
    uint64_t end_ns;
    timeline_track *tracks; /* by program; its own nodes, then its OpenMP threads; by time */
    size_t track_count;
    uint32_t row_count;
    timeline_span *spans; /* by the time of their ends */
    size_t span_count;
    timeline_mark *marks;
    size_t mark_count;
    timeline_message *messages; /* by the time of their receipt */
    size_t message_count;
    timeline_name *names; /* of TIMELINE_NAMED and TIMELINE_MARK */
} timeline;

/* Of a recording that has ended, which must stay. False: no memory. */
bool timeline_make(timeline *t, recording *r);
void timeline_forget(timeline *t);

/* "node 0:2", "omp.1", "node 0:2, omp.0". */
void timeline_node_text(const recording_node *node, char *text, size_t size);

extern const char *const timeline_kind_names[TIMELINE_KIND_COUNT];
/* Of a med_traced_wait: "waits to receive", "waits at a barrier"; of a number that is none "waits".
 */
const char *timeline_wait_label(uint32_t what);
/* Of a med_lane_kind: "message", "packet", "scalar", "state". */
const char *timeline_message_kind(uint32_t kind);

#endif
