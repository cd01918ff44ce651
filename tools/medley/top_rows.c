/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names, and tables by names: a look at a thousand nodes is compared with the one before in one
 * pass. */
#include "tools/medley/top_rows.h"

#include <stdio.h>
#include <string.h>

void
top_place_name(const json_t *place, char name[TOP_NAME_BYTES])
{
    const json_t *port = json_object_get(place, "port");
    if (!json_is_object(place)) {
        (void)snprintf(name, TOP_NAME_BYTES, "-");
        return;
    }
    int length = snprintf(name, TOP_NAME_BYTES, "%" JSON_INTEGER_FORMAT ":%" JSON_INTEGER_FORMAT,
                          top_integer(place, "domain"), top_integer(place, "node"));
    if (port) {
        (void)snprintf(name + length, TOP_NAME_BYTES - (size_t)length, ":%" JSON_INTEGER_FORMAT,
                       json_integer_value(port));
    }
}

bool
top_node_name(const json_t *node, char name[TOP_NAME_BYTES])
{
    return snprintf(name, TOP_NAME_BYTES,
                    "%" JSON_INTEGER_FORMAT ":%" JSON_INTEGER_FORMAT ":%" JSON_INTEGER_FORMAT
                    ":%" JSON_INTEGER_FORMAT,
                    top_integer(node, "domain"), top_integer(node, "node"),
                    top_integer(node, "process_id"), top_integer(node, "thread_id")) > 0;
}

bool
top_lane_name(const json_t *lane, char name[TOP_NAME_BYTES])
{
    char from[TOP_NAME_BYTES], to[TOP_NAME_BYTES];
    const json_t *source = json_object_get(json_object_get(lane, "from"), "endpoint");
    const json_t *target = json_object_get(json_object_get(lane, "to"), "endpoint");
    if (!json_is_object(source) || !json_is_object(target)) {
        return false; /* of one who is gone */
    }
    top_place_name(source, from);
    top_place_name(target, to);
    (void)snprintf(name, TOP_NAME_BYTES, "%.40s %.40s %.20s %d", from, to, top_string(lane, "kind"),
                   (int)top_integer(lane, "priority"));
    return true;
}

bool
top_lock_name(const json_t *lock, char name[TOP_NAME_BYTES])
{
    return snprintf(name, TOP_NAME_BYTES, "%s %" JSON_INTEGER_FORMAT, top_string(lock, "kind"),
                    top_integer(lock, "number")) > 0;
}

bool
top_processor_name(const json_t *row, char name[TOP_NAME_BYTES])
{
    return snprintf(name, TOP_NAME_BYTES, "%" JSON_INTEGER_FORMAT, top_integer(row, "processor")) >
           0;
}

json_t *
top_rows_index(const json_t *rows, top_name named)
{
    char name[TOP_NAME_BYTES];
    json_t *index = json_object();
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        if (named(row, name)) {
            (void)json_object_set(index, name, row);
        }
    }
    return index;
}

json_t *
top_rows_find(const json_t *index, const json_t *row, top_name named)
{
    char name[TOP_NAME_BYTES];
    return named(row, name) ? json_object_get(index, name) : NULL;
}

json_t *
top_system_find(const json_t *look, const json_t *system)
{
    const json_t *systems = json_object_get(look, "systems");
    for (size_t i = 0; i < json_array_size(systems); i++) {
        json_t *other = json_array_get(systems, i);
        if (strcmp(top_string(other, "name"), top_string(system, "name")) == 0 &&
            top_integer(other, "instance") == top_integer(system, "instance")) {
            return other;
        }
    }
    return NULL;
}
