/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Rates are differences of what lanes and locks count anyway, each in a line of its own side: so
 * nobody who sends or locks does anything for them. What counts less than before is another by the
 * same name, made since.
 */
#include "tools/medley/top_change.h"

#include <math.h>
#include <string.h>

#include "tools/medley/output.h"
#include "tools/medley/top_rows.h"

typedef struct change {
    double seconds; /* 0: there was no look before */
    json_t *nodes;  /* before, by their names; as the next two */
    json_t *lanes;
    json_t *locks;
} change;

/* ---- Numbers --------------------------------------------------------------------------------- */

/* To a tenth: more is not known of what was looked at for a moment. */
static json_t *
rate(const change *c, json_int_t before, json_int_t now)
{
    json_int_t since = now >= before ? now - before : now;
    return c->seconds > 0 ? json_real(round((double)since / c->seconds * 10) / 10) : json_null();
}

static json_t *
share_permille(double part, double whole)
{
    double permille = whole > 0 ? round(part / whole * 1000) : 0;
    return json_integer(permille > 1000 ? 1000 : permille > 0 ? (json_int_t)permille : 0);
}

static void
real_add(json_t *row, const char *key, const json_t *more)
{
    if (json_is_real(more)) {
        double sum = json_real_value(json_object_get(row, key)) + json_real_value(more);
        (void)json_object_set_new(row, key, json_real(sum));
    }
}

/* ---- Processors ------------------------------------------------------------------------------ */

static json_t *
processors_json(const json_t *before, const json_t *now)
{
    json_t *rows = json_array();
    const json_t *processors = json_object_get(now, "processors");
    json_t *index = top_rows_index(json_object_get(before, "processors"), top_processor_name);
    for (size_t i = 0; i < json_array_size(processors); i++) {
        const json_t *row = json_array_get(processors, i);
        const json_t *old = top_rows_find(index, row, top_processor_name);
        double busy = (double)(top_integer(row, "busy") - top_integer(old, "busy"));
        double all = (double)(top_integer(row, "all") - top_integer(old, "all"));
        (void)json_array_append_new(
            rows, json_pack("{s:O, s:o}", "processor", json_object_get(row, "processor"),
                            "used_permille", old ? share_permille(busy, all) : json_null()));
    }
    json_decref(index);
    return rows;
}

/* ---- Lanes, and whose they are --------------------------------------------------------------- */

static json_t *
end_of(const json_t *lane, const char *side)
{
    json_t *end = json_object_get(json_object_get(lane, side), "endpoint");
    return end ? end : json_null();
}

static json_t *
side_rate(const change *c, const json_t *old, const json_t *lane, const char *side, const char *key)
{
    return rate(c, top_side(old, side, key), top_side(lane, side, key));
}

static json_t *
lane_json(const change *c, const json_t *lane)
{
    const json_t *old = top_rows_find(c->lanes, lane, top_lane_name);
    json_t *row = json_pack(
        "{s:O, s:O, s:O, s:O, s:O, s:O, s:O, s:O, s:I, s:I}", "from", end_of(lane, "from"), "to",
        end_of(lane, "to"), "kind", json_object_get(lane, "kind"), "priority",
        json_object_get(lane, "priority"), "depth", json_object_get(lane, "depth"), "high_water",
        json_object_get(lane, "high_water"), "capacity", json_object_get(lane, "capacity"), "lost",
        json_object_get(lane, "lost"), "sent", top_side(lane, "from", "count"), "received",
        top_side(lane, "to", "count"));
    json_t *rates = json_pack("{s:o, s:o, s:o, s:o, s:o}", "sent_per_second",
                              side_rate(c, old, lane, "from", "count"), "received_per_second",
                              side_rate(c, old, lane, "to", "count"), "bytes_per_second",
                              side_rate(c, old, lane, "from", "bytes"), "full_per_second",
                              side_rate(c, old, lane, "from", "waits"), "empty_per_second",
                              side_rate(c, old, lane, "to", "waits"));
    (void)json_object_update(row, rates);
    json_decref(rates);
    return row;
}

static json_t *
lanes_json(const change *c, const json_t *system)
{
    json_t *rows = json_array();
    const json_t *lanes = json_object_get(system, "lanes");
    for (size_t i = 0; i < json_array_size(lanes); i++) {
        (void)json_array_append_new(rows, lane_json(c, json_array_get(lanes, i)));
    }
    return rows;
}

