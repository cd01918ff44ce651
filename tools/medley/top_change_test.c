/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two looks at a system, made up, and what they tell together. */
#include "tools/medley/top_change.h"

#include <string.h>

#include "support/unit.h"
#include "tools/medley/top_rows.h"
#include "tools/medley/top_wait.h"

#define SECOND_NS 1000000000

/* What is different from look to look; the rest is the same in all of them. */
typedef struct told {
    json_int_t clock_s;
    json_int_t instance;
    json_int_t sent, received; /* messages from 1:1:7 to 1:2:8 */
    json_int_t slept;          /* for mutex 4, which 1:1 has */
    json_int_t sleeps, used_ns;
    json_int_t mutex; /* that 1:2 waits for; -1: none */
    const char *thread_state;
    bool awaits_news;
} told;

static json_t *
end(int node, int port)
{
    return json_pack("{s:i, s:i, s:i}", "domain", 1, "node", node, "port", port);
}

static json_t *
side(int node, int port, json_int_t count)
{
    return json_pack("{s:o, s:I, s:I, s:I}", "endpoint", end(node, port), "count", count, "bytes",
                     24 * count, "waits", count / 10);
}

static json_t *
node(int number, const told *t)
{
    bool first = number == 1;
    json_t *mutex = first || t->mutex < 0 ? json_null() : json_integer(t->mutex);
    return json_pack(
        "{s:i, s:i, s:n, s:i, s:i, s:i, s:s, s:s, s:i, s:I, s:b, s:o, s:{s:s, s:i, s:I}}", "domain",
        1, "node", number, "name", "process_id", 100 + number, "thread_id", 100 + number,
        "process_here", 100 + number, "kind", "thread", "state",
        json_is_null(mutex) ? "running" : "waiting", "age_ns", 5, "sleeps",
        first ? (json_int_t)0 : t->sleeps, "awaits_news", first ? 0 : t->awaits_news,
        "waiting_for_mutex", mutex, "thread", "state", first ? "running" : t->thread_state,
        "processor", number, "used_ns", first ? (json_int_t)0 : t->used_ns);
}

static json_t *
system_of(const told *t)
{
    json_t *lane =
        json_pack("{s:o, s:o, s:s, s:i, s:I, s:i, s:i, s:n}", "from", side(1, 7, t->sent), "to",
                  side(2, 8, t->received), "kind", "messages", "priority", 0, "depth",
                  t->sent - t->received, "high_water", 9, "capacity", 128, "lost");
    json_t *lock =
        json_pack("{s:i, s:s, s:{s:i, s:i}, s:i, s:i, s:I}", "mutex", 4, "state", "held", "owner",
                  "domain", 1, "node", 1, "depth", 1, "waiters", 1, "slept", t->slept);
    json_t *sem = json_pack("{s:i, s:i, s:i, s:i, s:i}", "semaphore", 4, "held", 2, "limit", 3,
                            "waiters", 0, "slept", 0);
    json_t *rwl = json_pack("{s:i, s:s, s:n, s:i, s:i, s:i, s:i}", "rwlock", 4, "state", "free",
                            "writer", "readers", 2, "limit", 4, "waiters", 0, "slept", 0);
    return json_pack("{s:s, s:s, s:n, s:I, s:i, s:[], s:[], s:n, s:[oo], s:[o], s:[o], s:[o], "
                     "s:[{s:o, s:s}, {s:o, s:s}], s:[o]}",
                     "name", "demo", "state", "live", "reason", "instance", t->instance, "age_ns",
                     5, "stuck", "processes", "buffers", "nodes", node(1, t), node(2, t), "locks",
                     lock, "semaphores", sem, "rwlocks", rwl, "endpoints", "endpoint", end(1, 7),
                     "state", "free", "endpoint", end(2, 8), "state", "free", "lanes", lane);
}

static json_t *
look(const told *t)
{
    return json_pack("{s:I, s:[{s:i, s:I, s:I}], s:[o]}", "clock_ns", t->clock_s * SECOND_NS,
                     "processors", "processor", 0, "busy", t->clock_s * 25, "all", t->clock_s * 100,
                     "systems", system_of(t));
}

static const told quiet = {.clock_s = 10, .instance = 77, .mutex = -1, .thread_state = "sleeping"};

static json_t *document;

/* What these looks tell, one behind the other: `document`, of the last two. */
static const json_t *
after(const told *looks, size_t count)
{
    json_t *before = NULL;
    for (size_t i = 0; i < count; i++) {
        json_t *now = look(&looks[i]);
        top_waits_tell(before, now);
        json_decref(document);
        document = top_change(before, now);
        json_decref(before);
        before = now;
    }
    json_decref(before);
    return json_array_get(json_object_get(document, "systems"), 0);
}

static json_t *
row(const json_t *system, const char *table, size_t which)
{
    return json_array_get(json_object_get(system, table), which);
}

