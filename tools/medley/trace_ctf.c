/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Common Trace Format, version 1.8: a folder with `metadata`, which says in words what lies where,
 * and `stream`, one packet of events of this machine's byte order. Both follow from one table, the
 * events' fields. No library writes it: libbabeltrace2 would, and bring GLib, for what are two
 * hundred lines; that babeltrace2 reads it, a test sees to.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/medley/output_file.h"
#include "tools/medley/trace_write.h"

#define MAGIC 0xc1fc1fc1u
#define PATH_BYTES 4096u
#define FIELDS 4u

/* Where in the record a field's value is, and so what type it has. */
typedef enum ctf_source {
    CTF_END,
    CTF_FIRST, /* a word: 32 bits */
    CTF_SECOND,
    CTF_MORE,   /* the event's upper bits: 32 bits */
    CTF_HANDLE, /* the first word, in sixteens */
    CTF_SECOND_HANDLE,
    CTF_BYTES, /* of what was moved */
    CTF_KIND,
    CTF_ADDRESS, /* both words: 64 bits, in sixteens */
    CTF_LETTERS, /* a text */
    CTF_EIGHT_LETTERS,
} ctf_source;

typedef struct ctf_field {
    const char *name;
    ctf_source source;
} ctf_field;

static const struct {
    const char *name;
    ctf_field fields[FIELDS + 1];
} events[MED_TRACED_COUNT] = {
    [MED_TRACED_NOTHING] = {"unknown", {{"first", CTF_HANDLE}, {"second", CTF_SECOND_HANDLE}}},
    [MED_TRACED_JOINED] = {"joined", {{"process", CTF_FIRST}, {"created", CTF_SECOND}}},
    [MED_TRACED_LEFT] = {"left", {{"process", CTF_FIRST}}},
    [MED_TRACED_PROCESS_DIED] = {"process_died", {{"process", CTF_FIRST}}},
    [MED_TRACED_RECOVERED] = {"recovered", {{"process", CTF_FIRST}}},
    [MED_TRACED_NODE_COMES] = {"node_comes", {{NULL, CTF_END}}},
    [MED_TRACED_NODE_GOES] = {"node_goes", {{NULL, CTF_END}}},
    [MED_TRACED_NODE_DIED] = {"node_died", {{NULL, CTF_END}}},
    [MED_TRACED_CREATED] = {"created", {{"kind", CTF_FIRST}, {"number", CTF_SECOND}}},
    [MED_TRACED_DELETED] = {"deleted", {{"kind", CTF_FIRST}, {"number", CTF_SECOND}}},
    [MED_TRACED_LOCK_WAITS] = {"lock_waits", {{"lock", CTF_HANDLE}}},
    [MED_TRACED_LOCK_HAD] = {"lock_had", {{"lock", CTF_HANDLE}, {"sleeps", CTF_SECOND}}},
    [MED_TRACED_LOCK_MISSED] = {"lock_missed", {{"lock", CTF_HANDLE}, {"sleeps", CTF_SECOND}}},
    [MED_TRACED_OWNER_DIED] = {"owner_died", {{"lock", CTF_HANDLE}}},
    [MED_TRACED_TABLE_STUCK] = {"table_stuck", {{"kind", CTF_FIRST}, {"process", CTF_SECOND}}},
    [MED_TRACED_SENT] =
        {"sent",
         {{"lane", CTF_HANDLE}, {"number", CTF_SECOND}, {"kind", CTF_KIND}, {"bytes", CTF_BYTES}}},
    [MED_TRACED_RECEIVED] =
        {"received",
         {{"lane", CTF_HANDLE}, {"number", CTF_SECOND}, {"kind", CTF_KIND}, {"bytes", CTF_BYTES}}},
    [MED_TRACED_WAITS] = {"waits", {{"what", CTF_FIRST}, {"at", CTF_SECOND_HANDLE}}},
    [MED_TRACED_WAITED] = {"waited", {{"what", CTF_FIRST}, {"sleeps", CTF_SECOND}}},
    [MED_TRACED_BEGINS] = {"begins", {{"name", CTF_LETTERS}}},
    [MED_TRACED_ENDS] = {"ends", {{NULL, CTF_END}}},
    [MED_TRACED_MARK] = {"mark", {{"name", CTF_LETTERS}}},
    [MED_TRACED_MEMBER] = {"region_begins", {{"address", CTF_ADDRESS}, {"member", CTF_MORE}}},
    [MED_TRACED_MEMBER_ENDS] = {"region_ends", {{"address", CTF_ADDRESS}, {"member", CTF_MORE}}},
    [MED_TRACED_TASK] = {"task_begins", {{"address", CTF_ADDRESS}}},
    [MED_TRACED_TASK_ENDS] = {"task_ends", {{"address", CTF_ADDRESS}}},
    [MED_TRACED_PROGRAM] = {"program", {{"process", CTF_MORE}, {"letters", CTF_EIGHT_LETTERS}}},
    [MED_TRACED_NODE_NAMED] = {"node_named", {{"name", CTF_LETTERS}}},
    [MED_TRACED_PLACE] = {"place", {{"address", CTF_ADDRESS}}},
    [MED_TRACED_PLACE_INSIDE] = {"place_inside",
                                 {{"inside", CTF_ADDRESS}, {"path_bytes", CTF_MORE}}},
    [MED_TRACED_PLACE_PATH] = {"place_path", {{"letters", CTF_LETTERS}}},
    [MED_TRACED_HAS_WAITED] = {"has_waited", {{"what", CTF_FIRST}, {"microseconds", CTF_SECOND}}},
};

