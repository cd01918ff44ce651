/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Record by record, in the order of their times. Each track has the spans that are open as a stack;
 * what ends closes the innermost of its kind, and with it whatever lies within and was not seen to
 * end, since its record was lost. An end without a beginning is none.
 *
 * What is sent waits in a table, by its lane and number, until it is received.
 */
#include "tools/medley/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 256u

const char *const timeline_kind_names[TIMELINE_KIND_COUNT] = {
    [TIMELINE_NAMED] = "named by the program", [TIMELINE_REGION] = "OpenMP region",
    [TIMELINE_TASK] = "OpenMP task",           [TIMELINE_TEAM] = "waits for its team",
    [TIMELINE_LOCK] = "waits for a lock",      [TIMELINE_EXCHANGE] = "waits for a message",
};

static const struct {
    timeline_kind kind;
    const char *label;
} waits[MED_TRACED_WAIT_COUNT] = {
    [MED_TRACED_WAIT_RECEIVE] = {TIMELINE_EXCHANGE, "waits to receive"},
    [MED_TRACED_WAIT_SEND] = {TIMELINE_EXCHANGE, "waits to send"},
    [MED_TRACED_WAIT_ENDPOINT] = {TIMELINE_EXCHANGE, "waits for an endpoint"},
    [MED_TRACED_WAIT_REQUEST] = {TIMELINE_EXCHANGE, "waits for a request"},
    [MED_TRACED_WAIT_BARRIER] = {TIMELINE_TEAM, "waits at a barrier"},
    [MED_TRACED_WAIT_TASKS] = {TIMELINE_TEAM, "waits for tasks"},
    [MED_TRACED_WAIT_LOCK] = {TIMELINE_LOCK, "waits for a lock"},
};

const char *
timeline_wait_label(uint32_t what)
{
    return what < MED_TRACED_WAIT_COUNT ? waits[what].label : "waits";
}

const char *
timeline_message_kind(uint32_t kind)
{
    static const char *const names[] = {"message", "packet", "scalar", "state"};
    return names[kind % 4];
}

/* ---- While it is made ------------------------------------------------------------------------ */

/* A span that is open. */
typedef struct open_span {
    timeline_kind kind;
    uint64_t begin_ns;
    const char *label;
} open_span;

typedef struct stack {
    open_span spans[DEPTH_MAX];
    uint32_t depth; /* may be more than there is room for: those are not shown */
} stack;

typedef struct sent {
    uint32_t lane; /* 0: a free row */
    uint32_t number;
    uint32_t track;
    uint64_t time_ns;
} sent;

typedef struct making {
    timeline *t;
    recording *r;
    uint32_t *tracks; /* of the recording's nodes, in their order */
    stack *stacks;    /* of the tracks */
    sent *sent;
    size_t sent_mask;
    bool lacks_memory;
} making;

/* The array with room for one more; NULL: no memory. */
static void *
grown(making *m, void *rows, size_t count, size_t bytes)
{
    if ((count & (count - 1)) != 0) {
        return rows;
    }
    void *more = realloc(rows, (count ? 2 * count : 1) * bytes);
    m->lacks_memory |= !more;
    return more;
}

/* ---- Spans ----------------------------------------------------------------------------------- */

static void
span_add(
    making *m, uint32_t track, const open_span *span, uint64_t end_ns, uint32_t depth, bool open)
{
    timeline *t = m->t;
    timeline_span *spans = grown(m, t->spans, t->span_count, sizeof *spans);
    if (spans) {
        t->spans = spans;
        spans[t->span_count++] = (timeline_span){.track = track,
                                                 .kind = span->kind,
                                                 .depth = depth,
                                                 .is_open = open,
                                                 .begin_ns = span->begin_ns,
                                                 .end_ns = end_ns,
                                                 .label = span->label};
    }
}

static void
span_open(making *m, uint32_t track, timeline_kind kind, uint64_t now_ns, const char *label)
{
    stack *s = &m->stacks[track];
    if (s->depth < DEPTH_MAX) {
        s->spans[s->depth] = (open_span){kind, now_ns, label};
    }
    s->depth++;
}

static void
innermost_close(making *m, uint32_t track, uint64_t now_ns, bool open)
{
    stack *s = &m->stacks[track];
    s->depth--;
    if (s->depth < DEPTH_MAX) {
        span_add(m, track, &s->spans[s->depth], now_ns, s->depth, open);
    }
}

/* Is one of that kind open? So many lie within it, and it. */
static uint32_t
to_close(const stack *s, timeline_kind kind)
{
    for (uint32_t depth = s->depth; depth-- > 0;) {
        if (depth >= DEPTH_MAX || s->spans[depth].kind == kind) {
            return s->depth - depth;
        }
    }
    return 0;
}

