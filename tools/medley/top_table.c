/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A table is a list of columns (output.h) over rows; numbers are compared as numbers, places by
 * their parts, all else as text. */
#include "tools/medley/top_table.h"

#include <stdio.h>
#include <string.h>

#include "tools/medley/top_rows.h"

/* ---- Cells ----------------------------------------------------------------------------------- */

/* "12.5", "120", "3.4k": per second. */
static void
rate_cell(const json_t *row, const json_t *value, char *cell)
{
    static const char *const units[] = {"", "k", "M", "G"};
    double rate = json_real_value(value);
    size_t unit = 0;
    if (!json_is_real(value)) {
        output_plain(row, value, cell);
        return;
    }
    for (; rate >= 9999.5 && unit + 1 < sizeof units / sizeof units[0]; unit++) {
        rate /= 1000;
    }
    (void)snprintf(cell, OUTPUT_CELL_BYTES, "%.*f%s", rate < 100 && rate > 0 ? 1 : 0, rate,
                   units[unit]);
}

static void
bytes_rate_cell(const json_t *row, const json_t *value, char *cell)
{
    if (json_is_real(value)) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%s",
                       output_size_text((uint64_t)json_real_value(value)));
    } else {
        output_plain(row, value, cell);
    }
}

static void
percent_cell(const json_t *row, const json_t *value, char *cell)
{
    if (json_is_integer(value)) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%.1f", (double)json_integer_value(value) / 10);
    } else {
        output_plain(row, value, cell);
    }
}

static void
place_cell(const json_t *row, const json_t *value, char *cell)
{
    char name[TOP_NAME_BYTES];
    (void)row;
    top_place_name(value, name);
    (void)snprintf(cell, OUTPUT_CELL_BYTES, "%s", name);
}

/* Of a process in a tree, how many nodes it has. */
static void
node_cell(const json_t *row, const json_t *value, char *cell)
{
    static const char *const branches[] = {"", "|- ", "`- "};
    const json_t *tree = json_object_get(row, "tree");
    char name[TOP_NAME_BYTES];
    (void)value;
    if (json_is_integer(tree) && json_integer_value(tree) == 0) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%s",
                       output_count_text((uint64_t)top_integer(row, "count"), "nodes"));
        return;
    }
    top_place_name(row, name);
    (void)snprintf(cell, OUTPUT_CELL_BYTES, "%s%s", branches[json_integer_value(tree) % 3], name);
}

static void
for_cell(const json_t *row, const json_t *value, char *cell)
{
    const json_t *number = json_object_get(row, "number");
    const json_t *endpoints = json_object_get(row, "endpoints");
    size_t ends = json_array_size(endpoints);
    const char *what = json_string_value(value) ? json_string_value(value) : "-";
    char name[TOP_NAME_BYTES];
    if (json_is_integer(number)) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%s %" JSON_INTEGER_FORMAT, what,
                       json_integer_value(number));
    } else if (ends == 1) {
        top_place_name(json_array_get(endpoints, 0), name);
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%.40s at %.100s", what, name);
    } else if (ends > 1) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%s at %s", what,
                       output_count_text(ends, "endpoints"));
    } else {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%s", what);
    }
}

/* Of a node that is at work, what its thread does. */
static void
state_cell(const json_t *row, const json_t *value, char *cell)
{
    const json_t *waits = json_object_get(row, "waits");
    const char *state = json_string_value(value) ? json_string_value(value) : "-";
    const char *thread = top_string(row, "thread_state");
    char what[OUTPUT_CELL_BYTES];
    if (json_is_object(waits)) {
        for_cell(waits, json_object_get(waits, "for"), what);
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "waits: %.100s", what);
    } else {
        bool works = strcmp(state, "running") == 0 && *thread;
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%s", works ? thread : state);
    }
}

/* So long it is known for. */
static void
waited_cell(const json_t *row, const json_t *value, char *cell)
{
    if (json_is_integer(value)) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, ">%s",
                       output_age_text((uint64_t)json_integer_value(value)));
    } else {
        output_plain(row, value, cell);
    }
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static const output_column node_columns[] = {
    {"SYSTEM", "system", NULL, false},
    {"NODE", NULL, node_cell, false},
    {"PROCESS", "process_id", NULL, true},
    {"THREAD", "thread_id", NULL, true},
    {"CPU", "processor", NULL, true},
    {"USE%", "used_permille", percent_cell, true},
    {"SENT/S", "sent_per_second", rate_cell, true},
    {"RECV/S", "received_per_second", rate_cell, true},
    {"WAITED", "waited_ns", waited_cell, true},
    {"AGE", "age_ns", output_age, true},
    {"STATE", "state", state_cell, false},
    {"NAME", "name", NULL, false},
};

