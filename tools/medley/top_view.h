/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a person sees of the tables (top_table.h) at the moment: which one, filtered and sorted how,
 * and which row is selected. The selection stays with what it is on, wherever that goes; where that
 * is no more, it stays in its line. Knows nothing of terminals.
 */
#ifndef MEDLEY_TOOLS_TOP_VIEW_H
#define MEDLEY_TOOLS_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "tools/medley/top_table.h"

#define TOP_WORD_BYTES 64u /* of what is searched for, and filtered by */

typedef struct top_sort {
    size_t column;
    bool ascending;
} top_sort;

typedef struct top_view {
    bool one_system; /* a column for its name would say nothing */
    top_table table;
    bool tree; /* of nodes */
    top_sort sorts[TOP_TABLES];
    char filter[TOP_WORD_BYTES]; /* only rows in whose text it is, small or large; "": all */
    json_t *document;            /* as last shown; the next ones are made of it */
    json_t *rows;
    char selected[OUTPUT_CELL_BYTES]; /* the row's name */
    size_t line;                      /* the row's place among `rows` */
    size_t first;                     /* the first that is on the screen, which has room for */
    size_t height;
    json_t *tagged; /* an object, by the names of rows */
} top_view;

void top_view_begin(top_view *view, bool one_system);
void top_view_end(top_view *view);

/* A new document, of top_change.h. */
void top_view_show(top_view *view, json_t *document);
/* After the table, the tree, a sort or the filter was changed. */
void top_view_again(top_view *view);
/* So many rows are on the screen. */
void top_view_height_set(top_view *view, size_t height);

void top_view_table_set(top_view *view, top_table table);
/* By that column; when it is already, the other way round. */
void top_view_sort(top_view *view, size_t column);
/* By so many lines; to the first or last where there are not as many. */
void top_view_move(top_view *view, long lines);
/* To the next row, behind the selected one or from it on, in whose text the word is; from the first
 * again after the last. False: in none. */
bool top_view_search(top_view *view, const char *word, bool from_selected);

/* The selected row, or NULL. */
json_t *top_view_selected(const top_view *view);
/* What the row is called among those of its table. */
void top_view_name(const top_view *view, const json_t *row, char name[OUTPUT_CELL_BYTES]);
void top_view_tag(top_view *view); /* the selected row, or no longer */
bool top_view_is_tagged(const top_view *view, const json_t *row);
void top_view_untag_all(top_view *view);

/* The first column that is shown. */
static inline size_t
top_view_first_column(const top_view *view)
{
    return view->one_system ? 1 : 0;
}

#endif
