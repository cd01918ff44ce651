/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Core classes, caches and memories, caches that are alike in one row; and the reading of it all in
 * a child, whose document comes back by a pipe.
 */
#include "tools/medley/topology.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hwloc.h>

#include "modules/child.h"
#include "modules/machine_file.h"
#include "modules/machine_memory.h"
#include "modules/xml_parser.h"
#include "port/topology.h"
#include "tools/medley/output.h"
#include "tools/medley/topology_parts.h"

#define SOURCE_BYTES 1024u

/* A machine that somebody wrote down; of this one all is 0. */
typedef struct recording {
    const char *asked; /* the file that was asked for; NULL: none, though a variable may name one */
    const char *path;
    char *text;
    size_t size;
    unsigned line; /* where the machine begins */
} recording;

/* ---- Small things ---------------------------------------------------------------------------- */

static json_t *
string_or_null(const char *text)
{
    return text && *text ? output_string(text) : json_null();
}

/* "0-3,8" */
static json_t *
set_json(hwloc_const_bitmap_t set)
{
    char *text = NULL;
    json_t *json = hwloc_bitmap_list_asprintf(&text, set) >= 0 ? json_string(text) : json_null();
    free(text);
    return json;
}

static json_int_t
set_size(hwloc_const_bitmap_t set)
{
    int weight = hwloc_bitmap_weight(set);
    return weight > 0 ? weight : 0;
}

/* ---- Core classes ---------------------------------------------------------------------------- */

static json_t *
class_json(hwloc_const_bitmap_t set, int efficiency, struct hwloc_info_s *infos, unsigned count)
{
    json_t *row = json_pack("{s:I, s:o, s:o, s:n, s:n, s:n}", "count", set_size(set), "processors",
                            set_json(set), "efficiency",
                            efficiency >= 0 ? json_integer(efficiency) : json_null(), "core_type",
                            "capacity", "frequency_max_mhz");
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(infos[i].name, "CoreType") == 0) {
            (void)json_object_set_new(row, "core_type", output_string(infos[i].value));
        } else if (strcmp(infos[i].name, "LinuxCapacity") == 0) {
            (void)json_object_set_new(row, "capacity", json_integer(atoll(infos[i].value)));
        } else if (strcmp(infos[i].name, "FrequencyMaxMHz") == 0) {
            (void)json_object_set_new(row, "frequency_max_mhz",
                                      json_integer(atoll(infos[i].value)));
        }
    }
    return row;
}

/* From the least to the most powerful. hwloc reads the kernel's cpu_capacity, and the processors'
 * own words. Where all are alike there is one class. */
static json_t *
classes_json(hwloc_topology_t topology)
{
    json_t *rows = json_array();
    int kinds = hwloc_cpukinds_get_nr(topology, 0);
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    for (int kind = 0; kind < kinds; kind++) {
        int efficiency;
        unsigned count;
        struct hwloc_info_s *infos;
        if (hwloc_cpukinds_get_info(topology, (unsigned)kind, set, &efficiency, &count, &infos,
                                    0) == 0) {
            (void)json_array_append_new(rows, class_json(set, efficiency, infos, count));
        }
    }
    hwloc_bitmap_free(set);
    if (json_array_size(rows) == 0) {
        hwloc_const_bitmap_t all = hwloc_topology_get_topology_cpuset(topology);
        (void)json_array_append_new(rows, class_json(all, -1, NULL, 0));
    }
    return rows;
}

/* ---- Caches ---------------------------------------------------------------------------------- */

static json_t *
cache_json(hwloc_obj_t cache)
{
    static const char *const types[] = {
        [HWLOC_OBJ_CACHE_UNIFIED] = "unified",
        [HWLOC_OBJ_CACHE_DATA] = "data",
        [HWLOC_OBJ_CACHE_INSTRUCTION] = "instruction",
    };
    char name[32];
    (void)hwloc_obj_type_snprintf(name, sizeof name, cache, 0);
    return json_pack("{s:s, s:I, s:s, s:I, s:I, s:I, s:I}", "name", name, "level",
                     (json_int_t)cache->attr->cache.depth, "type", types[cache->attr->cache.type],
                     "size_bytes", (json_int_t)cache->attr->cache.size, "line_bytes",
                     (json_int_t)cache->attr->cache.linesize, "processors_each",
                     set_size(cache->cpuset), "count", (json_int_t)0);
}

