/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a command has found out is one JSON document. It is printed as that (--json), or as text
 * that is made from the same document: tables of rows, by lists of columns.
 */
#ifndef MEDLEY_TOOLS_OUTPUT_H
#define MEDLEY_TOOLS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define OUTPUT_CELL_BYTES 160
#define OUTPUT_COLUMNS_MAX 14 /* of a table */

/* Writes what a cell shows into `cell`, OUTPUT_CELL_BYTES large. `value` is the row's value under
 * the column's key, NULL when the row has none (or the column no key). */
typedef void (*output_format)(const json_t *row, const json_t *value, char *cell);

typedef struct output_column {
    const char *title;
    const char *key;
    output_format format; /* NULL: output_plain */
    bool right;           /* numbers */
} output_column;

/* A table, two spaces in; nothing at all when there are no rows. */
void output_table(const json_t *rows, const output_column *columns, size_t column_count);
#define OUTPUT_TABLE(rows, columns) output_table(rows, columns, sizeof columns / sizeof columns[0])

/* The document on standard output; on one line when it is one of many. Takes the reference. "error"
 * in it is what was told so far on standard error, if anything. */
void output_json(json_t *document, bool one_line);
/* Was there a document? */
bool output_json_given(void);

/* Formats of cells. */
void output_plain(const json_t *row, const json_t *value, char *cell); /* null and none: "-" */
void output_size(const json_t *row, const json_t *value, char *cell);  /* of bytes: "32 KiB" */
void output_age(const json_t *row, const json_t *value, char *cell);   /* of ns: "3.2 s" */
void output_time(const json_t *row, const json_t *value, char *cell);  /* of ns: "3.2 us" */
void output_list(const json_t *row, const json_t *value, char *cell);  /* of strings: "a, b" */
void output_node(const json_t *row, const json_t *value, char *cell);  /* of output_node_json's */

/* "32 KiB" for lines of prose; the text lives until the next call but three. */
const char *output_size_text(uint64_t size_bytes);
const char *output_age_text(uint64_t age_ns);
/* "850 ns", "3.2 us", "18.4 ms", "2.1 s": what is measured. */
const char *output_time_text(uint64_t ns);
/* "1 node", "2 nodes": likewise, by the plural. */
const char *output_count_text(uint64_t number, const char *things);

/* The name of a node, {"domain", "node"}; in cells "3:7". */
json_t *output_node_json(uint32_t domain, uint32_t number);
/* Null where it is not known. */
json_t *output_number(bool known, uint64_t number);

/* The bytes of a text that are printable ASCII, others as '?': for what others have written. */
json_t *output_string(const char *text);

#endif
