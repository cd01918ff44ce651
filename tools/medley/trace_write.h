/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is made of a recording: files that other tools read, a picture, a summary. The command line
 * names them, of `medley trace` and of `medley run`.
 */
#ifndef MEDLEY_TOOLS_TRACE_WRITE_H
#define MEDLEY_TOOLS_TRACE_WRITE_H

#include <stdbool.h>

#include <jansson.h>

#include "tools/medley/command.h"
#include "tools/medley/recording.h"
#include "tools/medley/timeline.h"

/* Paths; NULL: not wanted. */
typedef struct trace_wanted {
    const char *chrome; /* Chrome's trace event format, JSON; Perfetto reads it */
    const char *ctf;    /* a folder: Common Trace Format 1.8; babeltrace2 reads it */
    const char *svg;    /* a picture */
    bool summary;       /* of each node, on standard output */
} trace_wanted;

/* Each as an option's value, for getopt_long. */
enum trace_option {
    TRACE_CHROME = 0x100,
    TRACE_CTF,
    TRACE_SVG,
    TRACE_SUMMARY,
};

/* Takes what such an option says. False: it is none of them. */
bool trace_option_take(trace_wanted *wanted, int option, const char *argument);

static inline bool
trace_is_wanted(const trace_wanted *wanted)
{
    return wanted->chrome || wanted->ctf || wanted->svg || wanted->summary;
}

/* Of the outputs one may be "-", standard output, where nothing else writes to that: `writer` says
 * what does, NULL: nothing. Else COMMAND_USAGE, which is told. */
int trace_standard_output_check(const med_command *command,
                                const trace_wanted *wanted,
                                const char *writer);
/* Before anything is begun: can all files be written? False: not that one, which is told. */
bool trace_may_write(const med_command *command, const trace_wanted *wanted);

/* All that is wanted, of a recording that has ended. `summary` (NULL where that is not wanted) is
 * the caller's. False: something could not be written, which is told. */
bool trace_write(const med_command *command,
                 const trace_wanted *wanted,
                 const char *system_name,
                 recording *r,
                 json_t **summary);

/* Each: false, and errno, when it could not be written. */
bool trace_chrome_write(const char *path, const char *system_name, const timeline *t);
bool trace_svg_write(const char *path, const char *system_name, const timeline *t, uint64_t lost);
bool trace_ctf_write(const char *folder, const char *system_name, const recording *r);
bool trace_ctf_may_write(const char *folder);

/* "nodes": of each that was recorded: when, how long it did what, what it sent and received, and
 * how long messages to it were under way; "events", "lost". NULL: no memory. */
json_t *trace_summary(const char *system_name, const recording *r, const timeline *t);
void trace_summary_print(const json_t *summary);

#endif
