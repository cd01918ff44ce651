/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the trace of a system has kept, as JSON. */
#ifndef MEDLEY_TOOLS_EVENTS_H
#define MEDLEY_TOOLS_EVENTS_H

#include <jansson.h>

#include "mrapi/system.h"

/* The last `most` events, oldest first: "ago_ns", "time_ns" (of the machine's monotonic clock),
 * "node" ({"domain", "node"}; null: no node did it, or its name is not known any more), "event",
 * and what that has to say: "process_id", "kind", "number", "sleeps", "created". Names and kinds
 * are checked; an event that no version knows is "unknown". NULL: no memory. */
json_t *events_json(const med_system *system, size_t most);

#endif
