/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A system's file from outside, as somebody finds or leaves it who knows nothing of Medley. A
 * process that is in the system must not use these: closing the file drops its liveness. */
#ifndef MEDLEY_TESTS_SUPPORT_PARTITION_FILE_H
#define MEDLEY_TESTS_SUPPORT_PARTITION_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a system of that user; valid until the next call. */
static inline const char *
partition_path_of(unsigned user, const char *name)
{
    static char path[200];
    const char *folder = getenv("MEDLEY_SHM_DIR");
    (void)snprintf(path, sizeof path, "%s/medley-%u-%s", folder ? folder : "/dev/shm", user, name);
    return path;
}

static inline const char *
partition_path(const char *name)
{
    return partition_path_of((unsigned)geteuid(), name);
}

static inline bool
partition_exists(const char *name)
{
    struct stat st;
    return lstat(partition_path(name), &st) == 0;
}

/* Makes it when it is not there; the bytes go to `offset`. */
static inline bool
partition_write(const char *name, const void *bytes, size_t size_bytes, off_t offset)
{
    int fd = open(partition_path(name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        return false;
    }
    bool written = pwrite(fd, bytes, size_bytes, offset) == (ssize_t)size_bytes;
    return close(fd) == 0 && written;
}

#endif
