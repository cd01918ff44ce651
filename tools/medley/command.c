/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Errors are told as they come, and kept, those of the library too: a JSON document names them. */
#include "tools/medley/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "tools/medley/output.h"

static char errors[1024]; /* cut off there */

static void __attribute__((format(printf, 1, 0))) error_keep(const char *format, va_list arguments)
{
    size_t length = strlen(errors);
    if (length > 0 && length + 2 < sizeof errors) {
        memcpy(errors + length, "; ", 3);
        length += 2;
    }
    (void)vsnprintf(errors + length, sizeof errors - length, format, arguments);
}

static void __attribute__((format(printf, 1, 2))) library_line_keep(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_keep(format, arguments);
    va_end(arguments);
}

const char *
command_library_words(const char *line)
{
    static const char prefix[] = "medley: ";
    bool has = strncmp(line, prefix, sizeof prefix - 1) == 0;
    return has ? line + sizeof prefix - 1 : line;
}

static bool
library_line(const char *line)
{
    library_line_keep("%s", command_library_words(line));
    return false;
}

void
command_hear_library(void)
{
    med_log_hear(library_line);
}

const char *
command_errors(void)
{
    return errors;
}

static void
error_line(const med_command *command, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    error_keep(format, again);
    va_end(again);
    (void)fflush(stdout);
    (void)fprintf(stderr, "medley %s: ", command->name);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
}

void
command_error(const med_command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_line(command, format, arguments);
    va_end(arguments);
}

int
command_usage_error(const med_command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_line(command, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "'medley %s --help' says how it is used\n", command->name);
    return COMMAND_USAGE;
}

/* Before the options are read: one of them may be what is wrong. */
static bool
is_among(const med_command *command, char **argv, const char *option)
{
    for (argv++; *argv && strcmp(*argv, "--") != 0; argv++) {
        if (command->runs_program && **argv != '-') {
            return false;
        }
        if (strcmp(*argv, option) == 0) {
            return true;
        }
    }
    return false;
}

/* A program goes on in the usual folder, with a warning; a command would show, or remove, what is
 * not meant. */
static bool
folder_is_clear(const med_command *command)
{
    const char *folder = getenv("MEDLEY_SHM_DIR");
    if (!folder || !*folder || *folder == '/') {
        return true;
    }
    command_error(command, "MEDLEY_SHM_DIR is '%s': want a path from the root", folder);
    return false;
}

int
command_run(const med_command *command, int argc, char **argv)
{
    bool json = is_among(command, argv, "--json");
    bool help = is_among(command, argv, "--help") || is_among(command, argv, "-h");
    int result =
        help || folder_is_clear(command) ? command->body(command, argc, argv) : COMMAND_FAILED;
    if (json && result != COMMAND_OK && !output_json_given()) {
        output_json(json_object(), false);
    }
    return result;
}

bool
command_brought(const char *from_command, char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0) {
        return false;
    }
    path[length] = '\0';
    char *rest = strrchr(path, '/') + 1;
    size_t room = size - (size_t)(rest - path);
    return snprintf(rest, room, "%s", from_command) < (int)room && access(path, R_OK) == 0;
}

bool
command_seconds_read(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    return end != text && !*end && *seconds >= 0.01 && *seconds <= 86400;
}

int
command_other_option(const med_command *command, int option, char **argv)
{
    if (option == 'h') {
        (void)fputs(command->help, stdout);
        return COMMAND_OK;
    }
    const char *given = argv[optind - 1];
    return option == ':' ? command_usage_error(command, "option '%s' needs a value", given)
                         : command_usage_error(command, "unknown option '%s'", given);
}
