/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows are made anew each time, of the whole document: that is a hundredth of what a look costs. */
#include "tools/medley/top_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/medley/top_rows.h"

#define ROW_TEXT_BYTES 1024u

void
top_view_begin(top_view *view, bool one_system)
{
    *view = (top_view){.one_system = one_system, .tagged = json_object(), .rows = json_array()};
    for (size_t t = 0; t < TOP_TABLES; t++) {
        view->sorts[t].column = top_tables[t].sorted;
    }
}

void
top_view_end(top_view *view)
{
    json_decref(view->document);
    json_decref(view->rows);
    json_decref(view->tagged);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* Cells of the row, with blanks between. */
static void
text_of(const top_view *view, const json_t *row, size_t columns, char *text, size_t size)
{
    char cell[OUTPUT_CELL_BYTES];
    size_t length = 0;
    text[0] = '\0';
    for (size_t c = 0; c < columns && length < size; c++) {
        top_table_cell(view->table, c, row, cell);
        length += (size_t)snprintf(text + length, size - length, "%s ", cell);
    }
}

void
top_view_name(const top_view *view, const json_t *row, char name[OUTPUT_CELL_BYTES])
{
    char place[TOP_NAME_BYTES];
    const json_t *tree = json_object_get(row, "tree");
    /* A node is called the same in a tree and without. */
    if (json_is_integer(tree) && json_integer_value(tree) > 0) {
        top_place_name(row, place);
        (void)snprintf(name, OUTPUT_CELL_BYTES,
                       "%.60s %.40s %" JSON_INTEGER_FORMAT " %" JSON_INTEGER_FORMAT " ",
                       top_string(row, "system"), place, top_integer(row, "process_id"),
                       top_integer(row, "thread_id"));
    } else if (json_is_integer(tree)) {
        (void)snprintf(name, OUTPUT_CELL_BYTES, "%.60s process %" JSON_INTEGER_FORMAT,
                       top_string(row, "system"), top_integer(row, "process_id"));
    } else {
        text_of(view, row, top_tables[view->table].names, name, OUTPUT_CELL_BYTES);
    }
}

static char
small(char letter)
{
    return (char)(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
}

static bool
begins_with(const char *text, const char *word)
{
    while (*word && small(*text) == small(*word)) {
        text++;
        word++;
    }
    return !*word;
}

static bool
row_has(const top_view *view, const json_t *row, const char *word)
{
    char text[ROW_TEXT_BYTES];
    const char *at = text;
    text_of(view, row, top_tables[view->table].column_count, text, sizeof text);
    while (*at && !begins_with(at, word)) {
        at++;
    }
    return *at || !*word;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

typedef struct ordered {
    json_t *row;
    size_t place; /* before it was sorted: equal ones stay as they are */
    const top_view *view;
} ordered;

static int
compare(const void *a, const void *b)
{
    const ordered *x = a, *y = b;
    const top_sort *sort = &x->view->sorts[x->view->table];
    int result = top_table_compare(x->view->table, sort->column, x->row, y->row);
    if (result != 0) {
        return sort->ascending ? result : -result;
    }
    return (x->place > y->place) - (x->place < y->place);
}

/* Takes the reference. */
static json_t *
sorted(const top_view *view, json_t *rows)
{
    size_t count = json_array_size(rows);
    ordered *list = calloc(count + 1, sizeof *list);
    json_t *result = json_array();
    if (!list) {
        json_decref(result);
        return rows;
    }
    for (size_t i = 0; i < count; i++) {
        list[i] = (ordered){.row = json_array_get(rows, i), .place = i, .view = view};
    }
    qsort(list, count, sizeof *list, compare);
    for (size_t i = 0; i < count; i++) {
        (void)json_array_append(result, list[i].row);
    }
    free(list);
    json_decref(rows);
    return result;
}

static void
filter(const top_view *view, json_t *rows)
{
    for (size_t i = json_array_size(rows); *view->filter && i-- > 0;) {
        if (!row_has(view, json_array_get(rows, i), view->filter)) {
            (void)json_array_remove(rows, i);
        }
    }
}

/* The selected line is one that there is, and on the screen. */
static void
scroll(top_view *view)
{
    size_t count = json_array_size(view->rows);
    size_t height = view->height ? view->height : 1;
    if (view->line >= count) {
        view->line = count ? count - 1 : 0;
    }
    if (view->line < view->first) {
        view->first = view->line;
    }
    if (view->line >= view->first + height) {
        view->first = view->line + 1 - height;
    }
    if (view->first + height > count) {
        view->first = count > height ? count - height : 0;
    }
}

static void
select_line(top_view *view, size_t line)
{
    view->line = line;
    scroll(view);
    const json_t *row = top_view_selected(view);
    *view->selected = '\0';
    if (row) {
        top_view_name(view, row, view->selected);
    }
}

void
top_view_again(top_view *view)
{
    char name[OUTPUT_CELL_BYTES];
    json_t *rows = top_table_rows(view->document, view->table);
    filter(view, rows);
    rows = sorted(view, rows);
    json_decref(view->rows);
    view->rows = view->tree && view->table == TOP_NODES ? top_table_tree(rows) : rows;
    size_t line = view->line;
    for (size_t i = 0; *view->selected && i < json_array_size(view->rows); i++) {
        top_view_name(view, json_array_get(view->rows, i), name);
        if (strcmp(name, view->selected) == 0) {
            line = i;
            break;
        }
    }
    select_line(view, line);
}

void
top_view_show(top_view *view, json_t *document)
{
    json_decref(view->document);
    view->document = json_incref(document);
    top_view_again(view);
}

void
top_view_height_set(top_view *view, size_t height)
{
    view->height = height;
    scroll(view);
}

/* ---- What a person does ---------------------------------------------------------------------- */

void
top_view_table_set(top_view *view, top_table table)
{
    view->table = table;
    view->first = 0;
    view->line = 0;
    *view->selected = '\0';
    top_view_untag_all(view);
    top_view_again(view);
}

void
top_view_sort(top_view *view, size_t column)
{
    top_sort *sort = &view->sorts[view->table];
    if (sort->column == column) {
        sort->ascending = !sort->ascending;
    } else {
        /* Of numbers the largest are looked for, of names the first. */
        sort->column = column;
        sort->ascending = !top_tables[view->table].columns[column].right;
    }
    top_view_again(view);
}

void
top_view_move(top_view *view, long lines)
{
    long count = (long)json_array_size(view->rows);
    long at = (long)view->line;
    long line = lines > count - at ? count - 1 : lines < -at ? 0 : at + lines;
    select_line(view, line > 0 ? (size_t)line : 0);
}

bool
top_view_search(top_view *view, const char *word, bool from_selected)
{
    size_t count = json_array_size(view->rows);
    for (size_t i = from_selected ? 0 : 1; i <= count && count > 0; i++) {
        size_t line = (view->line + i) % count;
        if (row_has(view, json_array_get(view->rows, line), word)) {
            select_line(view, line);
            return true;
        }
    }
    return false;
}

json_t *
top_view_selected(const top_view *view)
{
    return json_array_get(view->rows, view->line);
}

void
top_view_tag(top_view *view)
{
    if (!*view->selected) {
        return;
    }
    if (json_object_del(view->tagged, view->selected) != 0) {
        (void)json_object_set_new(view->tagged, view->selected, json_true());
    }
}

bool
top_view_is_tagged(const top_view *view, const json_t *row)
{
    char name[OUTPUT_CELL_BYTES];
    top_view_name(view, row, name);
    return json_object_get(view->tagged, name) != NULL;
}

void
top_view_untag_all(top_view *view)
{
    (void)json_object_clear(view->tagged);
}