static const output_column lane_columns[] = {
    {"SYSTEM", "system", NULL, false},
    {"FROM", "from", place_cell, false},
    {"TO", "to", place_cell, false},
    {"KIND", "kind", NULL, false},
    {"PRIO", "priority", NULL, true},
    {"DEPTH", "depth", NULL, true},
    {"HIGHEST", "high_water", NULL, true},
    {"OF", "capacity", NULL, true},
    {"SENT/S", "sent_per_second", rate_cell, true},
    {"RECV/S", "received_per_second", rate_cell, true},
    {"BYTES/S", "bytes_per_second", bytes_rate_cell, true},
    {"FULL/S", "full_per_second", rate_cell, true},
    {"EMPTY/S", "empty_per_second", rate_cell, true},
    {"LOST", "lost", NULL, true},
};

static const output_column endpoint_columns[] = {
    {"SYSTEM", "system", NULL, false},
    {"ENDPOINT", "endpoint", place_cell, false},
    {"DEPTH", "depth", NULL, true},
    {"RECV/S", "received_per_second", rate_cell, true},
    {"SENT/S", "sent_per_second", rate_cell, true},
    {"BYTES/S", "bytes_per_second", bytes_rate_cell, true},
    {"STATE", "state", NULL, false},
};

static const output_column lock_columns[] = {
    {"SYSTEM", "system", NULL, false},
    {"KIND", "kind", NULL, false},
    {"NUMBER", "number", NULL, true},
    {"OWNER", "owner", place_cell, false},
    {"HELD", "held", NULL, true},
    {"OF", "limit", NULL, true},
    {"WAITERS", "waiters", NULL, true},
    {"SLEPT", "slept", NULL, true},
    {"SLEPT/S", "slept_per_second", rate_cell, true},
    {"STATE", "state", NULL, false},
};

static const output_column wait_columns[] = {
    {"SYSTEM", "system", NULL, false},          {"NODE", NULL, node_cell, false},
    {"PROCESS", "process_id", NULL, true},      {"THREAD", "thread_id", NULL, true},
    {"WAITED", "waited_ns", waited_cell, true}, {"FOR", "for", for_cell, false},
    {"OWNER", "owner", place_cell, false},
};

#define TABLE(words, rows, list, names_until, sorted_by)                                           \
    {                                                                                              \
        .title = (words), .key = (rows), .columns = (list),                                        \
        .column_count = sizeof(list) / sizeof(list)[0], .names = (names_until),                    \
        .sorted = (sorted_by)                                                                      \
    }

const top_table_info top_tables[TOP_TABLES] = {
    [TOP_NODES] = TABLE("Nodes", "nodes", node_columns, 4, 5),
    [TOP_LANES] = TABLE("Lanes", "lanes", lane_columns, 5, 5),
    [TOP_ENDPOINTS] = TABLE("Endpoints", "endpoints", endpoint_columns, 2, 2),
    [TOP_LOCKS] = TABLE("Locks", "locks", lock_columns, 3, 6),
    [TOP_WAITS] = TABLE("Waits", "waits", wait_columns, 4, 4),
};

void
top_table_cell(top_table table, size_t column, const json_t *row, char *cell)
{
    const output_column *c = &top_tables[table].columns[column];
    const json_t *value = c->key ? json_object_get(row, c->key) : NULL;
    (c->format ? c->format : output_plain)(row, value, cell);
}

size_t
top_table_column(top_table table, const char *title)
{
    size_t column = 0;
    while (column < top_tables[table].column_count &&
           strcmp(top_tables[table].columns[column].title, title) != 0) {
        column++;
    }
    return column;
}

/* ---- Order ----------------------------------------------------------------------------------- */

static int
compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

