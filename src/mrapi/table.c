/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A table of the registry: rows come and go. What may run together:
 *
 *              find   insert   remove
 *   find       yes    yes      yes
 *   insert     yes    lock     lock
 *   remove     yes    lock     lock
 *
 * Linearisation: insert, the store of LIVE (T1); remove, the store of REMOVING; find is in
 * table_index.c. Progress: insert and remove block on the lock (table_lock.c).
 *
 * Death: who dies in the middle of either held the lock, and leaves the row in CREATING or
 * REMOVING: the next holder's repair of the index makes it FREE before anything else.
 * Model: models/table.pml.
 */
#include "mrapi/table.h"

#include <stdbool.h>

#include "mrapi/table_index.h"
#include "mrapi/table_lock.h"

/* ---- Layout ---------------------------------------------------------------------------------- */

static uint32_t
hash_size(uint32_t row_count)
{
    uint32_t size = 16;
    while (size < row_count * 2) {
        size *= 2;
    }
    return size;
}

size_t
med_table_size(uint32_t row_count, uint32_t row_bytes)
{
    return sizeof(med_table) + hash_size(row_count) * sizeof(atomic32) +
           (size_t)row_count * row_bytes;
}

void
med_table_view_init(med_table_view *view, void *memory, uint32_t row_count, uint32_t row_bytes)
{
    view->table = memory;
    view->hash = (atomic32 *)(void *)((char *)memory + sizeof(med_table));
    view->hash_mask = hash_size(row_count) - 1;
    view->rows = (unsigned char *)(view->hash + view->hash_mask + 1);
    view->row_count = row_count;
    view->row_bytes = row_bytes;
}

void
med_table_init(const med_table_view *view)
{
    /* Relaxed, all: published with the partition. */
    atomic32_store_relaxed(&view->table->free_head, 0);
    atomic32_store_relaxed(&view->table->free_tail, 0);
    atomic32_store_relaxed(&view->table->fresh, 0);
}

/* ---- Insert and remove ----------------------------------------------------------------------- */

/* A LIVE row, and what it leaves behind in the index. */
static void
give_back(const med_table_view *view, med_row *row, uint32_t index)
{
    /* Relaxed: written under the lock. */
    uint32_t generation = med_row_generation_of(atomic32_load_relaxed(&row->state));
    /* T4 leaving -> A1 (table_index.c): whoever passes it on his way knows what T1 told. */
    atomic32_store_release(&row->state, med_row_word(MED_ROW_REMOVING, generation));
    med_table_index_retire(view, index);
}

static medley_status_t
insert_locked(const med_table_view *view, med_key key, med_table_insertion *insertion)
{
    uint32_t taken = med_table_index_take(view);
    if (taken == 0) {
        return MEDLEY_ERR_LIMIT;
    }
    uint32_t index = taken - 1;
    med_row *row = med_table_row(view, index);
    /* Relaxed, both: written under the lock; and T2 orders CREATING before the key. */
    uint32_t life = med_row_generation_of(atomic32_load_relaxed(&row->state));
    atomic32_store_relaxed(&row->state, med_row_word(MED_ROW_CREATING, life));
    atomic32_store_release(&row->key_high, key.high); /* T2 key -> A2 (table_index.c) */
    atomic32_store_release(&row->key_low, key.low);   /* T2 key -> A2 (table_index.c) */
    med_table_index_prepare(view, index);
    insertion->fill(row, index, life, insertion->context);
    /* T1 live -> A1 (table_index.c; all who look at a row) */
    atomic32_store_release(&row->state, med_row_word(MED_ROW_LIVE, life));
    med_table_index_add(view, index);
    insertion->key = key;
    insertion->index = index;
    insertion->generation = life;
    return MEDLEY_OK;
}

/* At or above `first`. The next row's own number is nobody else's, unless a user chose it. */
static med_key
free_key(const med_table_view *view, med_key first)
{
    uint32_t index, generation;
    med_key key = {.high = first.high, .low = first.low + med_table_index_next(view)};
    for (uint32_t n = 0; n < view->row_count; n++, key.low += view->row_count) {
        if (med_table_find(view, key, &index, &generation) != MEDLEY_OK) {
            break;
        }
    }
    return key;
}

