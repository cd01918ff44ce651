/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Takes the tree by MRAPI's own calls, as any program would, and prints it by depth. */
#include "tools/medley/tree.h"

#include <stdlib.h>

#include "medley/medley.h"
#include "port/topology.h"
#include "tools/medley/output.h"

static const char *const types[MEDLEY_RSRC_COUNT] = {
    [MRAPI_RSRC_MEM] = "memory",       [MRAPI_RSRC_CPU] = "processor",
    [MRAPI_RSRC_CACHE] = "cache",      [MRAPI_RSRC_DMA] = "dma",
    [MEDLEY_RSRC_MACHINE] = "machine", [MEDLEY_RSRC_PACKAGE] = "package",
    [MEDLEY_RSRC_CORE] = "core",
};

/* ---- Taking ---------------------------------------------------------------------------------- */

typedef struct attribute {
    mrapi_rsrc_filter_t type;
    mrapi_uint_t number;
    const char *key;
} attribute;

static const attribute attributes[] = {
    {MRAPI_RSRC_MEM, MRAPI_RSRC_MEM_NUMWORDS, "words"},
    {MRAPI_RSRC_MEM, MRAPI_RSRC_MEM_WORDSIZE, "word_bytes"},
    {MRAPI_RSRC_CACHE, MRAPI_RSRC_CACHE_SIZE, "size_bytes"},
    {MRAPI_RSRC_CACHE, MRAPI_RSRC_CACHE_LINE_SIZE, "line_bytes"},
    {MRAPI_RSRC_CACHE, MRAPI_RSRC_CACHE_ASSOCIATIVITY, "ways"},
    {MRAPI_RSRC_CACHE, MRAPI_RSRC_CACHE_LEVEL, "level"},
    {MRAPI_RSRC_CPU, MRAPI_RSRC_CPU_ID, "id"},
    {MRAPI_RSRC_CPU, MRAPI_RSRC_CPU_FREQUENCY, "frequency_hz"},
};

static void
attributes_take(const mrapi_resource_t *resource, json_t *row)
{
    mrapi_status_t status;
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        mrapi_uint64_t value = 0;
        if (attributes[i].type == resource->resource_type) {
            mrapi_resource_get_attribute(resource, attributes[i].number, &value, sizeof value,
                                         &status);
            (void)json_object_set_new(row, attributes[i].key, json_integer((json_int_t)value));
        }
    }
    if (resource->resource_type == MRAPI_RSRC_CPU) {
        const char *type = "";
        mrapi_resource_get_attribute(resource, MRAPI_RSRC_CPU_TYPE, &type, sizeof(void *), &status);
        (void)json_object_set_new(row, "model", output_string(type));
    }
}

static json_t *
resource_json(const mrapi_resource_t *resource)
{
    json_t *children = json_array();
    json_t *row = json_pack("{s:o, s:s}", "name", output_string(resource->name), "type",
                            types[resource->resource_type]);
    attributes_take(resource, row);
    for (mrapi_uint_t i = 0; i < resource->child_count; i++) {
        (void)json_array_append_new(children, resource_json(resource->children[i]));
    }
    (void)json_object_set_new(row, "children", children);
    return row;
}

static const char *
value_of(const char *variable)
{
    return getenv(variable);
}

/* And no other machine. */
static void
choose_file(const char *xml)
{
    const char *variable, *value;
    while ((variable = med_topology_variable(value_of, &value)) != NULL) {
        (void)unsetenv(variable);
    }
    (void)setenv("HWLOC_XMLFILE", xml, 1);
}

json_t *
tree_take(const char *xml)
{
    mrapi_status_t status;
    json_t *tree = NULL;
    if (xml) {
        choose_file(xml);
    }
    if (medley_system_open(NULL) != MEDLEY_OK) {
        return NULL;
    }
    if (medley_node_adopt(0, MEDLEY_NODE_ANY, NULL) == MEDLEY_OK) {
        mrapi_resource_t *root = mrapi_resources_get(MEDLEY_RSRC_ALL, &status);
        tree = root ? resource_json(root) : NULL;
        mrapi_finalize(&status); /* the tree goes with the node */
    }
    (void)medley_system_close();
    return tree;
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void
line_print(const json_t *row, int depth)
{
    json_int_t bytes = json_integer_value(json_object_get(row, "size_bytes")) +
                       json_integer_value(json_object_get(row, "words")) *
                           json_integer_value(json_object_get(row, "word_bytes"));
    (void)printf("%*s%s", 2 * depth, "", json_string_value(json_object_get(row, "name")));
    if (bytes > 0) {
        (void)printf("  %s", output_size_text((uint64_t)bytes));
    }
    if (json_object_get(row, "id")) {
        (void)printf("  processor %d", (int)json_integer_value(json_object_get(row, "id")));
    }
    (void)putchar('\n');
}

static void
rows_print(const json_t *row, int depth)
{
    const json_t *children = json_object_get(row, "children");
    line_print(row, depth);
    for (size_t i = 0; i < json_array_size(children); i++) {
        rows_print(json_array_get(children, i), depth + 1);
    }
}

void
tree_print(const json_t *tree)
{
    rows_print(tree, 0);
}
