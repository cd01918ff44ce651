/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A recording in figures: of each node how long it did what, and how long messages to it were under
 * way; of what the program named, how often and how long. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/medley/output.h"
#include "tools/medley/trace_write.h"

/* ---- Of a node ------------------------------------------------------------------------------- */

/* Its own time of each kind: without what lies within. */
typedef struct times {
    uint64_t own_ns[TIMELINE_KIND_COUNT];
    uint64_t outer_ns; /* of all that no other lies around */
} times;

/* Spans come by their ends, so those within one come before it: what they took stands at their
 * depth until it comes. */
static void
times_sum(const timeline *t, uint32_t track, times *sum)
{
    uint64_t within_ns[257] = {0};
    *sum = (times){.outer_ns = 0};
    for (size_t i = 0; i < t->span_count; i++) {
        const timeline_span *span = &t->spans[i];
        if (span->track != track) {
            continue;
        }
        uint64_t length_ns = span->end_ns - span->begin_ns;
        uint64_t inner_ns = within_ns[span->depth + 1];
        within_ns[span->depth + 1] = 0;
        within_ns[span->depth] += length_ns;
        sum->own_ns[span->kind] += inner_ns < length_ns ? length_ns - inner_ns : 0;
    }
    sum->outer_ns = within_ns[0];
}

/* What the program named on that track: of each name, how often, and how long in all. */
static json_t *
named_json(const timeline *t, uint32_t track)
{
    json_t *all = json_object();
    for (size_t i = 0; i < t->span_count; i++) {
        const timeline_span *span = &t->spans[i];
        if (span->track != track || span->kind != TIMELINE_NAMED) {
            continue;
        }
        json_t *one = json_object_get(all, span->label);
        json_int_t count = json_integer_value(json_object_get(one, "count"));
        json_int_t ns = json_integer_value(json_object_get(one, "ns"));
        (void)json_object_set_new(all, span->label,
                                  json_pack("{s:I, s:I}", "count", count + 1, "ns",
                                            ns + (json_int_t)(span->end_ns - span->begin_ns)));
    }
    return all;
}

/* ---- Under way ------------------------------------------------------------------------------- */

static int
by_length(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return first < second ? -1 : first > second;
}

/* Half of them, and all but one in a hundred, took no longer; and the longest. Null: none came. */
static json_t *
latency_json(const timeline *t, uint32_t track)
{
    uint64_t *ns = malloc((t->message_count + 1) * sizeof *ns);
    size_t count = 0;
    for (size_t i = 0; ns && i < t->message_count; i++) {
        if (t->messages[i].to == track) {
            ns[count++] = t->messages[i].received_ns - t->messages[i].sent_ns;
        }
    }
    json_t *latency = json_null();
    if (count > 0) {
        qsort(ns, count, sizeof *ns, by_length);
        latency =
            json_pack("{s:I, s:I, s:I}", "median_ns", (json_int_t)ns[(count - 1) / 2], "p99_ns",
                      (json_int_t)ns[(count - 1) * 99 / 100], "max_ns", (json_int_t)ns[count - 1]);
    }
    free(ns);
    return latency;
}

static bool
has_died(const timeline *t, uint32_t track)
{
    for (size_t i = 0; i < t->mark_count; i++) {
        if (t->marks[i].track == track && t->marks[i].kind == TIMELINE_DIED) {
            return true;
        }
    }
    return false;
}

/* ---- All ------------------------------------------------------------------------------------- */

static json_t *
node_json(const timeline *t, uint32_t track)
{
    const timeline_track *of = &t->tracks[track];
    times sum;
    times_sum(t, track, &sum);
    const uint64_t *own = sum.own_ns;
    json_t *row =
        json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:b}", "node",
                  output_node_json(of->node->domain, of->node->number), "program",
                  output_string(of->node->program), "name", output_string(of->node->name),
                  "process_id", output_number(of->node->process_id != 0, of->node->process_id),
                  "begin_ns", (json_int_t)(of->begin_ns - t->begin_ns), "lasted_ns",
                  (json_int_t)(of->end_ns - of->begin_ns), "died", has_died(t, track));
    (void)json_object_update_new(row, json_pack("{s:I, s:I, s:I, s:I, s:I}", "waits_exchange_ns",
                                                (json_int_t)own[TIMELINE_EXCHANGE], "waits_lock_ns",
                                                (json_int_t)own[TIMELINE_LOCK], "waits_team_ns",
                                                (json_int_t)own[TIMELINE_TEAM], "region_ns",
                                                (json_int_t)own[TIMELINE_REGION], "task_ns",
                                                (json_int_t)own[TIMELINE_TASK]));
    (void)json_object_update_new(
        row, json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "sent", (json_int_t)of->sent, "sent_bytes",
                       (json_int_t)of->sent_bytes, "received", (json_int_t)of->received,
                       "received_bytes", (json_int_t)of->received_bytes, "latency",
                       latency_json(t, track), "named", named_json(t, track)));
    return row;
}

