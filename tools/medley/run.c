/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* medley run: programs as one system, watched from its start to its end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "mrapi/image.h"
#include "mrapi/system.h"
#include "tools/medley/command.h"
#include "tools/medley/mapping.h"
#include "tools/medley/output.h"
#include "tools/medley/run_guard.h"
#include "tools/medley/run_launched.h"
#include "tools/medley/run_openmp.h"
#include "tools/medley/run_plan.h"
#include "tools/medley/run_recorded.h"
#include "tools/medley/run_watch.h"
#include "tools/medley/trace_write.h"

static const char help[] =
    "usage: medley run [-n COUNT] [OPTION...] PROGRAM [ARGUMENT...]\n"
    "       medley run --file FILE [OPTION...]\n"
    "\n"
    "Runs a program as so many processes of one system, or all programs that a system's\n"
    "file names, and ends when they have: what they write comes line by line, behind whose\n"
    "it is; signals reach all of them; who dies is started again where the file says so,\n"
    "else all are ended. Nothing is left behind: no process, no memory, no name.\n"
    "\n"
    "  -n COUNT       so many processes (1)\n"
    "  --file FILE    the programs, and the system, of a file\n"
    "  --name SYSTEM  the system's name (the file's, or one of this run's own)\n"
    "  --spread       each process on the next processor\n"
    "  --own-openmp   leaves the programs the OpenMP library that they find by themselves\n"
    "  --plain        what programs write is not changed\n"
    "  --keep-going   who fails does not end the others\n"
    "  --trace-svg FILE, --trace-chrome FILE, --trace-ctf FOLDER, --trace-summary\n"
    "                 record it all, and make of it what medley trace does\n"
    "  --verbose      tells what happens, on standard error\n"
    "  --json         at the end, one JSON document; programs write to standard error\n"
    "  -h, --help     this text\n"
    "\n"
    "Under mpirun or srun it starts nothing itself: the launcher's processes of this host\n"
    "become one system.\n"
    "\n"
    "Exit status: of who failed first; 128 and the number of the signal that killed it, or\n"
    "that ended the run; 124 where its time was over, 126 where it could not be started.\n";

typedef struct run_arguments {
    const char *file; /* NULL: `words` */
    const char *name; /* NULL: not said */
    char **words;
    unsigned count;
    bool counted; /* -n was given */
    bool spread;
    bool own_openmp;
    bool plain;
    trace_wanted trace;
    run_options options;
} run_arguments;

/* ---- The system ------------------------------------------------------------------------------ */

static char own_name[MED_PORT_NAME_MAX + 1];

static const char *
name_of_this_run(void)
{
    (void)snprintf(own_name, sizeof own_name, "run-%d", (int)getpid());
    return own_name;
}

static const char *
system_name(const run_arguments *arguments, const med_image *image)
{
    const char *name = arguments->name ? arguments->name : arguments->file ? image->name : "";
    return *name ? name : name_of_this_run();
}

/* The library tells what is in the way. */
static bool
system_open(const run_arguments *arguments, med_image *image, run_options *options)
{
    medley_status_t status = arguments->file ? med_system_open_image(options->system_name, image)
                                             : med_system_open(options->system_name);
    if (status != MEDLEY_OK) {
        return false;
    }
    if (med_system_attach(options->system_name, &options->system) != MEDLEY_OK) {
        (void)med_system_close();
        return false;
    }
    return true;
}

static void
system_close(const run_options *options)
{
    med_system_release(options->system);
    (void)med_system_close();
}

/* ---- Recorded -------------------------------------------------------------------------------- */

/* Between two looks at it nobody writes so many. */
#define RECORDED_RING "262144"

/* Whoever creates the system, this command, has it keep a trace; its programs tell theirs. */
static void
trace_ask_for(void)
{
    const char *asked = getenv("MEDLEY_TRACE");
    if (!asked || !*asked || strcmp(asked, "0") == 0) {
        (void)setenv("MEDLEY_TRACE", RECORDED_RING, 1);
    }
}

