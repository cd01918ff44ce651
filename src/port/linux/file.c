/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files that hold shared memory: where they lie, whose they are, how they come to be. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "linux.h"

#define ALLOCATE_TRIES 100
#define LINK_BYTES 40

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

/* A file that has no name yet: what dies with it leaves nothing. -1: not of this file system. */
static int
nameless_make(const char *path)
{
    char folder[MED_PORT_PATH_BYTES];
    const char *slash = strrchr(path, '/');
    if (!slash || strlen(path) >= sizeof folder) {
        return -1;
    }
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    return med_linux_descriptor_keep(open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
}

/* A path to what is open, whatever its name is by now. */
static void
link_make(char link[LINK_BYTES], int fd)
{
    (void)snprintf(link, LINK_BYTES, "/proc/self/fd/%d", fd);
}

static bool
name_give(int fd, const char *path)
{
    char link[LINK_BYTES];
    link_make(link, fd);
    return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

/* A mask of the program's may have taken from the mode what the next one asks for; mostly it has
 * not, and to look is cheaper than to set. */
static bool
mode_give(int fd)
{
    struct stat st;
    return (fstat(fd, &st) == 0 && (st.st_mode & 07777) == 0600) || fchmod(fd, 0600) == 0;
}

/* Of no use to who has made it. */
static int
unmake(int fd, const char *path)
{
    int error = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    (void)unlink(path);
    errno = error;
    return -1;
}

int
med_linux_file_make_named(const char *path)
{
    int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int fd = med_linux_descriptor_keep(made);
    return made >= 0 && fd < 0 ? unmake(fd, path) : fd;
}

/* Its mode is set before it has its name: who dies in between leaves none that would be refused.
 * Not on every file system. */
int
med_linux_file_make(const char *path)
{
    int fd = nameless_make(path);
    if (fd >= 0 && mode_give(fd) && name_give(fd, path)) {
        return fd;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    fd = med_linux_file_make_named(path);
    return fd < 0 || mode_give(fd) ? fd : unmake(fd, path);
}

/* By what is open, since another may lie under the name the next moment. */
bool
med_linux_file_mode_mend(const char *path)
{
    char why[MED_PORT_WHY_BYTES];
    char link[LINK_BYTES];
    struct stat st;
    int fd = med_linux_descriptor_keep(open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (fd < 0) {
        return false;
    }
    bool lacks = fstat(fd, &st) == 0 && (st.st_mode & 0600) != 0600;
    st.st_mode |= 0600;
    link_make(link, fd);
    bool mended = lacks && med_linux_file_is_ours(&st, path, why) && chmod(link, 0600) == 0;
    (void)close(fd);
    return mended;
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

/* Before Linux 6.10 a file in memory gets no storage while a signal is to be handled, and loses
 * what it had got by then: a timer that is quicker would keep it off for ever. So the second try is
 * made with signals blocked; those that cannot be (to stop, to go on) come seldom. */
int
med_linux_file_allocate(int fd, size_t bytes)
{
    sigset_t all, before;
    if (is_beyond_limit(bytes)) {
        return EFBIG;
    }
    int error = posix_fallocate(fd, 0, (off_t)bytes);
    if (error != EINTR) {
        return error;
    }
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int tries = 0; tries < ALLOCATE_TRIES && error == EINTR; tries++) {
        error = posix_fallocate(fd, 0, (off_t)bytes);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
