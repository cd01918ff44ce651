/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Mutexes: a row of the registry around base's lock. Owned by a node; recursive and with priority
 * inheritance on demand; every acquisition has a key, which the matching release must show.
 */
#ifndef MEDLEY_MRAPI_MUTEX_H
#define MEDLEY_MRAPI_MUTEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/lock.h"
#include "medley/status.h"
#include "mrapi/handle.h"
#include "mrapi/node.h"
#include "mrapi/object.h"
#include "mrapi/table.h"

struct med_system;

#define MED_MUTEX_RECURSIVE 1u
#define MED_MUTEX_ERROR_EXT MED_OBJECT_ERROR_EXT
#define MED_MUTEX_DOMAIN_SHARED MED_OBJECT_DOMAIN_SHARED
#define MED_MUTEX_PRIORITY_INHERITANCE 8u

/* Depths beyond this do not fit a key. */
#define MED_MUTEX_DEPTH_MAX 255u

/*
 * Keys: the node's own count of all that it was given, so that no two of one node are the same
 * before the count comes round; that no other node uses them, the lock itself says.
 *
 *   outermost level   31..1 count                        0: 0
 *   an inner one      31..9 count   8..0 2 * level - 1
 *
 * The key of the outermost level stands in the row. Those of inner ones are the node's: it keeps a
 * few (med_self.levels), and of another it knows the level only.
 */
#define MED_MUTEX_KEY_STEP 2u
#define MED_MUTEX_KEY_LEVEL 0x1ffu

typedef enum med_mutex_death {
    MED_MUTEX_SOUND,
    MED_MUTEX_TELL_NEXT, /* an owner died; the next one is told */
    MED_MUTEX_DEAD,      /* an owner died; nobody gets it again */
    MED_MUTEX_FORMER,    /* not had yet; a death that the word tells of is a former mutex's */
} med_mutex_death;

typedef struct med_mutex_row {
    med_object object;
    med_lock lock; /* owner: node reference; with priority inheritance DEAD, always */
    med_lock_sleepers sleepers;
    atomic32 depth;     /* written by the owner, as are the next two; 1 while it is free */
    atomic32 key;       /* of its outermost level, when it was last taken */
    atomic32 pi_owner;  /* with priority inheritance: the (last) owner's node reference */
    atomic32 pi_death;  /* with priority inheritance: med_mutex_death */
    atomic32 pi_word;   /* the lock, in the port's format, of all with priority inheritance that the
                           row ever was, one after the other: never just reset */
    atomic32 pi_space;  /* with priority inheritance: where its thread numbers hold */
    atomic32 slept;     /* how often somebody slept for it: statistics */
    atomic32 pi_graves; /* with priority inheritance: how many holders were buried, ever, wrapping;
                           written under the lock of the table of nodes */
} med_mutex_row;
_Static_assert(sizeof(med_mutex_row) == 64, "one line");

/* MEDLEY_ERR_EXISTS, MEDLEY_ERR_LIMIT; MEDLEY_ERR_NOT_SUPPORTED: no priority inheritance here. */
medley_status_t
med_mutex_create(med_self *self, uint32_t number, uint32_t attributes, med_handle *mutex);
/* MEDLEY_ERR_NOT_FOUND; MEDLEY_ERR_ACCESS: another domain's, not shared. */
medley_status_t med_mutex_get(med_self *self, uint32_t number, med_handle *mutex);
/* By the holder, or by anybody when nobody holds it, else MEDLEY_BUSY. Who waits for it is told
 * that it is gone. */
medley_status_t med_mutex_delete(med_self *self, med_handle mutex);

/* All of the following: MEDLEY_ERR_ARGUMENT for what is no handle of a mutex, MEDLEY_ERR_NOT_FOUND
 * for one that was deleted with ERROR_EXT, MEDLEY_ERR_STALE for one deleted without. */

/* The common case, on hot paths before med_mutex_lock: nobody holds it and the handle is good.
 * True: it is held. False: nothing was done. */
static inline bool med_mutex_lock_fast(med_self *self, med_handle mutex, uint32_t *key);
/* The common case of unlock: the outermost level, with its key. */
static inline bool med_mutex_unlock_fast(med_self *self, med_handle mutex, uint32_t key);

