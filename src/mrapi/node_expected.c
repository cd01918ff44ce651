/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Expected nodes, of an image: rows that nobody owns, and that keep a place. Whoever registers
 * under the number replaces the row by his own (node.c), which says that the place is kept: when
 * that goes, by its own will or by its recovery, such a row replaces it.
 *
 *   expected --register--> a node's, kept --leave, recover--> expected
 *
 * Each step is one hold of the table's lock, so that nobody else gets the place between. Who dies
 * within a step leaves the row from before, or none: then the place is free as any.
 */
#include "mrapi/node.h"

#include "mrapi/node_life.h"
#include "mrapi/system.h"

static void
fill(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    (void)index;
    (void)generation;
    (void)context;
    med_node_row_begin((med_node_row *)(void *)row, 0, MED_NODE_THREAD, MED_NODE_EXPECTED);
}

medley_status_t
med_node_expect(med_system *system, uint32_t domain, uint32_t node)
{
    med_table_insertion insertion = {.key = {domain, node}, .fill = fill};
    return med_table_insert(&system->nodes, &insertion);
}

bool
med_node_is_expected(const med_node_row *row)
{
    /* Relaxed: a life begins and ends EXPECTED, and only that life is replaced. */
    return med_port_has_processes() && atomic32_load_relaxed(&row->phase) == MED_NODE_EXPECTED;
}

medley_status_t
med_node_remove(med_system *system, uint32_t index, uint32_t generation)
{
    const med_row *row = &med_system_node(system, index)->row;
    /* Relaxed, all: constant while that life is LIVE, and of another nothing is removed. */
    if (!atomic32_load_relaxed(&med_system_node(system, index)->is_kept)) {
        return med_table_remove(&system->nodes, index, generation);
    }
    med_table_insertion again = {.key = {.high = atomic32_load_relaxed(&row->key_high),
                                         .low = atomic32_load_relaxed(&row->key_low)},
                                 .fill = fill};
    return med_table_remove_for(&system->nodes, index, generation, &again);
}