/* The rows of an array, by the place that stands in them, or that they are. */
static json_t *
index_by_place(const json_t *rows, const char *key)
{
    char name[TOP_NAME_BYTES];
    json_t *index = json_object();
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        top_place_name(key ? json_object_get(row, key) : row, name);
        (void)json_object_set(index, name, row);
    }
    return index;
}

/* The row of a lane's end, or of its node; NULL: none. */
static json_t *
find_by_end(const json_t *index, const json_t *end, bool port)
{
    char name[TOP_NAME_BYTES];
    if (!json_is_object(end)) {
        return NULL;
    }
    top_place_name(end, name);
    if (!port) {
        *strrchr(name, ':') = '\0';
    }
    return json_object_get(index, name);
}

/* What goes by a lane goes by its ends, and by their nodes. */
static void
lanes_spread(const json_t *lanes, const json_t *index, bool ports)
{
    for (size_t i = 0; i < json_array_size(lanes); i++) {
        const json_t *lane = json_array_get(lanes, i);
        json_t *from = find_by_end(index, json_object_get(lane, "from"), ports);
        json_t *to = find_by_end(index, json_object_get(lane, "to"), ports);
        real_add(from, "sent_per_second", json_object_get(lane, "sent_per_second"));
        real_add(to, "received_per_second", json_object_get(lane, "received_per_second"));
        if (ports) {
            real_add(from, "bytes_per_second", json_object_get(lane, "bytes_per_second"));
            real_add(to, "bytes_per_second", json_object_get(lane, "bytes_per_second"));
        }
        if (ports && to) {
            json_int_t depth = top_integer(to, "depth") + top_integer(lane, "depth");
            (void)json_object_set_new(to, "depth", json_integer(depth));
        }
    }
}

/* Of what nothing has moved yet. */
static json_t *
no_rate(const change *c)
{
    return c->seconds > 0 ? json_real(0) : json_null();
}

static json_t *
endpoints_json(const change *c, const json_t *system, const json_t *lanes)
{
    json_t *rows = json_array();
    const json_t *endpoints = json_object_get(system, "endpoints");
    for (size_t i = 0; i < json_array_size(endpoints); i++) {
        const json_t *endpoint = json_array_get(endpoints, i);
        (void)json_array_append_new(rows, json_pack("{s:O, s:O, s:I, s:o, s:o, s:o}", "endpoint",
                                                    json_object_get(endpoint, "endpoint"), "state",
                                                    json_object_get(endpoint, "state"), "depth",
                                                    (json_int_t)0, "sent_per_second", no_rate(c),
                                                    "received_per_second", no_rate(c),
                                                    "bytes_per_second", no_rate(c)));
    }
    json_t *index = index_by_place(rows, "endpoint");
    lanes_spread(lanes, index, true);
    json_decref(index);
    return rows;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static json_t *
used_permille(const change *c, const json_t *before, const json_t *now)
{
    const json_t *old = json_object_get(before, "thread");
    const json_t *thread = json_object_get(now, "thread");
    if (c->seconds <= 0 || !json_is_object(old) || !json_is_object(thread)) {
        return json_null();
    }
    return share_permille((double)(top_integer(thread, "used_ns") - top_integer(old, "used_ns")),
                          c->seconds * 1e9);
}

static json_t *
waits_json(const json_t *node, json_int_t clock_ns)
{
    const json_t *wait = json_object_get(node, "waits");
    if (!json_is_object(wait)) {
        return json_null();
    }
    return json_pack("{s:O, s:O, s:I}", "for", json_object_get(wait, "for"), "number",
                     json_object_get(wait, "number"), "waited_ns",
                     clock_ns - top_integer(wait, "since_ns"));
}

/* What is said of it in both. */
static void
members_copy(json_t *to, const json_t *from, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        json_t *value = json_object_get(from, keys[i]);
        (void)json_object_set(to, keys[i], value ? value : json_null());
    }
}

