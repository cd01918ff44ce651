/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files that hold shared memory: where they lie, whose they are, how they come to be. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "linux.h"

const char *
med_linux_folder(void)
{
    const char *chosen = med_port_environment("MEDLEY_SHM_DIR");
    return chosen && chosen[0] == '/' ? chosen : "/dev/shm";
}

bool
med_linux_file_is_ours(const struct stat *st, const char *path, char why[MED_PORT_WHY_BYTES])
{
    if (!S_ISREG(st->st_mode)) {
        (void)snprintf(why, MED_PORT_WHY_BYTES, "'%s' is not a plain file", path);
    } else if (st->st_uid != geteuid()) {
        (void)snprintf(why, MED_PORT_WHY_BYTES, "'%s' belongs to user %u", path,
                       (unsigned)st->st_uid);
    } else if ((st->st_mode & 07777) != 0600) {
        (void)snprintf(why, MED_PORT_WHY_BYTES, "'%s' has mode %04o, not 0600", path,
                       (unsigned)(st->st_mode & 07777));
    } else if (st->st_nlink != 1) {
        (void)snprintf(why, MED_PORT_WHY_BYTES, "'%s' has another name besides", path);
    } else {
        return true;
    }
    return false;
}

int
med_linux_descriptor_keep(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO) {
        return fd;
    }
    int kept = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = errno;
    (void)close(fd);
    errno = error;
    return kept;
}

int
med_linux_file_make(const char *path)
{
    int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int fd = med_linux_descriptor_keep(made);
    /* A mask of the program's may have taken from the mode what the next one asks for. */
    if (made < 0 || (fd >= 0 && fchmod(fd, 0600) == 0)) {
        return fd;
    }
    int error = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    (void)unlink(path);
    errno = error;
    return -1;
}

/* Beyond the process's limit the kernel would send SIGXFSZ, which ends the program. */
static bool
is_beyond_limit(size_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           bytes > limit.rlim_cur;
}

int
med_linux_file_extend(int fd, size_t bytes)
{
    if (is_beyond_limit(bytes)) {
        return EFBIG;
    }
    return ftruncate(fd, (off_t)bytes) == 0 ? 0 : errno;
}

int
med_linux_file_allocate(int fd, size_t bytes)
{
    if (is_beyond_limit(bytes)) {
        return EFBIG;
    }
    int error;
    do {
        error = posix_fallocate(fd, 0, (off_t)bytes);
    } while (error == EINTR);
    return error;
}
