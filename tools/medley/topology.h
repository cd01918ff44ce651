/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What hwloc knows of a machine, as JSON: of this one, or of one that was written to an XML file
 * (lstopo FILE.xml) elsewhere.
 */
#ifndef MEDLEY_TOOLS_TOPOLOGY_H
#define MEDLEY_TOOLS_TOPOLOGY_H

#include <jansson.h>

/* "source" (null: this machine), "architecture", "model", "vendor" (strings or null), "processors",
 * "cores", "packages" (numbers), "core_classes", "caches", "memories" (arrays of rows). `xml` NULL:
 * this machine. On failure NULL, and errno says why. */
json_t *topology_take(const char *xml);

#endif