static int
compare_places(const json_t *a, const json_t *b)
{
    static const char *const parts[] = {"domain", "node", "port"};
    int result = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && result == 0; i++) {
        result =
            compare_numbers((double)top_integer(a, parts[i]), (double)top_integer(b, parts[i]));
    }
    return result;
}

static bool
is_known(const json_t *value)
{
    return value && !json_is_null(value);
}

int
top_table_compare(top_table table, size_t column, const json_t *a, const json_t *b)
{
    const output_column *c = &top_tables[table].columns[column];
    const json_t *x = c->key ? json_object_get(a, c->key) : a;
    const json_t *y = c->key ? json_object_get(b, c->key) : b;
    if (!is_known(x) || !is_known(y)) {
        return is_known(x) - is_known(y);
    }
    if (json_is_object(x)) {
        return compare_places(x, y);
    }
    if (json_is_number(x) && json_is_number(y)) {
        return compare_numbers(json_number_value(x), json_number_value(y));
    }
    char left[OUTPUT_CELL_BYTES], right[OUTPUT_CELL_BYTES];
    top_table_cell(table, column, a, left);
    top_table_cell(table, column, b, right);
    return strcmp(left, right);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

json_t *
top_table_rows(const json_t *document, top_table table)
{
    json_t *all = json_array();
    const json_t *systems = json_object_get(document, "systems");
    for (size_t s = 0; s < json_array_size(systems); s++) {
        const json_t *system = json_array_get(systems, s);
        const json_t *rows = json_object_get(system, top_tables[table].key);
        for (size_t i = 0; i < json_array_size(rows); i++) {
            json_t *row = json_copy(json_array_get(rows, i));
            const json_t *waits = json_object_get(row, "waits");
            (void)json_object_set(row, "system", json_object_get(system, "name"));
            if (json_is_object(waits)) {
                (void)json_object_set(row, "waited_ns", json_object_get(waits, "waited_ns"));
            }
            (void)json_array_append_new(all, row);
        }
    }
    return all;
}

/* ---- Tree ------------------------------------------------------------------------------------ */

static bool
same_process(const json_t *a, const json_t *b)
{
    return strcmp(top_string(a, "system"), top_string(b, "system")) == 0 &&
           json_equal(json_object_get(a, "process_id"), json_object_get(b, "process_id"));
}

/* A sum, of what is known. */
static void
member_add(json_t *sum, const json_t *row, const char *key)
{
    const json_t *more = json_object_get(row, key);
    const json_t *yet = json_object_get(sum, key);
    if (json_is_integer(more)) {
        (void)json_object_set_new(sum, key,
                                  json_integer(json_integer_value(yet) + json_integer_value(more)));
    } else if (json_is_real(more)) {
        (void)json_object_set_new(sum, key,
                                  json_real(json_real_value(yet) + json_real_value(more)));
    }
}

static json_t *
process_of(const json_t *node)
{
    json_t *here = json_object_get(node, "process_here");
    return json_pack("{s:O, s:O, s:O, s:i, s:I, s:s}", "system", json_object_get(node, "system"),
                     "process_id", json_object_get(node, "process_id"), "process_here",
                     here ? here : json_null(), "tree", 0, "count", (json_int_t)0, "state",
                     "process");
}

/* The process of a node, and all that are in it too, from `first` on. */
static void
process_append(json_t *tree, json_t *nodes, size_t first)
{
    json_t *head = json_array_get(nodes, first);
    json_t *process = process_of(head);
    json_t *last = NULL;
    (void)json_array_append_new(tree, process);
    for (size_t i = first; i < json_array_size(nodes); i++) {
        json_t *node = json_array_get(nodes, i);
        if (same_process(head, node)) {
            last = node;
            member_add(process, node, "used_permille");
            member_add(process, node, "sent_per_second");
            member_add(process, node, "received_per_second");
            (void)json_object_set_new(process, "count",
                                      json_integer(top_integer(process, "count") + 1));
            (void)json_object_set_new(node, "tree", json_integer(1));
            (void)json_array_append(tree, node);
        }
    }
    (void)json_object_set_new(last, "tree", json_integer(2));
}

json_t *
top_table_tree(json_t *nodes)
{
    json_t *tree = json_array();
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        if (!json_object_get(json_array_get(nodes, i), "tree")) {
            process_append(tree, nodes, i);
        }
    }
    json_decref(nodes);
    return tree;
}
