/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The index of a table: how a row is found by its key, and a FREE one at all. It is derived from
 * the rows' state words. Finding needs no lock; all the rest is for the lock's holder.
 *
 * Linearisation: find, its second load of the state. Progress: find is wait-free (at most one round
 * through the hash), as are the others.
 *
 * The hash is open addressing with linear probing, never more than half full. A removed entry stays
 * as WAS_USED while the next one is in use, so that probes go on; readers may probe at any moment
 * of an insertion or removal, since each changes one word at a time.
 *
 * Death: of a reader, nothing. Of the lock's holder: the next one derives the index anew. Rows in
 * CREATING or REMOVING can only be the dead holder's, and go back to FREE; LIVE rows get their
 * place in the hash if they lack it.
 * Model: models/table.pml.
 */
#include "mrapi/table_index.h"

#include <stdbool.h>

#include "port/port.h"

#define HASH_EMPTY 0u
#define HASH_WAS_USED 1u
#define HASH_FIRST 2u

/* ---- Finding --------------------------------------------------------------------------------- */

static uint32_t
hash_of(med_key key)
{
    uint32_t h = key.low * 0x9e3779b1u ^ key.high * 0x85ebca77u;
    h ^= h >> 15;
    h *= 0xc2b2ae3du;
    return h ^ h >> 13;
}

/* Is the row LIVE under this key? Two equal states around the key mean that the key is theirs. */
static bool
row_matches(const med_row *row, med_key key, uint32_t *generation)
{
    uint32_t before = atomic32_load_acquire(&row->state); /* A1 live <- T1 (table.c) */
    if (med_row_state_of(before) != MED_ROW_LIVE) {
        return false;
    }
    /* Acquire: the second look at the state comes after these. A2 key <- T2 (table.c): a key of a
     * later life is only seen together with that life's CREATING. */
    uint32_t high = atomic32_load_acquire(&row->key_high);
    uint32_t low = atomic32_load_acquire(&row->key_low);
    /* Relaxed: ordered by A2. */
    if (high != key.high || low != key.low || atomic32_load_relaxed(&row->state) != before) {
        return false;
    }
    *generation = med_row_generation_of(before);
    return true;
}

medley_status_t
med_table_find(const med_table_view *view, med_key key, uint32_t *index, uint32_t *generation)
{
    uint32_t slot = hash_of(key);
    for (uint32_t probe = 0; probe <= view->hash_mask; probe++, slot++) {
        /* A3 in hash <- T3 (hash_put): the row it names has been written. */
        uint32_t entry = atomic32_load_acquire(&view->hash[slot & view->hash_mask]);
        if (entry == HASH_EMPTY) {
            break;
        }
        uint32_t candidate = entry - HASH_FIRST; /* WAS_USED becomes huge */
        if (candidate < view->row_count &&
            row_matches(med_table_row(view, candidate), key, generation)) {
            *index = candidate;
            return MEDLEY_OK;
        }
    }
    return MEDLEY_ERR_NOT_FOUND;
}

/* ---- Under the lock -------------------------------------------------------------------------- */
/* Words that only the lock's holder writes are read relaxed by him. */

static med_key
key_of(const med_row *row)
{
    return (med_key){.high = atomic32_load_relaxed(&row->key_high),
                     .low = atomic32_load_relaxed(&row->key_low)};
}

static void
hash_put(const med_table_view *view, med_key key, uint32_t index)
{
    uint32_t slot = hash_of(key);
    for (uint32_t probe = 0; probe <= view->hash_mask; probe++, slot++) {
        atomic32 *word = &view->hash[slot & view->hash_mask];
        uint32_t entry = atomic32_load_relaxed(word);
        if (entry == index + HASH_FIRST) {
            return;
        }
        if (entry == HASH_EMPTY || entry == HASH_WAS_USED) {
            atomic32_store_release(word, index + HASH_FIRST); /* T3 in hash -> A3 (find) */
            return;
        }
    }
}

/* In a repair: it may be in the hash already, behind a place that has come free. */
static void
hash_put_missing(const med_table_view *view, med_key key, uint32_t index)
{
    uint32_t found, generation;
    if (med_table_find(view, key, &found, &generation) != MEDLEY_OK) {
        hash_put(view, key, index);
    }
}

/* Entries that no probe needs to pass become EMPTY again: this one and those before it. */
static void
hash_sweep(const med_table_view *view, uint32_t slot)
{
    if (atomic32_load_relaxed(&view->hash[(slot + 1) & view->hash_mask]) != HASH_EMPTY) {
        return;
    }
    for (uint32_t n = 0; n <= view->hash_mask; n++, slot--) {
        atomic32 *word = &view->hash[slot & view->hash_mask];
        if (atomic32_load_relaxed(word) != HASH_WAS_USED) {
            return;
        }
        /* Relaxed: a reader who still sees WAS_USED only probes further. */
        atomic32_store_relaxed(word, HASH_EMPTY);
    }
}

static void
hash_remove(const med_table_view *view, med_key key, uint32_t index)
{
    uint32_t slot = hash_of(key);
    for (uint32_t probe = 0; probe <= view->hash_mask; probe++, slot++) {
        atomic32 *word = &view->hash[slot & view->hash_mask];
        uint32_t entry = atomic32_load_relaxed(word);
        if (entry == HASH_EMPTY) {
            return;
        }
        if (entry == index + HASH_FIRST) {
            /* Relaxed: the row's state says that it is gone; this only shortens searches. */
            atomic32_store_relaxed(word, HASH_WAS_USED);
            hash_sweep(view, slot);
            return;
        }
    }
}

