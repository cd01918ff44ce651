/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* medley trace: what happened in a system, as its own trace has kept it. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tools/medley/command.h"
#include "tools/medley/events.h"
#include "tools/medley/output.h"
#include "tools/medley/run_recorded.h"
#include "tools/medley/snapshot_tell.h"
#include "tools/medley/trace_write.h"

#define LAST_STANDARD 100
#define LAST_MOST 1048576
#define SECONDS_MOST 86400

static const char help[] =
    "usage: medley trace SYSTEM [--last EVENTS] [--json]\n"
    "       medley trace SYSTEM [--for SECONDS] OUTPUT...\n"
    "       medley trace OUTPUT... -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Shows what happened last in a system: processes that joined, left or died, nodes\n"
    "that came and went, messages, waits, OpenMP's regions and tasks, what programs say\n"
    "of themselves; or makes files of it, of what the system has kept, of what happens in\n"
    "so many seconds, or of a program from its start to its end (medley run can do\n"
    "the same for a whole system).\n"
    "A system keeps a trace when the process that created it had MEDLEY_TRACE=1 in its\n"
    "environment. What is shown may be a system in which nobody lives any more.\n"
    "\n"
    "  --last EVENTS   so many, at most (100)\n"
    "  --for SECONDS   follows it so long\n"
    "  --json          one JSON document\n"
    "  -h, --help      this text\n"
    "\n"
    "OUTPUT is any of:\n"
    "  --chrome FILE   Chrome's trace events, for Perfetto and chrome://tracing\n"
    "  --ctf FOLDER    Common Trace Format, for babeltrace2 and Trace Compass\n"
    "  --svg FILE      a picture: which node was at what\n"
    "  --summary       for each node how long it did what, and what it exchanged\n"
    "Of a system that is there, FILE may be '-': standard output.\n";

