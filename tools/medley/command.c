/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tools/medley/command.h"

#include <stdarg.h>
#include <stdio.h>

static void
error_line(const med_command *command, const char *format, va_list arguments)
{
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
