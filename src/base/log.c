/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/log.h"

#include "base/atomic.h"
#include "port/port.h"

static atomic32 wanted = ATOMIC32_INIT(MED_LOG_ERROR);
static void (*heard_by)(const char *line);

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

void
med_log(med_log_level level, const med_text *text)
{
    if (!med_log_wanted(level)) {
        return;
    }
    med_text line = {.length = 0};
    med_text_string(&line, "medley: ");
    med_text_string(&line, text->bytes);
    med_port_log(line.bytes);
    if (heard_by) {
        heard_by(line.bytes);
    }
}

void
med_log_hear(void (*hear)(const char *line))
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

void
med_log_ignored_line(const char *variable, const char *value, const char *want)
{
    char shown[33]; /* what is longer leaves room for the rest */
    med_text text = {.length = 0};
    med_text_copy(shown, sizeof shown, value);
    med_text_string(&text, variable);
    med_text_string(&text, " ignored: it is '");
    med_text_string(&text, shown);
    med_text_string(&text, "'; ");
    med_text_string(&text, want);
    med_log(MED_LOG_ERROR, &text);
}

void
med_log_limit_line(const char *objects, uint32_t limit, const char *what, const char *where)
{
    med_text text = {.length = 0};
    med_text_string(&text, "limit reached: ");
    med_text_number(&text, limit);
    med_text_string(&text, " ");
    med_text_string(&text, objects);
    if (what) {
        med_text_string(&text, "; ");
        med_text_string(&text, what);
        med_text_string(&text, " raises it, set ");
        med_text_string(&text, where);
    }
    med_log(MED_LOG_ERROR, &text);
}
