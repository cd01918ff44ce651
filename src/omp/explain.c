/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The record of the loops. What may run together: the end of the program, in which it is written,
 * and threads that still run loops. Sites stay, whole, and what changes in them is read a word at a
 * time: a loop that goes on is told as it was a moment ago.
 */
#include "omp/explain.h"

#include <string.h>

#include "base/log.h"
#include "mrapi/heap_lent.h"
#include "omp/schedule/site.h"
#include "omp/team.h"
#include "omp/work.h"
#include "port/port.h"

#define FORMAT 1u
#define LINE_BYTES 8192u
#define STRING_BYTES 1024u /* of which the rest is left out */

/* What has no more room is left out, and the line is none then: who reads it finds that. */
typedef struct line {
    char bytes[LINE_BYTES];
    size_t length;
} line;

typedef struct record {
    line *line;
    uint64_t loops;
    medley_status_t status;
} record;

static char *where; /* a copy: programs write over their environment */

/* ---- JSON ------------------------------------------------------------------------------------ */

static void
put(line *l, const char *text)
{
    for (; *text && l->length + 1 < LINE_BYTES; text++) {
        l->bytes[l->length++] = *text;
    }
    l->bytes[l->length] = '\0';
}

static void
put_number(line *l, const char *key, uint64_t number)
{
    char digits[21];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    put(l, key);
    put(l, digits + at);
}

static void
put_string(line *l, const char *key, const char *text)
{
    put(l, key);
    put(l, "\"");
    for (size_t i = 0; text[i] && i < STRING_BYTES; i++) {
        char one[2] = {text[i], '\0'};
        bool is_special = text[i] == '"' || text[i] == '\\';
        put(l, is_special ? "\\" : "");
        put(l, text[i] >= ' ' && text[i] != 0x7f ? one : "?");
    }
    put(l, "\"");
}

/* ---- A loop ---------------------------------------------------------------------------------- */

static void
put_address(line *l, const char *key, const void *address)
{
    char path[STRING_BYTES];
    uint64_t inside;
    put(l, key);
    put_number(l, "{\"address\":", (uintptr_t)address);
    if (med_port_object_of(address, path, sizeof path, &inside)) {
        put_string(l, ",\"object\":", path);
        put_number(l, ",\"inside\":", inside);
    }
    put(l, "}");
}

static void
put_class(line *l, const med_site *site, const med_split *split, uint32_t class)
{
    uintptr_t count = atomic_word_load_relaxed(&site->count); /* relaxed, all: see the struct */
    med_units all = med_split_class(split, count, class);
    put_number(l, class ? ",{\"members\":" : "{\"members\":", split->members[class]);
    put_number(
        l, ",\"weight\":", atomic32_load_relaxed(&site->weights[class])); /* relaxed: as above */
    put_number(l, ",\"time_ps\":",
               atomic_word_load_relaxed(&site->times_ps[class])); /* relaxed: as above */
    put_number(l, ",\"iterations\":", all.end - all.first);
    put(l, "}");
}

/* Up to the last one that has a member, or a weight. */
static void
put_classes(line *l, const med_site *site)
{
    med_split split = {.classes = 0};
    for (uint32_t i = 0; i < MED_CLASSES_MAX; i++) {
        split.members[i] = atomic32_load_relaxed(&site->members[i]); /* relaxed: see the struct */
        split.weights[i] = atomic32_load_relaxed(&site->splits[i]);  /* relaxed: as above */
        split.classes = split.weights[i] ? i + 1 : split.classes;
    }
    put(l, ",\"classes\":[");
    for (uint32_t i = 0; i < split.classes; i++) {
        put_class(l, site, &split, i);
    }
    put(l, "]");
}

static const char *
why_text(uint32_t why)
{
    static const char *const whys[MED_SITE_WHY_COUNT] = {
        [MED_SITE_PROBED] = "probed",       [MED_SITE_CACHED] = "cached",
        [MED_SITE_TOLD] = "told",           [MED_SITE_FEW] = "few",
        [MED_SITE_SHORT] = "short",         [MED_SITE_ONE_CLASS] = "one-class",
        [MED_SITE_UNBOUND] = "unbound",     [MED_SITE_ORDERED] = "ordered",
        [MED_SITE_UNPROBED] = "max-probes", [MED_SITE_OTHER] = "other"};
    return whys[why];
}

static void
put_site(line *l, const med_site *site, const char *schedule)
{
    put_string(l, ",\"schedule\":", schedule);
    if (site->source) {
        put_string(l, ",\"source\":", site->source);
    } else {
        put_address(l, ",\"code\":", site->code);
        put_address(l, ",\"region\":", site->region);
    }
    put_number(l, ",\"invocations\":",
               atomic32_load_relaxed(&site->invocations)); /* relaxed, all: see the struct */
    put_number(l,
               ",\"iterations\":", atomic_word_load_relaxed(&site->count));  /* relaxed: as above */
    put_number(l, ",\"probes\":", atomic32_load_relaxed(&site->probes));     /* relaxed: as above */
    put_number(l, ",\"reprobes\":", atomic32_load_relaxed(&site->reprobes)); /* relaxed: as above */
    put_string(l, ",\"why\":", why_text(atomic32_load_relaxed(&site->why))); /* relaxed: as above */
    put_classes(l, site);
}

/* ---- The file -------------------------------------------------------------------------------- */

static void
line_begin(line *l)
{
    l->length = 0;
    put_number(l, "{\"process\":", med_port_process_id());
}

static void
line_write(record *r)
{
    put(r->line, "}");
    if (r->status == MEDLEY_OK) {
        r->status = med_port_write_line(where, r->line->bytes);
    }
}

static void
site_write(const med_site *site, void *context)
{
    record *r = context;
    /* Relaxed: see the struct. NULL: it is made, and not begun yet. */
    const char *schedule = (const char *)atomic_word_load_relaxed(&site->schedule);
    if (schedule) {
        line_begin(r->line);
        put_site(r->line, site, schedule);
        line_write(r);
        r->loops++;
    }
}

static void
record_write(void)
{
    record r = {.line = med_heap_lend(sizeof *r.line), .status = MEDLEY_OK};
    if (!r.line) {
        return; /* nothing in the file: no record */
    }
    line_begin(r.line);
    put_number(r.line, ",\"medley_explain\":", FORMAT);
    line_write(&r);
    med_site_each(site_write, &r);
    line_begin(r.line);
    put_number(r.line, ",\"loops\":", r.loops);
    line_write(&r);
    med_heap_take_back(r.line);
    if (r.status != MEDLEY_OK) {
        med_log_ignored("MEDLEY_EXPLAIN", where,
                        "it is stdout, stderr or a file that can be written");
    }
}

/* ---- When ------------------------------------------------------------------------------------ */

void
med_explain_begin(const char *path)
{
    size_t bytes = strlen(path) + 1;
    where = med_heap_lend(bytes);
    if (where && med_port_at_exit(record_write) == MEDLEY_OK) {
        memcpy(where, path, bytes);
        med_work_imposed.acts = true;
        med_work_imposed.explains = true;
    }
}

void
med_explain_loop(const med_team *team, const med_loop *loop)
{
    const void *region = (const void *)(uintptr_t)team->gate.entry;
    med_site *site = med_site_of(loop->code, region, loop->source);
    if (site) {
        uintptr_t count = loop->count < UINTPTR_MAX ? (uintptr_t)loop->count : UINTPTR_MAX;
        med_site_note(site, MED_SITE_OTHER, loop->schedule->name, count);
    }
}
