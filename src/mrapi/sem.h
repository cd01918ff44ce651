/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Semaphores: a row of the registry around base's units. So many nodes have one at once as its
 * maker said; each of them owns its unit, only an owner gives one back, and a dead owner's come
 * back by themselves. A node may have several.
 */
#ifndef MEDLEY_MRAPI_SEM_H
#define MEDLEY_MRAPI_SEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "medley/status.h"
#include "mrapi/object.h"

struct med_system;

typedef struct med_sem_row {
    med_object object;
    atomic32 limit; /* how many units; fixed at creation */
    med_lock_sleepers sleepers;
    atomic32 slept; /* how often somebody slept for it: statistics */
    uint32_t unused[7];
    /* Followed by as many units as there may be sharers. Owner: node reference. */
} med_sem_row;
_Static_assert(sizeof(med_sem_row) == MED_OBJECT_SHARED_HEAD_BYTES,
               "the units begin a line of their own");

uint32_t med_sem_row_bytes(const med_limits *limits);

/* MEDLEY_ERR_EXISTS; MEDLEY_ERR_LIMIT: no more semaphores; MEDLEY_ERR_ARGUMENT: no unit, or more
 * than there may be sharers, which is reported. */
medley_status_t med_sem_create(
    med_self *self, uint32_t number, uint32_t attributes, uint32_t limit, med_handle *sem);
/* MEDLEY_ERR_NOT_FOUND; MEDLEY_ERR_ACCESS: another domain's, not shared. */
medley_status_t med_sem_get(med_self *self, uint32_t number, med_handle *sem);
/* When nobody else has a unit of it, else MEDLEY_BUSY. Who waits for it is told that it is gone. */
medley_status_t med_sem_delete(med_self *self, med_handle sem);

/* All of the following: MEDLEY_ERR_ARGUMENT for what is no handle of a semaphore,
 * MEDLEY_ERR_NOT_FOUND for one that was deleted with ERROR_EXT, MEDLEY_ERR_STALE for one deleted
 * without. */

/* The common case, on hot paths before med_sem_lock. True: a unit is had. False: nothing done. */
static inline bool med_sem_lock_fast(med_self *self, med_handle sem);
static inline bool med_sem_unlock_fast(med_self *self, med_handle sem);

/* deadline_ns 0: one try. MEDLEY_BUSY: all units are had (try); MEDLEY_TIMEOUT; MEDLEY_ERR_EXISTS:
 * all are this node's own, and it would wait for ever. self->owner_died tells whether the unit's
 * former owner died. */
medley_status_t med_sem_lock(med_self *self, med_handle sem, uint64_t deadline_ns);
/* MEDLEY_ERR_NOT_OWNER: this node has none. */
medley_status_t med_sem_unlock(med_self *self, med_handle sem);

medley_status_t med_sem_attributes(const med_self *self, med_handle sem, uint32_t *attributes);

static inline med_units
med_sem_units(med_sem_row *row, uint32_t sharers)
{
    return med_object_units(&row->object, &row->limit, sharers);
}

/* The units of a gone node come back. */
medley_status_t med_sem_recover_rows(struct med_system *system,
                                     uint32_t first,
                                     uint32_t count,
                                     uint32_t node_ref,
                                     uint32_t thread_id);
/* The table's on_remove. */
void med_sem_row_removed(const med_table_view *view, med_row *row);

/* ---- The fast path --------------------------------------------------------------------------- */

/* Where this node looks first. Within the row, whatever the row says. */
static inline med_lock *
med_sem_first(const med_self *self, med_sem_row *row)
{
    med_units units = med_sem_units(row, self->sharers);
    return &units.words[med_units_first(&units, self->unit)];
}

/* Whose handle this is, and the unit to try: mostly those of the last time. Relaxed: looked at
 * again by who takes it. False: the handle is not good. */
static inline bool
med_sem_recall(med_self *self, med_handle sem, med_sem_row **row, med_lock **unit)
{
    const med_self_recent *recent = &self->recent_sem;
    if (__builtin_expect(recent->handle == sem && recent->unit, 1)) {
        *row = recent->row;
        *unit = recent->unit;
        return __builtin_expect(
            med_handle_is_current(sem, atomic32_load_relaxed(&(*row)->object.row.state)), 1);
    }
    const med_self_table *table = &self->tables[MED_KIND_SEM];
    *row = (med_sem_row *)(void *)med_object_good(table, sem, MED_HANDLE_SEM);
    if (__builtin_expect(!*row, 0)) {
        return false;
    }
    med_object_touch(table, med_handle_index(sem));
    *unit = med_sem_first(self, *row);
    self->recent_sem = (med_self_recent){.handle = sem, .row = *row, .unit = *unit};
    return true;
}

static inline bool
med_sem_lock_fast(med_self *self, med_handle sem)
{
    med_sem_row *row;
    med_lock *unit;
    if (__builtin_expect(!med_sem_recall(self, sem, &row, &unit), 0)) {
        return false;
    }
    if (__builtin_expect(!med_units_take_at(unit, self->ref), 0)) {
        return false;
    }
    /* Relaxed: the unit's acquire stands before it (R1 in object.c). */
    if (__builtin_expect(!med_handle_is_current(sem, atomic32_load_relaxed(&row->object.row.state)),
                         0)) {
        med_lock_give_back(unit, &row->sleepers, self->ref, self->scope);
        return false;
    }
    if (__builtin_expect(self->owner_died, 0)) {
        self->owner_died = false;
    }
    return true;
}

static inline bool
med_sem_unlock_fast(med_self *self, med_handle sem)
{
    med_sem_row *row;
    med_lock *unit;
    if (__builtin_expect(!med_sem_recall(self, sem, &row, &unit), 0)) {
        return false;
    }
    if (__builtin_expect(!med_lock_is_mine(unit, self->ref), 0)) {
        return false;
    }
    med_lock_release(unit, &row->sleepers, self->scope);
    return true;
}

#endif
