/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reader/writer locks: a row of the registry around base's. As many nodes read at once as the maker
 * said, or one writes.
 */
#ifndef MEDLEY_MRAPI_RWL_H
#define MEDLEY_MRAPI_RWL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rwlock.h"
#include "medley/status.h"
#include "mrapi/object.h"

struct med_system;

typedef enum med_rwl_mode {
    MED_RWL_READ,
    MED_RWL_WRITE,
} med_rwl_mode;

typedef struct med_rwl_row {
    med_object object;
    atomic32 limit; /* how many read at once; fixed at creation */
    med_rwlock lock;
    atomic32 slept; /* how often somebody slept for it: statistics */
    uint32_t unused[5];
    /* Followed by as many units as there may be sharers. Owner: node reference. */
} med_rwl_row;
_Static_assert(sizeof(med_rwl_row) == MED_OBJECT_SHARED_HEAD_BYTES,
               "the units begin a line of their own");

uint32_t med_rwl_row_bytes(const med_limits *limits);

/* MEDLEY_ERR_EXISTS; MEDLEY_ERR_LIMIT: no more locks, or more readers than there may be sharers,
 * which is reported; MEDLEY_ERR_ARGUMENT: no reader. */
medley_status_t med_rwl_create(
    med_self *self, uint32_t number, uint32_t attributes, uint32_t limit, med_handle *rwl);
/* MEDLEY_ERR_NOT_FOUND; MEDLEY_ERR_ACCESS: another domain's, not shared. */
medley_status_t med_rwl_get(med_self *self, uint32_t number, med_handle *rwl);
/* When nobody else is inside, else MEDLEY_BUSY. Who waits for it is told that it is gone. */
medley_status_t med_rwl_delete(med_self *self, med_handle rwl);

/* All of the following: MEDLEY_ERR_ARGUMENT for what is no handle of a reader/writer lock,
 * MEDLEY_ERR_NOT_FOUND for one that was deleted with ERROR_EXT, MEDLEY_ERR_STALE for one deleted
 * without. */

/* The common cases of reading, on hot paths before the others. True: done. */
static inline bool med_rwl_read_fast(med_self *self, med_handle rwl);
static inline bool med_rwl_read_end_fast(med_self *self, med_handle rwl);

/* deadline_ns 0: one try. MEDLEY_BUSY (try), MEDLEY_TIMEOUT. MEDLEY_ERR_EXISTS: this node writes;
 * or reads, and wants to write, or has all units. MEDLEY_ERR_OWNER_DIED: nobody gets it any more.
 * self->owner_died tells whether a writer died, and none has been since. */
medley_status_t
med_rwl_lock(med_self *self, med_handle rwl, med_rwl_mode mode, uint64_t deadline_ns);
/* MEDLEY_ERR_NOT_OWNER: this node has it not, or not so. */
medley_status_t med_rwl_unlock(med_self *self, med_handle rwl, med_rwl_mode mode);

medley_status_t med_rwl_attributes(const med_self *self, med_handle rwl, uint32_t *attributes);

static inline med_units
med_rwl_units(med_rwl_row *row, uint32_t sharers)
{
    return med_object_units(&row->object, &row->limit, sharers);
}

/* What a gone node had comes free. */
medley_status_t med_rwl_recover_rows(struct med_system *system,
                                     uint32_t first,
                                     uint32_t count,
                                     uint32_t node_ref,
                                     uint32_t thread_id);
/* The table's on_remove. */
void med_rwl_row_removed(const med_table_view *view, med_row *row);

/* ---- The fast path --------------------------------------------------------------------------- */

/* Where this node looks first. Within the row, whatever the row says. */
static inline med_lock *
med_rwl_first(const med_self *self, med_rwl_row *row)
{
    med_units units = med_rwl_units(row, self->sharers);
    return &units.words[med_units_first(&units, self->unit)];
}

/* Whose handle this is, and the unit to try: mostly those of the last time. Relaxed: looked at
 * again by who takes it. False: the handle is not good. */
static inline bool
med_rwl_recall(med_self *self, med_handle rwl, med_rwl_row **row, med_lock **unit)
{
    const med_self_recent *recent = &self->recent_rwl;
    if (__builtin_expect(recent->handle == rwl && recent->unit, 1)) {
        *row = recent->row;
        *unit = recent->unit;
        return __builtin_expect(
            med_handle_is_current(rwl, atomic32_load_relaxed(&(*row)->object.row.state)), 1);
    }
    const med_self_table *table = &self->tables[MED_KIND_RWL];
    *row = (med_rwl_row *)(void *)med_object_good(table, rwl, MED_HANDLE_RWL);
    if (__builtin_expect(!*row, 0)) {
        return false;
    }
    med_object_touch(table, med_handle_index(rwl));
    *unit = med_rwl_first(self, *row);
    self->recent_rwl = (med_self_recent){.handle = rwl, .row = *row, .unit = *unit};
    return true;
}

static inline bool
med_rwl_read_fast(med_self *self, med_handle rwl)
{
    med_rwl_row *row;
    med_lock *unit;
    if (__builtin_expect(!med_rwl_recall(self, rwl, &row, &unit), 0)) {
        return false;
    }
    if (__builtin_expect(!med_rwlock_read_fast(&row->lock, unit, self->ref, self->scope), 0)) {
        return false;
    }
    /* Relaxed: the unit's acquire stands before it (R1 in object.c). */
    if (__builtin_expect(!med_handle_is_current(rwl, atomic32_load_relaxed(&row->object.row.state)),
                         0)) {
        med_rwlock_back_out(&row->lock, unit, self->ref, self->scope);
        return false;
    }
    if (__builtin_expect(self->owner_died, 0)) {
        self->owner_died = false;
    }
    return true;
}

static inline bool
med_rwl_read_end_fast(med_self *self, med_handle rwl)
{
    med_rwl_row *row;
    med_lock *unit;
    if (__builtin_expect(!med_rwl_recall(self, rwl, &row, &unit), 0)) {
        return false;
    }
    if (__builtin_expect(!med_lock_is_mine(unit, self->ref), 0)) {
        return false;
    }
    med_rwlock_read_end(&row->lock, unit, self->scope);
    return true;
}

#endif
