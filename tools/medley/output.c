/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Values as a person reads them, the cells of each column, and tables whose columns are as wide as
 * their widest cell.
 */
#include "tools/medley/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tools/medley/command.h"

#define INDENT 2
#define GAP 2

/* ---- Values ---------------------------------------------------------------------------------- */

static void
size_write(char *cell, uint64_t size_bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = (double)size_bytes;
    size_t unit = 0;
    for (; size >= 1024 && unit + 1 < sizeof units / sizeof units[0]; unit++) {
        size /= 1024;
    }
    bool whole = size >= 100 || size == (double)(uint64_t)size;
    (void)snprintf(cell, OUTPUT_CELL_BYTES, "%.*f %s", whole ? 0 : 1, size, units[unit]);
}

static void
age_write(char *cell, uint64_t age_ns)
{
    uint64_t seconds = age_ns / 1000000000u;
    if (seconds < 60) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%.1f s", (double)age_ns / 1e9);
    } else if (seconds < 3600) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%" PRIu64 " min %02" PRIu64 " s", seconds / 60,
                       seconds % 60);
    } else if (seconds < 86400) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%" PRIu64 " h %02" PRIu64 " min", seconds / 3600,
                       seconds / 60 % 60);
    } else {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%" PRIu64 " d %02" PRIu64 " h", seconds / 86400,
                       seconds / 3600 % 24);
    }
}

static char *
next_text(void)
{
    static char texts[4][OUTPUT_CELL_BYTES];
    static unsigned next;
    return texts[next++ % 4];
}

const char *
output_size_text(uint64_t size_bytes)
{
    char *text = next_text();
    size_write(text, size_bytes);
    return text;
}

const char *
output_age_text(uint64_t age_ns)
{
    char *text = next_text();
    age_write(text, age_ns);
    return text;
}

static void
time_write(char *text, uint64_t ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    unsigned i = 0;
    while (i < 3 && (double)ns < units[i].ns) {
        i++;
    }
    if (ns < 1000) {
        (void)snprintf(text, OUTPUT_CELL_BYTES, "%u ns", (unsigned)ns);
    } else {
        (void)snprintf(text, OUTPUT_CELL_BYTES, "%.1f %s", (double)ns / units[i].ns, units[i].unit);
    }
}

const char *
output_time_text(uint64_t ns)
{
    char *text = next_text();
    time_write(text, ns);
    return text;
}

const char *
output_count_text(uint64_t number, const char *things)
{
    char *text = next_text();
    med_text line = {.length = 0};
    med_text_count(&line, number, things);
    med_text_copy(text, OUTPUT_CELL_BYTES, line.bytes);
    return text;
}

json_t *
output_node_json(uint32_t domain, uint32_t number)
{
    return json_pack("{s:I, s:I}", "domain", (json_int_t)domain, "node", (json_int_t)number);
}

json_t *
output_number(bool known, uint64_t number)
{
    return known ? json_integer((json_int_t)number) : json_null();
}

json_t *
output_string(const char *text)
{
    char clean[1024];
    size_t length = 0;
    for (; text[length] && length < sizeof clean - 1; length++) {
        bool printable = text[length] >= ' ' && text[length] <= '~';
        clean[length] = (char)(printable ? text[length] : '?');
    }
    clean[length] = '\0';
    return json_string(clean);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

void
output_plain(const json_t *row, const json_t *value, char *cell)
{
    (void)row;
    if (json_is_string(value)) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%s", json_string_value(value));
    } else if (json_is_integer(value)) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_boolean(value)) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%s", json_is_true(value) ? "yes" : "no");
    } else {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "-");
    }
}

void
output_size(const json_t *row, const json_t *value, char *cell)
{
    if (json_is_integer(value)) {
        size_write(cell, (uint64_t)json_integer_value(value));
    } else {
        output_plain(row, value, cell);
    }
}

void
output_time(const json_t *row, const json_t *value, char *cell)
{
    if (json_is_integer(value)) {
        time_write(cell, (uint64_t)json_integer_value(value));
    } else {
        output_plain(row, value, cell);
    }
}

void
output_age(const json_t *row, const json_t *value, char *cell)
{
    if (json_is_integer(value)) {
        age_write(cell, (uint64_t)json_integer_value(value));
    } else {
        output_plain(row, value, cell);
    }
}

void
output_list(const json_t *row, const json_t *value, char *cell)
{
    (void)row;
    size_t length = 0;
    cell[0] = '\0';
    for (size_t i = 0; i < json_array_size(value) && length < OUTPUT_CELL_BYTES; i++) {
        length += (size_t)snprintf(cell + length, OUTPUT_CELL_BYTES - length, "%s%s", i ? ", " : "",
                                   json_string_value(json_array_get(value, i)));
    }
    if (length == 0) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "-");
    }
}

void
output_node(const json_t *row, const json_t *value, char *cell)
{
    if (!json_is_object(value)) {
        output_plain(row, value, cell);
        return;
    }
    (void)snprintf(cell, OUTPUT_CELL_BYTES, "%" JSON_INTEGER_FORMAT ":%" JSON_INTEGER_FORMAT,
                   json_integer_value(json_object_get(value, "domain")),
                   json_integer_value(json_object_get(value, "node")));
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void
cell_write(const json_t *row, const output_column *column, char *cell)
{
    const json_t *value = column->key ? json_object_get(row, column->key) : NULL;
    (column->format ? column->format : output_plain)(row, value, cell);
}

static size_t
column_width(const json_t *rows, const output_column *column)
{
    char cell[OUTPUT_CELL_BYTES];
    size_t width = strlen(column->title);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        cell_write(json_array_get(rows, i), column, cell);
        if (strlen(cell) > width) {
            width = strlen(cell);
        }
    }
    return width;
}

/* The last column has no blanks behind it. */
static void
cell_print(const output_column *column, const char *text, size_t width, bool last)
{
    if (column->right) {
        (void)printf("%*s", (int)width, text);
    } else {
        (void)printf("%-*s", last ? 0 : (int)width, text);
    }
    (void)printf("%*s", last ? 0 : GAP, "");
    if (last) {
        (void)putchar('\n');
    }
}

void
output_table(const json_t *rows, const output_column *columns, size_t column_count)
{
    size_t widths[OUTPUT_COLUMNS_MAX];
    char cell[OUTPUT_CELL_BYTES];
    if (json_array_size(rows) == 0 || column_count > OUTPUT_COLUMNS_MAX) {
        return;
    }
    (void)printf("%*s", INDENT, "");
    for (size_t c = 0; c < column_count; c++) {
        widths[c] = column_width(rows, &columns[c]);
        cell_print(&columns[c], columns[c].title, widths[c], c + 1 == column_count);
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        (void)printf("%*s", INDENT, "");
        for (size_t c = 0; c < column_count; c++) {
            cell_write(json_array_get(rows, i), &columns[c], cell);
            cell_print(&columns[c], cell, widths[c], c + 1 == column_count);
        }
    }
}

static bool json_given;

bool
output_json_given(void)
{
    return json_given;
}

void
output_json(json_t *document, bool one_line)
{
    json_given = true;
    if (*command_errors()) {
        (void)json_object_set_new(document, "error", output_string(command_errors()));
    }
    (void)json_dumpf(document, stdout, one_line ? JSON_COMPACT : JSON_INDENT(2));
    (void)putchar('\n');
    json_decref(document);
}