static double
real(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    assert_true(json_is_real(value));
    return json_real_value(value);
}

#define EXPECT_REAL(row, key, value) assert_true(real(row, key) == (value))

/* ---- Rates ----------------------------------------------------------------------------------- */

static void
rates_are_differences(void **state)
{
    told looks[2] = {quiet, quiet};
    (void)state;
    looks[0].sent = 100;
    looks[0].received = 100;
    looks[1] = (told){.clock_s = 14,
                      .instance = 77,
                      .sent = 500,
                      .received = 490,
                      .slept = 6,
                      .mutex = -1,
                      .thread_state = "running",
                      .used_ns = SECOND_NS};
    const json_t *system = after(looks, 2);
    assert_int_equal(top_integer(document, "interval_ns"), 4 * (json_int_t)SECOND_NS);
    const json_t *lane = row(system, "lanes", 0);
    EXPECT_REAL(lane, "sent_per_second", 100);
    EXPECT_REAL(lane, "received_per_second", 97.5);
    EXPECT_REAL(lane, "bytes_per_second", 2400);
    EXPECT_REAL(lane, "full_per_second", 10);
    EXPECT_REAL(lane, "empty_per_second", 9.8); /* 39 in four seconds, to a tenth */
    assert_int_equal(top_integer(lane, "depth"), 10);
    assert_int_equal(top_integer(lane, "sent"), 500);
    EXPECT_REAL(row(system, "endpoints", 0), "sent_per_second", 100);
    EXPECT_REAL(row(system, "endpoints", 0), "received_per_second", 0);
    EXPECT_REAL(row(system, "endpoints", 1), "received_per_second", 97.5);
    assert_int_equal(top_integer(row(system, "endpoints", 0), "depth"), 0);
    assert_int_equal(top_integer(row(system, "endpoints", 1), "depth"), 10);
    EXPECT_REAL(row(system, "nodes", 0), "sent_per_second", 100);
    EXPECT_REAL(row(system, "nodes", 1), "received_per_second", 97.5);
    EXPECT_REAL(row(system, "locks", 0), "slept_per_second", 1.5);
    assert_int_equal(top_integer(row(system, "nodes", 1), "used_permille"), 250);
    assert_int_equal(top_integer(row(system, "nodes", 0), "used_permille"), 0);
    const json_t *processor = json_array_get(json_object_get(document, "processors"), 0);
    assert_int_equal(top_integer(processor, "used_permille"), 250);
}

/* One look tells no rate: null, which is not 0. */
static void
one_look_tells_no_rate(void **state)
{
    (void)state;
    const json_t *system = after(&quiet, 1);
    assert_true(json_is_null(json_object_get(document, "interval_ns")));
    const json_t *lane = row(system, "lanes", 0), *first = row(system, "nodes", 0);
    assert_true(json_is_null(json_object_get(lane, "sent_per_second")));
    assert_true(json_is_null(json_object_get(first, "sent_per_second")));
    assert_true(json_is_null(json_object_get(first, "used_permille")));
    assert_true(json_is_null(json_object_get(row(system, "locks", 0), "slept_per_second")));
    assert_true(json_is_null(json_object_get(row(system, "endpoints", 0), "received_per_second")));
}

/* Another system by the same name has counts of its own. */
static void
a_new_system_is_another(void **state)
{
    told looks[2] = {quiet, quiet};
    (void)state;
    looks[0].sent = 100;
    looks[1].sent = 500;
    looks[1].clock_s++;
    looks[1].instance = 78;
    const json_t *lane = row(after(looks, 2), "lanes", 0);
    assert_true(json_is_null(json_object_get(lane, "sent_per_second")));
}

/* A lane that counts less is one that was made since. */
static void
a_new_lane_counts_from_0(void **state)
{
    told looks[2] = {quiet, quiet};
    (void)state;
    looks[0].sent = 500;
    looks[1].sent = 20;
    looks[1].clock_s += 2;
    EXPECT_REAL(row(after(looks, 2), "lanes", 0), "sent_per_second", 10);
}

static void
locks_are_alike(void **state)
{
    (void)state;
    const json_t *system = after(&quiet, 1);
    const json_t *mutex = row(system, "locks", 0), *sem = row(system, "locks", 1);
    const json_t *rwl = row(system, "locks", 2);
    assert_string_equal(top_string(mutex, "kind"), "mutex");
    assert_string_equal(top_string(mutex, "state"), "held");
    assert_int_equal(top_integer(mutex, "held"), 1);
    assert_int_equal(top_integer(json_object_get(mutex, "owner"), "node"), 1);
    assert_string_equal(top_string(sem, "state"), "free");
    assert_int_equal(top_integer(sem, "held"), 2);
    assert_int_equal(top_integer(sem, "limit"), 3);
    assert_string_equal(top_string(rwl, "state"), "read");
    assert_int_equal(top_integer(rwl, "held"), 2);
}

