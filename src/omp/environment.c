/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The environment's variables (OpenMP 5.0, chapter 6), read once. What cannot be read is named in a
 * warning, with its value, and the default stands.
 */
#include <string.h>

#include "base/log.h"
#include "omp/allocator.h"
#include "omp/cores.h"
#include "omp/display.h"
#include "omp/explain.h"
#include "omp/icv.h"
#include "omp/once.h"
#include "omp/quota.h"
#include "omp/value.h"
#include "omp/waiting.h"
#include "omp/work.h"
#include "port/port.h"

/* ---- One variable each ----------------------------------------------------------------------- */

static bool
threads_read(med_settings *settings, med_value value)
{
    uint64_t number;
    settings->threads_listed = 0;
    do {
        if (!med_value_number(&value, 1, MED_THREADS_MOST, &number)) {
            return false;
        }
        if (settings->threads_listed < MED_THREADS_LIST) {
            settings->threads_list[settings->threads_listed++] = (uint32_t)number;
        }
    } while (med_value_mark(&value, ','));
    settings->initial.threads = settings->threads_list[0];
    return med_value_end(&value);
}

static bool
dynamic_read(med_settings *settings, med_value value)
{
    return med_value_truth(&value, &settings->initial.dynamic) && med_value_end(&value);
}

static bool
nested_read(med_settings *settings, med_value value)
{
    bool nested;
    if (!med_value_truth(&value, &nested) || !med_value_end(&value)) {
        return false;
    }
    settings->initial.active_levels_max = nested ? MED_LEVELS_MAX : 1;
    return true;
}

static bool
levels_read(med_settings *settings, med_value value)
{
    uint64_t number;
    if (!med_value_number(&value, 0, UINT32_MAX, &number) || !med_value_end(&value)) {
        return false;
    }
    settings->initial.active_levels_max =
        number < MED_LEVELS_MAX ? (uint32_t)number : MED_LEVELS_MAX;
    return true;
}

static bool
limit_read(med_settings *settings, med_value value)
{
    uint64_t number;
    if (!med_value_number(&value, 1, UINT32_MAX, &number) || !med_value_end(&value)) {
        return false;
    }
    settings->initial.thread_limit = (uint32_t)number;
    return true;
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
    if (med_value_mark(&value, ',') && !med_value_number(&value, 1, INT64_MAX, &chunk)) {
        return false;
    }
    kind += MED_SCHEDULE_STATIC;
    *schedule = kind | modifier;
    *schedule_chunk = kind == MED_SCHEDULE_AUTO ? 0
                      : chunk                   ? chunk
                                                : med_schedule_chunk_unsaid(kind);
    return med_value_end(&value);
}

static bool
schedule_read(med_settings *settings, med_value value)
{
    return kind_read(value, &settings->initial.schedule, &settings->initial.chunk);
}

static bool
imposed_read(med_settings *settings, med_value value)
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

static bool
stack_read(med_settings *settings, med_value value)
{
    return stack_of_unit_read(settings, value, 1024);
}

/* As LLVM's library has it. */
static bool
stack_in_bytes_read(med_settings *settings, med_value value)
{
    return stack_of_unit_read(settings, value, 1);
}

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

static bool
teams_read(med_settings *settings, med_value value)
{
    return count_read(value, 1, INT32_MAX, &settings->teams_max);
}

static bool
teams_limit_read(med_settings *settings, med_value value)
{
    return count_read(value, 1, INT32_MAX, &settings->teams_thread_limit);
}

static bool
device_read(med_settings *settings, med_value value)
{
    uint32_t device;
    if (!count_read(value, 0, INT32_MAX, &device)) {
        return false;
    }
    settings->initial.device = (int32_t)device;
    return true;
}

static bool
offload_read(med_settings *settings, med_value value)
{
    static const char *const names[] = {"default", "mandatory", "disabled"};
    uint32_t found;
    if (!med_value_one_of(&value, names, 3, &found) || !med_value_end(&value)) {
        return false;
    }
    settings->offload = (med_offload)found;
    return true;
}

