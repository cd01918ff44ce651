/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* medley explain: runs a program, and shows how its OpenMP loops were shared out. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/medley/command.h"
#include "tools/medley/loops.h"
#include "tools/medley/output.h"

#define PATH_BYTES 512
#define FILE_NAME "loops"
#define KILLED 128 /* as shells have it: and the signal's number */

extern char **environ;

static const char help[] =
    "usage: medley explain [--json] PROGRAM [ARGUMENT...]\n"
    "       medley explain [--json] --record=FILE\n"
    "\n"
    "Runs a program on Medley's OpenMP library, and shows when it has ended how each of\n"
    "its loops was shared out: where it stands, by what schedule, how often it was probed\n"
    "or why it was not, how fast each class of cores was found to be, and what each got.\n"
    "A loop that the program shares out itself is not among them (see medley(7)).\n"
    "\n"
    "  --record=FILE  shows what a program has written that ran with MEDLEY_EXPLAIN=FILE\n"
    "  --json         one JSON document; what the program prints goes to standard error\n"
    "  -h, --help     this text\n";

typedef struct explain_options {
    const char *record; /* NULL: a program is run */
    char **program;
    bool json;
} explain_options;

/* ---- As text --------------------------------------------------------------------------------- */

static void
time_cell(const json_t *row, const json_t *value, char *cell)
{
    if (json_is_integer(value)) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%.1f ns", (double)json_integer_value(value) / 1e3);
    } else {
        output_plain(row, value, cell);
    }
}

static void
speed_cell(const json_t *row, const json_t *value, char *cell)
{
    if (json_is_real(value)) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "%.3f", json_real_value(value));
    } else {
        output_plain(row, value, cell);
    }
}

/* Members of a class have as many as each other, or one more. */
static void
each_cell(const json_t *row, const json_t *value, char *cell)
{
    json_int_t members = json_integer_value(json_object_get(row, "members"));
    json_int_t all = json_integer_value(json_object_get(row, "iterations"));
    (void)value;
    if (members == 0) {
        output_plain(row, NULL, cell);
        return;
    }
    (void)snprintf(cell, OUTPUT_CELL_BYTES, "%" JSON_INTEGER_FORMAT "%s", all / members,
                   all % members ? " or 1 more" : "");
}

static const output_column columns[] = {
    {"CLASS", "class", NULL, true},
    {"MEMBERS", "members", NULL, true},
    {"AN ITERATION, LAST", "iteration_ps", time_cell, true},
    {"SPEED, LEARNED", "speed", speed_cell, true},
    {"ITERATIONS", "iterations", NULL, true},
    {"EACH", NULL, each_cell, false},
};

static uint64_t
number_of(const json_t *loop, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(loop, key));
}

static void
loop_print(const json_t *loop)
{
    (void)printf("\n%s\n  %s, %s, %s the last time\n",
                 json_string_value(json_object_get(loop, "where")),
                 json_string_value(json_object_get(loop, "schedule")),
                 output_count_text(number_of(loop, "invocations"), "invocations"),
                 output_count_text(number_of(loop, "iterations"), "iterations"));
    (void)printf("  %s, %s; %s\n", output_count_text(number_of(loop, "probes"), "probes"),
                 output_count_text(number_of(loop, "reprobes"), "re-probes"),
                 loops_why_text(json_string_value(json_object_get(loop, "why"))));
    OUTPUT_TABLE(json_object_get(loop, "classes"), columns);
}

static void
processes_print(const json_t *processes)
{
    size_t i, j;
    json_t *process, *loop;
    json_array_foreach(processes, i, process)
    {
        const json_t *loops = json_object_get(process, "loops");
        (void)printf("%sprocess %" JSON_INTEGER_FORMAT ": %s\n", i ? "\n" : "",
                     json_integer_value(json_object_get(process, "process")),
                     output_count_text(json_array_size(loops), "loops"));
        json_array_foreach(loops, j, loop)
        {
            loop_print(loop);
        }
    }
}

/* ---- The program ----------------------------------------------------------------------------- */

/* As if it had been started by itself, but where its record goes and, beside a document, its
 * output. 0, or an errno. */
