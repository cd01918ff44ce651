/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where limits come from and whether they may be: the standard, the environment, the largest. And
 * what is said when they differ from a system's own, or one is reached.
 */
#include "mrapi/limits.h"

#include "base/log.h"
#include "mrapi/event.h"
#include "port/port.h"

const med_limit_info med_limit_infos[MED_LIMIT_COUNT] = {
#define INFO(field, what, name, variable, standard, largest, built_in)                             \
    [MED_LIMIT_##what] = {name, variable, standard, largest},
    MED_LIMITS(INFO)
#undef INFO
};

/* A plain decimal number, or UINT32_MAX, which is more than any limit may be. */
static uint32_t
number_of(const char *digits)
{
    uint64_t number = 0;
    for (; *digits; digits++) {
        if (*digits < '0' || *digits > '9' || number > UINT32_MAX / 16) {
            return UINT32_MAX;
        }
        number = number * 10 + (uint64_t)(*digits - '0');
    }
    return (uint32_t)number;
}

/* What the variable asks for; 0 when it is not set, or makes no sense (then it is reported). */
static uint32_t
asked_for(const med_limit_info *info)
{
    const char *value = med_port_environment(info->variable);
    if (!value || !*value) {
        return 0;
    }
    uint32_t number = number_of(value), least = info->standard ? 1 : 0;
    if (number >= least && number <= info->largest) {
        return number;
    }
    med_text want = {.length = 0};
    med_text_string(&want, "want a number from ");
    med_text_number(&want, least);
    med_text_string(&want, " to ");
    med_text_number(&want, info->largest);
    med_log_ignored(info->variable, value, want.bytes);
    return 0;
}

void
med_limits_from_environment(med_limits *limits)
{
    if (!med_port_has_environment()) {
        *limits = med_limits_built_in;
        return;
    }
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        limits->of[i] = med_limits_of_process(&med_limit_infos[i]);
    }
}

uint32_t
med_limits_of_process(const med_limit_info *info)
{
    if (!med_port_has_environment()) {
        return med_limits_of_process_built_in;
    }
    uint32_t asked = asked_for(info);
    return asked ? asked : info->standard;
}

bool
med_limits_valid(const med_limits *limits)
{
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        uint32_t value = limits->of[i];
        if (value < 1 || value > med_limit_infos[i].largest) {
            return false;
        }
    }
    return true;
}

void
med_limits_warn_differences(const med_limits *actual, const char *system_name)
{
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        uint32_t asked = asked_for(&med_limit_infos[i]);
        uint32_t there = actual->of[i];
        if (asked && asked != there) {
            med_text text = {.length = 0};
            med_text_string(&text, med_limit_infos[i].variable);
            med_text_string(&text, " has no effect: system '");
            med_text_string(&text, system_name);
            med_text_string(&text, "' was created with ");
            med_text_count(&text, there, med_limit_infos[i].name);
            med_log(MED_LOG_ERROR, &text);
        }
    }
}

void
med_limits_report(const med_limits *limits, med_limit which)
{
    const med_limit_info *info = &med_limit_infos[which];
    if (med_port_has_environment()) {
        med_log_limit(info->name, limits->of[which], info->variable,
                      "for the process that creates the system, unless its file says it");
    } else {
        med_log_limit(info->name, limits->of[which], "med_limits_built_in", "in the program");
    }
    med_event_tell(MEDLEY_EVENT_LIMIT);
}

void
med_limits_report_of_process(const med_limit_info *info, uint32_t limit)
{
    if (med_port_has_environment()) {
        med_log_limit(info->name, limit, info->variable, "in this process");
    } else {
        med_log_limit(info->name, limit, "med_limits_of_process_built_in", "in the program");
    }
    med_event_tell(MEDLEY_EVENT_LIMIT);
}
