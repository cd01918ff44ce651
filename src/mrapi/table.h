/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A table of the registry: rows of one kind (nodes, mutexes, ...), found by key without a lock,
 * inserted and removed under a lock that survives its holder. Nobody waits without end for one who
 * lives and does not go on (SIGSTOP): who wants the lock gives up when his patience ends, with
 * MEDLEY_TIMEOUT and nothing changed.
 *
 *   in the partition:  med_table | hash words | rows
 *
 * The rows' state words are the truth. The hash and the free list are derived from them: when
 * somebody died holding the lock, the next holder derives them anew (repair), and finishes or
 * undoes the one insertion or removal that was under way.
 *
 * A row is named by its index and its generation; the generation goes up when the row is given
 * back, so that a name of a former object is recognised.
 */
#ifndef MEDLEY_MRAPI_TABLE_H
#define MEDLEY_MRAPI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/lock.h"
#include "medley/status.h"

typedef enum med_row_state {
    MED_ROW_FREE,     /* in the free list */
    MED_ROW_CREATING, /* being filled by the holder of the table's lock */
    MED_ROW_LIVE,
    MED_ROW_REMOVING, /* being given back by the holder of the table's lock */
} med_row_state;

/* The first 16 bytes of every row. */
typedef struct med_row {
    atomic32 state;    /* bits 0..15 med_row_state, bits 16..31 generation */
    atomic32 key_high; /* written by the lock's holder while the row is not LIVE */
    atomic32 key_low;
    atomic32
        next; /* written by the lock's holder; index + 1, 0 ends. FREE: in the free list, else in
                      the chain of those whose keys have the same hash */
} med_row;
_Static_assert(sizeof(med_row) == 16, "rows start alike in every build");

typedef struct med_key {
    uint32_t high;
    uint32_t low;
} med_key;

typedef struct med_table {
    med_lock lock; /* owner: a process reference (process.h) */
    med_lock_sleepers sleepers;
    atomic32 free_head; /* all of these: written by the lock's holder; index + 1, 0 is none */
    atomic32 free_tail;
    atomic32 fresh; /* rows from here on were never used and are in no list */
    atomic32 used;  /* LIVE rows */
    atomic32 high_water;
    atomic32
        holder_thread; /* this and the next are for who looks, and kept in named systems only */
    atomic64 held_since_ns; /* 0: not held, or by one who has not said so yet */
    uint32_t unused[6];
} med_table;
_Static_assert(sizeof(med_table) == 64, "a table's head has a line of its own");

/* One process's view: built once from checked limits, so that nothing a peer writes into the
 * partition later moves it. */
typedef struct med_table_view {
    med_table *table;
    atomic32 *hash; /* the chains' fronts: index + 1, 0 is none */
    unsigned char *rows;
    uint32_t row_count;
    uint32_t row_bytes;
    uint32_t hash_mask;
    med_port_scope scope;
    uint32_t process_ref; /* who locks */
    /* Called, with the lock held, for each row that is given back; may be NULL. Idempotent. */
    void (*on_remove)(const struct med_table_view *view, med_row *row);
    /* Called while waiting for the lock: recovers a dead holder. MEDLEY_ERR_NOT_FOUND: it names
     * nobody, and is taken away. */
    medley_status_t (*on_slice)(void *context, uint32_t process_ref);
    uint64_t patience_ns; /* how long it waits for the lock; 0: for ever */
    /* Called when the patience ended: tells of the holder (0: he is gone by now); may be NULL. */
    void (*on_stuck)(const struct med_table_view *view, uint32_t process_ref);
    atomic32 *given_up; /* of this process alone: the holder that it last waited for in vain, or 0;
                           NULL where there is no patience */
    void *context;
} med_table_view;

size_t med_table_size(uint32_t row_count, uint32_t row_bytes);
/* The view of a table at `memory`; touches nothing. */
void
med_table_view_init(med_table_view *view, void *memory, uint32_t row_count, uint32_t row_bytes);
/* Zeroed memory becomes an empty table. */
void med_table_init(const med_table_view *view);

static inline med_row *
med_table_row(const med_table_view *view, uint32_t index)
{
    return (med_row *)(void *)(view->rows + (size_t)index * view->row_bytes);
}

static inline uint32_t
med_row_word(med_row_state state, uint32_t generation)
{
    return (generation & 0xffffu) << 16 | (uint32_t)state;
}

static inline med_row_state
med_row_state_of(uint32_t word)
{
    return (med_row_state)(word & 0xffffu);
}

static inline uint32_t
med_row_generation_of(uint32_t word)
{
    return word >> 16;
}

/* Finds a LIVE row by its key. Lock-free: a row that is inserted or removed meanwhile may or may
 * not be found. Bounded by the size of the table whatever it contains. */
medley_status_t
med_table_find(const med_table_view *view, med_key key, uint32_t *index, uint32_t *generation);

/* Fills a new row behind its first 16 bytes, with the lock held. */
typedef void (*med_row_fill)(med_row *row, uint32_t index, uint32_t generation, void *context);

/* A row to insert, and where it went. */
typedef struct med_table_insertion {
    med_key key;
    bool any; /* under a free key at or above `key`, which becomes that when it is inserted */
    /* Where the row named by the results is still there when this one is inserted, it is given back
     * in the same hold of the lock: this one takes its place, so that no other can, and may have
     * its key. When it is filled, and after that, this says whether it was so. */
    bool replaces;
    bool only_replaces; /* where it is not there any more, nothing is inserted: MEDLEY_ERR_STALE */
    /* Asked first, with the lock held and nothing changed: what it returns other than MEDLEY_OK is
     * returned. It may take locks of tables that come later in the partition. NULL: nobody is. */
    medley_status_t (*may)(void *context);
    med_row_fill fill;
    void *context;  /* of both */
    uint32_t index; /* results: of the row, or of the one that has the key */
    uint32_t generation;
} med_table_insertion;

/* MEDLEY_ERR_EXISTS: a row has the key; MEDLEY_ERR_LIMIT: all rows are in use; MEDLEY_ERR_STALE:
 * see only_replaces. May block while others insert and remove, as all of the following:
 * MEDLEY_TIMEOUT. */
medley_status_t med_table_insert(const med_table_view *view, med_table_insertion *insertion);

/* Does something with the lock held, so that no row comes or goes meanwhile. As `may` above. */
medley_status_t
med_table_hold(const med_table_view *view, medley_status_t (*act)(void *context), void *context);

/* Gives a LIVE row back. MEDLEY_ERR_STALE: it is not, or no longer, this one. */
medley_status_t med_table_remove(const med_table_view *view, uint32_t index, uint32_t generation);

/* As remove; and in the same hold `next` takes its place, so that no other can. Where another row
 * has that one's key, since somebody wrote over it, the row only goes. */
medley_status_t med_table_remove_for(const med_table_view *view,
                                     uint32_t index,
                                     uint32_t generation,
                                     med_table_insertion *next);

/* What one decides or changes in a row while nobody inserts or removes. */
typedef medley_status_t (*med_row_act)(med_row *row, uint32_t index, void *context);

/* Calls `act` with a LIVE row, with the lock held, and returns what it says; MEDLEY_ERR_STALE. */
medley_status_t med_table_act(const med_table_view *view,
                              uint32_t index,
                              uint32_t generation,
                              med_row_act act,
                              void *context);
/* As remove, if `may_go` says MEDLEY_OK; else what that says. */
medley_status_t med_table_remove_if(const med_table_view *view,
                                    uint32_t index,
                                    uint32_t generation,
                                    med_row_act may_go,
                                    void *context);

#endif
