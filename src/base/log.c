/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The level; and the way of a line to the port's log, and to who hears it besides. One thread at a
 * time may have its lines kept instead, to be said later or never. A limit that was said is not
 * said again for about a minute: who meets it again and again would fill the log.
 */
#include "base/log.h"

#include "base/atomic.h"
#include "port/port.h"

static atomic32 wanted = ATOMIC32_INIT(MED_LOG_ERROR);
static bool (*heard_by)(const char *line);

#define BEFORE "medley: " /* each line */

/* What a line is; kept, it stands before it. */
typedef enum line_kind {
    LINE_ANY,
    LINE_LIMIT, /* that was reached */
} line_kind;

/* Limits that were said, by their lines' hashes. About as many as there are: two that share a place
 * are said more often. */
#define LIMITS_SAID 32u
#define SAID_SHIFT 29 /* half a second, about */
#define SAID_FOR 112u /* so many of these: a minute */
typedef struct limit_said {
    atomic32 hash;
    atomic32 when;
} limit_said;
static limit_said limits_said[LIMITS_SAID];

/* More than there are things to say at once. */
#define KEPT_BYTES ((size_t)64 * MED_TEXT_BYTES)
static atomic32 keeper;       /* the thread whose lines are kept; 0: none's */
static med_log_kept *kept_by; /* the keeper's, whom nobody else asks for it */

void
med_log_level_set(med_log_level level)
{
    /* Relaxed: the level guards nothing. */
    atomic32_store_relaxed(&wanted, (uint32_t)level);
}

void
med_log_level_set_number(int number)
{
    int last = MED_LOG_DEBUG;
    med_log_level_set((med_log_level)(number < 0 ? 0 : number > last ? last : number));
}

void
med_log_level_from_environment(void)
{
    static const char *const names[] = {"quiet", "error", "info", "debug"};
    const char *value = med_port_has_environment() ? med_port_environment("MEDLEY_LOG") : NULL;
    if (!value || !*value) {
        return;
    }
    for (uint32_t level = MED_LOG_QUIET; level <= MED_LOG_DEBUG; level++) {
        if (med_text_equal(value, names[level], 8) ||
            (value[0] == (char)('0' + level) && !value[1])) {
            med_log_level_set((med_log_level)level);
            return;
        }
    }
    med_log_ignored("MEDLEY_LOG", value, "want 'quiet', 'error', 'info' or 'debug', or 0 to 3");
}

bool
med_log_level_reached(med_log_level level)
{
    return (uint32_t)level <= atomic32_load_relaxed(&wanted); /* relaxed: as above */
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Was that limit said just before? By the line as it is said, so that one that was raised, or that
 * was kept and never said, is news. Relaxed: two threads that say it at once may both. */
static bool
is_said(const char *line)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *c = line; *c; c++) {
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    }
    limit_said *said = &limits_said[hash % LIMITS_SAID];
    uint32_t now = (uint32_t)(med_port_clock_ns() >> SAID_SHIFT) | 1u; /* 0: never */
    uint32_t then = atomic32_load_relaxed(&said->when);
    if (then && now - then < SAID_FOR && atomic32_load_relaxed(&said->hash) == hash) {
        return true;
    }
    atomic32_store_relaxed(&said->hash, hash);
    atomic32_store_relaxed(&said->when, now);
    return false;
}

static void
speak(line_kind kind, const char *line)
{
    if (kind == LINE_LIMIT && is_said(line)) {
        return;
    }
    if (!heard_by || !heard_by(line)) {
        med_port_log(line);
    }
}

/* False: it is to be said at once. What does not fit is lost. */
static bool
keep(line_kind kind, const med_text *line)
{
    uint32_t thread = atomic32_load_relaxed(&keeper); /* relaxed: whose it is wrote it himself */
    if (thread == 0 || thread != med_port_thread_id()) {
        return false;
    }
    if (!kept_by->lines) {
        void *memory;
        if (med_port_memory_map(KEPT_BYTES, &memory) != MEDLEY_OK) {
            return false;
        }
        kept_by->lines = memory;
    }
    if (line->length + 1 < KEPT_BYTES - kept_by->length) {
        char *at = kept_by->lines + kept_by->length;
        at[0] = (char)kind;
        med_text_copy(at + 1, line->length + 1, line->bytes);
        kept_by->length += line->length + 2;
    }
    return true;
}

void
med_log_keep(med_log_kept *kept)
{
    *kept = (med_log_kept){.lines = NULL};
    kept_by = kept;
    atomic32_store_relaxed(&keeper, med_port_thread_id()); /* relaxed: as above */
}

void
med_log_keep_end(void)
{
    atomic32_store_relaxed(&keeper, 0); /* relaxed: as above */
}

void
med_log_say(med_log_kept *kept)
{
    if (!kept->lines) {
        return;
    }
    for (size_t at = 0; at < kept->length; at++) {
        line_kind kind = (line_kind)kept->lines[at++];
        speak(kind, kept->lines + at);
        while (kept->lines[at]) {
            at++;
        }
    }
    med_port_memory_unmap(kept->lines, KEPT_BYTES);
    kept->lines = NULL;
}

static void
say(line_kind kind, const med_text *text)
{
    med_text line = {.length = 0};
    med_text_string(&line, BEFORE);
    med_text_string(&line, text->bytes);
    if (!med_port_has_processes() || !keep(kind, &line)) {
        speak(kind, line.bytes);
    }
}

void
med_log(med_log_level level, const med_text *text)
{
    if (med_log_wanted(level)) {
        say(LINE_ANY, text);
    }
}

void
med_log_hear(bool (*hear)(const char *line))
{
    heard_by = hear;
}

void
med_log_error_line(const char *what, const char *why)
{
    med_text text = {.length = 0};
    med_text_string(&text, what);
    med_text_string(&text, ": ");
    med_text_string(&text, why);
    med_log(MED_LOG_ERROR, &text);
}

/* A value that is longer than leaves room for the rest is cut. */
void
med_log_ignored_line(const char *variable, const char *value, const char *want)
{
    static const char cut[] = "...";
    char shown[MED_TEXT_BYTES];
    med_text text = {.length = 0};
    med_text behind = {.length = 0};
    med_text_string(&text, variable);
    med_text_string(&text, " ignored: it is '");
    med_text_string(&behind, cut);
    med_text_string(&behind, "'; ");
    med_text_string(&behind, want);
    size_t used = sizeof BEFORE + text.length + behind.length;
    med_text_copy(shown, used < MED_TEXT_BYTES ? MED_TEXT_BYTES - used + 1 : 1, value);
    bool is_whole = med_text_equal(shown, value, sizeof shown);
    med_text_string(&text, shown);
    med_text_string(&text, behind.bytes + (is_whole ? sizeof cut - 1 : 0));
    med_log(MED_LOG_ERROR, &text);
}

void
med_log_limit_line(const char *objects, uint32_t limit, const char *what, const char *where)
{
    med_text text = {.length = 0};
    med_text_string(&text, "limit reached: ");
    med_text_count(&text, limit, objects);
    if (what) {
        med_text_string(&text, "; ");
        med_text_string(&text, what);
        med_text_string(&text, " raises it, set ");
        med_text_string(&text, where);
    }
    say(LINE_LIMIT, &text);
}
