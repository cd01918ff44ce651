/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The index of a table: how a row is found by its key, and a FREE one at all. It is derived from
 * the rows' state words. Finding needs no lock; all the rest is for the lock's holder.
 *
 *   hash[chain] -> row -> row -> 0         a word holds an index + 1
 *
 * A chain holds the LIVE rows whose keys have one hash. New ones are put at its front, so two that
 * stay in it never change places, and a row that leaves takes all it had in the index along: a
 * search costs what the rows that are there cost, however many came and went.
 *
 * A reader walks without the lock. The row he stands at is of his chain if it is LIVE or REMOVING,
 * under a key of that chain, in the same life before and after he read `next`: `next` is set before
 * LIVE, and becomes the free list's only after FREE. Then every row that was LIVE all the time and
 * that he has not met is behind it, also when the row has left the chain and come back, for then
 * it is in front. At any other row he begins again; after WALKS times, or where the chain has no
 * end (scribbled over), he looks at every row instead.
 *
 * Linearisation: find, its second load of the state of the row that it names; where it finds none,
 * its last load. Progress: find is wait-free (at most WALKS rounds through a chain, and one through
 * the table), as are the others.
 *
 * Death: of a reader, nothing. Of the lock's holder: the next one derives the index anew. Rows in
 * CREATING or REMOVING can only be the dead holder's, leave their chains and go back to FREE; a
 * LIVE row that no chain leads to is put into its own. Readers go on meanwhile.
 * Model: models/table.pml.
 */
#include "mrapi/table_index.h"

#include <stdbool.h>

#include "port/port.h"

#define WALKS 3u

static uint32_t
chain_of(const med_table_view *view, med_key key)
{
    uint32_t h = key.low * 0x9e3779b1u ^ key.high * 0x85ebca77u;
    h ^= h >> 15;
    h *= 0xc2b2ae3du;
    return (h ^ h >> 13) & view->hash_mask;
}

/* ---- Finding --------------------------------------------------------------------------------- */

typedef struct row_seen {
    uint32_t state;
    uint32_t next;
    med_key key;
} row_seen;

/* Two equal states around them mean that key and next are of that life. */
static bool
row_look(const med_row *row, row_seen *seen)
{
    /* A1 live, leaving <- T1 (table.c), T4 (table.c) */
    seen->state = atomic32_load_acquire(&row->state);
    /* Acquire, all: the second look at the state comes after these; what is of a later life is only
     * seen together with that life's CREATING, or with the FREE before it. */
    seen->key.high = atomic32_load_acquire(&row->key_high);   /* A2 key <- T2 (table.c) */
    seen->key.low = atomic32_load_acquire(&row->key_low);     /* A2 key <- T2 (table.c) */
    seen->next = atomic32_load_acquire(&row->next);           /* A3 next <- T3 (next_put) */
    return atomic32_load_relaxed(&row->state) == seen->state; /* relaxed: ordered by A2, A3 */
}

static bool
row_matches(const row_seen *seen, med_key key)
{
    return med_row_state_of(seen->state) == MED_ROW_LIVE && seen->key.high == key.high &&
           seen->key.low == key.low;
}

/* The index of the row with the key, and what it said; row_count: there is none; UINT32_MAX: the
 * chain changed under the walk, or was scribbled over. */
static uint32_t
chain_walk(const med_table_view *view, med_key key, row_seen *seen)
{
    uint32_t chain = chain_of(view, key);
    /* A4 front <- T5 (front_put), T3 (next_put): the row it names is seen in the life in which it
     * was put here, or a later one. */
    seen->next = atomic32_load_acquire(&view->hash[chain]);
    for (uint32_t n = 0; n < view->row_count; n++) {
        uint32_t index = seen->next - 1;
        if (seen->next == 0) {
            return view->row_count;
        }
        if (index >= view->row_count || !row_look(med_table_row(view, index), seen)) {
            return UINT32_MAX;
        }
        if (row_matches(seen, key)) {
            return index;
        }
        if (med_row_state_of(seen->state) < MED_ROW_LIVE || chain_of(view, seen->key) != chain) {
            return UINT32_MAX;
        }
    }
    return seen->next == 0 ? view->row_count : UINT32_MAX;
}

static uint32_t
rows_walk(const med_table_view *view, med_key key, row_seen *seen)
{
    uint32_t index = 0;
    while (index < view->row_count &&
           !(row_look(med_table_row(view, index), seen) && row_matches(seen, key))) {
        index++;
    }
    return index;
}

medley_status_t
med_table_find(const med_table_view *view, med_key key, uint32_t *index, uint32_t *generation)
{
    row_seen seen;
    uint32_t found = UINT32_MAX;
    for (uint32_t n = 0; n < WALKS && found == UINT32_MAX; n++) {
        found = chain_walk(view, key, &seen);
    }
    if (found == UINT32_MAX) {
        found = rows_walk(view, key, &seen);
    }
    if (found == view->row_count) {
        return MEDLEY_ERR_NOT_FOUND;
    }
    *index = found;
    *generation = med_row_generation_of(seen.state);
    return MEDLEY_OK;
}

/* ---- Under the lock -------------------------------------------------------------------------- */
/* Words that only the lock's holder writes are read relaxed by him. */

static med_key
key_of(const med_row *row)
{
    return (med_key){.high = atomic32_load_relaxed(&row->key_high),
                     .low = atomic32_load_relaxed(&row->key_low)};
}

