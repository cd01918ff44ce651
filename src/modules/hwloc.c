/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The module that reads machines by hwloc. It needs nothing of the library that opens it, and knows
 * of it only what port/topology.h says.
 *
 * Another machine than this one: as hwloc's own variables choose it (topology.h); but where hwloc
 * would go on with this machine when they are wrong, this is an error. Such a description is read
 * in a process apart (apart.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc.h>

#include "medley/decls.h"
#include "modules/apart.h"
#include "modules/child.h"
#include "modules/machine_file.h"
#include "modules/machine_memory.h"
#include "modules/xml_parser.h"
#include "port/topology.h"

MEDLEY_DECLS_BEGIN
extern const med_topology_module medley_topology_module; /* MED_TOPOLOGY_MODULE_SYMBOL */
MEDLEY_DECLS_END

#define DEPTH_MAX 128

typedef struct reader {
    hwloc_topology_t topology;
    const char *variable; /* that chooses the machine; NULL: it is this one */
    const char *value;
    const med_topology_sink *sink;
    const char *model;
    char *why;
    size_t why_bytes;
} reader;

#define WHY(reader_, ...) ((void)snprintf((reader_)->why, (reader_)->why_bytes, __VA_ARGS__))

/* ---- Parts ----------------------------------------------------------------------------------- */

/* What hwloc knows of a processor's kind; there may be nothing. */
static void
processor_kind(const reader *r, hwloc_obj_t processor, med_topology_part *part)
{
    unsigned count = 0;
    struct hwloc_info_s *infos = NULL;
    const char *type = r->model;
    int kind = hwloc_cpukinds_get_by_cpuset(r->topology, processor->cpuset, 0);
    if (kind >= 0) {
        (void)hwloc_cpukinds_get_info(r->topology, (unsigned)kind, NULL, NULL, &count, &infos, 0);
    }
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(infos[i].name, "CoreType") == 0) {
            type = infos[i].value;
        } else if (strcmp(infos[i].name, "FrequencyMaxMHz") == 0) {
            part->frequency_hz = strtoull(infos[i].value, NULL, 10) * 1000000u;
        }
    }
    (void)snprintf(part->type, sizeof part->type, "%s", type ? type : "");
}

static void
cache_part(hwloc_obj_t object, med_topology_part *part)
{
    int ways = object->attr->cache.associativity;
    part->kind = MED_TOPOLOGY_CACHE;
    part->level = object->attr->cache.depth;
    part->line_bytes = object->attr->cache.linesize;
    part->ways = ways < 0 ? UINT32_MAX : (uint32_t)ways;
    part->size_bytes = object->attr->cache.size;
}

/* False: not a part, but what hangs below it may be. */
static bool
part_of(const reader *r, hwloc_obj_t object, med_topology_part *part)
{
    if (hwloc_obj_type_is_cache(object->type)) {
        cache_part(object, part);
        return true;
    }
    switch (object->type) {
    case HWLOC_OBJ_MACHINE:
        part->kind = MED_TOPOLOGY_MACHINE;
        return !object->parent;
    case HWLOC_OBJ_PACKAGE:
        part->kind = MED_TOPOLOGY_PACKAGE;
        return true;
    case HWLOC_OBJ_NUMANODE:
        part->kind = MED_TOPOLOGY_MEMORY;
        part->size_bytes = machine_memory_bytes(r->topology, object);
        return true;
    case HWLOC_OBJ_CORE:
        part->kind = MED_TOPOLOGY_CORE;
        return true;
    case HWLOC_OBJ_PU:
        part->kind = MED_TOPOLOGY_PROCESSOR;
        processor_kind(r, object, part);
        return true;
    case HWLOC_OBJ_OS_DEVICE:
        part->kind = MED_TOPOLOGY_DMA;
        return object->attr->osdev.type == HWLOC_OBJ_OSDEV_DMA;
    default:
        return false;
    }
}

static void
part_name(hwloc_obj_t object, med_topology_part *part)
{
    char type[32];
    (void)hwloc_obj_type_snprintf(type, sizeof type, object, 0);
    part->id = object->os_index == HWLOC_UNKNOWN_INDEX ? object->logical_index : object->os_index;
    if (part->kind == MED_TOPOLOGY_MACHINE) {
        (void)snprintf(part->name, sizeof part->name, "%s", type);
    } else if (object->type == HWLOC_OBJ_OS_DEVICE && object->name) {
        (void)snprintf(part->name, sizeof part->name, "%s", object->name);
    } else {
        (void)snprintf(part->name, sizeof part->name, "%s#%u", type, object->logical_index);
    }
}

static bool
walk(const reader *r, hwloc_obj_t object, uint32_t parent, unsigned depth)
{
    med_topology_part part = {.parent = parent};
    hwloc_obj_t child = NULL;
    if (depth > DEPTH_MAX) {
        WHY(r, "the machine is nested too deep");
        return false;
    }
    if (part_of(r, object, &part)) {
        part_name(object, &part);
        if (!r->sink->add(r->sink->context, &part, &parent)) {
            WHY(r, "no memory, or parts that make no machine");
            return false;
        }
    }
    while ((child = hwloc_get_next_child(r->topology, object, child)) != NULL) {
        if (!walk(r, child, parent, depth + 1)) {
            return false;
        }
    }
    return true;
}

