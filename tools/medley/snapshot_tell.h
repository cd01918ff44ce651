/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Why there is no system to show, for who asked for one. */
#ifndef MEDLEY_TOOLS_SNAPSHOT_TELL_H
#define MEDLEY_TOOLS_SNAPSHOT_TELL_H

#include <jansson.h>

#include "medley/status.h"
#include "tools/medley/command.h"

#define SNAPSHOT_BLOCKED "system '%s' is blocked: %s"

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