/* The row that it replaces, if that is there. */
static med_row *
replaced_by(const med_table_view *view, const med_table_insertion *insertion)
{
    if (!med_port_has_processes() || !insertion->replaces || insertion->index >= view->row_count) {
        return NULL; /* no image of bare metal has rows that are only kept for others */
    }
    med_row *row = med_table_row(view, insertion->index);
    uint32_t state = atomic32_load_relaxed(&row->state); /* relaxed: written under the lock */
    return state == med_row_word(MED_ROW_LIVE, insertion->generation) ? row : NULL;
}

/* Has a row other than `replaced` the key? That one then is what it names. */
static bool
key_is_taken(const med_table_view *view, const med_row *replaced, med_table_insertion *insertion)
{
    uint32_t index, generation;
    if (insertion->any || med_table_find(view, insertion->key, &index, &generation) != MEDLEY_OK ||
        med_table_row(view, index) == replaced) {
        return false;
    }
    insertion->index = index;
    insertion->generation = generation;
    return true;
}

medley_status_t
med_table_insert(const med_table_view *view, med_table_insertion *insertion)
{
    medley_status_t status = med_table_lock(view);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_row *replaced = replaced_by(view, insertion);
    med_key key = insertion->any ? free_key(view, insertion->key) : insertion->key;
    if (med_port_has_processes() && insertion->only_replaces && !replaced) {
        status = MEDLEY_ERR_STALE;
    } else if (key_is_taken(view, replaced, insertion)) {
        status = MEDLEY_ERR_EXISTS;
    } else if (insertion->may) {
        status = insertion->may(insertion->context);
    }
    if (status == MEDLEY_OK && replaced) {
        give_back(view, replaced, insertion->index);
    }
    if (status == MEDLEY_OK) {
        if (med_port_has_processes()) {
            insertion->replaces = replaced != NULL;
        }
        status = insert_locked(view, key, insertion);
    }
    med_table_unlock(view);
    return status;
}

medley_status_t
med_table_hold(const med_table_view *view, medley_status_t (*act)(void *context), void *context)
{
    medley_status_t status = med_table_lock(view);
    if (status == MEDLEY_OK) {
        status = act(context);
        med_table_unlock(view);
    }
    return status;
}

medley_status_t
med_table_act(
    const med_table_view *view, uint32_t index, uint32_t generation, med_row_act act, void *context)
{
    if (index >= view->row_count) {
        return MEDLEY_ERR_ARGUMENT;
    }
    medley_status_t status = med_table_lock(view);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_row *row = med_table_row(view, index);
    /* Relaxed: written under the lock. */
    bool live = atomic32_load_relaxed(&row->state) == med_row_word(MED_ROW_LIVE, generation);
    status = live ? act(row, index, context) : MEDLEY_ERR_STALE;
    med_table_unlock(view);
    return status;
}

typedef struct removal {
    const med_table_view *view;
    med_row_act may_go;
    void *context;
} removal;

static medley_status_t
remove_locked(med_row *row, uint32_t index, void *context)
{
    const removal *wanted = context;
    const med_table_view *view = wanted->view;
    medley_status_t status =
        wanted->may_go ? wanted->may_go(row, index, wanted->context) : MEDLEY_OK;
    if (status != MEDLEY_OK) {
        return status;
    }
    give_back(view, row, index);
    return MEDLEY_OK;
}

medley_status_t
med_table_remove_if(const med_table_view *view,
                    uint32_t index,
                    uint32_t generation,
                    med_row_act may_go,
                    void *context)
{
    removal wanted = {.view = view, .may_go = may_go, .context = context};
    return med_table_act(view, index, generation, remove_locked, &wanted);
}

medley_status_t
med_table_remove(const med_table_view *view, uint32_t index, uint32_t generation)
{
    return med_table_remove_if(view, index, generation, NULL, NULL);
}

medley_status_t
med_table_remove_for(const med_table_view *view,
                     uint32_t index,
                     uint32_t generation,
                     med_table_insertion *next)
{
    next->replaces = true;
    next->only_replaces = true;
    next->index = index;
    next->generation = generation;
    medley_status_t status = med_table_insert(view, next);
    return status == MEDLEY_ERR_EXISTS ? med_table_remove(view, index, generation) : status;
}
