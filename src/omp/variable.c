/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Variables of the environment: what each says, into the settings. */
#include "omp/variable.h"

#include "base/log.h"
#include "base/text.h"
#include "omp/allocator.h"
#include "omp/display.h"
#include "omp/explain.h"
#include "omp/places.h"
#include "omp/work.h"

/* ---- One variable each ----------------------------------------------------------------------- */

static bool
count_read(med_value value, uint32_t least, uint32_t most, uint32_t *count)
{
    uint64_t number;
    if (!med_value_number(&value, least, most, &number) || !med_value_end(&value)) {
        return false;
    }
    *count = (uint32_t)number;
    return true;
}

bool
med_variable_threads(med_settings *settings, med_value value)
{
    uint64_t number;
    settings->threads_listed = 0;
    do {
        if (!med_value_number(&value, 1, INT32_MAX, &number)) {
            return false;
        }
        if (settings->threads_listed < MED_THREADS_LIST) {
            settings->threads_list[settings->threads_listed++] = (uint32_t)number;
        }
    } while (med_value_mark(&value, ','));
    settings->initial.threads = settings->threads_list[0];
    return med_value_end(&value);
}

bool
med_variable_dynamic(med_settings *settings, med_value value)
{
    return med_value_truth(&value, &settings->initial.dynamic) && med_value_end(&value);
}

bool
med_variable_nested(med_settings *settings, med_value value)
{
    bool nested;
    if (!med_value_truth(&value, &nested) || !med_value_end(&value)) {
        return false;
    }
    settings->initial.active_levels_max = nested ? MED_LEVELS_MAX : 1;
    return true;
}

bool
med_variable_levels(med_settings *settings, med_value value)
{
    uint32_t levels;
    if (!count_read(value, 0, UINT32_MAX, &levels)) {
        return false;
    }
    settings->initial.active_levels_max = levels < MED_LEVELS_MAX ? levels : MED_LEVELS_MAX;
    return true;
}

bool
med_variable_limit(med_settings *settings, med_value value)
{
    return count_read(value, 1, UINT32_MAX, &settings->initial.thread_limit);
}

static bool
kind_read(med_value value, uint32_t *schedule, uint64_t *schedule_chunk)
{
    static const char *const names[] = {"static", "dynamic",  "guided",    "auto",
                                        "steal",  "hetprobe", "hetprobe-i"};
    uint32_t modifier;
    uint32_t kind;
    uint64_t chunk = 0;
    bool monotonic = med_value_is(&value, "monotonic");
    if ((monotonic || med_value_is(&value, "nonmonotonic")) && !med_value_mark(&value, ':')) {
        return false;
    }
    modifier = monotonic ? MED_SCHEDULE_MONOTONIC : 0;
    if (!med_value_one_of(&value, names, sizeof names / sizeof names[0], &kind)) {
        return false;
    }
    if (med_value_mark(&value, ',') && !med_value_number(&value, 1, INT32_MAX, &chunk)) {
        return false;
    }
    kind += MED_SCHEDULE_STATIC;
    *schedule = kind | modifier;
    *schedule_chunk = kind == MED_SCHEDULE_AUTO ? 0
                      : chunk                   ? chunk
                                                : med_schedule_chunk_unsaid(kind);
    return med_value_end(&value);
}

bool
med_variable_schedule(med_settings *settings, med_value value)
{
    return kind_read(value, &settings->initial.schedule, &settings->initial.chunk);
}

bool
med_variable_imposed(med_settings *settings, med_value value)
{
    settings->uneven.imposes = true;
    return kind_read(value, &settings->uneven.kind, &settings->uneven.chunk);
}

/* Linux starts no thread with less. */
#define STACK_LEAST 16384u

static bool
stack_of_unit_read(med_settings *settings, med_value value, uint64_t unit_bytes)
{
    uint64_t bytes;
    if (!med_value_size(&value, unit_bytes, &bytes) || !med_value_end(&value) ||
        bytes < STACK_LEAST) {
        return false;
    }
    settings->stack_size_bytes = bytes;
    return true;
}

bool
med_variable_stack(med_settings *settings, med_value value)
{
    return stack_of_unit_read(settings, value, 1024);
}

/* As LLVM's library has it. */
bool
med_variable_stack_in_bytes(med_settings *settings, med_value value)
{
    return stack_of_unit_read(settings, value, 1);
}

bool
med_variable_teams(med_settings *settings, med_value value)
{
    return count_read(value, 1, INT32_MAX, &settings->teams_max);
}

bool
med_variable_teams_limit(med_settings *settings, med_value value)
{
    return count_read(value, 1, INT32_MAX, &settings->teams_thread_limit);
}

