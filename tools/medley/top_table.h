/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tables that `top` shows: their rows, taken out of what top_change.h tells, their columns, and
 * how rows are put in order. */
#ifndef MEDLEY_TOOLS_TOP_TABLE_H
#define MEDLEY_TOOLS_TOP_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "tools/medley/output.h"

typedef enum top_table {
    TOP_NODES,
    TOP_LANES,
    TOP_ENDPOINTS,
    TOP_LOCKS,
    TOP_WAITS,
    TOP_TABLES,
} top_table;

typedef struct top_table_info {
    const char *title;
    const char *key;              /* of its rows in a system */
    const output_column *columns; /* the first is the system's name */
    size_t column_count;
    size_t names;  /* up to there, from the first on, the columns tell rows apart */
    size_t sorted; /* by which column it is, until somebody says otherwise; from the largest down */
} top_table_info;

extern const top_table_info top_tables[TOP_TABLES];

/* The rows of all systems, each with "system". A new reference. */
json_t *top_table_rows(const json_t *document, top_table table);
/* What a cell shows; also what the table is searched for. */
void top_table_cell(top_table table, size_t column, const json_t *row, char *cell);
/* Below 0: `a` is less than `b` by that column. What is not known is the least. */
int top_table_compare(top_table table, size_t column, const json_t *a, const json_t *b);
/* The column of that title; column_count: it has none. */
size_t top_table_column(top_table table, const char *title);

/* Turns rows of nodes into a tree: each process, "tree" is 0, then its nodes, 1, and the last of
 * them, 2. Processes and nodes keep their order. Takes the reference, and gives a new one. */
json_t *top_table_tree(json_t *nodes);

#endif
