/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Others write the trace while it is read, and may have scribbled on it: base/trace.h says what is
 * promised. So each lane is read at most once around, and what a record names is checked.
 *
 * A record has its node's reference only. Nodes that are there have a name; of others, one is found
 * in the trace itself, where they come, go or die.
 */
#include "tools/medley/events.h"

#include <stdlib.h>

#include "mrapi/traced.h"
#include "mrapi/view.h"
#include "tools/medley/output.h"
#include "tools/medley/timeline.h"

/* ---- All records, by time -------------------------------------------------------------------- */

typedef struct records {
    med_trace_record *rows;
    size_t count;
} records;

static void
lane_read(const med_trace *trace, uint32_t lane, records *all)
{
    med_trace_cursor cursor;
    med_trace_record record;
    if (med_trace_rewind(trace, lane, &cursor) != MEDLEY_OK) {
        return;
    }
    for (uint32_t i = 0; i <= trace->record_mask; i++) {
        medley_status_t status = med_trace_read(trace, &cursor, &record);
        if (status == MEDLEY_EMPTY) {
            return;
        }
        if (status == MEDLEY_OK) {
            all->rows[all->count++] = record;
        } else {
            med_trace_skip(&cursor);
        }
    }
}

static int
by_time(const void *a, const void *b)
{
    uint64_t first = ((const med_trace_record *)a)->time_ns;
    uint64_t second = ((const med_trace_record *)b)->time_ns;
    return first < second ? -1 : first > second;
}

static bool
records_read(const med_trace *trace, records *all)
{
    size_t most = (size_t)(trace->lane_mask + 1) * (trace->record_mask + 1);
    *all = (records){.rows = malloc(most * sizeof *all->rows)};
    if (!all->rows) {
        return false;
    }
    for (uint32_t lane = 0; lane <= trace->lane_mask; lane++) {
        lane_read(trace, lane, all);
    }
    qsort(all->rows, all->count, sizeof *all->rows, by_time);
    return true;
}

/* ---- Names of nodes -------------------------------------------------------------------------- */

typedef struct name {
    uint32_t ref; /* 0: none */
    uint32_t domain;
    uint32_t number;
} name;

typedef struct names {
    name *rows; /* by a node's row */
    uint32_t count;
} names;

static void
name_note(names *n, const med_trace_record *record)
{
    uint32_t index = med_node_ref_index(record->node);
    uint32_t event = MED_TRACED_EVENT_OF(record->event);
    bool tells = event == MED_TRACED_NODE_COMES || event == MED_TRACED_NODE_GOES ||
                 event == MED_TRACED_NODE_DIED;
    if (tells && record->node && index < n->count) {
        n->rows[index] = (name){record->node, record->words[0], record->words[1]};
    }
}

/* As of before the oldest record: whoever is named there first, or is there now. */
static bool
names_make(names *n, const med_system *system, const records *all)
{
    *n = (names){.rows = calloc(system->limits.nodes, sizeof *n->rows)};
    if (!n->rows) {
        return false;
    }
    n->count = system->limits.nodes;
    for (uint32_t i = 0; i < n->count; i++) {
        name *row = &n->rows[i];
        if (!med_view_node_name(system, i, &row->ref, &row->domain, &row->number)) {
            row->ref = 0;
        }
    }
    for (size_t i = all->count; i-- > 0;) {
        name_note(n, &all->rows[i]);
    }
    return true;
}

static json_t *
node_json(const names *n, uint32_t ref)
{
    uint32_t index = med_node_ref_index(ref);
    if (ref == 0 || index >= n->count || n->rows[index].ref != ref) {
        return json_null();
    }
    return output_node_json(n->rows[index].domain, n->rows[index].number);
}

/* ---- What an event says ---------------------------------------------------------------------- */

static const char *const kind_names[MED_KIND_COUNT] = {
    [MED_KIND_DOMAIN] = "domain",      [MED_KIND_NODE] = "node",
    [MED_KIND_MUTEX] = "mutex",        [MED_KIND_RMEM_ATTACHMENT] = "remote memory attachment",
    [MED_KIND_RMEM] = "remote memory", [MED_KIND_SHMEM] = "shared memory",
    [MED_KIND_SEM] = "semaphore",      [MED_KIND_RWL] = "reader/writer lock",
    [MED_KIND_ENDPOINT] = "endpoint",  [MED_KIND_LANE] = "lane",
};

