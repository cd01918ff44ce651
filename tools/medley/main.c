/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* medley: one command, a table of subcommands. */
#include <stdio.h>
#include <string.h>

#include "medley/medley.h"
#include "tools/medley/command.h"

static const med_command *const commands[] = {
    &command_explain, &command_info,   &command_model, &command_ps,   &command_run_programs,
    &command_stress,  &command_system, &command_top,   &command_trace};
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static void
usage_print(FILE *to)
{
    (void)fprintf(to, "usage: medley COMMAND [OPTION...] [ARGUMENT...]\n"
                      "       medley help [COMMAND]\n"
                      "       medley --version\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        (void)fprintf(to, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    }
    (void)fprintf(to, "\nEach command knows --help and --json.\n");
}

static const med_command *
command_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    (void)fprintf(stderr, "medley: no command '%s'; 'medley help' lists those there are\n", name);
    return NULL;
}

static int
help(const char *name)
{
    if (!name) {
        usage_print(stdout);
        return COMMAND_OK;
    }
    const med_command *found = command_find(name);
    if (!found) {
        return COMMAND_USAGE;
    }
    (void)fputs(found->help, stdout);
    return COMMAND_OK;
}

static int
run(int argc, char **argv)
{
    if (argc < 2) {
        usage_print(stderr);
        return COMMAND_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0) {
        (void)printf("medley %s\n", medley_version());
        return COMMAND_OK;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        return help(NULL);
    }
    if (strcmp(name, "help") == 0) {
        return help(argc > 2 ? argv[2] : NULL);
    }
    const med_command *found = command_find(name);
    return found ? found->run(found, argc - 1, argv + 1) : COMMAND_USAGE;
}

int
main(int argc, char **argv)
{
    int status = run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("medley: cannot write the output");
        return COMMAND_FAILED;
    }
    return status;
}
