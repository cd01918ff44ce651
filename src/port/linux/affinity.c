/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which processors a thread may use, and which of them share something, by the kernel's files. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "linux.h"
#include "port/port.h"

#define CACHE_INDEXES 12u
#define NODES_MAX 1024u
#define LINE_BYTES 4096u

void
med_port_processors_allowed(med_processor_set *allowed)
{
    MED_LINUX_ERRNO_KEPT;
    *allowed = (med_processor_set){{0}}; /* the kernel's may be shorter */
    int error = pthread_getaffinity_np(pthread_self(), sizeof *allowed, (cpu_set_t *)allowed);
    if (error == 0 || error == EINVAL) { /* or there are more than a set has */
        return;
    }
    uint32_t count = med_linux_processors_allowed(); /* a sandbox refuses to tell which */
    for (uint32_t i = 0; i < count && i < MED_PROCESSORS_MAX; i++) {
        med_processor_set_put(allowed, i);
    }
}

medley_status_t
med_port_thread_bind(const med_processor_set *processors)
{
    MED_LINUX_ERRNO_KEPT;
    int error =
        pthread_setaffinity_np(pthread_self(), sizeof *processors, (const cpu_set_t *)processors);
    return error == 0 ? MEDLEY_OK : MEDLEY_ERR_ARGUMENT;
}

/* "0.61 0.40 0.21 2/84 1397" */
uint32_t
med_port_threads_running(void)
{
    MED_LINUX_ERRNO_KEPT;
    char line[128];
    uint32_t running;
    bool is_told = med_linux_line_read("/proc/loadavg", line, sizeof line) &&
                   sscanf(line, "%*s %*s %*s %" SCNu32 "/", &running) == 1;
    return is_told ? running : 0;
}

/* ---- Who shares what ------------------------------------------------------------------------- */

/* Of a list as "0-3,8" the first number; false: there is no such file. */
static bool
first_in(const char *path, uint32_t *first)
{
    char line[32]; /* of which no more than the first is asked for */
    if (!med_linux_line_read(path, line, sizeof line) || line[0] < '0' || line[0] > '9') {
        return false;
    }
    *first = (uint32_t)strtoul(line, NULL, 10);
    return true;
}

static bool
first_of_processor(uint32_t processor, const char *leaf, uint32_t *first)
{
    char path[160];
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/%s", processor, leaf);
    return first_in(path, first);
}

/* Of its largest cache, which is the last one that is told. */
static bool
first_at_cache(uint32_t processor, uint32_t *first)
{
    bool found = false;
    for (uint32_t i = 0; i < CACHE_INDEXES; i++) {
        char leaf[64];
        (void)snprintf(leaf, sizeof leaf, "cache/index%u/shared_cpu_list", i);
        found |= first_of_processor(processor, leaf, first);
    }
    return found;
}

/* Each processor's folder has a link to its node. */
static bool
first_at_memory(uint32_t processor, uint32_t *first)
{
    for (uint32_t i = 0; i < NODES_MAX; i++) {
        char leaf[64];
        (void)snprintf(leaf, sizeof leaf, "node%u/cpulist", i);
        if (first_of_processor(processor, leaf, first)) {
            return true;
        }
    }
    return false;
}

uint32_t
med_port_processor_first(uint32_t processor, med_port_shares shares)
{
    MED_LINUX_ERRNO_KEPT;
    uint32_t first = processor;
    bool found = false;
    switch (shares) {
    case MED_PORT_SHARES_CORE:
        found = first_of_processor(processor, "topology/thread_siblings_list", &first);
        return found ? first : processor;
    case MED_PORT_SHARES_CACHE:
        found = first_at_cache(processor, &first);
        break;
    case MED_PORT_SHARES_MEMORY:
        found = first_at_memory(processor, &first);
        break;
    case MED_PORT_SHARES_PACKAGE:
        found = first_of_processor(processor, "topology/core_siblings_list", &first);
        break;
    default:
        break;
    }
    return found ? first : 0; /* nothing is told: all share one */
}

/* ---- Who is fast ----------------------------------------------------------------------------- */

/* Is a number in a list as "0-3,8"? */
static bool
is_in(const char *list, uint32_t number)
{
    while (*list >= '0' && *list <= '9') {
        char *end;
        unsigned long first = strtoul(list, &end, 10);
        unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        if (number >= first && number <= last) {
            return true;
        }
        list = *end == ',' ? end + 1 : end;
    }
    return false;
}

/* Of Arm and RISC-V the kernel tells a capacity; of x86, which cores are which, the slowest first
 * here. */
uint32_t
med_port_processor_rank(uint32_t processor, bool *is_capacity)
{
    MED_LINUX_ERRNO_KEPT;
    static const char *const kinds[] = {"cpu_lowpower", "cpu_atom", "cpu_core"};
    uint32_t capacity = 0;
    *is_capacity = first_of_processor(processor, "cpu_capacity", &capacity) && capacity > 0;
    for (uint32_t i = 0; !*is_capacity && i < sizeof kinds / sizeof kinds[0]; i++) {
        char path[64];
        char line[LINE_BYTES];
        (void)snprintf(path, sizeof path, "/sys/devices/%s/cpus", kinds[i]);
        if (med_linux_line_read(path, line, sizeof line) && is_in(line, processor)) {
            return i + 1;
        }
    }
    return capacity;
}

void
med_port_host_name(char *name, size_t size_bytes)
{
    struct utsname of;
    (void)snprintf(name, size_bytes, "%s", uname(&of) == 0 ? of.nodename : "unknown");
}