/* Of a row, or of a chain's front. */
static void
next_put(atomic32 *word, uint32_t next)
{
    atomic32_store_release(word, next); /* T3 next -> A3 (row_look), A4 (chain_walk) */
}

/* The word that leads to its chain. */
static atomic32 *
front_of(const med_table_view *view, uint32_t index)
{
    return &view->hash[chain_of(view, key_of(med_table_row(view, index)))];
}

/* The word that leads to a row; NULL: its chain does not. */
static atomic32 *
link_to(const med_table_view *view, uint32_t index)
{
    atomic32 *word = front_of(view, index);
    for (uint32_t n = 0; n < view->row_count; n++) {
        uint32_t next = atomic32_load_relaxed(word);
        if (next == index + 1) {
            return word;
        }
        if (next - 1 >= view->row_count) {
            return NULL;
        }
        word = &med_table_row(view, next - 1)->next;
    }
    return NULL;
}

void
med_table_index_prepare(const med_table_view *view, uint32_t index)
{
    next_put(&med_table_row(view, index)->next, atomic32_load_relaxed(front_of(view, index)));
}

static void
front_put(const med_table_view *view, uint32_t index)
{
    atomic32_store_release(front_of(view, index), index + 1); /* T5 front -> A4 (chain_walk) */
}

/* A chain leads to LIVE rows of its own and ends. A row that is REMOVING leaves it; what else it
 * leads to was scribbled in, and the chain ends before it. Nobody is in two, so that `left` rows
 * are as many as there can be. */
static void
chain_mend(const med_table_view *view, uint32_t chain, uint32_t *left)
{
    atomic32 *word = &view->hash[chain];
    for (;; --*left) {
        uint32_t next = atomic32_load_relaxed(word);
        if (next == 0) {
            return;
        }
        med_row *row = next <= view->row_count ? med_table_row(view, next - 1) : NULL;
        med_row_state state =
            row ? med_row_state_of(atomic32_load_relaxed(&row->state)) : MED_ROW_FREE;
        if (*left == 0 || state < MED_ROW_LIVE || chain_of(view, key_of(row)) != chain) {
            next_put(word, 0);
            return;
        }
        if (state == MED_ROW_LIVE) {
            word = &row->next;
        } else {
            next_put(word, atomic32_load_relaxed(&row->next));
        }
    }
}

static void
chains_mend(const med_table_view *view)
{
    uint32_t left = view->row_count;
    for (uint32_t chain = 0; chain <= view->hash_mask; chain++) {
        chain_mend(view, chain, &left);
    }
}

/* The free list is a queue, so that a row rests as long as possible before its next life. */
static void
free_append(const med_table_view *view, uint32_t index)
{
    med_table *table = view->table;
    uint32_t tail = atomic32_load_relaxed(&table->free_tail);
    next_put(&med_table_row(view, index)->next, 0);
    if (tail && tail <= view->row_count) {
        next_put(&med_table_row(view, tail - 1)->next, index + 1);
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
    /* T6 over -> A1 (endpoint.c): what was said of it before it went. Who fills the row next has
     * the lock. */
    atomic32_store_release(&row->state, med_row_word(MED_ROW_FREE, generation + 1));
}

void
med_table_index_add(const med_table_view *view, uint32_t index)
{
    front_put(view, index);
    used_add(view, 1);
}

void
med_table_index_retire(const med_table_view *view, uint32_t index)
{
    med_row *row = med_table_row(view, index);
    atomic32 *word = link_to(view, index);
    if (word) {
        next_put(word, atomic32_load_relaxed(&row->next));
    }
    row_give_back(view, row);
    free_append(view, index);
    used_add(view, UINT32_MAX);
    if (!word) {
        med_table_index_repair(view); /* its chain was scribbled over */
    }
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
            if (!link_to(view, index)) {
                med_table_index_prepare(view, index);
                front_put(view, index);
            }
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

/* Readers go on meanwhile: no LIVE row is taken out of a chain but where one was scribbled over. */
void
med_table_index_repair(const med_table_view *view)
{
    if (!med_port_has_processes()) {
        return; /* nobody dies inside, and an image of bare metal has nothing of this */
    }
    chains_mend(view);
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
    uint32_t next = atomic32_load_relaxed(&med_table_row(view, taken - 1)->next);
    if (next == 0 || next > view->row_count) {
        next = 0;
        atomic32_store_relaxed(&table->free_tail, 0);
    }
    atomic32_store_relaxed(&table->free_head, next);
    return taken;
}

/* Has the list's front been scribbled over? It leads to a row in use, or to none though not all are
 * in use. */
static bool
list_is_wrong(const med_table_view *view, uint32_t taken)
{
    if (taken == 0) {
        return atomic32_load_relaxed(&view->table->used) < view->row_count;
    }
    const med_row *row = med_table_row(view, taken - 1);
    return med_row_state_of(atomic32_load_relaxed(&row->state)) != MED_ROW_FREE;
}

/* Never-used rows come first: they need no list. A list that is wrong is derived anew. */
uint32_t
med_table_index_take(const med_table_view *view)
{
    uint32_t fresh = atomic32_load_relaxed(&view->table->fresh);
    if (fresh < view->row_count) {
        atomic32_store_relaxed(&view->table->fresh, fresh + 1);
        return fresh + 1;
    }
    uint32_t taken = free_pop(view);
    if (med_port_has_processes() && list_is_wrong(view, taken)) {
        med_table_index_repair(view);
        taken = free_pop(view);
    }
    return taken;
}
