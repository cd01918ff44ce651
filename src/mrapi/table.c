/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A table of the registry. What may run together:
 *
 *              find   insert   remove
 *   find       yes    yes      yes
 *   insert     yes    lock     lock
 *   remove     yes    lock     lock
 *
 * Linearisation: insert, the store of LIVE (T1); remove, the store of REMOVING; find, its second
 * load of the state. Progress: find is wait-free (at most one round through the hash); insert and
 * remove block on the lock, with a patience: a holder who is stopped costs each caller that long
 * once, and then a moment each time, as long as the same holder has it.
 *
 * The hash is open addressing with linear probing, never more than half full. A removed entry stays
 * as WAS_USED while the next one is in use, so that probes go on; readers may probe at any moment
 * of an insertion or removal, since each changes one word at a time.
 *
 * Death: of a reader, nothing. Of the lock's holder: his process's recovery marks the lock, and the
 * next holder runs repair() before anything else. Rows in CREATING or REMOVING can only be the dead
 * holder's, and go back to FREE; LIVE rows get their place in the hash if they lack it. Where there
 * are no processes nobody dies inside, and there is no repair.
 * Model: models/table.pml, and models/lock.pml for the table's lock.
 */
#include "mrapi/table.h"

#include <stdbool.h>

#define HASH_EMPTY 0u
#define HASH_WAS_USED 1u
#define HASH_FIRST 2u

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