/* Gives the status: where the run's own was good, of this. */
static int
recording_use(const med_command *command,
              const trace_wanted *wanted,
              const run_options *options,
              int status,
              json_t *report)
{
    json_t *summary = NULL;
    recording_end(options->recording);
    bool good = trace_write(command, wanted, options->system_name, options->recording, &summary);
    if (summary && !options->json) {
        trace_summary_print(summary);
    }
    if (summary && options->json && report) {
        (void)json_object_set(report, "trace", summary);
    }
    json_decref(summary);
    recording_forget(options->recording);
    return status == 0 && !good ? COMMAND_FAILED : status;
}

/* ---- The run --------------------------------------------------------------------------------- */

/* What the command line says of all programs. */
static void
plan_adapt(const run_arguments *arguments, run_plan *plan)
{
    for (unsigned i = 0; i < plan->program_count; i++) {
        run_program *program = &plan->programs[i];
        program->openmp = arguments->own_openmp ? RUN_OPENMP_OWN : program->openmp;
        program->output = arguments->plain ? RUN_OUTPUT_PLAIN : program->output;
        if (arguments->spread) {
            program->processors.binding = RUN_BINDING_SPREAD;
        }
    }
}

static bool
openmp_find(const med_command *command, const run_plan *plan, run_options *options)
{
    bool wanted = false;
    for (unsigned i = 0; i < plan->program_count; i++) {
        wanted |= plan->programs[i].openmp == RUN_OPENMP_MEDLEY;
    }
    options->openmp_paths = wanted ? run_openmp_paths(command) : NULL;
    return !wanted || options->openmp_paths;
}

static int
run_plan_in_system(const med_command *command,
                   run_options *options,
                   const run_plan *plan,
                   const trace_wanted *trace)
{
    static recording record;
    json_t *report = NULL;
    if (trace_is_wanted(trace) && recording_begin(&record, options->system, RECORDING_EVENTS)) {
        options->recording = &record;
    }
    int status = run_watch(command, plan, options, &report);
    if (options->recording) {
        status = recording_use(command, trace, options, status, report);
    }
    system_close(options);
    if (options->json && report) {
        output_json(report, false);
    } else {
        json_decref(report);
    }
    return status;
}

/* From the guard's start to its end. */
static int
run_guarded(const med_command *command,
            const run_arguments *arguments,
            med_image *image,
            const run_plan *plan,
            run_options *options)
{
    run_guard guard;
    options->system_name = system_name(arguments, image);
    if (!run_guard_begin(command, options->system_name, &guard)) {
        command_error(command, "no process can be started: %s", strerror(errno));
        return COMMAND_FAILED;
    }
    options->guard = guard.told;
    int status = system_open(arguments, image, options)
                     ? run_plan_in_system(command, options, plan, &arguments->trace)
                     : COMMAND_FAILED;
    run_guard_end(&guard);
    return status;
}

/* All that can be wrong with the file is told before anything is made. */
static int
run_programs(const med_command *command, const run_arguments *arguments)
{
    static run_plan plan;
    static med_image image; /* its name is the system's */
    run_options options = arguments->options;
    med_log_level_set(MED_LOG_ERROR);
    command_hear_library();
    if (!arguments->file) {
        if (!run_plan_of_words(command, arguments->words, arguments->count, &plan)) {
            return COMMAND_USAGE;
        }
    } else if (med_image_open(arguments->file, "there is no such file", &image) != MEDLEY_OK ||
               !run_plan_of_file(command, arguments->file, &plan)) {
        return COMMAND_FAILED;
    }
    plan_adapt(arguments, &plan);
    if (!trace_may_write(command, &arguments->trace)) {
        return COMMAND_FAILED;
    }
    if (!run_watch_hear(&options)) {
        command_error(command, "no descriptor");
        return COMMAND_FAILED;
    }
    if (trace_is_wanted(&arguments->trace)) {
        trace_ask_for();
    }
    int status = openmp_find(command, &plan, &options)
                     ? run_guarded(command, arguments, &image, &plan, &options)
                     : COMMAND_FAILED;
    med_image_close(&image);
    return status;
}