/* ---- Metadata -------------------------------------------------------------------------------- */

static const char *
type_of(ctf_source source)
{
    switch (source) {
    case CTF_HANDLE:
    case CTF_SECOND_HANDLE:
        return "x32";
    case CTF_ADDRESS:
        return "x64";
    case CTF_LETTERS:
    case CTF_EIGHT_LETTERS:
        return "string";
    default:
        return "u32";
    }
}

static void
event_describe(FILE *file, unsigned id)
{
    (void)fprintf(file, "event {\n    name = \"medley:%s\";\n    id = %u;\n    stream_id = 0;\n",
                  events[id].name, id);
    (void)fputs("    fields := struct {\n", file);
    for (const ctf_field *field = events[id].fields; field->source != CTF_END; field++) {
        (void)fprintf(file, "        %s %s;\n", type_of(field->source), field->name);
    }
    (void)fputs("    };\n};\n\n", file);
}

static void
describe(FILE *file, const char *system_name)
{
    const uint16_t probe = 1;
    const char *order = *(const unsigned char *)&probe ? "le" : "be";
    (void)fprintf(
        file,
        "/* CTF 1.8 */\n\n"
        "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
        "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
        "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
        "typealias integer { size = 64; align = 8; signed = true; } := i64;\n"
        "typealias integer { size = 32; align = 8; signed = false; base = hex; } := x32;\n"
        "typealias integer { size = 64; align = 8; signed = false; base = hex; } := x64;\n\n"
        "trace {\n    major = 1;\n    minor = 8;\n    byte_order = %s;\n"
        "    packet.header := struct {\n        u32 magic;\n        u32 stream_id;\n"
        "    };\n};\n\n",
        order);
    (void)fprintf(file,
                  "env {\n    domain = \"medley\";\n    system = \"%s\";\n};\n\n"
                  "clock {\n    name = monotonic;\n    freq = 1000000000;\n};\n\n"
                  "typealias integer { size = 64; align = 8; signed = false;\n"
                  "    map = clock.monotonic.value; } := time_ns;\n\n",
                  system_name);
    (void)fputs("stream {\n    id = 0;\n"
                "    packet.context := struct {\n        time_ns timestamp_begin;\n"
                "        time_ns timestamp_end;\n        u64 content_size;\n"
                "        u64 packet_size;\n        u64 events_discarded;\n    };\n"
                "    event.header := struct {\n        u8 id;\n        time_ns timestamp;\n    };\n"
                "    event.context := struct {\n        i64 domain;\n        i64 node;\n"
                "        u32 process;\n        string program;\n    };\n};\n\n",
                file);
    for (unsigned id = 0; id < MED_TRACED_COUNT; id++) {
        event_describe(file, id);
    }
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void
put(FILE *file, const void *value, size_t bytes)
{
    (void)fwrite(value, bytes, 1, file);
}

static void
put_32(FILE *file, uint32_t value)
{
    put(file, &value, sizeof value);
}

static void
put_64(FILE *file, uint64_t value)
{
    put(file, &value, sizeof value);
}

static void
put_text(FILE *file, const char *text)
{
    put(file, text, strlen(text) + 1);
}

static uint32_t
word_of(const med_trace_record *record, ctf_source source)
{
    uint32_t more = MED_TRACED_MORE_OF(record->event);
    switch (source) {
    case CTF_FIRST:
    case CTF_HANDLE:
        return record->words[0];
    case CTF_BYTES:
        return MED_TRACED_MOVED_BYTES(more);
    case CTF_KIND:
        return MED_TRACED_MOVED_KIND(more);
    case CTF_MORE:
        return more;
    default:
        return record->words[1];
    }
}

static void
field_put(FILE *file, const med_trace_record *record, ctf_source source)
{
    if (source == CTF_ADDRESS) {
        put_64(file, (uint64_t)record->words[1] << 32 | record->words[0]);
    } else if (source == CTF_LETTERS || source == CTF_EIGHT_LETTERS) {
        char letters[RECORDING_LETTERS_BYTES];
        recording_letters(record, letters);
        if (source == CTF_EIGHT_LETTERS) {
            letters[RECORDING_PROGRAM_LETTERS] = '\0';
        }
        put_text(file, letters);
    } else {
        put_32(file, word_of(record, source));
    }
}

#define NO_NODE UINT64_MAX /* -1, as it is read */

static void
event_put(FILE *file, const recording *r, const med_trace_record *record)
{
    const recording_node *node = recording_node_of(r, record->node);
    uint32_t event = MED_TRACED_EVENT_OF(record->event);
    uint8_t id = event < MED_TRACED_COUNT ? (uint8_t)event : MED_TRACED_NOTHING;
    put(file, &id, sizeof id);
    put_64(file, record->time_ns);
    put_64(file, node ? node->domain : NO_NODE);
    put_64(file, node ? node->number : NO_NODE);
    put_32(file, node ? node->process_id : 0);
    put_text(file, node ? node->program : "");
    for (const ctf_field *field = events[id].fields; field->source != CTF_END; field++) {
        field_put(file, record, field->source);
    }
}

/* `bytes`: of the packet, 0 as long as that is not known. */
static void
packet_begin(FILE *file, const recording *r, uint64_t bytes)
{
    put_32(file, MAGIC);
    put_32(file, 0);
    put_64(file, r->count ? r->rows[0].time_ns : 0);
    put_64(file, r->count ? r->rows[r->count - 1].time_ns : 0);
    put_64(file, 8 * bytes);
    put_64(file, 8 * bytes);
    put_64(file, r->lost);
}

static void
stream_put(FILE *file, const recording *r)
{
    packet_begin(file, r, 0);
    for (size_t i = 0; i < r->count; i++) {
        event_put(file, r, &r->rows[i]);
    }
    long bytes = ftell(file);
    if (bytes > 0 && fseek(file, 0, SEEK_SET) == 0) {
        packet_begin(file, r, (uint64_t)bytes);
    }
}

/* ---- The folder ------------------------------------------------------------------------------ */

static FILE *
file_open(const char *folder, const char *name)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "we");
}

static bool
file_close(FILE *file)
{
    bool written = !ferror(file);
    return fclose(file) == 0 && written;
}

bool
trace_ctf_write(const char *folder, const char *system_name, const recording *r)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return false;
    }
    FILE *metadata = file_open(folder, "metadata");
    if (!metadata) {
        return false;
    }
    describe(metadata, system_name);
    if (!file_close(metadata)) {
        return false;
    }
    FILE *stream = file_open(folder, "stream");
    if (!stream) {
        return false;
    }
    stream_put(stream, r);
    return file_close(stream);
}

bool
trace_ctf_may_write(const char *folder)
{
    static const char *const names[] = {"metadata", "stream"};
    if (mkdir(folder, 0777) == 0) {
        return rmdir(folder) == 0;
    }
    bool good = errno == EEXIST;
    for (size_t i = 0; good && i < sizeof names / sizeof names[0]; i++) {
        char path[PATH_BYTES];
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        good = output_file_may_write(path);
    }
    return good;
}