/* ---- Keys and hash --------------------------------------------------------------------------- */

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
    uint32_t before = atomic32_load_acquire(&row->state); /* A1 live <- T1 (insert) */
    if (med_row_state_of(before) != MED_ROW_LIVE) {
        return false;
    }
    /* Acquire: the second look at the state comes after these. A2 key <- T2 (insert): a key of a
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

/* After a holder's death. Readers go on meanwhile: no entry of a LIVE row is ever taken out. */
static void
repair(const med_table_view *view)
{
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

/* Index + 1 of a FREE row, or 0. Never-used rows come first: they need no list. A list that leads
 * to a row in use was scribbled over: it is derived anew. */
static uint32_t
free_take(const med_table_view *view)
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

/* A lock that names nobody, neither living nor to be recovered, was scribbled over. */
static medley_status_t
look_at_holder(void *context, uint32_t owner)
{
    const med_table_view *view = context;
    medley_status_t status = view->on_slice ? view->on_slice(view->context, owner) : MEDLEY_OK;
    if (status != MEDLEY_ERR_NOT_FOUND) {
        return status;
    }
    (void)med_lock_recover(&view->table->lock, &view->table->sleepers, owner, true, view->scope);
    return MEDLEY_OK;
}

/* For one who was waited for in vain. Who goes on is done with it in 2 ms, if it is the largest
 * repair there is. */
#define PATIENCE_LEFT_NS 100000000u

/* Relaxed, in these: whichever holder is remembered, it decides on the length of a wait only. */
static uint64_t
deadline_ns(const med_table_view *view)
{
    if (!med_port_has_processes() || view->patience_ns == 0) {
        return MED_PORT_FOREVER;
    }
    uint32_t given_up = atomic32_load_relaxed(view->given_up);
    bool again = given_up && given_up == med_lock_owner(&view->table->lock);
    return med_port_clock_ns() + (again ? PATIENCE_LEFT_NS : view->patience_ns);
}

static medley_status_t
give_up(const med_table_view *view)
{
    uint32_t holder = med_lock_owner(&view->table->lock);
    if (atomic32_load_relaxed(view->given_up) != holder || holder == 0) {
        atomic32_store_relaxed(view->given_up, holder);
        if (view->on_stuck) {
            view->on_stuck(view, holder);
        }
    }
    return MEDLEY_TIMEOUT;
}

static void
had(const med_table_view *view)
{
    if (med_port_has_processes() && view->given_up && atomic32_load_relaxed(view->given_up)) {
        atomic32_store_relaxed(view->given_up, 0);
    }
}

/* Relaxed, in both: for showing. */
static void
show_holder(const med_table_view *view)
{
    if (med_port_has_processes() && view->scope == MED_PORT_SCOPE_SHARED) {
        atomic32_store_relaxed(&view->table->holder_thread, med_port_thread_id());
        atomic64_store_relaxed(&view->table->held_since_ns, med_port_clock_ns());
    }
}

static void
show_nobody(const med_table_view *view)
{
    if (med_port_has_processes() && view->scope == MED_PORT_SCOPE_SHARED) {
        atomic64_store_relaxed(&view->table->held_since_ns, 0);
    }
}

static medley_status_t
lock(const med_table_view *view)
{
    med_waiter waiter = {.spin_ns = 0};
    med_lock_request request = {.owner = view->process_ref,
                                .deadline_ns = deadline_ns(view),
                                .scope = view->scope,
                                .waiter = &waiter,
                                .each_slice = med_port_has_processes() ? look_at_holder : NULL,
                                .context = (void *)(uintptr_t)view};
    medley_status_t status = med_lock_acquire(&view->table->lock, &view->table->sleepers, &request);
    if (med_port_has_processes() && status == MEDLEY_TIMEOUT) {
        return give_up(view);
    }
    had(view);
    if (med_port_has_processes() && status == MEDLEY_ERR_OWNER_DIED) {
        if (med_lock_is_dead(&view->table->lock)) {
            return MEDLEY_ERR_CORRUPT; /* nobody marks a table's lock so */
        }
        show_holder(view);
        repair(view);
        return MEDLEY_OK;
    }
    if (status == MEDLEY_OK) {
        show_holder(view);
    }
    return status;
}

static void
unlock(const med_table_view *view)
{
    show_nobody(view);
    med_lock_release(&view->table->lock, &view->table->sleepers, view->scope);
}

/* ---- Insert and remove ----------------------------------------------------------------------- */

static medley_status_t
insert_locked(const med_table_view *view,
              med_key key,
              med_row_fill fill,
              void *context,
              uint32_t *index,
              uint32_t *generation)
{
    uint32_t taken = free_take(view);
    if (taken == 0) {
        return MEDLEY_ERR_LIMIT;
    }
    med_row *row = med_table_row(view, taken - 1);
    /* Relaxed, both: written under the lock; and T2 orders CREATING before the key. */
    uint32_t life = med_row_generation_of(atomic32_load_relaxed(&row->state));
    atomic32_store_relaxed(&row->state, med_row_word(MED_ROW_CREATING, life));
    atomic32_store_release(&row->key_high, key.high); /* T2 key -> A2 (find) */
    atomic32_store_release(&row->key_low, key.low);   /* T2 key -> A2 (find) */
    fill(row, taken - 1, life, context);
    /* T1 live -> A1 (find; all who look at a row) */
    atomic32_store_release(&row->state, med_row_word(MED_ROW_LIVE, life));
    hash_put(view, key, taken - 1);
    used_add(view, 1);
    *index = taken - 1;
    *generation = life;
    return MEDLEY_OK;
}

medley_status_t
med_table_insert_if(const med_table_view *view,
                    med_key key,
                    medley_status_t (*may)(void *context),
                    med_row_fill fill,
                    void *context,
                    uint32_t *index,
                    uint32_t *generation)
{
    medley_status_t status = lock(view);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (med_table_find(view, key, index, generation) == MEDLEY_OK) {
        status = MEDLEY_ERR_EXISTS;
    } else {
        status = may(context);
    }
    if (status == MEDLEY_OK) {
        status = insert_locked(view, key, fill, context, index, generation);
    }
    unlock(view);
    return status;
}

static medley_status_t
may_always(void *context)
{
    (void)context;
    return MEDLEY_OK;
}

medley_status_t
med_table_insert(const med_table_view *view,
                 med_key key,
                 med_row_fill fill,
                 void *context,
                 uint32_t *index,
                 uint32_t *generation)
{
    return med_table_insert_if(view, key, may_always, fill, context, index, generation);
}

medley_status_t
med_table_hold(const med_table_view *view, medley_status_t (*act)(void *context), void *context)
{
    medley_status_t status = lock(view);
    if (status == MEDLEY_OK) {
        status = act(context);
        unlock(view);
    }
    return status;
}

/* The index that the next insertion takes, near enough. */
static uint32_t
next_row(const med_table_view *view)
{
    /* Relaxed, both: written under the lock. */
    uint32_t fresh = atomic32_load_relaxed(&view->table->fresh);
    uint32_t head = atomic32_load_relaxed(&view->table->free_head);
    return fresh < view->row_count || head == 0 ? fresh : head - 1;
}

medley_status_t
med_table_insert_any_if(const med_table_view *view,
                        med_key *key,
                        medley_status_t (*may)(void *context),
                        med_row_fill fill,
                        void *context,
                        uint32_t *index,
                        uint32_t *generation)
{
    medley_status_t status = lock(view);
    if (status != MEDLEY_OK) {
        return status;
    }
    /* The next row's own number is nobody else's, unless a user chose it. */
    med_key candidate = {.high = key->high, .low = key->low + next_row(view)};
    for (uint32_t n = 0; n < view->row_count; n++, candidate.low += view->row_count) {
        if (med_table_find(view, candidate, index, generation) != MEDLEY_OK) {
            break;
        }
    }
    status = may(context);
    if (status == MEDLEY_OK) {
        status = insert_locked(view, candidate, fill, context, index, generation);
    }
    unlock(view);
    if (status == MEDLEY_OK) {
        *key = candidate;
    }
    return status;
}

medley_status_t
med_table_insert_any(const med_table_view *view,
                     med_key *key,
                     med_row_fill fill,
                     void *context,
                     uint32_t *index,
                     uint32_t *generation)
{
    return med_table_insert_any_if(view, key, may_always, fill, context, index, generation);
}

medley_status_t
med_table_act(
    const med_table_view *view, uint32_t index, uint32_t generation, med_row_act act, void *context)
{
    if (index >= view->row_count) {
        return MEDLEY_ERR_ARGUMENT;
    }
    medley_status_t status = lock(view);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_row *row = med_table_row(view, index);
    /* Relaxed: written under the lock. */
    bool live = atomic32_load_relaxed(&row->state) == med_row_word(MED_ROW_LIVE, generation);
    status = live ? act(row, index, context) : MEDLEY_ERR_STALE;
    unlock(view);
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
    /* Relaxed, both: written under the lock; a reader who still finds it came before. */
    uint32_t generation = med_row_generation_of(atomic32_load_relaxed(&row->state));
    atomic32_store_relaxed(&row->state, med_row_word(MED_ROW_REMOVING, generation));
    hash_remove(view, key_of(row), index);
    row_give_back(view, row);
    free_append(view, index);
    used_add(view, UINT32_MAX);
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
