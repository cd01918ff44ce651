/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One thing after the other; what cannot be written is told, and the rest is written. */
#include "tools/medley/trace_write.h"

#include <errno.h>
#include <string.h>

#include "tools/medley/output_file.h"

bool
trace_option_take(trace_wanted *wanted, int option, const char *argument)
{
    switch (option) {
    case TRACE_CHROME:
        wanted->chrome = argument;
        return true;
    case TRACE_CTF:
        wanted->ctf = argument;
        return true;
    case TRACE_SVG:
        wanted->svg = argument;
        return true;
    case TRACE_SUMMARY:
        wanted->summary = true;
        return true;
    default:
        return false;
    }
}

static bool
is_standard_output(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

int
trace_standard_output_check(const med_command *command,
                            const trace_wanted *wanted,
                            const char *writer)
{
    bool svg = is_standard_output(wanted->svg), chrome = is_standard_output(wanted->chrome);
    if (!writer) {
        writer = wanted->summary ? "--summary" : svg && chrome ? "--chrome" : NULL;
    }
    if (is_standard_output(wanted->ctf)) {
        return command_usage_error(command, "CTF is a folder: want one instead of '-'");
    }
    if ((svg || chrome) && writer) {
        return command_usage_error(
            command, "%s writes to standard output: want a file instead of '-'", writer);
    }
    return COMMAND_OK;
}

static bool
may_told(const med_command *command, bool may, const char *path)
{
    if (!may) {
        command_error(command, "'%s' cannot be written: %s", path, strerror(errno));
    }
    return may;
}

bool
trace_may_write(const med_command *command, const trace_wanted *wanted)
{
    const char *const files[] = {wanted->chrome, wanted->svg};
    bool good = true;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        good &= !files[i] || may_told(command, output_file_may_write(files[i]), files[i]);
    }
    return good &&
           (!wanted->ctf || may_told(command, trace_ctf_may_write(wanted->ctf), wanted->ctf));
}

static bool
told(const med_command *command, bool written, const char *path)
{
    if (!written) {
        command_error(command, "%s could not be written: %s", path,
                      errno ? strerror(errno) : "no memory");
    }
    return written;
}

static bool
files_write(const med_command *command,
            const trace_wanted *wanted,
            const char *system_name,
            const recording *r,
            const timeline *t)
{
    bool good = true;
    errno = 0;
    if (wanted->chrome) {
        good = told(command, trace_chrome_write(wanted->chrome, system_name, t), wanted->chrome);
    }
    if (wanted->ctf) {
        good &= told(command, trace_ctf_write(wanted->ctf, system_name, r), wanted->ctf);
    }
    if (wanted->svg) {
        good &= told(command, trace_svg_write(wanted->svg, system_name, t, r->lost), wanted->svg);
    }
    return good;
}

bool
trace_write(const med_command *command,
            const trace_wanted *wanted,
            const char *system_name,
            recording *r,
            json_t **summary)
{
    timeline t;
    *summary = NULL;
    if (!timeline_make(&t, r)) {
        command_error(command, "no memory for the timeline");
        return false;
    }
    bool good = files_write(command, wanted, system_name, r, &t);
    if (wanted->summary) {
        *summary = trace_summary(system_name, r, &t);
    }
    if (r->lost) {
        command_error(command,
                      "%llu events were lost: overwritten before they were read, or more than "
                      "%zu; MEDLEY_TRACE=EVENTS makes more room",
                      (unsigned long long)r->lost, r->most);
    }
    timeline_forget(&t);
    return good;
}