static void
span_close(making *m, uint32_t track, timeline_kind kind, uint64_t now_ns)
{
    for (uint32_t left = to_close(&m->stacks[track], kind); left > 0; left--) {
        innermost_close(m, track, now_ns, left > 1);
    }
}

static void
all_close(making *m, uint32_t track, uint64_t now_ns)
{
    while (m->stacks[track].depth > 0) {
        innermost_close(m, track, now_ns, true);
    }
}

/* ---- Names and marks ------------------------------------------------------------------------- */

/* A text that stays. */
static const char *
name_of(making *m, const med_trace_record *record)
{
    char letters[TIMELINE_NAME_BYTES];
    recording_letters(record, letters);
    for (timeline_name *name = m->t->names; name; name = name->next) {
        if (strcmp(name->letters, letters) == 0) {
            return name->letters;
        }
    }
    timeline_name *name = malloc(sizeof *name);
    if (!name) {
        m->lacks_memory = true;
        return "";
    }
    *name = (timeline_name){.next = m->t->names};
    memcpy(name->letters, letters, sizeof letters);
    m->t->names = name;
    return name->letters;
}

static void
mark_add(making *m, uint32_t track, timeline_mark_kind kind, uint64_t time_ns, const char *label)
{
    timeline *t = m->t;
    timeline_mark *marks = grown(m, t->marks, t->mark_count, sizeof *marks);
    if (marks) {
        t->marks = marks;
        marks[t->mark_count++] = (timeline_mark){track, kind, time_ns, label};
    }
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* The row of it, or the free one where it would be. There are more rows than are sent. */
static sent *
sent_find(const making *m, uint32_t lane, uint32_t number)
{
    uint64_t hash = ((uint64_t)lane << 32 | number) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = hash >> 32;; i++) {
        sent *row = &m->sent[i & m->sent_mask];
        if (row->lane == 0 || (row->lane == lane && row->number == number)) {
            return row;
        }
    }
}

static void
note_sent(making *m, uint32_t track, const med_trace_record *record)
{
    timeline_track *from = &m->t->tracks[track];
    from->sent++;
    from->sent_bytes += MED_TRACED_MOVED_BYTES(MED_TRACED_MORE_OF(record->event));
    if (record->words[0]) {
        *sent_find(m, record->words[0], record->words[1]) =
            (sent){record->words[0], record->words[1], track, record->time_ns};
    }
}

static void
note_received(making *m, uint32_t track, const med_trace_record *record)
{
    timeline *t = m->t;
    uint32_t more = MED_TRACED_MORE_OF(record->event);
    t->tracks[track].received++;
    t->tracks[track].received_bytes += MED_TRACED_MOVED_BYTES(more);
    const sent *before = sent_find(m, record->words[0], record->words[1]);
    timeline_message *messages =
        before->lane ? grown(m, t->messages, t->message_count, sizeof *messages) : NULL;
    if (messages) {
        t->messages = messages;
        messages[t->message_count++] = (timeline_message){
            .from = before->track,
            .to = track,
            .kind = MED_TRACED_MOVED_KIND(more),
            .bytes = MED_TRACED_MOVED_BYTES(more),
            .sent_ns = before->time_ns < record->time_ns ? before->time_ns : record->time_ns,
            .received_ns = record->time_ns};
    }
}

/* All that was sent, before anything else: who received it may have told so first. */
static bool
sent_note_all(making *m)
{
    const recording *r = m->r;
    size_t rows = 64;
    for (size_t i = 0, sends = 0; i < r->count; i++) {
        sends += MED_TRACED_EVENT_OF(r->rows[i].event) == MED_TRACED_SENT;
        rows = rows < 2 * sends ? 2 * rows : rows;
    }
    m->sent = calloc(rows, sizeof *m->sent);
    m->sent_mask = rows - 1;
    for (size_t i = 0; m->sent && i < r->count; i++) {
        const recording_node *node = recording_node_of(r, r->rows[i].node);
        if (node && MED_TRACED_EVENT_OF(r->rows[i].event) == MED_TRACED_SENT) {
            note_sent(m, m->tracks[node - r->nodes], &r->rows[i]);
        }
    }
    return m->sent != NULL;
}

/* ---- Records --------------------------------------------------------------------------------- */

static uint64_t
address_of(const med_trace_record *record)
{
    return (uint64_t)record->words[1] << 32 | record->words[0];
}

static const char *
place_of(making *m, uint32_t track, const med_trace_record *record)
{
    return places_text(&m->r->places, m->t->tracks[track].node->process_id, address_of(record));
}

static bool
is_wait(const med_trace_record *record)
{
    return record->words[0] < MED_TRACED_WAIT_COUNT;
}

/* The events that end one say how often it has slept. */
static void
wait_close(making *m, uint32_t track, timeline_kind kind, const med_trace_record *record)
{
    span_close(m, track, kind, record->time_ns);
    if (record->words[1]) {
        mark_add(m, track, TIMELINE_WOKEN, record->time_ns, "wakes up");
    }
}

