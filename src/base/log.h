/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What Medley says to a person: one line per event, by the first function that decides. An error
 * line names what was wrong and what to do; the standards' status codes have no room for that. */
#ifndef MEDLEY_BASE_LOG_H
#define MEDLEY_BASE_LOG_H

#include <stdbool.h>

#include "base/text.h"

typedef enum med_log_level {
    MED_LOG_QUIET,
    MED_LOG_ERROR, /* the default: a set-up that cannot work, a limit reached, a death */
    MED_LOG_INFO,
    MED_LOG_DEBUG,
} med_log_level;

/* The most that this build can say: it decides what texts are in the program. */
#ifndef MED_LOG_MOST
#define MED_LOG_MOST MED_LOG_DEBUG
#endif

void med_log_level_set(med_log_level level);
/* As the standards' programs say it: what lies outside of the levels is the nearest of them. */
void med_log_level_set_number(int number);
MED_INNER bool med_log_level_reached(med_log_level level);
/* From MEDLEY_LOG: quiet, error, info, debug, or 0 to 3. Another word is reported and ignored. */
MED_INNER void med_log_level_from_environment(void);
/* What the functions below call, each its own, for a line that is wanted. */
MED_INNER void med_log_error_line(const char *what, const char *why);
MED_INNER void med_log_ignored_line(const char *variable, const char *value, const char *want);
void med_log_limit_line(const char *objects, uint32_t limit, const char *what, const char *where);

/* Is it worth composing a text of that level? Who asks first has, in a build that leaves the level
 * out, not even the texts. */
static inline bool
med_log_wanted(med_log_level level)
{
    return level <= MED_LOG_MOST && med_log_level_reached(level);
}

/* Prints "medley: " and the text, when the level is wanted. */
MED_INNER void med_log(med_log_level level, const med_text *text);
/* What the calling thread says from here to med_log_keep_end is kept, for med_log_say: standard
 * error may block, and others must not wait for who reads it. One thread of the process at once. */
typedef struct med_log_kept {
    char *lines; /* one behind the other, each behind what it is, with its NUL; NULL: none */
    size_t length;
} med_log_kept;
void med_log_keep(med_log_kept *kept);
void med_log_keep_end(void);
void med_log_say(med_log_kept *kept);
/* Each line goes to `hear` first; true: it sees to its telling. Before there are other threads. */
void med_log_hear(bool (*hear)(const char *line));

/* "medley: <what>: <why>" */
static inline void
med_log_error(const char *what, const char *why)
{
    if (med_log_wanted(MED_LOG_ERROR)) {
        med_log_error_line(what, why);
    }
}

/* "medley: <variable> ignored: it is '<value>'; <want>" */
static inline void
med_log_ignored(const char *variable, const char *value, const char *want)
{
    if (med_log_wanted(MED_LOG_ERROR)) {
        med_log_ignored_line(variable, value, want);
    }
}

/* "medley: limit reached: 64 <objects>; <what> raises it, set <where>". `what` NULL: nothing raises
 * it. The same line is said once in about a minute. */
static inline void
med_log_limit(const char *objects, uint32_t limit, const char *what, const char *where)
{
    if (med_log_wanted(MED_LOG_ERROR)) {
        med_log_limit_line(objects, limit, what, where);
    }
}

#endif
