/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* medley ps: who is in which system, and who waits for whom. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "tools/medley/command.h"
#include "tools/medley/output.h"
#include "tools/medley/snapshot.h"
#include "tools/medley/snapshot_tell.h"

static const char help[] =
    "usage: medley ps [SYSTEM] [--json] [--watch SECONDS]\n"
    "\n"
    "Shows a running system, or all of this user's: who is stuck where others wait for\n"
    "him, its processes, nodes, locks with their owners and waiters, shared and remote\n"
    "memories, endpoints with what goes from one to another, and how far its limits are\n"
    "used. It only looks: it does not join the system, recovers nobody and changes\n"
    "nothing.\n"
    "\n"
    "  --json           one JSON document\n"
    "  --watch SECONDS  again and again, until interrupted; with --json a line each time\n"
    "  -h, --help       this text\n"
    "\n"
    "A system is live, stale (its file is there, but nobody lives in it: the next start\n"
    "replaces it, 'medley system remove' removes it), unreadable (made by another Medley,\n"
    "or written over), refused (its file is not this user's alone) or blocked (a process\n"
    "that is at opening or closing it does not go on).\n";

typedef struct ps_options {
    const char *system; /* NULL: all */
    bool json;
    double watch_seconds; /* 0: once */
} ps_options;

/* ---- As text --------------------------------------------------------------------------------- */

static void
node_name_cell(const json_t *row, const json_t *value, char *cell)
{
    (void)value;
    output_node(NULL, row, cell); /* its own name stands in the row itself */
}

static void
node_state_cell(const json_t *row, const json_t *value, char *cell)
{
    static const struct {
        const char *key;
        const char *name;
    } kinds[] = {
        {"waiting_for_mutex", "mutex"},
        {"waiting_for_semaphore", "semaphore"},
        {"waiting_for_rwlock", "reader/writer lock"},
    };
    output_plain(row, value, cell);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const json_t *number = json_object_get(row, kinds[i].key);
        if (json_is_integer(number)) {
            (void)snprintf(cell, OUTPUT_CELL_BYTES, "waits for %s %" JSON_INTEGER_FORMAT,
                           kinds[i].name, json_integer_value(number));
        }
    }
}

static void
stuck_in_cell(const json_t *row, const json_t *value, char *cell)
{
    bool section = strcmp(json_string_value(value), "section") == 0;
    (void)row;
    (void)snprintf(cell, OUTPUT_CELL_BYTES, "%s%s",
                   section ? "opening or closing" : "the table of ",
                   section ? "" : json_string_value(value));
}

static void
end_cell(const json_t *row, const json_t *value, char *cell)
{
    output_node(row, value, cell);
    if (json_is_object(value)) {
        size_t used = strlen(cell);
        (void)snprintf(cell + used, OUTPUT_CELL_BYTES - used, ":%" JSON_INTEGER_FORMAT,
                       json_integer_value(json_object_get(value, "port")));
    }
}

/* Of a side of a lane: whose endpoint it is, and what it counted. */
static void
side_cell(const json_t *row, const json_t *value, char *cell)
{
    end_cell(row, json_object_get(value, "endpoint"), cell);
}

static void
count_cell(const json_t *row, const json_t *value, char *cell)
{
    output_plain(row, json_object_get(value, "count"), cell);
}

static void
bytes_cell(const json_t *row, const json_t *value, char *cell)
{
    output_plain(row, json_object_get(value, "bytes"), cell);
}

static void
waits_cell(const json_t *row, const json_t *value, char *cell)
{
    output_plain(row, json_object_get(value, "waits"), cell);
}

/* One word, where both sides say the same. */
static void
lane_state_cell(const json_t *row, const json_t *value, char *cell)
{
    const char *from = json_string_value(json_object_get(json_object_get(row, "from"), "state"));
    const char *to = json_string_value(json_object_get(json_object_get(row, "to"), "state"));
    bool same = strcmp(from, to) == 0;
    (void)value;
    (void)snprintf(cell, OUTPUT_CELL_BYTES, "%s%s%s", from, same ? "" : ", ", same ? "" : to);
}

static void
process_state_cell(const json_t *row, const json_t *value, char *cell)
{
    const json_t *by = json_object_get(row, "recovered_by");
    output_plain(row, value, cell);
    if (json_is_integer(by)) {
        size_t used = strlen(cell);
        (void)snprintf(cell + used, OUTPUT_CELL_BYTES - used, " by %" JSON_INTEGER_FORMAT,
                       json_integer_value(by));
    }
}

static const output_column process_columns[] = {
    {"PROCESS", "process_id", NULL, true},
    {"STATE", "state", process_state_cell, false},
    {"AGE", "age_ns", output_age, true},
};

static const output_column stuck_columns[] = {
    {"STUCK IN", "in", stuck_in_cell, false}, {"PROCESS", "process_id", NULL, true},
    {"THREAD", "thread_id", NULL, true},      {"NODE", "node", output_node, true},
    {"STATE", "state", NULL, false},          {"FOR", "held_ns", output_age, true},
};