static bool
cancellation_read(med_settings *settings, med_value value)
{
    return med_value_truth(&value, &settings->cancellation) && med_value_end(&value);
}

static bool
priority_read(med_settings *settings, med_value value)
{
    uint32_t most;
    if (!count_read(value, 0, INT32_MAX, &most)) {
        return false;
    }
    settings->task_priority_max = (int32_t)most;
    return true;
}

static bool
allocator_read(med_settings *settings, med_value value)
{
    settings->allocator_said = value.at;
    settings->initial.allocator = med_allocator_read(&value);
    return settings->initial.allocator != MED_ALLOCATOR_NULL;
}

/* ---- Shown ----------------------------------------------------------------------------------- */

static bool
show_affinity_read(med_settings *settings, med_value value)
{
    return med_value_truth(&value, &settings->initial.shown) && med_value_end(&value);
}

static bool
format_read(med_settings *settings, med_value value)
{
    settings->affinity_format = value.at;
    return true;
}

static bool
show_environment_read(med_settings *settings, med_value value)
{
    settings->display_verbose = med_value_is(&value, "verbose");
    return (settings->display_verbose || med_value_truth(&value, &settings->display_environment)) &&
           med_value_end(&value);
}

/* ---- Tools ----------------------------------------------------------------------------------- */

static bool
tool_read(med_settings *settings, med_value value)
{
    static const char *const names[] = {"disabled", "enabled"};
    uint32_t found;
    if (!med_value_one_of(&value, names, 2, &found) || !med_value_end(&value)) {
        return false;
    }
    settings->tool = found == 1;
    return true;
}

static bool
debug_read(med_settings *settings, med_value value)
{
    (void)settings;
    return med_value_is(&value, "disabled") && med_value_end(&value);
}

static bool
tool_libraries_read(med_settings *settings, med_value value)
{
    settings->tool_libraries = value.at;
    return !med_value_end(&value);
}

static bool
tool_verbose_read(med_settings *settings, med_value value)
{
    med_value rest = value;
    bool is_off = med_value_is(&rest, "disabled") && med_value_end(&rest);
    settings->tool_verbose = is_off ? NULL : value.at;
    return is_off || !med_value_end(&value);
}

static bool
explain_read(med_settings *settings, med_value value)
{
    settings->explain = value.at;
    return !med_value_end(&value);
}

/* ---- Places ---------------------------------------------------------------------------------- */

static bool
bind_read(med_settings *settings, med_value value)
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

static bool
places_read(med_settings *settings, med_value value)
{
    return med_places_read(&value, &settings->places);
}

static bool
plain_places_read(med_settings *settings, med_value value)
{
    return med_places_read_plain(&value, &settings->places);
}

/* Places without a word of how to bind mean that threads are bound, and so do loops that are shared
 * out by the speed of cores; to be bound without places, to processors. */
static void
places_settle(med_settings *settings)
{
    if (settings->binds_listed == 0 &&
        (settings->places.count ||
         (med_uneven_is_wanted(settings) && med_cores_are_unlike(settings)))) {
        settings->initial.bind = MED_BIND_TRUE;
    }
    if (settings->initial.bind && settings->places.count == 0) {
        (void)med_places_of_processors(&settings->places);
    }
    med_places_settle(&settings->places);
}

/* Of the host's own, or of all devices'. */
#define IS_SET(name) (med_port_environment(name) || med_port_environment(name "_ALL"))