int
run_recorded(const med_command *command, char **words, const trace_wanted *wanted, bool json)
{
    const run_arguments arguments = {
        .words = words, .count = 1, .plain = true, .trace = *wanted, .options = {.json = json}};
    return run_programs(command, &arguments);
}

/* ---- The command ----------------------------------------------------------------------------- */

static int
run_as_told(const med_command *command, run_arguments *arguments)
{
    if ((arguments->file != NULL) == (*arguments->words != NULL)) {
        return command_usage_error(command, "want a program, or --file");
    }
    if (arguments->file && arguments->counted) {
        return command_usage_error(command, "-n is for a program: in a file it is 'count'");
    }
    if (arguments->name && !*arguments->name) {
        return command_usage_error(command, "--name names no system");
    }
    const char *writer = arguments->options.json ? "--json" : "the program";
    if (trace_standard_output_check(command, &arguments->trace, writer) != COMMAND_OK) {
        return COMMAND_USAGE;
    }
    const run_launcher *launcher = run_launched();
    if (!launcher) {
        return run_programs(command, arguments);
    }
    if (arguments->file || trace_is_wanted(&arguments->trace)) {
        return command_usage_error(command,
                                   "%s starts the programs here: give one, no --file, no --trace",
                                   launcher->name);
    }
    return run_join(command, launcher, arguments->name, arguments->words, !arguments->own_openmp);
}

static const struct option known[] = {COMMAND_OPTIONS,
                                      {"file", required_argument, NULL, 'f'},
                                      {"name", required_argument, NULL, 'N'},
                                      {"spread", no_argument, NULL, 's'},
                                      {"own-openmp", no_argument, NULL, 'o'},
                                      {"plain", no_argument, NULL, 'p'},
                                      {"keep-going", no_argument, NULL, 'k'},
                                      {"trace-svg", required_argument, NULL, TRACE_SVG},
                                      {"trace-chrome", required_argument, NULL, TRACE_CHROME},
                                      {"trace-ctf", required_argument, NULL, TRACE_CTF},
                                      {"trace-summary", no_argument, NULL, TRACE_SUMMARY},
                                      {"verbose", no_argument, NULL, 'v'},
                                      {NULL, 0, NULL, 0}};

static int
run(const med_command *command, int argc, char **argv)
{
    run_arguments arguments = {.count = 1};
    int option;
    char *end;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "+" COMMAND_SHORT_OPTIONS "n:", known, NULL)) != -1) {
        switch (option) {
        case 'n':
            arguments.counted = true;
            if (!mapping_number_read(optarg, &end, &arguments.count) || *end) {
                arguments.count = 0;
            }
            break;
        case 'f':
            arguments.file = optarg;
            break;
        case 'N':
            arguments.name = optarg;
            break;
        case 's':
            arguments.spread = true;
            break;
        case 'o':
            arguments.own_openmp = true;
            break;
        case 'p':
            arguments.plain = true;
            break;
        case 'k':
            arguments.options.keeps_going = true;
            break;
        case 'v':
            arguments.options.tells = true;
            break;
        case 'j':
            arguments.options.json = true;
            break;
        default:
            if (!trace_option_take(&arguments.trace, option, optarg)) {
                return command_other_option(command, option, argv);
            }
        }
    }
    arguments.words = argv + optind;
    return run_as_told(command, &arguments);
}

const med_command command_run_programs = {
    .name = "run",
    .summary = "runs programs as one system, and watches them",
    .help = help,
    .runs_program = true,
    .run = command_run,
    .body = run,
};