static void
wait_note(making *m, uint32_t track, const med_trace_record *record, uint32_t event)
{
    if (!is_wait(record)) {
        return;
    }
    const timeline_kind kind = waits[record->words[0]].kind;
    const char *label = waits[record->words[0]].label;
    uint64_t now_ns = record->time_ns;
    if (event == MED_TRACED_WAITS) {
        span_open(m, track, kind, now_ns, label);
    } else if (event == MED_TRACED_WAITED) {
        wait_close(m, track, kind, record);
    } else {
        uint64_t waited_ns = record->words[1] * UINT64_C(1000);
        open_span span = {kind, waited_ns < now_ns ? now_ns - waited_ns : 0, label};
        span_add(m, track, &span, now_ns, m->stacks[track].depth, false);
    }
}

static void
span_note(making *m, uint32_t track, const med_trace_record *record, uint32_t event)
{
    uint64_t now_ns = record->time_ns;
    switch (event) {
    case MED_TRACED_BEGINS:
        span_open(m, track, TIMELINE_NAMED, now_ns, name_of(m, record));
        break;
    case MED_TRACED_ENDS:
        span_close(m, track, TIMELINE_NAMED, now_ns);
        break;
    case MED_TRACED_MEMBER:
        span_open(m, track, TIMELINE_REGION, now_ns, place_of(m, track, record));
        break;
    case MED_TRACED_MEMBER_ENDS:
        span_close(m, track, TIMELINE_REGION, now_ns);
        break;
    case MED_TRACED_TASK:
        span_open(m, track, TIMELINE_TASK, now_ns, place_of(m, track, record));
        break;
    case MED_TRACED_TASK_ENDS:
        span_close(m, track, TIMELINE_TASK, now_ns);
        break;
    case MED_TRACED_LOCK_WAITS:
        span_open(m, track, TIMELINE_LOCK, now_ns, "waits for a lock");
        break;
    case MED_TRACED_LOCK_HAD:
    case MED_TRACED_LOCK_MISSED:
        wait_close(m, track, TIMELINE_LOCK, record);
        break;
    default:
        wait_note(m, track, record, event);
    }
}

static void
track_end(making *m, uint32_t track, uint64_t now_ns)
{
    all_close(m, track, now_ns);
    m->t->tracks[track].end_ns = now_ns;
    m->t->tracks[track].has_ended = true;
}

/* All but what is of messages and spans. */
static void
other_note(making *m, uint32_t track, const med_trace_record *record, uint32_t event)
{
    switch (event) {
    case MED_TRACED_NODE_COMES:
        m->t->tracks[track].begin_ns = record->time_ns;
        break;
    case MED_TRACED_NODE_DIED:
        mark_add(m, track, TIMELINE_DIED, record->time_ns, "died");
        track_end(m, track, record->time_ns);
        break;
    case MED_TRACED_NODE_GOES:
        track_end(m, track, record->time_ns);
        break;
    case MED_TRACED_OWNER_DIED:
        mark_add(m, track, TIMELINE_OWNER_DIED, record->time_ns, "has a dead owner's lock");
        break;
    case MED_TRACED_MARK:
        mark_add(m, track, TIMELINE_MARK, record->time_ns, name_of(m, record));
        break;
    case MED_TRACED_TABLE_STUCK:
        mark_add(m, track, TIMELINE_STUCK, record->time_ns, "waits for who does not go on");
        break;
    default:
        break;
    }
}

static bool
is_of_span(uint32_t event)
{
    return (event >= MED_TRACED_WAITS && event <= MED_TRACED_ENDS) ||
           (event >= MED_TRACED_MEMBER && event <= MED_TRACED_HAS_WAITED) ||
           (event >= MED_TRACED_LOCK_WAITS && event <= MED_TRACED_LOCK_MISSED);
}

/* Behind a node's end comes what its thread does until its process has exited, and that it is found
 * dead by who sets free what it held. */
