/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What must hold of each table:
 *
 *   free list + LIVE rows = rows that were ever used; every other row was never touched
 *   every LIVE row is found by its key; no two have the same; each is in one chain of the hash
 *   the chains lead to LIVE rows only
 *   its lock is nobody's
 *
 * and of the rows: processes live or are no more; nodes belong to living processes; locks belong to
 * living nodes, as do remote memories and attachments; shared memories are attached to living
 * nodes, and have the segments that there are.
 */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "mrapi/mutex.h"
#include "mrapi/mutex_pi.h"
#include "mrapi/rmem.h"
#include "mrapi/shmem.h"
#include "support/segments.h"

#define ROWS_MAX 65536u

static unsigned faults;
static const char *where;

static void
expect(bool holds, const char *what, uint32_t row)
{
    if (!holds) {
        (void)fprintf(stderr, "check: %s: row %u: %s\n", where, row, what);
        faults++;
    }
}

static uint32_t
state_word(const med_table_view *view, uint32_t index)
{
    return atomic32_load_acquire(&med_table_row(view, index)->state);
}

static med_row_state
state_of(const med_table_view *view, uint32_t index)
{
    return med_row_state_of(state_word(view, index));
}

static uint32_t
fresh_of(const med_table_view *view)
{
    return atomic32_load_relaxed(&view->table->fresh);
}

static uint32_t
next_of(const med_table_view *view, uint32_t at)
{
    return atomic32_load_relaxed(&med_table_row(view, at - 1)->next);
}

/* ---- One table ------------------------------------------------------------------------------- */

static unsigned char seen[ROWS_MAX]; /* how often each row was met in the walk at hand */

static uint32_t
free_list_walk(const med_table_view *view)
{
    const med_table *table = view->table;
    uint32_t length = 0;
    uint32_t last = 0;
    memset(seen, 0, sizeof seen);
    for (uint32_t at = atomic32_load_relaxed(&table->free_head); at != 0; at = next_of(view, at)) {
        if (at > fresh_of(view) || length > view->row_count) {
            expect(false, "the free list leads out of the table, or in a circle", at);
            return length;
        }
        expect(seen[at - 1]++ == 0, "twice in the free list", at - 1);
        expect(state_of(view, at - 1) == MED_ROW_FREE, "in the free list and not FREE", at - 1);
        last = at;
        length++;
    }
    expect(atomic32_load_relaxed(&table->free_tail) == last, "the free list's tail is not its last",
           last);
    return length;
}

static uint32_t
live_walk(const med_table_view *view)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < view->row_count; i++) {
        const med_row *row = med_table_row(view, i);
        med_row_state state = state_of(view, i);
        expect(state == MED_ROW_FREE || state == MED_ROW_LIVE, "half made, or half gone", i);
        if (i >= fresh_of(view)) {
            expect(state_word(view, i) == 0, "used, and beyond what was ever used", i);
        }
        if (state != MED_ROW_LIVE) {
            continue;
        }
        live++;
        med_key key = {.high = atomic32_load_relaxed(&row->key_high),
                       .low = atomic32_load_relaxed(&row->key_low)};
        uint32_t index = UINT32_MAX;
        uint32_t generation = UINT32_MAX;
        medley_status_t status = med_table_find(view, key, &index, &generation);
        expect(status == MEDLEY_OK, "LIVE and not found by its key", i);
        expect(status != MEDLEY_OK || index == i, "LIVE under the key of another", i);
    }
    return live;
}

static uint32_t
chain_walk(const med_table_view *view, uint32_t at)
{
    uint32_t length = 0;
    for (; at != 0; at = next_of(view, at)) {
        if (at > view->row_count) {
            expect(false, "in a chain, and no row of the table", at - 1);
            return length;
        }
        expect(state_of(view, at - 1) == MED_ROW_LIVE, "in a chain and not LIVE", at - 1);
        if (seen[at - 1]++ != 0) {
            expect(false, "twice in the chains", at - 1);
            return length;
        }
        length++;
    }
    return length;
}

static void
hash_walk(const med_table_view *view, uint32_t live)
{
    uint32_t length = 0;
    memset(seen, 0, sizeof seen);
    for (uint32_t chain = 0; chain <= view->hash_mask; chain++) {
        length += chain_walk(view, atomic32_load_relaxed(&view->hash[chain]));
    }
    expect(length == live, "LIVE rows are in no chain: searches see the whole table", length);
}

static void
table_check(const med_table_view *view, const char *name)
{
    const med_table *table = view->table;
    where = name;
    expect(med_lock_owner(&table->lock) == 0, "the table's lock is somebody's", 0);
    expect(fresh_of(view) <= view->row_count, "more rows used than there are", fresh_of(view));
    uint32_t free_rows = free_list_walk(view);
    uint32_t live = live_walk(view);
    hash_walk(view, live);
    expect(free_rows + live == fresh_of(view), "rows are lost: used, neither LIVE nor free", live);
    expect(atomic32_load_relaxed(&table->used) == live, "miscounted", live);
    expect(atomic32_load_relaxed(&table->high_water) >= live, "more than ever were", live);
}

/* ---- Processes, nodes, mutexes --------------------------------------------------------------- */

