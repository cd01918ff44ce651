/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "mrapi/limits.h"

#include <stddef.h>

#include "base/log.h"
#include "mrapi/event.h"
#include "mrapi/request.h"
#include "port/port.h"

/* The largest: a node's index has 14 bits in an owner word, an object's 16 bits in a handle. A row
 * of a shared memory grows with the nodes: all limits at their largest must fit 32-bit offsets. */
const med_limit_info med_limit_infos[MED_LIMIT_COUNT] = {
    [MED_LIMIT_DOMAINS] = {"domains", "MEDLEY_MAX_DOMAINS", 16, 1024},
    [MED_LIMIT_PROCESSES] = {"processes", "MEDLEY_MAX_PROCESSES", 64, MED_PORT_SLOT_MAX},
    [MED_LIMIT_NODES] = {"nodes", "MEDLEY_MAX_NODES", 128, 16000},
    [MED_LIMIT_MUTEXES] = {"mutexes", "MEDLEY_MAX_MUTEXES", 128, 65535},
    [MED_LIMIT_RMEM_ATTACHMENTS] = {"remote memory attachments", "MEDLEY_MAX_RMEM_ATTACHMENTS", 128,
                                    65535},
    [MED_LIMIT_RMEMS] = {"remote memories", "MEDLEY_MAX_RMEMS", 64, 16000},
    [MED_LIMIT_SHMEMS] = {"shmems", "MEDLEY_MAX_SHMEMS", 32, 4096},
    [MED_LIMIT_SEMAPHORES] = {"semaphores", "MEDLEY_MAX_SEMAPHORES", 64, 65535},
    [MED_LIMIT_RWLOCKS] = {"reader/writer locks", "MEDLEY_MAX_RWLOCKS", 64, 65535},
    [MED_LIMIT_SHARERS] = {"sharers", "MEDLEY_MAX_SHARERS", 64, 1024},
    [MED_LIMIT_ENDPOINTS] = {"endpoints", "MEDLEY_MAX_ENDPOINTS", 64, 65535},
    [MED_LIMIT_LANES] = {"lanes", "MEDLEY_MAX_LANES", 128, 65535},
    [MED_LIMIT_LANE_BYTES] = {"bytes in a lane", "MEDLEY_LANE_BYTES", 4096, 1u << 24},
    [MED_LIMIT_BUFFERS] = {"buffers", "MEDLEY_MAX_BUFFERS", 128, 65536},
    [MED_LIMIT_BUFFER_BYTES] = {"bytes in a buffer", "MEDLEY_BUFFER_BYTES", 4096, 1u << 24},
};

const med_limit_info med_limit_requests = {"requests", "MEDLEY_MAX_REQUESTS", 256,
                                           MED_REQUEST_PLACES_MAX};

static const size_t offsets[MED_LIMIT_COUNT] = {
    [MED_LIMIT_DOMAINS] = offsetof(med_limits, domains),
    [MED_LIMIT_PROCESSES] = offsetof(med_limits, processes),
    [MED_LIMIT_NODES] = offsetof(med_limits, nodes),
    [MED_LIMIT_MUTEXES] = offsetof(med_limits, mutexes),
    [MED_LIMIT_RMEM_ATTACHMENTS] = offsetof(med_limits, rmem_attachments),
    [MED_LIMIT_RMEMS] = offsetof(med_limits, rmems),
    [MED_LIMIT_SHMEMS] = offsetof(med_limits, shmems),
    [MED_LIMIT_SEMAPHORES] = offsetof(med_limits, semaphores),
    [MED_LIMIT_RWLOCKS] = offsetof(med_limits, rwlocks),
    [MED_LIMIT_SHARERS] = offsetof(med_limits, sharers),
    [MED_LIMIT_ENDPOINTS] = offsetof(med_limits, endpoints),
    [MED_LIMIT_LANES] = offsetof(med_limits, lanes),
    [MED_LIMIT_LANE_BYTES] = offsetof(med_limits, lane_bytes),
    [MED_LIMIT_BUFFERS] = offsetof(med_limits, buffers),
    [MED_LIMIT_BUFFER_BYTES] = offsetof(med_limits, buffer_bytes),
};

_Static_assert(sizeof(med_limits) == MED_LIMIT_COUNT * sizeof(uint32_t), "one word per limit");

uint32_t
med_limits_get(const med_limits *limits, med_limit which)
{
    return *(const uint32_t *)(const void *)((const char *)limits + offsets[which]);
}

void
med_limits_set(med_limits *limits, med_limit which, uint32_t value)
{
    *(uint32_t *)(void *)((char *)limits + offsets[which]) = value;
}

/* A plain decimal number, or 0. */
static uint32_t
number_of(const char *digits)
{
    uint64_t number = 0;
    for (; *digits; digits++) {
        if (*digits < '0' || *digits > '9' || number > UINT32_MAX / 16) {
            return 0;
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
    uint32_t number = number_of(value);
    if (number >= 1 && number <= info->largest) {
        return number;
    }
    med_text want = {.length = 0};
    med_text_string(&want, "want a number from 1 to ");
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
        med_limits_set(limits, (med_limit)i, med_limits_of_process(&med_limit_infos[i]));
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
        uint32_t value = med_limits_get(limits, (med_limit)i);
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
        uint32_t there = med_limits_get(actual, (med_limit)i);
        if (asked && asked != there) {
            med_text text = {.length = 0};
            med_text_string(&text, med_limit_infos[i].variable);
            med_text_string(&text, " has no effect: system '");
            med_text_string(&text, system_name);
            med_text_string(&text, "' was created with ");
            med_text_number(&text, there);
            med_text_string(&text, " ");
            med_text_string(&text, med_limit_infos[i].name);
            med_log(MED_LOG_ERROR, &text);
        }
    }
}

void
med_limits_report(const med_limits *limits, med_limit which)
{
    const med_limit_info *info = &med_limit_infos[which];
    if (med_port_has_environment()) {
        med_log_limit(info->name, med_limits_get(limits, which), info->variable,
                      "for the process that creates the system");
    } else {
        med_log_limit(info->name, med_limits_get(limits, which), "med_limits_built_in",
                      "in the program");
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