typedef void (*event_says)(const med_system *system, const med_trace_record *record, json_t *to);

static void
kind_set(json_t *to, uint32_t kind)
{
    (void)json_object_set_new(to, "kind",
                              kind < MED_KIND_COUNT ? json_string(kind_names[kind]) : json_null());
}

static void
says_process(const med_system *system, const med_trace_record *record, json_t *to)
{
    (void)system;
    (void)json_object_set_new(to, "process_id", json_integer(record->words[0]));
}

static void
says_joined(const med_system *system, const med_trace_record *record, json_t *to)
{
    says_process(system, record, to);
    (void)json_object_set_new(to, "created", json_boolean(record->words[1] != 0));
}

static void
says_node(const med_system *system, const med_trace_record *record, json_t *to)
{
    (void)system;
    /* Told by the record itself, whatever else is known of the node. */
    (void)json_object_set_new(to, "node", output_node_json(record->words[0], record->words[1]));
}

static void
says_object(const med_system *system, const med_trace_record *record, json_t *to)
{
    (void)system;
    kind_set(to, record->words[0]);
    (void)json_object_set_new(to, "number", json_integer(record->words[1]));
}

static void
says_lock(const med_system *system, const med_trace_record *record, json_t *to)
{
    bool known;
    uint32_t number;
    kind_set(to, (uint32_t)med_view_handle_read(system, record->words[0], &known, &number));
    (void)json_object_set_new(to, "number", output_number(known, number));
}

static void
says_waited(const med_system *system, const med_trace_record *record, json_t *to)
{
    says_lock(system, record, to);
    (void)json_object_set_new(to, "sleeps", json_integer(record->words[1]));
}

static void
says_stuck(const med_system *system, const med_trace_record *record, json_t *to)
{
    (void)system;
    kind_set(to, record->words[0]);
    (void)json_object_set_new(to, "process_id",
                              output_number(record->words[1] != 0, record->words[1]));
}

static void
says_nothing(const med_system *system, const med_trace_record *record, json_t *to)
{
    (void)system;
    (void)record;
    (void)to;
}

static void
says_moved(const med_system *system, const med_trace_record *record, json_t *to)
{
    uint32_t more = MED_TRACED_MORE_OF(record->event);
    (void)system;
    (void)json_object_update_new(to, json_pack("{s:s, s:I, s:I, s:I}", "kind",
                                               timeline_message_kind(MED_TRACED_MOVED_KIND(more)),
                                               "number", (json_int_t)record->words[1], "lane",
                                               (json_int_t)record->words[0], "bytes",
                                               (json_int_t)MED_TRACED_MOVED_BYTES(more)));
}

static void
says_wait(const med_system *system, const med_trace_record *record, json_t *to)
{
    (void)system;
    (void)json_object_set_new(to, "wait", json_string(timeline_wait_label(record->words[0])));
}

static void
says_wait_over(const med_system *system, const med_trace_record *record, json_t *to)
{
    says_wait(system, record, to);
    (void)json_object_set_new(to, "sleeps", json_integer(record->words[1]));
}

static void
says_waited_for(const med_system *system, const med_trace_record *record, json_t *to)
{
    says_wait(system, record, to);
    (void)json_object_set_new(to, "waited_ns", json_integer((json_int_t)record->words[1] * 1000));
}

static void
says_name(const med_system *system, const med_trace_record *record, json_t *to)
{
    char letters[TIMELINE_NAME_BYTES];
    (void)system;
    recording_letters(record, letters);
    (void)json_object_set_new(to, "name", json_string(letters));
}

/* Some of its name; the rest is in the next record. */
static void
says_program(const med_system *system, const med_trace_record *record, json_t *to)
{
    char letters[RECORDING_LETTERS_BYTES];
    (void)system;
    recording_letters(record, letters);
    letters[RECORDING_PROGRAM_LETTERS] = '\0';
    (void)json_object_set_new(to, "name", json_string(letters));
    (void)json_object_set_new(to, "process_id", json_integer(MED_TRACED_MORE_OF(record->event)));
}