static void
processes_check(const med_system *system)
{
    where = "processes";
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        uint32_t word = atomic32_load_acquire(&med_system_process(system, i)->state);
        med_process_state state = med_process_state_of(word);
        uint32_t ref = med_process_ref(i, med_process_generation_of(word));
        expect(state == MED_PROCESS_FREE || state == MED_PROCESS_LIVE, "not recovered", i);
        expect(state != MED_PROCESS_LIVE || med_process_alive(system, ref), "LIVE and dead", i);
    }
}

static void
nodes_check(const med_system *system)
{
    where = "nodes";
    for (uint32_t i = 0; i < system->nodes.row_count; i++) {
        uint32_t word = state_word(&system->nodes, i);
        if (med_row_state_of(word) == MED_ROW_LIVE) {
            uint32_t ref = med_node_ref(i, med_row_generation_of(word));
            expect(med_node_alive(system, ref), "of a process that is gone", i);
        }
    }
}

/* With priority inheritance it may not be written down yet who he is. */
static bool
is_of_a_living_node(const med_system *system, uint32_t thread_id)
{
    for (uint32_t i = 0; i < system->nodes.row_count; i++) {
        const med_node_row *row = med_system_node(system, i);
        uint32_t generation = med_row_generation_of(state_word(&system->nodes, i));
        if (atomic32_load_relaxed(&row->thread_id) == thread_id &&
            med_node_alive(system, med_node_ref(i, generation))) {
            return true;
        }
    }
    return false;
}

static void
mutexes_check(const med_system *system)
{
    where = "mutexes";
    for (uint32_t i = 0; i < system->mutexes.row_count; i++) {
        const med_mutex_row *row =
            (const med_mutex_row *)(const void *)med_table_row(&system->mutexes, i);
        uint32_t holder = med_mutex_holder(system, row);
        if (state_of(&system->mutexes, i) == MED_ROW_LIVE && holder && holder != MED_LOCK_DEAD) {
            expect(med_node_alive(system, holder), "held by a node that is gone", i);
        }
        uint32_t thread_id = med_mutex_pi_thread(row); /* 0 where there is no such lock */
        if (state_of(&system->mutexes, i) == MED_ROW_LIVE && thread_id) {
            expect(is_of_a_living_node(system, thread_id), "held by a thread that is gone", i);
        }
    }
}

/* ---- Remote memories ------------------------------------------------------------------------- */

static void
rmems_check(const med_system *system)
{
    where = "remote memories";
    for (uint32_t i = 0; i < system->rmems.row_count; i++) {
        const med_rmem_row *row =
            (const med_rmem_row *)(const void *)med_table_row(&system->rmems, i);
        if (state_of(&system->rmems, i) == MED_ROW_LIVE) {
            expect(med_node_alive(system, atomic32_load_relaxed(&row->owner)),
                   "of a node that is gone", i);
        }
    }
    where = "remote memory attachments";
    for (uint32_t i = 0; i < system->rmem_attachments.row_count; i++) {
        const med_row *row = med_table_row(&system->rmem_attachments, i);
        if (state_of(&system->rmem_attachments, i) == MED_ROW_LIVE) {
            expect(med_node_alive(system, atomic32_load_relaxed(&row->key_low)),
                   "of a node that is gone", i);
        }
    }
}

/* ---- Shared memories ------------------------------------------------------------------------- */

static void
attached_check(const med_system *system, uint32_t index)
{
    const med_shmem_row *row =
        (const med_shmem_row *)(const void *)med_table_row(&system->shmems, index);
    const atomic32 *bits = (const atomic32 *)(const void *)(row + 1);
    for (uint32_t i = 0; i < system->limits.nodes; i++) {
        if (atomic32_load_relaxed(&bits[i / 32]) & 1u << i % 32) {
            uint32_t word = state_word(&system->nodes, i);
            uint32_t ref = med_node_ref(i, med_row_generation_of(word));
            expect(med_node_alive(system, ref), "attached to a node that is gone", index);
        }
    }
}

static void
shmems_check(const med_system *system)
{
    uint32_t live = 0;
    where = "shmems";
    for (uint32_t i = 0; i < system->shmems.row_count; i++) {
        if (state_of(&system->shmems, i) == MED_ROW_LIVE) {
            live++;
            attached_check(system, i);
        }
    }
    if (system->scope == MED_PORT_SCOPE_SHARED) {
        expect(segments_count(system->shared.name) == live, "as many memories, and not segments",
               live);
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

static void
table_settle(const med_table_view *view)
{
    uint32_t other_life = med_row_generation_of(state_word(view, 0)) + 1;
    (void)med_table_remove(view, 0, other_life); /* changes nothing, under the lock */
}

void
check_settle(med_system *system)
{
    (void)med_process_recover_all(system);
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        table_settle(&system->tables[k]);
    }
}

unsigned
check_system(const med_system *system)
{
    faults = 0;
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        table_check(&system->tables[k], med_limit_infos[med_kinds[k].limit].name);
    }
    processes_check(system);
    nodes_check(system);
    mutexes_check(system);
    rmems_check(system);
    shmems_check(system);
    return faults;
}