/* ---- Which machine --------------------------------------------------------------------------- */

static const char *
value_of(const char *variable)
{
    return secure_getenv(variable);
}

static bool
chosen_by(const reader *r, const char *variable)
{
    return r->variable && strcmp(r->variable, variable) == 0;
}

/* `line` gets where the machine begins. */
static bool
choose_xml(const reader *r, unsigned *line)
{
    size_t size = 0;
    char *text = machine_file_read(r->value, &size, line, r->why, r->why_bytes);
    if (!text) {
        return false;
    }
    bool chosen = hwloc_topology_set_xmlbuffer(r->topology, text, (int)size + 1) == 0;
    if (!chosen) {
        WHY(r, "%s:1: not hwloc's XML; want a file that hwloc wrote (lstopo FILE.xml)", r->value);
    }
    free(text);
    return chosen;
}

/* Of the other two variables, which name folders, hwloc finds the values for itself. */
static bool
choose(const reader *r, unsigned *line)
{
    if (hwloc_topology_set_flags(r->topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0) {
        WHY(r, "hwloc: %s", strerrordesc_np(errno));
        return false;
    }
    (void)hwloc_topology_set_type_filter(r->topology, HWLOC_OBJ_OS_DEVICE,
                                         HWLOC_TYPE_FILTER_KEEP_ALL);
    if (chosen_by(r, "HWLOC_XMLFILE")) {
        return choose_xml(r, line);
    }
    if (chosen_by(r, "HWLOC_SYNTHETIC") &&
        hwloc_topology_set_synthetic(r->topology, r->value) != 0) {
        WHY(r, "%s=%s describes no machine", r->variable, r->value);
        return false;
    }
    return true;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* What is said when hwloc refuses it; or when it dies, which a description may make it do. */
static void
load_fails(const reader *r, unsigned line)
{
    if (!r->variable) {
        WHY(r, "this machine: hwloc cannot make a machine of it");
        return;
    }
    if (line) {
        WHY(r, "%s:%u: hwloc cannot make a machine of what begins here", r->value, line);
    } else {
        WHY(r, "%s=%s: hwloc cannot make a machine of it", r->variable, r->value);
    }
    apart_fear(r->why);
}

/* When it refused a file. */
static void
advise(const reader *r)
{
    if (chosen_by(r, "HWLOC_XMLFILE")) {
        size_t length = strlen(r->why);
        (void)snprintf(r->why + length, r->why_bytes - length, "%s", xml_parser_advice());
    }
}

/* A folder that describes nothing: hwloc has gone on with this machine. It says so, unless it is
 * told to take every machine for this one. */
static bool
is_passed_over(const reader *r)
{
    return r->variable && hwloc_topology_is_thissystem(r->topology) &&
           !value_of("HWLOC_THISSYSTEM");
}

static bool
load_and_walk(reader *r)
{
    unsigned line = 0; /* of a file */
    if (!choose(r, &line)) {
        return false;
    }
    load_fails(r, line);
    if (hwloc_topology_load(r->topology) != 0) {
        advise(r);
        return false;
    }
    if (is_passed_over(r)) {
        WHY(r, "%s=%s describes no machine", r->variable, r->value);
        return false;
    }
    r->why[0] = '\0';
    hwloc_obj_t root = hwloc_get_root_obj(r->topology);
    hwloc_obj_t package = hwloc_get_obj_by_type(r->topology, HWLOC_OBJ_PACKAGE, 0);
    r->model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    if (!r->model) {
        r->model = hwloc_obj_get_info_by_name(root, "CPUModel");
    }
    return walk(r, root, 0, 0);
}

static medley_status_t
here_read(const med_topology_sink *sink, char *why, size_t why_bytes)
{
    reader r = {.sink = sink, .why = why, .why_bytes = why_bytes};
    r.variable = med_topology_variable(value_of, &r.value);
    why[0] = '\0';
    if (chosen_by(&r, "HWLOC_XMLFILE")) {
        xml_parser_offer(); /* this process is one apart */
    }
    if (hwloc_topology_init(&r.topology) != 0) {
        WHY(&r, "hwloc: no memory");
        return MEDLEY_ERR_NO_MEMORY;
    }
    bool done = load_and_walk(&r);
    hwloc_topology_destroy(r.topology);
    return done ? MEDLEY_OK : MEDLEY_ERR_CORRUPT;
}

/* A machine that somebody describes is read apart; this one needs no such care. */
static medley_status_t
topology_read(const med_topology_sink *sink, char *why, size_t why_bytes)
{
    const char *value;
    const char *variable = med_topology_variable(value_of, &value);
    if (!variable) {
        return here_read(sink, why, why_bytes);
    }
    medley_status_t status = apart_read(here_read, CHILD_PATIENCE_S, sink, why, why_bytes);
    if (status == MEDLEY_TIMEOUT) {
        (void)snprintf(why, why_bytes, "%s=%s: hwloc took longer than %u s to read it", variable,
                       value, CHILD_PATIENCE_S);
    }
    return status;
}

const med_topology_module medley_topology_module = {.version = MED_TOPOLOGY_MODULE_VERSION,
                                                    .part_bytes = sizeof(med_topology_part),
                                                    .read = topology_read};
