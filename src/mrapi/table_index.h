/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A table's index: hash, free list and counts. For table.c and table_lock.c, and but for finding
 * (med_table_find, table.h) for who holds the table's lock.
 */
#ifndef MEDLEY_MRAPI_TABLE_INDEX_H
#define MEDLEY_MRAPI_TABLE_INDEX_H

#include <stdint.h>

#include "mrapi/table.h"

/* Index + 1 of a FREE row, which nobody else gets now; 0: none. */
uint32_t med_table_index_take(const med_table_view *view);
/* The index of the row that would be taken next, near enough. */
static inline uint32_t
med_table_index_next(const med_table_view *view)
{
    /* Relaxed, both: written under the lock. */
    uint32_t fresh = atomic32_load_relaxed(&view->table->fresh);
    uint32_t head = atomic32_load_relaxed(&view->table->free_head);
    return fresh < view->row_count || head == 0 ? fresh : head - 1;
}
/* A row that is CREATING, and has its key: what is to be known before it is LIVE. */
void med_table_index_prepare(const med_table_view *view, uint32_t index);
/* It has become LIVE: from here on it is found by its key. */
void med_table_index_add(const med_table_view *view, uint32_t index);
/* A row that is REMOVING leaves its chain, becomes FREE in its next generation, and rests as long
 * as possible before it is taken again. */
void med_table_index_retire(const med_table_view *view, uint32_t index);

/* After the death of a holder: all of it anew, from the rows' states. */
void med_table_index_repair(const med_table_view *view);

#endif
