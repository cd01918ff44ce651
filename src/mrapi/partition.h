/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The partition: the memory that holds a system.
 *
 *   0          med_partition_header            magic, version, byte order, limits
 *   + ...      process rows                    who is attached
 *   + ...      one table per kind of object, in the order of med_kind
 *   + ...      the trace, if it keeps one (traced.h)
 *
 * All offsets follow from the limits, by one function (med_layout_compute); each part starts on 128
 * bytes. Nothing in it is a pointer, or has a size that differs between 32- and 64-bit programs.
 * docs/design/partition.md
 */
#ifndef MEDLEY_MRAPI_PARTITION_H
#define MEDLEY_MRAPI_PARTITION_H

#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "medley/status.h"
#include "mrapi/kinds.h"
#include "mrapi/limits.h"

#define MED_PARTITION_MAGIC 0x4d45444cu
/* Of what the words mean. It goes up with each commit after which a word, bit or number that is
 * here, or in a shared memory that is found through here, has its place and another meaning. Where
 * things are is the layout hash's affair, which is computed; base's rings, pools, cells and traces
 * have stamps of their own (base/stamp.h). One meaning did not raise it, since it is in the hash:
 * the bit MED_RECORD_LEADS_ON of MCAPI's records.
 *   2   a mutex's row keeps the key of its outermost level where it kept a count of acquisitions
 *   3   the units of a lock that counts stand in different lines
 *   4   a table's hash leads to chains of rows, which was one of open addressing
 *   5   a row's PI word outlives its mutex; times are of a clock that all processes share
 *   6   bit 1 of a wait object says that its only waker pays, and was one of the count of wakes;
 *       a domain is kept by its first node, which was by the second who joined
 *   7   that bit counts wakes again */
#define MED_PARTITION_VERSION 7u
#define MED_PARTITION_BYTE_ORDER 0x01020304u

typedef enum med_on_death {
    MED_ON_DEATH_RECOVER, /* a dead holder's lock goes to the next, who is told */
    MED_ON_DEATH_FAIL,    /* nobody gets it again until it is deleted */
} med_on_death;

typedef struct med_partition_header {
    atomic32 magic; /* stored last: before, the partition is not finished */
    uint32_t version;
    uint32_t byte_order;
    uint32_t layout_hash; /* sizes and places: of all structs that lie in here, or are found so */
    uint64_t size_bytes;
    uint64_t created_ns;
    uint32_t creator_process_id;
    uint32_t on_death; /* med_on_death */
    char name[64];
    med_limits limits;
    atomic32 segments;      /* how many were ever begun: each has a number of its own */
    uint32_t trace_events;  /* how many the trace keeps; 0: there is none */
    atomic32 expected_keys; /* how many the name of an expected endpoint may have; 0: none is
                               expected. Written before others can come */
    uint32_t unused[4];
} med_partition_header;
_Static_assert(sizeof(med_partition_header) == 192, "the header is three lines");
_Static_assert(offsetof(med_partition_header, limits) == 104, "the same in every build");

typedef struct med_layout {
    uint32_t processes;
    uint32_t tables[MED_KIND_COUNT]; /* 0: no rows, and no table */
    uint32_t row_bytes[MED_KIND_COUNT];
    uint32_t trace;        /* where it begins, if there is one */
    uint32_t trace_events; /* 0: there is none */
    uint32_t size_bytes;
} med_layout;

/* The trace: in all lanes together a power of two, or 0. */
#define MED_TRACED_LANES 4u
#define MED_TRACED_EVENTS_MIN 64u
#define MED_TRACED_EVENTS_STANDARD 4096u
#define MED_TRACED_EVENTS_MAX 0x100000u

/* The layout hash, continued over so many sizes and places. */
uint32_t med_layout_hash_add(uint32_t hash, const uint32_t *shape, size_t count);

/* MEDLEY_ERR_LIMIT when it would not fit 32-bit offsets. */
medley_status_t med_layout_compute(const med_limits *limits, med_layout *layout);

/* Adds a trace to one without. MEDLEY_ERR_ARGUMENT: no number for a trace; _LIMIT as above. */
medley_status_t med_layout_add_trace(med_layout *layout, uint32_t events);

/* Zeroed memory of `layout.size_bytes` becomes an empty partition. */
void med_partition_init(void *memory,
                        const med_limits *limits,
                        const med_layout *layout,
                        med_on_death on_death,
                        const char *name);

/* Is this a partition that we can use? Looks at nothing beyond `size_bytes`. On success the checked
 * limits and layout. MEDLEY_ERR_BYTE_ORDER, MEDLEY_ERR_VERSION, MEDLEY_ERR_CORRUPT. */
medley_status_t
med_partition_check(const void *memory, size_t size_bytes, med_limits *limits, med_layout *layout);

#endif