static void
says_member(const med_system *system, const med_trace_record *record, json_t *to)
{
    (void)system;
    (void)json_object_set_new(to, "member", json_integer(MED_TRACED_MORE_OF(record->event)));
}

static const struct {
    const char *name;
    event_says says;
} events[MED_TRACED_COUNT] = {
    [MED_TRACED_JOINED] = {"joined", says_joined},
    [MED_TRACED_LEFT] = {"left", says_process},
    [MED_TRACED_PROCESS_DIED] = {"process-died", says_process},
    [MED_TRACED_RECOVERED] = {"recovered", says_process},
    [MED_TRACED_NODE_COMES] = {"node-comes", says_node},
    [MED_TRACED_NODE_GOES] = {"node-goes", says_node},
    [MED_TRACED_NODE_DIED] = {"node-died", says_node},
    [MED_TRACED_CREATED] = {"created", says_object},
    [MED_TRACED_DELETED] = {"deleted", says_object},
    [MED_TRACED_LOCK_WAITS] = {"lock-waits", says_lock},
    [MED_TRACED_LOCK_HAD] = {"lock-had", says_waited},
    [MED_TRACED_LOCK_MISSED] = {"lock-missed", says_waited},
    [MED_TRACED_OWNER_DIED] = {"owner-died", says_lock},
    [MED_TRACED_TABLE_STUCK] = {"table-stuck", says_stuck},
    [MED_TRACED_SENT] = {"sent", says_moved},
    [MED_TRACED_RECEIVED] = {"received", says_moved},
    [MED_TRACED_WAITS] = {"waits", says_wait},
    [MED_TRACED_WAITED] = {"waited", says_wait_over},
    [MED_TRACED_BEGINS] = {"begins", says_name},
    [MED_TRACED_ENDS] = {"ends", says_nothing},
    [MED_TRACED_MARK] = {"mark", says_name},
    [MED_TRACED_MEMBER] = {"region-begins", says_member},
    [MED_TRACED_MEMBER_ENDS] = {"region-ends", says_member},
    [MED_TRACED_TASK] = {"task-begins", says_nothing},
    [MED_TRACED_TASK_ENDS] = {"task-ends", says_nothing},
    [MED_TRACED_PROGRAM] = {"program", says_program},
    [MED_TRACED_NODE_NAMED] = {"node-named", says_name},
    [MED_TRACED_PLACE] = {"place", says_nothing},
    [MED_TRACED_PLACE_INSIDE] = {"place-inside", says_nothing},
    [MED_TRACED_PLACE_PATH] = {"place-path", says_name},
    [MED_TRACED_HAS_WAITED] = {"has-waited", says_waited_for},
};

static json_t *
event_json(const med_system *system,
           const names *n,
           const med_trace_record *record,
           uint64_t now_ns)
{
    uint32_t event = MED_TRACED_EVENT_OF(record->event);
    bool known = event < MED_TRACED_COUNT && events[event].name;
    uint64_t ago_ns = record->time_ns < now_ns ? now_ns - record->time_ns : 0;
    json_t *row = json_pack("{s:I, s:I, s:o, s:s}", "ago_ns", (json_int_t)ago_ns, "time_ns",
                            (json_int_t)record->time_ns, "node", node_json(n, record->node),
                            "event", known ? events[event].name : "unknown");
    if (known) {
        events[event].says(system, record, row);
    }
    return row;
}

json_t *
events_json(const med_system *system, size_t most)
{
    records all;
    names n;
    if (!records_read(&system->trace, &all)) {
        return NULL;
    }
    if (!names_make(&n, system, &all)) {
        free(all.rows);
        return NULL;
    }
    json_t *rows = json_array();
    uint64_t now_ns = med_port_clock_common_ns();
    for (size_t i = 0; i < all.count; i++) {
        name_note(&n, &all.rows[i]);
        if (all.count - i <= most) {
            (void)json_array_append_new(rows, event_json(system, &n, &all.rows[i], now_ns));
        }
    }
    free(n.rows);
    free(all.rows);
    return rows;
}
