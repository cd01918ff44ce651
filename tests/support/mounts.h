/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Namespaces of the test's own, where a machine permits it. Linux; wants _GNU_SOURCE. */
#ifndef MEDLEY_TESTS_SUPPORT_MOUNTS_H
#define MEDLEY_TESTS_SUPPORT_MOUNTS_H

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static inline bool
mounts_file_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return false;
    }
    ssize_t n = write(fd, text, strlen(text));
    return close(fd) == 0 && n == (ssize_t)strlen(text);
}

/* Gives the caller (a child of the test) a namespace of its own, CLONE_NEW..., as the user it is.
 * False where that is not permitted. */
static inline bool
namespace_of_ones_own(int kind)
{
    unsigned user = (unsigned)geteuid();
    unsigned group = (unsigned)getegid();
    char users[64];
    char groups[64];
    (void)snprintf(users, sizeof users, "%u %u 1", user, user);
    (void)snprintf(groups, sizeof groups, "%u %u 1", group, group);
    return unshare(kind) == 0 ||
           (unshare(CLONE_NEWUSER | kind) == 0 && mounts_file_write("/proc/self/uid_map", users) &&
            mounts_file_write("/proc/self/setgroups", "deny") &&
            mounts_file_write("/proc/self/gid_map", groups));
}

/* The same, for mounts. */
static inline bool
mounts_of_ones_own(void)
{
    return namespace_of_ones_own(CLONE_NEWNS) &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

#endif
