/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The kinds of objects that the registry has a table of: what a kind needs of the partition, and
 * what is done when an object goes or its holder dies. A new kind is a row in med_kinds, a limit,
 * and its own files; layout, attaching, recovery and views follow from here. A program for a bare
 * machine has only the kinds that it calls, so what the table names is MED_PORT_OPTIONAL.
 */
#ifndef MEDLEY_MRAPI_KINDS_H
#define MEDLEY_MRAPI_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "mrapi/limits.h"
#include "mrapi/table.h"

struct med_system;

/* In the order of the partition. */
typedef enum med_kind {
    MED_KIND_DOMAIN,
    MED_KIND_NODE,
    MED_KIND_MUTEX,
    MED_KIND_RMEM_ATTACHMENT, /* its lock is taken before that of the next */
    MED_KIND_RMEM,
    MED_KIND_SHMEM,
    MED_KIND_SEM,
    MED_KIND_RWL,
    MED_KIND_ENDPOINT,
    MED_KIND_LANE,
    MED_KIND_COUNT
} med_kind;

/* Gives back what a gone node holds of `count` rows from `first` on. Idempotent; several may do it
 * at once. MEDLEY_TIMEOUT: something is left, since another has a table locked and does not go on.
 */
typedef medley_status_t med_recover_rows(struct med_system *system,
                                         uint32_t first,
                                         uint32_t count,
                                         uint32_t node_ref,
                                         uint32_t thread_id);

typedef struct med_kind_info {
    med_limit limit; /* has its name */
    uint32_t (*row_bytes)(const med_limits *limits);
    /* The table's, see med_table_view; may be NULL. */
    void (*on_remove)(const med_table_view *view, med_row *row);
    /* For what a node can hold, else NULL; NULL as well when the program lacks the kind. */
    med_recover_rows *recover_rows;
} med_kind_info;

extern const med_kind_info med_kinds[MED_KIND_COUNT];

/* Does the program have it? On a machine with other processes, all. */
static inline bool
med_kind_is_there(med_kind kind)
{
    return kind <= MED_KIND_NODE || med_kinds[kind].recover_rows;
}

static inline uint32_t
med_kind_rows(const med_limits *limits, med_kind kind)
{
    return med_kind_is_there(kind) ? limits->of[med_kinds[kind].limit] : 0;
}

/* ---- Which rows a node ever touched ---------------------------------------------------------- */

/* A node keeps one bit for so many rows of each kind that can be held, set before it first takes
 * one of them, so that its recovery looks nowhere else. Each kind starts a word of its own. */
#define MED_ROWS_PER_TOUCH 64u

/* Where a kind's bits begin, in words; of MED_KIND_COUNT, how many words there are. */
uint32_t med_kind_touch_first(const med_limits *limits, med_kind kind);

#endif
