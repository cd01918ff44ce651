/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the tests of metadata share: trees of a machine that is always the same, and of this one. */
#ifndef MEDLEY_MRAPI_API_RESOURCE_TEST_H
#define MEDLEY_MRAPI_API_RESOURCE_TEST_H

#include <stdlib.h>
#include <string.h>

#include "mrapi/system.h"
#include "support/api.h"
#include "support/logged.h"

#define MACHINE                                                                                    \
    "package:2 [numa(memory=68719476736)] l3:8(size=33554432) l2:8(size=1048576) core:1 pu:1"

static mrapi_status_t status;

static inline mrapi_resource_t *
tree(mrapi_rsrc_filter_t filter)
{
    mrapi_resource_t *root = mrapi_resources_get(filter, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_non_null(root);
    return root;
}

static inline void
tree_free(mrapi_resource_t *root)
{
    mrapi_resource_tree_free(&root, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static inline mrapi_uint64_t
number(const mrapi_resource_t *resource, mrapi_uint_t attribute)
{
    mrapi_uint64_t value = ~UINT64_C(0);
    mrapi_resource_get_attribute(resource, attribute, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return value;
}

static inline mrapi_resource_t *
named(mrapi_resource_t *resource, const char *name)
{
    mrapi_resource_t *found = strcmp(resource->name, name) == 0 ? resource : NULL;
    for (uint32_t i = 0; i < resource->child_count && !found; i++) {
        found = named(resource->children[i], name);
    }
    return found;
}

static inline int
synthetic_up(void **state)
{
    (void)setenv("HWLOC_SYNTHETIC", MACHINE, 1);
    return node_up(state);
}

static inline int
synthetic_down(void **state)
{
    (void)unsetenv("HWLOC_SYNTHETIC");
    return node_down(state);
}

#define ON_MACHINE(test) cmocka_unit_test_setup_teardown(test, synthetic_up, synthetic_down)
#define HERE(test) cmocka_unit_test_setup_teardown(test, node_up, node_down)

/* Says so where it is not. */
static inline bool
module_there(void)
{
    void *found;
    char why[MED_PORT_WHY_BYTES];
    bool there =
        med_port_module_open("hwloc", MED_TOPOLOGY_MODULE_SYMBOL, &found, why) == MEDLEY_OK;
    if (!there) {
        (void)fprintf(stderr, "not possible here: no module for hwloc\n");
    }
    return there;
}

#endif
