/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One look at running systems, their threads, and the machine's processors. */
#ifndef MEDLEY_TOOLS_TOP_LOOK_H
#define MEDLEY_TOOLS_TOP_LOOK_H

#include <stdint.h>

#include <jansson.h>

#include "medley/status.h"

/* "clock_ns"; "processors" (top_kernel.h); "systems", as snapshot.h says, where each node has
 * "thread" (top_kernel.h). `system` NULL: all there are, none is fine. What a system is waited for
 * that somebody opens or closes, ends at the deadline. MEDLEY_ERR_NOT_FOUND, MEDLEY_ERR_ARGUMENT of
 * one that was named, MEDLEY_ERR_SYSTEM: they cannot be listed, MEDLEY_ERR_NO_MEMORY. */
medley_status_t top_look(const char *system, uint64_t deadline_ns, json_t **look);

#endif
