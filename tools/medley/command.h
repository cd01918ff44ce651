/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The subcommands of `medley`, and what they have in common: how options are read, how errors are
 * told, what the process's exit status means.
 */
#ifndef MEDLEY_TOOLS_COMMAND_H
#define MEDLEY_TOOLS_COMMAND_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

enum command_exit {
    COMMAND_OK,
    COMMAND_FAILED, /* standard error says what, and what to do */
    COMMAND_USAGE,  /* it was called wrongly */
};

typedef struct med_command {
    const char *name;
    const char *summary; /* for the list of commands */
    const char *help;    /* for --help, whole */
    bool runs_program;   /* what stands behind its name is the program's */
    int (*run)(const struct med_command *command, int argc, char **argv); /* gives a command_exit */
    int (*body)(const struct med_command *command, int argc, char **argv); /* what it does itself */
} med_command;

extern const med_command command_explain;
extern const med_command command_info;
extern const med_command command_model;
extern const med_command command_ps;
extern const med_command command_run_programs;
extern const med_command command_stress;
extern const med_command command_system;
extern const med_command command_top;
extern const med_command command_trace;

/* The `run` of every command: its body; with --json there is a document, come what may:
 * {"error": "..."} when the body had none. */
int command_run(const med_command *command, int argc, char **argv);

/* Every command takes these. */
#define COMMAND_OPTIONS                                                                            \
    {"help", no_argument, NULL, 'h'},                                                              \
    {                                                                                              \
        "json", no_argument, NULL, 'j'                                                             \
    }
/* The getopt string: only long options beside -h; a missing argument is told by ':'. */
#define COMMAND_SHORT_OPTIONS ":h"

/* "medley <name>: <message>" on standard error. */
void command_error(const med_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, and how to learn more. Returns COMMAND_USAGE. */
int command_usage_error(const med_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* From now on what the library tells counts as told. */
void command_hear_library(void);
/* A line of the library without its "medley: ". */
const char *command_library_words(const char *line);
/* What was told so far, or "". */
const char *command_errors(void);
/* The path of what Medley brings, which is told as seen from the command's own folder. False: it is
 * not there, or may not be read. */
bool command_brought(const char *from_command, char *path, size_t size);
/* "2.5", from 0.01 to a day. */
bool command_seconds_read(const char *text, double *seconds);
#define COMMAND_SECONDS_WANTED "want seconds, from 0.01 to 86400"
/* Handles what a command's own switch does not: help, and wrong options. Returns the exit status.
 */
int command_other_option(const med_command *command, int option, char **argv);

#endif
