/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Nobody writes down when he begins to wait: that would cost those who need not. So it is seen from
 * outside: a wait is that of the look before when it is for the same, the node has not slept to the
 * end of another meanwhile, nothing went through its endpoints, and its thread did next to nothing.
 * Then it has lasted since the first such look, at least.
 *
 * A node that sleeps for what others bring has said so in its row, where it stays said until
 * somebody wakes it. So its thread must sleep as well, where that can be seen.
 */
#include "tools/medley/top_wait.h"

#include <stdbool.h>
#include <string.h>

#include "tools/medley/top_rows.h"

/* Who sleeps wakes now and then, to see whether those he waits for live. So a node is taken to
 * sleep that used no more than one part in so many of the interval. */
#define SHARE_OF_SLEEPER 20

static const struct {
    const char *key;
    const char *kind;
} locks[] = {
    {"waiting_for_mutex", "mutex"},
    {"waiting_for_semaphore", "semaphore"},
    {"waiting_for_rwlock", "rwlock"},
};

static bool
sleeps_for_news(const json_t *node)
{
    const json_t *thread = json_object_get(node, "thread");
    return json_is_true(json_object_get(node, "awaits_news")) &&
           strcmp(top_string(node, "state"), "running") == 0 &&
           (!json_is_object(thread) || strcmp(top_string(thread, "state"), "sleeping") == 0);
}

/* As of now; null: it does not wait. */
static json_t *
wait_of(const json_t *node, json_int_t clock_ns)
{
    for (size_t i = 0; i < sizeof locks / sizeof locks[0]; i++) {
        json_t *number = json_object_get(node, locks[i].key);
        if (json_is_integer(number)) {
            return json_pack("{s:s, s:O, s:I}", "for", locks[i].kind, "number", number, "since_ns",
                             clock_ns);
        }
    }
    return sleeps_for_news(node)
               ? json_pack("{s:s, s:n, s:I}", "for", "exchange", "number", "since_ns", clock_ns)
               : json_null();
}

/* ---- What went through a node's endpoints ---------------------------------------------------- */

static void
moved_add(json_t *moved, const json_t *lane, const char *side)
{
    char name[TOP_NAME_BYTES];
    const json_t *end = json_object_get(json_object_get(lane, side), "endpoint");
    json_t *place = json_is_object(end) ? json_copy((json_t *)end) : NULL;
    if (!place) {
        return;
    }
    (void)json_object_del(place, "port");
    top_place_name(place, name);
    json_decref(place);
    (void)json_object_set_new(
        moved, name, json_integer(top_integer(moved, name) + top_side(lane, side, "count")));
}

/* By its place. */
static json_t *
moved_of(const json_t *system)
{
    json_t *moved = json_object();
    const json_t *lanes = json_object_get(system, "lanes");
    for (size_t i = 0; i < json_array_size(lanes); i++) {
        moved_add(moved, json_array_get(lanes, i), "from");
        moved_add(moved, json_array_get(lanes, i), "to");
    }
    return moved;
}

/* ---- The same wait --------------------------------------------------------------------------- */

typedef struct looks {
    json_int_t interval_ns;
    json_t *nodes_before;
    json_t *moved_before;
    json_t *moved_now;
} looks;

static bool
same_place_moved(const looks *l, const json_t *node)
{
    char name[TOP_NAME_BYTES];
    top_place_name(node, name);
    return top_integer(l->moved_before, name) == top_integer(l->moved_now, name);
}

static bool
thread_slept(const looks *l, const json_t *before, const json_t *now)
{
    const json_t *thread_before = json_object_get(before, "thread");
    const json_t *thread_now = json_object_get(now, "thread");
    if (!json_is_object(thread_before) || !json_is_object(thread_now)) {
        return true; /* it cannot be seen */
    }
    json_int_t used_ns = top_integer(thread_now, "used_ns") - top_integer(thread_before, "used_ns");
    return used_ns <= l->interval_ns / SHARE_OF_SLEEPER;
}

static bool
same_wait(const looks *l, const json_t *before, const json_t *now)
{
    const json_t *old = json_object_get(before, "waits");
    const json_t *new = json_object_get(now, "waits");
    return json_is_object(old) && strcmp(top_string(old, "for"), top_string(new, "for")) == 0 &&
           json_equal(json_object_get(old, "number"), json_object_get(new, "number")) &&
           top_integer(before, "sleeps") == top_integer(now, "sleeps") &&
           same_place_moved(l, now) && thread_slept(l, before, now);
}

static void
system_tell(const looks *l, json_t *system, json_int_t clock_ns)
{
    json_t *nodes = json_object_get(system, "nodes");
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        json_t *node = json_array_get(nodes, i);
        json_t *wait = wait_of(node, clock_ns);
        (void)json_object_set_new(node, "waits", wait);
        const json_t *before = top_rows_find(l->nodes_before, node, top_node_name);
        if (json_is_object(wait) && before && same_wait(l, before, node)) {
            json_t *old = json_object_get(before, "waits");
            (void)json_object_set(wait, "since_ns", json_object_get(old, "since_ns"));
        }
    }
}

void
top_waits_tell(const json_t *before, json_t *now)
{
    json_t *systems = json_object_get(now, "systems");
    json_int_t clock_ns = top_integer(now, "clock_ns");
    for (size_t i = 0; i < json_array_size(systems); i++) {
        json_t *system = json_array_get(systems, i);
        const json_t *old = top_system_find(before, system);
        looks l = {
            .interval_ns = clock_ns - top_integer(before, "clock_ns"),
            .nodes_before = top_rows_index(json_object_get(old, "nodes"), top_node_name),
            .moved_before = moved_of(old),
            .moved_now = moved_of(system),
        };
        system_tell(&l, system, clock_ns);
        json_decref(l.nodes_before);
        json_decref(l.moved_before);
        json_decref(l.moved_now);
    }
}