/* deadline_ns 0: one try; MEDLEY_BUSY: another's. MEDLEY_ERR_EXISTS: this node's own and not
 * recursive; MEDLEY_ERR_LIMIT: too deep; MEDLEY_TIMEOUT. MEDLEY_ERR_OWNER_DIED: nobody gets it any
 * more. When it is had, self->owner_died tells whether the former owner died. */
medley_status_t
med_mutex_lock(med_self *self, med_handle mutex, uint64_t deadline_ns, uint32_t *key);
/* MEDLEY_ERR_NOT_OWNER: not this node's; MEDLEY_ERR_CORRUPT: no key of this acquisition;
 * MEDLEY_BUSY: the key of an outer level. */
medley_status_t med_mutex_unlock(med_self *self, med_handle mutex, uint32_t key);

medley_status_t med_mutex_attributes(const med_self *self, med_handle mutex, uint32_t *attributes);

/* Recovers, among `count` rows from `first` on, those that a gone node holds. */
medley_status_t med_mutex_recover_rows(struct med_system *system,
                                       uint32_t first,
                                       uint32_t count,
                                       uint32_t node_ref,
                                       uint32_t thread_id);
/* The table's on_remove. */
void med_mutex_row_removed(const med_table_view *view, med_row *row);

/* Who holds it, as a node reference; 0: nobody, MED_LOCK_DEAD: nobody ever again. For showing. */
uint32_t med_mutex_holder(const struct med_system *system, const med_mutex_row *row);

/* ---- The fast path --------------------------------------------------------------------------- */

/* By the owner. Relaxed: his own word. */
static inline uint32_t
med_mutex_key_give(med_self *self, med_mutex_row *row)
{
    uint32_t key = self->mutex_key + MED_MUTEX_KEY_STEP;
    self->mutex_key = key;
    atomic32_store_relaxed(&row->key, key);
    return key;
}

/* A row has a size that the compiler knows. Relaxed: looked at again. A stale handle must not take
 * another mutex, not even for a moment, unless that one is made at this very instant. */
static inline med_mutex_row *
med_mutex_good(const med_self *self, med_handle mutex)
{
    const med_self_table *table = &self->tables[MED_KIND_MUTEX];
    uint32_t index = med_handle_index_of_kind(mutex, MED_HANDLE_MUTEX);
    if (__builtin_expect(index >= table->row_count, 0)) {
        return NULL;
    }
    med_mutex_row *row = (med_mutex_row *)(void *)table->rows + index;
    uint32_t state = atomic32_load_relaxed(&row->object.row.state);
    return __builtin_expect(med_handle_is_current(mutex, state), 1) ? row : NULL;
}

static inline __attribute__((always_inline)) bool
med_mutex_lock_fast(med_self *self, med_handle mutex, uint32_t *key)
{
    med_mutex_row *row = med_mutex_good(self, mutex);
    if (__builtin_expect(!row, 0)) {
        return false;
    }
    med_object_touch(&self->tables[MED_KIND_MUTEX], med_handle_index(mutex));
    if (__builtin_expect(!med_lock_try_fast(&row->lock, self->ref), 0)) {
        return false;
    }
    /* Relaxed: the lock's acquire stands before it (R1 in mutex.c). Not this life of the row: it
     * was not ours to lock, and nobody saw it locked who had a right to. */
    if (__builtin_expect(
            !med_handle_is_current(mutex, atomic32_load_relaxed(&row->object.row.state)), 0)) {
        med_lock_give_back(&row->lock, &row->sleepers, self->ref, self->scope);
        return false;
    }
    if (__builtin_expect(self->owner_died, 0)) {
        self->owner_died = false;
    }
    *key = med_mutex_key_give(self, row);
    return true;
}

static inline __attribute__((always_inline)) bool
med_mutex_unlock_fast(med_self *self, med_handle mutex, uint32_t key)
{
    med_mutex_row *row = med_mutex_good(self, mutex);
    if (__builtin_expect(!row, 0)) {
        return false;
    }
    /* Relaxed, all of them: if the lock is ours, they are our own words. */
    bool common = med_lock_is_mine(&row->lock, self->ref) &&
                  atomic32_load_relaxed(&row->depth) == 1 &&
                  key == atomic32_load_relaxed(&row->key);
    if (__builtin_expect(!common, 0)) {
        return false;
    }
    med_lock_release(&row->lock, &row->sleepers, self->scope);
    return true;
}

#endif
