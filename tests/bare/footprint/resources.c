/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A node, and an attribute in the tree of resources. */
#include <stdint.h>

#include "footprint.h"

int
main(void)
{
    uint32_t bytes;
    begin();
    mrapi_resource_t *tree = mrapi_resources_get(MEDLEY_RSRC_SYSTEM, &status);
    mrapi_resource_get_attribute(tree, MEDLEY_RSRC_USED_BYTES, &bytes, sizeof bytes, &status);
    mrapi_resource_tree_free(&tree, &status);
    return end();
}
