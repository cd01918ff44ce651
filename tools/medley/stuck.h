/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who keeps others waiting: a process that does not go on, in the section of a system or with one
 * of its tables locked.
 */
#ifndef MEDLEY_TOOLS_STUCK_H
#define MEDLEY_TOOLS_STUCK_H

#include <jansson.h>

#include "mrapi/system.h"

/* A list of "in" ("section", or the objects whose table is locked), "process_id", "thread_id",
 * "node" ({"domain", "node"}), "state" ("stopped", "dead", "alive"), "held_ns"; each but the first
 * and the state null when it is not known. Numbers are those of the caller's PID namespace: the
 * dead, and those of another container, have none. Who is alive and has been at it for less than
 * 0.1 s is at work, and not listed. */
json_t *stuck_json(const med_system *system);

#endif
