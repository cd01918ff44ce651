/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chrome's trace event format, as Perfetto and chrome://tracing read it: spans are complete events
 * (ph X), marks instants (i), messages flows from a short span of the sender's to one of the
 * receiver's (s, f). Times are in microseconds from the recording's begin.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/medley/output_file.h"
#include "tools/medley/trace_write.h"

/* A flow begins and ends within a span: what is told of a message is a moment. */
#define MOMENT_NS 1u

typedef struct chrome {
    FILE *file;
    const char *system_name;
    const timeline *t;
    bool has_one;
} chrome;

/* ---- Pieces ---------------------------------------------------------------------------------- */

static void
text_put(FILE *file, const char *text)
{
    (void)fputc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            (void)fputc('\\', file);
        }
        (void)fputc((unsigned char)*text < ' ' ? '?' : *text, file);
    }
    (void)fputc('"', file);
}

/* "ts": as a number of microseconds, to the nanosecond. */
static void
time_put(const chrome *c, const char *key, uint64_t ns)
{
    (void)fprintf(c->file, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

/* Each track is a thread, by domain and number; a program that runs several nodes has several. */
static uint64_t
thread_of(const recording_node *node)
{
    return (uint64_t)node->domain * 1000000u + node->number + 1u;
}

static void
event_begin(chrome *c, const char *phase, const char *name, const char *kind, uint32_t track)
{
    const recording_node *node = c->t->tracks[track].node;
    (void)fputs(c->has_one ? ",\n" : "\n", c->file);
    c->has_one = true;
    (void)fprintf(c->file,
                  "{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu64 ",\"name\":", phase,
                  node->process_id, thread_of(node));
    text_put(c->file, name);
    if (kind) {
        (void)fputs(",\"cat\":", c->file);
        text_put(c->file, kind);
    }
}

static void
moment_put(chrome *c, uint64_t ns)
{
    time_put(c, "ts", ns - c->t->begin_ns);
}

static void
event_end(const chrome *c)
{
    (void)fputc('}', c->file);
}

/* ---- What there is --------------------------------------------------------------------------- */

static void
name_put(chrome *c, const char *what, uint32_t track, const char *name)
{
    event_begin(c, "M", what, NULL, track);
    (void)fputs(",\"args\":{\"name\":", c->file);
    text_put(c->file, name);
    (void)fputs("}}", c->file);
}

static void
track_put(chrome *c, uint32_t track)
{
    const recording_node *node = c->t->tracks[track].node;
    char name[MED_NODE_NAME_BYTES + 64];
    timeline_node_text(node, name, sizeof name);
    name_put(c, "process_name", track, node->program[0] ? node->program : "not known");
    name_put(c, "thread_name", track, name);
}

static void
span_put(chrome *c, const timeline_span *span)
{
    event_begin(c, "X", span->label, timeline_kind_names[span->kind], span->track);
    moment_put(c, span->begin_ns < c->t->begin_ns ? c->t->begin_ns : span->begin_ns);
    time_put(c, "dur", span->end_ns - span->begin_ns);
    if (span->is_open) {
        (void)fputs(",\"args\":{\"ended\":false}", c->file);
    }
    event_end(c);
}

static void
mark_put(chrome *c, const timeline_mark *mark)
{
    event_begin(c, "i", mark->label, mark->kind == TIMELINE_WOKEN ? "wake-up" : "mark",
                mark->track);
    moment_put(c, mark->time_ns);
    (void)fprintf(c->file, ",\"s\":\"%s\"", mark->kind == TIMELINE_DIED ? "p" : "t");
    event_end(c);
}

static void
message_end_put(chrome *c, const timeline_message *message, size_t id, bool sends)
{
    const char *kind = timeline_message_kind(message->kind);
    uint32_t track = sends ? message->from : message->to;
    uint64_t ns = sends ? message->sent_ns : message->received_ns;
    char name[32];
    (void)snprintf(name, sizeof name, "%s %s", sends ? "sends" : "receives", kind);
    event_begin(c, "X", name, "message", track);
    moment_put(c, ns);
    time_put(c, "dur", MOMENT_NS);
    (void)fprintf(c->file, ",\"args\":{\"bytes\":%" PRIu32 "}", message->bytes);
    event_end(c);
    event_begin(c, sends ? "s" : "f", kind, "message", track);
    moment_put(c, ns);
    (void)fprintf(c->file, ",\"id\":%zu%s", id, sends ? "" : ",\"bp\":\"e\"");
    event_end(c);
}

/* ---- The file -------------------------------------------------------------------------------- */

static void
all_put(chrome *c)
{
    const timeline *t = c->t;
    for (uint32_t track = 0; track < t->track_count; track++) {
        track_put(c, track);
    }
    for (size_t i = 0; i < t->span_count; i++) {
        span_put(c, &t->spans[i]);
    }
    for (size_t i = 0; i < t->mark_count; i++) {
        mark_put(c, &t->marks[i]);
    }
    for (size_t i = 0; i < t->message_count; i++) {
        message_end_put(c, &t->messages[i], i, true);
        message_end_put(c, &t->messages[i], i, false);
    }
}

static bool
chrome_write(FILE *file, void *context)
{
    chrome *c = context;
    c->file = file;
    (void)fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"system\":", file);
    text_put(file, c->system_name);
    (void)fputs("},\"traceEvents\":[", file);
    all_put(c);
    (void)fputs("\n]}\n", file);
    return !ferror(file);
}

bool
trace_chrome_write(const char *path, const char *system_name, const timeline *t)
{
    chrome c = {.system_name = system_name, .t = t};
    return output_file_write(path, chrome_write, &c);
}
