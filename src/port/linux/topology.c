/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The machine as the kernel's own files tell it, without hwloc: processors that are online, their
 * caches, and all memory as one. Packages and cores are left to hwloc. A cache belongs to the next
 * larger one of its processor; it is handed over with the first of its processors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"

#define SYS_CPU "/sys/devices/system/cpu"
#define LEVELS 5u
#define CACHE_INDEXES 12u
#define LINE_BYTES 4096u

/* Caches of a level are told apart by the first processor they serve. */
typedef struct reader {
    const med_topology_sink *sink;
    uint32_t *caches; /* [processor][level]: the number of the cache that it is the first of, + 1 */
    char model[MED_TOPOLOGY_TEXT_BYTES];
} reader;

typedef struct cache {
    med_topology_part part;
    uint32_t first;
} cache;

/* ---- Small files ----------------------------------------------------------------------------- */

static bool
cache_line_of(uint32_t processor, uint32_t index, const char *leaf, char line[LINE_BYTES])
{
    char path[160];
    (void)snprintf(path, sizeof path, SYS_CPU "/cpu%u/cache/index%u/%s", processor, index, leaf);
    return med_linux_line_read(path, line, LINE_BYTES);
}

static uint64_t
cache_number_of(uint32_t processor, uint32_t index, const char *leaf)
{
    char line[LINE_BYTES];
    char *end;
    if (!cache_line_of(processor, index, leaf, line)) {
        return 0;
    }
    unsigned long long number = strtoull(line, &end, 10);
    return *end == 'K' ? number << 10 : *end == 'M' ? number << 20 : number;
}

/* What follows "model name : " in /proc/cpuinfo, or nothing. */
static void
model_read(char model[MED_TOPOLOGY_TEXT_BYTES])
{
    char line[LINE_BYTES];
    FILE *file = fopen("/proc/cpuinfo", "re");
    model[0] = '\0';
    while (file && !model[0] && fgets(line, sizeof line, file)) {
        char *text = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (text) {
            text[strcspn(text, "\n")] = '\0';
            (void)snprintf(model, MED_TOPOLOGY_TEXT_BYTES, "%.*s", (int)MED_TOPOLOGY_TEXT_BYTES - 1,
                           text + strspn(text, ": "));
        }
    }
    if (file) {
        (void)fclose(file);
    }
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Data and unified caches, as hwloc has it. */
static bool
cache_read(uint32_t processor, uint32_t index, cache *read)
{
    char type[LINE_BYTES], shared[LINE_BYTES];
    if (!cache_line_of(processor, index, "type", type) || strcmp(type, "Instruction") == 0 ||
        !cache_line_of(processor, index, "shared_cpu_list", shared)) {
        return false;
    }
    uint64_t level = cache_number_of(processor, index, "level");
    *read = (cache){
        .part = {.kind = MED_TOPOLOGY_CACHE,
                 .level = (uint32_t)level,
                 .size_bytes = cache_number_of(processor, index, "size"),
                 .line_bytes = (uint32_t)cache_number_of(processor, index, "coherency_line_size"),
                 .ways = (uint32_t)cache_number_of(processor, index, "ways_of_associativity")},
        .first = (uint32_t)strtoul(shared, NULL, 10)};
    read->part.id = read->first;
    (void)snprintf(read->part.name, sizeof read->part.name, "L%u#%u", (uint32_t)level, read->first);
    return level >= 1 && level <= LEVELS && read->first <= processor;
}

/* Hands over those caches of a processor that no earlier one had; `parent` becomes the smallest. */
static bool
caches_add(const reader *r, uint32_t processor, uint32_t *parent)
{
    cache caches[LEVELS + 1] = {{.first = 0}};
    for (uint32_t index = 0; index < CACHE_INDEXES; index++) {
        cache found;
        if (cache_read(processor, index, &found)) {
            caches[found.part.level] = found;
        }
    }
    for (uint32_t level = LEVELS; level >= 1; level--) {
        cache *c = &caches[level];
        if (c->part.level == 0) {
            continue;
        }
        uint32_t *number = &r->caches[(size_t)c->first * LEVELS + level - 1];
        if (*number == 0) {
            c->part.parent = *parent;
            if (!r->sink->add(r->sink->context, &c->part, number)) {
                return false;
            }
            (*number)++;
        }
        *parent = *number - 1;
    }
    return true;
}

static bool
processor_add(const reader *r, uint32_t processor)
{
    char path[96], line[LINE_BYTES];
    uint32_t number;
    med_topology_part part = {.kind = MED_TOPOLOGY_PROCESSOR, .id = processor, .parent = 0};
    if (!caches_add(r, processor, &part.parent)) {
        return false;
    }
    (void)snprintf(path, sizeof path, SYS_CPU "/cpu%u/cpufreq/cpuinfo_max_freq", processor);
    if (med_linux_line_read(path, line, sizeof line)) {
        part.frequency_hz = strtoull(line, NULL, 10) * 1000u;
    }
    (void)snprintf(part.name, sizeof part.name, "PU#%u", processor);
    memcpy(part.type, r->model, sizeof part.type);
    return r->sink->add(r->sink->context, &part, &number);
}

static bool
machine_and_memory_add(const reader *r)
{
    uint32_t number;
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    med_topology_part machine = {.kind = MED_TOPOLOGY_MACHINE, .name = "Machine"};
    med_topology_part memory = {.kind = MED_TOPOLOGY_MEMORY,
                                .size_bytes =
                                    pages > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0,
                                .name = "NUMANode#0"};
    return r->sink->add(r->sink->context, &machine, &number) &&
           r->sink->add(r->sink->context, &memory, &number);
}

/* Of a list such as "0-3,8": calls for each; `processors` bounds them. */
static bool
listed_add(const reader *r, const char *list, uint32_t processors)
{
    char *end;
    for (const char *text = list; *text >= '0' && *text <= '9';
         text = *end == ',' ? end + 1 : end) {
        unsigned long first = strtoul(text, &end, 10);
        unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        for (unsigned long p = first; p <= last && p < processors; p++) {
            if (!processor_add(r, (uint32_t)p)) {
                return false;
            }
        }
    }
    return true;
}

medley_status_t
med_port_topology_read(const med_topology_sink *sink, char *why, size_t why_bytes)
{
    MED_LINUX_NOT_CANCELLED;
    char online[LINE_BYTES];
    long configured = sysconf(_SC_NPROCESSORS_CONF);
    uint32_t processors = configured > 0 ? (uint32_t)configured : 1;
    reader r = {.sink = sink, .caches = calloc((size_t)processors * LEVELS, sizeof *r.caches)};
    if (!r.caches) {
        (void)snprintf(why, why_bytes, "no memory");
        return MEDLEY_ERR_NO_MEMORY;
    }
    model_read(r.model);
    if (!med_linux_line_read(SYS_CPU "/online", online, sizeof online)) {
        (void)snprintf(online, sizeof online, "0-%u", processors - 1);
    }
    bool all = machine_and_memory_add(&r) && listed_add(&r, online, processors);
    free(r.caches);
    if (!all) {
        (void)snprintf(why, why_bytes, "no memory");
    }
    return all ? MEDLEY_OK : MEDLEY_ERR_NO_MEMORY;
}