typedef struct trace_options {
    const char *system;
    size_t last;
    double seconds;
    trace_wanted wanted;
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
    const char *wait = json_string_value(json_object_get(row, "wait"));
    const char *name = json_string_value(json_object_get(row, "name"));
    json_int_t bytes = json_integer_value(json_object_get(row, "bytes"));
    char text[6][64] = {""};
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
    if (wait || name) {
        (void)snprintf(text[4], sizeof text[4], "%s", wait ? wait : name);
    }
    if (bytes) {
        (void)snprintf(text[5], sizeof text[5], "%s", output_size_text((uint64_t)bytes));
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

/* ---- A list ---------------------------------------------------------------------------------- */

static int
events_show(const med_command *command, const trace_options *options, const med_system *system)
{
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

/* ---- Files of it ----------------------------------------------------------------------------- */

#define LOOK_MS 5

static volatile sig_atomic_t is_told_to_end;

static void
end(int signal)
{
    (void)signal;
    is_told_to_end = 1;
}

/* Until the time is over, somebody has enough, or nobody lives in the system any more. */
static bool
follow(recording *r, const trace_options *options)
{
    const struct sigaction ends = {.sa_handler = end};
    uint64_t end_ns = med_port_clock_ns() + (uint64_t)(options->seconds * 1e9);
    bool has_memory = true;
    (void)sigaction(SIGINT, &ends, NULL);
    (void)sigaction(SIGTERM, &ends, NULL);
    if (options->seconds > 0) {
        (void)fprintf(stderr, "medley trace: follows '%s' for %g s, or until it is interrupted\n",
                      options->system, options->seconds);
    }
    while (has_memory && !is_told_to_end && med_port_clock_ns() < end_ns) {
        (void)poll(NULL, 0, LOOK_MS);
        has_memory = recording_look(r);
    }
    return has_memory;
}

static int
files_make(const med_command *command, const trace_options *options, const med_system *system)
{
    recording r;
    json_t *summary = NULL;
    if (!trace_may_write(command, &options->wanted)) {
        return COMMAND_FAILED;
    }
    bool good =
        recording_begin(&r, system, RECORDING_EVENTS) && recording_look(&r) && follow(&r, options);
    if (good) {
        recording_end(&r);
        good = trace_write(command, &options->wanted, options->system, &r, &summary);
    } else {
        command_error(command, "no memory");
    }
    if (summary && !options->json) {
        trace_summary_print(summary);
    }
    if (summary && options->json) {
        output_json(summary, false);
    } else {
        json_decref(summary);
    }
    recording_forget(&r);
    return good ? COMMAND_OK : COMMAND_FAILED;
}

static int
system_show(const med_command *command, const trace_options *options, const med_system *system)
{
    if (!system->trace.shared) {
        command_error(command,
                      "system '%s' keeps no trace: the process that creates it must have "
                      "MEDLEY_TRACE=1 in its environment",
                      options->system);
        return COMMAND_FAILED;
    }
    return trace_is_wanted(&options->wanted) ? files_make(command, options, system)
                                             : events_show(command, options, system);
}

static int
show(const med_command *command, const trace_options *options)
{
    med_system system;
    medley_status_t status = med_system_observe(options->system, med_system_deadline_ns(), &system);
    if (status != MEDLEY_OK) {
        return snapshot_no_look_tell(command, options->system, status, system.shared.why);
    }
    int result = system_show(command, options, &system);
    med_system_observe_end(&system);
    return result;
}

/* ---- The command ----------------------------------------------------------------------------- */

static bool
last_read(const char *text, size_t *last)
{
    char *end_of;
    long number = strtol(text, &end_of, 10);
    *last = (size_t)number;
    return end_of != text && !*end_of && number >= 1 && number <= LAST_MOST;
}

static bool
seconds_read(const char *text, double *seconds)
{
    char *end_of;
    *seconds = strtod(text, &end_of);
    return end_of != text && !*end_of && *seconds > 0 && *seconds <= SECONDS_MOST;
}

/* What is behind "--" is a program, which `medley run` runs and records. */
static int
as_told(const med_command *command, const trace_options *options, bool is_program, char **words)
{
    const char *writer = options->json ? "--json" : is_program ? "the program" : NULL;
    if (trace_standard_output_check(command, &options->wanted, writer) != COMMAND_OK) {
        return COMMAND_USAGE;
    }
    if (is_program) {
        if (!trace_is_wanted(&options->wanted)) {
            return command_usage_error(command, "want what is to be made of it: --svg FILE, say");
        }
        if (!*words || options->seconds > 0) {
            return command_usage_error(command, "want a program behind '--', and no --for");
        }
        return run_recorded(command, words, &options->wanted, options->json);
    }
    if (!words[0] || words[1]) {
        return command_usage_error(command, "want the name of one system, or '--' and a program");
    }
    if (options->seconds > 0 && !trace_is_wanted(&options->wanted)) {
        return command_usage_error(command, "--for wants an output: --svg FILE, say");
    }
    return show(command, options);
}

static int
run(const med_command *command, int argc, char **argv)
{
    static const struct option known[] = {COMMAND_OPTIONS,
                                          {"last", required_argument, NULL, 'l'},
                                          {"for", required_argument, NULL, 'f'},
                                          {"chrome", required_argument, NULL, TRACE_CHROME},
                                          {"ctf", required_argument, NULL, TRACE_CTF},
                                          {"svg", required_argument, NULL, TRACE_SVG},
                                          {"summary", no_argument, NULL, TRACE_SUMMARY},
                                          {NULL, 0, NULL, 0}};
    trace_options options = {.last = LAST_STANDARD};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, COMMAND_SHORT_OPTIONS, known, NULL)) != -1) {
        switch (option) {
        case 'j':
            options.json = true;
            break;
        case 'l':
            if (!last_read(optarg, &options.last)) {
                return command_usage_error(command, "--last '%s': want a number from 1 to %d",
                                           optarg, LAST_MOST);
            }
            break;
        case 'f':
            if (!seconds_read(optarg, &options.seconds)) {
                return command_usage_error(command, "--for '%s': want seconds, up to %d", optarg,
                                           SECONDS_MOST);
            }
            break;
        default:
            if (!trace_option_take(&options.wanted, option, optarg)) {
                return command_other_option(command, option, argv);
            }
        }
    }
    bool is_program = optind > 1 && strcmp(argv[optind - 1], "--") == 0;
    options.system = argv[optind];
    med_log_level_set(MED_LOG_QUIET); /* what a joiner is warned of is not for one who looks */
    return as_told(command, &options, is_program, argv + optind);
}

const med_command command_trace = {
    .name = "trace",
    .summary = "what happened in a system, as a list, a picture, files for other tools",
    .help = help,
    .run = command_run,
    .body = run,
};