static void
what_cannot_be_read_is_named(void **state)
{
    (void)state;
    json_t *now = json_pack("{s:i, s:[], s:[{s:s, s:s, s:s}]}", "clock_ns", 5, "processors",
                            "systems", "name", "odd", "state", "unreadable", "reason", "why");
    top_waits_tell(NULL, now);
    json_t *change = top_change(NULL, now);
    const json_t *system = json_array_get(json_object_get(change, "systems"), 0);
    assert_string_equal(top_string(system, "reason"), "why");
    assert_null(json_object_get(system, "nodes"));
    json_decref(change);
    json_decref(now);
}

/* ---- Waits ----------------------------------------------------------------------------------- */

static void
expect_waited(const told *looks, size_t count, json_int_t seconds)
{
    const json_t *wait = row(after(looks, count), "waits", 0);
    assert_non_null(wait);
    assert_int_equal(top_integer(wait, "waited_ns"), seconds * SECOND_NS);
}

static void
a_wait_lasts_while_nothing_ends_it(void **state)
{
    told looks[4];
    (void)state;
    for (int i = 0; i < 4; i++) {
        looks[i] = quiet;
        looks[i].clock_s += i;
        looks[i].mutex = i ? 4 : -1;
    }
    expect_waited(looks, 2, 0); /* it began since the first look: so much is known */
    expect_waited(looks, 4, 2);
    const json_t *wait = row(after(looks, 4), "waits", 0);
    assert_string_equal(top_string(wait, "for"), "mutex");
    assert_int_equal(top_integer(wait, "number"), 4);
    assert_int_equal(top_integer(wait, "node"), 2);
    assert_int_equal(top_integer(wait, "process_here"), 102);
    assert_int_equal(top_integer(json_object_get(wait, "owner"), "node"), 1);
    assert_int_equal(json_array_size(json_object_get(wait, "endpoints")), 0);
    assert_null(row(after(looks, 4), "waits", 1));
}

/* Each is another wait, by one sign: for another, one slept to its end, a thread at work. */
static void
another_wait_begins_anew(void **state)
{
    told looks[3];
    (void)state;
    for (int sign = 0; sign < 4; sign++) {
        for (int i = 0; i < 3; i++) {
            looks[i] = quiet;
            looks[i].clock_s += i;
            looks[i].mutex = 4;
        }
        looks[2].mutex = sign == 1 ? 5 : 4;
        looks[2].sleeps = sign == 2 ? 1 : 0;
        looks[2].used_ns = sign == 3 ? SECOND_NS / 2 : 0;
        expect_waited(looks, 3, sign ? 0 : 2);
    }
}

static void
an_exchange_is_waited_for(void **state)
{
    told looks[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        looks[i] = quiet;
        looks[i].clock_s += i;
        looks[i].awaits_news = true;
    }
    expect_waited(looks, 3, 2);
    const json_t *wait = row(after(looks, 3), "waits", 0);
    assert_string_equal(top_string(wait, "for"), "exchange");
    assert_true(json_is_null(json_object_get(wait, "number")));
    const json_t *ends = json_object_get(wait, "endpoints");
    assert_int_equal(json_array_size(ends), 1);
    assert_int_equal(top_integer(json_array_get(ends, 0), "port"), 8);
    /* Something came through meanwhile. */
    looks[2].sent = 1;
    looks[2].received = 1;
    expect_waited(looks, 3, 0);
    /* Something lies there: it is not what is waited for. */
    looks[2].sent = 2;
    wait = row(after(looks, 3), "waits", 0);
    assert_int_equal(json_array_size(json_object_get(wait, "endpoints")), 0);
}

/* What it said when it last slept it says still. */
static void
a_thread_at_work_waits_for_nothing(void **state)
{
    told one = quiet;
    (void)state;
    one.awaits_news = true;
    one.thread_state = "running";
    assert_null(row(after(&one, 1), "waits", 0));
    assert_true(json_is_null(json_object_get(row(after(&one, 1), "nodes", 1), "waits")));
}

static int
end_all(void **state)
{
    (void)state;
    json_decref(document);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_differences),
        cmocka_unit_test(one_look_tells_no_rate),
        cmocka_unit_test(a_new_system_is_another),
        cmocka_unit_test(a_new_lane_counts_from_0),
        cmocka_unit_test(locks_are_alike),
        cmocka_unit_test(what_cannot_be_read_is_named),
        cmocka_unit_test(a_wait_lasts_while_nothing_ends_it),
        cmocka_unit_test(another_wait_begins_anew),
        cmocka_unit_test(an_exchange_is_waited_for),
        cmocka_unit_test(a_thread_at_work_waits_for_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, end_all);
}