static const output_column node_columns[] = {
    {"NODE", NULL, node_name_cell, true}, {"PROCESS", "process_id", NULL, true},
    {"THREAD", "thread_id", NULL, true},  {"NAME", "name", NULL, false},
    {"KIND", "kind", NULL, false},        {"STATE", "state", node_state_cell, false},
    {"AGE", "age_ns", output_age, true},  {"SLEEPS", "sleeps", NULL, true},
};

static const output_column lock_columns[] = {
    {"MUTEX", "mutex", NULL, true},
    {"STATE", "state", NULL, false},
    {"OWNER", "owner", output_node, true},
    {"DEPTH", "depth", NULL, true},
    {"WAITERS", "waiters", NULL, true},
    {"SLEPT", "slept", NULL, true},
    {"ATTRIBUTES", "attributes", output_list, false},
};

static const output_column sem_columns[] = {
    {"SEMAPHORE", "semaphore", NULL, true},
    {"HELD", "held", NULL, true},
    {"OF", "limit", NULL, true},
    {"WAITERS", "waiters", NULL, true},
    {"SLEPT", "slept", NULL, true},
    {"ATTRIBUTES", "attributes", output_list, false},
};

static const output_column rwl_columns[] = {
    {"RWLOCK", "rwlock", NULL, true},
    {"STATE", "state", NULL, false},
    {"WRITER", "writer", output_node, true},
    {"READERS", "readers", NULL, true},
    {"OF", "limit", NULL, true},
    {"WAITERS", "waiters", NULL, true},
    {"SLEPT", "slept", NULL, true},
    {"ATTRIBUTES", "attributes", output_list, false},
};

static const output_column shmem_columns[] = {
    {"SHMEM", "shmem", NULL, true},
    {"SIZE", "size_bytes", output_size, true},
    {"ATTACHED", "attached", NULL, true},
    {"RESOURCE", "resource", NULL, false},
    {"ATTRIBUTES", "attributes", output_list, false},
};

static const output_column rmem_columns[] = {
    {"RMEM", "remote_memory", NULL, true},   {"OWNER", "owner", output_node, true},
    {"BYTES", "size_bytes", NULL, true},     {"ACCESS", "access", NULL, false},
    {"ATTACHED", "attachments", NULL, true},
};

static const output_column endpoint_columns[] = {
    {"ENDPOINT", "endpoint", end_cell, true},
    {"STATE", "state", NULL, false},
    {"GETS", "gets", NULL, true},
};

static const output_column lane_columns[] = {
    {"FROM", "from", side_cell, true},       {"TO", "to", side_cell, true},
    {"KIND", "kind", NULL, false},           {"PRIORITY", "priority", NULL, true},
    {"STATE", NULL, lane_state_cell, false}, {"DEPTH", "depth", NULL, true},
    {"HIGHEST", "high_water", NULL, true},   {"OF", "capacity", NULL, true},
    {"SENT", "from", count_cell, true},      {"BYTES", "from", bytes_cell, true},
    {"RECEIVED", "to", count_cell, true},    {"FULL", "from", waits_cell, true},
    {"EMPTY", "to", waits_cell, true},       {"LOST", "lost", NULL, true},
};

static const output_column limit_columns[] = {
    {"LIMIT", "name", NULL, false},        {"USED", "used", NULL, true},
    {"HIGHEST", "high_water", NULL, true}, {"OF", "limit", NULL, true},
    {"VARIABLE", "variable", NULL, false},
};

/* The dead are recovered by whoever comes next; of the others, what to do. */
static void
stuck_print(const json_t *stuck)
{
    bool here = false;
    bool elsewhere = false;
    OUTPUT_TABLE(stuck, stuck_columns);
    for (size_t i = 0; i < json_array_size(stuck); i++) {
        const json_t *row = json_array_get(stuck, i);
        bool dead = strcmp(json_string_value(json_object_get(row, "state")), "dead") == 0;
        bool known = json_is_integer(json_object_get(row, "process_id"));
        here = here || (!dead && known);
        elsewhere = elsewhere || (!dead && !known);
    }
    if (here) {
        (void)puts(
            "  'kill -CONT PROCESS' continues one that is stopped, 'kill -9 PROCESS' ends it:\n"
            "  until then nobody else comes or goes there");
    }
    if (elsewhere) {
        (void)puts("  one without a number cannot be seen from here (of another container):\n"
                   "  continue or end it there");
    }
}

