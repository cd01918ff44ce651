/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* medley top: running systems as they work, on the screen, or once in words. */
#include <stdio.h>
#include <time.h>

#include "base/log.h"
#include "mrapi/system.h"
#include "port/port.h"
#include "tools/medley/command.h"
#include "tools/medley/output.h"
#include "tools/medley/snapshot_tell.h"
#include "tools/medley/top_change.h"
#include "tools/medley/top_look.h"
#include "tools/medley/top_screen.h"
#include "tools/medley/top_table.h"
#include "tools/medley/top_terminal.h"
#include "tools/medley/top_wait.h"

static const char help[] =
    "usage: medley top [SYSTEM] [--interval SECONDS]\n"
    "       medley top [SYSTEM] [--interval SECONDS] --once [--json]\n"
    "\n"
    "Shows a running system, or all of this user's, as they work: processors and how busy\n"
    "they are, nodes, what waits in endpoints and lanes and how fast it goes through them,\n"
    "locks with their owners and waiters, and who has waited longest for what. It only\n"
    "looks: it does not join, and who sends and locks does nothing for it. Keys are as in\n"
    "htop; F1 or h names them.\n"
    "\n"
    "  --interval SECONDS  from one look to the next (1)\n"
    "  --once              two looks, so long apart, and what they tell; needs no terminal\n"
    "  --json              with --once: one JSON document\n"
    "  -h, --help          this text\n";

typedef struct top_options {
    const char *system; /* NULL: all */
    double interval_s;
    bool once;
    bool json;
} top_options;

/* ---- Looking --------------------------------------------------------------------------------- */

/* `again`: it was there at the look before, which had the patience that there is. */
static int
look(const med_command *command, const top_options *options, bool again, json_t **result)
{
    uint64_t deadline_ns =
        options->once && !again ? med_system_deadline_ns() : med_port_clock_ns() + TOP_PATIENCE_NS;
    medley_status_t status = top_look(options->system, deadline_ns, result);
    switch (status) {
    case MEDLEY_OK:
        return COMMAND_OK;
    case MEDLEY_ERR_ARGUMENT:
        return snapshot_no_name_tell(command, options->system);
    case MEDLEY_ERR_NOT_FOUND:
        if (again) {
            command_error(command, "system '%s' ended while it was looked at", options->system);
            return COMMAND_FAILED;
        }
        return snapshot_no_system_tell(command, options->system);
    case MEDLEY_ERR_SYSTEM:
        return snapshot_no_list_tell(command);
    default:
        command_error(command, "the systems cannot be looked at: no memory, or no descriptor");
        return COMMAND_FAILED;
    }
}

/* ---- Once ------------------------------------------------------------------------------------ */

/* As on the screen, in its order; without the names of systems where there is one. */
static void
tables_print(const json_t *document, bool one_system)
{
    for (size_t t = 0; t < TOP_TABLES; t++) {
        const top_table_info *info = &top_tables[t];
        size_t first = one_system ? 1 : 0;
        json_t *rows = top_table_rows(document, (top_table)t);
        if (json_array_size(rows) > 0) {
            (void)printf("%s\n", info->title);
            output_table(rows, info->columns + first, info->column_count - first);
        }
        json_decref(rows);
    }
}

static void
document_print(const json_t *document, bool one_system)
{
    static const output_column system_columns[] = {
        {"SYSTEM", "name", NULL, false},
        {"STATE", "state", NULL, false},
        {"AGE", "age_ns", output_age, true},
    };
    const json_t *processors = json_object_get(document, "processors");
    (void)fputs("processors in use:", stdout);
    for (size_t i = 0; i < json_array_size(processors); i++) {
        const json_t *used = json_object_get(json_array_get(processors, i), "used_permille");
        (void)printf(" %.1f%%", (double)json_integer_value(used) / 10);
    }
    (void)putchar('\n');
    if (json_array_size(json_object_get(document, "systems")) == 0) {
        (void)puts("no systems of this user");
    }
    OUTPUT_TABLE(json_object_get(document, "systems"), system_columns);
    tables_print(document, one_system);
}

static void
sleep_s(double seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds};
    left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
    while (nanosleep(&left, &left) != 0) {
    }
}

static int
once(const med_command *command, const top_options *options, json_t *first)
{
    json_t *second;
    top_waits_tell(NULL, first);
    sleep_s(options->interval_s);
    int result = look(command, options, true, &second);
    if (result == COMMAND_OK) {
        top_waits_tell(first, second);
        json_t *document = top_change(first, second);
        result = snapshot_blocked_tell(command, json_object_get(document, "systems"));
        if (options->json) {
            output_json(document, false);
        } else {
            document_print(document, options->system != NULL);
            json_decref(document);
        }
        json_decref(second);
    }
    json_decref(first);
    return result;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int
start(const med_command *command, const top_options *options)
{
    const char *fault = options->once ? NULL : top_terminal_fault();
    json_t *first;
    if (fault) {
        command_error(command, "%s; 'medley top --once' needs none", fault);
        return COMMAND_FAILED;
    }
    int result = look(command, options, false, &first);
    if (result != COMMAND_OK) {
        return result;
    }
    if (options->once) {
        return once(command, options, first);
    }
    return top_live(options->system, options->interval_s, first);
}

static int
run(const med_command *command, int argc, char **argv)
{
    static const struct option known[] = {COMMAND_OPTIONS,
                                          {"interval", required_argument, NULL, 'i'},
                                          {"once", no_argument, NULL, 'o'},
                                          {NULL, 0, NULL, 0}};
    top_options options = {.interval_s = 1};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, COMMAND_SHORT_OPTIONS, known, NULL)) != -1) {
        if (option == 'j') {
            options.json = true;
        } else if (option == 'o') {
            options.once = true;
        } else if (option != 'i') {
            return command_other_option(command, option, argv);
        } else if (!command_seconds_read(optarg, &options.interval_s)) {
            return command_usage_error(command, "--interval '%s': " COMMAND_SECONDS_WANTED, optarg);
        }
    }
    if (argc - optind > 1) {
        return command_usage_error(command, "one system at most, or none for all");
    }
    if (options.json && !options.once) {
        return command_usage_error(command, "--json goes with --once");
    }
    options.system = argv[optind];
    med_log_level_set(MED_LOG_QUIET); /* what a joiner is warned of is not for one who looks */
    return start(command, &options);
}

const med_command command_top = {
    .name = "top",
    .summary = "the systems that run, as they work: use, depths, rates, waits",
    .help = help,
    .run = command_run,
    .body = run,
};
