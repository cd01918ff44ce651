/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* medley system: the systems there are, removing those that nobody lives in, and files of them. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "mrapi/system.h"
#include "tools/medley/command.h"
#include "tools/medley/image.h"
#include "tools/medley/output.h"
#include "tools/medley/snapshot.h"
#include "tools/medley/snapshot_tell.h"

static const char help[] =
    "usage: medley system list [--json]\n"
    "       medley system remove SYSTEM... [--json]\n"
    "       medley system remove --stale [--json]\n"
    "       medley system save FILE [SYSTEM] [--json]\n"
    "       medley system load FILE [--name SYSTEM] [--until-joined] [--json]\n"
    "\n"
    "Lists this user's systems, or removes the files of those in which nobody lives. A\n"
    "system that somebody lives in is never removed: it goes with its last process.\n"
    "\n"
    "Saves what a running system consists of as a file that a person can read and write, or\n"
    "makes a system of such a file, and keeps it until this process is ended.\n"
    "\n"
    "  --stale         all in which nobody lives\n"
    "  --name SYSTEM   load: under that name, not the file's\n"
    "  --until-joined  load: keeps it only until another process is in it\n"
    "  --json          one JSON document; of load, as soon as the system is there\n"
    "  -h, --help      this text\n";

typedef struct system_options {
    bool json;
    bool stale;
    bool until_joined;
    const char *name;
} system_options;

/* ---- List ------------------------------------------------------------------------------------ */

static void
count_cell(const json_t *row, const json_t *value, char *cell)
{
    (void)row;
    if (value) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%zu", json_array_size(value));
    } else {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "-");
    }
}

static const output_column list_columns[] = {
    {"SYSTEM", "name", NULL, false},
    {"STATE", "state", NULL, false},
    {"SIZE", "size_bytes", output_size, true},
    {"AGE", "age_ns", output_age, true},
    {"PROCESSES", "processes", count_cell, true},
    {"NODES", "nodes", count_cell, true},
    {"REASON", "reason", NULL, false},
};

/* What the list says of one, in JSON: numbers instead of rows. */
static json_t *
summary_of(const json_t *system)
{
    static const char *const kept[] = {"name",       "state",       "reason",
                                       "size_bytes", "shmem_bytes", "age_ns"};
    static const char *const counted[] = {"processes",  "nodes",   "locks",
                                          "semaphores", "rwlocks", "shmems"};
    json_t *summary = json_object();
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        (void)json_object_set(summary, kept[i], json_object_get(system, kept[i]));
    }
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        const json_t *rows = json_object_get(system, counted[i]);
        if (rows) {
            (void)json_object_set_new(summary, counted[i],
                                      json_integer((json_int_t)json_array_size(rows)));
        }
    }
    return summary;
}

static int
list(const med_command *command, const system_options *options)
{
    json_t *systems = snapshot_all();
    if (!systems) {
        return snapshot_no_list_tell(command);
    }
    int result = snapshot_blocked_tell(command, systems);
    if (options->json) {
        json_t *summaries = json_array();
        for (size_t i = 0; i < json_array_size(systems); i++) {
            (void)json_array_append_new(summaries, summary_of(json_array_get(systems, i)));
        }
        output_json(json_pack("{s:o}", "systems", summaries), false);
    } else if (json_array_size(systems) == 0) {
        (void)puts("no systems of this user");
    } else {
        OUTPUT_TABLE(systems, list_columns);
    }
    json_decref(systems);
    return result;
}

/* ---- Remove ---------------------------------------------------------------------------------- */

/* Why not, and what to do. */
static int
cannot_remove(const med_command *command, const char *name, medley_status_t status, const char *why)
{
    switch (status) {
    case MEDLEY_ERR_ARGUMENT:
        return snapshot_no_name_tell(command, name);
    case MEDLEY_ERR_NOT_FOUND:
        return snapshot_no_system_tell(command, name);
    case MEDLEY_BUSY:
        command_error(command,
                      "system '%s' is in use: end its processes first ('medley ps %s' names them)",
                      name, name);
        break;
    case MEDLEY_TIMEOUT:
        command_error(command, SNAPSHOT_BLOCKED, name, why);
        break;
    case MEDLEY_ERR_ACCESS:
        command_error(command, "system '%s' is refused: %s; see who made it, and remove it by hand",
                      name, why);
        break;
    default:
        command_error(command, "system '%s' cannot be removed: %s", name,
                      medley_status_text(status));
        break;
    }
    return COMMAND_FAILED;
}

static void
removed_print(json_t *removed, const system_options *options)
{
    if (options->json) {
        output_json(json_pack("{s:o}", "removed", removed), false);
        return;
    }
    for (size_t i = 0; i < json_array_size(removed); i++) {
        (void)printf("removed %s\n", json_string_value(json_array_get(removed, i)));
    }
    if (options->stale && json_array_size(removed) == 0) {
        (void)puts("no stale systems");
    }
    json_decref(removed);
}