/* The free list is a queue, so that a row rests as long as possible before its next life. */
static void
free_append(const med_table_view *view, uint32_t index)
{
    med_table *table = view->table;
    uint32_t tail = atomic32_load_relaxed(&table->free_tail);
    atomic32_store_relaxed(&med_table_row(view, index)->next_free, 0);
    if (tail && tail <= view->row_count) {
        atomic32_store_relaxed(&med_table_row(view, tail - 1)->next_free, index + 1);
    } else {
        atomic32_store_relaxed(&table->free_head, index + 1);
    }
    atomic32_store_relaxed(&table->free_tail, index + 1);
}

static void
used_add(const med_table_view *view, uint32_t change)
{
    med_table *table = view->table;
    uint32_t used = atomic32_load_relaxed(&table->used) + change;
    atomic32_store_relaxed(&table->used, used); /* relaxed: for showing */
    if (used > atomic32_load_relaxed(&table->high_water) && used <= view->row_count) {
        atomic32_store_relaxed(&table->high_water, used);
    }
}

/* A row that is REMOVING (or half CREATING) becomes FREE, of the next generation. */
static void
row_give_back(const med_table_view *view, med_row *row)
{
    if (view->on_remove) {
        view->on_remove(view, row);
    }
    uint32_t generation = med_row_generation_of(atomic32_load_relaxed(&row->state));
    /* Relaxed: what on_remove did is seen by who fills the row next, by the lock. Who only looks
     * reads nothing of a row that is FREE. */
    atomic32_store_relaxed(&row->state, med_row_word(MED_ROW_FREE, generation + 1));
}

void
med_table_index_add(const med_table_view *view, med_key key, uint32_t index)
{
    hash_put(view, key, index);
    used_add(view, 1);
}

void
med_table_index_retire(const med_table_view *view, uint32_t index)
{
    med_row *row = med_table_row(view, index);
    hash_remove(view, key_of(row), index);
    row_give_back(view, row);
    free_append(view, index);
    used_add(view, UINT32_MAX);
}

static void
repair_rows(const med_table_view *view)
{
    med_table *table = view->table;
    uint32_t used = 0;
    uint32_t fresh = atomic32_load_relaxed(&table->fresh);
    fresh = fresh <= view->row_count ? fresh : view->row_count;
    atomic32_store_relaxed(&table->fresh, fresh);
    atomic32_store_relaxed(&table->free_head, 0);
    atomic32_store_relaxed(&table->free_tail, 0);
    for (uint32_t index = 0; index < fresh; index++) {
        med_row *row = med_table_row(view, index);
        med_row_state state = med_row_state_of(atomic32_load_relaxed(&row->state));
        if (state == MED_ROW_LIVE) {
            hash_put_missing(view, key_of(row), index);
            used++;
            continue;
        }
        if (state != MED_ROW_FREE) {
            row_give_back(view, row);
        }
        free_append(view, index);
    }
    atomic32_store_relaxed(&table->used, 0); /* relaxed: for showing, as is what it counts */
    used_add(view, used);
}

/* Readers go on meanwhile: no entry of a LIVE row is ever taken out. */
void
med_table_index_repair(const med_table_view *view)
{
    if (!med_port_has_processes()) {
        return; /* nobody dies inside, and an image of bare metal has nothing of this */
    }
    for (uint32_t slot = 0; slot <= view->hash_mask; slot++) {
        uint32_t entry = atomic32_load_relaxed(&view->hash[slot]);
        uint32_t index = entry - HASH_FIRST;
        if (entry < HASH_FIRST) {
            continue;
        }
        if (index >= view->row_count || med_row_state_of(atomic32_load_relaxed(
                                            &med_table_row(view, index)->state)) != MED_ROW_LIVE) {
            atomic32_store_relaxed(&view->hash[slot], HASH_WAS_USED); /* relaxed: as hash_remove */
        }
    }
    repair_rows(view);
}

static uint32_t
free_pop(const med_table_view *view)
{
    med_table *table = view->table;
    uint32_t taken = atomic32_load_relaxed(&table->free_head);
    if (taken == 0 || taken > view->row_count) {
        return 0;
    }
    uint32_t next = atomic32_load_relaxed(&med_table_row(view, taken - 1)->next_free);
    if (next == 0 || next > view->row_count) {
        next = 0;
        atomic32_store_relaxed(&table->free_tail, 0);
    }
    atomic32_store_relaxed(&table->free_head, next);
    return taken;
}

/* Never-used rows come first: they need no list. A list that leads to a row in use was scribbled
 * over: it is derived anew. */
uint32_t
med_table_index_take(const med_table_view *view)
{
    uint32_t fresh = atomic32_load_relaxed(&view->table->fresh);
    if (fresh < view->row_count) {
        atomic32_store_relaxed(&view->table->fresh, fresh + 1);
        return fresh + 1;
    }
    uint32_t taken = free_pop(view);
    if (med_port_has_processes() && taken &&
        med_row_state_of(atomic32_load_relaxed(&med_table_row(view, taken - 1)->state)) !=
            MED_ROW_FREE) {
        repair_rows(view);
        taken = free_pop(view);
    }
    return taken;
}
