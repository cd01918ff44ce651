/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* medley stress: the lock-free MCAPI paper's stress, over a deployment that a file describes. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/medley/command.h"
#include "tools/medley/deployment.h"
#include "tools/medley/mapping.h"
#include "tools/medley/output.h"
#include "tools/medley/stress_crew.h"
#include "tools/medley/stress_report.h"

static const char help[] =
    "usage: medley stress TOPOLOGY [--threads | --processes] [--affinity WHERE] [--count N]\n"
    "                     [--json]\n"
    "\n"
    "Runs the nodes and channels of a topology, a file or one of one-way, ring, star, mesh,\n"
    "pipeline and mixed, which Medley brings: on every channel go transactions, numbered\n"
    "from 1; who receives checks the numbers and the contents. Shows how many went in a\n"
    "second, how long each was under way, and how often a node tried in vain.\n"
    "\n"
    "  --threads         all nodes are threads of one process, whatever the file says\n"
    "  --processes       each node is a process\n"
    "  --affinity WHERE  free: on any processor; one: all on one; spread: each on the next\n"
    "  --count N         transactions on each channel\n"
    "  --json            one JSON document\n"
    "  -h, --help        this text\n";

typedef struct stress_options {
    bool json;
    int run;      /* deployment_run; -1: as the file says */
    int affinity; /* deployment_affinity; -1 likewise */
    unsigned count;
} stress_options;

static void
apply(const stress_options *options, deployment *d)
{
    for (uint32_t i = 1; i <= d->node_count; i++) {
        d->nodes[i].run = options->run >= 0 ? (uint32_t)options->run : d->nodes[i].run;
        d->nodes[i].affinity =
            options->affinity >= 0 ? (uint32_t)options->affinity : d->nodes[i].affinity;
    }
    for (uint32_t i = 0; i < d->channel_count; i++) {
        d->channels[i].count = options->count ? options->count : d->channels[i].count;
    }
}

/* The text is told already. */
static void
failure_show(const stress_options *options, json_t *failed)
{
    if (options->json) {
        output_json(json_pack("{s:o}", "failed", failed), false);
    } else {
        json_decref(failed);
    }
}

static int
stress(const med_command *command, const stress_options *options, const char *name)
{
    static deployment d;
    if (!deployment_read(command, name, &d)) {
        return COMMAND_FAILED;
    }
    apply(options, &d);
    stress_shared *shared = stress_shared_make(&d);
    if (!shared) {
        command_error(command, "no memory");
        return COMMAND_FAILED;
    }
    json_t *failed = json_array();
    if (!stress_crew_run(command, &d, shared, failed)) {
        failure_show(options, failed);
        return COMMAND_FAILED;
    }
    json_decref(failed);
    json_t *report = stress_report_make(&d, shared);
    if (!report) {
        command_error(command, "no memory");
        return COMMAND_FAILED;
    }
    if (options->json) {
        output_json(json_pack("{s:o}", "stress", report), false);
    } else {
        stress_report_print(report);
        json_decref(report);
    }
    return COMMAND_OK;
}

static bool
count_read(const char *text, unsigned *count)
{
    char *end;
    long number = strtol(text, &end, 10);
    *count = (unsigned)number;
    return end != text && !*end && number >= 1 && number <= (long)DEPLOYMENT_COUNT_MAX;
}

/* One of the command's own. COMMAND_OK, or what it ends with. */
static int
option_take(const med_command *command, int option, stress_options *options)
{
    char wanted[64];
    switch (option) {
    case 'j':
        options->json = true;
        return COMMAND_OK;
    case 't':
    case 'p':
        if (options->run >= 0) {
            return command_usage_error(command, "want one of --threads and --processes");
        }
        options->run = option == 't' ? DEPLOYMENT_THREADS : DEPLOYMENT_PROCESSES;
        return COMMAND_OK;
    case 'a':
        options->affinity = mapping_choice(deployment_affinity_names, optarg);
        mapping_choices_write(deployment_affinity_names, wanted, sizeof wanted);
        return options->affinity >= 0
                   ? COMMAND_OK
                   : command_usage_error(command, "--affinity '%s': want %s", optarg, wanted);
    default:
        return count_read(optarg, &options->count)
                   ? COMMAND_OK
                   : command_usage_error(command, "--count '%s': want a number from 1 to %u",
                                         optarg, DEPLOYMENT_COUNT_MAX);
    }
}

static int
run(const med_command *command, int argc, char **argv)
{
    static const struct option known[] = {
        COMMAND_OPTIONS,
        {"threads", no_argument, NULL, 't'},
        {"processes", no_argument, NULL, 'p'},
        {"affinity", required_argument, NULL, 'a'},
        {"count", required_argument, NULL, 'n'},
        {NULL, 0, NULL, 0},
    };
    stress_options options = {.run = -1, .affinity = -1};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, COMMAND_SHORT_OPTIONS, known, NULL)) != -1) {
        if (option == 'h' || option == ':' || option == '?') {
            return command_other_option(command, option, argv);
        }
        int result = option_take(command, option, &options);
        if (result != COMMAND_OK) {
            return result;
        }
    }
    if (argc - optind != 1) {
        return command_usage_error(command, "want one topology");
    }
    return stress(command, &options, argv[optind]);
}

const med_command command_stress = {
    .name = "stress",
    .summary = "MCAPI under load: nodes and channels of a file",
    .help = help,
    .run = command_run,
    .body = run,
};
