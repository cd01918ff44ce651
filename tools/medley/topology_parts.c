/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* hwloc's tree, down to the processors; what is none of a machine's parts (devices, bridges) is
 * left out, and so are groups that hold one thing only. */
#include "tools/medley/topology_parts.h"

#include <stdbool.h>

#include "modules/machine_memory.h"
#include "tools/medley/output.h"

/* A machine, and what of it this process gets. */
typedef struct whole {
    hwloc_topology_t topology;
    hwloc_bitmap_t allowed;
} whole;

static json_t *part_json(const whole *w, hwloc_obj_t object);

static const char *
kind_of(hwloc_obj_t object)
{
    switch (object->type) {
    case HWLOC_OBJ_MACHINE:
        return "machine";
    case HWLOC_OBJ_PACKAGE:
        return "package";
    case HWLOC_OBJ_CORE:
        return "core";
    case HWLOC_OBJ_PU:
        return "processor";
    case HWLOC_OBJ_NUMANODE:
        return "memory";
    default:
        return hwloc_obj_type_is_cache(object->type) || object->type == HWLOC_OBJ_MEMCACHE
                   ? "cache"
                   : "group";
    }
}

/* Its row among the classes (topology.c): by hwloc's order; 0 where all are alike. */
static json_int_t
class_of(hwloc_topology_t topology, hwloc_obj_t processor)
{
    int kind = hwloc_cpukinds_get_by_cpuset(topology, processor->cpuset, 0);
    return kind > 0 ? kind : 0;
}

static void
cache_add(json_t *part, hwloc_obj_t cache)
{
    static const char *const types[] = {
        [HWLOC_OBJ_CACHE_UNIFIED] = "unified",
        [HWLOC_OBJ_CACHE_DATA] = "data",
        [HWLOC_OBJ_CACHE_INSTRUCTION] = "instruction",
    };
    uint64_t size_bytes = cache->attr->cache.size;
    (void)json_object_set_new(part, "size_bytes", output_number(size_bytes > 0, size_bytes));
    (void)json_object_set_new(part, "type", json_string(types[cache->attr->cache.type]));
}

/* What only things of its kind have. */
static void
details_add(const whole *w, json_t *part, hwloc_obj_t object)
{
    if (hwloc_obj_type_is_cache(object->type) || object->type == HWLOC_OBJ_MEMCACHE) {
        cache_add(part, object);
    } else if (object->type == HWLOC_OBJ_NUMANODE) {
        uint64_t size_bytes = machine_memory_bytes(w->topology, object);
        (void)json_object_set_new(part, "size_bytes", output_number(size_bytes > 0, size_bytes));
        (void)json_object_set_new(part, "subtype",
                                  object->subtype ? output_string(object->subtype) : json_null());
    } else if (object->type == HWLOC_OBJ_PU) {
        bool is_allowed = hwloc_bitmap_isset(w->allowed, object->os_index);
        (void)json_object_set_new(part, "class", json_integer(class_of(w->topology, object)));
        (void)json_object_set_new(part, "allowed", json_boolean(is_allowed));
    }
}

static json_t *
list_json(const whole *w, hwloc_obj_t first)
{
    json_t *list = json_array();
    for (hwloc_obj_t object = first; object; object = object->next_sibling) {
        (void)json_array_append_new(list, part_json(w, object));
    }
    return list;
}

static json_t *
part_json(const whole *w, hwloc_obj_t object)
{
    char name[64];
    if (object->type == HWLOC_OBJ_GROUP && object->arity == 1 && object->memory_arity == 0) {
        return part_json(w, object->first_child);
    }
    (void)hwloc_obj_type_snprintf(name, sizeof name, object, 0);
    bool numbered = object->os_index != HWLOC_UNKNOWN_INDEX;
    json_t *part = json_pack(
        "{s:s, s:o, s:o, s:o, s:o}", "kind", kind_of(object), "name", output_string(name), "number",
        output_number(numbered, object->os_index), "memories",
        list_json(w, object->memory_first_child), "children", list_json(w, object->first_child));
    details_add(w, part, object);
    return part;
}

/* Of this machine, those it may run on; of another, those its recorder could have. */
static void
allowed_get(const whole *w)
{
    bool here = hwloc_topology_is_thissystem(w->topology) != 0;
    if (!here || hwloc_get_cpubind(w->topology, w->allowed, HWLOC_CPUBIND_PROCESS) != 0) {
        (void)hwloc_bitmap_copy(w->allowed, hwloc_topology_get_allowed_cpuset(w->topology));
    }
}

json_t *
topology_parts(hwloc_topology_t topology)
{
    whole w = {.topology = topology, .allowed = hwloc_bitmap_alloc()};
    allowed_get(&w);
    json_t *machine = part_json(&w, hwloc_get_root_obj(topology));
    hwloc_bitmap_free(w.allowed);
    return machine;
}
