/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Rows of two looks (top_look.h), told to be the same thing by what it is called in its system; and
 * what of it differs by now.
 */
#ifndef MEDLEY_TOOLS_TOP_ROWS_H
#define MEDLEY_TOOLS_TOP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define TOP_NAME_BYTES 160u

/* Writes what tells a row from others of its kind; false: nothing does. */
typedef bool (*top_name)(const json_t *row, char name[TOP_NAME_BYTES]);

bool top_node_name(const json_t *node, char name[TOP_NAME_BYTES]); /* one life of it */
bool top_lane_name(const json_t *lane, char name[TOP_NAME_BYTES]);
bool top_lock_name(const json_t *lock, char name[TOP_NAME_BYTES]); /* "kind" is among its keys */
bool top_processor_name(const json_t *row, char name[TOP_NAME_BYTES]);
/* Of {"domain", "node"}, whose port is written too where there is one; "-" of null. */
void top_place_name(const json_t *place, char name[TOP_NAME_BYTES]);

/* The rows by their names: an object. */
json_t *top_rows_index(const json_t *rows, top_name named);
/* The row of the same name there; NULL: none. */
json_t *top_rows_find(const json_t *index, const json_t *row, top_name named);

/* The system of that name and instance in a look; NULL: none. */
json_t *top_system_find(const json_t *look, const json_t *system);

static inline json_int_t
top_integer(const json_t *row, const char *key)
{
    return json_integer_value(json_object_get(row, key));
}

/* "" where there is none. */
static inline const char *
top_string(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

/* A side of a lane: "from", "to"; and what it counted. */
static inline json_int_t
top_side(const json_t *lane, const char *side, const char *key)
{
    return top_integer(json_object_get(lane, side), key);
}

#endif