/* Counts the cache with those that are alike. */
static void
cache_add(json_t *rows, hwloc_obj_t cache)
{
    json_t *wanted = cache_json(cache);
    json_t *found = NULL;
    for (size_t i = 0; i < json_array_size(rows) && !found; i++) {
        json_t *row = json_array_get(rows, i);
        (void)json_object_set(wanted, "count", json_object_get(row, "count"));
        found = json_equal(row, wanted) ? row : NULL;
    }
    if (!found) {
        (void)json_object_set_new(wanted, "count", json_integer(0));
        (void)json_array_append(rows, wanted);
        found = wanted;
    }
    json_int_t count = json_integer_value(json_object_get(found, "count"));
    (void)json_object_set_new(found, "count", json_integer(count + 1));
    json_decref(wanted);
}

static json_t *
caches_json(hwloc_topology_t topology)
{
    static const hwloc_obj_type_t types[] = {
        HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L2ICACHE,
        HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L3ICACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE};
    json_t *rows = json_array();
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        hwloc_obj_t cache = NULL;
        while ((cache = hwloc_get_next_obj_by_type(topology, types[i], cache)) != NULL) {
            cache_add(rows, cache);
        }
    }
    return rows;
}

/* ---- Memories -------------------------------------------------------------------------------- */

static json_t *
page_sizes_json(hwloc_obj_t memory)
{
    json_t *sizes = json_array();
    for (unsigned i = 0; i < memory->attr->numanode.page_types_len; i++) {
        const struct hwloc_memory_page_type_s *type = &memory->attr->numanode.page_types[i];
        if (type->size > 0) {
            (void)json_array_append_new(sizes, json_pack("{s:I, s:I}", "size_bytes",
                                                         (json_int_t)type->size, "count",
                                                         (json_int_t)type->count));
        }
    }
    return sizes;
}

static json_t *
memories_json(hwloc_topology_t topology)
{
    json_t *rows = json_array();
    hwloc_obj_t memory = NULL;
    while ((memory = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, memory)) != NULL) {
        uint64_t size_bytes = machine_memory_bytes(topology, memory);
        (void)json_array_append_new(
            rows, json_pack("{s:I, s:o, s:o, s:o, s:o}", "number", (json_int_t)memory->os_index,
                            "size_bytes", output_number(size_bytes > 0, size_bytes), "processors",
                            set_json(memory->cpuset), "kind", string_or_null(memory->subtype),
                            "pages", page_sizes_json(memory)));
    }
    return rows;
}

/* ---- Which machine --------------------------------------------------------------------------- */

static const char *
value_of(const char *variable)
{
    return getenv(variable);
}

/* What hwloc was told to take for this machine, and by which variable; NULL: by none. */
static const char *
chosen(const char **value)
{
    return med_topology_variable(value_of, value);
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Some keys stand at the machine, some at its first package. */
static const char *
fact(hwloc_topology_t topology, const char *key)
{
    const char *text = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), key);
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    return text || !package ? text : hwloc_obj_get_info_by_name(package, key);
}

/* Of a machine that hwloc was told to take for this one: the variable that told it. */
static json_t *
pretence_json(void)
{
    char text[SOURCE_BYTES];
    const char *value = NULL;
    const char *variable = chosen(&value);
    if (!variable && (value = getenv("HWLOC_THISSYSTEM")) != NULL) {
        variable = "HWLOC_THISSYSTEM";
    }
    if (!variable) {
        return json_string("another machine");
    }
    (void)snprintf(text, sizeof text, "%s=%s", variable, value);
    return output_string(text);
}

/* The variable that was to choose another machine, where this one is shown all the same. null:
 * none; or what it chose is this machine, as its root is, or by somebody's word. */
static json_t *
disobeyed_json(hwloc_topology_t topology, const char *xml)
{
    char text[SOURCE_BYTES];
    const char *value = NULL;
    const char *variable = chosen(&value);
    if (xml || !variable || !hwloc_topology_is_thissystem(topology) || getenv("HWLOC_THISSYSTEM") ||
        strcmp(value, "/") == 0) {
        return json_null();
    }
    (void)snprintf(text, sizeof text, "%s=%s", variable, value);
    return output_string(text);
}

static json_t *
source_json(hwloc_topology_t topology, const char *xml)
{
    if (xml) {
        return output_string(xml);
    }
    return hwloc_topology_is_thissystem(topology) ? json_null() : pretence_json();
}

