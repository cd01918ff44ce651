/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where a tool is: in the program, or in a library that is there already, as the linker finds the
 * name; else in the first of the libraries of OMP_TOOL_LIBRARIES that has one which wants to be
 * active. OMP_TOOL_VERBOSE_INIT has it said what was looked at.
 */
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "mrapi/heap_lent.h"
#include "omp/icv.h"
#include "omp/ompt_inner.h"
#include "port/port.h"

#define OPENMP_DATE 201811u /* OpenMP 5.0 */
#define RUNTIME "Medley OpenMP"

typedef ompt_start_tool_result_t *(*starter)(unsigned int version, const char *runtime);

/* The program's, or of a library that was loaded before; else NULL. */
extern __attribute__((weak, visibility("default"))) ompt_start_tool_result_t *
ompt_start_tool(unsigned int omp_version, const char *runtime_version);

/* ---- What is said ---------------------------------------------------------------------------- */

/* Both NULL: that was all. */
void
med_ompt_tool_say(const char *line, const char *more)
{
    const char *where = med_settings_get()->tool_verbose;
    med_text text = {.length = 0};
    static bool failed; /* one thread looks for a tool */
    if (!where || failed || (!line && !med_settings_get()->tool)) {
        return;
    }
    med_text_string(&text, line ? line : "----- END LOGGING OF TOOL REGISTRATION -----");
    if (more) {
        med_text_string(&text, more);
    }
    failed = med_port_write_line(where, text.bytes) != MEDLEY_OK;
    if (failed) {
        med_log_ignored("OMP_TOOL_VERBOSE_INIT", where,
                        "it is disabled, stdout, stderr or a file that can be written");
    }
}

/* ---- Found ----------------------------------------------------------------------------------- */

static ompt_start_tool_result_t *
ask(starter start)
{
    ompt_start_tool_result_t *tool = start(OPENMP_DATE, RUNTIME);
    med_ompt_tool_say(tool ? "  ompt_start_tool: there is a tool."
                           : "  ompt_start_tool: it does not want to be active.",
                      NULL);
    return tool;
}

static ompt_start_tool_result_t *
find_in_library(const char *path)
{
    char why[MED_PORT_WHY_BYTES];
    void *found;
    med_ompt_tool_say("Opening ", path);
    if (med_port_library_open(path, "ompt_start_tool", &found, why) != MEDLEY_OK) {
        med_ompt_tool_say("  Failed: ", why);
        return NULL;
    }
    return ask((starter)found);
}

#define SEPARATOR ':'

static ompt_start_tool_result_t *
find_in_list(const char *list)
{
    size_t length = strlen(list);
    char *copy = med_heap_lend(length + 1);
    ompt_start_tool_result_t *tool = NULL;
    for (size_t first = 0, at = 0; copy && !tool && at <= length; at++) {
        bool is_end = at == length || list[at] == SEPARATOR;
        copy[at] = list[at];
        if (is_end) {
            copy[at] = '\0';
        }
        if (is_end && at > first) {
            tool = find_in_library(copy + first);
        }
        first = is_end ? at + 1 : first;
    }
    med_heap_take_back(copy);
    return tool;
}

/* Asked here, so that who asks for no trace touches none of its tool. */
static ompt_start_tool_result_t *
own_tool(void)
{
    return med_port_environment("MEDLEY_TRACE") ? med_ompt_traced_tool() : NULL;
}

ompt_start_tool_result_t *
med_ompt_tool_find(void)
{
    const med_settings *settings = med_settings_get();
    ompt_start_tool_result_t *tool = NULL;
    if (!settings->tool) {
        return own_tool();
    }
    med_ompt_tool_say("----- START LOGGING OF TOOL REGISTRATION -----", NULL);
    med_ompt_tool_say("Looking in the program and its libraries", NULL);
    if (ompt_start_tool) {
        tool = ask(ompt_start_tool);
    } else {
        med_ompt_tool_say("  There is no ompt_start_tool.", NULL);
    }
    if (!tool && settings->tool_libraries) {
        med_ompt_tool_say("OMP_TOOL_LIBRARIES = ", settings->tool_libraries);
        tool = find_in_list(settings->tool_libraries);
    }
    return tool ? tool : own_tool();
}
