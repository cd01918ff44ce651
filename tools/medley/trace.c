/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* medley trace: what happened in a system, as its own trace has kept it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tools/medley/command.h"
#include "tools/medley/events.h"
#include "tools/medley/output.h"
#include "tools/medley/snapshot_tell.h"

#define LAST_STANDARD 100
#define LAST_MOST 1048576

static const char help[] =
    "usage: medley trace SYSTEM [--last EVENTS] [--json]\n"
    "\n"
    "Shows what happened last in a system: processes that joined, left or died, nodes\n"
    "that came and went, objects that were made and deleted, locks that were waited for.\n"
    "A system keeps a trace when the process that created it had MEDLEY_TRACE=1 in its\n"
    "environment. What is shown may be a system in which nobody lives any more.\n"
    "\n"
    "  --last EVENTS  so many, at most (100)\n"
    "  --json         one JSON document\n"
    "  -h, --help     this text\n";

typedef struct trace_options {
    const char *system;
    size_t last;
    bool json;
} trace_options;

/* ---- As text --------------------------------------------------------------------------------- */

/* "mutex 4, process 12, 3 sleeps": whatever of it the event has. */
static void
details_cell(const json_t *row, const json_t *value, char *cell)
{
    const char *kind = json_string_value(json_object_get(row, "kind"));
    const json_t *number = json_object_get(row, "number");
    const json_t *process = json_object_get(row, "process_id");
    json_int_t sleeps = json_integer_value(json_object_get(row, "sleeps"));
    char text[4][64] = {""};
    (void)value;
    if (number && !json_is_integer(number)) {
        (void)snprintf(text[0], sizeof text[0], "%s that is gone", kind ? kind : "something");
    } else if (kind && number) {
        (void)snprintf(text[0], sizeof text[0], "%s %" JSON_INTEGER_FORMAT, kind,
                       json_integer_value(number));
    } else if (kind) {
        (void)snprintf(text[0], sizeof text[0], "table of: %s", kind);
    }
    if (json_is_integer(process)) {
        (void)snprintf(text[1], sizeof text[1], "process %" JSON_INTEGER_FORMAT,
                       json_integer_value(process));
    }
    if (sleeps) {
        (void)snprintf(text[2], sizeof text[2], "after %" JSON_INTEGER_FORMAT " sleeps", sleeps);
    }
    if (json_is_true(json_object_get(row, "created"))) {
        (void)snprintf(text[3], sizeof text[3], "and made it");
    }
    cell[0] = '\0';
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        size_t length = strlen(cell);
        (void)snprintf(cell + length, OUTPUT_CELL_BYTES - length, "%s%s",
                       length && text[i][0] ? ", " : "", text[i]);
    }
    if (!cell[0]) {
        output_plain(row, NULL, cell);
    }
}

static const output_column columns[] = {
    {"AGO", "ago_ns", output_age, true},
    {"NODE", "node", output_node, true},
    {"EVENT", "event", NULL, false},
    {"OF", NULL, details_cell, false},
};

/* ---- The command ----------------------------------------------------------------------------- */

static int
events_show(const med_command *command, const trace_options *options, const med_system *system)
{
    if (!system->trace.shared) {
        command_error(command,
                      "system '%s' keeps no trace: the process that creates it must have "
                      "MEDLEY_TRACE=1 in its environment",
                      options->system);
        return COMMAND_FAILED;
    }
    json_t *events = events_json(system, options->last);
    if (!events) {
        command_error(command, "no memory");
        return COMMAND_FAILED;
    }
    if (options->json) {
        output_json(json_pack("{s:s, s:o}", "system", options->system, "events", events), false);
        return COMMAND_OK;
    }
    (void)printf("system %s: %s\n", options->system,
                 output_count_text(json_array_size(events), "events"));
    OUTPUT_TABLE(events, columns);
    json_decref(events);
    return COMMAND_OK;
}

static int
show(const med_command *command, const trace_options *options)
{
    med_system system;
    medley_status_t status = med_system_observe(options->system, med_system_deadline_ns(), &system);
    if (status != MEDLEY_OK) {
        return snapshot_no_look_tell(command, options->system, status, system.shared.why);
    }
    int result = events_show(command, options, &system);
    med_system_observe_end(&system);
    return result;
}

static bool
last_read(const char *text, size_t *last)
{
    char *end;
    long number = strtol(text, &end, 10);
    *last = (size_t)number;
    return end != text && !*end && number >= 1 && number <= LAST_MOST;
}

static int
run(const med_command *command, int argc, char **argv)
{
    static const struct option known[] = {
        COMMAND_OPTIONS, {"last", required_argument, NULL, 'l'}, {NULL, 0, NULL, 0}};
    trace_options options = {.last = LAST_STANDARD};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, COMMAND_SHORT_OPTIONS, known, NULL)) != -1) {
        if (option == 'j') {
            options.json = true;
        } else if (option == 'l') {
            if (!last_read(optarg, &options.last)) {
                return command_usage_error(command, "--last '%s': want a number from 1 to %d",
                                           optarg, LAST_MOST);
            }
        } else {
            return command_other_option(command, option, argv);
        }
    }
    if (argc - optind != 1) {
        return command_usage_error(command, "want the name of one system");
    }
    options.system = argv[optind];
    med_log_level_set(MED_LOG_QUIET); /* what a joiner is warned of is not for one who looks */
    return show(command, &options);
}

const med_command command_trace = {
    .name = "trace",
    .summary = "what happened in a system",
    .help = help,
    .run = command_run,
    .body = run,
};
