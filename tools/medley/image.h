/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Systems as files: `medley system save` and `medley system load`. */
#ifndef MEDLEY_TOOLS_IMAGE_H
#define MEDLEY_TOOLS_IMAGE_H

#include <stdbool.h>

#include "tools/medley/command.h"

/* Both give a command_exit. */

/* Writes what the system consists of; NAME NULL is the default one. The file is there whole, or as
 * it was before. */
int image_save(const med_command *command, const char *path, const char *name, bool json);
/* Makes the system, says so, and keeps it until a signal ends this process, or, `until_joined`,
 * until another process is in it. NAME NULL is the one that the file says. */
int image_load(
    const med_command *command, const char *path, const char *name, bool until_joined, bool json);

#endif