/* Loops of the run are of that schedule, too, where OMP_SCHEDULE does not say another. */
static void
imposed_settle(med_settings *settings)
{
    const med_uneven *uneven = &settings->uneven;
    if (uneven->imposes) {
        med_work_imposed =
            (med_imposed){.acts = true,
                          .any = med_schedule_of(uneven->kind),
                          .monotonic = med_schedule_of(uneven->kind | MED_SCHEDULE_MONOTONIC),
                          .chunk = uneven->chunk,
                          .parts = med_uneven_is(uneven->kind)};
        if (!IS_SET("OMP_SCHEDULE")) {
            settings->initial.schedule = uneven->kind;
            settings->initial.chunk = uneven->chunk;
        }
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

typedef struct variable {
    const char *name;
    bool (*read)(med_settings *settings, med_value value);
    const char *wanted;
} variable;

#define SCHEDULES_WANTED                                                                           \
    "[monotonic:|nonmonotonic:] static, dynamic, guided, auto, steal, hetprobe or hetprobe-i, "    \
    "and "                                                                                         \
    "perhaps a comma and a chunk"

#define STACK_WANTED "a size in KiB, or with B, K, M or G behind it, from 16K"

/* What is for all devices, the host among them, and what is for the host alone, which wins (OpenMP
 * 5.2, section 21). */
#define ALSO_ALL(name, read, wanted)                                                               \
    {name "_ALL", read, wanted},                                                                   \
    {                                                                                              \
        name, read, wanted                                                                         \
    }

/* What stands later wins. */
static const variable variables[] = {
    ALSO_ALL("OMP_NUM_THREADS", threads_read, "numbers from 1 to 65535, with commas between them"),
    ALSO_ALL("OMP_DYNAMIC", dynamic_read, "true or false"),
    {"OMP_NESTED", nested_read, "true or false"},
    ALSO_ALL("OMP_MAX_ACTIVE_LEVELS", levels_read, "a number"),
    ALSO_ALL("OMP_THREAD_LIMIT", limit_read, "a number from 1"),
    ALSO_ALL("OMP_SCHEDULE", schedule_read, SCHEDULES_WANTED),
    {"MEDLEY_SCHEDULE", imposed_read, SCHEDULES_WANTED},
    {"MEDLEY_CORE_CLASSES", med_uneven_read_classes,
     "no more than 8 places, as OMP_PLACES has them, of processors that may be used, each in one"},
    {"MEDLEY_CSR", med_uneven_read_ratios, "numbers from 1 to 65535, with colons between them"},
    {"MEDLEY_PROBE_PERCENT", med_uneven_read_percent, "a number from 1 to 100"},
    {"MEDLEY_MAX_PROBES", med_uneven_read_most, "a number"},
    {"MEDLEY_PROBE_AGAIN", med_uneven_read_probe_again, "a number"},
    {"OMP_HET_PTG", med_uneven_read_again, "a number from 1 to 100"},
    {"GOMP_STACKSIZE", stack_read, STACK_WANTED},
    ALSO_ALL("OMP_STACKSIZE", stack_read, STACK_WANTED),
    {"KMP_STACKSIZE", stack_in_bytes_read,
     "a size in bytes, or with K, M or G behind it, from 16K"},
    ALSO_ALL("OMP_NUM_TEAMS", teams_read, "a number from 1"),
    ALSO_ALL("OMP_TEAMS_THREAD_LIMIT", teams_limit_read, "a number from 1"),
    {"OMP_DEFAULT_DEVICE", device_read, "a number"},
    {"OMP_TARGET_OFFLOAD", offload_read, "default, mandatory or disabled"},
    {"OMP_CANCELLATION", cancellation_read, "true or false"},
    {"OMP_MAX_TASK_PRIORITY", priority_read, "a number"},
    {"GOMP_CPU_AFFINITY", plain_places_read, "numbers of processors that may be used, or ranges"},
    {"OMP_PLACES", places_read,
     "threads, cores, ll_caches, numa_domains or sockets, perhaps with a number in parentheses; or "
     "a list of places with processors that may be used"},
    ALSO_ALL("OMP_PROC_BIND", bind_read, "true, false, or a list of primary, close and spread"),
    {"MEDLEY_TEAM_GROUPS", med_groups_read,
     "0, or up to 4 numbers from 2 to 65535, with commas between them"},
    ALSO_ALL("OMP_WAIT_POLICY", med_waiting_read_policy, "active or passive"),
    {"KMP_BLOCKTIME", med_waiting_read_time, "milliseconds, or infinite"},
    {"GOMP_SPINCOUNT", med_waiting_read_count,
     "a number, perhaps with K, M, G or T behind it, or infinite"},
    {"OMP_DISPLAY_AFFINITY", show_affinity_read, "true or false"},
    {"OMP_AFFINITY_FORMAT", format_read, "a format"},
    {"OMP_DISPLAY_ENV", show_environment_read, "true, false or verbose"},
    {"OMP_ALLOCATOR", allocator_read,
     "one of OpenMP's own, as omp_default_mem_alloc, or a memory space that is there, and "
     "perhaps a colon and traits"},
    {"MEDLEY_EXPLAIN", explain_read, "a file"},
    {"OMP_DEBUG", debug_read, "disabled, since there is no interface for debuggers (OMPD)"},
    {"OMP_TOOL", tool_read, "enabled or disabled"},
    {"OMP_TOOL_LIBRARIES", tool_libraries_read, "libraries, with colons between them"},
    {"OMP_TOOL_VERBOSE_INIT", tool_verbose_read, "disabled, stdout, stderr or a file"},
};

static void
settings_read(med_settings *settings)
{
    med_log_level_from_environment();
    *settings = (med_settings){.processors = med_quota_begin()}; /* once.h: perhaps once more */
    settings->tool = true;
    settings->affinity_format = "level %L thread %i affinity %A";
    settings->initial = (med_icv){.threads = settings->processors,
                                  .active_levels_max = 1,
                                  .schedule = MED_SCHEDULE_DYNAMIC,
                                  .chunk = 1,
                                  .thread_limit = UINT32_MAX,
                                  .teams = 1,
                                  .allocator = MED_ALLOCATOR_DEFAULT};
    settings->uneven = (med_uneven)MED_UNEVEN_INITIAL;
    for (uint32_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = med_port_environment(variables[i].name);
        if (!value) {
            continue;
        }
        med_settings read = *settings;
        if (variables[i].read(&read, (med_value){.at = value})) {
            *settings = read;
            settings->taken |= UINT64_C(1) << i;
        } else {
            med_log_ignored(variables[i].name, value, variables[i].wanted);
        }
    }
    med_uneven_settle(settings);
    places_settle(settings);
    imposed_settle(settings);
    if ((settings->threads_listed > 1 || settings->binds_listed > 1) &&
        settings->initial.active_levels_max == 1 && !IS_SET("OMP_MAX_ACTIVE_LEVELS") &&
        !med_port_environment("OMP_NESTED")) {
        settings->initial.active_levels_max = MED_LEVELS_MAX; /* section 2.5.2 */
    }
}

const char *
med_settings_variable(uint32_t index)
{
    return index < sizeof variables / sizeof variables[0] ? variables[index].name : NULL;
}

_Static_assert(sizeof variables / sizeof variables[0] <= 64, "a bit for each");

bool
med_settings_is_taken(const med_settings *settings, uint32_t index)
{
    return (settings->taken >> index & 1) != 0;
}

/* Behind NAME=; NULL: it is another variable's. */
static const char *
value_in(const char *line, const char *name)
{
    size_t length = strlen(name);
    return strncmp(line, name, length) == 0 && line[length] == '=' ? &line[length + 1] : NULL;
}

void
med_settings_change(const char *line, med_icv *icv)
{
    med_settings read = *med_settings_get();
    read.initial = *icv;
    for (uint32_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = value_in(line, variables[i].name);
        if (value && variables[i].read(&read, (med_value){.at = value})) {
            *icv = read.initial;
        } else if (value) {
            med_log_ignored(variables[i].name, value, variables[i].wanted);
        }
    }
}

const med_settings *
med_settings_get(void)
{
    static med_settings settings;
    static med_once once;
    if (med_once_begin(&once)) {
        settings_read(&settings);
        if (settings.explain) {
            med_explain_begin(settings.explain);
        }
        med_once_end(&once);
        if (settings.display_environment || settings.display_verbose) {
            med_display_environment(settings.display_verbose);
        }
    }
    return &settings;
}
