/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The trace of a system, followed while it is written: what its rings keep is taken out of them
 * before the newest overwrites it, and what the system forgets is noted while it is there: names of
 * nodes, and their programs.
 */
#ifndef MEDLEY_TOOLS_RECORDING_H
#define MEDLEY_TOOLS_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mrapi/system.h"
#include "mrapi/traced.h"
#include "tools/medley/places.h"

#define RECORDING_EVENTS 4000000u /* at most, unless it is said */
#define RECORDING_PROGRAM_BYTES 48u
#define RECORDING_PATH_BYTES 4096u

/* A node's life. */
typedef struct recording_node {
    uint32_t ref;
    uint32_t domain;
    uint32_t number;
    uint32_t process_id;            /* 0: not known */
    char name[MED_NODE_NAME_BYTES]; /* as "omp.1"; "": it has none */
    char program[RECORDING_PROGRAM_BYTES];
    uint64_t place; /* that it tells of, piece by piece: its address, */
    uint64_t inside;
    uint32_t path_bytes; /* so many its path has, 0: it tells of none; */
    char *path;          /* what came of it */
} recording_node;

/* A process, as who has started it calls it, or as the trace does. */
typedef struct recording_program {
    uint32_t process_id;
    bool is_given; /* by who started it */
    char name[RECORDING_PROGRAM_BYTES];
} recording_program;

typedef struct recording {
    const med_system *system;
    med_trace_record *rows; /* by time once it has ended */
    size_t count;
    size_t room;
    size_t most;
    uint64_t lost; /* overwritten before they were read, half-written, or beyond the most */
    med_trace_cursor cursors[MED_TRACE_LANES_MAX];
    recording_node *nodes; /* in the order in which they were seen */
    size_t node_count;
    recording_program *programs;
    size_t program_count;
    places places;
} recording;

/* From the oldest event that the system still has. False: no memory. */
bool recording_begin(recording *r, const med_system *system, size_t most);
/* That process is to be called so; one that nobody names goes by what its program's file is called.
 * False: no memory. */
bool recording_name(recording *r, uint32_t process_id, const char *name);
/* Takes what is new. So often that none is lost: the rings hold some milliseconds, when all is at
 * its busiest. False: no memory. */
bool recording_look(recording *r);
/* Takes what somebody has begun by now, if he lives and soon has it whole, and puts all in the
 * order of their times. Blocks for four seconds at most. */
void recording_end(recording *r);
/* What stands in the words of a record that has letters, printable. */
#define RECORDING_LETTERS_BYTES (MED_TRACED_LETTERS + 1u)
#define RECORDING_PROGRAM_LETTERS 8u /* of a program's name */
void recording_letters(const med_trace_record *record, char letters[RECORDING_LETTERS_BYTES]);
/* The node of a record; NULL: it had none, or the trace does not say which. */
const recording_node *recording_node_of(const recording *r, uint32_t ref);
void recording_forget(recording *r);

#endif