static json_t *
topology_json(hwloc_topology_t topology, const char *xml)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "source",
                     source_json(topology, xml), "disobeyed", disobeyed_json(topology, xml),
                     "architecture", string_or_null(fact(topology, "Architecture")), "model",
                     string_or_null(fact(topology, "CPUModel")), "vendor",
                     string_or_null(fact(topology, "DMISysVendor")), "processors",
                     (json_int_t)hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU), "cores",
                     (json_int_t)hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE), "packages",
                     (json_int_t)hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE),
                     "core_classes", classes_json(topology), "caches", caches_json(topology),
                     "memories", memories_json(topology), "parts", topology_parts(topology));
}

/* Everything that is online, whether or not this process may use it; instruction caches too, which
 * hwloc leaves out. */
static int
load(hwloc_topology_t topology, const recording *xml)
{
    if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0) {
        return -1;
    }
    if (hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL) != 0) {
        return -1;
    }
    if (xml->text && hwloc_topology_set_xmlbuffer(topology, xml->text, (int)xml->size + 1) != 0) {
        return -1;
    }
    return hwloc_topology_load(topology);
}

/* In a process apart, since hwloc does not survive whatever somebody wrote. */
static _Noreturn void
load_and_send(const recording *xml, int fd)
{
    hwloc_topology_t topology;
    errno = 0;
    bool sent = hwloc_topology_init(&topology) == 0 && load(topology, xml) == 0 &&
                json_dumpfd(topology_json(topology, xml->asked), fd, JSON_COMPACT) == 0;
    _exit(sent ? 0 : errno);
}

/* What hwloc was to read, as who chose it has named it. False: nobody did. */
static bool
subject(const recording *xml, char text[SOURCE_BYTES])
{
    const char *value = NULL;
    const char *variable = chosen(&value);
    if (xml->path) {
        (void)snprintf(text, SOURCE_BYTES, "%s:%u", xml->path, xml->line);
    } else if (variable) {
        (void)snprintf(text, SOURCE_BYTES, "%s=%s", variable, value);
    } else {
        (void)snprintf(text, SOURCE_BYTES, "this machine");
    }
    return xml->path || variable;
}

/* `error` is the child's. */
static void
failed(const recording *xml, int error, char *why, size_t why_bytes)
{
    char what[SOURCE_BYTES];
    bool described = subject(xml, what);
    if (error == -SIGALRM) {
        (void)snprintf(why, why_bytes, "%s: hwloc took longer than %u s to read it", what,
                       CHILD_PATIENCE_S);
    } else if (xml->path) {
        (void)snprintf(why, why_bytes,
                       "%s: hwloc cannot make a machine of what begins here%s; want a file that "
                       "hwloc wrote (lstopo FILE.xml)",
                       what, xml_parser_advice());
    } else if (described) {
        (void)snprintf(why, why_bytes, "%s: hwloc cannot make a machine of it", what);
    } else {
        (void)snprintf(why, why_bytes, "hwloc cannot read %s: %s; see that /sys is mounted", what,
                       error > 0 ? strerror(error) : "it does not survive it");
    }
}

static json_t *
take(const recording *xml, char *why, size_t why_bytes)
{
    int fd;
    pid_t pid = child_begin(&fd, CHILD_PATIENCE_S);
    if (pid == 0) {
        load_and_send(xml, fd);
    }
    if (pid < 0) {
        (void)snprintf(why, why_bytes, "no process to read it in: %s", strerror(errno));
        return NULL;
    }
    json_t *json = json_loadfd(fd, 0, NULL);
    int error = child_end(pid, fd);
    if (!json) {
        failed(xml, error, why, why_bytes);
    }
    return json;
}

/* The file that a variable chooses; NULL: none does. hwloc would go on with this machine where
 * there is none, and name no line of a bad one. */
static const char *
chosen_file(void)
{
    const char *value = NULL;
    const char *variable = chosen(&value);
    return variable && strcmp(variable, "HWLOC_XMLFILE") == 0 ? value : NULL;
}

json_t *
topology_take(const char *xml, char *why, size_t why_bytes)
{
    recording recorded = {.asked = xml, .path = xml ? xml : chosen_file()};
    if (recorded.path) {
        recorded.text =
            machine_file_read(recorded.path, &recorded.size, &recorded.line, why, why_bytes);
        if (!recorded.text) {
            return NULL;
        }
    }
    json_t *json = take(&recorded, why, why_bytes);
    free(recorded.text);
    return json;
}
