/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What hwloc knows of a machine, as JSON: of this one, or of one that was written to an XML file
 * (lstopo FILE.xml) elsewhere. hwloc reads in a process apart, so that a file that is no machine
 * ends nothing else.
 */
#ifndef MEDLEY_TOOLS_TOPOLOGY_H
#define MEDLEY_TOOLS_TOPOLOGY_H

#include <stddef.h>

#include <jansson.h>

/* "source" (null: this machine), "disobeyed" (the variable that was to choose another one, with its
 * value, or null), "architecture", "model", "vendor" (strings or null), "processors", "cores",
 * "packages" (numbers), "core_classes", "caches", "memories" (arrays of rows), "parts"
 * (topology_parts.h). `xml` NULL: this machine, or the one that a variable of hwloc's chooses. On
 * failure NULL, and `why` says of what, of a file with its line. */
json_t *topology_take(const char *xml, char *why, size_t why_bytes);

#endif
