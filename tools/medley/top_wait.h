/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who waits for what, and since when he has been seen to. */
#ifndef MEDLEY_TOOLS_TOP_WAIT_H
#define MEDLEY_TOOLS_TOP_WAIT_H

#include <jansson.h>

/* Each node of the look `now` (top_look.h) gets "waits": null, or "for" ("mutex", "semaphore",
 * "rwlock"; "exchange": for what comes to its endpoints, or for room where it sends), "number"
 * (null of the last), "since_ns": when it was first seen in this wait, by the looks' clock.
 * `before` has been through this; NULL: there was none. */
void top_waits_tell(const json_t *before, json_t *now);

#endif
