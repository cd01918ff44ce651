/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The variables of the environment, as they were taken: the values that a program starts with. */
#include "omp/display.h"

#include <string.h>

#include "base/text.h"
#include "omp/allocator.h"
#include "omp/icv.h"
#include "omp/places.h"
#include "omp/waiting.h"
#include "port/port.h"

static void
show(const char *name, const med_text *value)
{
    med_text line = {.length = 0};
    med_text_string(&line, "  ");
    med_text_string(&line, name);
    med_text_string(&line, " = '");
    med_text_string(&line, value->bytes);
    med_text_string(&line, "'");
    med_port_log(line.bytes);
}

static void
show_string(const char *name, const char *value)
{
    med_text text = {.length = 0};
    med_text_string(&text, value);
    show(name, &text);
}

static void
show_number(const char *name, uint64_t value)
{
    med_text text = {.length = 0};
    med_text_number(&text, value);
    show(name, &text);
}

static void
show_truth(const char *name, bool value)
{
    show_string(name, value ? "TRUE" : "FALSE");
}

/* Numbers, or names where there are some, with commas between them. */
static void
show_list(const char *name, const uint32_t *list, uint32_t count, const char *const *names)
{
    med_text text = {.length = 0};
    for (uint32_t i = 0; i < count; i++) {
        med_text_string(&text, i ? "," : "");
        if (names) {
            med_text_string(&text, names[list[i]]);
        } else {
            med_text_number(&text, list[i]);
        }
    }
    show(name, &text);
}

static void
show_schedule(const med_icv *icv)
{
    static const char *const kinds[] = {"",     "STATIC", "DYNAMIC",  "GUIDED",
                                        "AUTO", "STEAL",  "HETPROBE", "HETPROBE-I"};
    med_text text = {.length = 0};
    med_text_string(&text, icv->schedule & MED_SCHEDULE_MONOTONIC ? "MONOTONIC:" : "");
    med_text_string(&text, kinds[icv->schedule & ~MED_SCHEDULE_MONOTONIC]);
    if (icv->chunk > 1) {
        med_text_string(&text, ",");
        med_text_number(&text, icv->chunk);
    }
    show("OMP_SCHEDULE", &text);
}

/* As long as it fits on a line. */
static void
show_places(const med_places *places)
{
    med_text text = {.length = 0};
    for (uint32_t i = 0; i < places->count; i++) {
        const med_processor_set *place = &places->list[i];
        const char *before = i ? ",{" : "{";
        MED_PROCESSOR_SET_EACH(j, place) {
            med_text_string(&text, before);
            med_text_number(&text, j);
            before = ",";
        }
        med_text_string(&text, "}");
    }
    show("OMP_PLACES", &text);
}

static void
show_tasks_own(const med_settings *settings)
{
    static const char *const binds[] = {"FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"};
    const med_icv *icv = &settings->initial;
    show_truth("OMP_DYNAMIC", icv->dynamic);
    show_truth("OMP_NESTED", icv->active_levels_max > 1);
    if (settings->threads_listed) {
        show_list("OMP_NUM_THREADS", settings->threads_list, settings->threads_listed, NULL);
    } else {
        show_number("OMP_NUM_THREADS", icv->threads);
    }
    show_schedule(icv);
    if (settings->binds_listed) {
        show_list("OMP_PROC_BIND", settings->bind_list, settings->binds_listed, binds);
    } else {
        show_string("OMP_PROC_BIND", binds[icv->bind]);
    }
    show_places(&settings->places);
    show_number("OMP_THREAD_LIMIT", icv->thread_limit);
    show_number("OMP_MAX_ACTIVE_LEVELS", icv->active_levels_max);
    show_number("OMP_DEFAULT_DEVICE", (uint64_t)icv->device);
}

static void
show_programs_own(const med_settings *settings)
{
    static const char *const offloads[] = {"DEFAULT", "MANDATORY", "DISABLED"};
    show_number("OMP_STACKSIZE", settings->stack_size_bytes);
    show_number("OMP_NUM_TEAMS", settings->teams_max);
    show_number("OMP_TEAMS_THREAD_LIMIT", settings->teams_thread_limit);
    show_truth("OMP_CANCELLATION", settings->cancellation);
    show_number("OMP_MAX_TASK_PRIORITY", (uint64_t)settings->task_priority_max);
    show_truth("OMP_DISPLAY_AFFINITY", settings->initial.shown);
    show_string("OMP_AFFINITY_FORMAT", settings->affinity_format);
    show_string("OMP_WAIT_POLICY",
                med_waiting_is_active(settings->initial.waits) ? "ACTIVE" : "PASSIVE");
    show_string("OMP_ALLOCATOR", settings->allocator_said
                                     ? settings->allocator_said
                                     : med_allocator_names[0]); /* the default one */
    show_string("OMP_TARGET_OFFLOAD", offloads[settings->offload]);
}

static void
show_tools(const med_settings *settings)
{
    show_string("OMP_DEBUG", "DISABLED");
    show_string("OMP_TOOL", settings->tool ? "ENABLED" : "DISABLED");
    show_string("OMP_TOOL_LIBRARIES", settings->tool_libraries ? settings->tool_libraries : "");
    show_string("OMP_TOOL_VERBOSE_INIT",
                settings->tool_verbose ? settings->tool_verbose : "DISABLED");
}

static bool
is_of_the_standard(const char *name)
{
    return strncmp(name, "OMP_", 4) == 0 && strcmp(name, "OMP_HET_PTG") != 0;
}

/* Those that are set, and were taken, as they stand there. */
static void
show_others(const med_settings *settings)
{
    const char *name;
    for (uint32_t i = 0; (name = med_settings_variable(i)) != NULL; i++) {
        const char *value = med_port_environment(name);
        if (value && med_settings_is_taken(settings, i) && !is_of_the_standard(name)) {
            show_string(name, value);
        }
    }
}

void
med_display_environment(bool verbose)
{
    const med_settings *settings = med_settings_get();
    med_port_log("\nOPENMP DISPLAY ENVIRONMENT BEGIN");
    show_string("_OPENMP", "201511"); /* what gcc's compilers say of themselves */
    show_tasks_own(settings);
    show_programs_own(settings);
    show_tools(settings);
    if (verbose) {
        show_others(settings);
        show_number("processors", settings->processors); /* no variable */
        if (settings->initial.waits) {
            show_number("waiting_ns", settings->initial.waits->most_ns); /* nor that */
        }
    }
    med_port_log("OPENMP DISPLAY ENVIRONMENT END");
}