json_t *
trace_summary(const char *system_name, const recording *r, const timeline *t)
{
    json_t *nodes = json_array();
    for (uint32_t track = 0; track < t->track_count; track++) {
        (void)json_array_append_new(nodes, node_json(t, track));
    }
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:o}", "system", system_name, "lasted_ns",
                     (json_int_t)(t->end_ns - t->begin_ns), "events", (json_int_t)r->count, "lost",
                     (json_int_t)r->lost, "messages", (json_int_t)t->message_count, "nodes", nodes);
}

/* ---- As text --------------------------------------------------------------------------------- */

static void
who_cell(const json_t *row, const json_t *value, char *cell)
{
    const char *name = json_string_value(value);
    const char *program = json_string_value(json_object_get(row, "program"));
    bool died = json_is_true(json_object_get(row, "died"));
    (void)snprintf(cell, OUTPUT_CELL_BYTES, "%s%s%s%s", program, name && *name ? " " : "",
                   name ? name : "", died ? ", died" : "");
}

/* "4.1 us, 99 %: 60 us" */
static void
latency_cell(const json_t *row, const json_t *value, char *cell)
{
    (void)row;
    if (!json_is_object(value)) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "-");
        return;
    }
    (void)snprintf(
        cell, OUTPUT_CELL_BYTES, "%s, 99 %%: %s",
        output_time_text((uint64_t)json_integer_value(json_object_get(value, "median_ns"))),
        output_time_text((uint64_t)json_integer_value(json_object_get(value, "p99_ns"))));
}

static const output_column columns[] = {
    {"NODE", "node", output_node, true},
    {"WHO", "name", who_cell, false},
    {"THERE", "lasted_ns", output_time, true},
    {"WAITS: MESSAGES", "waits_exchange_ns", output_time, true},
    {"LOCKS", "waits_lock_ns", output_time, true},
    {"TEAM", "waits_team_ns", output_time, true},
    {"SENT", "sent", NULL, true},
    {"RECEIVED", "received", NULL, true},
    {"UNDER WAY", "latency", latency_cell, false},
};

static void
named_print(const json_t *row)
{
    const json_t *node = json_object_get(row, "node");
    const char *name;
    json_t *one;
    json_object_foreach(json_object_get(row, "named"), name, one)
    {
        char cell[OUTPUT_CELL_BYTES];
        output_node(row, node, cell);
        json_int_t count = json_integer_value(json_object_get(one, "count"));
        json_int_t ns = json_integer_value(json_object_get(one, "ns"));
        (void)printf("  %s %s: %s, %s in all, %s each\n", cell, name,
                     output_count_text((uint64_t)count, "times"), output_time_text((uint64_t)ns),
                     output_time_text((uint64_t)(ns / count)));
    }
}

void
trace_summary_print(const json_t *summary)
{
    const json_t *nodes = json_object_get(summary, "nodes");
    size_t i;
    json_t *row;
    (void)printf(
        "%s in %s, %s; lost: %" JSON_INTEGER_FORMAT "\n",
        output_count_text((uint64_t)json_integer_value(json_object_get(summary, "events")),
                          "events"),
        output_time_text((uint64_t)json_integer_value(json_object_get(summary, "lasted_ns"))),
        output_count_text((uint64_t)json_integer_value(json_object_get(summary, "messages")),
                          "messages"),
        json_integer_value(json_object_get(summary, "lost")));
    OUTPUT_TABLE(nodes, columns);
    json_array_foreach(nodes, i, row)
    {
        named_print(row);
    }
}