static int
program_start(const explain_options *options, pid_t *process)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawnattr_init(&attributes);
    if (options->json) {
        (void)posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    }
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGINT);
    (void)sigaddset(&defaults, SIGQUIT);
    (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int error =
        posix_spawnp(process, options->program[0], &files, &attributes, options->program, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Who interrupts both means the program: what it has done until then is still shown. */
static int
program_run(const med_command *command, const explain_options *options, int *status)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    pid_t process;
    (void)fflush(stdout);
    (void)sigaction(SIGINT, &ignore, &interrupt);
    (void)sigaction(SIGQUIT, &ignore, &quit);
    int error = program_start(options, &process);
    if (error) {
        command_error(command, "%s: %s", options->program[0], strerror(error));
        return COMMAND_FAILED;
    }
    while (waitpid(process, status, 0) < 0 && errno == EINTR) {
    }
    (void)sigaction(SIGINT, &interrupt, NULL);
    (void)sigaction(SIGQUIT, &quit, NULL);
    return COMMAND_OK;
}

/* ---- The command ----------------------------------------------------------------------------- */

/* `status`: what the program ended with, if it ran. */
static void
show(const explain_options *options, json_t *processes, const int *status)
{
    if (!options->json) {
        processes_print(processes);
        json_decref(processes);
        return;
    }
    bool exited = status && WIFEXITED(*status);
    bool killed = status && WIFSIGNALED(*status);
    output_json(json_pack("{s:o, s:o, s:o}", "exit_status",
                          output_number(exited, exited ? (uint64_t)WEXITSTATUS(*status) : 0),
                          "signal", output_number(killed, killed ? (uint64_t)WTERMSIG(*status) : 0),
                          "processes", processes),
                false);
}

/* The program's own exit status; where that is 0, of the record. */
static int
program_explain(const med_command *command, const explain_options *options, const char *path)
{
    int status;
    if (program_run(command, options, &status) != COMMAND_OK) {
        return COMMAND_FAILED;
    }
    json_t *processes = loops_read(command, path);
    int result = processes ? COMMAND_OK : COMMAND_FAILED;
    if (WIFSIGNALED(status)) {
        command_error(command, "%s was killed by signal %d (%s), and wrote no record",
                      options->program[0], WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else if (processes && json_array_size(processes) == 0) {
        command_error(command,
                      "%s wrote no record: it did not use Medley's OpenMP library (see "
                      "medley-openmp(7)), or did not end by exit()",
                      options->program[0]);
        result = COMMAND_FAILED;
    }
    if (processes && json_array_size(processes) > 0) {
        show(options, processes, &status);
    } else {
        json_decref(processes);
    }
    if (WIFSIGNALED(status)) {
        return KILLED + WTERMSIG(status);
    }
    return WEXITSTATUS(status) ? WEXITSTATUS(status) : result;
}

/* A folder, not a file: a process that outlives the program finds nothing to write to. */
static int
run_explained(const med_command *command, const explain_options *options)
{
    const char *temporary = getenv("TMPDIR");
    char folder[PATH_BYTES], path[PATH_BYTES + sizeof FILE_NAME + 1];
    int length = snprintf(folder, sizeof folder, "%s/medley-explain-XXXXXX",
                          temporary && *temporary == '/' ? temporary : "/tmp");
    if (length >= (int)sizeof folder || !mkdtemp(folder)) {
        command_error(command, "%.400s: %s; TMPDIR says where temporary files go", folder,
                      strerror(length >= (int)sizeof folder ? ENAMETOOLONG : errno));
        return COMMAND_FAILED;
    }
    (void)snprintf(path, sizeof path, "%s/" FILE_NAME, folder);
    int result = COMMAND_FAILED;
    if (setenv("MEDLEY_EXPLAIN", path, 1) == 0) {
        result = program_explain(command, options, path);
    } else {
        command_error(command, "no memory");
    }
    (void)unlink(path);
    (void)rmdir(folder);
    return result;
}

static int
record_explain(const med_command *command, const explain_options *options)
{
    if (access(options->record, R_OK) != 0) {
        command_error(command, "%s: %s", options->record, strerror(errno));
        return COMMAND_FAILED;
    }
    json_t *processes = loops_read(command, options->record);
    if (processes && json_array_size(processes) == 0) {
        command_error(command, "%s: there is nothing in it", options->record);
        json_decref(processes);
        return COMMAND_FAILED;
    }
    if (processes) {
        show(options, processes, NULL);
    }
    return processes ? COMMAND_OK : COMMAND_FAILED;
}

static int
run(const med_command *command, int argc, char **argv)
{
    static const struct option known[] = {
        COMMAND_OPTIONS, {"record", required_argument, NULL, 'r'}, {NULL, 0, NULL, 0}};
    explain_options options = {.record = NULL};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "+" COMMAND_SHORT_OPTIONS, known, NULL)) != -1) {
        if (option == 'j') {
            options.json = true;
        } else if (option == 'r') {
            options.record = optarg;
        } else {
            return command_other_option(command, option, argv);
        }
    }
    options.program = argv + optind;
    if ((options.record != NULL) == (optind < argc)) {
        return command_usage_error(command, "want a program, or --record");
    }
    return options.record ? record_explain(command, &options) : run_explained(command, &options);
}

const med_command command_explain = {
    .name = "explain",
    .summary = "how a program's OpenMP loops were shared out",
    .help = help,
    .runs_program = true,
    .run = command_run,
    .body = run,
};