bool
med_variable_device(med_settings *settings, med_value value)
{
    uint32_t device;
    if (!count_read(value, 0, INT32_MAX, &device)) {
        return false;
    }
    settings->initial.device = (int32_t)device;
    return true;
}

bool
med_variable_offload(med_settings *settings, med_value value)
{
    static const char *const names[] = {"default", "mandatory", "disabled"};
    uint32_t found;
    if (!med_value_one_of(&value, names, 3, &found) || !med_value_end(&value)) {
        return false;
    }
    settings->offload = (med_offload)found;
    return true;
}

bool
med_variable_cancellation(med_settings *settings, med_value value)
{
    return med_value_truth(&value, &settings->cancellation) && med_value_end(&value);
}

bool
med_variable_float_control(med_settings *settings, med_value value)
{
    return med_value_truth(&value, &settings->inherits_float_control) && med_value_end(&value);
}

bool
med_variable_priority(med_settings *settings, med_value value)
{
    uint32_t most;
    if (!count_read(value, 0, INT32_MAX, &most)) {
        return false;
    }
    settings->task_priority_max = (int32_t)most;
    return true;
}

bool
med_variable_allocator(med_settings *settings, med_value value)
{
    settings->allocator_said = value.at;
    settings->initial.allocator = med_allocator_read(&value);
    return settings->initial.allocator != MED_ALLOCATOR_NULL;
}

/* ---- Shown ----------------------------------------------------------------------------------- */

bool
med_variable_show_affinity(med_settings *settings, med_value value)
{
    return med_value_truth(&value, &settings->initial.shown) && med_value_end(&value);
}

bool
med_variable_format(med_settings *settings, med_value value)
{
    settings->affinity_format = value.at;
    return true;
}

bool
med_variable_show_environment(med_settings *settings, med_value value)
{
    settings->display_verbose = med_value_is(&value, "verbose");
    return (settings->display_verbose || med_value_truth(&value, &settings->display_environment)) &&
           med_value_end(&value);
}

/* ---- Tools ----------------------------------------------------------------------------------- */

bool
med_variable_tool(med_settings *settings, med_value value)
{
    static const char *const names[] = {"disabled", "enabled"};
    uint32_t found;
    if (!med_value_one_of(&value, names, 2, &found) || !med_value_end(&value)) {
        return false;
    }
    settings->tool = found == 1;
    return true;
}

bool
med_variable_debug(med_settings *settings, med_value value)
{
    (void)settings;
    return med_value_is(&value, "disabled") && med_value_end(&value);
}

bool
med_variable_tool_libraries(med_settings *settings, med_value value)
{
    settings->tool_libraries = value.at;
    return !med_value_end(&value);
}

bool
med_variable_tool_verbose(med_settings *settings, med_value value)
{
    med_value rest = value;
    bool is_off = med_value_is(&rest, "disabled") && med_value_end(&rest);
    settings->tool_verbose = is_off ? NULL : value.at;
    return is_off || !med_value_end(&value);
}

bool
med_variable_explain(med_settings *settings, med_value value)
{
    settings->explain = value.at;
    return !med_value_end(&value);
}

/* ---- Places ---------------------------------------------------------------------------------- */

bool
med_variable_bind(med_settings *settings, med_value value)
{
    static const char *const names[] = {"false", "true", "primary", "close", "spread", "master"};
    uint32_t bind;
    settings->binds_listed = 0;
    do {
        /* Neither of the first two is part of a list. */
        if (!med_value_one_of(&value, names, 6, &bind) ||
            (bind <= MED_BIND_TRUE && settings->binds_listed > 0)) {
            return false;
        }
        bind = bind == 5 ? MED_BIND_PRIMARY : bind;
        if (settings->binds_listed < MED_THREADS_LIST) {
            settings->bind_list[settings->binds_listed++] = bind;
        }
    } while (bind > MED_BIND_TRUE && med_value_mark(&value, ','));
    settings->initial.bind = settings->bind_list[0];
    return med_value_end(&value);
}

static void
say_useless(const char *variable, const med_places *places)
{
    if (places->useless && med_log_wanted(MED_LOG_ERROR)) {
        med_text why = {.length = 0};
        med_text_number(&why, places->useless);
        med_text_string(&why, " of ");
        med_text_number(&why, (uint64_t)places->useless + places->count);
        med_text_string(&why, " places left out: none of their processors may be used");
        med_log_error(variable, why.bytes);
    }
}

bool
med_variable_places(med_settings *settings, med_value value)
{
    bool is_read = med_places_read(&value, &settings->places);
    say_useless("OMP_PLACES", &settings->places);
    return is_read;
}

bool
med_variable_plain_places(med_settings *settings, med_value value)
{
    bool is_read = med_places_read_plain(&value, &settings->places);
    say_useless("GOMP_CPU_AFFINITY", &settings->places);
    return is_read;
}