static json_t *
node_json(const change *c, const json_t *node, json_int_t clock_ns)
{
    static const char *const keys[] = {"domain",       "node", "name",  "process_id", "thread_id",
                                       "process_here", "kind", "state", "age_ns"};
    const json_t *thread = json_object_get(node, "thread");
    const json_t *old = top_rows_find(c->nodes, node, top_node_name);
    json_t *row = json_object();
    members_copy(row, node, keys, sizeof keys / sizeof keys[0]);
    json_t *state = json_object_get(thread, "state");
    json_t *processor = json_object_get(thread, "processor");
    (void)json_object_set(row, "thread_state", state ? state : json_null());
    (void)json_object_set(row, "processor", processor ? processor : json_null());
    (void)json_object_set_new(row, "used_permille", used_permille(c, old, node));
    (void)json_object_set_new(row, "sent_per_second", no_rate(c));
    (void)json_object_set_new(row, "received_per_second", no_rate(c));
    (void)json_object_set_new(row, "waits", waits_json(node, clock_ns));
    return row;
}

static json_t *
nodes_json(const change *c, const json_t *system, const json_t *lanes, json_int_t clock_ns)
{
    json_t *rows = json_array();
    const json_t *nodes = json_object_get(system, "nodes");
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        (void)json_array_append_new(rows, node_json(c, json_array_get(nodes, i), clock_ns));
    }
    json_t *index = index_by_place(rows, NULL);
    lanes_spread(lanes, index, false);
    json_decref(index);
    return rows;
}

/* ---- Locks ----------------------------------------------------------------------------------- */

/* Of a mutex 1, unless it is free; of a semaphore so many; else the readers, or a writer. */
static json_int_t
held_of(const json_t *lock, const char *kind)
{
    bool written = strcmp(top_string(lock, "state"), "held") == 0;
    if (strcmp(kind, "semaphore") == 0) {
        return top_integer(lock, "held");
    }
    return written ? 1 : top_integer(lock, "readers");
}

static const char *
state_of(const json_t *lock, json_int_t held, json_int_t limit)
{
    const char *state = top_string(lock, "state");
    const char *taken = held < limit ? "free" : "held";
    bool read = strcmp(state, "free") == 0 && held > 0;
    return read ? "read" : *state ? state : taken;
}

static json_t *
lock_json(const json_t *lock, const char *kind, const char *number, const char *owner)
{
    json_t *known_owner = json_object_get(lock, owner);
    json_int_t held = held_of(lock, kind);
    json_int_t limit = strcmp(kind, "mutex") == 0 ? 1 : top_integer(lock, "limit");
    return json_pack("{s:s, s:O, s:s, s:O, s:I, s:I, s:O, s:O}", "kind", kind, "number",
                     json_object_get(lock, number), "state", state_of(lock, held, limit), "owner",
                     known_owner ? known_owner : json_null(), "held", held, "limit", limit,
                     "waiters", json_object_get(lock, "waiters"), "slept",
                     json_object_get(lock, "slept"));
}

static void
locks_add(json_t *rows, const json_t *locks, const char *kind, const char *owner)
{
    for (size_t i = 0; i < json_array_size(locks); i++) {
        (void)json_array_append_new(rows, lock_json(json_array_get(locks, i), kind, kind, owner));
    }
}

/* Without their rates. */
static json_t *
locks_of(const json_t *system)
{
    json_t *rows = json_array();
    locks_add(rows, json_object_get(system, "locks"), "mutex", "owner");
    locks_add(rows, json_object_get(system, "semaphores"), "semaphore", "owner");
    locks_add(rows, json_object_get(system, "rwlocks"), "rwlock", "writer");
    return rows;
}

static json_t *
locks_json(const change *c, const json_t *system)
{
    json_t *rows = locks_of(system);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        const json_t *old = top_rows_find(c->locks, row, top_lock_name);
        (void)json_object_set_new(row, "slept_per_second",
                                  rate(c, top_integer(old, "slept"), top_integer(row, "slept")));
    }
    return rows;
}

/* ---- Waits ----------------------------------------------------------------------------------- */

/* Where it receives, and nothing has come. */
static json_t *
empty_endpoints(const json_t *endpoints, const json_t *node)
{
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(endpoints); i++) {
        const json_t *row = json_array_get(endpoints, i);
        json_t *end = json_object_get(row, "endpoint");
        bool there = strcmp(top_string(row, "state"), "expected") != 0;
        if (there && json_is_object(end) && top_integer(row, "depth") == 0 &&
            top_integer(end, "domain") == top_integer(node, "domain") &&
            top_integer(end, "node") == top_integer(node, "node")) {
            (void)json_array_append(list, end);
        }
    }
    return list;
}

