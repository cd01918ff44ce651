/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Systems as JSON: what `ps` and `system` show. Looks, never joins, changes nothing.
 *
 *   state    live        somebody is in it
 *            stale       its file is there, nobody is; the next start replaces it
 *            unreadable  somebody is in it, but it cannot be read: "reason" says why
 *            refused     what has its name is not this user's alone: "reason"
 *            blocked     nobody is in it, but a process is at opening or closing it and does not go
 *                        on: "reason" names it
 *
 * Only the last is waited for, MED_SYSTEM_PATIENCE_NS for all systems together.
 */
#ifndef MEDLEY_TOOLS_SNAPSHOT_H
#define MEDLEY_TOOLS_SNAPSHOT_H

#include <stdint.h>

#include <jansson.h>

#include "medley/status.h"

/* The names of this user's systems, sorted. NULL: they cannot be listed. */
json_t *snapshot_names(void);

/* "name", "state", "reason" (or null), "size_bytes" (shared memories included), "shmem_bytes"
 * (those alone), "age_ns", "instance" (another for each system that ever had the name), "on_death",
 * "creator_process_id", "stuck" (stuck.h), "processes", "nodes", "locks", "semaphores", "rwlocks",
 * "shmems", "remote_memories", "endpoints", "lanes", "buffers" (null: nobody has exchanged anything
 * yet), "limits"; from "size_bytes" on only when it can be read. MEDLEY_ERR_NOT_FOUND: no such
 * system, or no longer; MEDLEY_ERR_ARGUMENT: no name of a system. */
medley_status_t snapshot_take(const char *name, json_t **system);
/* The same, for who is not as patient: until the clock (med_port_clock_ns) says so. */
medley_status_t snapshot_take_until(const char *name, uint64_t deadline_ns, json_t **system);

/* Of all systems there are; NULL: they cannot be listed. */
json_t *snapshot_all(void);
json_t *snapshot_all_until(uint64_t deadline_ns);

#endif