/* Those that cannot be removed do not keep the others. */
static int
remove_named(const med_command *command, const system_options *options, char **names)
{
    int result = COMMAND_OK;
    char why[MED_PORT_WHY_BYTES];
    uint64_t deadline_ns = med_system_deadline_ns();
    json_t *removed = json_array();
    for (; *names; names++) {
        medley_status_t status = med_system_remove(*names, deadline_ns, why);
        if (status == MEDLEY_OK) {
            (void)json_array_append_new(removed, json_string(*names));
        } else {
            int failed = cannot_remove(command, *names, status, why);
            result = failed > result ? failed : result;
        }
    }
    removed_print(removed, options);
    return result;
}

static int
remove_stale(const med_command *command, const system_options *options)
{
    json_t *names = snapshot_names();
    if (!names) {
        return snapshot_no_list_tell(command);
    }
    int result = COMMAND_OK;
    char why[MED_PORT_WHY_BYTES];
    uint64_t deadline_ns = med_system_deadline_ns();
    json_t *removed = json_array();
    for (size_t i = 0; i < json_array_size(names); i++) {
        json_t *name = json_array_get(names, i);
        medley_status_t status = med_system_remove(json_string_value(name), deadline_ns, why);
        if (status == MEDLEY_OK) {
            (void)json_array_append(removed, name);
        } else if (status == MEDLEY_TIMEOUT) {
            result = cannot_remove(command, json_string_value(name), status, why);
        }
        /* Else somebody lives in it, or it is not ours, or another removed it. */
    }
    json_decref(names);
    removed_print(removed, options);
    return result;
}

/* ---- The command ----------------------------------------------------------------------------- */

#define WANTED "want 'list', 'remove', 'save' or 'load'"

static int
run_image_verb(const med_command *command, const system_options *options, char **words)
{
    bool save = strcmp(words[0], "save") == 0;
    if (!words[1]) {
        return command_usage_error(command, "'%s' takes a file, or - for standard %s", words[0],
                                   save ? "output" : "input");
    }
    if (options->stale) {
        return command_usage_error(command, "--stale is remove's");
    }
    if (!save) {
        return words[2] ? command_usage_error(command, "'load' takes one file")
                        : image_load(command, words[1], options->name, options->until_joined,
                                     options->json);
    }
    if (options->json && strcmp(words[1], "-") == 0) {
        return command_usage_error(command, "'save -' gives the file itself, no --json");
    }
    if (options->name || options->until_joined || (words[2] && words[3])) {
        return command_usage_error(command, "'save' takes a file and a system, no options");
    }
    return image_save(command, words[1], words[2], options->json);
}

static int
run_verb(const med_command *command, const system_options *options, char **words)
{
    if (!words[0]) {
        return command_usage_error(command, WANTED);
    }
    if (strcmp(words[0], "save") == 0 || strcmp(words[0], "load") == 0) {
        return run_image_verb(command, options, words);
    }
    if (options->name || options->until_joined) {
        return command_usage_error(command, "--name and --until-joined are load's");
    }
    if (strcmp(words[0], "list") == 0) {
        if (words[1] || options->stale) {
            return command_usage_error(command, "'list' takes no names, and no --stale");
        }
        return list(command, options);
    }
    if (strcmp(words[0], "remove") != 0) {
        return command_usage_error(command, "'%s': " WANTED, words[0]);
    }
    if (options->stale == (words[1] != NULL)) {
        return command_usage_error(command, "'remove' takes either names or --stale");
    }
    return options->stale ? remove_stale(command, options)
                          : remove_named(command, options, words + 1);
}

static int
run(const med_command *command, int argc, char **argv)
{
    static const struct option known[] = {
        COMMAND_OPTIONS,
        {"stale", no_argument, NULL, 's'},
        {"name", required_argument, NULL, 'n'},
        {"until-joined", no_argument, NULL, 'u'},
        {NULL, 0, NULL, 0},
    };
    system_options options = {.json = false};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, COMMAND_SHORT_OPTIONS, known, NULL)) != -1) {
        if (option == 'j') {
            options.json = true;
        } else if (option == 's') {
            options.stale = true;
        } else if (option == 'n') {
            options.name = optarg;
        } else if (option == 'u') {
            options.until_joined = true;
        } else {
            return command_other_option(command, option, argv);
        }
    }
    if (options.name && !*options.name) {
        return command_usage_error(command, "--name names no system");
    }
    med_log_level_set(MED_LOG_QUIET); /* what a joiner is warned of is not for one who looks */
    return run_verb(command, &options, argv + optind);
}

const med_command command_system = {
    .name = "system",
    .summary = "list, save and load systems, remove stale ones",
    .help = help,
    .run = command_run,
    .body = run,
};