static json_t *
wait_row(const json_t *node, const json_t *locks, const json_t *endpoints)
{
    static const char *const keys[] = {"domain", "node", "process_id", "process_here", "thread_id"};
    json_t *wait = json_object_get(node, "waits");
    bool exchange = strcmp(top_string(wait, "for"), "exchange") == 0;
    json_t *row = json_copy(wait);
    members_copy(row, node, keys, sizeof keys / sizeof keys[0]);
    json_t *sought = json_pack("{s:O, s:O}", "kind", json_object_get(wait, "for"), "number",
                               json_object_get(wait, "number"));
    json_t *owner = json_object_get(top_rows_find(locks, sought, top_lock_name), "owner");
    (void)json_object_set(row, "owner", owner ? owner : json_null());
    (void)json_object_set_new(row, "endpoints",
                              exchange ? empty_endpoints(endpoints, node) : json_array());
    json_decref(sought);
    return row;
}

static void
insert_longest_first(json_t *rows, json_t *row)
{
    size_t at = json_array_size(rows);
    while (at > 0 &&
           top_integer(json_array_get(rows, at - 1), "waited_ns") < top_integer(row, "waited_ns")) {
        at--;
    }
    (void)json_array_insert_new(rows, at, row);
}

static json_t *
waits_of(const json_t *nodes, const json_t *locks, const json_t *endpoints)
{
    json_t *rows = json_array();
    json_t *index = top_rows_index(locks, top_lock_name);
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        if (json_is_object(json_object_get(node, "waits"))) {
            insert_longest_first(rows, wait_row(node, index, endpoints));
        }
    }
    json_decref(index);
    return rows;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void
contents_add(json_t *row, const json_t *old, const json_t *system, const json_t *looks[2])
{
    json_int_t clock_ns = top_integer(looks[1], "clock_ns");
    double seconds = (double)(clock_ns - top_integer(looks[0], "clock_ns")) / 1e9;
    json_t *locks_before = locks_of(old);
    change c = {.seconds = old ? seconds : 0,
                .nodes = top_rows_index(json_object_get(old, "nodes"), top_node_name),
                .lanes = top_rows_index(json_object_get(old, "lanes"), top_lane_name),
                .locks = top_rows_index(locks_before, top_lock_name)};
    json_t *lanes = lanes_json(&c, system);
    json_t *nodes = nodes_json(&c, system, lanes, clock_ns);
    json_t *endpoints = endpoints_json(&c, system, lanes);
    json_t *locks = locks_json(&c, system);
    (void)json_object_set_new(row, "waits", waits_of(nodes, locks, endpoints));
    (void)json_object_set_new(row, "nodes", nodes);
    (void)json_object_set_new(row, "endpoints", endpoints);
    (void)json_object_set_new(row, "lanes", lanes);
    (void)json_object_set_new(row, "locks", locks);
    json_decref(c.nodes);
    json_decref(c.lanes);
    json_decref(c.locks);
    json_decref(locks_before);
}

static json_t *
system_json(const json_t *before, const json_t *now, const json_t *system)
{
    static const char *const outside[] = {"name", "state", "reason"};
    static const char *const inside[] = {"age_ns", "stuck", "processes", "buffers"};
    json_t *row = json_object();
    members_copy(row, system, outside, sizeof outside / sizeof outside[0]);
    if (json_object_get(system, "nodes")) {
        members_copy(row, system, inside, sizeof inside / sizeof inside[0]);
        contents_add(row, top_system_find(before, system), system,
                     (const json_t *[2]){before, now});
    }
    return row;
}

json_t *
top_change(const json_t *before, const json_t *now)
{
    const json_t *systems = json_object_get(now, "systems");
    json_t *rows = json_array();
    for (size_t i = 0; i < json_array_size(systems); i++) {
        (void)json_array_append_new(rows, system_json(before, now, json_array_get(systems, i)));
    }
    json_int_t interval_ns = top_integer(now, "clock_ns") - top_integer(before, "clock_ns");
    return json_pack("{s:o, s:o, s:o}", "interval_ns", output_number(before, (uint64_t)interval_ns),
                     "processors", processors_json(before, now), "systems", rows);
}
