/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The environment's variables (OpenMP 5.0, chapter 6), read once. What cannot be read is named in a
 * warning, with its value, and the default stands.
 */
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "omp/allocator.h"
#include "omp/cores.h"
#include "omp/display.h"
#include "omp/explain.h"
#include "omp/icv.h"
#include "omp/once.h"
#include "omp/quota.h"
#include "omp/value.h"
#include "omp/variable.h"
#include "omp/waiting.h"
#include "omp/work.h"
#include "port/port.h"

/* ---- Settled --------------------------------------------------------------------------------- */

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
    if (settings->places.count) {
        med_places_settle(&settings->places);
    }
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
    const char *otherwise; /* what stands without it */
} variable;

#define SCHEDULES_WANTED                                                                           \
    "[[non]monotonic:]static|dynamic|guided|auto|steal|hetprobe|hetprobe-i[,chunk]"
#define AFFINITY_FORMAT "level %L thread %i affinity %A"
#define STACK_WANTED "a size in KiB, or with B, K, M or G behind it, from 16K"

/* What is for all devices, the host among them, and what is for the host alone, which wins (OpenMP
 * 5.2, section 21). */
#define ALSO_ALL(name, read, wanted, otherwise)                                                    \
    {name "_ALL", read, wanted, otherwise},                                                        \
    {                                                                                              \
        name, read, wanted, otherwise                                                              \
    }

/* What stands later wins. */
static const variable variables[] = {
    ALSO_ALL("OMP_NUM_THREADS",
             med_variable_threads,
             "numbers from 1 to 2147483647, with commas between them",
             "as many as processors"),
    ALSO_ALL("OMP_DYNAMIC", med_variable_dynamic, "true or false", "false"),
    {"OMP_NESTED", med_variable_nested, "true or false", "false"},
    ALSO_ALL("OMP_MAX_ACTIVE_LEVELS", med_variable_levels, "a number up to 4294967295", "1"),
    ALSO_ALL("OMP_THREAD_LIMIT", med_variable_limit, "a number from 1 to 4294967295", "none"),
    ALSO_ALL("OMP_SCHEDULE", med_variable_schedule, SCHEDULES_WANTED, "dynamic,1"),
    {"MEDLEY_SCHEDULE", med_variable_imposed, SCHEDULES_WANTED, "each loop's own"},
    {"MEDLEY_CORE_CLASSES", med_uneven_read_classes,
     "no more than 8 places, as OMP_PLACES has them, of processors that may be used, each in one",
     "the machine's"},
    {"MEDLEY_CSR", med_uneven_read_ratios,
     "no more than 8 numbers from 1 to 65535, with colons between them", "measured"},
    {"MEDLEY_PROBE_PERCENT", med_uneven_read_percent, "a number from 1 to 100", "10"},
    {"MEDLEY_MAX_PROBES", med_uneven_read_most, "a number up to 4294967295", "10"},
    {"MEDLEY_PROBE_AGAIN", med_uneven_read_probe_again, "a number up to 2147483647", "0"},
    {"OMP_HET_PTG", med_uneven_read_again, "a number from 1 to 100", "10"},
    {"GOMP_STACKSIZE", med_variable_stack, STACK_WANTED, "the system's"},
    ALSO_ALL("OMP_STACKSIZE", med_variable_stack, STACK_WANTED, "the system's"),
    {"KMP_STACKSIZE", med_variable_stack_in_bytes,
     "a size in bytes, or with K, M or G behind it, from 16K", "the system's"},
    ALSO_ALL("OMP_NUM_TEAMS", med_variable_teams, "a number from 1 to 2147483647", "one"),
    ALSO_ALL("OMP_TEAMS_THREAD_LIMIT",
             med_variable_teams_limit,
             "a number from 1 to 2147483647",
             "none"),
    {"OMP_DEFAULT_DEVICE", med_variable_device, "a number up to 2147483647", "0"},
    {"OMP_TARGET_OFFLOAD", med_variable_offload, "default, mandatory or disabled", "default"},
    {"OMP_CANCELLATION", med_variable_cancellation, "true or false", "false"},
    {"OMP_MAX_TASK_PRIORITY", med_variable_priority, "a number up to 2147483647", "0"},
    {"GOMP_CPU_AFFINITY", med_variable_plain_places,
     "numbers of processors that may be used, or ranges", "none"},
    {"OMP_PLACES", med_variable_places,
     "threads|cores|ll_caches|numa_domains|sockets[(n)], or places with processors that may be "
     "used",
     "none"},
    ALSO_ALL("OMP_PROC_BIND",
             med_variable_bind,
             "true, false, or a list of primary, close and spread",
             "false, or true where there are places"),
    {"MEDLEY_TEAM_GROUPS", med_groups_read,
     "0, or up to 4 numbers from 2 to 65535, with commas between them", "the machine's"},
    ALSO_ALL("OMP_WAIT_POLICY", med_waiting_read_policy, "active or passive", "learned"),
    {"KMP_BLOCKTIME", med_waiting_read_time,
     "a number of milliseconds, or with us, ms or s behind it, or infinite", "learned"},
    {"GOMP_SPINCOUNT", med_waiting_read_count,
     "a number, perhaps with K, M, G or T behind it, or infinite", "learned"},
    {"KMP_INHERIT_FP_CONTROL", med_variable_float_control, "true or false", "true"},
    {"OMP_DISPLAY_AFFINITY", med_variable_show_affinity, "true or false", "false"},
    {"OMP_AFFINITY_FORMAT", med_variable_format, "a format", AFFINITY_FORMAT},
    {"OMP_DISPLAY_ENV", med_variable_show_environment, "true, false or verbose", "false"},
    {"OMP_ALLOCATOR", med_variable_allocator,
     "one of OpenMP's own, as omp_default_mem_alloc, or a memory space that is there, and "
     "perhaps a colon and traits",
     "omp_default_mem_alloc"},
    {"MEDLEY_EXPLAIN", med_variable_explain, "a file", "none"},
    {"OMP_DEBUG", med_variable_debug, "disabled, since there is no interface for debuggers (OMPD)",
     "disabled"},
    {"OMP_TOOL", med_variable_tool, "enabled or disabled", "enabled"},
    {"OMP_TOOL_LIBRARIES", med_variable_tool_libraries, "libraries, with colons between them",
     "none"},
    {"OMP_TOOL_VERBOSE_INIT", med_variable_tool_verbose, "disabled, stdout, stderr or a file",
     "disabled"},
};

static void
say_ignored(const variable *of, const char *value)
{
    med_text want = {.length = 0};
    med_text_string(&want, "want ");
    med_text_string(&want, of->wanted);
    med_text_string(&want, " (default: ");
    med_text_string(&want, of->otherwise);
    med_text_string(&want, ")");
    med_log_ignored(of->name, value, want.bytes);
}

static void
settings_read(med_settings *settings)
{
    med_log_level_from_environment();
    *settings = (med_settings){.processors = med_quota_begin()}; /* once.h: perhaps once more */
    settings->tool = true;
    settings->inherits_float_control = true;
    settings->affinity_format = AFFINITY_FORMAT;
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
            say_ignored(&variables[i], value);
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
            say_ignored(&variables[i], value);
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
