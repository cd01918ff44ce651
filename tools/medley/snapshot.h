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

#include <jansson.h>

#include "medley/status.h"
#include "tools/medley/command.h"

#define SNAPSHOT_BLOCKED "system '%s' is blocked: %s"

/* The names of this user's systems, sorted. NULL: they cannot be listed. */
json_t *snapshot_names(void);

/* "name", "state", "reason" (or null), "size_bytes" (shared memories included), "shmem_bytes"
 * (those alone), "age_ns", "on_death", "creator_process_id", "stuck" (stuck.h), "processes",
 * "nodes", "locks", "semaphores", "rwlocks", "shmems", "remote_memories", "endpoints", "lanes",
 * "limits"; from "size_bytes" on only when it can be read. MEDLEY_ERR_NOT_FOUND: no such system, or
 * no longer; MEDLEY_ERR_ARGUMENT: no name of a system. */
medley_status_t snapshot_take(const char *name, json_t **system);

/* Of all systems there are; NULL: they cannot be listed. */
json_t *snapshot_all(void);

/* Tell why there is nothing to show, and return the exit status: the systems cannot be listed;
 * MEDLEY_ERR_NOT_FOUND, MEDLEY_ERR_ARGUMENT of one. */
int snapshot_no_list_tell(const med_command *command);
int snapshot_no_system_tell(const med_command *command, const char *name);
int snapshot_no_name_tell(const med_command *command, const char *name);
/* Whatever else an observation gave; `why` (may be "") is the port's. */
int snapshot_no_look_tell(const med_command *command,
                          const char *name,
                          medley_status_t status,
                          const char *why);

/* Tells of those that are blocked. The exit status: COMMAND_FAILED when one is. */
int snapshot_blocked_tell(const med_command *command, const json_t *systems);

#endif
