/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The segments of a system from outside, as files that anybody finds. Linux. */
#ifndef MEDLEY_TESTS_SUPPORT_SEGMENTS_H
#define MEDLEY_TESTS_SUPPORT_SEGMENTS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How many there are of a system's name; the path of the last to `path` (may be NULL). */
static inline unsigned
segments_find(const char *name, char *path, size_t path_bytes)
{
    const char *chosen = getenv("MEDLEY_SHM_DIR");
    const char *folder = chosen ? chosen : "/dev/shm";
    char prefix[128];
    unsigned count = 0;
    (void)snprintf(prefix, sizeof prefix, "medley-%u+%s+", (unsigned)geteuid(), name);
    DIR *dir = opendir(folder);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
            count++;
            if (path) {
                (void)snprintf(path, path_bytes, "%s/%s", folder, entry->d_name);
            }
        }
    }
    if (dir) {
        (void)closedir(dir);
    }
    return count;
}

static inline unsigned
segments_count(const char *name)
{
    return segments_find(name, NULL, 0);
}

#endif
