/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What two looks (top_look.h) tell together: what is there, how fast it moves, who waits. */
#ifndef MEDLEY_TOOLS_TOP_CHANGE_H
#define MEDLEY_TOOLS_TOP_CHANGE_H

#include <jansson.h>

/* "interval_ns"; "processors", of each "processor", "used_permille"; "systems", of each:
 *
 *   "name", "state", "reason"  as snapshot.h; from here on only when it could be read:
 *   "age_ns", "stuck", "processes", "buffers"  likewise
 *   "nodes"      "domain", "node", "name", "process_id", "thread_id", "process_here", "kind",
 *                "state", "age_ns"; "thread_state", "processor", "used_permille";
 *                "sent_per_second", "received_per_second"; "waits": null, or "for", "number",
 *                "waited_ns"
 *   "endpoints"  "endpoint", "state"; "depth": how much waits there; "sent_per_second",
 *                "received_per_second", "bytes_per_second" (both ways)
 *   "lanes"      "from", "to" (endpoints, or null), "kind", "priority", "depth", "high_water",
 *                "capacity", "sent", "received", "lost"; "sent_per_second", "received_per_second",
 *                "bytes_per_second", "full_per_second", "empty_per_second": how often the sender
 *                found no room, and the receiver nothing, and waited
 *   "locks"      "kind" ("mutex", "semaphore", "rwlock"), "number", "state", "owner", "held",
 *                "limit", "waiters", "slept", "slept_per_second"
 *   "waits"      the longest first: "domain", "node", "process_id", "process_here", "thread_id",
 *                "for", "number", "owner" (who has the lock, or null), "endpoints" (of an
 *                exchange: where the node receives, and nothing is), "waited_ns": at least
 *
 * Of what was not there before, all that it counts came since: systems, lanes, locks. Of a system
 * that was not there, rates are null; `before` NULL: there was none. `now` has its waits told
 * (top_wait.h). */
json_t *top_change(const json_t *before, const json_t *now);

#endif
