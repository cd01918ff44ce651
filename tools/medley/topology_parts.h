/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A machine as it is made up: what lies in what. */
#ifndef MEDLEY_TOOLS_TOPOLOGY_PARTS_H
#define MEDLEY_TOOLS_TOPOLOGY_PARTS_H

#include <hwloc.h>
#include <jansson.h>

/* The machine: "kind" ("machine", "package", "group", "cache", "core", "processor"), "name" (a
 * word of hwloc's: "Package", "L2"), "number" (the operating system's, or null), "memories" and
 * "children" (lists of such, mostly empty). A memory's kind is "memory", or "cache" for one beside
 * it, whose "memories" are what it caches. Caches and memories have "size_bytes" (null: unknown),
 * caches "type" ("unified", "data", "instruction"), memories "subtype" (or null), processors
 * "class" (which of "core_classes") and "allowed" (to this process). */
json_t *topology_parts(hwloc_topology_t topology);

#endif
