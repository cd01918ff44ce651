/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the library lies: beside the command, installed or built. */
#include "tools/medley/run_openmp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096
#define LIBRARY "/libgomp.so.1"

const char *
run_openmp_paths(const med_command *command)
{
    static char *paths;
    char path[PATH_BYTES];
    const char *others = getenv("LD_LIBRARY_PATH");
    if (!command_brought(RUN_OPENMP_INSTALLED LIBRARY, path, sizeof path) &&
        !command_brought(RUN_OPENMP_BUILT LIBRARY, path, sizeof path)) {
        command_error(command, "Medley's OpenMP libraries are not where they were installed; "
                               "--own-openmp does without");
        return NULL;
    }
    *strrchr(path, '/') = '\0';
    char *folder = realpath(path, NULL);
    if (!folder ||
        asprintf(&paths, "%s%s%s", folder, others ? ":" : "", others ? others : "") < 0) {
        command_error(command, "no memory");
        paths = NULL;
    }
    free(folder);
    return paths;
}