static void
contents_print(const json_t *system)
{
    bool fail = strcmp(json_string_value(json_object_get(system, "on_death")), "fail") == 0;
    (void)printf(
        ", %s old, %s; a lock whose owner dies %s\n",
        output_age_text((uint64_t)json_integer_value(json_object_get(system, "age_ns"))),
        output_size_text((uint64_t)json_integer_value(json_object_get(system, "size_bytes"))),
        fail ? "fails until it is deleted" : "goes to the next, who is told");
    stuck_print(json_object_get(system, "stuck"));
    OUTPUT_TABLE(json_object_get(system, "processes"), process_columns);
    OUTPUT_TABLE(json_object_get(system, "nodes"), node_columns);
    OUTPUT_TABLE(json_object_get(system, "locks"), lock_columns);
    OUTPUT_TABLE(json_object_get(system, "semaphores"), sem_columns);
    OUTPUT_TABLE(json_object_get(system, "rwlocks"), rwl_columns);
    OUTPUT_TABLE(json_object_get(system, "shmems"), shmem_columns);
    OUTPUT_TABLE(json_object_get(system, "remote_memories"), rmem_columns);
    OUTPUT_TABLE(json_object_get(system, "endpoints"), endpoint_columns);
    OUTPUT_TABLE(json_object_get(system, "lanes"), lane_columns);
    OUTPUT_TABLE(json_object_get(system, "limits"), limit_columns);
}

/* Of a stale one its name is enough, unless it was asked for. */
static void
system_print(const json_t *system, bool asked_for)
{
    const char *name = json_string_value(json_object_get(system, "name"));
    const char *state = json_string_value(json_object_get(system, "state"));
    const char *reason = json_string_value(json_object_get(system, "reason"));
    (void)printf("system %s: %s", name, state);
    if (reason) {
        (void)printf(" (%s)\n", reason);
    } else if (strcmp(state, "stale") == 0 && !asked_for) {
        (void)printf("; 'medley ps %s' shows what was in it\n", name);
    } else {
        contents_print(system);
    }
}

static void
systems_print(const json_t *systems, bool asked_for)
{
    if (json_array_size(systems) == 0) {
        (void)puts("no systems of this user");
    }
    for (size_t i = 0; i < json_array_size(systems); i++) {
        system_print(json_array_get(systems, i), asked_for);
    }
}

/* ---- The command ----------------------------------------------------------------------------- */

static int
look_at_all(const med_command *command, json_t **systems)
{
    *systems = snapshot_all();
    if (!*systems) {
        return snapshot_no_list_tell(command);
    }
    return COMMAND_OK;
}

static int
look_at_one(const med_command *command, const char *name, json_t **systems)
{
    json_t *system;
    switch (snapshot_take(name, &system)) {
    case MEDLEY_OK:
        *systems = json_pack("[o]", system);
        return COMMAND_OK;
    case MEDLEY_ERR_ARGUMENT:
        return snapshot_no_name_tell(command, name);
    case MEDLEY_ERR_NOT_FOUND:
        return snapshot_no_system_tell(command, name);
    default:
        command_error(command, "system '%s' cannot be looked at: no memory, or no descriptor",
                      name);
        return COMMAND_FAILED;
    }
}

static int
show(const med_command *command, const ps_options *options)
{
    json_t *systems = NULL;
    int result = options->system ? look_at_one(command, options->system, &systems)
                                 : look_at_all(command, &systems);
    if (result != COMMAND_OK) {
        return result;
    }
    result = snapshot_blocked_tell(command, systems);
    if (options->json) {
        output_json(json_pack("{s:o}", "systems", systems), options->watch_seconds > 0);
        return result;
    }
    if (options->watch_seconds > 0 && isatty(STDOUT_FILENO)) {
        (void)fputs("\033[H\033[J", stdout); /* from the top of an empty screen */
    }
    systems_print(systems, options->system != NULL);
    json_decref(systems);
    return result;
}

static int
watch(const med_command *command, const ps_options *options)
{
    double whole = options->watch_seconds;
    struct timespec pause = {.tv_sec = (time_t)whole};
    pause.tv_nsec = (long)((whole - (double)pause.tv_sec) * 1e9);
    for (;;) {
        int result = show(command, options);
        if (result != COMMAND_OK || fflush(stdout) != 0) {
            return result;
        }
        (void)nanosleep(&pause, NULL);
    }
}

static int
run(const med_command *command, int argc, char **argv)
{
    static const struct option known[] = {
        COMMAND_OPTIONS, {"watch", required_argument, NULL, 'w'}, {NULL, 0, NULL, 0}};
    ps_options options = {.system = NULL};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, COMMAND_SHORT_OPTIONS, known, NULL)) != -1) {
        if (option == 'j') {
            options.json = true;
        } else if (option == 'w') {
            if (!command_seconds_read(optarg, &options.watch_seconds)) {
                return command_usage_error(command, "--watch '%s': " COMMAND_SECONDS_WANTED,
                                           optarg);
            }
        } else {
            return command_other_option(command, option, argv);
        }
    }
    if (argc - optind > 1) {
        return command_usage_error(command, "one system at most, or none for all");
    }
    options.system = argv[optind];
    med_log_level_set(MED_LOG_QUIET); /* what a joiner is warned of is not for one who looks */
    return options.watch_seconds > 0 ? watch(command, &options) : show(command, &options);
}

const med_command command_ps = {
    .name = "ps",
    .summary = "the systems that run, their nodes and locks",
    .help = help,
    .run = command_run,
    .body = run,
};