static void
record_note(making *m, const med_trace_record *record)
{
    uint32_t event = MED_TRACED_EVENT_OF(record->event);
    const recording_node *node = recording_node_of(m->r, record->node);
    if (!node) {
        return;
    }
    uint32_t track = m->tracks[node - m->r->nodes];
    if (event == MED_TRACED_RECEIVED) {
        note_received(m, track, record);
    } else if (m->t->tracks[track].has_ended) {
        return;
    } else if (is_of_span(event)) {
        span_note(m, track, record, event);
    } else {
        other_note(m, track, record, event);
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Of a language's runtime: its number is one that was free. */
static bool
is_of_runtime(const recording_node *node)
{
    return node->number >= MED_NODE_ANY_FIRST && node->name[0];
}

/* "omp.2" before "omp.10". */
static int
by_thread(const char *a, const char *b)
{
    size_t first = strlen(a), second = strlen(b);
    return first != second ? (first < second ? -1 : 1) : strcmp(a, b);
}

static int
by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Whose row it is: the same for all lives of one. */
static int
by_row(const timeline_track *a, const timeline_track *b)
{
    const recording_node *first = a->of, *second = b->of;
    int order = by_number(a->rank, b->rank);
    order = order ? order : strcmp(first->program, second->program);
    order = order ? order : by_number(is_of_runtime(first), is_of_runtime(second));
    if (order == 0 && is_of_runtime(first)) {
        return by_thread(first->name, second->name);
    }
    order = order ? order : by_number(first->domain, second->domain);
    return order ? order : by_number(first->number, second->number);
}

static int
by_place(const void *a, const void *b)
{
    const timeline_track *first = a, *second = b;
    int order = by_row(first, second);
    return order ? order : first->node < second->node ? -1 : first->node > second->node;
}

static uint64_t
rank_of(const recording *r, const recording_node *node)
{
    uint64_t rank = UINT64_MAX;
    for (size_t i = 0; i < r->node_count; i++) {
        const recording_node *other = &r->nodes[i];
        uint64_t number = (uint64_t)other->domain << 32 | other->number;
        if (!is_of_runtime(other) && number < rank && strcmp(other->program, node->program) == 0) {
            rank = number;
        }
    }
    return rank;
}

/* A thread of the runtime's is a node before and after the program makes it one. */
static const recording_node *
stands_in_for(const recording *r, const recording_node *node)
{
    for (size_t i = 0; is_of_runtime(node) && i < r->node_count; i++) {
        const recording_node *other = &r->nodes[i];
        if (!is_of_runtime(other) && other->process_id == node->process_id &&
            strcmp(other->name, node->name) == 0) {
            return other;
        }
    }
    return node;
}

static void
rows_deal(timeline *t)
{
    for (uint32_t i = 0; i < t->track_count; i++) {
        bool is_new = i == 0 || by_row(&t->tracks[i - 1], &t->tracks[i]) != 0;
        t->row_count += is_new;
        t->tracks[i].row = t->row_count - 1;
    }
}

static bool
tracks_make(making *m)
{
    timeline *t = m->t;
    const recording *r = m->r;
    t->track_count = r->node_count;
    t->tracks = calloc(r->node_count + 1, sizeof *t->tracks);
    m->tracks = calloc(r->node_count + 1, sizeof *m->tracks);
    m->stacks = calloc(r->node_count + 1, sizeof *m->stacks);
    if (!t->tracks || !m->tracks || !m->stacks) {
        return false;
    }
    for (size_t i = 0; i < r->node_count; i++) {
        t->tracks[i] = (timeline_track){.node = &r->nodes[i],
                                        .of = stands_in_for(r, &r->nodes[i]),
                                        .rank = rank_of(r, &r->nodes[i]),
                                        .begin_ns = t->begin_ns,
                                        .end_ns = t->end_ns};
    }
    qsort(t->tracks, t->track_count, sizeof *t->tracks, by_place);
    rows_deal(t);
    for (uint32_t i = 0; i < t->track_count; i++) {
        m->tracks[t->tracks[i].node - r->nodes] = i;
    }
    return true;
}

bool
timeline_make(timeline *t, recording *r)
{
    making m = {.t = t, .r = r};
    *t = (timeline){.begin_ns = r->count ? r->rows[0].time_ns : 0,
                    .end_ns = r->count ? r->rows[r->count - 1].time_ns : 0};
    if (tracks_make(&m) && sent_note_all(&m)) {
        for (size_t i = 0; i < r->count; i++) {
            record_note(&m, &r->rows[i]);
        }
        for (uint32_t track = 0; track < t->track_count; track++) {
            all_close(&m, track, t->end_ns);
        }
    } else {
        m.lacks_memory = true;
    }
    free(m.sent);
    free(m.stacks);
    free(m.tracks);
    if (m.lacks_memory) {
        timeline_forget(t);
    }
    return !m.lacks_memory;
}

void
timeline_forget(timeline *t)
{
    while (t->names) {
        timeline_name *next = t->names->next;
        free(t->names);
        t->names = next;
    }
    free(t->messages);
    free(t->marks);
    free(t->spans);
    free(t->tracks);
    *t = (timeline){.tracks = NULL};
}

void
timeline_node_text(const recording_node *node, char *text, size_t size)
{
    char number[32] = "";
    if (!is_of_runtime(node)) {
        (void)snprintf(number, sizeof number, "node %" PRIu32 ":%" PRIu32 "%s", node->domain,
                       node->number, node->name[0] ? ", " : "");
    }
    (void)snprintf(text, size, "%s%s", number, node->name);
}
